#define _POSIX_C_SOURCE 200809L
#include "workers.h"

#include <time.h>

#include "base/memory.h"
#include "lab/runs/host.h"
#include "transport.h"

static const double look_every = 0.2; /* seconds between checks for an end, with a progress message each */

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rank 0 writes to a busy worker only to end it. */
static bool end_came(worker *self)
{
    if (!transport_receive(TO_WORKERS, (int)self->thread, &self->end)) return false;
    self->ended = true;
    incoming_release(&self->end);
    return true;
}

static bool on_wanted(void *context)
{
    worker *self = context;
    self->played++;
    double now = seconds_of(CLOCK_MONOTONIC);
    if (now < self->next) return true;
    self->next = now + look_every;
    if (end_came(self)) return false;
    message sent = {MESSAGE_PROGRESS, .progress = {self->played, seconds_of(CLOCK_THREAD_CPUTIME_ID) - self->started}};
    transport_send(TO_RANK_0, 0, self->thread, &sent);
    return true;
}

static bool on_ended(void *context, const run_report *report)
{
    const worker *self = context;
    message sent = {MESSAGE_REPORT, .report = {.result = *report->result,
                                               .options = report->options,
                                               .machine = host_describe(),
                                               .curve = report->result->finished ? report->curve : NULL,
                                               .error = *report->error}};
    sent.report.error.status = report->result->status;
    transport_send(TO_RANK_0, 0, self->thread, &sent);
    return true;
}

static void play(worker *self, const job_message *from)
{
    if (from->dataset >= self->data_count) transport_fail("MPI: received a run on an unknown data set");
    run_job job = from->job;
    job.data = self->data[from->dataset];
    self->played = 0;
    self->started = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    self->next = seconds_of(CLOCK_MONOTONIC) + look_every;
    run_watch watch = {.wanted = on_wanted, .ended = on_ended, .context = self};
    run_result result;
    if (from->curve)
        (void)runner_run_with_curve(&job, &watch, &result, NULL); /* the report has its status */
    else
        (void)runner_run(&job, &watch, &result, NULL);
}

static void *work(void *argument)
{
    worker *self = argument;
    while (!self->ended) {
        incoming_message one = self->end; /* a part may have arrived during the last run */
        self->end = (incoming_message){0};
        transport_wait(TO_WORKERS, (int)self->thread, &one);
        if (one.what.kind == MESSAGE_JOB)
            play(self, &one.what.job);
        else
            self->ended = true;
        incoming_release(&one);
    }
    return NULL;
}

ee_status workers_start(const dataset *const *data, size_t data_count, size_t wanted, worker **workers, size_t *count,
                        ee_error *error)
{
    *count = 0;
    ee_status status = memory_create(NULL, workers, wanted, sizeof **workers, error);
    if (status) return status;
    for (; *count < wanted; ++*count) {
        worker *one = &(*workers)[*count];
        *one = (worker){.data = data, .data_count = data_count, .thread = *count + 1};
        if (pthread_create(&one->of, NULL, work, one)) break;
    }
    if (*count) return EE_OK;
    memory_free(*workers);
    return status_fail(error, EE_NO_MEMORY, "runs: the system refused to start more threads; try a smaller -j");
}

void workers_join(worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) pthread_join(workers[i].of, NULL);
    memory_free(workers);
}
