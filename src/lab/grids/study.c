/* Figures 1 to 4 of the EE-Net paper are such a study: figures 1 and 2 the chosen settings, 3 and 4 the ablations (its
 * appendix), which it plays on two of the data sets and we on all. Whether f2 is good for anything at all, w2 = 0, is
 * ours. */
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "engine/bandit.h"
#include "lab/runs/assignments.h"

enum { ABLATIONS = 8 };

static const char *const ablations[ABLATIONS] = {"label=gain",      "label=abs",       "label=relu", "decision=linear",
                                                 "decision=neural", "decision=hybrid", "w2=1",       "w2=0"};

static ee_status add_series(const study_plan *plan, study *into, study_series added, ee_error *error)
{
    ee_status status = memory_grow(NULL, &into->series, &into->capacity, into->count + 1, sizeof *into->series, error);
    if (!status) status = memory_create(NULL, &added.results, plan->seed_count, sizeof *added.results, error);
    if (status) {
        memory_free(added.choice.options);
        return status;
    }
    into->series[into->count++] = added;
    return EE_OK;
}

static ee_status choose(const study_plan *plan, const experiment_site *site, const run_watch *watch, study *into,
                        ee_error *error)
{
    size_t policies = plan->grid.policy_count, count = plan->grid.dataset_count * policies;
    grid_choice *choices;
    ee_status status = memory_create(NULL, &choices, count, sizeof *choices, error);
    if (status) return status;
    status = grid_choose(&plan->grid, site, watch, choices, &into->stopped, error);
    for (size_t i = 0; i < count; i++) {
        study_series chosen = {.dataset = i / policies, .policy = i % policies, .choice = choices[i]};
        if (status || into->stopped)
            memory_free(choices[i].options);
        else
            status = add_series(plan, into, chosen, error);
    }
    memory_free(choices);
    return status;
}

run_job study_job(const study_plan *plan, const study_series *from, size_t seed)
{
    return (run_job){.data = plan->grid.datasets[from->dataset],
                     .policy = plan->grid.policies[from->policy].name,
                     .options = from->choice.options,
                     .seed = plan->seeds[seed],
                     .rounds = plan->grid.rounds[from->dataset],
                     .late = plan->grid.late,
                     .slots = plan->grid.slots};
}

/* ---- ablations ---- */

/* The chosen options and the ablation behind them, without those that no longer act beside it. */
static ee_status write_ablation(const char *policy_name, const char *base, const char *ablation, char **out,
                                ee_error *error)
{
    size_t capacity = strlen(base) + strlen(ablation) + 2, used;
    char *whole, *word;
    assignment one;
    ee_status status = memory_create(NULL, &whole, 2 * capacity, 1, error);
    if (!status) status = memory_create(NULL, out, capacity, 1, error);
    if (status) goto done;
    word = whole + capacity;
    snprintf(whole, capacity, "%s %s", base, ablation);
    for (used = 0; assignment_next(&base, &one);) {
        snprintf(word, capacity, "%.*s", (int)one.length, one.name);
        if (!bandit_takes(policy_name, word, whole)) continue;
        used += (size_t)snprintf(*out + used, capacity - used, "%s ", word);
    }
    snprintf(*out + used, capacity - used, "%s", ablation);
done:
    memory_free(whole);
    return status;
}

/* Every option with its value, of a policy with these on a data set. */
static ee_status resolve(const study_plan *plan, const study_series *of, char *options, char **out, ee_error *error)
{
    study_series with = *of;
    with.choice.options = options;
    run_job job = study_job(plan, &with, 0);
    return runner_check(&job, out, error);
}

/* The options of an ablation of what was chosen, to be freed with memory_free; NULL if there is none: the plan or the
 * policy has none, it has no effect there, or it equals what was chosen. */
static ee_status ablate(const study_plan *plan, const study_series *base, size_t which, char **out, ee_error *error)
{
    const char *name = plan->grid.policies[base->policy].name;
    char *before = NULL, *after = NULL;
    *out = NULL;
    if (!plan->ablations || !base->choice.options || strcmp(name, "eenet") != 0) return EE_OK;
    if (!bandit_takes(name, ablations[which], base->choice.options)) return EE_OK;
    ee_status status = write_ablation(name, base->choice.options, ablations[which], out, error);
    if (!status) status = resolve(plan, base, base->choice.options, &before, error);
    if (!status) status = resolve(plan, base, *out, &after, error);
    if (status || strcmp(before, after) == 0) {
        memory_free(*out);
        *out = NULL;
    }
    memory_free(before);
    memory_free(after);
    return status;
}

static ee_status add_ablations(const study_plan *plan, study *into, ee_error *error)
{
    ee_status status = EE_OK;
    size_t chosen = into->count;
    for (size_t i = 0; i < chosen * ABLATIONS && !status; i++) {
        const study_series *base = &into->series[i / ABLATIONS];
        size_t which = i % ABLATIONS;
        study_series made = {.dataset = base->dataset,
                             .policy = base->policy,
                             .choice = {.cells = 1, .regret = NAN},
                             .ablation = ablations[which]};
        status = ablate(plan, base, which, &made.choice.options, error);
        if (!status && made.choice.options) status = add_series(plan, into, made, error);
    }
    return status;
}

/* ---- the seeds that count ---- */

static ee_status play(const study_plan *plan, const experiment_site *site, const run_watch *watch, study *into,
                      ee_error *error)
{
    size_t seeds = plan->seed_count, count = into->count * seeds;
    run_job *jobs = NULL;
    run_result *results = NULL;
    ee_status status = memory_create(NULL, &jobs, count, sizeof *jobs, error);
    if (!status) status = memory_create(NULL, &results, count, sizeof *results, error);
    if (status) goto done;
    size_t played = 0;
    for (size_t i = 0; i < count; i++) {
        const study_series *from = &into->series[i / seeds];
        if (from->choice.options) jobs[played++] = study_job(plan, from, i % seeds);
    }
    status = experiment_run(site, jobs, played, watch, results, error);
    const run_result *next = results;
    for (size_t i = 0; i < count; i++) {
        study_series *of = &into->series[i / seeds];
        if (!of->choice.options) continue;
        of->results[i % seeds] = *next;
        into->stopped = into->stopped || (!next->status && !next->finished);
        next++;
    }
done:
    memory_free(results);
    memory_free(jobs);
    return status;
}

ee_status study_run(const study_plan *plan, const experiment_site *site, const run_watch *watch, study *out,
                    ee_error *error)
{
    ee_status status = choose(plan, site, watch, out, error);
    if (!status && !out->stopped) status = add_ablations(plan, out, error);
    if (!status && !out->stopped) status = play(plan, site, watch, out, error);
    return status;
}

void study_release(study *out)
{
    for (size_t i = 0; i < out->count; i++) {
        memory_free(out->series[i].choice.options);
        memory_free(out->series[i].results);
    }
    memory_free(out->series);
    *out = (study){0};
}
