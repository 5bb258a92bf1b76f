/* Runs that diverge. They always do, and have no line in results.jsonl. Each shard lists them, so that others do not
 * wait for them:
 *
 *     failed  a line per run: its key (run_keys), 16 hexadecimal digits; a space; the reason
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

/* Adds those of a folder, if it has the file; a run that is in the list already is skipped. Release it, on failure
 * too. */
ee_status failed_runs_read(const char *folder, failed_runs *into, ee_error *error);
void failed_runs_release(failed_runs *self);

/* NULL if there is none. */
const failed_run *failed_runs_find(const failed_runs *self, uint64_t key);

/* Replaces the file atomically. A folder has one writer at a time, as for its runs. */
ee_status failed_runs_write(const char *folder, const failed_runs *runs, ee_error *error);

/* Adds one, unless it is in the file. */
ee_status failed_runs_keep(const char *folder, uint64_t key, const char *sentence, ee_error *error);

#endif
