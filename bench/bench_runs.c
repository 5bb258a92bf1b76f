/* Whole runs: 10,000 rounds of Yelp and of MNIST, or of made-up rounds of the same shape. A run that has not ended
 * after LIMIT seconds of processor time is stopped, and its row says after how many rounds. */
#include <stdio.h>

#include "base/memory.h"
#include "bench_report.h"
#include "lab/runs/runner.h"
#include "policy_work.h"

enum { ROUNDS = 10000, DIFFERENT_ROUNDS = 500 };
/* A reward follows its decision at once: no other decision is kept, which of MNIST's arms may take much memory. */
static const char usual_options[] = "pending=1 arms=10";
static const double LIMIT = 30, REPEATED_FOR = 2.5;

static const char *const dense_policies[] = {"eenet:authors",    "eenet",           "eenet:fast", "greedy:paper",
                                             "neural-ucb:paper", "neural-ts:paper", "linucb",     "kernelucb"};
static const char *const block_policies[] = {"eenet:authors", "eenet", "greedy:paper", "linucb"};

static const struct run_kind {
    const char *name;
    problem_shape shape; /* as its policies see it */
    const char *const *policies;
    size_t policy_count;
} kinds[] = {
    {"yelp", {"", 10, 20, 0, 1}, dense_policies, 8},
    {"mnist", {"", 10, 7840, 150, 10}, block_policies, 4},
};

/* Where the rounds come from: a data set, or a problem where there is none. */
typedef struct round_source {
    dataset *data;
    problem *made;
} round_source;

static bool in_time(void *start)
{
    return measure_since(*(stretch *)start).cpu < LIMIT;
}

static ee_status play_dataset(const dataset *data, const char *policy, const char *options, stretch start,
                              run_result *result, ee_error *error)
{
    run_job job = {.data = data, .policy = policy, .options = options, .rounds = ROUNDS};
    run_watch watch = {.wanted = in_time, .context = &start};
    return runner_run(&job, &watch, result, error);
}

static ee_status play_problem(const problem *made, const char *policy, const char *options, stretch start,
                              run_result *result, ee_error *error)
{
    ee_settings settings = {.policy = policy, .dim = problem_shape_of(made)->dim, .options = options};
    ee_bandit *bandit;
    ee_status status = ee_bandit_create(&settings, &bandit, error);
    while (!status && result->rounds < ROUNDS && in_time(&start)) {
        ee_arms arms = problem_round(made, result->rounds);
        ee_decision decision;
        status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, error);
        if (status) break;
        double reward = problem_reward(made, result->rounds, decision.arm);
        status = ee_bandit_learn(bandit, decision.id, reward, error);
        result->rounds++;
    }
    ee_bandit_free(bandit);
    return status;
}

static void measure_run(bench_report *to, const round_source *from, const struct run_kind *kind, const char *policy)
{
    char name[64], played[128], options[96];
    snprintf(options, sizeof options, "%s %s", usual_options, policy_work_options(policy, &kind->shape));
    snprintf(name, sizeof name, "%s: %s", kind->name, policy);
    if (!bench_report_wants(to, name)) return;
    measurement taken = {0};
    run_result result = {0};
    while (measure_more(&taken, REPEATED_FOR)) {
        result = (run_result){0};
        stretch start = measure_start();
        ee_error error;
        ee_status status = from->data ? play_dataset(from->data, policy, options, start, &result, &error)
                                      : play_problem(from->made, policy, options, start, &result, &error);
        if (status) {
            bench_report_say(to, name, "- (%s)", error.message);
            return;
        }
        measure_add(&taken, start, 1);
    }
    work needed = policy_work_run(policy, &kind->shape, 0, (double)result.rounds);
    int length = snprintf(played, sizeof played, "%s", name);
    if (result.rounds < ROUNDS)
        snprintf(played + length, sizeof played - (size_t)length, ", %ju rounds alone", (uintmax_t)result.rounds);
    else if (from->data)
        snprintf(played + length, sizeof played - (size_t)length, ", regret %.0f", result.regret);
    bench_report_row(to, played, &taken, &needed);
}

static bool wants_kind(const bench_report *to, const struct run_kind *kind)
{
    for (size_t i = 0; i < kind->policy_count; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s: %s", kind->name, kind->policies[i]);
        if (bench_report_wants(to, name)) return true;
    }
    return false;
}

static ee_status open_source(const bench_request *request, const struct run_kind *kind, round_source *out,
                             ee_error *error)
{
    if (!request->data) return problem_create(&kind->shape, DIFFERENT_ROUNDS, &out->made, error);
    char text[4096];
    snprintf(text, sizeof text, "%s:%s/%s", kind->name, request->data, kind->name);
    return dataset_open(text, NULL, &out->data, error);
}

ee_status bench_runs(bench_report *to, ee_error *error)
{
    ee_status status = EE_OK;
    bench_report_begin(to, "runs", to->request->data ? "10000 rounds" : "10000 rounds, made up in the shape of");
    for (size_t i = 0; !status && i < sizeof kinds / sizeof kinds[0]; i++) {
        round_source from = {0};
        if (!wants_kind(to, &kinds[i])) continue;
        status = open_source(to->request, &kinds[i], &from, error);
        for (size_t p = 0; !status && p < kinds[i].policy_count; p++)
            measure_run(to, &from, &kinds[i], kinds[i].policies[p]);
        dataset_free(from.data);
        problem_free(from.made);
    }
    return status;
}
