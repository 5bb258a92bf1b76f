#include "study_cost.h"

#include "base/memory.h"

_Static_assert(RUN_COST_STAGES == GRID_STAGES + 1, "the final runs come after the tuning stages");

/* Settings of a policy on a data set. */
typedef struct setting_list {
    char **chosen;   /* (count) the options that are set */
    char **resolved; /* (count) every option with its value */
    size_t count;
} setting_list;

static void release_list(setting_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memory_free(list->chosen[i]);
        memory_free(list->resolved[i]);
    }
    memory_free(list->chosen);
    memory_free(list->resolved);
}

static ee_status make_list(size_t most, setting_list *out, ee_error *error)
{
    ee_status status = memory_create(NULL, &out->chosen, most, sizeof *out->chosen, error);
    return status ? status : memory_create(NULL, &out->resolved, most, sizeof *out->resolved, error);
}

/* Takes the options, which are to be freed; NULL: there is no such setting. */
static ee_status add_setting(setting_list *list, char *options, run_job job, ee_error *error)
{
    if (!options) return EE_OK;
    list->chosen[list->count] = options;
    job.options = options;
    return runner_check(&job, &list->resolved[list->count++], error);
}

static ee_status list_cells(const grid_policy *policy, const run_job *job, setting_list *out, ee_error *error)
{
    size_t cells = grid_cells(policy);
    ee_status status = make_list(cells, out, error);
    for (size_t i = 0; i < cells && !status; i++) {
        char *options = NULL;
        status = grid_cell_options(policy, i, &options, error);
        if (!status) status = add_setting(out, options, *job, error);
    }
    return status;
}

/* One ablation of each setting that may be chosen. */
static ee_status list_ablated(const study_plan *plan, const study_series *of, size_t which, const setting_list *cells,
                              setting_list *out, ee_error *error)
{
    ee_status status = make_list(cells->count, out, error);
    for (size_t i = 0; i < cells->count && !status; i++) {
        study_series base = *of;
        char *options = NULL;
        base.choice.options = cells->chosen[i];
        status = study_ablate(plan, &base, which, &options, error);
        if (!status) status = add_setting(out, options, study_job(plan, of, 0), error);
    }
    return status;
}

static ee_status add_group(const setting_list *list, cost_group group, run_cost *into, ee_error *error)
{
    group.options = (const char *const *)list->resolved;
    group.option_count = list->count;
    return group.settings && list->count ? run_cost_add(into, &group, error) : EE_OK;
}

/* A policy on a data set. */
static ee_status add_policy(const study_plan *plan, const study_series *of, run_cost *into, ee_error *error)
{
    const grid_plan *grid = &plan->grid;
    setting_list cells = {0};
    cost_group counts = {.stage = GRID_STAGES,
                         .job = study_job(plan, of, 0),
                         .settings = 1,
                         .seeds = plan->seeds,
                         .seed_count = plan->seed_count};
    ee_status status = list_cells(&grid->policies[of->policy], &counts.job, &cells, error);
    for (size_t stage = 0; stage < GRID_STAGES && !status; stage++) {
        cost_group tunes = {.stage = stage, .job = counts.job, .seeds = grid->seeds, .seed_count = grid->seed_count};
        tunes.job.tuning = true;
        tunes.settings = grid_stage_cells(grid, of->dataset, of->policy, stage, &tunes.job.rounds);
        status = add_group(&cells, tunes, into, error);
    }
    if (!status) status = add_group(&cells, counts, into, error);
    for (size_t which = 0; which < STUDY_ABLATIONS && !status; which++) {
        setting_list ablated = {0};
        status = list_ablated(plan, of, which, &cells, &ablated, error);
        if (!status) status = add_group(&ablated, counts, into, error);
        release_list(&ablated);
    }
    release_list(&cells);
    return status;
}

ee_status study_cost_add(const study_plan *plan, run_cost *into, ee_error *error)
{
    ee_status status = EE_OK;
    size_t policies = plan->grid.policy_count, count = plan->grid.dataset_count * policies;
    for (size_t i = 0; i < count && !status; i++) {
        study_series of = {.dataset = i / policies, .policy = i % policies};
        status = add_policy(plan, &of, into, error);
    }
    return status;
}
