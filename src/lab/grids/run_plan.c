#include "run_plan.h"

#include <math.h>

#include "base/file.h"
#include "base/memory.h"
#include "lab/results/job_keys.h"
#include "lab/results/pending_runs.h"

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

ee_status run_plan_start(const experiment_site *site, size_t workers, run_plan *out, ee_error *error)
{
    out->workers = workers;
    ee_status status = read_site(site, &out->runs, error);
    if (!status) status = run_index_of_stored(&out->runs, &out->index, error);
    return status ? status : run_times_learn(&out->times, &out->runs, error);
}

void run_plan_release(run_plan *self)
{
    results_release(&self->runs);
    run_index_release(&self->index);
    run_times_release(&self->times);
}

static ee_status plan_run(run_plan *self, const run_job *job, const job_key *key, run_result *out, ee_error *error)
{
    size_t place;
    *out = (run_result){.finished = true};
    *(job->tuning ? &self->tuning : &self->final) += 1;
    if (!key->options || !run_index_find(&self->index, key->run, &place))
        return run_times_expect(&self->times, job, key->options, &place, error);
    *out = self->runs.runs[place].result;
    self->stored++;
    return EE_OK;
}

static void end_stage(run_plan *self)
{
    double longest, seconds = run_times_left(&self->times, false, &longest);
    self->seconds += seconds;
    self->parallel += fmax(seconds / (double)self->workers, longest);
    self->least += longest;
    for (size_t i = 0; i < self->times.count; i++)
        self->times.settings[i].unfinished = self->times.settings[i].longest = 0.0;
}

static ee_status plan_runs(const run_pool *pool, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                           run_result *results, ee_error *error)
{
    (void)curves;
    run_plan *self = pool->context;
    const ee_error none = {EE_OK, ""};
    job_keys keys;
    ee_status status = job_keys_create(jobs, count, &keys, error);
    for (size_t i = 0; i < count && !status; i++) {
        status = plan_run(self, &jobs[i], &keys.keys[i], &results[i], error);
        run_report report = {.job = &jobs[i], .result = &results[i], .options = "", .error = &none};
        if (watch && watch->ended) watch->ended(watch->context, &report);
    }
    end_stage(self);
    job_keys_release(&keys);
    return status;
}

run_pool run_plan_pool(run_plan *self)
{
    return (run_pool){.workers = 1, .play = plan_runs, .context = self};
}
