/* A thread waits until others have ended a number of things. */
#ifndef EENET_LATCH_H
#define EENET_LATCH_H

#include <pthread.h>
#include <stddef.h>

typedef struct latch {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t left;
} latch;

void latch_start(latch *self, size_t count);
/* One of them has ended. In any thread. */
void latch_count_down(latch *self);
/* Waits until none is left, and releases the latch. */
void latch_wait(latch *self);

#endif
