/* Decisions that somebody else made, decisions that are forgotten, and the probabilities of all arms. */
#include "every_policy.h"

#include "learned.h"

enum { DIM = 8, ARMS = 5 };

static round_arms round_now;

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number, 1 + number % ARMS, DIM, 4);
    return number % 2 ? &round_now.sparse : &round_now.dense;
}

/* A bandit that decides and learns, and its twin that is told of the same decisions as of another's. */
TEST(a_log_teaches_what_deciding_does)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options),
                    *twin = bandit_make(c->name, DIM, 3, c->options);
        decision_streams before = twin->room->streams;
        for (uint64_t t = 1; t <= 40; t++) {
            const ee_arms *arms = arms_of_round(t);
            ee_decision decision = bandit_choose(bandit, arms, NULL);
            double reward = round_reward(&round_now, decision.arm);
            bandit_reward(bandit, decision.id, reward);
            ok(ee_bandit_learn_from(twin, arms, decision.arm, reward, NULL));
            if (!learned_the_same(bandit, twin)) fail_msg("%s %s: round %d", c->name, c->options, (int)t);
        }
        assert_memory_equal(&before, &twin->room->streams, sizeof before); /* nothing was drawn */
        assert_int_equal(ee_bandit_info(twin).decisions, 0);
        assert_int_equal(ee_bandit_info(twin).rewards, 40);
        assert_int_equal(ee_bandit_info(twin).pending, 0);
    }
}

TEST(a_wrong_log_changes_nothing)
{
    static const struct {
        size_t arm;
        double reward;
        const char *sentence;
    } cases[] = {
        {5, 1, "learn: arm 5 was chosen, but the round has 5 arms"},
        {0, NAN, "learn: the reward must be -1e9 to 1e9, got nan"},
        {0, 2e9, "learn: the reward must be -1e9 to 1e9, got 2e+09"},
    };
    auto_bandit *bandit = bandit_make("eenet", DIM, 3, "f1.width=6");
    round_draw(&round_now, 1, ARMS, DIM, 4);
    auto_model before = model_save(bandit);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuses(ee_bandit_learn_from(bandit, &round_now.dense, cases[i].arm, cases[i].reward, &last_error),
                cases[i].sentence);
        assert_true(model_is_of(before, bandit)); /* the length of the arms too is unknown still */
    }
    assert_int_equal(ee_bandit_learn_from(NULL, &round_now.dense, 0, 1, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_learn_from(bandit, NULL, 0, 1, NULL), EE_BAD_INPUT);
    round_now.values[3] = NAN;
    assert_int_equal(ee_bandit_learn_from(bandit, &round_now.dense, 0, 1, NULL), EE_BAD_INPUT);
    assert_true(model_is_of(before, bandit));
}

static void assert_gone(ee_bandit *bandit, uint64_t id, ee_status expected, const char *sentence)
{
    char of_learning[200], of_forgetting[200];
    auto_model before = model_save(bandit);
    snprintf(of_learning, sizeof of_learning, "learn: %s", sentence);
    snprintf(of_forgetting, sizeof of_forgetting, "forget: %s", sentence);
    fails_with(ee_bandit_learn(bandit, id, 1, &last_error), expected, of_learning);
    fails_with(ee_bandit_forget(bandit, id, &last_error), expected, of_forgetting);
    assert_true(model_is_of(before, bandit));
}

TEST(a_forgotten_decision_waits_no_longer)
{
    auto_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6 pending=4");
    for (uint64_t t = 1; t <= 3; t++) bandit_choose(bandit, arms_of_round(t), NULL);
    assert_int_equal(ee_bandit_info(bandit).pending, 3);
    ok(ee_bandit_forget(bandit, 2, NULL));
    assert_int_equal(ee_bandit_info(bandit).pending, 2);
    assert_gone(bandit, 2, EE_EXPIRED_DECISION, "decision 2 was forgotten");
    assert_gone(bandit, 4, EE_UNKNOWN_DECISION, "there is no decision 4; the last one is 3");
    bandit = bandit_reload(bandit);
    assert_gone(bandit, 2, EE_EXPIRED_DECISION, "decision 2 was forgotten");
    bandit_reward(bandit, 3, 1);
    assert_gone(bandit, 3, EE_REWARDED_DECISION, "decision 3 already has its reward");
    assert_int_equal(ee_bandit_info(bandit).pending, 1);
    for (uint64_t t = 4; t <= 9; t++) bandit_choose(bandit, arms_of_round(t), NULL);
    assert_int_equal(ee_bandit_info(bandit).pending, 4); /* no more are kept */
    assert_gone(bandit, 2, EE_EXPIRED_DECISION,
                "decision 2 is no longer kept: 7 decisions followed it, and option pending is 4; if it had no reward, "
                "it was forgotten");
    assert_int_equal(ee_bandit_info(bandit).rewards, 1);
    assert_int_equal(ee_bandit_forget(NULL, 1, NULL), EE_BAD_INPUT);
}

/* What would be drawn is told beforehand, and telling it or the scores changes nothing; a policy that draws its scores
 * tells it only by further draws. */
TEST(probabilities_without_a_decision_are_those_of_one)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        bool tells = !bandit->policy->class->draws || bandit->rules.probability_draws;
        for (uint64_t t = 1; t <= 20; t++) {
            const ee_arms *arms = arms_of_round(t);
            double reported[ARMS], drawn[ARMS], sum = 0;
            ee_score scores[ARMS];
            ee_decision decision;
            auto_model before = model_save(bandit);
            ok(ee_bandit_score(bandit, arms, scores, NULL));
            ok(ee_bandit_probabilities(bandit, arms, reported, NULL));
            assert_true(model_is_of(before, bandit));
            ok(ee_bandit_decide(bandit, arms, &decision, NULL, drawn, NULL));
            assert_memory_equal(reported, drawn, arms->count * sizeof *reported);
            assert_memory_equal(&decision.probability, &drawn[decision.arm], sizeof(double));
            for (size_t arm = 0; arm < arms->count; arm++) {
                assert_true(tells ? drawn[arm] >= 0 && drawn[arm] <= 1 : isnan(drawn[arm]));
                sum += drawn[arm];
            }
            assert_true(!tells || fabs(sum - 1) < 1e-12);
            bandit_reward(bandit, decision.id, round_reward(&round_now, decision.arm));
        }
    }
}
