#define _DEFAULT_SOURCE /* for getloadavg */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_report.h"

/* How many others wanted the cores in the last minute: above the number of cores, times are not to be believed. */
static void print_load(const char *when)
{
    double load;
    if (getloadavg(&load, 1) == 1) printf("load %s: %.2f on %ld cores\n", when, load, sysconf(_SC_NPROCESSORS_ONLN));
}

static void print_machine(const machine *peak)
{
    printf("eenet %s, kernels %s, compiler %s\nthis machine's best, in the same run: %.1f Gflop/s;", ee_version(),
           ee_kernels(), __VERSION__, peak->flops / 1e9);
    for (size_t i = 0; i < MACHINE_LEVELS; i++)
        printf(" %.0f GB/s in %zu %s%s", peak->rates[i] / 1e9,
               peak->spans[i] >> 20 ? peak->spans[i] >> 20 : peak->spans[i] >> 10, peak->spans[i] >> 20 ? "MiB" : "KiB",
               i + 1 < MACHINE_LEVELS ? "," : "\n");
    print_load("before");
    fflush(stdout);
}

ee_status bench_run(const bench_request *request, ee_error *error)
{
    static ee_status (*const parts[])(bench_report *, ee_error *) = {
        bench_kernels, bench_json, bench_calls, bench_features, bench_runs, bench_growth, bench_jobs, bench_estimators};
    bench_report to = {.request = request};
    ee_status status = machine_measure(&to.peak, error);
    if (status) return status;
    print_machine(&to.peak);
    for (size_t i = 0; !status && i < sizeof parts / sizeof parts[0]; i++) status = parts[i](&to, error);
    printf("\n");
    print_load("after");
    return status;
}
