/* Runs side by side: the same jobs on 1, 2, 4, ... threads, to as many as there are cores. */
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench_report.h"
#include "lab/runs/run_pool.h"

enum { ROUNDS = 1250, JOBS_PER_CORE = 8 }; /* many: the last ones leave cores idle */
static const double SECONDS = 3;

static ee_status measure_threads(const run_job *jobs, size_t count, size_t threads, run_result *results,
                                 measurement *taken, ee_error *error)
{
    run_watch nobody = {0};
    while (measure_more(taken, SECONDS)) {
        stretch start = measure_start();
        ee_status status = run_pool_play(run_pool_of_threads(threads), jobs, count, false, &nobody, results, error);
        if (status) return status;
        measure_add(taken, start, 1);
    }
    return EE_OK;
}

static ee_status measure_jobs(bench_report *to, size_t cores, const run_job *jobs, run_result *results, ee_error *error)
{
    size_t count = cores * JOBS_PER_CORE;
    double alone = 0;
    for (size_t threads = 1;; threads = 2 * threads < cores ? 2 * threads : cores) {
        measurement taken = {0};
        ee_status status = measure_threads(jobs, count, threads, results, &taken, error);
        if (status) return status;
        /* The best of each: what others do on the machine must not look like a lack of scaling. */
        double best = measure_quantile(&taken, 0);
        if (threads == 1) alone = best;
        char name[96];
        snprintf(name, sizeof name, "%zu runs, -j %zu: %.2f of linear", count, threads, alone / best / (double)threads);
        bench_report_row(to, name, &taken, NULL);
        if (threads == cores) return EE_OK;
    }
}

ee_status bench_jobs(bench_report *to, ee_error *error)
{
    bench_report_begin(to, "jobs", "runs of eenet side by side, each 1250 rounds of synthetic:cosine");
    if (!bench_report_wants(to, "")) return EE_OK;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t cores = online > 0 ? (size_t)online : 1;
    dataset *data = NULL;
    run_job *jobs = NULL;
    run_result *results = NULL;
    ee_status status = dataset_open("synthetic:cosine", NULL, &data, error);
    if (!status) status = memory_create(NULL, &jobs, cores * JOBS_PER_CORE, sizeof *jobs, error);
    if (!status) status = memory_create(NULL, &results, cores * JOBS_PER_CORE, sizeof *results, error);
    for (size_t i = 0; !status && i < cores * JOBS_PER_CORE; i++)
        jobs[i] = (run_job){.data = data, .policy = "eenet", .seed = i, .rounds = ROUNDS};
    if (!status) status = measure_jobs(to, cores, jobs, results, error);
    memory_free(results);
    memory_free(jobs);
    dataset_free(data);
    return status;
}
