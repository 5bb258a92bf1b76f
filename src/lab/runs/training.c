#include "training.h"

#include "run_pool.h"

ee_status training_best(const training_candidate *candidates, size_t count, size_t seeds, size_t *best, ee_error *error)
{
    double least = 0.0;
    *best = count;
    for (size_t i = 0; i < count; i++) {
        run_summary summary;
        ee_status status = runner_summarize(candidates[i].results, seeds, &summary, error);
        if (status) return status;
        if (summary.runs < seeds || (*best < count && !(summary.regret < least))) continue;
        *best = i;
        least = summary.regret;
    }
    return EE_OK;
}

/* A watch that saves the bandit before it is freed. */
typedef struct keeper {
    const run_watch *watch;
    const char *path;
    ee_status status; /* of saving */
    ee_error *error;
} keeper;

static bool on_wanted(void *context)
{
    const run_watch *watch = ((keeper *)context)->watch;
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

static void on_standing(void *context, const run_standing *now)
{
    const run_watch *watch = ((keeper *)context)->watch;
    if (watch && watch->standing) watch->standing(watch->context, now);
}

static bool on_ended(void *context, const run_report *report)
{
    keeper *self = context;
    if (report->result->finished) self->status = ee_bandit_save(report->bandit, self->path, self->error);
    return !self->watch || !self->watch->ended || self->watch->ended(self->watch->context, report);
}

ee_status training_save(const run_job *job, const char *path, const run_watch *watch, run_result *result,
                        ee_error *error)
{
    keeper self = {watch, path, EE_OK, error};
    run_watch own = {.wanted = on_wanted, .standing = on_standing, .ended = on_ended, .context = &self};
    ee_status status = run_pool_play(run_pool_of_threads(1), job, 1, false, &own, result, error);
    return status ? status : self.status;
}
