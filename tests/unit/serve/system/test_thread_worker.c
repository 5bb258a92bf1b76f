/* The worker: tasks of many threads, each done once, one after the other, and all before it stops. */
#include <pthread.h>
#include <sched.h>

#include "serve/system/worker.h"
#include "support.h"

enum { THREADS = 4, EACH = 500 };

typedef struct counted {
    worker_task task;
    int *done; /* only the worker touches it */
} counted;

static void count(void *context)
{
    counted *self = context;
    ++*self->done;
}

typedef struct giver {
    worker *to;
    counted tasks[EACH];
    pthread_t thread;
} giver;

static void *give(void *context)
{
    giver *self = context;
    for (int i = 0; i < EACH; i++)
        while (!worker_submit(self->to, &self->tasks[i].task)) sched_yield();
    return NULL;
}

TEST(every_task_is_done_once)
{
    static giver givers[THREADS];
    worker *one;
    ee_error error;
    int done = 0;
    ok(worker_start(1, 16, &one, &error));
    for (int i = 0; i < THREADS; i++) {
        givers[i].to = one;
        for (int k = 0; k < EACH; k++)
            givers[i].tasks[k] = (counted){{.run = count, .context = &givers[i].tasks[k]}, &done};
        assert_int_equal(pthread_create(&givers[i].thread, NULL, give, &givers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(givers[i].thread, NULL);
    worker_stop(one);
    assert_int_equal(done, THREADS * EACH);
    worker_stop(NULL);
}

/* Holds the worker until it is let go. */
static void hold(void *context)
{
    pthread_mutex_t *gate = context;
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
}

static void note(void *context)
{
    *(pthread_t *)context = pthread_self();
}

TEST(a_task_can_be_awaited)
{
    worker *one;
    ee_error error;
    pthread_t ran = pthread_self(), again;
    ok(worker_start(1, 16, &one, &error));
    assert_true(worker_run(one, note, &ran));
    assert_false(pthread_equal(ran, pthread_self()));
    assert_true(worker_run(one, note, &again));
    assert_true(pthread_equal(ran, again));
    worker_stop(one);
    ok(worker_start(1, 0, &one, &error));
    assert_false(worker_run(one, note, &ran));
    worker_stop(one);
}

TEST(more_than_it_takes_is_refused)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    worker_task first = {.run = hold, .context = &gate}, more[3] = {first, first, first};
    worker *one;
    ee_error error;
    size_t taken = 0;
    ok(worker_start(1, 2, &one, &error));
    pthread_mutex_lock(&gate);
    assert_true(worker_submit(one, &first));
    for (size_t i = 0; i < 3; i++) taken += worker_submit(one, &more[i]);
    assert_in_range(taken, 1, 2); /* the first may be under way already */
    pthread_mutex_unlock(&gate);
    worker_stop(one);
}
