#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The counter of instructions in user space. Many virtual machines have none, and kernels may refuse it: then -1. It
 * is opened once and lives as long as the process. */
static int counter(void)
{
    static int descriptor = -2;
    if (descriptor != -2) return descriptor;
    descriptor = system_instruction_counter();
    return descriptor;
}

static double instructions(void)
{
    uint64_t count;
    int from = counter();
    return from >= 0 && read(from, &count, sizeof count) == sizeof count ? (double)count : (double)NAN;
}

stretch measure_start(void)
{
    return (stretch){
        .instructions = instructions(), .cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), .wall = seconds(CLOCK_MONOTONIC)};
}

stretch measure_since(stretch start)
{
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    return (stretch){wall - start.wall, cpu - start.cpu, instructions() - start.instructions};
}

bool measure_more(const measurement *so_far, double seconds_to_spend)
{
    return so_far->count == 0 || (so_far->count < MEASURE_REPEATS && so_far->spent < seconds_to_spend);
}

void measure_add(measurement *to, stretch start, double times)
{
    stretch passed = measure_since(start);
    to->taken[to->count++] = (stretch){passed.wall / times, passed.cpu / times, passed.instructions / times};
    to->spent += passed.wall;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between two values, in proportion. */
static double quantile(double *values, size_t count, double share)
{
    if (!count) return (double)NAN;
    qsort(values, count, sizeof *values, compare);
    double place = share * (double)(count - 1);
    size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    return values[below] + (place - (double)below) * (values[above] - values[below]);
}

double measure_quantile(const measurement *of, double share)
{
    double values[MEASURE_REPEATS];
    for (size_t i = 0; i < of->count; i++) values[i] = of->taken[i].wall;
    return quantile(values, of->count, share);
}

double measure_cpu(const measurement *of)
{
    double values[MEASURE_REPEATS];
    for (size_t i = 0; i < of->count; i++) values[i] = of->taken[i].cpu;
    return quantile(values, of->count, 0.5);
}

double measure_instructions(const measurement *of)
{
    double values[MEASURE_REPEATS];
    for (size_t i = 0; i < of->count; i++) values[i] = of->taken[i].instructions;
    return of->count && isnan(values[0]) ? (double)NAN : quantile(values, of->count, 0.5);
}
