/* Who plays runs: threads of this program, or programs on many machines. */
#ifndef EENET_CREW_H
#define EENET_CREW_H

#include "runner.h"

typedef struct run_crew run_crew;

struct run_crew {
    size_t hands; /* runs that it plays at a time, at most */

    /* Whether the runs that take longest are to be played first, so that none is left alone at the end. A crew that
     * plays them as they are listed lets results come in the order in which they were asked for. */
    bool longest_first;

    /* Plays the jobs, as they are listed; one that fails does not keep the others from being played. The results do
     * not depend on who plays. results is (count); those of jobs that were not started are all zero. curves: reports
     * have a curve. Returns the status of the first job in the list that failed, with its error. */
    ee_status (*play)(const run_crew *self, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error);
    void *context;
};

static inline ee_status crew_play(run_crew crew, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                                  run_result *results, ee_error *error)
{
    return crew.play(&crew, jobs, count, curves, watch, results, error);
}

/* So many threads; at least one. */
run_crew crew_of_threads(size_t threads);

#endif
