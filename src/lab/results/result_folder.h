/* A folder of finished runs, open for writing; results.h says what is in it. It has one writer at a time.
 *
 * Runs are added in two steps: first their rows in a file of curves, then, once these are durable, their lines. After a
 * crash, the lines alone determine which runs exist: rows without a line are removed when the folder is next opened. */
#ifndef EENET_RESULT_FOLDER_H
#define EENET_RESULT_FOLDER_H

#include "lost_curves.h"

typedef struct result_folder {
    stored_runs stored; /* the runs that it had when it was opened */
    char *curves_path;
    line_file log;             /* results.jsonl */
    struct curve_file *curves; /* (curve_count) */
    size_t curve_count, curve_capacity;
    struct curve_batch { /* runs that are not written yet; they share a file of curves */
        size_t count, file;
        double *rows; /* (count, rounds) */
        size_t rows_capacity;
        char *lines; /* (lines_length) */
        size_t lines_length, lines_capacity;
    } batch;
} result_folder;

/* Creates the folder if it is missing. EE_FILE_ERROR if another program has it open. lost may be NULL: then no line is
 * removed. Close it, on failure too. */
ee_status result_folder_open(const char *path, const lost_curves *lost, result_folder *out, ee_error *error);
void result_folder_close(result_folder *self);

/* curve is (run->rounds). The run gets a new row in this folder; its own curve and row are ignored. It is durable on
 * return, with all that were put before. */
ee_status result_folder_add(result_folder *self, const stored_run *run, const double *curve, ee_error *error);

/* The same for many: they are durable, in this order, once flushed, which takes about as long for many as for one.
 * After a failure some may be missing. */
ee_status result_folder_put(result_folder *self, const stored_run *run, const double *curve, ee_error *error);
ee_status result_folder_flush(result_folder *self, ee_error *error);

#endif
