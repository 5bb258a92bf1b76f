#include "plan.h"

#include <math.h>

#include "base/memory.h"
#include "lab/grids/run_plan.h"
#include "shards.h"

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
static void print_counts(plan_page to, const run_plan *plan)
{
    size_t runs = plan->tuning + plan->final;
    start_line(to);
    fprintf(to.stream, "%zu run%s", runs, runs == 1 ? "" : "s");
    if (plan->tuning) fprintf(to.stream, ": %zu for tuning, %zu final", plan->tuning, plan->final);
    if (plan->stored == runs)
        fprintf(to.stream, "; all already done");
    else if (plan->stored)
        fprintf(to.stream, "; %zu already done", plan->stored);
    fprintf(to.stream, "\n");
}

/* "on one core: about 3 h 20 min, estimated from the runs in DIR"
 * "with 2 in parallel, as here: 1 h 40 min; with any number: at least 74 s" */
static void print_times(plan_page to, const run_request *request, const run_plan *plan)
{
    size_t missing = plan->tuning + plan->final - plan->stored;
    if (!missing) return;
    start_line(to);
    if (isnan(plan->seconds)) {
        fprintf(to.stream, "time: unknown until each policy has a finished run in %s\n",
                request->output ? request->output : "-o DIR");
        return;
    }
    fprintf(to.stream, "%son one core: about ", plan->stored ? "the rest " : "");
    print_time(to.stream, plan->seconds);
    fprintf(to.stream, ", estimated from the runs in %s\n", request->output);
    if (missing == 1) return;
    start_line(to);
    if (plan->workers > 1) {
        fprintf(to.stream, "with %zu in parallel, %s: ", plan->workers,
                shard_is_part(request->shard) ? "in all shards" : "as here");
        print_time(to.stream, plan->parallel);
        fprintf(to.stream, "; ");
    }
    fprintf(to.stream, "with any number%s: at least ", plan->workers > 1 ? "" : " in parallel");
    print_time(to.stream, plan->least);
    fprintf(to.stream, "\n");
}

ee_status plan_print(plan_page to, const run_request *request, const study_plan *study_of, ee_error *error)
{
    run_plan plan = {0};
    study done = {0};
    run_result *results = NULL;
    experiment_site site = shards_site(request);
    size_t workers = site.pool.workers * (shard_is_part(request->shard) ? request->shard.count : 1);
    ee_status status = run_plan_start(&site, workers, &plan, error);
    experiment_site counting = {.pool = run_plan_pool(&plan)};
    if (!status) status = memory_create(NULL, &results, request->job_count, sizeof *results, error);
    if (!status && study_of)
        status = study_run(study_of, &counting, NULL, &done, error);
    else if (!status)
        status = experiment_run(&counting, request->jobs, request->job_count, NULL, results, error);
    if (!status) print_counts(to, &plan);
    if (!status) print_times(to, request, &plan);
    study_release(&done);
    memory_free(results);
    run_plan_release(&plan);
    return status;
}
