#include "study_cost.h"

#include "base/memory.h"

_Static_assert(RUN_COST_STAGES == GRID_STAGES + 1, "the runs that count come after the tuning stages");

/* The settings of a policy. */
typedef struct cell_list {
    char **options; /* (count) */
    size_t count;
} cell_list;

static void release_cells(cell_list *cells)
{
    for (size_t i = 0; cells->options && i < cells->count; i++) memory_free(cells->options[i]);
    memory_free(cells->options);
}

static ee_status list_cells(const grid_policy *policy, cell_list *out, ee_error *error)
{
    out->count = grid_cells(policy);
    ee_status status = memory_create(NULL, &out->options, out->count, sizeof *out->options, error);
    for (size_t i = 0; i < out->count && !status; i++) status = grid_cell_options(policy, i, &out->options[i], error);
    return status;
}

static ee_status add_group(const cell_list *cells, cost_group group, run_cost *into, ee_error *error)
{
    group.options = (const char *const *)cells->options;
    group.option_count = cells->count;
    return group.settings ? run_cost_add(into, &group, error) : EE_OK;
}

/* One ablation, of whichever setting is chosen. */
static ee_status add_ablation(const study_plan *plan, const study_series *of, size_t which, const cell_list *cells,
                              cost_group group, run_cost *into, ee_error *error)
{
    cell_list ablated = {0};
    ee_status status = memory_create(NULL, &ablated.options, cells->count, sizeof *ablated.options, error);
    for (size_t i = 0; i < cells->count && !status; i++) {
        study_series base = *of;
        base.choice.options = cells->options[i];
        status = study_ablate(plan, &base, which, &ablated.options[ablated.count], error);
        if (!status && ablated.options[ablated.count]) ablated.count++;
    }
    group.settings = ablated.count ? 1 : 0;
    if (!status) status = add_group(&ablated, group, into, error);
    release_cells(&ablated);
    return status;
}

/* A policy on a data set. */
static ee_status add_policy(const study_plan *plan, const study_series *of, run_cost *into, ee_error *error)
{
    const grid_plan *grid = &plan->grid;
    cell_list cells = {0};
    cost_group counts = {.stage = GRID_STAGES,
                         .job = study_job(plan, of, 0),
                         .settings = 1,
                         .seeds = plan->seeds,
                         .seed_count = plan->seed_count};
    ee_status status = list_cells(&grid->policies[of->policy], &cells, error);
    for (size_t stage = 0; stage < GRID_STAGES && !status; stage++) {
        cost_group tunes = {.stage = stage, .job = counts.job, .seeds = grid->seeds, .seed_count = grid->seed_count};
        tunes.job.tuning = true;
        tunes.settings = grid_stage_cells(grid, of->dataset, of->policy, stage, &tunes.job.rounds);
        status = add_group(&cells, tunes, into, error);
    }
    if (!status) status = add_group(&cells, counts, into, error);
    for (size_t which = 0; which < STUDY_ABLATIONS && !status; which++)
        status = add_ablation(plan, of, which, &cells, counts, into, error);
    release_cells(&cells);
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
