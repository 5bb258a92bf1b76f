#include "run_tally.h"

#include <math.h>
#include <string.h>

run_tally run_tally_start(const run_job *jobs, size_t count, run_result *results)
{
    run_tally self = {.jobs = jobs, .results = results, .count = count, .first_failed = count};
    for (size_t i = 0; i < count; i++) self.rounds += jobs[i].rounds;
    if (count) memset(results, 0, count * sizeof *results);
    return self;
}

void run_tally_end(run_tally *self, const run_job *job, const run_result *result, const ee_error *error)
{
    size_t place = (size_t)(job - self->jobs);
    self->results[place] = *result;
    self->ended++;
    self->ended_rounds += job->rounds;
    if (!result->status || place > self->first_failed) return;
    self->first_failed = place;
    self->failure = *error;
}

run_standing run_tally_standing(const run_tally *self, const run_playing *runs, size_t running, double seconds)
{
    uint64_t played = self->ended_rounds;
    for (size_t i = 0; i < running; i++) played += runs[i].played;
    return (run_standing){.jobs = self->count,
                          .ended = self->ended,
                          .rounds = self->rounds,
                          .played = played,
                          .seconds = seconds,
                          .runs = runs,
                          .running = running,
                          .share = self->rounds ? (double)played / (double)self->rounds : 1.0,
                          .left = NAN};
}

ee_status run_tally_status(const run_tally *self, ee_error *error)
{
    if (self->first_failed == self->count) return EE_OK;
    if (error) *error = self->failure;
    return self->failure.status;
}
