#define _POSIX_C_SOURCE 200809L
#include "turn_queue.h"

#include <math.h>
#include <time.h>

static const double QUANTUM = 0.05; /* seconds: times used that differ by less count as equal */
static const double CREDIT = 0.5;   /* seconds */
static const double LONG = 0.1;     /* a turn from so many seconds on */

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double turn_queue_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/* Turns are measured in processor time: on a busy machine every turn takes long by the clock. */
double turn_queue_thread_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void turn_queue_init(turn_queue *self)
{
    pthread_condattr_t monotonic;
    *self = (turn_queue){.threads = 1};
    pthread_mutex_init(&self->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void turn_queue_destroy(turn_queue *self)
{
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}

void turn_queue_set_threads(turn_queue *self, size_t threads)
{
    self->threads = threads;
}

/* With the mutex, as all that follow. */
static void enqueue(turn_queue *self, turn *of, double due)
{
    of->state = TURN_QUEUED;
    of->due = due;
    if (of->since <= 0) of->since = turn_queue_now();
    of->next = self->first;
    self->first = of;
    pthread_cond_signal(&self->changed);
}

static double used_of(const turn_queue *self, const turn *of)
{
    return fmax(of->used, self->clock - CREDIT);
}

static bool goes_before(const turn_queue *self, const turn *of, const turn *other)
{
    double mine = floor(used_of(self, of) / QUANTUM), others = floor(used_of(self, other) / QUANTUM);
    return mine < others || (mine == others && of->since < other->since);
}

static bool is_long(const turn *of)
{
    return of->longest > LONG;
}

/* The last thread is left to short turns. */
static bool may_run(const turn_queue *self, const turn *of)
{
    return !is_long(of) || self->threads == 1 || self->running_long + 1 < self->threads;
}

/* Where the best one that is due hangs in the list; NULL: none is. *soonest becomes when the next is. */
static turn **find_best(turn_queue *self, double now, double *soonest)
{
    turn **best = NULL;
    *soonest = INFINITY;
    for (turn **at = &self->first; *at; at = &(*at)->next) {
        if (!may_run(self, *at)) continue; /* the end of another long turn wakes a thread */
        if ((*at)->due > now)
            *soonest = fmin(*soonest, (*at)->due);
        else if (!best || goes_before(self, *at, *best))
            best = at;
    }
    return best;
}

static void wait_until(turn_queue *self, double when)
{
    struct timespec until = {.tv_sec = (time_t)when};
    until.tv_nsec = (long)((when - (double)until.tv_sec) * 1e9);
    pthread_cond_timedwait(&self->changed, &self->mutex, &until);
}

static turn *begin(turn_queue *self, turn **at)
{
    turn *of = *at;
    *at = of->next;
    of->state = TURN_RUNNING;
    of->again = of->urgent = false;
    of->begun = turn_queue_thread_seconds();
    of->used = used_of(self, of);
    self->clock = fmax(self->clock, of->used);
    self->running_long += is_long(of);
    return of;
}

/* ---- any thread ---- */

void turn_queue_ask(turn_queue *self, turn *of, bool urgent)
{
    pthread_mutex_lock(&self->mutex);
    double due = urgent || of->state == TURN_RUNNING ? 0 : of->earliest;
    if (of->state == TURN_RUNNING) {
        of->again = true;
        of->urgent = of->urgent || urgent;
    } else if (of->state == TURN_NONE) {
        enqueue(self, of, due);
    } else if (due < of->due) {
        of->due = due;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->mutex);
}

turn *turn_queue_take(turn_queue *self, double until)
{
    turn *taken = NULL;
    pthread_mutex_lock(&self->mutex);
    while (!self->stopping) {
        double now = turn_queue_now(), soonest;
        turn **best = find_best(self, now, &soonest);
        if (best) taken = begin(self, best);
        if (best || now >= until) break;
        wait_until(self, fmin(soonest, until));
    }
    pthread_mutex_unlock(&self->mutex);
    return taken;
}

void turn_queue_end(turn_queue *self, turn *of, double due)
{
    const double decay = 0.9;
    double seconds = turn_queue_thread_seconds() - of->begun;
    pthread_mutex_lock(&self->mutex);
    if (is_long(of)) {
        self->running_long--;
        pthread_cond_signal(&self->changed);
    }
    of->used += seconds;
    of->longest = fmax(seconds, decay * of->longest);
    of->state = TURN_NONE;
    if (of->again) due = fmin(due, of->urgent ? 0 : of->earliest);
    if (isfinite(due)) enqueue(self, of, due);
    pthread_mutex_unlock(&self->mutex);
}

void turn_queue_stop(turn_queue *self)
{
    pthread_mutex_lock(&self->mutex);
    self->stopping = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}
