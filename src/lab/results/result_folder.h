/* A folder of finished runs, open for writing; results.h says what is in it. It has one writer at a time.
 *
 * Runs are added in two steps, the first on the disk before the second begins: their rows in a file of curves; their
 * lines. Whichever is the last before a crash, the lines alone say what is there: rows without a line are cut off when
 * the folder is next opened. */
#ifndef EENET_RESULT_FOLDER_H
#define EENET_RESULT_FOLDER_H

#include "lost_curves.h"

typedef struct result_folder {
    stored_runs stored; /* the runs that it had when it was opened */
    char *curves_path;
    line_file log;             /* results.jsonl */
    struct curve_file *curves; /* (curve_count) */
    size_t curve_count, curve_capacity;
    struct curve_batch { /* runs that were put and are not on the disk yet; they share a file of curves */
        size_t count, file;
        double *rows; /* (count, rounds) */
        size_t rows_capacity;
        char *lines; /* (lines_length) */
        size_t lines_length, lines_capacity;
    } batch;
} result_folder;

/* Makes the folder where it is missing. EE_FILE_ERROR where another program has it open. lost may be NULL: no line is
 * taken out. To be closed, on failure too. */
ee_status result_folder_open(const char *path, const lost_curves *lost, result_folder *out, ee_error *error);
void result_folder_close(result_folder *self);

/* curve is (run->rounds). The run's own curve and row are not looked at: it gets a place in this folder. It is on the
 * disk when this returns, and all that were put before. */
ee_status result_folder_add(result_folder *self, const stored_run *run, const double *curve, ee_error *error);

/* The same for many: they are on the disk, in this order, when it is flushed, which takes about as long for many as for
 * one. After a failure some of them may be missing. */
ee_status result_folder_put(result_folder *self, const stored_run *run, const double *curve, ee_error *error);
ee_status result_folder_flush(result_folder *self, ee_error *error);

#endif
