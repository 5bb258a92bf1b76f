/* The range of rewards that a user states: options rewards and outside, and how limited rewards are counted. */
#include "engine/rounds.h"

static round_arms round_now;

static void assert_not_made(const char *options, const char *sentence)
{
    ee_settings settings = {.policy = "linucb", .dim = 4, .options = options};
    ee_bandit *bandit = NULL;
    fails_with(ee_bandit_create(&settings, &bandit, &last_error), EE_BAD_OPTION, sentence);
    assert_null(bandit);
}

TEST(a_range_must_be_one)
{
    static const char *const wrong[] = {"1", "1:0", "0:1e10", "0:1x"};
    for (size_t i = 0; i < 4; i++) {
        char option[32], sentence[160];
        snprintf(option, sizeof option, "rewards=%s", wrong[i]);
        snprintf(sentence, sizeof sentence,
                 "options: rewards must be none or LOW:HIGH with LOW below HIGH, both -1e9 to 1e9, got '%s'", wrong[i]);
        assert_not_made(option, sentence);
    }
    assert_not_made("rewards=0:1 default_reward=2", "options: default_reward must be within rewards=0:1, got 2");
    assert_not_made("outside=clip", "options: linucb.outside needs rewards!=none, but it is none");
}

TEST(what_is_outside_is_refused_or_clipped)
{
    const char *const policies[] = {"eenet", "linucb", "ucb1", "kernelucb", "uniform"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        auto_bandit *bandit = bandit_make(policies[i], 4, 1, "rewards=-0.5:1 default_reward=-0.5");
        round_draw(&round_now, 1, 3, 4, 3);
        uint64_t id = bandit_choose(bandit, &round_now.dense, NULL).id;
        auto_model before = model_save(bandit);
        refuses(ee_bandit_learn(bandit, id, 1.5, &last_error),
                "learn: the reward must be -0.5 to 1 (option rewards), got 1.5");
        assert_int_equal(ee_bandit_learn(bandit, id, NAN, &last_error), EE_BAD_INPUT);
        assert_int_equal(ee_bandit_learn_from(bandit, &round_now.dense, 0, -1, &last_error), EE_BAD_INPUT);
        assert_true(model_is_of(before, bandit));
        bandit_reward(bandit, id, 1);
        assert_int_equal(ee_bandit_info(bandit).limited, 0);
    }
    /* A clipped reward is learned as the end of the range would be, and counted. */
    const char *const learners[] = {"eenet", "linucb", "ucb1"};
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        auto_bandit *clipped = bandit_make(learners[i], 4, 1, "rewards=0:1 outside=clip");
        auto_bandit *plain = bandit_make(learners[i], 4, 1, "rewards=0:1 outside=clip");
        for (uint64_t t = 1; t <= 20; t++) {
            ee_score own[3], its[3];
            round_draw(&round_now, t, 3, 4, 3);
            ee_decision a = bandit_choose(clipped, &round_now.dense, own);
            ee_decision b = bandit_choose(plain, &round_now.dense, its);
            assert_memory_equal(own, its, sizeof own);
            bandit_reward(clipped, a.id, t % 2 ? 1e9 : -3);
            bandit_reward(plain, b.id, t % 2 ? 1 : 0);
        }
        assert_int_equal(ee_bandit_info(clipped).limited, 20);
        assert_int_equal(ee_bandit_info(plain).limited, 0);
        clipped = bandit_reload(clipped);
        assert_int_equal(ee_bandit_info(clipped).limited, 20);
    }
}

/* Without a range, outliers are limited and counted where rewards are standardised; as the papers have it they are not.
 */
TEST(outliers_are_counted)
{
    const struct {
        const char *name, *options;
        uint64_t limited;
    } cases[] = {
        {"greedy", "", 1}, {"linucb", "", 1}, {"greedy", "standardize=off", 0}, {"greedy", "rewards=0:5000", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_bandit *bandit = bandit_make(cases[i].name, 4, 1, cases[i].options);
        bandit_play(bandit, 1, 100, 3, false);
        for (uint64_t t = 101; t <= 102; t++) {
            round_draw(&round_now, t, 3, 4, 3);
            bandit_reward(bandit, bandit_choose(bandit, &round_now.dense, NULL).id, 1000);
        }
        assert_int_equal(ee_bandit_info(bandit).limited, cases[i].limited);
        bandit = bandit_reload(bandit);
        assert_int_equal(ee_bandit_info(bandit).limited, cases[i].limited);
    }
}
