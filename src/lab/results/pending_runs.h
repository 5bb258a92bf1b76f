/* Runs that ended before their turn, in a folder of their own:
 *
 *     KEY.run  the line, without the curve's place, then the curve as it lies in memory
 */
#ifndef EENET_PENDING_RUNS_H
#define EENET_PENDING_RUNS_H

#include "run_index.h"

/* Starts as zeros. */
typedef struct pending_run {
    stored_run run;
    double *curve; /* (run.rounds); NULL: there is no such run */
} pending_run;

/* Under the key that run_keys has of the run. */
ee_status pending_runs_write(const char *folder, const stored_run *run, const double *curve, ee_error *error);

/* out has no curve, and the status is EE_OK, where there is no such run, or only a damaged one. */
ee_status pending_runs_read(const char *folder, uint64_t key, pending_run *out, ee_error *error);
void pending_runs_release(pending_run *run);

ee_status pending_runs_remove(const char *folder, uint64_t key, ee_error *error);

/* Adds the waiting runs, in any order; damaged ones are skipped. Removes useless files: runs whose line exists (those
 * in kept), and incomplete ones. kept is NULL for readers beside a writer: then nothing is removed, and the folder may
 * be missing. Release out with results_release, on failure too. */
ee_status pending_runs_list(const char *folder, const run_index *kept, stored_runs *out, ee_error *error);

#endif
