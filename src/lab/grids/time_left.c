#include "time_left.h"

#include <math.h>

#include "base/memory.h"

ee_status time_left_start(const run_job *jobs, size_t count, const job_keys *keys, time_left *out, ee_error *error)
{
    *out = (time_left){.jobs = jobs};
    ee_status status = memory_create(NULL, &out->settings, count, sizeof *out->settings, error);
    for (size_t i = 0; i < count && !status; i++) {
        const char *options = keys->count ? keys->keys[i].options : jobs[i].options;
        status = run_times_expect(&out->times, &jobs[i], options, &out->settings[i], error);
    }
    return status;
}

void time_left_release(time_left *self)
{
    memory_free(self->settings);
    run_times_release(&self->times);
}

void time_left_end(time_left *self, size_t place, const run_result *result, bool stored)
{
    timed_setting *of = &self->times.settings[self->settings[place]];
    of->unfinished -= run_times_rounds(&self->jobs[place], self->jobs[place].rounds);
    self->done += result->seconds;
    if (stored || !result->rounds) return;
    of->rounds += run_times_rounds(&self->jobs[place], result->rounds);
    of->seconds += result->seconds;
    self->spent += result->seconds;
}

/* Counts the rounds that are being played as done (sign 1), or no longer (-1). A first round that still runs counts as
 * one: otherwise nothing would be known of a slow policy before it ends. Returns their seconds. */
static double count_running(time_left *self, const run_standing *now, double sign)
{
    double seconds = 0.0;
    for (size_t i = 0; i < now->running; i++) {
        const run_playing *run = &now->runs[i];
        timed_setting *of = &self->times.settings[self->settings[run->job - self->jobs]];
        of->rounds += sign * run_times_rounds(run->job, run->played ? run->played : 1);
        of->seconds += sign * run->seconds;
        of->unfinished -= sign * run_times_rounds(run->job, run->played);
        seconds += run->seconds;
    }
    return seconds;
}

/* Seconds until the last of the present runs has ended: more workers do not shorten it. */
static double find_longest(const time_left *self, const run_standing *now)
{
    double longest = 0.0;
    for (size_t i = 0; i < now->running; i++) {
        const run_playing *run = &now->runs[i];
        const timed_setting *of = &self->times.settings[self->settings[run->job - self->jobs]];
        double rounds = run_times_rounds(run->job, run->job->rounds - run->played);
        longest = fmax(longest, rounds * run_times_round(&self->times, of, true));
    }
    return longest;
}

void time_left_estimate(time_left *self, run_standing *now)
{
    double running = count_running(self, now, 1.0), longest = find_longest(self, now), ignored;
    double left = run_times_left(&self->times, true, &ignored);
    count_running(self, now, -1.0);
    double spent = self->spent + running, done = self->done + running;
    /* The rest goes on with as many runs at a time, on a machine as busy, as so far. */
    if (spent > 0.0 && !isnan(left)) now->left = fmax(now->seconds * left / spent, longest);
    if (done > 0.0 && !isnan(left)) now->share = done / (done + left);
    now->share = self->share = fmax(self->share, now->share);
}
