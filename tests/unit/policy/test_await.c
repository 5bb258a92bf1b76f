/* What policies make of decisions that wait: an arm that was just played is less unknown, and in the end, when all
 * rewards have come, it does not matter that they came late. */
#include "neural_play.h"

#include "math/ridge.h"

enum { DIM = 8, ARMS = 5 };

static round_arms round_now;

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number, ARMS, DIM, DIM);
    return &round_now.dense;
}

static double reward_of(uint64_t number, size_t arm)
{
    return (double)((number * 5 + arm * 3) % 7) / 4 - 0.5;
}

/* Rewards that come at once, of arms that the test chooses. */
static void teach(ee_bandit *bandit, uint64_t first, uint64_t count)
{
    for (uint64_t t = first; t < first + count; t++) {
        size_t arm = (size_t)(t % ARMS);
        const ee_arms *arms = arms_of_round(t);
        ok(ee_bandit_learn_from(bandit, arms, arm, reward_of(t, arm), NULL));
    }
}

/* The same round twice, the first decision of it without its reward. What is expected of its arm without exploration
 * has not changed. */
static void check_less_unknown(const char *name, const char *options, uint64_t taught)
{
    auto_bandit *bandit = bandit_make(name, DIM, 3, options);
    teach(bandit, 1, taught);
    for (uint64_t t = 100; t < 108; t++) {
        ee_score before[ARMS], after[ARMS];
        ee_decision first = bandit_choose(bandit, arms_of_round(t), before);
        ee_decision second = bandit_choose(bandit, arms_of_round(t), after);
        size_t arm = first.arm;
        if (!(after[arm].exploration < before[arm].exploration))
            fail_msg("%s %s, round %d: exploration %g, then %g", name, options, (int)t, before[arm].exploration,
                     after[arm].exploration);
        assert_close(after[arm].exploitation, before[arm].exploitation, 1e-5);
        bandit_reward(bandit, first.id, reward_of(t, arm));
        bandit_reward(bandit, second.id, reward_of(t, second.arm));
    }
}

TEST(an_arm_that_waits_is_less_unknown)
{
    check_less_unknown("linucb", "", 30);
    check_less_unknown("ucb1", "", 30);
    check_less_unknown("neural-ucb", "f1.width=8", 30);
    check_less_unknown("neural-ucb", "f1.width=4 covariance=full", 30);
    check_less_unknown("neural-linucb", "f1.width=8", 30);
    check_less_unknown("neural-linucb", "f1.width=8 rebuild=7", 30);
    /* Its prior gain is soon spent; and a sketch says how unsure it is on average alone. */
    check_less_unknown("eenet", "f1.width=64", 2);
    check_less_unknown("eenet", "f1.width=64 recent_units=0", 2);
}

/* Where f1 stays as it is, a policy that learned late has learned what one has that learned at once, in the order in
 * which decisions were made. */
static void check_same_in_the_end(const char *name, const char *options, double tolerance)
{
    enum { GROUPS = 6, GROUP = 5 };
    auto_bandit *late = bandit_make(name, DIM, 3, options), *at_once = bandit_make(name, DIM, 3, options);
    teach(late, 1, 2);
    teach(at_once, 1, 2);
    for (uint64_t g = 0; g < GROUPS; g++) {
        ee_decision made[GROUP];
        ee_score own[ARMS], its[ARMS];
        for (uint64_t k = 0; k < GROUP; k++) made[k] = bandit_choose(late, arms_of_round(10 * g + k), NULL);
        for (uint64_t k = 0; k < GROUP; k++) {
            double reward = reward_of(g, made[k].arm);
            bandit_reward(late, made[k].id, reward);
            const ee_arms *arms = arms_of_round(10 * g + k);
            ok(ee_bandit_learn_from(at_once, arms, made[k].arm, reward, NULL));
        }
        arms_of_round(1000 + g);
        ok(ee_bandit_score(late, &round_now.dense, own, NULL));
        ok(ee_bandit_score(at_once, &round_now.dense, its, NULL));
        for (size_t i = 0; i < ARMS; i++) {
            assert_close(own[i].exploitation, its[i].exploitation, tolerance);
            assert_close(own[i].exploration, its[i].exploration, tolerance);
        }
    }
}

TEST(late_rewards_are_the_same_in_the_end)
{
    const char *still = "f1.width=8 f1.rate=0 f1.decay=0 f1.average=0 recall=0";
    char options[160];
    check_same_in_the_end("linucb", "", 1e-6);
    check_same_in_the_end("ucb1", "", 1e-6);
    check_same_in_the_end("linucb", "refresh=3", 1e-6);
    check_same_in_the_end("neural-ucb", still, 1e-5);
    check_same_in_the_end("neural-linucb", still, 1e-5);
    snprintf(options, sizeof options, "%s rebuild=4", still); /* which comes while some wait */
    check_same_in_the_end("neural-linucb", options, 1e-5);
    /* Its gains are by f1 at the decision, which has the units and the weights of that time. */
    snprintf(options, sizeof options, "%s recent_units=0 standardize=off f1.committee=1", still);
    check_same_in_the_end("eenet", options, 1e-5);
}
