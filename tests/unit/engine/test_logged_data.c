/* Decisions that somebody else made, decisions that are forgotten, and the probabilities of all arms. */
#include "every_policy.h"

#include <math.h>

#include "learned.h"

enum { DIM = 8, ARMS = 5 };

static round_arms round_now;

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number, 1 + number % ARMS, DIM, 4);
    return number % 2 ? &round_now.sparse : &round_now.dense;
}

/* ---- logs ---- */

/* A bandit that decides and learns, and its twin that is told of the same decisions as of another's. */
TEST(a_log_teaches_what_deciding_does)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options), *twin = bandit_make(c.name, DIM, 3, c.options);
        decision_streams before = twin->room->streams;
        for (uint64_t t = 1; t <= 40; t++) {
            const ee_arms *arms = arms_of_round(t);
            ee_decision decision = bandit_choose(bandit, arms, NULL);
            double reward = round_reward(&round_now, decision.arm);
            bandit_reward(bandit, decision.id, reward);
            ok(ee_bandit_learn_from(twin, arms, decision.arm, reward, NULL));
            if (!learned_the_same(bandit, twin)) fail_msg("%s %s: round %d", c.name, c.options, (int)t);
        }
        assert_memory_equal(&before, &twin->room->streams, sizeof before); /* nothing was drawn */
        assert_int_equal(ee_bandit_info(twin).decisions, 0);
        assert_int_equal(ee_bandit_info(twin).rewards, 40);
        assert_int_equal(ee_bandit_info(twin).pending, 0);
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
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
    ee_bandit *bandit = bandit_make("eenet", DIM, 3, "f1.width=6");
    ee_error error = {EE_OK, ""};
    round_draw(&round_now, 1, ARMS, DIM, 4);
    model before = model_save(bandit);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_status status = ee_bandit_learn_from(bandit, &round_now.dense, cases[i].arm, cases[i].reward, &error);
        assert_int_equal(status, EE_BAD_INPUT);
        assert_string_equal(error.message, cases[i].sentence);
        assert_true(model_is_of(before, bandit)); /* the length of the arms too is unknown still */
    }
    assert_int_equal(ee_bandit_learn_from(NULL, &round_now.dense, 0, 1, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_learn_from(bandit, NULL, 0, 1, NULL), EE_BAD_INPUT);
    round_now.values[3] = NAN;
    assert_int_equal(ee_bandit_learn_from(bandit, &round_now.dense, 0, 1, NULL), EE_BAD_INPUT);
    assert_true(model_is_of(before, bandit));
    model_free(&before);
    ee_bandit_free(bandit);
}

/* ---- forgetting ---- */

static void assert_gone(ee_bandit *bandit, uint64_t id, ee_status expected, const char *sentence)
{
    ee_error error = {EE_OK, ""};
    model before = model_save(bandit);
    assert_int_equal(ee_bandit_learn(bandit, id, 1, &error), expected);
    assert_memory_equal(error.message, "learn: ", 7);
    assert_string_equal(error.message + 7, sentence);
    assert_int_equal(ee_bandit_forget(bandit, id, &error), expected);
    assert_memory_equal(error.message, "forget: ", 8);
    assert_string_equal(error.message + 8, sentence);
    assert_true(model_is_of(before, bandit));
    model_free(&before);
}

TEST(a_forgotten_decision_waits_no_longer)
{
    ee_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6 pending=4");
    for (uint64_t t = 1; t <= 3; t++) bandit_choose(bandit, arms_of_round(t), NULL);
    assert_int_equal(ee_bandit_info(bandit).pending, 3);
    ok(ee_bandit_forget(bandit, 2, NULL));
    assert_int_equal(ee_bandit_info(bandit).pending, 2);
    assert_gone(bandit, 2, EE_EXPIRED_DECISION, "decision 2 was forgotten");
    assert_gone(bandit, 4, EE_UNKNOWN_DECISION, "there is no decision 4; the last one is 3");
    model saved = model_save(bandit);
    ee_bandit_free(bandit);
    bandit = model_load(saved);
    assert_true(model_is_of(saved, bandit));
    model_free(&saved);
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
    ee_bandit_free(bandit);
}

/* ---- probabilities ---- */

TEST(all_probabilities_are_those_of_the_draw)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        bool tells = !bandit->policy->class->draws || bandit->rules.probability_draws;
        for (uint64_t t = 1; t <= 20; t++) {
            double probabilities[ARMS], sum = 0;
            ee_decision decision;
            const ee_arms *arms = arms_of_round(t);
            ok(ee_bandit_decide(bandit, arms, &decision, NULL, probabilities, NULL));
            assert_memory_equal(&decision.probability, &probabilities[decision.arm], sizeof(double));
            assert_true(isnan(decision.probability) != tells);
            for (size_t arm = 0; arm < arms->count; arm++) {
                assert_true(isnan(probabilities[arm]) != tells);
                assert_true(!tells || (probabilities[arm] >= 0 && probabilities[arm] <= 1));
                sum += probabilities[arm];
            }
            assert_true(!tells || fabs(sum - 1) < 1e-12);
            bandit_reward(bandit, decision.id, round_reward(&round_now, decision.arm));
        }
        ee_bandit_free(bandit);
    }
}

/* What would be drawn is told beforehand, and telling it changes nothing. */
TEST(probabilities_without_a_decision_are_those_of_one)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        for (uint64_t t = 1; t <= 40; t++) {
            const ee_arms *arms = arms_of_round(t);
            double reported[ARMS], drawn[ARMS];
            ee_decision decision;
            model before = model_save(bandit);
            ok(ee_bandit_probabilities(bandit, arms, reported, NULL));
            assert_true(model_is_of(before, bandit));
            model_free(&before);
            ok(ee_bandit_decide(bandit, arms, &decision, NULL, drawn, NULL));
            assert_memory_equal(reported, drawn, arms->count * sizeof *reported);
            bandit_reward(bandit, decision.id, round_reward(&round_now, decision.arm));
        }
        ee_bandit_free(bandit);
    }
}

/* The share in which arms are drawn is what was said of them. */
TEST(arms_are_drawn_as_often_as_was_said)
{
    static const policy_case drawing[] = {
        {"greedy", "f1.width=4 propensity=softmax propensity_temperature=0.3 pending=1"},
        {"neural-ts", "f1.width=4 probability_draws=4000 nu=0.3 pending=1"}};
    enum { DRAWN = 4000 };
    for (size_t p = 0; p < 2; p++) {
        ee_bandit *bandit = bandit_make(drawing[p].name, DIM, 3, drawing[p].options);
        double said[4], share[4] = {0};
        round_draw(&round_now, 8, 4, DIM, DIM);
        ee_decision decision;
        ok(ee_bandit_decide(bandit, &round_now.dense, &decision, NULL, said, NULL));
        bandit->rules.probability_draws = 0; /* it has told enough */
        for (int i = 0; i < DRAWN; i++) share[bandit_choose(bandit, &round_now.dense, NULL).arm] += 1.0 / DRAWN;
        for (size_t arm = 0; arm < 4; arm++) assert_float_equal(share[arm], said[arm], 0.04);
        assert_true(share[decision.arm] < 0.9);
        ee_bandit_free(bandit);
    }
}
