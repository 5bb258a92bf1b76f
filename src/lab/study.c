/* Figures 1 to 4 of the EE-Net paper are such a study: figures 1 and 2 the chosen settings, 3 and 4 the ablations (its
 * appendix), which it plays on two of the data sets and we on all. Whether f2 is good for anything at all, w2 = 0, is
 * ours. */
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assignments.h"
#include "base/memory.h"
#include "engine/bandit.h"

static const char *const ablations[] = {"label=gain",      "label=abs",       "label=relu", "decision=linear",
                                        "decision=neural", "decision=hybrid", "w2=1",       "w2=0"};

enum { ABLATIONS = sizeof ablations / sizeof ablations[0] };

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

static ee_status resolve(const study_plan *plan, const study_series *from, char **options, ee_error *error)
{
    run_job job = study_job(plan, from, 0);
    return runner_check(&job, options, error);
}

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

/* One ablation of a chosen setting, unless it does not act there, or is what was chosen. */
static ee_status add_ablation(const study_plan *plan, size_t chosen, const char *ablation, study *into, ee_error *error)
{
    study_series made = into->series[chosen];
    made.ablation = ablation;
    made.choice = (grid_choice){.cells = 1, .regret = NAN};
    const char *base = into->series[chosen].choice.options, *name = plan->grid.policies[made.policy].name;
    char *before = NULL, *after = NULL;
    if (!bandit_takes(name, ablation, base)) return EE_OK;
    ee_status status = write_ablation(name, base, ablation, &made.choice.options, error);
    if (status) return status;
    status = resolve(plan, &into->series[chosen], &before, error);
    if (!status) status = resolve(plan, &made, &after, error);
    bool same = !status && strcmp(before, after) == 0;
    memory_free(before);
    memory_free(after);
    if (!status && !same) return add_series(plan, into, made, error);
    memory_free(made.choice.options);
    return status;
}

static ee_status add_ablations(const study_plan *plan, study *into, ee_error *error)
{
    ee_status status = EE_OK;
    size_t chosen = into->count;
    for (size_t i = 0; i < chosen && !status; i++) {
        const study_series *base = &into->series[i];
        if (!base->choice.options || strcmp(plan->grid.policies[base->policy].name, "eenet") != 0) continue;
        for (size_t k = 0; k < ABLATIONS && !status; k++) status = add_ablation(plan, i, ablations[k], into, error);
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
    if (!status && !out->stopped && plan->ablations) status = add_ablations(plan, out, error);
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
