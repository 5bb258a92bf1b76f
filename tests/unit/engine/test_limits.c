/* Limits on the draw: boosts and shares, for every way to decide and every policy. test_shares.c has the mathematics.
 */
#include "every_policy.h"

#include "engine/shares.h"
#include "named_play.h"

enum { DIM = 8, ARMS = 6, GROUPS = 2, ROUNDS = 5 };

static round_arms rounds[ROUNDS];

/* Arms 0 and 3 are in group 0, arms 1 and 5 in group 1, the others in none. */
static const uint32_t groups[ARMS] = {0, 1, EE_NO_GROUP, 0, 7, 1};
static const double lows[GROUPS] = {0.3, 0.1}, highs[GROUPS] = {0.6, 0.25};
static const float boosts[ARMS] = {0.5f, 0, -0.25f, 0, 3, 0.125f};
static const ee_limits shares = {.groups = groups, .low = lows, .high = highs, .group_count = GROUPS};
static const ee_limits boosted = {.boosts = boosts};
static const ee_limits both = {boosts, groups, lows, highs, GROUPS};

static ee_arms limited(size_t round, const ee_limits *limits)
{
    round_draw(&rounds[round], 100 + round, ARMS, DIM, DIM);
    ee_arms arms = rounds[round].dense;
    arms.limits = limits;
    return arms;
}

/* A bandit that has learned a little. A policy that draws its scores estimates their probabilities. */
static ee_bandit *make(const policy_case *c, uint64_t seed)
{
    ee_bandit *bandit = bandit_make(c->name, DIM, seed, c->options);
    bandit_play(bandit, 1, 12, ARMS, false);
    return bandit;
}

static double mass(const double *probabilities, uint32_t group)
{
    double sum = 0;
    for (size_t i = 0; i < ARMS; i++)
        if (groups[i] == group) sum += probabilities[i];
    return sum;
}

static void assert_within(const double *probabilities)
{
    for (uint32_t g = 0; g < GROUPS; g++)
        assert_true(mass(probabilities, g) >= lows[g] - 1e-12 && mass(probabilities, g) <= highs[g] + 1e-12);
}

static void assert_refused(ee_bandit *bandit, const ee_limits *limits, const char *sentence)
{
    ee_arms arms = limited(0, limits);
    ee_decision decision;
    double probabilities[ARMS];
    auto_model before = model_save(bandit);
    refuses(ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &last_error), sentence);
    assert_int_equal(ee_bandit_probabilities(bandit, &arms, probabilities, NULL), EE_BAD_INPUT);
    assert_true(model_is_of(before, bandit));
}

/* ---- every policy ---- */

/* Limits that never bind, and boosts of 0, change no bit of any decision. */
TEST(limits_that_do_not_bind_change_nothing)
{
    static const double none[GROUPS] = {0}, all[GROUPS] = {1, 1};
    static const float zeros[ARMS] = {0};
    const ee_limits loose = {zeros, groups, none, all, GROUPS};
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *plain = make(c, 3), *other = make(c, 3);
        ee_arms arms = limited(0, NULL), same = limited(0, &loose);
        double expected[ARMS], got[ARMS];
        ee_decision first, second;
        /* Without estimates there are no probabilities to limit; with them, the draw is from the estimates. */
        ok(ee_bandit_decide(plain, &arms, &first, NULL, expected, NULL));
        if (isnan(first.probability)) {
            assert_refused(other, &loose,
                           "limits: shares need probabilities, which this policy estimates only with option "
                           "probability_draws: set it, for example to 100");
        } else if (!strstr(c->options, "probability_draws")) {
            ok(ee_bandit_decide(other, &same, &second, NULL, got, NULL));
            assert_memory_equal(got, expected, sizeof got);
            assert_memory_equal(&second, &first, sizeof first);
            assert_true(bandits_equal(plain, other));
        }
    }
}

/* A decision that boosts did not change is learned as without them. */
TEST(boosts_reach_scores_and_draw_but_not_what_is_stored)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *plain = make(c, 3), *other = make(c, 3);
        ee_arms arms = limited(0, NULL);
        ee_score without[ARMS], with[ARMS];
        float favours[ARMS] = {0};
        ee_decision decision = bandit_choose(plain, &arms, without);
        favours[decision.arm] = 1e6f; /* so that it is chosen again */
        ee_limits limits = {.boosts = favours};
        arms.limits = &limits;
        ee_decision again = bandit_choose(other, &arms, with);
        assert_int_equal(again.arm, decision.arm);
        for (size_t i = 0; i < ARMS; i++) {
            assert_true(with[i].exploitation == without[i].exploitation);
            assert_true(with[i].exploration == without[i].exploration);
            assert_true(with[i].score == without[i].score + favours[i]);
        }
        bandit_reward(plain, decision.id, 1);
        bandit_reward(other, again.id, 1);
        arms.limits = NULL;
        ok(ee_bandit_score(plain, &arms, without, NULL));
        ok(ee_bandit_score(other, &arms, with, NULL));
        assert_memory_equal(with, without, sizeof with);
    }
}

/* Probabilities are those of the boosted scores. An arm far ahead has probability 1 under every rule that has no floor.
 */
TEST(a_boosted_arm_gets_the_probability_of_its_score)
{
    static const char *const policies[][2] = {{"eenet", "f1.width=6 f1.deep_width=12"},
                                              {"lints", "probability_draws=20"},
                                              {"neural-ts", "f1.width=6 probability_draws=20"},
                                              {"neural-ensemble", "f1.width=6 members=4 decision=thompson"},
                                              {"linucb", "propensity=softmax"}};
    for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
        auto_bandit *bandit = make(&(policy_case){policies[k][0], policies[k][1]}, 3);
        for (size_t arm = 0; arm < ARMS; arm++) {
            float favours[ARMS] = {0};
            favours[arm] = 1e6f;
            ee_limits limits = {.boosts = favours};
            ee_arms arms = limited(0, &limits);
            double probabilities[ARMS];
            ok(ee_bandit_probabilities(bandit, &arms, probabilities, NULL));
            for (size_t i = 0; i < ARMS; i++) assert_close(probabilities[i], i == arm, 1e-12);
        }
    }
}

/* The probabilities of a decision are the projected ones of the same decision without shares. */
TEST(shares_project_the_probabilities_of_every_policy)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = make(c, 3);
        ee_arms arms = limited(0, NULL);
        double expected[ARMS], got[ARMS], seen[ARMS];
        group_share room[GROUPS + 1];
        ok(ee_bandit_probabilities(bandit, &arms, expected, NULL));
        if (!isnan(expected[0])) {
            shares_project(&shares, NULL, ARMS, room, expected);
            arms.limits = &shares;
            ok(ee_bandit_probabilities(bandit, &arms, got, NULL));
            assert_memory_equal(got, expected, sizeof got);
            ee_decision decision;
            ok(ee_bandit_decide(bandit, &arms, &decision, NULL, seen, NULL));
            assert_true(decision.probability == seen[decision.arm]);
            assert_within(seen);
        }
    }
}

/* ---- frequencies ---- */

/* The arm is drawn with the probabilities of its decision: over many decisions, the wins of each arm are their sum. */
static void assert_calibrated(const char *policy, const char *options, const ee_limits *limits, size_t decisions)
{
    auto_bandit *bandit = make(&(policy_case){policy, options}, 3);
    ee_arms arms = limited(0, limits);
    double expected[ARMS] = {0}, variance[ARMS] = {0}, wins[ARMS] = {0}, probabilities[ARMS];
    auto_snapshot *snapshot = snapshot_make(bandit);
    auto_scratch *scratch = scratch_make(snapshot, 17);
    for (size_t i = 0; i < decisions; i++) {
        ee_decision decision;
        ok(ee_snapshot_decide(snapshot, scratch, &arms, &decision, NULL, probabilities, NULL));
        if (limits->group_count) assert_within(probabilities);
        wins[decision.arm]++;
        for (size_t arm = 0; arm < ARMS; arm++) {
            expected[arm] += probabilities[arm];
            variance[arm] += probabilities[arm] * (1 - probabilities[arm]);
        }
    }
    for (size_t arm = 0; arm < ARMS; arm++)
        assert_true(fabs(wins[arm] - expected[arm]) <= 4.5 * sqrt(variance[arm]) + 1e-6 * (double)decisions);
}

TEST(arms_are_drawn_with_the_probabilities_of_their_decisions)
{
    const size_t many = test_long(20000, 1000000), some = test_long(2000, 20000);
    assert_calibrated("uniform", "", &shares, many);
    assert_calibrated("linucb", "propensity=softmax", &both, some);
    assert_calibrated("linucb", "propensity=floor", &shares, some);
    assert_calibrated("lints", "nu=3 probability_draws=10", &both, some);
    assert_calibrated("thompson", "probability_draws=10", &shares, some);
}

/* ---- several rounds, exclusions, slots ---- */

TEST(several_rounds_have_their_own_limits)
{
    const ee_limits *each[ROUNDS] = {&shares, NULL, &boosted, &both, NULL};
    policy_case c = {"greedy", "f1.width=6 f1.deep_width=12 propensity=softmax"};
    auto_bandit *one = make(&c, 3), *many = make(&c, 3);
    ee_arms arms[ROUNDS];
    ee_decision expected[ROUNDS], got[ROUNDS];
    ee_score scores[ROUNDS][ARMS], their_scores[ROUNDS][ARMS];
    double probabilities[ROUNDS][ARMS], theirs[ROUNDS][ARMS];
    for (size_t i = 0; i < ROUNDS; i++) {
        arms[i] = limited(i, each[i]);
        ok(ee_bandit_decide(one, &arms[i], &expected[i], scores[i], probabilities[i], NULL));
    }
    ok(ee_bandit_decide_many(many, arms, ROUNDS, NULL, got, *their_scores, *theirs, NULL));
    assert_memory_equal(got, expected, sizeof got);
    assert_memory_equal(their_scores, scores, sizeof scores);
    assert_memory_equal(theirs, probabilities, sizeof theirs);
}

/* As a round of the remaining arms, with the boosts and groups of these. */
TEST(excluded_arms_are_left_out_of_the_shares)
{
    static const uint8_t excluded[ARMS] = {1, 0, 0, 0, 1, 0};
    static const float their_boosts[4] = {0, -0.25f, 0, 0.125f};
    static const uint32_t their_groups[4] = {1, EE_NO_GROUP, 0, 1};
    const ee_limits theirs = {their_boosts, their_groups, lows, highs, GROUPS};
    static const char *const policies[][2] = {{"linucb", "propensity=softmax"}, {"lints", "probability_draws=5"}};
    for (size_t k = 0; k < 2; k++) {
        auto_bandit *all = make(&(policy_case){policies[k][0], policies[k][1]}, 3);
        auto_bandit *few = make(&(policy_case){policies[k][0], policies[k][1]}, 3);
        ee_arms arms = limited(0, &both);
        float values[4 * DIM];
        double probabilities[ARMS], expected[4];
        ee_decision decision, among;
        for (size_t i = 0, next = 0; i < ARMS; i++)
            if (!excluded[i]) memcpy(values + DIM * next++, arms.values + DIM * i, DIM * sizeof *values);
        ee_arms left = ee_arms_dense(values, 4, DIM);
        left.limits = &theirs;
        ok(ee_bandit_decide_many(all, &arms, 1, excluded, &decision, NULL, probabilities, NULL));
        ok(ee_bandit_decide(few, &left, &among, NULL, expected, NULL));
        assert_true(decision.probability == among.probability);
        for (size_t i = 0, next = 0; i < ARMS; i++)
            assert_true(probabilities[i] == (excluded[i] ? 0 : expected[next++]));
    }
}

/* Slots that see the same arms are scored once; boosts must not add up, and each slot has its own limits. */
TEST(slots_have_their_own_limits)
{
    enum { SLOTS = 3 };
    auto_bandit *bandit = make(&(policy_case){"linucb", "propensity=softmax"}, 3);
    ee_arms slots[SLOTS] = {limited(0, &boosted), limited(0, &both), limited(0, NULL)}, plain = limited(0, NULL);
    ee_score scores[SLOTS][ARMS], own[ARMS];
    double probabilities[SLOTS][ARMS];
    ee_decision decisions[SLOTS];
    ok(ee_bandit_score(bandit, &plain, own, NULL));
    ok(ee_bandit_decide_slots(bandit, slots, SLOTS, NULL, decisions, *scores, *probabilities, NULL));
    for (size_t slot = 0; slot < SLOTS; slot++)
        for (size_t i = 0; i < ARMS; i++) {
            bool taken = false;
            for (size_t before = 0; before < slot; before++) taken |= decisions[before].arm == i;
            float boost = slot < 2 ? boosts[i] : 0;
            assert_true(scores[slot][i].score == (taken ? 0 : own[i].score + boost));
        }
    assert_within(probabilities[1]);
}

/* ---- snapshots and rounds of named features ---- */

TEST(a_snapshot_has_the_scores_and_probabilities_of_its_bandit)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = make(c, 3);
        ee_arms arms = limited(0, NULL);
        ee_score scores[ARMS], theirs[ARMS];
        double expected[ARMS], got[ARMS], drawn[ARMS];
        ee_decision decision;
        auto_snapshot *snapshot = snapshot_make(bandit);
        auto_scratch *scratch = scratch_make(snapshot, 3);
        ok(ee_bandit_probabilities(bandit, &arms, expected, NULL));
        bool draws = isnan(expected[0]) || strstr(c->options, "probability_draws");
        arms.limits = isnan(expected[0]) ? &boosted : &both;
        ok(ee_bandit_score(bandit, &arms, scores, NULL));
        ok(ee_bandit_probabilities(bandit, &arms, expected, NULL));
        ok(ee_snapshot_score(snapshot, scratch, &arms, theirs, NULL));
        ok(ee_snapshot_probabilities(snapshot, scratch, &arms, got, NULL));
        if (!draws) assert_memory_equal(theirs, scores, sizeof theirs);
        if (!draws) assert_memory_equal(got, expected, sizeof got);
        ok(ee_snapshot_decide(snapshot, scratch, &arms, &decision, NULL, drawn, NULL));
        assert_memory_equal(drawn, got, sizeof drawn);
    }
}

/* A snapshot with a scratch, on a bandit of named features. */
TEST(a_round_of_named_features_has_its_limits_until_it_is_cleared)
{
    static const uint32_t half[NAMED_ARMS] = {0, 0, 1, 1};
    static const double low[1] = {0.9}, high[1] = {0.9}, wrong[1] = {0.5};
    ee_limits limits = {.groups = half, .low = low, .high = high, .group_count = 1};
    auto_bandit *bandit = named_make("linucb", "propensity=floor", "");
    ee_arms arms;
    ee_decision decision;
    double probabilities[NAMED_ARMS];
    auto_round *round = round_make();
    named_play(bandit, round, 1, 20);
    auto_snapshot *snapshot = snapshot_make(bandit);
    auto_scratch *scratch = scratch_make(snapshot, 3);

    ee_round_set_limits(round, &limits);
    ok(ee_bandit_arms(bandit, round, &arms, NULL));
    assert_ptr_equal(arms.limits, &limits);
    ok(ee_snapshot_decide_round(snapshot, scratch, round, &decision, NULL, probabilities, NULL));
    assert_close(probabilities[0] + probabilities[1], 0.9, 1e-12);
    limits.high = wrong;
    refuses(ee_snapshot_decide_round(snapshot, scratch, round, &decision, NULL, NULL, &last_error),
            "limits: the share of group 0 must be within 0 to 1, from low to high, got 0.9 to 0.5");
    ee_round_set_limits(round, NULL);
    ok(ee_snapshot_decide_round(snapshot, scratch, round, &decision, NULL, NULL, NULL));
    ee_round_set_limits(round, &limits);
    named_draw(round, 21); /* clears it */
    ok(ee_snapshot_arms(snapshot, round, &arms, NULL));
    assert_null(arms.limits);
}

/* ---- bad input ---- */

TEST(bad_limits_are_refused)
{
    static const float nan_boost[ARMS] = {0, 0, NAN}, huge[ARMS] = {0, 0, 0, -2e9f};
    static const double above[GROUPS] = {0.7, 0.1}, beyond[GROUPS] = {1, 1.5}, negative[GROUPS] = {0.3, -0.1},
                        nans[GROUPS] = {0.3, NAN};
    static const struct {
        ee_limits limits;
        const char *sentence;
    } wrong[] = {
        {{.boosts = nan_boost}, "limits: the boost of arm 2 must be -1e9 to 1e9, got nan"},
        {{.boosts = huge}, "limits: the boost of arm 3 must be -1e9 to 1e9, got -2e+09"},
        {{NULL, groups, above, highs, GROUPS},
         "limits: the share of group 0 must be within 0 to 1, from low to high, got 0.7 to 0.6"},
        {{NULL, groups, lows, beyond, GROUPS},
         "limits: the share of group 1 must be within 0 to 1, from low to high, got 0.1 to 1.5"},
        {{NULL, groups, negative, highs, GROUPS},
         "limits: the share of group 1 must be within 0 to 1, from low to high, got -0.1 to 0.25"},
        {{NULL, groups, nans, highs, GROUPS},
         "limits: the share of group 1 must be within 0 to 1, from low to high, got nan to 0.25"},
        {{NULL, groups, lows, nans, GROUPS},
         "limits: the share of group 1 must be within 0 to 1, from low to high, got 0.1 to nan"},
        {{NULL, NULL, lows, highs, GROUPS},
         "limits: groups, low and high must not be NULL if group_count is 2; for no shares, set it to 0"},
        {{NULL, groups, NULL, highs, GROUPS},
         "limits: groups, low and high must not be NULL if group_count is 2; for no shares, set it to 0"},
        {{NULL, groups, lows, NULL, 1},
         "limits: groups, low and high must not be NULL if group_count is 1; for no shares, set it to 0"},
    };
    auto_bandit *bandit = make(&(policy_case){"linucb", ""}, 3);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(bandit, &wrong[i].limits, wrong[i].sentence);
    ee_round_set_limits(NULL, &both); /* as ee_round_clear */
}
