/* A pool of workers that do runs: threads of this program, or MPI ranks. */
#ifndef EENET_RUN_POOL_H
#define EENET_RUN_POOL_H

#include "runner.h"

typedef struct run_pool run_pool;

struct run_pool {
    size_t workers; /* at most this number of runs at a time */

    /* Does the jobs in the order of the list, also after one fails. Results do not depend on the workers. results is
     * (count); those of jobs that were not started are zeros. curves: reports have a curve. Returns the status and
     * error of the first job in the list that failed. */
    ee_status (*play)(const run_pool *self, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error);
    void *context;
};

static inline ee_status run_pool_play(run_pool pool, const run_job *jobs, size_t count, bool curves,
                                      const run_watch *watch, run_result *results, ee_error *error)
{
    return pool.play(&pool, jobs, count, curves, watch, results, error);
}

/* A pool of threads; at least one. */
run_pool run_pool_of_threads(size_t threads);

#endif
