/* Runs whose results are kept in a folder: what is there already is not played again. */
#ifndef EENET_EXPERIMENT_H
#define EENET_EXPERIMENT_H

#include "crew.h"
#include "results.h"
#include "shard.h"

/* Where runs are kept, and who plays them. */
typedef struct experiment_site {
    const char *folder; /* made where it is missing; NULL: nothing is kept, all is played, and the rest says nothing */
    run_crew crew;
    run_shard shard;   /* the part of the jobs that is played here; others play the rest, into other folders */
    const char *known; /* another folder, that is only read: its runs are not played either. It need not have any yet.
                          NULL: none */
} experiment_site;

/* Plays those jobs that the folder has no finished run of (same data set by name and fingerprint, policy, options,
 * seed, rounds, delay, slots and tuning), and keeps each that finishes. Lines are appended in the order of the jobs,
 * whatever the crew; one that ends before its turn is kept beside in pending/ until then. Killed at any moment and
 * called again with the same jobs, it ends with the same bytes as if it had never been killed, the seconds aside.
 *
 * results is (count): what was read and what was played. watch->ended is called for both, for those read with curve
 * NULL. Two programs do not write to one folder at a time: the second gets EE_FILE_ERROR.
 *
 * Of a shard the jobs that are others' and not known stay unfinished, with EE_OK, and no standing counts them; those
 * that are known to diverge have failed. The order of all jobs, and which of its own diverged, are kept beside the
 * lines: see run_order.h and failed_runs.h.
 *
 * The status is that of the folder and of the crew. A run that fails is no failure of the call: its result has
 * the status, and watch->ended gets the reason. */
ee_status experiment_run(const experiment_site *site, const run_job *jobs, size_t count, const run_watch *watch,
                         run_result *results, ee_error *error);

#endif
