#include "forecast.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/sharing/usual_pace.h"

#define LEAST_PART 1e-6 /* of the work of a job: less is none */
#define LEAST_BUSY 1.0  /* seconds of the wall clock, before which it says nothing of how loaded the machine is */

/* A number of rounds of a job. */
static double work_of(const run_job *job, uint64_t rounds)
{
    run_job part = *job;
    part.rounds = rounds;
    return usual_pace_seconds(&part);
}

/* The place of a setting in the list, where it is put if it is new. */
static ee_status find_setting(forecast *self, const pace_setting *setting, size_t *place, ee_error *error)
{
    for (*place = 0; *place < self->setting_count; ++*place)
        if (pace_setting_same(&self->settings[*place].setting, setting)) return EE_OK;
    ee_status status = memory_grow(NULL, &self->settings, &self->setting_capacity, self->setting_count + 1,
                                   sizeof *self->settings, error);
    if (!status) self->settings[self->setting_count++] = (forecast_setting){.setting = *setting};
    return status;
}

/* Neighbours in the list of jobs differ in the seed alone, mostly. */
static bool same_strings(const run_job *left, const run_job *right)
{
    return left->data == right->data && left->policy == right->policy && left->options == right->options;
}

ee_status forecast_start(const run_job *jobs, size_t count, size_t threads, forecast *out, ee_error *error)
{
    *out = (forecast){.jobs = jobs, .count = count, .threads = threads ? threads : 1};
    ee_status status = memory_create(NULL, &out->setting_of, count, sizeof *out->setting_of, error);
    for (size_t i = 0; i < count && !status; i++) {
        if (i && same_strings(&jobs[i - 1], &jobs[i])) {
            out->setting_of[i] = out->setting_of[i - 1];
        } else {
            pace_setting setting = pace_setting_of_job(&jobs[i]);
            status = find_setting(out, &setting, &out->setting_of[i], error);
        }
        if (status) break;
        forecast_setting *of = &out->settings[out->setting_of[i]];
        double work = usual_pace_seconds(&jobs[i]);
        of->data = jobs[i].data;
        of->unended += work;
        of->longest = fmax(of->longest, work);
    }
    return status;
}

void forecast_release(forecast *self)
{
    memory_free(self->setting_of);
    memory_free(self->settings);
    pace_release(&self->known);
    pace_release(&self->now);
    *self = (forecast){0};
}

/* Lines have every option, and jobs what was set: a line is of a job's setting where that has the same options. */
ee_status forecast_learn(forecast *self, const stored_runs *kept, const job_keys *keys, ee_error *error)
{
    pace_setting *whole; /* (settings) with every option */
    ee_status status = memory_create(NULL, &whole, self->setting_count, sizeof *whole, error);
    for (size_t i = 0; i < self->count && !status; i++) {
        const dataset *data = self->jobs[i].data;
        whole[self->setting_of[i]] =
            pace_setting_of(dataset_name(data), dataset_fingerprint(data), self->jobs[i].policy, keys->keys[i].options);
    }
    for (size_t i = 0; i < kept->count && !status; i++) {
        const stored_run *run = &kept->runs[i];
        pace_setting setting = pace_setting_of(run->dataset, run->fingerprint, run->policy, run->options);
        const dataset *data = NULL;
        for (size_t k = 0; k < self->setting_count; k++) {
            if (whole[k].data == setting.data) data = self->settings[k].data;
            if (!pace_setting_same(&whole[k], &setting)) continue;
            setting = self->settings[k].setting;
            break;
        }
        if (!data) continue;
        run_job job = {.data = data, .policy = run->policy, .slots = run->slots};
        status = pace_learn(&self->known, &setting, work_of(&job, run->rounds), run->result.seconds, error);
    }
    memory_free(whole);
    return status;
}

double forecast_seconds(const forecast *self, size_t place)
{
    const run_job *job = &self->jobs[place];
    const pace_setting *setting = &self->settings[self->setting_of[place]].setting;
    double work = usual_pace_seconds(job), seconds = pace_seconds(&self->known, setting, work);
    return isnan(seconds) ? work : seconds;
}

ee_status forecast_end(forecast *self, size_t place, const run_result *result, bool read, ee_error *error)
{
    forecast_setting *of = &self->settings[self->setting_of[place]];
    of->unended -= usual_pace_seconds(&self->jobs[place]);
    self->done += result->seconds;
    if (read) return EE_OK;
    self->spent += result->seconds;
    double work = result->rounds ? work_of(&self->jobs[place], result->rounds) : 0.0;
    return pace_learn(&self->known, &of->setting, work, result->seconds, error);
}

/* What is known, with what the present runs have shown: where the first round still goes on, that it is as long as this
 * at least. Or else a slow policy after quick ones would be all but done before it has begun. */
static ee_status learn_present(forecast *self, const run_standing *now)
{
    ee_status status = pace_copy(&self->now, &self->known, NULL);
    for (size_t i = 0; i < now->running && !status; i++) {
        const run_playing *run = &now->runs[i];
        const pace_setting *setting = &self->settings[self->setting_of[run->job - self->jobs]].setting;
        status = pace_learn(&self->now, setting, work_of(run->job, run->played), run->seconds, NULL);
    }
    return status;
}

/* Seconds of processor time that the jobs need which have not ended, and of those the longest. */
static double find_left(forecast *self, const run_standing *now, double *longest)
{
    double left = 0.0;
    *longest = 0.0;
    for (size_t i = 0; i < self->setting_count; i++) self->settings[i].playing = 0.0;
    for (size_t i = 0; i < now->running; i++) {
        const run_playing *run = &now->runs[i];
        forecast_setting *of = &self->settings[self->setting_of[run->job - self->jobs]];
        double work = usual_pace_seconds(run->job), played = run->played ? work_of(run->job, run->played) : 0.0;
        double rest = pace_seconds(&self->now, &of->setting, work - played);
        of->playing += work;
        left += rest;
        *longest = fmax(*longest, rest);
    }
    for (size_t i = 0; i < self->setting_count; i++) {
        const forecast_setting *of = &self->settings[i];
        double waiting = of->unended - of->playing;
        if (waiting < LEAST_PART * of->longest) continue; /* none waits; this is what rounding has left */
        double seconds = pace_seconds(&self->now, &of->setting, waiting);
        left += seconds;
        *longest = fmax(*longest, seconds * fmin(of->longest / waiting, 1.0));
    }
    return left;
}

/* Seconds on the wall for one of processor time: more than 1 where threads share cores. */
static double find_slowness(forecast *self, const run_standing *now, double elapsed, double present)
{
    self->busy += (double)now->running * elapsed;
    double used = self->spent + present;
    return self->busy > LEAST_BUSY && used > 0.0 ? fmax(self->busy / used, 1.0) : 1.0;
}

void forecast_tell(forecast *self, run_standing *now)
{
    double present = 0.0, longest, elapsed = now->seconds - self->last;
    if (learn_present(self, now)) return;
    for (size_t i = 0; i < now->running; i++) present += now->runs[i].seconds;
    double slowness = find_slowness(self, now, elapsed, present), left = find_left(self, now, &longest);
    self->last = now->seconds;
    if (isnan(left)) {
        self->share = now->share = fmax(self->share, now->share);
        return;
    }
    double work = self->done + present;
    now->left = slowness * fmax(left / (double)self->threads, longest);
    if (self->share > 0.0 && elapsed > 0.0)
        self->share = 1.0 - (1.0 - self->share) * now->left / (now->left + elapsed); /* the same part of what is left */
    else if (work > 0.0)
        self->share = work / (work + left);
    now->share = self->share;
}
