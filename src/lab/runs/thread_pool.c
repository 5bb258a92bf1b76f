/* Threads that take the jobs in the order of the list; the calling thread reports progress. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <time.h>

#include "base/memory.h"
#include "run_pool.h"
#include "run_tally.h"

static double seconds_of(const struct timespec *time)
{
    return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
}

/* Shared by the threads; not written during a run. */
typedef struct thread_pool {
    bool curves;
    const run_watch *watch;
    atomic_size_t next; /* the first job that is not taken */
    atomic_bool stopped;
    pthread_mutex_t lock; /* for calls of the watch, and the members below */
    pthread_cond_t all_done;
    run_tally tally;
    size_t playing; /* threads that have not ended */
} thread_pool;

/* Written by one thread during a run; others only read the atomic members. Aligned to cache lines to avoid false
 * sharing. */
typedef struct worker {
    alignas(64) atomic_uint_fast64_t played; /* rounds of the present run */
    _Atomic(const run_job *) job;            /* the present run; NULL: none */
    _Atomic double started;                  /* processor time of the thread when it started */
    thread_pool *shared;
    pthread_t thread;
} worker;

/* ---- a thread ---- */

static bool on_wanted(void *context)
{
    worker *self = context;
    thread_pool *shared = self->shared;
    uint64_t before = atomic_load_explicit(&self->played, memory_order_relaxed);
    atomic_store_explicit(&self->played, before + 1, memory_order_relaxed);
    if (atomic_load_explicit(&shared->stopped, memory_order_relaxed)) return false;
    const run_watch *watch = shared->watch;
    if (!watch || !watch->wanted || watch->wanted(watch->context)) return true;
    atomic_store(&shared->stopped, true);
    return false;
}

static bool on_ended(void *context, const run_report *report)
{
    worker *self = context;
    thread_pool *shared = self->shared;
    const run_watch *watch = shared->watch;
    pthread_mutex_lock(&shared->lock);
    if (watch && watch->ended && !watch->ended(watch->context, report)) atomic_store(&shared->stopped, true);
    run_tally_end(&shared->tally, report->job, report->result, report->error);
    atomic_store(&self->job, NULL);
    atomic_store(&self->played, 0);
    pthread_mutex_unlock(&shared->lock);
    return true;
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return seconds_of(&now);
}

static void *play_jobs(void *argument)
{
    worker *self = argument;
    thread_pool *shared = self->shared;
    run_watch watch = {.wanted = on_wanted, .ended = on_ended, .context = self};
    size_t place;
    while (!atomic_load(&shared->stopped) && (place = atomic_fetch_add(&shared->next, 1)) < shared->tally.count) {
        const run_job *job = &shared->tally.jobs[place];
        run_result result; /* local: other threads write its neighbours in the list */
        atomic_store(&self->started, thread_seconds());
        atomic_store(&self->job, job);
        if (shared->curves)
            (void)runner_run_with_curve(job, &watch, &result, NULL); /* the report has its status */
        else
            (void)runner_run(job, &watch, &result, NULL);
    }
    pthread_mutex_lock(&shared->lock);
    if (--shared->playing == 0) pthread_cond_signal(&shared->all_done);
    pthread_mutex_unlock(&shared->lock);
    return NULL;
}

/* ---- the calling thread ---- */

/* Seconds of processor time that the thread has spent on its run. */
static double spent_on_run(const worker *of)
{
    clockid_t clock;
    struct timespec now;
    if (pthread_getcpuclockid(of->thread, &clock) || clock_gettime(clock, &now)) return 0.0;
    return fmax(seconds_of(&now) - atomic_load(&of->started), 0.0);
}

/* Lists the present runs; runs has room for (count). Returns their number. */
static size_t list_playing(const worker *workers, size_t count, run_playing *runs)
{
    size_t running = 0;
    for (size_t i = 0; i < count; i++) {
        const run_job *job = atomic_load(&workers[i].job);
        if (job) runs[running++] = (run_playing){job, atomic_load(&workers[i].played), spent_on_run(&workers[i])};
    }
    return running;
}

/* Calls the watch ten times a second until all threads have ended. Called with the lock, which the wait releases. */
static void report_progress(thread_pool *shared, const worker *workers, size_t count, run_playing *runs)
{
    const run_watch *watch = shared->watch;
    const long tenth = 100000000;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    const double start = seconds_of(&next);
    while (shared->playing) {
        if (!watch || !watch->standing) {
            pthread_cond_wait(&shared->all_done, &shared->lock);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &next);
        size_t running = list_playing(workers, count, runs);
        run_standing now = run_tally_standing(&shared->tally, runs, running, seconds_of(&next) - start);
        watch->standing(watch->context, &now);
        next.tv_nsec += tenth;
        next.tv_sec += next.tv_nsec / (10 * tenth);
        next.tv_nsec %= 10 * tenth;
        while (shared->playing && !pthread_cond_timedwait(&shared->all_done, &shared->lock, &next)) continue;
    }
}

/* Returns how many threads could be started. */
static size_t start_threads(thread_pool *shared, worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        workers[i].shared = shared;
        if (pthread_create(&workers[i].thread, NULL, play_jobs, &workers[i])) return i;
        shared->playing++;
    }
    return count;
}

static void prepare_locks(thread_pool *shared)
{
    pthread_condattr_t steady; /* a monotonic clock */
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&shared->all_done, &steady);
    pthread_condattr_destroy(&steady);
    pthread_mutex_init(&shared->lock, NULL);
}

static ee_status play(const run_pool *pool, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error)
{
    thread_pool shared = {.curves = curves, .watch = watch, .tally = run_tally_start(jobs, count, results)};
    size_t threads = pool->workers < count ? pool->workers : count;
    worker *workers = NULL;
    run_playing *runs = NULL;
    if (!count) return EE_OK;
    ee_status status = memory_create(NULL, &workers, threads, sizeof *workers, error);
    if (!status) status = memory_create(NULL, &runs, threads, sizeof *runs, error);
    if (status) goto done;
    prepare_locks(&shared);
    pthread_mutex_lock(&shared.lock);
    size_t started = start_threads(&shared, workers, threads);
    report_progress(&shared, workers, started, runs);
    pthread_mutex_unlock(&shared.lock);
    for (size_t i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    pthread_cond_destroy(&shared.all_done);
    pthread_mutex_destroy(&shared.lock);
    status = started
                 ? run_tally_status(&shared.tally, error)
                 : status_fail(error, EE_NO_MEMORY, "runs: the system refused to start more threads; try a smaller -j");
done:
    memory_free(runs);
    memory_free(workers);
    return status;
}

run_pool run_pool_of_threads(size_t threads)
{
    return (run_pool){.workers = threads ? threads : 1, .play = play};
}
