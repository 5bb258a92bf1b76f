#define _POSIX_C_SOURCE 200809L
#include "interruptible.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

typedef struct watched_work {
    void (*work)(void *context);
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
} watched_work;

static void *do_work(void *argument)
{
    watched_work *self = argument;
    self->work(self->context);
    pthread_mutex_lock(&self->mutex);
    self->done = true;
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* Waits until the work is done, at most a tenth of a second. Returns whether it is done. */
static bool wait_for_end(watched_work *self)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&self->mutex);
    int late = 0;
    while (!self->done && !late) late = pthread_cond_timedwait(&self->ended, &self->mutex, &until);
    bool done = self->done;
    pthread_mutex_unlock(&self->mutex);
    return done;
}

int interruptible_run(void (*work)(void *context), void *context, atomic_bool *stop)
{
    watched_work self = {work, context, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    pthread_t thread;
    int raised = 0;
    if (pthread_create(&thread, NULL, do_work, &self)) {
        PyErr_SetString(PyExc_RuntimeError, "could not start a thread");
        return -1;
    }
    for (bool done = false; !done;) {
        Py_BEGIN_ALLOW_THREADS;
        done = wait_for_end(&self);
        Py_END_ALLOW_THREADS;
        if (!raised && PyErr_CheckSignals()) raised = -1;
        if (raised) atomic_store(stop, true);
    }
    pthread_join(thread, NULL);
    return raised;
}
