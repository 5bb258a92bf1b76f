#define _DEFAULT_SOURCE /* setpriority of a thread */
#include "worker.h"

#include <pthread.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "latch.h"

struct worker {
    pthread_t *threads; /* (count) */
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    worker_task *first, **last;
    size_t waiting, most;
    bool stopping;
};

static worker_task *take(worker *self)
{
    pthread_mutex_lock(&self->lock);
    while (!self->first && !self->stopping) pthread_cond_wait(&self->changed, &self->lock);
    worker_task *task = self->first;
    if (task) {
        self->first = task->next;
        if (!self->first) self->last = &self->first;
        self->waiting--;
    }
    pthread_mutex_unlock(&self->lock);
    return task;
}

static void *work(void *context)
{
    worker *self = context;
    for (worker_task *task; (task = take(self));) task->run(task->context);
    return NULL;
}

ee_status worker_start(size_t threads, size_t most, worker **out, ee_error *error)
{
    worker *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->most = most;
    self->last = &self->first;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    status = memory_create(NULL, &self->threads, threads, sizeof *self->threads, error);
    while (!status && self->count < threads) {
        if (pthread_create(&self->threads[self->count], NULL, work, self))
            status = status_fail(error, EE_NO_MEMORY, "could not start a thread");
        else
            self->count++;
    }
    if (status)
        worker_stop(self);
    else
        *out = self;
    return status;
}

void worker_stop(worker *self)
{
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->count; i++) pthread_join(self->threads[i], NULL);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    memory_free(self->threads);
    memory_free(self);
}

bool worker_submit(worker *self, worker_task *task)
{
    pthread_mutex_lock(&self->lock);
    bool taken = self->waiting < self->most && !self->stopping;
    if (taken) {
        task->next = NULL;
        *self->last = task;
        self->last = &task->next;
        self->waiting++;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return taken;
}

typedef struct awaited_task {
    void (*run)(void *context);
    void *context;
    latch ended;
} awaited_task;

static void run_awaited(void *context)
{
    awaited_task *self = context;
    self->run(self->context);
    latch_count_down(&self->ended);
}

bool worker_run(worker *self, void (*run)(void *context), void *context)
{
    awaited_task awaited = {.run = run, .context = context};
    worker_task task = {.run = run_awaited, .context = &awaited};
    latch_start(&awaited.ended, 1);
    bool taken = worker_submit(self, &task);
    if (!taken) latch_count_down(&awaited.ended);
    latch_wait(&awaited.ended);
    return taken;
}

void worker_go_last(void)
{
    setpriority(PRIO_PROCESS, 0, 15);
}
