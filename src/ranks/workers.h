/* The workers of a rank: threads that play the runs that rank 0 gives them, each one at a time. */
#ifndef EENET_WORKERS_H
#define EENET_WORKERS_H

#include <pthread.h>

#include "lab/runs/runner.h"
#include "transport.h"

typedef struct worker {
    const dataset *const *data; /* (data_count) those of the call; borrowed */
    size_t data_count;
    size_t thread; /* transport.h */
    pthread_t of;

    /* The present run. */
    uint64_t played;
    double started;       /* seconds of the thread */
    double next;          /* when it looks and tells again */
    bool ended;           /* rank 0 has ended it */
    incoming_message end; /* that says so, on its way */
} worker;

/* Starts this number, or as many as the system allows; at least one. */
ee_status workers_start(const dataset *const *data, size_t data_count, size_t wanted, worker **workers, size_t *count,
                        ee_error *error);

/* Waits until rank 0 has ended each, and frees them. */
void workers_join(worker *workers, size_t count);

#endif
