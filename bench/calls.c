#include "calls.h"

#include <stdio.h>

/* Shorter stretches would measure the clock. */
static const double SHORTEST = 2e-3;

/* FEWEST: as often does eenet:authors train. */
enum { FEWEST = 10, MOST = 640, LEARNED_BEFORE = 100 };

/* A policy is told of decisions that wait when the next one is made, which costs. Here none waits then: each is
 * forgotten at once, or all of a call are learned before the next. */
static ee_status decide_and_forget(ee_bandit *bandit, const problem *rounds, size_t first, size_t count,
                                   ee_error *error)
{
    for (size_t i = 0; i < count; i++) {
        ee_arms arms = problem_round(rounds, first + i);
        ee_decision decision;
        ee_status status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, error);
        if (!status) status = ee_bandit_forget(bandit, decision.id, error);
        if (status) return status;
    }
    return EE_OK;
}

static ee_status decide_some(ee_bandit *bandit, const problem *rounds, size_t first, size_t count,
                             ee_decision *decisions, ee_error *error)
{
    ee_arms arms[MOST];
    for (size_t i = 0; i < count; i++) arms[i] = problem_round(rounds, first + i);
    return ee_bandit_decide_many(bandit, arms, count, NULL, decisions, NULL, NULL, error);
}

static ee_status learn_some(ee_bandit *bandit, const problem *rounds, size_t first, size_t count,
                            const ee_decision *decisions, ee_error *error)
{
    for (size_t i = 0; i < count; i++) {
        double reward = problem_reward(rounds, first + i, decisions[i].arm);
        ee_status status = ee_bandit_learn(bandit, decisions[i].id, reward, error);
        if (status) return status;
    }
    return EE_OK;
}

/* So that there is something to decide by; a tenth of that, where it takes long. */
static ee_status learn_before(ee_bandit *bandit, const call_request *of, ee_decision *decisions, ee_error *error)
{
    measurement so_far = {0};
    for (size_t i = 0; i < LEARNED_BEFORE && measure_more(&so_far, of->seconds); i += FEWEST) {
        stretch start = measure_start();
        ee_status status = decide_some(bandit, of->rounds, i, FEWEST, decisions, error);
        if (!status) status = learn_some(bandit, of->rounds, i, FEWEST, decisions, error);
        if (status) return status;
        measure_add(&so_far, start, 1);
    }
    return EE_OK;
}

static ee_status measure_decide(ee_bandit *bandit, const call_request *of, measurement *taken, ee_error *error)
{
    size_t count = 1, first = 0;
    while (measure_more(taken, of->seconds)) {
        stretch start = measure_start();
        ee_status status = decide_and_forget(bandit, of->rounds, first, count, error);
        if (status) return status;
        first += count;
        if (measure_since(start).wall < SHORTEST && 2 * count <= of->pending)
            count *= 2; /* the measurement is not taken */
        else
            measure_add(taken, start, (double)count);
    }
    return EE_OK;
}

static ee_status measure_learn(ee_bandit *bandit, const call_request *of, ee_decision *decisions, measurement *taken,
                               ee_error *error)
{
    size_t count = FEWEST, first = 0;
    while (measure_more(taken, of->seconds)) {
        ee_status status = decide_some(bandit, of->rounds, first, count, decisions, error);
        if (status) return status;
        stretch start = measure_start();
        status = learn_some(bandit, of->rounds, first, count, decisions, error);
        if (status) return status;
        first += count;
        if (measure_since(start).wall < SHORTEST && 2 * count <= of->pending)
            count *= 2;
        else
            measure_add(taken, start, (double)count);
    }
    return EE_OK;
}

ee_status calls_measure(const call_request *of, measurement *decide, measurement *learn, ee_error *error)
{
    ee_decision decisions[MOST];
    ee_bandit *bandit;
    const problem_shape *shape = problem_shape_of(of->rounds);
    char options[160];
    snprintf(options, sizeof options, "%s pending=%zu arms=%zu", of->options, of->pending, shape->arms);
    ee_settings settings = {.policy = of->policy, .dim = shape->dim, .seed = 1, .options = options};
    ee_status status = ee_bandit_create(&settings, &bandit, error);
    if (!status && learn) status = learn_before(bandit, of, decisions, error);
    if (!status) status = measure_decide(bandit, of, decide, error);
    if (!status && learn) status = measure_learn(bandit, of, decisions, learn, error);
    ee_bandit_free(bandit);
    return status;
}
