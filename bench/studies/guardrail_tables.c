#include "guardrail_tables.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "drift_study.h"
#include "evaluate/estimators/statistics.h"
#include "guardrail_study.h"

/* ---- false alarms ---- */

static size_t count_alarms(const guardrail_result *results, size_t count, guardrail_method method)
{
    size_t alarms = 0;
    for (size_t i = 0; i < count; i++) alarms += results[i].alarm[method] > 0;
    return alarms;
}

static void print_alarms(const guardrail_plan *plan, const guardrail_result *results)
{
    size_t covered = 0, relative = 0;
    for (size_t i = 0; i < plan->bandits; i++) {
        covered += results[i].covered;
        relative += results[i].relative_covered;
    }
    printf("  %4.0f%%  %5.0f%%  %6.0f%%  %-6s", 100 * plan->rate, 100 * plan->bound, 100 * plan->trend,
           plan->loyal ? "loyal" : "");
    for (size_t m = 0; m < GUARDRAIL_METHODS; m++) printf("  %10zu", count_alarms(results, plan->bandits, m));
    if (plan->intervals)
        printf("  %7.1f%%  %7.1f%%", 100.0 * (double)covered / (double)plan->bandits,
               100.0 * (double)relative / (double)plan->bandits);
    printf("\n");
    fflush(stdout);
}

/* The true increase is the allowed one: the hardest case without a violation. */
static ee_status print_false_alarms(const guardrail_request *of, guardrail_result *results, ee_error *error)
{
    static const struct {
        double rate, bound, trend;
        bool loyal;
    } rows[] = {{0.02, 0, 0, false}, {0.2, 0, 0, false}, {0.02, 0.1, 0, false}, {0.2, 0, 1, false}, {0.2, 0, 0, true}};
    ee_status status = EE_OK;
    printf("False alarms in %zu bandits of %zu decisions, looked at after every decision; lifetime error %.0f%% (at "
           "most %.0f expected).\nShares treated: 1%%, 5%%, 25%%, 95%%. Covered: bandits whose interval always covered "
           "the true lift.\n\n  %5s  %6s  %7s  %-6s  %10s  %10s  %10s  %10s  %8s  %8s\n",
           of->bandits, of->decisions, 100 * guardrail_alpha, guardrail_alpha * (double)of->bandits, "rate", "bound",
           "trend", "people", "lift", "decisions", "plain", "first", "covered", "relative");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++) {
        guardrail_plan plan = {.bandits = of->bandits,
                               .decisions = of->decisions,
                               .rate = rows[i].rate,
                               .bound = rows[i].bound,
                               .harm = rows[i].bound,
                               .trend = rows[i].trend,
                               .loyal = rows[i].loyal,
                               .intervals = rows[i].trend == 0,
                               .seed = of->seed};
        status = guardrail_run(&plan, of->threads, results, error);
        if (!status) print_alarms(&plan, results);
    }
    return status;
}

/* ---- detection ---- */

static void print_delay(double decisions)
{
    if (isinf(decisions))
        printf("  %10s", "later");
    else
        printf("  %10.0f", decisions);
}

static void print_delays(const guardrail_plan *plan, const guardrail_result *results, double *times)
{
    static const guardrail_method shown[] = {GUARDRAIL_LIFT, GUARDRAIL_FIRST};
    printf("  %4.0f%%  %5.0f%%  %6.1f%%  %5.0f%%  %9zu", 100 * plan->rate, 100 * plan->bound, 100 * plan->harm,
           100 * plan->share, plan->harmless);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < plan->bandits; i++) {
            size_t alarm = results[i].alarm[shown[k]];
            times[i] = !alarm ? INFINITY : alarm > plan->harmless ? (double)(alarm - plan->harmless) : 0.0;
        }
        statistics_sort(times, plan->bandits);
        print_delay(times[plan->bandits / 2]);
        print_delay(times[plan->bandits * 9 / 10]);
    }
    printf("\n");
    fflush(stdout);
}

static ee_status print_detection(const guardrail_request *of, guardrail_result *results, double *times, ee_error *error)
{
    static const struct {
        double rate, bound, harm, share;
        size_t harmless;
    } rows[] = {{0.02, 0, 0.05, 0.25, 0},      {0.02, 0, 0.1, 0.25, 0},    {0.02, 0, 0.2, 0.25, 0},
                {0.2, 0, 0.05, 0.25, 0},       {0.2, 0, 0.1, 0.25, 0},     {0.2, 0, 0.2, 0.25, 0},
                {0.02, 0.1, 0.155, 0.25, 0},   {0.02, 0.1, 0.21, 0.25, 0}, {0.02, 0.1, 0.32, 0.25, 0},
                {0.2, 0.1, 0.155, 0.25, 0},    {0.2, 0.1, 0.21, 0.25, 0},  {0.2, 0.1, 0.32, 0.25, 0},
                {0.2, 0, 0.6, 0.01, 0},        {0.2, 0, 0.6, 0.25, 0},     {0.2, 0, 0.6, 0.95, 0},
                {0.2, 0.1, 0.32, 0.25, 100000}};
    enum { LONGEST = 10 };
    size_t bandits = of->bandits < 4 ? 1 : of->bandits / 4;
    ee_status status = EE_OK;
    printf("\nDecisions from the start of harm to its detection: %zu bandits, looked at whenever the log has grown by "
           "0.5%%.\nlater: after %zu decisions.\n\n  %5s  %6s  %7s  %6s  %9s  %10s  %10s  %10s  %10s\n",
           bandits, LONGEST * of->decisions, "rate", "bound", "harm", "share", "harmless", "lift", "90%", "first",
           "90%");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++) {
        guardrail_plan plan = {.bandits = bandits,
                               .decisions = LONGEST * of->decisions,
                               .rate = rows[i].rate,
                               .bound = rows[i].bound,
                               .harm = rows[i].harm,
                               .share = rows[i].share,
                               .harmless = rows[i].harmless,
                               .look = 0.005,
                               .until_found = true,
                               .seed = of->seed};
        status = guardrail_run(&plan, of->threads, results, error);
        if (!status) print_delays(&plan, results, times);
    }
    return status;
}

/* ---- drift ---- */

static void print_drift(const drift_plan *plan, const drift_result *results, drift_kind kind, double *times)
{
    size_t early = 0;
    for (size_t i = 0; i < plan->streams; i++) {
        size_t alarm = results[i].alarm[kind];
        early += alarm && alarm <= plan->change;
        times[i] = !alarm ? INFINITY : alarm > plan->change ? (double)(alarm - plan->change) : 0.0;
    }
    statistics_sort(times, plan->streams);
    printf("  %10zu", early);
    if (plan->change < plan->blocks) {
        print_delay(times[plan->streams / 2]);
        print_delay(times[plan->streams * 9 / 10]);
    }
    printf("\n");
    fflush(stdout);
}

/* Another number of decisions per day, and no other change: every alarm is false. */
static ee_status print_traffic(const drift_plan *none, size_t threads, drift_result *results, double *times,
                               ee_error *error)
{
    static const struct {
        double traffic;
        const char *text;
        size_t change;
    } rows[] = {{0.1, "traffic/10", 100}, {0.1, "traffic/10", 500}, {10, "traffic*10", 500}};
    ee_status status = EE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++) {
        drift_plan plan = *none, whole_life = *none;
        plan.change = rows[i].change;
        plan.traffic = rows[i].traffic;
        status = drift_run(&plan, threads, results, error);
        for (size_t k = 0; k < DRIFT_KINDS && !status; k++) {
            printf("  %-20s  %-10s  %6zu", drift_names[k], rows[i].text, plan.change);
            print_drift(&whole_life, results, k, times);
        }
    }
    return status;
}

static ee_status print_drifts(const guardrail_request *of, drift_result *results, double *times, ee_error *error)
{
    enum { BLOCK = 500, LIFE = 1000, AFTER = 300, CHANGES = 4 };
    static const drift_plan changes[CHANGES] = {{.reward = 0.2, .delay = 0.1, .moved = 0.1, .older = 0.01},
                                                {.reward = 0.5, .delay = 0.2, .moved = 0.2, .older = 0.05},
                                                {.unseen = 0.01},
                                                {.unseen = 0.05}};
    static const char *const texts[CHANGES][DRIFT_KINDS] = {{"+20%", "+10%", "10% moved", "1% outside"},
                                                            {"+50%", "+20%", "20% moved", "5% outside"},
                                                            {NULL, NULL, "1% new", NULL},
                                                            {NULL, NULL, "5% new", NULL}};
    drift_plan none = {.streams = of->bandits, .blocks = LIFE, .block = BLOCK, .change = LIFE, .seed = of->seed};
    ee_status status = drift_run(&none, of->threads, results, error);
    printf("\nDrift in %zu streams, days of %d decisions: streams with a false alarm (lifetime error %.0f%%), and "
           "days from a change to its\ndetection.\n\n  %-20s  %-10s  %6s  %10s  %10s  %10s\n",
           of->bandits, BLOCK, 100 * drift_alpha, "of", "change", "after", "false", "median", "90%");
    for (size_t k = 0; k < DRIFT_KINDS && !status; k++) {
        printf("  %-20s  %-10s  %6d", drift_names[k], "none", LIFE);
        print_drift(&none, results, k, times);
    }
    if (!status) status = print_traffic(&none, of->threads, results, times, error);
    for (size_t c = 0; c < 2 * CHANGES && !status; c++) {
        drift_plan plan = changes[c / 2];
        plan.change = c % 2 ? 500 : 100;
        plan.streams = of->bandits / 4 + 1;
        plan.block = BLOCK;
        plan.blocks = plan.change + AFTER;
        plan.seed = of->seed;
        status = drift_run(&plan, of->threads, results, error);
        for (size_t k = 0; k < DRIFT_KINDS && !status; k++) {
            if (!texts[c / 2][k]) continue;
            printf("  %-20s  %-10s  %6zu", drift_names[k], texts[c / 2][k], plan.change);
            print_drift(&plan, results, k, times);
        }
    }
    return status;
}

ee_status guardrail_tables(const guardrail_request *of, ee_error *error)
{
    memory owner = {0};
    guardrail_result *results = NULL;
    drift_result *drifts = NULL;
    double *times = NULL;
    ee_status status = memory_create(&owner, &results, of->bandits, sizeof *results, error);
    if (!status) status = memory_create(&owner, &drifts, of->bandits, sizeof *drifts, error);
    if (!status) status = memory_create(&owner, &times, of->bandits, sizeof *times, error);
    if (!status) status = print_false_alarms(of, results, error);
    if (!status) status = print_detection(of, results, times, error);
    if (!status) status = print_drifts(of, drifts, times, error);
    memory_release(&owner);
    return status;
}
