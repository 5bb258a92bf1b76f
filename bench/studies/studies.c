/* The studies of docs/evaluation-checks.md: 'coverage' measures how often intervals cover the true value, 'warm-starts'
 * how much a log helps a new bandit; of docs/guardrail-statistics.md: 'guardrails' measures false alarms and how soon
 * harm is detected; and of docs/limits.md: 'limits' measures what limits cost. The same seed gives the same table,
 * whatever the number of cores. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "coverage_study.h"
#include "evaluate/estimators/statistics.h"
#include "guardrail_tables.h"
#include "limits_tables.h"
#include "warm_study.h"

static const char usage[] =
    "usage: studies coverage    [-b POLICY[,...]] [-T ROUNDS] [-n LOGS] [-t ROUNDS] [-s SEED] DATASET...\n"
    "       studies warm-starts [-b POLICY[,...]] [-T ROUNDS] [-n SEEDS] [-t EVENTS] [-s SEED] DATASET...\n"
    "       studies guardrails  [-T DECISIONS] [-n BANDITS] [-s SEED]\n"
    "       studies limits      [-n SEEDS] [-t DECISIONS] [-s SEED]\n"
    "-b: logging policies: uniform, floor:EPSILON, softmax:TEMPERATURE or igw:GAMMA\n"
    "    (default: uniform,floor,softmax,igw; of warm starts: uniform,floor:0.2)\n"
    "-T: length of a log (default: 10000), rounds after it (2000), or decisions of a bandit (100000)\n"
    "-n: logs per logging policy (default: 400), seeds (5; of limits: 10), or bandits (400)\n"
    "-t: rounds that models learn from, and as many that logs are drawn from (default: 4000), or events of a log "
    "(10000), or decisions per day (2000)\n"
    "-s: random seed (default: 0)\n";

enum { MOST_LOGGING = 16, CANDIDATES = 5 };

typedef struct request {
    bool warm;
    const char *logging;
    size_t rounds, logs, training;
    uint64_t seed;
    size_t threads;
} request;

/* ---- coverage ---- */

/* The mean and the lowest share over the candidates. */
static void print_shares(const coverage_result *of, size_t k, bool always)
{
    double mean = 0, least = INFINITY;
    for (size_t c = 0; c < CANDIDATES; c++) {
        const coverage_of_interval *found = &of->candidates[c].intervals[k];
        double share = always ? found->always : found->covers;
        mean += share / CANDIDATES;
        least = fmin(least, share);
    }
    if (isnan(mean))
        printf("  %6s  %6s", "", "");
    else
        printf("  %5.1f%%  %5.1f%%", 100 * mean, 100 * least);
}

static void print_intervals(const coverage_result *of)
{
    printf("\n  %-16s %-6s  %6s  %6s  %6s  %6s  %9s\n", "interval", "of", "covers", "least", "always", "least",
           "width");
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
        double width = 0;
        for (size_t c = 0; c < CANDIDATES; c++) width += of->candidates[c].intervals[k].width / CANDIDATES;
        printf("  %-16s %-6s", interval_name(coverage_intervals[k].interval),
               coverage_interval_of(&coverage_intervals[k]));
        print_shares(of, k, false);
        print_shares(of, k, true);
        printf("  %9.4g\n", width);
    }
}

static void print_estimators(const coverage_result *of, const known_policy *candidates)
{
    char name[KNOWN_TEXT];
    printf("\n  %-16s", "rmse of");
    for (size_t c = 0; c < CANDIDATES; c++) {
        known_policy_format(candidates[c], name);
        printf("  %11s", name);
    }
    printf("  %9s  %7s\n  %-16s", "mean", "ordered", "(true value)");
    for (size_t c = 0; c < CANDIDATES; c++) printf("  %11.4f", of->candidates[c].truth);
    printf("\n");
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        double mean = 0;
        printf("  %-16s", estimator_describe(coverage_estimators[k])->name);
        for (size_t c = 0; c < CANDIDATES; c++) {
            double error = of->candidates[c].estimators[k].error;
            mean += error / CANDIDATES;
            printf("  %11.5f", error);
        }
        printf("  %9.5f  %6.1f%%\n", mean, 100 * of->ordered[k]);
    }
    printf("\n");
}

static ee_status study_coverage(const request *of, const dataset *data, const known_policy *logging, size_t count,
                                ee_error *error)
{
    static const known_policy candidates[CANDIDATES] = {
        {KNOWN_UNIFORM, 0}, {KNOWN_SOFTMAX, 0.3}, {KNOWN_SOFTMAX, 0.1}, {KNOWN_LITTLE, 0}, {KNOWN_GREEDY, 0}};
    enum { RESAMPLES = 200 };
    known_pool pool = {0};
    known_plan rounds = {data, of->seed, of->training, of->training};
    ee_status status = known_pool_create(&rounds, &pool, error);
    for (size_t b = 0; b < count && !status; b++) {
        coverage_plan plan = {&pool, logging[b], candidates, CANDIDATES, of->rounds, of->logs, RESAMPLES, of->seed};
        coverage_result found = {0};
        char name[KNOWN_TEXT];
        known_policy_format(logging[b], name);
        status = coverage_run(&plan, of->threads, &found, error);
        if (!status) {
            printf("%s, logs of %s (value %.4f, least probability %.2g): %zu logs of %zu rounds\n", dataset_name(data),
                   name, found.logging, found.least_probability, of->logs, of->rounds);
            print_intervals(&found);
            print_estimators(&found, candidates);
            fflush(stdout);
        }
        coverage_release(&found);
    }
    known_pool_release(&pool);
    return status;
}

/* ---- warm starts ---- */

static void print_warm(const request *of, const warm_result *results, double *values)
{
    for (size_t k = 0; k < WARM_PLAYERS; k++) {
        for (size_t i = 0; i < of->logs; i++) values[i] = results[i].regret[k];
        printf("  %7.1f ± %6.1f", statistics_mean(values, of->logs),
               of->logs > 1 ? statistics_deviation(values, of->logs) : 0.0);
    }
    printf("\n");
    fflush(stdout);
}

/* The log is of uniform, or of eenet with that exploration. */
static ee_status study_warm_start(const request *of, const dataset *data, known_policy logging, ee_error *error)
{
    static const char *const forms[KNOWN_KINDS] = {[KNOWN_FLOOR] = "propensity=floor propensity_epsilon=%g",
                                                   [KNOWN_SOFTMAX] = "propensity=softmax propensity_temperature=%g",
                                                   [KNOWN_IGW] = "propensity=igw propensity_gamma=%g"};
    const char *form = forms[logging.kind];
    char options[80] = "", name[KNOWN_TEXT];
    warm_result *results = NULL;
    double *values = NULL;
    if (form) snprintf(options, sizeof options, form, logging.amount);
    warm_plan plan = {.data = data,
                      .policies = {"eenet", "eenet", "eenet", form ? "eenet" : "uniform"},
                      .options = {[WARM_LOGGER] = options},
                      .first_seed = of->seed,
                      .seed_count = of->logs,
                      .events = of->training,
                      .rounds = of->rounds};
    known_policy_format(logging, name);
    ee_status status = memory_create(NULL, &results, of->logs, sizeof *results, error);
    if (!status) status = memory_create(NULL, &values, of->logs, sizeof *values, error);
    if (!status) status = warm_run(&plan, of->threads, results, error);
    if (!status) printf("%-28s %-12s", dataset_name(data), name);
    if (!status) print_warm(of, results, values);
    memory_free(results);
    memory_free(values);
    return status;
}

/* ---- both ---- */

static ee_status read_logging(const char *list, known_policy *out, size_t *count, ee_error *error)
{
    char copy[400], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strtok_r(copy, ",", &rest); word && *count < MOST_LOGGING; word = strtok_r(NULL, ",", &rest)) {
        ee_status status = known_policy_parse(word, &out[*count], error);
        if (status) return status;
        if (!known_policy_explores(out[(*count)++]))
            return status_fail(error, EE_BAD_OPTION,
                               "'%.40s' never plays some arms, so its log cannot show what they earn", word);
    }
    return EE_OK;
}

static ee_status run(const request *of, char **datasets, ee_error *error)
{
    known_policy logging[MOST_LOGGING];
    size_t count = 0;
    ee_status status = read_logging(of->logging, logging, &count, error);
    if (!status && of->warm) {
        printf("Regret of the %zu rounds after a log of %zu events: mean ± standard deviation over %zu seeds.\n"
               "%-28s %-12s",
               of->rounds, of->training, of->logs, "data set", "log of");
        for (size_t k = 0; k < WARM_PLAYERS; k++) printf("  %16s", warm_names[k]);
        printf("\n");
    }
    for (; *datasets && !status; datasets++) {
        dataset *data = NULL;
        status = dataset_open(*datasets, NULL, &data, error);
        if (!status && !of->warm) status = study_coverage(of, data, logging, count, error);
        for (size_t b = 0; b < count && of->warm && !status; b++)
            status = study_warm_start(of, data, logging[b], error);
        dataset_free(data);
    }
    return status;
}

static ee_status run_guardrails(const request *of, ee_error *error)
{
    guardrail_request tables = {of->logs, of->rounds, of->seed, of->threads};
    return guardrail_tables(&tables, error);
}

int main(int count, char **words)
{
    bool limited = count > 1 && strcmp(words[1], "limits") == 0;
    request of = {.threads = (size_t)sysconf(_SC_NPROCESSORS_ONLN)};
    of.warm = count > 1 && strcmp(words[1], "warm-starts") == 0;
    bool guardrails = count > 1 && strcmp(words[1], "guardrails") == 0;
    of.logging = of.warm ? "uniform,floor:0.2" : "uniform,floor,softmax,igw";
    of.rounds = of.warm ? 2000 : guardrails ? 100000 : 10000;
    of.logs = limited ? 10 : of.warm ? 5 : 400;
    of.training = limited ? 2000 : of.warm ? 10000 : 4000;
    bool known = count > 1 && (of.warm || guardrails || limited || strcmp(words[1], "coverage") == 0);
    optind = 2;
    for (int got; known && (got = getopt(count, words, "b:T:n:t:s:")) != -1;) {
        size_t number = got == 'b' || got == '?' ? 0 : strtoul(optarg, NULL, 10);
        if (got == 'b') of.logging = optarg;
        if (got == 'T') of.rounds = number;
        if (got == 'n') of.logs = number;
        if (got == 't') of.training = number;
        if (got == 's') of.seed = number;
        known = got != '?';
    }
    bool needs_data = !guardrails && !limited;
    if (!known || (optind < count) != needs_data || of.rounds < 2 || !of.logs || !of.training) {
        fputs(usage, stderr);
        return 2;
    }
    ee_error error;
    ee_status status = guardrails ? run_guardrails(&of, &error)
                       : limited  ? limits_print(of.seed, of.logs, of.training, &error)
                                  : run(&of, words + optind, &error);
    if (!status) return 0;
    fprintf(stderr, "studies: %s\n", error.message);
    return 1;
}
