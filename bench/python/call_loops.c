/* The C side of calls.py: the same calls on the same rounds in a loop, with a clock around. calls.py compiles it, links
 * the static library, and loads it into the very process that measures the calls from Python.
 *
 * Every loop returns nanoseconds, or -1 where a call failed; all rounds are alike in size. */
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "eenet.h"

enum { MOST = 4096 };

static ee_bandit *bandit;
static ee_snapshot *snapshot;
static ee_scratch *scratch;
static ee_round *named;
static ee_decision decisions[MOST];
static ee_score scores[MOST];
static double probabilities[MOST];
static ee_arms many[MOST];
static ee_error error;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

void loops_close(void)
{
    ee_scratch_free(scratch);
    ee_snapshot_free(snapshot);
    ee_bandit_free(bandit);
    ee_round_free(named);
    scratch = NULL;
    snapshot = NULL;
    bandit = NULL;
    named = NULL;
}

const char *loops_error(void)
{
    return error.message;
}

int loops_open(const char *policy, size_t dim, uint64_t seed, const char *features)
{
    loops_close();
    ee_settings settings = {.policy = policy, .dim = dim, .seed = seed, .features = features};
    if (ee_round_create(NULL, &named, &error)) return -1;
    return ee_bandit_create(&settings, &bandit, &error) ? -1 : 0;
}

double loops_decide(const float *values, size_t rounds, size_t arms, size_t dim)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) {
        ee_arms these = ee_arms_dense(values + i * arms * dim, arms, dim);
        if (ee_bandit_decide(bandit, &these, &decisions[i], scores, probabilities, &error)) return -1;
    }
    return now() - start;
}

/* Each decision is forgotten at once, so that none waits when the next is made. */
double loops_decide_forget(const float *values, size_t rounds, size_t arms, size_t dim)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) {
        ee_arms these = ee_arms_dense(values + i * arms * dim, arms, dim);
        if (ee_bandit_decide(bandit, &these, &decisions[i], scores, probabilities, &error)) return -1;
        if (ee_bandit_forget(bandit, decisions[i].id, &error)) return -1;
    }
    return now() - start;
}

/* starts is (rounds, arms + 1), each row from 0; entries of a round begin at offsets[round]. */
double loops_decide_sparse(const size_t *starts, const uint32_t *indices, const float *values, const size_t *offsets,
                           size_t rounds, size_t arms, size_t dim)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) {
        ee_arms these = ee_arms_sparse(starts + i * (arms + 1), indices + offsets[i], values + offsets[i], arms, dim);
        if (ee_bandit_decide(bandit, &these, &decisions[i], scores, probabilities, &error)) return -1;
    }
    return now() - start;
}

double loops_decide_many(const float *values, size_t rounds, size_t arms, size_t dim)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) many[i] = ee_arms_dense(values + i * arms * dim, arms, dim);
    if (ee_bandit_decide_many(bandit, many, rounds, NULL, decisions, scores, probabilities, &error)) return -1;
    return now() - start;
}

double loops_score(const float *values, size_t rounds, size_t arms, size_t dim)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) {
        ee_arms these = ee_arms_dense(values + i * arms * dim, arms, dim);
        if (ee_bandit_score(bandit, &these, scores, &error)) return -1;
    }
    return now() - start;
}

/* The decisions of the last loop that decided; rewards is (rounds, arms). */
double loops_learn(const double *rewards, size_t rounds, size_t arms)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++)
        if (ee_bandit_learn(bandit, decisions[i].id, rewards[i * arms + decisions[i].arm], &error)) return -1;
    return now() - start;
}

double loops_forget(size_t rounds)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++)
        if (ee_bandit_forget(bandit, decisions[i].id, &error)) return -1;
    return now() - start;
}

/* contexts is (rounds), actions (rounds, arms): JSON. */
double loops_decide_named(const char *const *contexts, const char *const *actions, size_t rounds, size_t arms)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) {
        ee_arms these;
        ee_round_clear(named);
        if (ee_round_context(named, contexts[i], strlen(contexts[i]), &error)) return -1;
        for (size_t arm = 0; arm < arms; arm++) {
            const char *action = actions[i * arms + arm];
            if (ee_round_action(named, action, strlen(action), &error)) return -1;
        }
        if (ee_bandit_arms(bandit, named, &these, &error)) return -1;
        if (ee_bandit_decide(bandit, &these, &decisions[i], scores, probabilities, &error)) return -1;
    }
    return now() - start;
}

int loops_publish(void)
{
    if (snapshot) return ee_snapshot_update(snapshot, bandit, &error) ? -1 : 0;
    if (ee_snapshot_create(bandit, &snapshot, &error)) return -1;
    return ee_scratch_create(snapshot, 0, &scratch, &error) ? -1 : 0;
}

double loops_decide_snapshot(const float *values, size_t rounds, size_t arms, size_t dim)
{
    double start = now();
    for (size_t i = 0; i < rounds; i++) {
        const void *record;
        size_t size;
        ee_arms these = ee_arms_dense(values + i * arms * dim, arms, dim);
        ee_scratch_seed(scratch, i);
        if (ee_snapshot_decide(snapshot, scratch, &these, &decisions[i], scores, probabilities, &error)) return -1;
        if (ee_scratch_record(scratch, 0, &record, &size, &error)) return -1;
    }
    return now() - start;
}
