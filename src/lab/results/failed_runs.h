/* Runs that diverge, however often and wherever they are played. They have no line, so of several programs that play a
 * part of the runs each keeps its own of them, and the others need not wait for what will never come:
 *
 *     failed  a line a run: its key, as run_keys has it, 16 hexadecimal digits; a blank; why
 */
#ifndef EENET_FAILED_RUNS_H
#define EENET_FAILED_RUNS_H

#include "run_index.h"

typedef struct failed_run {
    uint64_t key;
    char sentence[sizeof(((ee_error *)NULL)->message)];
} failed_run;

typedef struct failed_runs {
    failed_run *runs; /* (count) */
    size_t count, capacity;
} failed_runs;

/* Adds those of a folder; none where it has no such file. One that is there stays as it is. To be released, on failure
 * too. */
ee_status failed_runs_read(const char *folder, failed_runs *into, ee_error *error);
void failed_runs_release(failed_runs *self);

/* NULL where there is none. */
const failed_run *failed_runs_find(const failed_runs *self, uint64_t key);

/* After a crash the folder has the old ones or these. It has one writer, as of its runs. */
ee_status failed_runs_write(const char *folder, const failed_runs *runs, ee_error *error);

/* Keeps one more, unless it is there. */
ee_status failed_runs_keep(const char *folder, uint64_t key, const char *sentence, ee_error *error);

#endif
