/* How the cost of decide and learn grows: with the rounds played, with the arms, with the networks' width and with the
 * features of an arm. */
#include <stdio.h>

#include "bench_report.h"
#include "calls.h"
#include "growth_plot.h"

/* A row of slope and points, which are what it stands on. */
static void say_series(bench_report *to, const series *of)
{
    char points[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < of->count && length < sizeof points; i++)
        length += (size_t)snprintf(points + length, sizeof points - length, "  %.0f: %s", of->sizes[i],
                                   bench_report_seconds(of->costs[i]).text);
    bench_report_say(to, of->name, "slope %5.2f, spread %3.0f%% %s", series_slope(of, NULL), 100 * of->spread, points);
}

static void plot(bench_report *to, const char *axis, const series *list, size_t count)
{
    ee_error error;
    if (!to->request->output || !count) return;
    if (growth_plot(to->request->output, axis, list, count, &error))
        bench_report_say(to, axis, "- (%s)", error.message);
}

/* ---- rounds ---- */

enum { WINDOW = 10000, BLOCK = WINDOW / MEASURE_REPEATS, FIRST = 2000, LAST = 200000, DIFFERENT_ROUNDS = 500 };

static ee_status play_block(ee_bandit *bandit, const problem *rounds, size_t first, ee_error *error)
{
    for (size_t i = first; i < first + BLOCK; i++) {
        ee_arms arms = problem_round(rounds, i);
        ee_decision decision;
        ee_status status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, error);
        if (!status) status = ee_bandit_learn(bandit, decision.id, problem_reward(rounds, i, decision.arm), error);
        if (status) return status;
    }
    return EE_OK;
}

/* 10,000 rounds in blocks, whose median is what is compared: it does not see the moments in which others had the core.
 */
static ee_status play_window(ee_bandit *bandit, const problem *rounds, size_t first, measurement *taken,
                             ee_error *error)
{
    for (size_t block = 0; block < MEASURE_REPEATS; block++) {
        stretch start = measure_start();
        ee_status status = play_block(bandit, rounds, first + block * BLOCK, error);
        if (status) return status;
        measure_add(taken, start, BLOCK);
    }
    return EE_OK;
}

static ee_status play_rounds(bench_report *to, ee_bandit *bandit, const problem *rounds, ee_error *error)
{
    series costs = {.name = "eenet: a round"};
    double before = 0, after = 0;
    for (size_t t = 0; t < FIRST; t += BLOCK) {
        ee_status status = play_block(bandit, rounds, t, error);
        if (status) return status;
    }
    double bytes = (double)ee_bandit_memory(bandit);
    for (size_t t = FIRST; t < LAST; t += WINDOW) {
        measurement taken = {0};
        ee_status status = play_window(bandit, rounds, t, &taken, error);
        if (status) return status;
        after = measure_cpu(&taken);
        series_add(&costs, (double)(t + WINDOW / 2), &taken);
        bool first = t == FIRST, last = t + WINDOW >= LAST;
        if (first) before = after;
        char name[64];
        snprintf(name, sizeof name, "eenet: rounds %zu to %zu", t, t + WINDOW);
        if (first || last) bench_report_row(to, name, &taken, NULL);
    }
    bench_report_say(to, "eenet: the last to the first", "cost %.3f, memory %.3f, slope %.3f", after / before,
                     (double)ee_bandit_memory(bandit) / bytes, series_slope(&costs, NULL));
    plot(to, "rounds", &costs, 1);
    return EE_OK;
}

static ee_status grow_rounds(bench_report *to, ee_error *error)
{
    static const problem_shape shape = {"", 10, 20, 0, 1};
    bench_report_begin(to, "growth", "growth with the rounds");
    if (!bench_report_wants(to, "rounds")) return EE_OK;
    ee_settings settings = {.policy = "eenet", .dim = shape.dim, .seed = 1};
    problem *rounds = NULL;
    ee_bandit *bandit = NULL;
    ee_status status = problem_create(&shape, DIFFERENT_ROUNDS, &rounds, error);
    if (!status) status = ee_bandit_create(&settings, &bandit, error);
    if (!status) status = play_rounds(to, bandit, rounds, error);
    ee_bandit_free(bandit);
    problem_free(rounds);
    return status;
}

/* ---- sizes ---- */

static problem_shape shape_of_arms(size_t size)
{
    return (problem_shape){"", size, 20, 0, 1};
}

static problem_shape shape_of_width(size_t size)
{
    (void)size;
    return (problem_shape){"", 10, 20, 0, 1};
}

static problem_shape shape_of_dim(size_t size)
{
    return (problem_shape){"", 10, size, 0, 1};
}

enum { MOST_POLICIES = SERIES_MOST / 2, MOST_SIZES = 7 };

static const struct growth_axis {
    const char *name;
    const char *title;
    problem_shape (*shape)(size_t size);
    const char *policies[MOST_POLICIES + 1];
    bool is_width; /* of f1 */
    size_t sizes[MOST_SIZES + 1];
} axes[] = {
    {"arms",
     "growth with the arms, each of 20 dense features",
     shape_of_arms,
     {"eenet", "greedy:paper", "linucb"},
     false,
     {4, 16, 64, 256, 1024}},
    {"width",
     "growth with the width of the networks, 10 dense arms of 20",
     shape_of_width,
     {"eenet", "greedy:paper"},
     true,
     {32, 64, 128, 256, 512, 1024}},
    {"dim",
     "growth with the features, 10 dense arms",
     shape_of_dim,
     {"eenet", "greedy:paper", "linucb"},
     false,
     {16, 64, 256, 1024}},
};

static ee_status measure_size(const struct growth_axis *axis, size_t policy, size_t size, series *decide, series *learn,
                              ee_error *error)
{
    char options[96] = "";
    if (axis->is_width) snprintf(options, sizeof options, "f1.width=%zu", size);
    problem_shape shape = axis->shape(size);
    problem *rounds;
    ee_status status = problem_create(&shape, DIFFERENT_ROUNDS / 10, &rounds, error);
    if (status) return status;
    call_request of = {rounds, axis->policies[policy], options, 640, 0.1};
    measurement deciding = {0}, learning = {0};
    status = calls_measure(&of, &deciding, &learning, error);
    if (!status) series_add(decide, (double)size, &deciding);
    if (!status) series_add(learn, (double)size, &learning);
    problem_free(rounds);
    return status;
}

static ee_status grow_size(bench_report *to, const struct growth_axis *axis, ee_error *error)
{
    series list[SERIES_MOST];
    size_t count = 0;
    bench_report_begin(to, "growth", axis->title);
    if (!bench_report_wants(to, axis->name)) return EE_OK;
    for (size_t p = 0; axis->policies[p]; p++) {
        series *decide = &list[count++], *learn = &list[count++];
        *decide = *learn = (series){.count = 0};
        snprintf(decide->name, sizeof decide->name, "%s: decide", axis->policies[p]);
        snprintf(learn->name, sizeof learn->name, "%s: learn", axis->policies[p]);
        for (size_t i = 0; axis->sizes[i]; i++) {
            ee_status status = measure_size(axis, p, axis->sizes[i], decide, learn, error);
            if (status) return status;
        }
        say_series(to, decide);
        say_series(to, learn);
    }
    plot(to, axis->name, list, count);
    return EE_OK;
}

ee_status bench_growth(bench_report *to, ee_error *error)
{
    ee_status status = grow_rounds(to, error);
    for (size_t i = 0; !status && i < sizeof axes / sizeof axes[0]; i++) status = grow_size(to, &axes[i], error);
    return status;
}
