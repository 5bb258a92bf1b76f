#include "plan.h"

#include <math.h>

#include "base/memory.h"
#include "lab/grids/study_cost.h"
#include "players.h"
#include "shards.h"

/* How many ranks others have: a node, a few, a cluster. */
static const size_t ranks[] = {16, 64, 256, 1024};

#define WORTH_IT 0.95 /* of the time that fewer ranks take: what saves less is of no use */

static void start_line(plan_page to)
{
    if (to.self) fprintf(to.stream, "eenet %s: ", to.self->name);
}

/* "40 s", "12 min", "3 h 20 min", "5 days 7 h" */
static void print_time(FILE *stream, double seconds)
{
    double minutes = round(seconds / 60.0), hours = round(seconds / 3600.0);
    if (seconds < 119.5)
        fprintf(stream, "%.0f s", fmax(round(seconds), 1.0));
    else if (minutes < 120.0)
        fprintf(stream, "%.0f min", minutes);
    else if (hours < 48.0)
        fprintf(stream, "%.0f h %.0f min", floor(minutes / 60.0), fmod(minutes, 60.0));
    else
        fprintf(stream, "%.0f days %.0f h", floor(hours / 24.0), fmod(hours, 24.0));
}

/* "372 runs: 300 for tuning, 72 final; 21 already done" */
static void print_counts(plan_page to, const run_cost *cost)
{
    size_t runs = cost->tuning + cost->counting;
    start_line(to);
    fprintf(to.stream, "%zu run%s", runs, runs == 1 ? "" : "s");
    if (cost->tuning) fprintf(to.stream, ": %zu for tuning, %zu final", cost->tuning, cost->counting);
    if (cost->there == runs)
        fprintf(to.stream, "; all already done");
    else if (cost->there)
        fprintf(to.stream, "; %zu already done", cost->there);
    fprintf(to.stream, "\n");
}

/* "on one core: about 3 h 20 min, estimated from the runs in DIR" */
static ee_status print_one_core(plan_page to, const run_cost *cost, const char *folder, ee_error *error)
{
    double seconds;
    ee_status status = run_cost_seconds(cost, 1, &seconds, error);
    if (status) return status;
    start_line(to);
    fprintf(to.stream, "%son one core: about ", cost->there ? "the rest " : "");
    print_time(to.stream, seconds);
    if (!cost->known.count)
        fprintf(to.stream, ", estimated from runs on a reference machine\n");
    else if (cost->guessed)
        fprintf(to.stream, ", estimated from the runs in %s and, for policies it lacks, a reference machine\n", folder);
    else
        fprintf(to.stream, ", estimated from the runs in %s\n", folder);
    return EE_OK;
}

/* Runs that are played at a time, here and by the other shards. */
static size_t count_hands(const run_request *request)
{
    players own;
    size_t hands = players_of(request, &own).hands;
    return shard_is_part(request->shard) ? hands * request->shard.count : hands;
}

/* "with 2 in parallel, as here: 1 h 40 min; 16 ranks: 14 min; 64 ranks: 4 min; more do not help" */
static ee_status print_more(plan_page to, const run_request *request, const run_cost *cost, ee_error *error)
{
    enum { SIZES = sizeof ranks / sizeof ranks[0] };
    size_t widest = run_cost_widest(cost), hands = count_hands(request), i = 0;
    const char *joint = "with ";
    double seconds, before;
    ee_status status = run_cost_seconds(cost, hands, &before, error);
    if (status || widest < 2) return status;
    start_line(to);
    if (hands > 1) {
        fprintf(to.stream, "with %zu in parallel, %s: ", hands,
                shard_is_part(request->shard) ? "in all shards" : "as here");
        print_time(to.stream, before);
        joint = "; ";
    }
    for (; i < SIZES && hands < widest; i++) {
        if (ranks[i] <= hands) continue;
        status = run_cost_seconds(cost, ranks[i], &seconds, error);
        if (status || seconds > WORTH_IT * before) break;
        fprintf(to.stream, "%s%zu ranks: ", joint, ranks[i]);
        print_time(to.stream, seconds);
        before = seconds;
        hands = ranks[i];
        joint = "; ";
    }
    fprintf(to.stream, "%s\n", i == SIZES ? "" : joint[0] == ';' ? "; more do not help" : "more cores do not help");
    return status;
}

static ee_status print_cost(plan_page to, const run_request *request, const run_cost *cost, ee_error *error)
{
    print_counts(to, cost);
    if (!run_cost_missing(cost)) return EE_OK;
    ee_status status = print_one_core(to, cost, request->output, error);
    return status ? status : print_more(to, request, cost, error);
}

static ee_status start(const run_request *request, run_cost *cost, ee_error *error)
{
    players own;
    experiment_site site = shards_site(request, players_of(request, &own));
    return run_cost_start(&site, request->datasets, request->dataset_texts.count, cost, error);
}

ee_status plan_print_jobs(plan_page to, const run_request *request, ee_error *error)
{
    run_cost cost = {0};
    size_t seeds = request->seeds.count;
    ee_status status = start(request, &cost, error);
    for (size_t i = 0; i < request->job_count && !status; i += seeds) {
        char *options = NULL;
        cost_group group = {.job = request->jobs[i],
                            .options = (const char *const *)&options,
                            .option_count = 1,
                            .settings = 1,
                            .seeds = request->seeds.values,
                            .seed_count = seeds};
        status = runner_check(&request->jobs[i], &options, error);
        if (!status) status = run_cost_add(&cost, &group, error);
        memory_free(options);
    }
    if (!status) status = print_cost(to, request, &cost, error);
    run_cost_release(&cost);
    return status;
}

ee_status plan_print_study(plan_page to, const run_request *request, const study_plan *plan, ee_error *error)
{
    run_cost cost = {0};
    ee_status status = start(request, &cost, error);
    if (!status) status = study_cost_add(plan, &cost, error);
    if (!status) status = print_cost(to, request, &cost, error);
    run_cost_release(&cost);
    return status;
}
