/* The estimators over rounds in memory. bench/compare/ope_obp.py makes the same rounds and shows what Open Bandit
 * Pipeline and NumPy take for them. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "bench_report.h"
#include "evaluate/intervals/confidence_sequence.h"

enum { ROUNDS = 10000000 };

static double fraction(double number)
{
    return number - floor(number);
}

/* Two actions, and a log that took both: sequences of equal steps, which every program makes alike. */
static ee_status make_rounds(memory *room, evaluated_rounds *rounds, ee_error *error)
{
    double *w, *r, *d, *q;
    ee_status status = memory_create(room, &w, ROUNDS, sizeof *w, error);
    if (!status) status = memory_create(room, &r, ROUNDS, sizeof *r, error);
    if (!status) status = memory_create(room, &d, ROUNDS, sizeof *d, error);
    if (!status) status = memory_create(room, &q, ROUNDS, sizeof *q, error);
    if (status) return status;
    for (size_t i = 0; i < ROUNDS; i++) {
        double t = (double)(i + 1), u = fraction(t * 0.6180339887498949), v = fraction(t * 0.7548776662466927);
        double p = 0.05 + 0.9 * u, pi = 0.05 + 0.9 * fraction(t * 0.5698402909980532);
        double first = 0.25 + 0.1 * u, second = 0.65 + 0.1 * u;
        bool other = v >= p;
        w[i] = other ? (1.0 - pi) / (1.0 - p) : pi / p;
        r[i] = fraction(t * 0.8191725133961645) < (other ? 0.7 : 0.3) ? 1.0 : 0.0;
        d[i] = pi * first + (1.0 - pi) * second;
        q[i] = other ? second : first;
    }
    *rounds = (evaluated_rounds){.count = ROUNDS, .weights = w, .rewards = r, .direct = d, .predicted = q};
    return EE_OK;
}

static void print_row(bench_report *to, const char *name, double value, const measurement *taken)
{
    char text[96];
    snprintf(text, sizeof text, "%s: %.0f M rounds/s, %.9f", name, ROUNDS / 1e6 / measure_cpu(taken), value);
    bench_report_row(to, text, taken, NULL);
}

static void measure_kind(bench_report *to, const evaluated_rounds *rounds, estimator_kind kind)
{
    const char *name = estimator_describe(kind)->name;
    bool share = kind == ESTIMATOR_SG_IPS || kind == ESTIMATOR_SG_DR;
    double lambda = share ? 0.1 : estimator_describe(kind)->tuned ? 10.0 : INFINITY, value = 0.0;
    if (!bench_report_wants(to, name)) return;
    measurement taken = {0};
    while (measure_more(&taken, 0.5)) {
        stretch start = measure_start();
        value = estimator_value(kind, lambda, rounds);
        measure_add(&taken, start, 1);
    }
    print_row(to, name, value, &taken);
}

/* All that the estimators that stream and their intervals need. */
static void measure_sums(bench_report *to, const evaluated_rounds *rounds, bool one_by_one)
{
    const char *name = one_by_one ? "all sums, one by one" : "all sums";
    if (!bench_report_wants(to, name)) return;
    measurement taken = {0};
    rounds_sums sums = {0};
    while (measure_more(&taken, 0.5)) {
        stretch start = measure_start();
        sums = (rounds_sums){0};
        if (!one_by_one) rounds_sums_add_all(&sums, rounds);
        for (size_t i = 0; one_by_one && i < rounds->count; i++)
            rounds_sums_add(&sums, rounds->weights[i], rounds->rewards[i], rounds->direct[i], rounds->predicted[i], 1);
        measure_add(&taken, start, 1);
    }
    print_row(to, name, rounds_sums_value(&sums, ESTIMATOR_SNDR), &taken);
}

static void measure_sequence(bench_report *to, const evaluated_rounds *rounds)
{
    if (!bench_report_wants(to, "cs")) return;
    measurement taken = {0};
    interval last = {0};
    while (measure_more(&taken, 0.5)) {
        stretch start = measure_start();
        confidence_sequence sequence = confidence_sequence_of_ips((value_range){0, 1, INFINITY});
        for (size_t i = 0; i < rounds->count; i++)
            confidence_sequence_add_ips(&sequence, rounds->weights[i], rounds->rewards[i], 1);
        last = confidence_sequence_interval(&sequence, 0.05);
        measure_add(&taken, start, 1);
    }
    print_row(to, "cs", last.low, &taken);
}

ee_status bench_estimators(bench_report *to, ee_error *error)
{
    bench_report_begin(to, "estimators", "10^7 rounds in memory");
    bool wanted = bench_report_wants(to, "all sums, one by one") || bench_report_wants(to, "cs");
    for (size_t kind = 0; kind < ESTIMATOR_KINDS; kind++)
        wanted = wanted || bench_report_wants(to, estimator_describe((estimator_kind)kind)->name);
    if (!wanted) return EE_OK;
    memory room = {0};
    evaluated_rounds rounds;
    ee_status status = make_rounds(&room, &rounds, error);
    for (size_t kind = 0; !status && kind < ESTIMATOR_KINDS; kind++) measure_kind(to, &rounds, (estimator_kind)kind);
    if (!status) {
        measure_sums(to, &rounds, false);
        measure_sums(to, &rounds, true);
        measure_sequence(to, &rounds);
    }
    memory_release(&room);
    return status;
}
