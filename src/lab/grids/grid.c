/* Halving is successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter
 * optimization", 2016) with thirds for halves: each stage costs as much as the one before. */
#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { SHARE = 3, LEAST_ROUNDS = 100 }; /* fewer rounds than that say nothing of the rest */

typedef struct cell {
    size_t group; /* data set and policy: its place in (dataset_count, policy_count) */
    char *options;
    bool out;      /* it failed, or others were better */
    bool playing;  /* in this stage */
    double regret; /* mean over the seeds in the last stage that it played */
} cell;

typedef struct search {
    const grid_plan *plan;
    cell *cells; /* (count) cells of a group are adjacent */
    size_t count, capacity;
} search;

static size_t count_groups(const grid_plan *plan)
{
    return plan->dataset_count * plan->policy_count;
}

static size_t dataset_of(const grid_plan *plan, size_t group)
{
    return group / plan->policy_count;
}

static const grid_policy *policy_of(const grid_plan *plan, size_t group)
{
    return &plan->policies[group % plan->policy_count];
}

/* ---- the cells ---- */

static size_t count_values(const char *values)
{
    size_t count = 1;
    for (; *values; values++) count += *values == ',';
    return count;
}

static size_t count_cells(const grid_policy *policy)
{
    size_t cells = 1;
    for (size_t i = 0; i < policy->axis_count; i++) cells *= count_values(policy->axes[i].values);
    return cells;
}

static const char *find_value(const char *values, size_t place, size_t *length)
{
    for (; place; place--) values = strchr(values, ',') + 1;
    *length = strcspn(values, ",");
    return values;
}

/* Cell number place of a policy: its last axis turns fastest. */
static ee_status write_cell(const grid_policy *policy, size_t place, char **out, ee_error *error)
{
    size_t capacity = (policy->options ? strlen(policy->options) : 0) + 1, stride = count_cells(policy);
    for (size_t i = 0; i < policy->axis_count; i++)
        capacity += strlen(policy->axes[i].option) + strlen(policy->axes[i].values) + 2;
    ee_status status = memory_create(NULL, out, capacity, 1, error);
    if (status) return status;
    size_t used = (size_t)snprintf(*out, capacity, "%s", policy->options ? policy->options : "");
    for (size_t i = 0; i < policy->axis_count; i++) {
        const grid_axis *axis = &policy->axes[i];
        size_t values = count_values(axis->values), length;
        stride /= values;
        const char *value = find_value(axis->values, place / stride % values, &length);
        used += (size_t)snprintf(*out + used, capacity - used, "%s%s=%.*s", used ? " " : "", axis->option, (int)length,
                                 value);
    }
    return EE_OK;
}

static run_job job_of(const grid_plan *plan, const cell *from)
{
    size_t place = dataset_of(plan, from->group);
    return (run_job){.data = plan->datasets[place],
                     .policy = policy_of(plan, from->group)->name,
                     .options = from->options,
                     .rounds = plan->rounds[place],
                     .tuning = true,
                     .late = plan->late,
                     .slots = plan->slots};
}

static ee_status make_group(search *s, size_t group, ee_error *error)
{
    const grid_policy *policy = policy_of(s->plan, group);
    size_t cells = count_cells(policy);
    ee_status status = memory_grow(NULL, &s->cells, &s->capacity, s->count + cells, sizeof *s->cells, error);
    for (size_t place = 0; place < cells && !status; place++) {
        cell *made = &s->cells[s->count++];
        *made = (cell){.group = group, .regret = NAN};
        status = write_cell(policy, place, &made->options, error);
        if (status) break;
        run_job job = job_of(s->plan, made);
        status = runner_check(&job, NULL, error);
    }
    return status;
}

/* ---- a stage ---- */

/* Of a run of this stage on a data set; 0 where that sits it out. */
static uint64_t find_rounds(const grid_plan *plan, size_t place, size_t stage)
{
    static const uint64_t parts[GRID_STAGES] = {SHARE * SHARE, SHARE, 1};
    uint64_t rounds = plan->rounds[place] / parts[stage];
    bool early = stage + 1 < GRID_STAGES;
    return early && (!plan->halving || rounds < LEAST_ROUNDS) ? 0 : rounds;
}

/* How many of the cells continue after an early stage. */
static size_t count_kept(size_t cells)
{
    return (cells + SHARE - 1) / SHARE;
}

/* How many cells of a group are not out. */
static size_t count_left(const search *s, size_t group)
{
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++) left += s->cells[i].group == group && !s->cells[i].out;
    return left;
}

/* Where a group has one cell left there is nothing to choose: it does not play. */
static size_t make_jobs(search *s, size_t stage, run_job *jobs)
{
    const grid_plan *plan = s->plan;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        cell *from = &s->cells[i];
        uint64_t rounds = find_rounds(plan, dataset_of(plan, from->group), stage);
        from->playing = rounds && !from->out && count_left(s, from->group) > 1;
        for (size_t k = 0; k < plan->seed_count && from->playing; k++) {
            run_job *job = &jobs[count++];
            *job = job_of(plan, from);
            job->seed = plan->seeds[k];
            job->rounds = rounds;
        }
    }
    return count;
}

/* results is (cells that play, seeds). A run that failed puts its cell out. */
static void score_cells(search *s, const run_result *results, bool *stopped)
{
    size_t seeds = s->plan->seed_count;
    for (size_t i = 0; i < s->count; i++) {
        cell *which = &s->cells[i];
        if (!which->playing) continue;
        which->regret = 0.0;
        for (size_t k = 0; k < seeds; k++, results++) {
            which->regret += results->regret / (double)seeds;
            which->out = which->out || results->status;
            *stopped = *stopped || (!results->status && !results->finished);
        }
    }
}

static ee_status play_stage(search *s, size_t stage, const experiment_site *site, const run_watch *watch, bool *stopped,
                            ee_error *error)
{
    size_t most = s->count * s->plan->seed_count;
    run_job *jobs = NULL;
    run_result *results = NULL;
    ee_status status = memory_create(NULL, &jobs, most, sizeof *jobs, error);
    if (!status) status = memory_create(NULL, &results, most, sizeof *results, error);
    if (status) goto done;
    size_t count = make_jobs(s, stage, jobs);
    if (!count) goto done;
    status = experiment_run(site, jobs, count, watch, results, error);
    if (!status) score_cells(s, results, stopped);
done:
    memory_free(results);
    memory_free(jobs);
    return status;
}

/* ---- the settings that are left ---- */

static const cell *find_best(const search *s, size_t group)
{
    const cell *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const cell *which = &s->cells[i];
        if (which->group == group && !which->out && (!best || which->regret < best->regret)) best = which;
    }
    return best;
}

static cell *find_worst(const search *s, size_t group)
{
    cell *worst = NULL;
    for (size_t i = 0; i < s->count; i++) {
        cell *which = &s->cells[i];
        if (which->group == group && !which->out && (!worst || which->regret >= worst->regret)) worst = which;
    }
    return worst;
}

/* Puts out all cells but the best share of each group that has played an early stage. */
static void keep_best(search *s, size_t stage)
{
    for (size_t group = 0; group < count_groups(s->plan); group++) {
        if (!find_rounds(s->plan, dataset_of(s->plan, group), stage)) continue;
        size_t left = count_left(s, group), kept = count_kept(left);
        for (cell *worst; left > kept && (worst = find_worst(s, group)); left--) worst->out = true;
    }
}

static ee_status choose(const search *s, grid_choice *choices, ee_error *error)
{
    for (size_t i = 0; i < count_groups(s->plan); i++) {
        const cell *best = find_best(s, i);
        choices[i] = (grid_choice){.cells = count_cells(policy_of(s->plan, i)), .regret = best ? best->regret : NAN};
        if (!best) continue;
        ee_status status = memory_create(NULL, &choices[i].options, strlen(best->options) + 1, 1, error);
        if (status) return status;
        strcpy(choices[i].options, best->options);
    }
    return EE_OK;
}

ee_status grid_choose(const grid_plan *plan, const experiment_site *site, const run_watch *watch, grid_choice *choices,
                      bool *stopped, ee_error *error)
{
    search s = {.plan = plan};
    ee_status status = EE_OK;
    *stopped = false;
    for (size_t i = 0; i < count_groups(plan) && !status; i++) status = make_group(&s, i, error);
    for (size_t stage = 0; stage < GRID_STAGES && !status && !*stopped; stage++) {
        status = play_stage(&s, stage, site, watch, stopped, error);
        if (!status && !*stopped && stage + 1 < GRID_STAGES) keep_best(&s, stage);
    }
    if (!status && !*stopped) status = choose(&s, choices, error);
    for (size_t i = 0; i < s.count; i++) memory_free(s.cells[i].options);
    memory_free(s.cells);
    return status;
}

/* ---- the paper's grids ---- */

/* "For all neural networks, we conduct the grid search for learning rate"; the paper gives LinTS and KernelTS no grid
 * of their own, so they have those of LinUCB and KernelUCB. EE-Net has none: its preset is to do on any problem without
 * being chosen for it. */
#define RATES "0.01,0.001,0.0005,0.0001"

static const grid_axis linucb_axes[] = {{"alpha", "0.01,0.1,1"}};
static const grid_axis lints_axes[] = {{"nu", "0.01,0.1,1"}};
static const grid_axis kernel_axes[] = {{"lambda", "0.1,1,10"}, {"nu", "0.01,0.1,1"}};
static const grid_axis width_axes[] = {{"nu", "0.001,0.01,0.1,1"}, {"lambda", "0.01,0.1,1"}, {"f1.rate", RATES}};
static const grid_axis epsilon_axes[] = {{"epsilon", "0.01,0.1,0.2"}, {"f1.rate", RATES}};
static const grid_axis greedy_axes[] = {{"f1.rate", RATES}};

static const struct {
    const char *policy;
    const grid_axis *axes;
    size_t count;
} paper_grids[] = {
    {"linucb", linucb_axes, 1},          {"lints", lints_axes, 1},      {"kernelucb", kernel_axes, 2},
    {"kernelts", kernel_axes, 2},        {"neural-ucb", width_axes, 3}, {"neural-ts", width_axes, 3},
    {"neural-epsilon", epsilon_axes, 2}, {"greedy", greedy_axes, 1},
};

const grid_axis *grid_of_paper(const char *policy, size_t *count)
{
    for (size_t i = 0; i < sizeof paper_grids / sizeof paper_grids[0]; i++) {
        if (strcmp(policy, paper_grids[i].policy) != 0) continue;
        *count = paper_grids[i].count;
        return paper_grids[i].axes;
    }
    *count = 0;
    return NULL;
}
