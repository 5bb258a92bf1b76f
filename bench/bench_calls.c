/* One decision, one reward. */
#include <stdio.h>

#include "bench_report.h"
#include "calls.h"
#include "policy_work.h"

enum { DIFFERENT_ROUNDS = 64 };

static const char *const policies[] = {
    "eenet", "eenet:fast", "eenet:authors", "greedy:paper", "neural-ucb:paper", "neural-ts:paper", "linucb"};
static const problem_shape shapes[] = {
    {"10 dense arms of 20", 10, 20, 0, 1},
    {"10 arms of MNIST's shape, 150 of 7840", 10, 7840, 150, 10},
    {"1000 sparse arms, 50 of 65536", 1000, 65536, 50, 1},
};

static void measure_policy(bench_report *to, const problem *rounds, const char *policy)
{
    const problem_shape *shape = problem_shape_of(rounds);
    char names[2][96];
    snprintf(names[0], sizeof names[0], "%s: decide", policy);
    snprintf(names[1], sizeof names[1], "%s: learn", policy);
    if (!bench_report_wants(to, names[0]) && !bench_report_wants(to, names[1])) return;
    /* What a decision keeps of large arms may be large too. */
    call_request of = {rounds, policy, policy_work_options(policy, shape), shape->nonzeros ? 10 : 640, 0.25};
    measurement decide = {0}, learn = {0};
    ee_error error;
    if (calls_measure(&of, &decide, &learn, &error)) {
        bench_report_say(to, policy, "- (%s)", error.message);
        return;
    }
    work needed = policy_work_decide(policy, shape, 0);
    if (bench_report_wants(to, names[0])) bench_report_row(to, names[0], &decide, &needed);
    needed = policy_work_learn(policy, shape, 0);
    if (bench_report_wants(to, names[1])) bench_report_row(to, names[1], &learn, &needed);
}

ee_status bench_calls(bench_report *to, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; !status && i < sizeof shapes / sizeof shapes[0]; i++) {
        problem *rounds;
        status = problem_create(&shapes[i], DIFFERENT_ROUNDS, &rounds, error);
        bench_report_begin(to, "calls", shapes[i].name);
        for (size_t p = 0; !status && p < sizeof policies / sizeof policies[0]; p++)
            measure_policy(to, rounds, policies[p]);
        problem_free(rounds);
    }
    return status;
}
