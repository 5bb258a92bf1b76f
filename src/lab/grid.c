/* Halving is successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter
 * optimization", 2016) with thirds for halves: each stage costs as much as the one before. */
#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { SHARE = 3, LEAST_ROUNDS = 100 }; /* fewer rounds than that say nothing of the rest */

typedef struct cell {
    size_t policy;
    char *options;
    bool out;      /* it failed, or others were better */
    bool playing;  /* in this stage */
    double regret; /* mean over the seeds in the last stage that it played */
} cell;

typedef struct search {
    const grid_plan *plan;
    cell *cells; /* (count) those of a policy stand together */
    size_t count;
} search;

/* ---- the cells ---- */

static size_t count_values(const char *values)
{
    size_t count = 1;
    for (; *values; values++) count += *values == ',';
    return count;
}

size_t grid_cells(const grid_policy *policy)
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
static ee_status write_options(const grid_policy *policy, size_t place, char **out, ee_error *error)
{
    size_t capacity = (policy->options ? strlen(policy->options) : 0) + 1, stride = grid_cells(policy);
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

static ee_status make_cells(search *s, ee_error *error)
{
    const grid_plan *plan = s->plan;
    size_t capacity = 0;
    for (size_t i = 0; i < plan->policy_count; i++) {
        size_t cells = grid_cells(&plan->policies[i]);
        ee_status status = memory_grow(NULL, &s->cells, &capacity, s->count + cells, sizeof *s->cells, error);
        for (size_t place = 0; place < cells && !status; place++) {
            cell *made = &s->cells[s->count++];
            *made = (cell){.policy = i, .regret = NAN};
            status = write_options(&plan->policies[i], place, &made->options, error);
            run_job job = {.data = plan->data,
                           .policy = plan->policies[i].name,
                           .options = made->options,
                           .rounds = plan->rounds,
                           .late = plan->late,
                           .slots = plan->slots};
            if (!status) status = runner_check(&job, NULL, error);
        }
        if (status) return status;
    }
    return EE_OK;
}

/* ---- a stage ---- */

/* How many cells of a policy are not out. */
static size_t count_left(const search *s, size_t policy)
{
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++) left += s->cells[i].policy == policy && !s->cells[i].out;
    return left;
}

/* Where a policy has one cell left there is nothing to choose: it does not play. */
static size_t make_jobs(search *s, uint64_t rounds, run_job *jobs)
{
    const grid_plan *plan = s->plan;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        cell *from = &s->cells[i];
        from->playing = !from->out && count_left(s, from->policy) > 1;
        for (size_t k = 0; k < plan->seed_count && from->playing; k++)
            jobs[count++] = (run_job){.data = plan->data,
                                      .policy = plan->policies[from->policy].name,
                                      .options = from->options,
                                      .seed = plan->seeds[k],
                                      .rounds = rounds,
                                      .tuning = true,
                                      .late = plan->late,
                                      .slots = plan->slots};
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

static ee_status play_stage(search *s, uint64_t rounds, const experiment_site *site, const run_watch *watch,
                            bool *stopped, ee_error *error)
{
    size_t most = s->count * s->plan->seed_count;
    run_job *jobs = NULL;
    run_result *results = NULL;
    ee_status status = memory_create(NULL, &jobs, most, sizeof *jobs, error);
    if (!status) status = memory_create(NULL, &results, most, sizeof *results, error);
    if (status) goto done;
    size_t count = make_jobs(s, rounds, jobs);
    if (!count) goto done;
    status = experiment_run(site, jobs, count, watch, results, error);
    if (!status) score_cells(s, results, stopped);
done:
    memory_free(results);
    memory_free(jobs);
    return status;
}

/* ---- who is left ---- */

static const cell *find_best(const search *s, size_t policy)
{
    const cell *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const cell *which = &s->cells[i];
        if (which->policy == policy && !which->out && (!best || which->regret < best->regret)) best = which;
    }
    return best;
}

static cell *find_worst(const search *s, size_t policy)
{
    cell *worst = NULL;
    for (size_t i = 0; i < s->count; i++) {
        cell *which = &s->cells[i];
        if (which->policy == policy && !which->out && (!worst || which->regret >= worst->regret)) worst = which;
    }
    return worst;
}

/* Puts out all cells of a policy but the best share of them. */
static void keep_share(search *s, size_t policy)
{
    size_t left = count_left(s, policy), kept = (left + SHARE - 1) / SHARE;
    for (cell *worst; left > kept && (worst = find_worst(s, policy)); left--) worst->out = true;
}

static ee_status choose(search *s, grid_choice *choices, ee_error *error)
{
    for (size_t i = 0; i < s->plan->policy_count; i++) {
        const cell *best = find_best(s, i);
        choices[i] = (grid_choice){.cells = grid_cells(&s->plan->policies[i]), .regret = best ? best->regret : NAN};
        if (!best) continue;
        ee_status status = memory_create(NULL, &choices[i].options, strlen(best->options) + 1, 1, error);
        if (status) return status;
        strcpy(choices[i].options, best->options);
    }
    return EE_OK;
}

static void release_cells(search *s)
{
    for (size_t i = 0; i < s->count; i++) memory_free(s->cells[i].options);
    memory_free(s->cells);
}

ee_status grid_check(const grid_plan *plan, ee_error *error)
{
    search s = {.plan = plan};
    ee_status status = make_cells(&s, error);
    release_cells(&s);
    return status;
}

ee_status grid_choose(const grid_plan *plan, const experiment_site *site, const run_watch *watch, grid_choice *choices,
                      bool *stopped, ee_error *error)
{
    search s = {.plan = plan};
    *stopped = false;
    ee_status status = make_cells(&s, error);
    for (uint64_t part = plan->halving ? SHARE * SHARE : 1; part && !status && !*stopped; part /= SHARE) {
        uint64_t rounds = plan->rounds / part;
        if (part > 1 && rounds < LEAST_ROUNDS) continue;
        status = play_stage(&s, rounds, site, watch, stopped, error);
        for (size_t i = 0; i < plan->policy_count && part > 1 && !status && !*stopped; i++) keep_share(&s, i);
    }
    if (!status && !*stopped) status = choose(&s, choices, error);
    release_cells(&s);
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
