/* ucb1 and thompson, which know nothing of features: their formulas, whom they take an arm for, and problems. */
#include "engine/rounds.h"

#include "engine/bandit.h"
#include "policy/parts/tallies.h"

static const char *const policies[] = {"ucb1", "thompson"};
enum { POLICIES = sizeof policies / sizeof *policies };

/* Arms whose features say nothing. */
static ee_arms alike(size_t count)
{
    enum { MOST = 2000 };
    static float values[MOST];
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) values[i] = 1;
    return ee_arms_dense(values, count, 1);
}

static void teach(ee_bandit *bandit, const ee_arms *arms, size_t arm, double reward)
{
    ok(ee_bandit_learn_from(bandit, arms, arm, reward, &last_error));
}

static void score(ee_bandit *bandit, const ee_arms *arms, ee_score *scores)
{
    ok(ee_bandit_score(bandit, arms, scores, NULL));
}

/* ---- formulas ---- */

/* By numpy: the means, and sqrt(2 ln 6 / n_j). Then rewards from -2 to 8, alpha = 1/2; the last arm was never played:
 * its mean is that of all. */
TEST(ucb1_has_the_stored_scores)
{
    static const struct {
        const char *options;
        size_t count;
        double rewards[6][2], expected[3][2]; /* arm, reward; mean, width */
    } cases[] = {{NULL,
                  6,
                  {{0, 1}, {0, 0}, {0, 1}, {1, 0}, {1, 0}, {2, 1}},
                  {{0.6666666667, 1.092934725}, {0, 1.338566199}, {1, 1.893018473}}},
                 {"alpha=0.5", 3, {{0, -2}, {0, 3}, {1, 8}}, {{0.5, 5.24073537}, {8, 7.411519037}, {3, 27.41151904}}}};
    for (size_t c = 0; c < 2; c++) {
        auto_bandit *bandit = bandit_make("ucb1", 1, 1, cases[c].options);
        ee_arms arms = alike(3);
        ee_score scores[3];
        for (size_t i = 0; i < cases[c].count; i++)
            teach(bandit, &arms, (size_t)cases[c].rewards[i][0], cases[c].rewards[i][1]);
        score(bandit, &arms, scores);
        for (size_t i = 0; i < 3; i++) {
            const double *expected = cases[c].expected[i];
            assert_close(scores[i].exploitation, expected[0], 1e-6);
            assert_close(scores[i].exploration, expected[1], 1e-6);
            assert_close(scores[i].score, expected[0] + expected[1], 1e-6);
        }
    }
}

/* Equal rewards have no range, and arms take turns all the same; whatever the rewards are, the untried come first. */
TEST(ucb1_tries_every_arm_first)
{
    static const double sizes[] = {0, 1, -7, 1e9, 1e-6};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        enum { ARMS = 20 };
        auto_bandit *bandit = bandit_make("ucb1", 1, s, NULL);
        ee_arms arms = alike(ARMS);
        size_t played[ARMS] = {0};
        for (size_t t = 0; t < 3 * ARMS; t++) {
            ee_decision decision = bandit_choose(bandit, &arms, NULL);
            assert_int_equal(played[decision.arm]++, t / ARMS);
            assert_close(decision.probability, 1 / (double)(ARMS - t % ARMS), 1e-12);
            bandit_reward(bandit, decision.id, sizes[s]);
        }
    }
}

/* ---- draws ---- */

enum { QUANTILES = 5, DRAWS = 5000 };
static const double levels[QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};

/* The share of draws below each quantile, within 4.5 standard errors. quantiles is (arms, QUANTILES). */
static void assert_draws(ee_bandit *bandit, const ee_arms *arms, const double (*quantiles)[QUANTILES])
{
    enum { MOST = 4 };
    size_t below[MOST][QUANTILES] = {{0}};
    ee_score scores[MOST];
    assert_true(arms->count <= MOST);
    for (size_t t = 0; t < DRAWS; t++) {
        ee_decision decision = bandit_choose(bandit, arms, scores);
        ok(ee_bandit_forget(bandit, decision.id, NULL));
        for (size_t i = 0; i < arms->count; i++) {
            assert_close(scores[i].exploitation + scores[i].exploration, scores[i].score, 1e-5);
            for (size_t q = 0; q < QUANTILES; q++) below[i][q] += (double)scores[i].score < quantiles[i][q];
        }
    }
    for (size_t i = 0; i < arms->count; i++) {
        for (size_t q = 0; q < QUANTILES; q++) {
            double share = (double)below[i][q] / DRAWS, error = sqrt(levels[q] * (1 - levels[q]) / DRAWS);
            if (fabs(share - levels[q]) > 4.5 * error)
                fail_msg("arm %zu: %g of the draws are below %g, not %g", i, share, quantiles[i][q], levels[q]);
        }
    }
}

/* Quantiles of Beta(1 + ones, 1 + zeros), by scipy.stats.beta. */
TEST(thompson_draws_shares_of_ones)
{
    static const struct {
        size_t ones, zeros;
    } seen[] = {{0, 0}, {3, 1}, {0, 11}, {30, 70}};
    static const double quantiles[][QUANTILES] = {
        {0.05, 0.25, 0.5, 0.75, 0.95},
        {0.342591682, 0.5458194352, 0.6861898295, 0.8062363904, 0.9235596086},
        {0.004265318778, 0.02368842422, 0.05612568732, 0.1091012819, 0.2209221919},
        {0.2315857847, 0.2725070332, 0.3026355607, 0.3339432504, 0.3806500481},
    };
    auto_bandit *bandit = bandit_make("thompson", 1, 5, NULL);
    ee_arms arms = alike(4);
    ee_score scores[4];
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < seen[i].ones; k++) teach(bandit, &arms, i, 1);
        for (size_t k = 0; k < seen[i].zeros; k++) teach(bandit, &arms, i, 0);
    }
    score(bandit, &arms, scores);
    for (size_t i = 0; i < 4; i++)
        assert_close(scores[i].exploitation, (1.0 + (double)seen[i].ones) / (double)(2 + seen[i].ones + seen[i].zeros),
                     1e-6);
    assert_draws(bandit, &arms, quantiles);
}

/* Quantiles of Student's t with 2 + n degrees, where the formula at the head of thompson.c puts it, by scipy.stats.t.
 * All rewards: mean 1.8, variance 3.46. */
TEST(thompson_draws_means_of_other_rewards)
{
    static const double rewards[][2] = {{0, 2}, {0, 3.5}, {0, -1}, {0, 4}, {1, 0.5}}; /* arm, reward */
    static const double means[] = {2.06, 1.15, 1.8};
    static const double quantiles[][QUANTILES] = {
        {0.3887143315, 1.442844329, 2.06, 2.677155671, 3.731285668},
        {-1.52722028, 0.2798474249, 1.15, 2.020152575, 3.82722028},
        {-3.631487147, 0.2812285667, 1.8, 3.318771433, 7.231487147},
    };
    auto_bandit *bandit = bandit_make("thompson", 1, 5, NULL);
    ee_arms arms = alike(3);
    ee_score scores[3];
    for (size_t i = 0; i < 5; i++) teach(bandit, &arms, (size_t)rewards[i][0], rewards[i][1]);
    score(bandit, &arms, scores);
    for (size_t i = 0; i < 3; i++) assert_close(scores[i].exploitation, means[i], 1e-6);
    assert_draws(bandit, &arms, quantiles);
    /* The first reward that is neither 0 nor 1 makes it normal, and it stays so. What came before still counts. */
    auto_bandit *normal = bandit_make("thompson", 1, 5, NULL);
    ee_arms two = alike(2);
    ee_score own[2];
    for (int t = 0; t < 6; t++) teach(normal, &two, 0, t % 3 == 0);
    score(normal, &two, own);
    assert_close(own[0].exploitation, 3.0 / 8, 1e-6);
    teach(normal, &two, 1, 0.5);
    score(normal, &two, own);
    assert_close(own[0].exploitation, (2.5 / 7 + 2) / 7, 1e-6); /* (the mean of all + 2) / (1 + 6) */
    for (int t = 0; t < 33; t++) teach(normal, &two, 1, 1);
    score(normal, &two, own);
    assert_close(own[0].exploitation, (35.5 / 40 + 2) / 7, 1e-6);
}

/* In other units of the rewards both decide the same. The first two rewards differ: before that there is no unit. */
TEST(units_do_not_matter)
{
    enum { ARMS = 4, ROUNDS = 200 };
    for (size_t p = 0; p < POLICIES; p++) {
        auto_bandit *plain = bandit_make(policies[p], 1, 9, NULL), *other = bandit_make(policies[p], 1, 9, NULL);
        ee_arms arms = alike(ARMS);
        random_stream stream = random_named(p, "rewards");
        for (size_t t = 0; t < 2; t++) {
            teach(plain, &arms, t, 0.25 + (double)t);
            teach(other, &arms, t, 8 * (0.25 + (double)t) - 1000);
        }
        for (size_t t = 0; t < ROUNDS; t++) {
            ee_score own[ARMS], its[ARMS];
            ee_decision first = bandit_choose(plain, &arms, own), second = bandit_choose(other, &arms, its);
            assert_int_equal(first.arm, second.arm);
            for (size_t i = 0; i < ARMS; i++) assert_close(its[i].score, 8 * (double)own[i].score - 1000, 1e-5);
            /* Eighths, so that no unit rounds. */
            double reward = (double)(random_below(&stream, 16) + first.arm) / 8;
            bandit_reward(plain, first.id, reward);
            bandit_reward(other, second.id, 8 * reward - 1000);
        }
    }
}

/* ---- places ---- */

static float expected_of(ee_bandit *bandit, const ee_arms *arms, size_t arm)
{
    ee_score scores[2000];
    score(bandit, arms, scores);
    return scores[arm].exploitation;
}

/* Arm b is the context in block b. Some blocks are absent, and they come in any order. */
TEST(blocks_are_known_in_any_order)
{
    enum { BLOCKS = 4, SIDE = 3, DIM = BLOCKS * SIDE };
    for (size_t p = 0; p < POLICIES; p++) {
        auto_bandit *bandit = bandit_make(policies[p], DIM, 1, "blocks=4");
        for (size_t t = 0; t < 60; t++) {
            float values[2 * DIM] = {0};
            size_t first = t % BLOCKS, second = (t + 1 + t / BLOCKS % 3) % BLOCKS, played = t / 7 % 2;
            values[first * SIDE + t % SIDE] = 1; /* other features of the block are zero */
            values[DIM + second * SIDE + (t + 1) % SIDE] = -1;
            ee_arms arms = ee_arms_dense(values, 2, DIM);
            teach(bandit, &arms, played, (double)(played ? second : first) * 10);
        }
        float values[BLOCKS * DIM] = {0}, nothing[BLOCKS * DIM] = {0};
        for (size_t i = 0; i < BLOCKS; i++) values[i * DIM + (BLOCKS - 1 - i) * SIDE + 2] = 1;
        ee_arms arms = ee_arms_dense(values, BLOCKS, DIM), none = ee_arms_dense(nothing, BLOCKS, DIM);
        for (size_t i = 0; i < BLOCKS; i++) {
            double expected = expected_of(bandit, &arms, i), block = (double)(BLOCKS - 1 - i) * 10;
            assert_true(fabs(expected - block) < 3);
            /* A context of zeros is in no block: its arms stand in the order of the blocks. */
            assert_true(expected_of(bandit, &none, BLOCKS - 1 - i) == (float)expected);
        }
    }
}

TEST(positions_beyond_the_last_share_it)
{
    ee_arms arms = alike(2000);
    for (size_t p = 0; p < POLICIES; p++) {
        auto_bandit *few = bandit_make(policies[p], 1, 1, "positions=3"), *usual = bandit_make(policies[p], 1, 1, NULL);
        size_t before = ee_bandit_memory(few);
        for (int t = 0; t < 50; t++) {
            teach(few, &arms, 1, 0);
            teach(few, &arms, 1500, 1);
            teach(usual, &arms, 5, 1);
            teach(usual, &arms, 1500, 0);
        }
        assert_true(expected_of(few, &arms, 1) < 0.1f);
        assert_true(expected_of(few, &arms, 2) > 0.9f && expected_of(few, &arms, 1999) > 0.9f);
        assert_true(expected_of(usual, &arms, 5) > 0.9f && expected_of(usual, &arms, 1023) < 0.1f);
        assert_true(ee_bandit_memory(few) > before); /* of what a round needs; and that is all: */
        before = ee_bandit_memory(few);
        teach(few, &arms, 1700, 1);
        assert_int_equal(ee_bandit_memory(few), before);
    }
    for (size_t p = 0; p < POLICIES; p++) {
        ee_settings settings = {.policy = policies[p], .dim = 96, .options = "blocks=7"};
        ee_bandit *bandit;
        fails_with(ee_bandit_create(&settings, &bandit, &last_error), EE_BAD_OPTION,
                   "options: blocks must divide the 96 features of an arm, got 7");
    }
}

/* ---- what is read ---- */

/* Every number of the parameters, made one that rewards never make: loading says so, or nothing goes wrong. */
TEST(impossible_tallies_are_refused)
{
    static const double impossible[] = {NAN, INFINITY, -INFINITY, -1, 1e300, 0.5};
    for (size_t p = 0; p < POLICIES; p++) {
        size_t refused = 0, total = sizeof(tallies_total) / sizeof(double);
        for (size_t place = 0; place < total + 9; place++) {
            for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
                auto_bandit *bandit = bandit_make(policies[p], 1, 1, "positions=3"), *loaded = NULL;
                ee_arms arms = alike(3);
                teach(bandit, &arms, 0, 1);
                teach(bandit, &arms, 1, 0);
                ((double *)(void *)bandit->policy->parameters.values)[place] = impossible[i];
                auto_model saved = model_save(bandit);
                ee_status status = ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &loaded, NULL);
                assert_true(status == EE_OK || status == EE_BAD_MODEL);
                if (status) refused++;
                if (!isfinite(impossible[i])) assert_int_equal(status, EE_BAD_MODEL);
                for (int t = 0; loaded && t < 5; t++) {
                    ee_decision decision;
                    if (ee_bandit_decide(loaded, &arms, &decision, NULL, NULL, NULL)) break;
                    bandit_reward(loaded, decision.id, 1);
                }
            }
        }
        assert_true(refused >= 4 * total);
    }
}

/* ---- problems ---- */

enum { MOST_ARMS = 5, ROUNDS = 3000 };

typedef struct coins {
    size_t arms;
    double means[MOST_ARMS], deviation; /* 0: the rewards are 0 and 1 */
    double of_second;                   /* the deviation of the second arm, if another */
} coins;

static double toss(const coins *self, size_t arm, random_stream *stream)
{
    if (self->deviation == 0) return random_unit(stream) < self->means[arm];
    return self->means[arm] + (arm && self->of_second > 0 ? self->of_second : self->deviation) * random_normal(stream);
}

/* Mean regret over the seeds. A reward comes so many rounds late. */
static double regret_of(const char *name, const coins *problem, size_t late)
{
    enum { MOST_LATE = 64 };
    const uint64_t seeds = test_long(5, 20);
    double regret = 0;
    assert_true(late < MOST_LATE);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        auto_bandit *bandit = bandit_make(name, 1, seed, NULL);
        ee_decision made[MOST_LATE];
        ee_arms arms = alike(problem->arms);
        random_stream stream = random_named(seed, "coins");
        for (size_t t = 0; t < ROUNDS; t++) {
            ee_decision now = bandit_choose(bandit, &arms, NULL);
            regret += problem->means[0] - problem->means[now.arm];
            made[t % MOST_LATE] = now;
            if (t < late) continue;
            ee_decision due = made[(t - late) % MOST_LATE];
            bandit_reward(bandit, due.id, toss(problem, due.arm, &stream));
        }
    }
    return regret / (double)seeds;
}

/* Bounds: of UCB1 by theorem 1 of Auer et al., 8 sum ln T / gap + (1 + pi^2 / 3) sum gap, here 250. No policy that is
 * good everywhere has less in the long run than sum gap ln T / KL(mean, best) (Lai and Robbins 1985), here 90; Thompson
 * sampling reaches it (Agrawal and Goyal). Of normal rewards, in a unit and around a zero of their own, it is sum gap
 * ln T / (ln(1 + gap^2 / deviation^2) / 2) (Burnetas and Katehakis 1996); UCB1's range is that of all noise. Of two
 * arms the better one is much noisier: a first reward that is poor must not rule it out. */
TEST(regret_keeps_its_bounds)
{
    static const coins few = {4, {0.9, 0.1, 0.1, 0.1}, 0, 0}, many = {5, {0.5, 0.4, 0.3, 0.3, 0.2}, 0, 0};
    static const coins normal = {3, {1200, 1100, 1000}, 100, 0}, noisy = {2, {2, 1}, 5, 0.01};
    double gap = 0.8, ucb1 = 3 * (8 * log(ROUNDS) / gap + (1 + 9.8696 / 3) * gap), least = 0;
    double of_normal = 100 * log(ROUNDS) / (log(2) / 2) + 200 * log(ROUNDS) / (log(5) / 2);
    for (size_t i = 1; i < 5; i++) {
        double p = many.means[i], best = many.means[0];
        least += (best - p) * log(ROUNDS) / (p * log(p / best) + (1 - p) * log((1 - p) / (1 - best)));
    }
    const struct {
        const char *name;
        const coins *problem;
        size_t late;
        double bound;
    } cases[] = {{"ucb1", &few, 0, ucb1},
                 {"ucb1", &few, 30, ucb1},
                 {"thompson", &few, 0, ucb1 / 8},
                 {"thompson", &many, 0, 1.5 * least},
                 {"thompson", &many, 30, 2 * least},
                 {"ucb1", &many, 0, 4 * least},
                 {"thompson", &normal, 0, 1.5 * of_normal},
                 {"thompson", &normal, 30, 3 * of_normal},
                 {"ucb1", &normal, 0, 25 * of_normal},
                 {"thompson", &noisy, 0, ROUNDS / 8.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double own = regret_of(cases[i].name, cases[i].problem, cases[i].late);
        if (!(own < cases[i].bound))
            fail_msg("%s, case %zu: regret %.1f, the bound is %.1f", cases[i].name, i, own, cases[i].bound);
    }
}
