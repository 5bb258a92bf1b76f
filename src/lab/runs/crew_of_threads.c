/* Threads that take the jobs in the order of the list; the calling thread reports progress. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <time.h>

#include "base/memory.h"
#include "crew.h"
#include "run_tally.h"

static double seconds_of(const struct timespec *time)
{
    return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
}

/* What the threads share. Nothing of it is written in the course of a run. */
typedef struct crowd {
    bool curves;
    const run_watch *watch;
    atomic_size_t next; /* the first job that is not taken */
    atomic_bool stopped;
    pthread_mutex_t turn; /* of telling the watch, and for what follows */
    pthread_cond_t all_left;
    run_tally tally;
    size_t playing; /* threads that have not left */
} crowd;

/* What a thread writes during a run. Others only read the atomic members. Aligned to cache lines to avoid false
 * sharing. */
typedef struct player {
    alignas(64) atomic_uint_fast64_t played; /* rounds of the present run */
    _Atomic(const run_job *) job;            /* that one; NULL: none */
    _Atomic double started;                  /* when: seconds of the thread */
    crowd *all;
    pthread_t thread;
} player;

/* ---- a thread ---- */

static bool on_wanted(void *context)
{
    player *self = context;
    crowd *all = self->all;
    uint64_t before = atomic_load_explicit(&self->played, memory_order_relaxed);
    atomic_store_explicit(&self->played, before + 1, memory_order_relaxed);
    if (atomic_load_explicit(&all->stopped, memory_order_relaxed)) return false;
    const run_watch *watch = all->watch;
    if (!watch || !watch->wanted || watch->wanted(watch->context)) return true;
    atomic_store(&all->stopped, true);
    return false;
}

static bool on_ended(void *context, const run_report *report)
{
    player *self = context;
    crowd *all = self->all;
    const run_watch *watch = all->watch;
    pthread_mutex_lock(&all->turn);
    if (watch && watch->ended && !watch->ended(watch->context, report)) atomic_store(&all->stopped, true);
    run_tally_end(&all->tally, report->job, report->result, report->error);
    atomic_store(&self->job, NULL);
    atomic_store(&self->played, 0);
    pthread_mutex_unlock(&all->turn);
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
    player *self = argument;
    crowd *all = self->all;
    run_watch watch = {.wanted = on_wanted, .ended = on_ended, .context = self};
    size_t place;
    while (!atomic_load(&all->stopped) && (place = atomic_fetch_add(&all->next, 1)) < all->tally.count) {
        const run_job *job = &all->tally.jobs[place];
        run_result result; /* its own: neighbours in those of all are written by others */
        atomic_store(&self->started, thread_seconds());
        atomic_store(&self->job, job);
        if (all->curves)
            (void)runner_run_with_curve(job, &watch, &result, NULL); /* the report has its status */
        else
            (void)runner_run(job, &watch, &result, NULL);
    }
    pthread_mutex_lock(&all->turn);
    if (--all->playing == 0) pthread_cond_signal(&all->all_left);
    pthread_mutex_unlock(&all->turn);
    return NULL;
}

/* ---- the calling thread ---- */

/* Seconds of processor time that the thread has spent on its run. */
static double spent_on_run(const player *of)
{
    clockid_t clock;
    struct timespec now;
    if (pthread_getcpuclockid(of->thread, &clock) || clock_gettime(clock, &now)) return 0.0;
    return fmax(seconds_of(&now) - atomic_load(&of->started), 0.0);
}

/* runs is room for (count). Returns how many are played. */
static size_t list_playing(const player *players, size_t count, run_playing *runs)
{
    size_t running = 0;
    for (size_t i = 0; i < count; i++) {
        const run_job *job = atomic_load(&players[i].job);
        if (job) runs[running++] = (run_playing){job, atomic_load(&players[i].played), spent_on_run(&players[i])};
    }
    return running;
}

/* Until all threads have left; called with the turn, which the wait gives away. */
static void look_on(crowd *all, const player *players, size_t count, run_playing *runs)
{
    const run_watch *watch = all->watch;
    const long tenth = 100000000;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    const double start = seconds_of(&next);
    while (all->playing) {
        if (!watch || !watch->standing) {
            pthread_cond_wait(&all->all_left, &all->turn);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &next);
        size_t running = list_playing(players, count, runs);
        run_standing now = run_tally_standing(&all->tally, runs, running, seconds_of(&next) - start);
        watch->standing(watch->context, &now);
        next.tv_nsec += tenth;
        next.tv_sec += next.tv_nsec / (10 * tenth);
        next.tv_nsec %= 10 * tenth;
        while (all->playing && !pthread_cond_timedwait(&all->all_left, &all->turn, &next)) continue;
    }
}

/* How many of the threads could be started. */
static size_t start_threads(crowd *all, player *players, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        players[i].all = all;
        if (pthread_create(&players[i].thread, NULL, play_jobs, &players[i])) return i;
        all->playing++;
    }
    return count;
}

static void prepare_locks(crowd *all)
{
    pthread_condattr_t steady; /* a monotonic clock */
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&all->all_left, &steady);
    pthread_condattr_destroy(&steady);
    pthread_mutex_init(&all->turn, NULL);
}

static ee_status play(const run_crew *crew, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error)
{
    crowd all = {.curves = curves, .watch = watch, .tally = run_tally_start(jobs, count, results)};
    size_t threads = crew->hands < count ? crew->hands : count;
    player *players = NULL;
    run_playing *runs = NULL;
    if (!count) return EE_OK;
    ee_status status = memory_create(NULL, &players, threads, sizeof *players, error);
    if (!status) status = memory_create(NULL, &runs, threads, sizeof *runs, error);
    if (status) goto done;
    prepare_locks(&all);
    pthread_mutex_lock(&all.turn);
    size_t started = start_threads(&all, players, threads);
    look_on(&all, players, started, runs);
    pthread_mutex_unlock(&all.turn);
    for (size_t i = 0; i < started; i++) pthread_join(players[i].thread, NULL);
    pthread_cond_destroy(&all.all_left);
    pthread_mutex_destroy(&all.turn);
    status = started
                 ? run_tally_status(&all.tally, error)
                 : status_fail(error, EE_NO_MEMORY, "runs: the system refused to start more threads; try a smaller -j");
done:
    memory_free(runs);
    memory_free(players);
    return status;
}

run_crew crew_of_threads(size_t threads)
{
    return (run_crew){.hands = threads ? threads : 1, .play = play};
}
