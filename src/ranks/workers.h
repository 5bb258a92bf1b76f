/* The workers of a rank: threads that do the runs that rank 0 assigns to them, each one at a time. */
#ifndef EENET_WORKERS_H
#define EENET_WORKERS_H

#include <pthread.h>

#include "lab/runs/runner.h"
#include "transport.h"

typedef struct worker {
    const dataset *const *data; /* (data_count) of the call; borrowed */
    size_t data_count;
    size_t thread; /* its number in transport.h */
    pthread_t of;

    /* The present run. */
    uint64_t played;
    double started;       /* seconds of the thread */
    double next;          /* when it next checks for an end and reports progress */
    bool ended;           /* rank 0 has ended it */
    incoming_message end; /* the message that ends it, while it arrives */
} worker;

/* Starts this number of workers, or as many as the system allows; at least one. */
ee_status workers_start(const dataset *const *data, size_t data_count, size_t wanted, worker **workers, size_t *count,
                        ee_error *error);

/* Waits until rank 0 has ended all of them, and frees them. */
void workers_join(worker *workers, size_t count);

#endif
