#define _POSIX_C_SOURCE 200809L
#include "hands.h"

#include <time.h>

#include "base/memory.h"
#include "lab/runs/host.h"
#include "post.h"

static const double look_every = 0.2; /* seconds between looks for an end, each with a word on how far it is */

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rank 0 writes to a hand that plays in order to end it, and for nothing else. */
static bool is_ended(hand *self)
{
    if (!post_take(POST_DOWN, (int)self->thread, &self->end)) return false;
    self->ended = true;
    letter_release(&self->end);
    return true;
}

static bool on_wanted(void *context)
{
    hand *self = context;
    self->played++;
    double now = seconds_of(CLOCK_MONOTONIC);
    if (now < self->next) return true;
    self->next = now + look_every;
    if (is_ended(self)) return false;
    message told = {MESSAGE_PROGRESS, .progress = {self->played, seconds_of(CLOCK_THREAD_CPUTIME_ID) - self->started}};
    post_send(POST_UP, 0, self->thread, &told);
    return true;
}

static bool on_ended(void *context, const run_report *report)
{
    const hand *self = context;
    message told = {MESSAGE_REPORT, .report = {.result = *report->result,
                                               .options = report->options,
                                               .machine = host_describe(),
                                               .curve = report->result->finished ? report->curve : NULL,
                                               .error = *report->error}};
    told.report.error.status = report->result->status;
    post_send(POST_UP, 0, self->thread, &told);
    return true;
}

static void play(hand *self, const job_message *from)
{
    if (from->dataset >= self->data_count) post_fail("MPI: received a run on an unknown data set");
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
    hand *self = argument;
    while (!self->ended) {
        letter one = self->end; /* of which a part may have come while it played */
        self->end = (letter){0};
        post_wait(POST_DOWN, (int)self->thread, &one);
        if (one.what.kind == MESSAGE_JOB)
            play(self, &one.what.job);
        else
            self->ended = true;
        letter_release(&one);
    }
    return NULL;
}

ee_status hands_start(const dataset *const *data, size_t data_count, size_t wanted, hand **hands, size_t *count,
                      ee_error *error)
{
    *count = 0;
    ee_status status = memory_create(NULL, hands, wanted, sizeof **hands, error);
    if (status) return status;
    for (; *count < wanted; ++*count) {
        hand *one = &(*hands)[*count];
        *one = (hand){.data = data, .data_count = data_count, .thread = *count + 1};
        if (pthread_create(&one->of, NULL, work, one)) break;
    }
    if (*count) return EE_OK;
    memory_free(*hands);
    return status_fail(error, EE_NO_MEMORY, "runs: the system refused to start more threads; try a smaller -j");
}

void hands_join(hand *hands, size_t count)
{
    for (size_t i = 0; i < count; i++) pthread_join(hands[i].of, NULL);
    memory_free(hands);
}
