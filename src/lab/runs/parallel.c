#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"

typedef struct parallel_loop {
    size_t count;
    parallel_work *work;
    void *context;
    const parallel_watch *watch;
    atomic_size_t next, done;
    atomic_bool stopped;
    pthread_mutex_t lock; /* for what follows */
    ee_error failure;
} parallel_loop;

static void do_pieces(parallel_loop *all, bool watching)
{
    size_t place;
    while (!atomic_load(&all->stopped) && (place = atomic_fetch_add(&all->next, 1)) < all->count) {
        ee_error error = {EE_OK, ""};
        if (all->work(all->context, place, &error)) {
            pthread_mutex_lock(&all->lock);
            all->failure = error;
            pthread_mutex_unlock(&all->lock);
            atomic_store(&all->stopped, true);
            return;
        }
        size_t done = atomic_fetch_add(&all->done, 1) + 1;
        if (watching && !all->watch->wanted(all->watch->context, done, all->count)) atomic_store(&all->stopped, true);
    }
}

static void *help_loop(void *argument)
{
    do_pieces(argument, false);
    return NULL;
}

ee_status parallel_each(size_t count, size_t threads, parallel_work *work, void *context, const parallel_watch *watch,
                        bool *finished, ee_error *error)
{
    parallel_loop all = {.count = count, .work = work, .context = context, .watch = watch};
    size_t helpers = 0, most = threads < count ? threads : count;
    pthread_t *others;
    ee_status status = memory_create(NULL, &others, most, sizeof *others, error);
    if (status) return status;
    pthread_mutex_init(&all.lock, NULL);
    while (helpers + 1 < most && !pthread_create(&others[helpers], NULL, help_loop, &all)) helpers++;
    do_pieces(&all, watch != NULL); /* fewer helpers only take longer */
    for (size_t i = 0; i < helpers; i++) pthread_join(others[i], NULL);
    pthread_mutex_destroy(&all.lock);
    memory_free(others);
    *finished = atomic_load(&all.done) == count;
    if (all.failure.status && error) *error = all.failure;
    return all.failure.status;
}
