/* The threads that train. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "served_inside.h"

/* Seconds from one look at idle bandits to the next. */
static double look_interval(const served_options *options)
{
    const double most = 1;
    double shortest = options->checkpoint_seconds;
    if (options->sleep_seconds > 0) shortest = fmin(shortest, options->sleep_seconds);
    return fmin(most, shortest / 4);
}

/* Asks for turns of loaded bandits that have nothing to learn: they may want a checkpoint, or to be unloaded. */
static void look_around(served_bandits *all)
{
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(all, i)); i++) {
        pthread_mutex_lock(&bandit->mutex);
        bool awake = bandit->awake;
        pthread_mutex_unlock(&bandit->mutex);
        if (awake) turn_queue_ask(&all->queue, &bandit->turn, false);
    }
}

/* One of the threads looks around when it is time. Returns when it is the next time. */
static double look_if_due(served_bandits *all)
{
    const double micro = 1e-6;
    double now = turn_queue_now();
    int_least64_t due = atomic_load(&all->next_look),
                  next = (int_least64_t)((now + look_interval(&all->options)) / micro);
    if (now < micro * (double)due) return micro * (double)due;
    if (atomic_compare_exchange_strong(&all->next_look, &due, next)) look_around(all);
    return micro * (double)atomic_load(&all->next_look);
}

static void *train(void *context)
{
    served_bandits *all = context;
    trainer_turn t = {.all = all};
    setpriority(PRIO_PROCESS, 0, 10); /* of this thread alone: answers go first */
    while (store_reader_create(all->kept, &t.log, NULL) && !atomic_load(&all->stopping)) usleep(100000);
    while (!atomic_load(&all->stopping)) {
        turn *mine = turn_queue_take(&all->queue, look_if_due(all));
        if (!mine) continue;
        t.bandit = mine->owner;
        turn_queue_end(&all->queue, mine, trainer_turn_give(&t));
    }
    store_reader_free(t.log);
    return NULL;
}

/* At least two, so that one is left for short turns. */
static size_t default_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 4 ? (size_t)cores / 2 : 2;
}

ee_status trainers_start(served_bandits *self, ee_error *error)
{
    size_t wanted = self->options.trainers ? self->options.trainers : default_threads();
    ee_status status = memory_create(&self->memory, &self->threads, wanted, sizeof *self->threads, error);
    turn_queue_set_threads(&self->queue, wanted);
    while (!status && self->thread_count < wanted) {
        if (pthread_create(&self->threads[self->thread_count], NULL, train, self))
            status = status_fail(error, EE_NO_MEMORY, "serve: could not start a training thread");
        else
            self->thread_count++;
    }
    return status;
}

static int by_memory(const void *a, const void *b)
{
    const served_bandit *first = *(served_bandit *const *)a, *second = *(served_bandit *const *)b;
    uint64_t left = first->standing.memory, right = second->standing.memory;
    return (left > right) - (left < right);
}

/* To be freed with memory_free; NULL: no memory. */
static served_bandit **sort_by_memory(const served_bandits *self)
{
    served_bandit **sorted = NULL;
    if (!self->count || memory_create(NULL, &sorted, self->count, sizeof *sorted, NULL)) return NULL;
    memcpy(sorted, self->bandits, self->count * sizeof *sorted);
    qsort(sorted, self->count, sizeof *sorted, by_memory);
    return sorted;
}

/* Small models first: so most are saved, if there is not time for all. */
void trainers_stop(served_bandits *self, double until)
{
    trainer_turn t = {.all = self};
    atomic_store(&self->interrupted, true);
    atomic_store(&self->stopping, true);
    turn_queue_stop(&self->queue);
    for (size_t i = 0; i < self->thread_count; i++) pthread_join(self->threads[i], NULL);
    if (store_reader_create(self->kept, &t.log, NULL)) until = 0;
    served_bandit **sorted = sort_by_memory(self);
    for (size_t i = 0; i < self->count; i++) {
        t.bandit = sorted ? sorted[i] : self->bandits[i];
        trainer_turn_last(&t, until);
    }
    memory_free(sorted);
    store_reader_free(t.log);
}
