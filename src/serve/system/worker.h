/* Threads for tasks that take too long for the threads of HTTP. With one thread, tasks run one after the other, so
 * changes cannot overlap. */
#ifndef EENET_WORKER_H
#define EENET_WORKER_H

#include <stdbool.h>

#include "base/status.h"

typedef struct worker worker;

/* A task; it must stay valid until run is called. */
typedef struct worker_task {
    void (*run)(void *context);
    void *context;
    struct worker_task *next;
} worker_task;

/* most: maximum number of waiting tasks. */
ee_status worker_start(size_t threads, size_t most, worker **out, ee_error *error);
/* Runs the tasks that wait, and stops. NULL is allowed. */
void worker_stop(worker *self);

/* false: the queue is full. */
bool worker_submit(worker *self, worker_task *task);

/* Runs a function in a thread of the worker, and waits until it has ended. Not for its own threads. false: the queue is
 * full, and it does not run. */
bool worker_run(worker *self, void (*run)(void *context), void *context);

/* Lowers the priority of the calling thread: requests and training go first. */
void worker_go_last(void);

#endif
