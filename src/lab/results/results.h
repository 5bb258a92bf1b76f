/* A folder of finished runs.
 *
 *     results.jsonl    one line of JSON per run
 *     curves/NAME.npy  float64, (runs, rounds): the regret after each round, a row per run; one file for runs that
 *                      differ only in the seed; their lines name it and the row
 *
 * Both are only appended to. A run is stored once its line is complete. What a crash left behind (an incomplete line,
 * rows that no line names) is ignored by readers, and removed when the folder is next opened for writing. A line whose
 * curve is lost is removed when its run is requested again. */
#ifndef EENET_RESULTS_H
#define EENET_RESULTS_H

#include "data/files/line_file.h"
#include "lab/runs/runner.h"

/* One line. A run that was read owns its strings. */
typedef struct stored_run {
    const char *dataset;  /* dataset_name */
    const char *source;   /* dataset_source; NULL: none, or the line is of a program that did not store it */
    uint64_t fingerprint; /* of its files */
    size_t dim, arms;     /* of its rounds */
    uint64_t rows;        /* dataset_rows; 0 too where the line is of a program that did not tell */
    const char *policy;
    const char *options; /* every option with its value */
    uint64_t seed;
    uint64_t rounds; /* all requested rounds */
    bool tuning;
    delay late;   /* zeros in lines without one: at once */
    size_t slots; /* of a round, where it has several; else 0 */
    run_result result;
    const char *curve; /* "NAME.npy" */
    size_t curve_row;
    const char *version, *kernels; /* of the program that ran it: "0.1.0", "neon" */
    const char *machine;           /* host_describe; NULL in lines of programs that did not tell */
} stored_run;

typedef struct stored_runs {
    stored_run *runs; /* (count) in the order of the lines */
    size_t count, capacity;
} stored_runs;

/* Reads results.jsonl. A last line that is not ended is left out; any other that cannot be read is EE_BAD_INPUT with
 * its number. out starts as zeros, and is to be released, on failure too. */
ee_status results_read(const char *folder, stored_runs *out, ee_error *error);

/* The same; none where the folder, or its file, is not there. */
ee_status results_read_any(const char *folder, stored_runs *out, ee_error *error);

void results_release(stored_runs *list);

/* Takes lines out of the folder's results.jsonl, which is open as file: dropped is (lines). */
ee_status results_drop(const char *folder, line_file *file, const bool *dropped, ee_error *error);

/* Whether the curve of a run is there: the file has its row, which ends with the regret of the line. */
ee_status results_has_curve(const char *folder, const stored_run *run, bool *there, ee_error *error);

/* The curve of a run; out is (run->rounds). EE_BAD_INPUT where it is not there. */
ee_status results_curve(const char *folder, const stored_run *run, double *out, ee_error *error);

/* One line, whole; number is its place in the file, for the message. The strings of out belong to the caller, on
 * failure too. out starts as zeros; its curve is NULL where the line names none. */
ee_status results_parse(const char *line, size_t length, size_t number, stored_run *out, ee_error *error);
void results_release_run(stored_run *run);

/* What the line of a run says that has ended; it has no curve yet. The strings are borrowed from the report. */
stored_run results_of_report(const run_report *report);

/* The run as one line, newline included. Reading it back gives the same doubles, and writing that again the same bytes.
 * The line of a run without a curve names none. Like snprintf, writes at most capacity bytes and returns the full
 * length. */
size_t results_format(const stored_run *run, char *line, size_t capacity);

#endif
