/* The probabilities of policies that draw their scores, which more draws estimate: each decision by draws of its own.
 */
#include "every_policy.h"

enum { DIM = 4, ARMS = 2, DRAWS = 24, DECISIONS = 60 };

static const policy_case thompson[] = {
    {"lints", "probability_draws=24 pending=1000 nu=1"},
    {"kernelts", "probability_draws=24 pending=1000 max_contexts=20 nu=1"},
    {"neural-ts", "probability_draws=24 pending=1000 f1.width=6 nu=3 lambda=0.1"},
    {"neural-linear", "probability_draws=24 pending=1000 f1.width=6 nu=1"},
    {"thompson", "probability_draws=24 pending=1000"},
};
enum { POLICIES = sizeof thompson / sizeof *thompson };

/* A few rewards, which differ: before that, policies with an f1 have nothing to draw around. */
static void teach(ee_bandit *bandit)
{
    static round_arms round;
    for (uint64_t t = 1; t <= 4; t++) {
        round_draw(&round, t, ARMS, DIM, DIM);
        ok(ee_bandit_learn_from(bandit, &round.dense, t % ARMS, (double)(t % 2), NULL));
    }
}

static ee_bandit *make(size_t policy, uint64_t seed)
{
    ee_bandit *bandit = bandit_make(thompson[policy].name, DIM, seed, thompson[policy].options);
    teach(bandit);
    return bandit;
}

/* A decision that is forgotten at once: it does not wait, so nothing changes. */
static ee_decision decide_in_vain(ee_bandit *bandit, const ee_arms *arms)
{
    ee_decision decision = bandit_choose(bandit, arms, NULL);
    ok(ee_bandit_forget(bandit, decision.id, NULL));
    return decision;
}

/* Nothing has changed from one decision to the next, so nothing but the draws can make the estimates differ. They
 * differ as far as independent draws do: wins of DRAWS that are binomial have the variance DRAWS p (1 - p). */
TEST(two_decisions_are_not_estimated_by_the_same_draws)
{
    static round_arms round;
    round_draw(&round, 9, ARMS, DIM, DIM);
    for (size_t policy = 0; policy < POLICIES; policy++) {
        auto_bandit *bandit = make(policy, 1);
        double sum = 0, square = 0, count = 0;
        for (int i = 0; i < 10 * DECISIONS; i++) {
            ee_decision decision = decide_in_vain(bandit, &round.dense);
            double wins = decision.probability * (DRAWS + 1) - 1; /* the draw that decided counts as one */
            if (decision.arm) wins = DRAWS - wins;                /* of arm 0 */
            sum += wins;
            square += wins * wins;
            count++;
        }
        double p = sum / count / DRAWS, variance = square / count - (sum / count) * (sum / count);
        double expected = DRAWS * p * (1 - p);
        if (!(p > 0.05 && p < 0.95)) fail_msg("%s: %g", thompson[policy].name, p);
        assert_true(variance > 0.75 * expected && variance < 1.25 * expected); /* 4 deviations, of 600 decisions */
    }
}

/* The estimates take nothing from the draws that decide. */
TEST(estimates_do_not_change_what_is_decided)
{
    static round_arms round;
    round_draw(&round, 9, ARMS, DIM, DIM);
    for (size_t policy = 0; policy < POLICIES; policy++) {
        char options[128];
        snprintf(options, sizeof options, "%s probability_draws=0", thompson[policy].options);
        auto_bandit *reporting = make(policy, 2), *silent = bandit_make(thompson[policy].name, DIM, 2, options);
        teach(silent);
        for (int i = 0; i < DECISIONS; i++) {
            ee_decision reported = bandit_choose(reporting, &round.dense, NULL);
            ee_decision unreported = bandit_choose(silent, &round.dense, NULL);
            assert_int_equal(reported.arm, unreported.arm);
            assert_true(reported.probability > 0 && isnan(unreported.probability));
        }
    }
}
