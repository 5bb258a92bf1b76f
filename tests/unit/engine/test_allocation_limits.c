/* Allocation of limits: none once there was a round of the size, and any one may fail: a status, and nothing has
 * changed. */
#include "rounds.h"

#include "counted_memory.h"

enum { DIM = 6, ARMS = 5 };

static round_arms round_now;
static const float boosts[ARMS] = {0, 1, 0, 0, 2};
static const uint32_t groups[ARMS] = {0, 1, 1, 0, EE_NO_GROUP};
static const double low[2] = {0.2, 0.3}, high[2] = {0.5, 0.5};
static const ee_limits limits = {boosts, groups, low, high, 2};

static ee_bandit *make(const char *policy, const char *options)
{
    ee_bandit *bandit = bandit_make(policy, DIM, 2, options);
    bandit_play(bandit, 1, 6, ARMS, false);
    round_draw(&round_now, 9, ARMS, DIM, DIM);
    round_now.dense.limits = &limits;
    return bandit;
}

/* Each failure meets a bandit that has had no limits yet; when memory is there again, it decides as if it had not
 * failed. Later rounds allocate nothing. */
TEST(the_first_round_with_limits_may_fail_anywhere)
{
    static const char *const policies[][2] = {{"linucb", "propensity=softmax"},
                                              {"lints", "probability_draws=3"},
                                              {"neural-ensemble", "f1.width=6 decision=thompson"}};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        size_t held = live, failures = 0;
        for (bool failed = true; failed;) {
            auto_bandit *bandit = make(policies[p][0], policies[p][1]), *other = make(policies[p][0], policies[p][1]);
            ee_decision expected = bandit_choose(other, &round_now.dense, NULL), decision;
            memory_fail(failures + 1);
            failed = memory_failed(ee_bandit_decide(bandit, &round_now.dense, &decision, NULL, NULL, &last_error));
            if (failed) ok(ee_bandit_decide(bandit, &round_now.dense, &decision, NULL, NULL, NULL));
            assert_memory_equal(&decision, &expected, sizeof decision);
            failures += failed;
            bandit_reward(bandit, decision.id, 1);
            size_t before = calls;
            for (int i = 0; i < 20; i++) {
                double probabilities[ARMS];
                decision = bandit_choose(bandit, &round_now.dense, NULL);
                ok(ee_bandit_probabilities(bandit, &round_now.dense, probabilities, NULL));
                bandit_reward(bandit, decision.id, 1);
            }
            assert_int_equal(calls, before);
        }
        assert_int_equal(failures, 2);
        assert_int_equal(live, held);
    }
}
