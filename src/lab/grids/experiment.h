/* Runs whose results are stored in a folder: runs that it has already are not repeated. */
#ifndef EENET_EXPERIMENT_H
#define EENET_EXPERIMENT_H

#include "lab/results/results.h"
#include "lab/runs/run_pool.h"
#include "lab/sharing/shard.h"

/* Where runs are stored, and which workers do them. */
typedef struct experiment_site {
    const char
        *folder; /* created if it is missing; NULL: nothing is stored, all jobs run, and shard and known are ignored */
    run_pool pool;
    run_shard shard;   /* the part of the jobs that runs here; other programs do the rest, into other folders */
    const char *known; /* another folder, which is only read: its runs are not repeated either. It need not exist.
                          NULL: none */
} experiment_site;

/* Does the jobs that the folder has no finished run of (same data set by name and fingerprint, policy, options,
 * seed, rounds, delay, slots and tuning), and stores each that finishes. Lines are appended in the order of the jobs,
 * whatever the pool; a run that ends before its turn waits in pending/. Killed at any moment and
 * called again with the same jobs, it ends with the same bytes as if it had never been killed, the seconds aside.
 *
 * results is (count): stored and new ones. watch->ended is called for both; stored ones have curve NULL. Only one
 * program at a time can write to a folder: the second gets EE_FILE_ERROR.
 *
 * In a shard, unknown jobs of other shards stay unfinished with EE_OK and do not count in the standing; those known to
 * diverge have failed. run_order.h and failed_runs.h keep the order of all jobs and the ones that diverged.
 *
 * The status concerns the folder and the pool. A failed run does not fail the call: its result has the status, and
 * watch->ended gets the reason. */
ee_status experiment_run(const experiment_site *site, const run_job *jobs, size_t count, const run_watch *watch,
                         run_result *results, ee_error *error);

#endif
