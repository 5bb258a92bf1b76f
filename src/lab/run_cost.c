#include "run_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run_keys.h"
#include "schedule.h"
#include "usual_pace.h"

static int compare_keys(const void *left_key, const void *right_key)
{
    uint64_t left = *(const uint64_t *)left_key, right = *(const uint64_t *)right_key;
    return left < right ? -1 : left > right;
}

/* ---- what the folder has ---- */

static const dataset *find_dataset(dataset *const *datasets, size_t count, const stored_run *run)
{
    for (size_t i = 0; i < count; i++)
        if (dataset_fingerprint(datasets[i]) == run->fingerprint &&
            strcmp(dataset_name(datasets[i]), run->dataset) == 0)
            return datasets[i];
    return NULL;
}

static ee_status learn(run_cost *self, const dataset *data, const stored_run *run, ee_error *error)
{
    run_job usual = {.data = data, .policy = run->policy, .rounds = run->rounds, .slots = run->slots};
    pace_setting setting = pace_setting_of(run->dataset, run->fingerprint, run->policy, run->options);
    return pace_learn(&self->known, &setting, usual_pace_seconds(&usual), run->result.seconds, error);
}

ee_status run_cost_start(const char *folder, dataset *const *datasets, size_t count, run_cost *out, ee_error *error)
{
    stored_runs stored = {0};
    ee_status status = folder ? results_read(folder, &stored, error) : EE_OK;
    if (!status) status = memory_create(NULL, &out->keys, stored.count, sizeof *out->keys, error);
    for (size_t i = 0; i < stored.count && !status; i++) {
        const dataset *data = find_dataset(datasets, count, &stored.runs[i]);
        if (!data) continue;
        out->keys[out->key_count++] = run_keys_of_stored(&stored.runs[i]).run;
        status = learn(out, data, &stored.runs[i], error);
    }
    if (!status) qsort(out->keys, out->key_count, sizeof *out->keys, compare_keys);
    results_release(&stored);
    return status;
}

void run_cost_release(run_cost *self)
{
    for (size_t i = 0; i < RUN_COST_STAGES; i++) memory_free(self->stages[i].seconds);
    memory_free(self->keys);
    pace_release(&self->known);
    *self = (run_cost){0};
}

/* ---- what is missing ---- */

/* How many runs of a setting are there. *whole: every option with its value, to be freed. */
static ee_status count_there(const run_cost *self, const cost_group *group, const char *options, size_t *there,
                             char **whole, ee_error *error)
{
    run_job job = group->job;
    job.options = options;
    ee_status status = runner_check(&job, whole, error);
    for (size_t i = 0; i < group->seed_count && !status; i++) {
        job.seed = group->seeds[i];
        uint64_t key = run_keys_of_job(&job, *whole).run;
        *there += bsearch(&key, self->keys, self->key_count, sizeof key, compare_keys) != NULL;
    }
    return status;
}

/* Seconds of one run: by what is known of the one setting, or of all that may play. */
static double find_seconds(const run_cost *self, const run_job *job, const char *whole, bool *guessed)
{
    const dataset *data = job->data;
    pace_setting setting = pace_setting_of(dataset_name(data), dataset_fingerprint(data), job->policy, whole);
    double usual = usual_pace_seconds(job), known = pace_seconds(&self->known, &setting, usual);
    *guessed = !pace_knows(&self->known, &setting);
    return isnan(known) ? usual : known;
}

ee_status run_cost_add(run_cost *self, const cost_group *group, ee_error *error)
{
    size_t runs = group->settings * group->seed_count, there = 0;
    char *whole = NULL;
    ee_status status = EE_OK;
    for (size_t i = 0; i < group->option_count && self->key_count && !status; i++) {
        memory_free(whole);
        whole = NULL;
        status = count_there(self, group, group->options[i], &there, &whole, error);
    }
    if (there > runs) there = runs; /* some are of settings that will not play, or of another study */
    cost_stage *stage = &self->stages[group->stage];
    size_t missing = stage->missing + runs - there;
    if (!status) status = memory_grow(NULL, &stage->seconds, &stage->capacity, missing, sizeof *stage->seconds, error);
    if (!status) {
        bool guessed;
        double seconds = find_seconds(self, &group->job, group->option_count == 1 ? whole : NULL, &guessed);
        while (stage->missing < missing) stage->seconds[stage->missing++] = seconds;
        self->there += there;
        if (guessed) self->guessed += runs - there;
        *(group->job.tuning ? &self->tuning : &self->counting) += runs;
    }
    memory_free(whole);
    return status;
}

size_t run_cost_missing(const run_cost *self)
{
    return self->tuning + self->counting - self->there;
}

size_t run_cost_widest(const run_cost *self)
{
    size_t widest = 0;
    for (size_t i = 0; i < RUN_COST_STAGES; i++)
        if (self->stages[i].missing > widest) widest = self->stages[i].missing;
    return widest;
}

ee_status run_cost_seconds(const run_cost *self, size_t hands, double *out, ee_error *error)
{
    ee_status status = EE_OK;
    *out = 0.0;
    for (size_t i = 0; i < RUN_COST_STAGES && !status; i++) {
        double seconds = 0.0;
        status = schedule_seconds(self->stages[i].seconds, self->stages[i].missing, hands, &seconds, error);
        *out += seconds;
    }
    return status;
}
