#define _GNU_SOURCE
#include "trainers.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double trainers_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the queue ---- */

/* With the queue's mutex. */
static void enqueue(served_bandits *all, served_bandit *bandit, double due)
{
    bandit->turn = TURN_QUEUED;
    bandit->due = due;
    bandit->next = due > 0 ? NULL : all->first;
    if (due <= 0)
        all->first = bandit;
    else if (all->last)
        all->last->next = bandit;
    else
        all->first = bandit;
    if (!bandit->next) all->last = bandit;
    pthread_cond_signal(&all->queued);
}

void trainers_ask(served_bandit *bandit, double due)
{
    served_bandits *all = bandit->all;
    pthread_mutex_lock(&all->queue);
    if (due > 0 && due < bandit->step_due) due = bandit->step_due;
    if (bandit->turn == TURN_RUNNING) {
        bandit->again = true;
        bandit->due = fmin(bandit->due, due);
    } else if (bandit->turn == TURN_NONE) {
        enqueue(all, bandit, due);
    } else if (due < bandit->due) {
        bandit->due = due;
        pthread_cond_signal(&all->queued);
    }
    pthread_mutex_unlock(&all->queue);
}

/* With the mutex: takes the first that is due out of the queue. *soonest becomes when the next of the others is. */
static served_bandit *take_due(served_bandits *all, double now, double *soonest)
{
    served_bandit *before = NULL;
    *soonest = INFINITY;
    for (served_bandit *bandit = all->first; bandit; before = bandit, bandit = bandit->next) {
        *soonest = fmin(*soonest, bandit->due);
        if (bandit->due > now) continue;
        if (before)
            before->next = bandit->next;
        else
            all->first = bandit->next;
        if (all->last == bandit) all->last = before;
        bandit->turn = TURN_RUNNING;
        bandit->again = false;
        bandit->due = INFINITY;
        return bandit;
    }
    return NULL;
}

static void wait_until(served_bandits *all, double when)
{
    struct timespec until = {.tv_sec = (time_t)when};
    until.tv_nsec = (long)((when - (double)until.tv_sec) * 1e9);
    pthread_cond_timedwait(&all->queued, &all->queue, &until);
}

/* The turn is over; the bandit asks for another at due, if it is finite, besides what others have asked for. */
static void end_turn(const trainer_turn *t, double due)
{
    served_bandits *all = t->all;
    served_bandit *bandit = t->bandit;
    pthread_mutex_lock(&all->queue);
    bandit->turn = TURN_NONE;
    bandit->step_due = t->step_due;
    if (bandit->again) due = fmin(due, bandit->due);
    if (isfinite(due)) enqueue(all, bandit, due);
    pthread_mutex_unlock(&all->queue);
}

/* ---- the threads ---- */

/* Seconds from one look at idle bandits to the next. */
static double look_interval(const served_options *options)
{
    const double most = 1;
    double shortest = options->checkpoint_seconds;
    if (options->sleep_seconds > 0) shortest = fmin(shortest, options->sleep_seconds);
    return fmin(most, shortest / 4);
}

/* Gives a turn to bandits that have nothing to learn but a checkpoint or their sleep before them. */
static void look_around(served_bandits *all, double now)
{
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(all, i)); i++) {
        pthread_mutex_lock(&bandit->mutex);
        bool awake = bandit->awake;
        pthread_mutex_unlock(&bandit->mutex);
        if (awake) trainers_ask(bandit, now);
    }
}

static void *train(void *context)
{
    served_bandits *all = context;
    trainer_turn t = {.all = all};
    ee_error error;
    setpriority(PRIO_PROCESS, 0, 10); /* of this thread alone: answers go first */
    while (store_reader_create(all->kept, &t.log, &error) && !atomic_load(&all->stopping)) usleep(100000);
    pthread_mutex_lock(&all->queue);
    while (!atomic_load(&all->stopping)) {
        double now = trainers_now(), soonest;
        bool looks = now >= all->next_look;
        if (looks) all->next_look = now + look_interval(&all->options);
        t.bandit = looks ? NULL : take_due(all, now, &soonest);
        if (!looks && !t.bandit) {
            wait_until(all, fmin(soonest, all->next_look));
            continue;
        }
        pthread_mutex_unlock(&all->queue);
        if (looks)
            look_around(all, now);
        else
            end_turn(&t, trainer_turn_give(&t));
        pthread_mutex_lock(&all->queue);
    }
    pthread_mutex_unlock(&all->queue);
    store_reader_free(t.log);
    return NULL;
}

/* ---- starting and stopping ---- */

ee_status trainers_start(served_bandits *self, ee_error *error)
{
    size_t wanted = self->options.trainers;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!wanted) wanted = cores > 3 ? (size_t)cores / 2 : 1;
    ee_status status = memory_create(&self->memory, &self->threads, wanted, sizeof *self->threads, error);
    while (!status && self->thread_count < wanted) {
        if (pthread_create(&self->threads[self->thread_count], NULL, train, self))
            status = status_fail(error, EE_NO_MEMORY, "serve: could not start a training thread");
        else
            self->thread_count++;
    }
    return status;
}

void trainers_stop(served_bandits *self)
{
    trainer_turn t = {.all = self};
    pthread_mutex_lock(&self->queue);
    atomic_store(&self->stopping, true);
    pthread_cond_broadcast(&self->queued);
    pthread_mutex_unlock(&self->queue);
    for (size_t i = 0; i < self->thread_count; i++) pthread_join(self->threads[i], NULL);
    bool saves = !atomic_load(&self->hurry) && !store_reader_create(self->kept, &t.log, NULL);
    for (size_t i = 0; i < self->count; i++) {
        t.bandit = self->bandits[i];
        trainer_turn_last(&t, saves);
    }
    store_reader_free(t.log);
}
