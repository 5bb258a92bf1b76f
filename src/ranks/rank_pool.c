/* Rank 0: assigns runs, receives reports, calls the watch; all in the calling thread. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "lab/runs/run_tally.h"
#include "ranks.h"
#include "ranks_inside.h"
#include "transport.h"
#include "workers.h"

/* A worker, as rank 0 sees it. */
typedef struct remote_worker {
    size_t rank, thread;
    const run_job *job; /* its present run; NULL: none */
    uint64_t played;    /* of its rounds, as it last reported */
    double seconds;
    bool ended;               /* MESSAGE_END was sent */
    outgoing_message sending; /* the last message to it */
} remote_worker;

typedef struct rank_pool {
    size_t rank_workers; /* of each rank */
    const char *cache;
    run_tally tally;
    bool curves;
    const run_watch *watch;
    const dataset **data; /* (data_count) of the jobs, each once */
    size_t data_count;
    remote_worker *workers; /* (worker_count) of rank 0, then of rank 1, ... */
    size_t worker_count;
    size_t *first;            /* (ranks) the first worker of each */
    run_playing *playing;     /* (worker_count) buffer for a standing */
    incoming_message *coming; /* (worker_count) incomplete messages, in the order in which they began */
    size_t coming_count;
    size_t busy;  /* workers with a run */
    size_t next;  /* the first job that is not assigned */
    bool stopped; /* the watch asked to stop */
    double start, next_standing;
} rank_pool;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the watch ---- */

static void report_progress(rank_pool *self)
{
    double time = clock_seconds();
    if (!self->watch || !self->watch->standing || time < self->next_standing) return;
    self->next_standing = time + 0.1;
    size_t running = 0;
    for (size_t i = 0; i < self->worker_count; i++) {
        const remote_worker *one = &self->workers[i];
        if (one->job) self->playing[running++] = (run_playing){one->job, one->played, one->seconds};
    }
    run_standing now = run_tally_standing(&self->tally, self->playing, running, time - self->start);
    self->watch->standing(self->watch->context, &now);
}

static bool is_wanted(const rank_pool *self)
{
    const run_watch *watch = self->watch;
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

/* ---- data sets ---- */

static size_t place_of_data(const rank_pool *self, const dataset *data)
{
    size_t place = 0;
    while (place < self->data_count && self->data[place] != data) place++;
    return place;
}

static ee_status list_data(rank_pool *self, ee_error *error)
{
    ee_status status = memory_create(NULL, &self->data, self->tally.count, sizeof *self->data, error);
    for (size_t i = 0; i < self->tally.count && !status; i++) {
        const dataset *data = self->tally.jobs[i].data;
        if (place_of_data(self, data) == self->data_count) self->data[self->data_count++] = data;
    }
    return status;
}

/* ---- calling the ranks ---- */

static void call_rank(const rank_pool *self, size_t rank)
{
    char version[RANKS_VERSION];
    ranks_version(version);
    message call = {MESSAGE_CALL, .call = {version, self->rank_workers, self->data_count}};
    transport_send(TO_WORKERS, rank, MAIN_THREAD, &call);
    for (size_t i = 0; i < self->data_count; i++) {
        const dataset *data = self->data[i];
        message next = {MESSAGE_DATA, .data = {dataset_text(data), self->cache, dataset_fingerprint(data)}};
        transport_send(TO_WORKERS, rank, MAIN_THREAD, &next);
    }
}

/* ready is (ranks): the number of workers of each; 0 if it failed. error has the reason of the first that failed. */
static ee_status receive_answers(rank_pool *self, size_t *ready, ee_error *error)
{
    size_t ranks = transport_ranks(), failed = ranks;
    backoff between = {0};
    incoming_message one = {0};
    for (size_t heard = 1; heard < ranks;) {
        report_progress(self);
        if (!transport_receive(TO_RANK_0, ANY_THREAD, &one)) {
            backoff_wait(&between);
            continue;
        }
        backoff_reset(&between);
        if (one.what.kind != MESSAGE_ANSWER) transport_fail("MPI: expected an answer, got another message");
        const answer_message *answer = &one.what.answer;
        ready[one.rank] = answer->workers;
        if (!answer->workers && one.rank < failed) {
            failed = one.rank;
            status_fail(error, answer->error.status, "rank %zu on %s: %s", one.rank, answer->host,
                        answer->error.message);
        }
        incoming_release(&one);
        heard++;
    }
    return failed < ranks ? error->status : EE_OK;
}

static ee_status list_workers(rank_pool *self, const size_t *ready, ee_error *error)
{
    size_t ranks = transport_ranks(), count = 0;
    for (size_t i = 0; i < ranks; i++) count += ready[i];
    ee_status status = memory_create(NULL, &self->workers, count, sizeof *self->workers, error);
    if (!status) status = memory_create(NULL, &self->playing, count, sizeof *self->playing, error);
    if (!status) status = memory_create(NULL, &self->coming, count, sizeof *self->coming, error);
    if (!status) status = memory_create(NULL, &self->first, ranks, sizeof *self->first, error);
    for (size_t i = 0; i < ranks && !status; i++) {
        self->first[i] = self->worker_count;
        for (size_t k = 1; k <= ready[i]; k++)
            self->workers[self->worker_count++] = (remote_worker){.rank = i, .thread = k};
    }
    return status;
}

/* ---- runs ---- */

/* Sends a run, or, if job is NULL, the end. */
static void send_next(rank_pool *self, remote_worker *to, const run_job *job)
{
    message next = {.kind = MESSAGE_END};
    if (job)
        next = (message){MESSAGE_JOB, .job = {*job, place_of_data(self, job->data), self->curves}};
    else
        to->ended = true;
    transport_finish(&to->sending); /* it arrived long ago: the worker has reported since, or is being ended */
    transport_begin(TO_WORKERS, to->rank, to->thread, &next, &to->sending);
}

static void assign_next(rank_pool *self, remote_worker *to)
{
    if (to->ended) return;
    bool more = !self->stopped && self->next < self->tally.count;
    to->job = more ? &self->tally.jobs[self->next++] : NULL;
    to->played = 0;
    to->seconds = 0.0;
    self->busy += more;
    send_next(self, to, to->job);
}

static void stop(rank_pool *self)
{
    if (self->stopped) return;
    self->stopped = true;
    for (size_t i = 0; i < self->worker_count; i++)
        if (!self->workers[i].ended) send_next(self, &self->workers[i], NULL);
}

static void take_report(rank_pool *self, remote_worker *from, const report_message *got)
{
    const run_job *job = from->job;
    run_tally_end(&self->tally, job, &got->result, &got->error);
    from->job = NULL;
    self->busy--;
    assign_next(self, from); /* first: it runs while we store the result */
    run_report report = {.job = job,
                         .result = &got->result,
                         .options = got->options,
                         .curve = got->curve,
                         .error = &got->error,
                         .machine = got->machine};
    const run_watch *watch = self->watch;
    if (watch && watch->ended && !watch->ended(watch->context, &report)) stop(self);
}

static void take_message(rank_pool *self, const incoming_message *one)
{
    remote_worker *from = &self->workers[self->first[one->rank] + one->thread - 1];
    if (one->what.kind == MESSAGE_REPORT && from->job) {
        take_report(self, from, &one->what.report);
    } else if (one->what.kind == MESSAGE_PROGRESS && from->job) {
        from->played = one->what.progress.played;
        from->seconds = one->what.progress.seconds;
    } else {
        transport_fail("MPI: received a report on a run that was not assigned");
    }
}

/* Whether no earlier message of the same worker is still incomplete. */
static bool is_next_of_worker(const rank_pool *self, size_t place)
{
    const incoming_message *of = &self->coming[place];
    for (size_t i = 0; i < place; i++)
        if (self->coming[i].rank == of->rank && self->coming[i].thread == of->thread) return false;
    return true;
}

/* The next complete message, if any. An incomplete one does not block the others. */
static bool take_next(rank_pool *self, incoming_message *out)
{
    for (size_t i = 0; i <= self->coming_count && i < self->worker_count; i++) {
        incoming_message *one = &self->coming[i];
        bool whole = transport_receive(TO_RANK_0, ANY_THREAD, one);
        if (i == self->coming_count && one->words) self->coming_count++;
        if (!whole || !is_next_of_worker(self, i)) continue;
        *out = *one;
        self->coming_count--;
        memmove(one, one + 1, (self->coming_count - i) * sizeof *one);
        self->coming[self->coming_count] = (incoming_message){0};
        return true;
    }
    return false;
}

/* Runs until all runs and all workers have ended. */
static void play_all(rank_pool *self)
{
    backoff between = {0};
    for (size_t i = 0; i < self->worker_count; i++) assign_next(self, &self->workers[i]);
    while (self->busy) {
        incoming_message one;
        report_progress(self);
        if (!is_wanted(self)) stop(self);
        if (!take_next(self, &one)) {
            backoff_wait(&between);
            continue;
        }
        backoff_reset(&between);
        take_message(self, &one);
        incoming_release(&one);
    }
}

/* ---- all of it ---- */

static ee_status run(rank_pool *self, ee_error *error)
{
    size_t *ready = NULL, own = 0;
    worker *workers = NULL;
    ee_status status = list_data(self, error);
    if (!status) status = memory_create(NULL, &ready, transport_ranks(), sizeof *ready, error);
    if (!status) status = workers_start(self->data, self->data_count, self->rank_workers, &workers, &own, error);
    if (status) goto done;
    for (size_t i = 1; i < transport_ranks(); i++) call_rank(self, i);
    status = receive_answers(self, ready, error);
    ready[0] = own;
    if (list_workers(self, ready, error))
        transport_fail(error->message); /* the workers wait, and nothing could end them */
    self->stopped = status || !is_wanted(self);
    play_all(self);
    workers_join(workers, own);
done:
    for (size_t i = 0; i < self->worker_count; i++) transport_finish(&self->workers[i].sending);
    memory_free(ready);
    memory_free(self->data);
    memory_free(self->workers);
    memory_free(self->playing);
    memory_free(self->coming);
    memory_free(self->first);
    return status;
}

static ee_status play(const run_pool *pool, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error)
{
    rank_pool self = {.rank_workers = pool->workers / transport_ranks(),
                      .cache = pool->context,
                      .tally = run_tally_start(jobs, count, results),
                      .curves = curves,
                      .watch = watch,
                      .start = clock_seconds()};
    if (!count) return EE_OK;
    ee_error own = {EE_OK, ""};
    ee_status status = run(&self, &own);
    if (!status) status = run_tally_status(&self.tally, &own);
    if (status && error) *error = own;
    return status;
}

run_pool run_pool_of_ranks(size_t workers, const char *cache)
{
    return (run_pool){.workers = ranks_count() * workers, .play = play, .context = (void *)cache};
}
