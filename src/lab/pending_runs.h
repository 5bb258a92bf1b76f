/* Runs that ended before their turn, in a folder of their own:
 *
 *     KEY.run  the line, without the curve's place, then the curve as it lies in memory
 */
#ifndef EENET_PENDING_RUNS_H
#define EENET_PENDING_RUNS_H

#include "results.h"

typedef struct pending_run {
    const char *line; /* (length) with its newline */
    size_t length;
    const double *curve; /* (rounds) */
    uint64_t rounds;
} pending_run;

/* key: that of the run, as run_keys has it. */
ee_status pending_runs_write(const char *folder, uint64_t key, const pending_run *run, ee_error *error);

/* *found false, and EE_OK, where there is no such run, or only a damaged one. *curve, unless curve is NULL, is to be
 * freed with memory_free. */
ee_status pending_runs_read(const char *folder, uint64_t key, uint64_t rounds, run_result *result, double **curve,
                            bool *found, ee_error *error);

ee_status pending_runs_remove(const char *folder, uint64_t key, ee_error *error);

/* Removes what is of no use: runs whose line is there, and what was not written to its end. */
ee_status pending_runs_clean(const char *folder, const stored_runs *stored, ee_error *error);

#endif
