#include "bench/studies/limits_study.h"

#include <math.h>

#include "support.h"

static void play(const limits_plan *plan, limits_day *days)
{
    ok(limits_play(plan, days, &last_error));
}

/* Reward as part of the optimum, days 2 to 5. */
static double ratio_of(const limits_plan *plan)
{
    limits_day days[LIMITS_DAYS];
    double reward = 0, optimum = 0;
    play(plan, days);
    for (size_t d = 0; d < LIMITS_DAYS; d++) {
        assert_true(days[d].used <= 1 + 1e-9);
        assert_true(days[d].optimum <= days[d].free + 1e-9 * days[d].free);
        if (!d) continue;
        reward += days[d].reward;
        optimum += days[d].optimum;
        if (plan->pace == LIMITS_EVEN) assert_true(days[d].used > 0.95);
        if (plan->pace == LIMITS_EVEN) assert_in_range((int)(100 * days[d].half), 35, 65);
    }
    return reward / optimum;
}

/* With the true means as scores the price alone loses 2% at most; first come, first served loses more. */
TEST(an_even_pace_is_near_the_optimum)
{
    for (uint64_t i = 0; i < 8; i += test_long(5, 1)) {
        limits_plan plan = {.seed = i / 4,
                            .per_day = 2000,
                            .scale = i & 1 ? 1000 : 1,
                            .waves = i & 2,
                            .knows = true,
                            .epsilon = 0.01,
                            .pace = LIMITS_EVEN};
        double even = ratio_of(&plan);
        plan.pace = LIMITS_FIRST;
        assert_true(even > 0.98);
        assert_true(ratio_of(&plan) < even - 0.05);
    }
}

TEST(a_bandit_that_learns_comes_within_five_percent)
{
    double mean = 0;
    const uint64_t seeds = test_long(1, 2);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        limits_plan plan = {
            .seed = seed, .per_day = 2000, .scale = 1, .waves = true, .epsilon = 0.02, .pace = LIMITS_EVEN};
        mean += ratio_of(&plan) / (double)seeds;
    }
    assert_true(mean > (seeds > 1 ? 0.95 : 0.94));
}

/* The share of every window of a day is at least the bound less 0.02, and over the window it costs less than in every
 * decision. */
TEST(a_share_over_a_window_holds)
{
    for (uint64_t seed = 0; seed < test_long(1, 3); seed++) {
        limits_plan plan = {.seed = seed, .per_day = 2000, .scale = 1, .waves = true, .knows = true, .low = 0.4};
        limits_day each[LIMITS_DAYS], window[LIMITS_DAYS];
        play(&plan, each);
        plan.window = true;
        play(&plan, window);
        for (size_t d = 1; d < LIMITS_DAYS; d++) {
            assert_true(each[d].least > 0.4 - 1e-9);
            assert_true(window[d].least > 0.38);
            assert_true(window[d].reward >= each[d].reward * 0.999);
            assert_true(window[d].reward <= window[d].optimum * 1.02);
        }
    }
}

TEST(caps_hold_under_bursts_and_restarts)
{
    static const uint64_t mosts[] = {1, 40, 1100};
    for (size_t i = 0; i < 3; i++) {
        limits_caps found;
        ok(limits_burst(i, test_long(4000, 10000), mosts[i], &found, NULL));
        assert_true(found.all <= 1 && found.person <= 1);
        assert_true(found.all > 0.95); /* and they are used */
        assert_true(found.restarts > 2);
    }
}
