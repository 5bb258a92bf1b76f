/* One thread for what takes time and must not be done by those that serve: creating bandits, loading and saving models.
 * One after the other, so that no two changes meet. */
#ifndef EENET_WORKER_H
#define EENET_WORKER_H

#include <stdbool.h>

#include "base/status.h"

typedef struct worker worker;

/* What is to be done; the caller's, until run is called. */
typedef struct worker_task {
    void (*run)(void *context);
    void *context;
    struct worker_task *next;
} worker_task;

ee_status worker_start(size_t most, worker **out, ee_error *error);
/* Does what was handed in, and stops. NULL is allowed. */
void worker_stop(worker *self);

/* false: the queue is full. */
bool worker_submit(worker *self, worker_task *task);

#endif
