#include "run_cost.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "lab/results/pending_runs.h"
#include "lab/results/run_keys.h"
#include "lab/sharing/schedule.h"
#include "lab/sharing/usual_pace.h"

/* ---- what is there ---- */

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

/* The runs that an experiment there would not play again. */
static ee_status read_site(const experiment_site *site, stored_runs *out, ee_error *error)
{
    char *pending = NULL;
    ee_status status = site->known ? results_read_any(site->known, out, error) : EE_OK;
    if (status || !site->folder) return status;
    status = results_read_any(site->folder, out, error);
    if (!status) status = file_join(site->folder, "pending", &pending, error);
    if (!status) status = pending_runs_list(pending, NULL, out, error);
    memory_free(pending);
    return status;
}

ee_status run_cost_start(const experiment_site *site, dataset *const *datasets, size_t count, run_cost *out,
                         ee_error *error)
{
    stored_runs stored = {0};
    ee_status status = read_site(site, &stored, error);
    if (!status) status = run_index_of_stored(&stored, &out->kept, error);
    for (size_t i = 0; i < stored.count && !status; i++) {
        const dataset *data = find_dataset(datasets, count, &stored.runs[i]);
        if (data) status = learn(out, data, &stored.runs[i], error);
    }
    results_release(&stored);
    return status;
}

void run_cost_release(run_cost *self)
{
    for (size_t i = 0; i < RUN_COST_STAGES; i++) memory_free(self->stages[i].seconds);
    run_index_release(&self->kept);
    pace_release(&self->known);
    *self = (run_cost){0};
}

/* ---- what is missing ---- */

static size_t count_runs(const run_cost *self, const cost_group *group, const char *options)
{
    size_t there = 0;
    for (size_t i = 0; i < group->seed_count; i++) {
        run_job job = group->job;
        job.seed = group->seeds[i];
        there += run_index_find(&self->kept, run_keys_of_job(&job, options).run, NULL);
    }
    return there;
}

/* How many runs of the group are there: of as many settings as will play, those that have most. */
static ee_status count_there(const run_cost *self, const cost_group *group, size_t *there, ee_error *error)
{
    size_t *settings,
        left = group->settings; /* settings: (seeds + 1), the number of settings by their number of runs */
    ee_status status = memory_create(NULL, &settings, group->seed_count + 1, sizeof *settings, error);
    if (status) return status;
    for (size_t i = 0; i < group->option_count; i++) settings[count_runs(self, group, group->options[i])]++;
    *there = 0;
    for (size_t runs = group->seed_count; runs > 0; runs--) {
        size_t taken = settings[runs] < left ? settings[runs] : left;
        *there += taken * runs;
        left -= taken;
    }
    memory_free(settings);
    return EE_OK;
}

/* Seconds of one run: by what is known of the one setting, or of all that may play. */
static double find_seconds(const run_cost *self, const cost_group *group, bool *guessed)
{
    const dataset *data = group->job.data;
    const char *options = group->option_count == 1 ? group->options[0] : NULL;
    pace_setting setting = pace_setting_of(dataset_name(data), dataset_fingerprint(data), group->job.policy, options);
    double usual = usual_pace_seconds(&group->job), known = pace_seconds(&self->known, &setting, usual);
    *guessed = !pace_knows(&self->known, &setting);
    return isnan(known) ? usual : known;
}

ee_status run_cost_add(run_cost *self, const cost_group *group, ee_error *error)
{
    size_t runs = group->settings * group->seed_count, there;
    ee_status status = count_there(self, group, &there, error);
    if (status) return status;
    cost_stage *stage = &self->stages[group->stage];
    size_t missing = stage->missing + runs - there;
    status = memory_grow(NULL, &stage->seconds, &stage->capacity, missing, sizeof *stage->seconds, error);
    if (status) return status;
    bool guessed;
    double seconds = find_seconds(self, group, &guessed);
    while (stage->missing < missing) stage->seconds[stage->missing++] = seconds;
    self->there += there;
    if (guessed) self->guessed += runs - there;
    *(group->job.tuning ? &self->tuning : &self->counting) += runs;
    return EE_OK;
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
