/* The workers that do runs: threads of this program, or MPI ranks. */
#ifndef EENET_CREW_H
#define EENET_CREW_H

#include "runner.h"

typedef struct run_crew run_crew;

struct run_crew {
    size_t hands; /* runs that it plays at a time, at most */

    /* Does the jobs in the order of the list, also after one fails. Results do not depend on the workers. results is
     * (count); those of jobs that were not started are zeros. curves: reports have a curve. Returns the status and
     * error of the first job in the list that failed. */
    ee_status (*play)(const run_crew *self, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error);
    void *context;
};

static inline ee_status crew_play(run_crew crew, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                                  run_result *results, ee_error *error)
{
    return crew.play(&crew, jobs, count, curves, watch, results, error);
}

/* A crew of threads; at least one. */
run_crew crew_of_threads(size_t threads);

#endif
