/* The hands of a rank: threads that play the runs that rank 0 gives them, each one at a time. */
#ifndef EENET_HANDS_H
#define EENET_HANDS_H

#include <pthread.h>

#include "lab/runs/runner.h"
#include "post.h"

typedef struct hand {
    const dataset *const *data; /* (data_count) those of the call; borrowed */
    size_t data_count;
    size_t thread; /* post.h */
    pthread_t of;

    /* The present run. */
    uint64_t played;
    double started; /* seconds of the thread */
    double next;    /* when it looks and tells again */
    bool ended;     /* rank 0 has ended it */
    letter end;     /* that says so, on its way */
} hand;

/* Starts this number, or as many as the system allows; at least one. */
ee_status hands_start(const dataset *const *data, size_t data_count, size_t wanted, hand **hands, size_t *count,
                      ee_error *error);

/* Waits until rank 0 has ended each, and frees them. */
void hands_join(hand *hands, size_t count);

#endif
