/* Rewards that are not like the others, and defaults: outliers do little harm, rare rewards that matter are found, and
 * few arms with plain rewards are told apart. */
#include "engine/rounds.h"

enum { DIM = 20, ARMS = 10 };

static const struct {
    const char *name, *options;
    bool linear; /* the policy plays x . a, otherwise cos(3 x . a) */
} policies[] = {
    {"eenet", "f1.width=24 f1.deep_width=12", false},
    {"eenet:fast", "f1.width=24", false},
    {"greedy", "f1.width=24 f1.deep_width=12", false},
    {"neural-epsilon", "f1.width=24 f1.deep_width=12", false},
    {"squarecb", "f1.width=24 f1.deep_width=12", false},
    {"neural-fastcb", "f1.width=24 f1.deep_width=12", false},
    {"neural-ensemble", "f1.width=24 f1.deep_width=12", false},
    {"neural-ucb", "f1.width=24 f1.deep_width=12", false},
    {"neural-ts", "f1.width=24 f1.deep_width=12", false},
    {"neural-linear", "f1.width=24 f1.deep_width=12", false},
    {"neural-linucb", "f1.width=24 f1.deep_width=12", false},
    {"linucb", "", true},
    {"lints", "", true},
};
enum { POLICIES = sizeof policies / sizeof *policies };

static void draw_unit(random_stream *draw, float *x)
{
    double square = 0, values[DIM];
    for (size_t i = 0; i < DIM; i++) {
        values[i] = random_normal(draw);
        square += values[i] * values[i];
    }
    for (size_t i = 0; i < DIM; i++) x[i] = (float)(values[i] / sqrt(square));
}

/* The regret after round `at`, where the reward is the outlier. A share of the rewards is drawn from Cauchy's
 * distribution instead. */
static double regret_after(size_t p, uint64_t seed, uint64_t at, uint64_t rounds, double outlier, double cauchy)
{
    auto_bandit *bandit = bandit_make(policies[p].name, DIM, seed, policies[p].options);
    random_stream draw = random_named(seed, "odd rewards");
    float hidden[DIM], x[ARMS * DIM];
    double regret = 0;
    draw_unit(&draw, hidden);
    for (uint64_t t = 1; t <= rounds; t++) {
        double expected[ARMS], best = -1;
        for (size_t i = 0; i < ARMS; i++) {
            double inner = 0;
            draw_unit(&draw, x + i * DIM);
            for (size_t j = 0; j < DIM; j++) inner += (double)(x[i * DIM + j] * hidden[j]);
            expected[i] = policies[p].linear ? inner : cos(3 * inner);
            best = fmax(best, expected[i]);
        }
        ee_arms arms = ee_arms_dense(x, ARMS, DIM);
        ee_decision made = bandit_choose(bandit, &arms, NULL);
        double reward = expected[made.arm] + 0.1 * random_normal(&draw),
               odd = tan(3.14159 * (random_unit(&draw) - 0.5));
        if (random_unit(&draw) < cauchy) reward = odd;
        if (t == at && outlier != 0) reward = outlier;
        bandit_reward(bandit, made.id, reward);
        if (t > at) regret += best - expected[made.arm];
    }
    return regret;
}

/* With the default options, five seeds and 5,000 rounds it is at most 1.07 times as much (docs/hard-conditions.md);
 * without limits, five to sixty times. */
TEST(one_outlier_does_little_harm)
{
    const uint64_t seeds = test_long(1, 2), at = test_long(150, 600), rounds = test_long(300, 2000);
    const double most = seeds == 1 ? 2 : 1.4; /* one seed of so few rounds is noise */
    for (size_t p = 0; p < POLICIES; p++) {
        double plain = 0, odd = 0;
        for (uint64_t seed = 0; seed < seeds; seed++) {
            plain += regret_after(p, seed, at, rounds, 0, 0);
            odd += regret_after(p, seed, at, rounds, (seed + p) % 2 ? -1e6 : 1e4, 0);
        }
        if (!(odd < most * plain))
            fail_msg("%s: after an outlier the regret is %.1f, not %.1f", policies[p].name, odd, plain);
    }
}

/* Any play costs about 0.86 a round; the regret of sound rewards is a tenth of that or less. */
TEST(rewards_with_heavy_tails_are_learned)
{
    const uint64_t at = test_long(200, 1000), rounds = test_long(400, 2500);
    for (size_t p = 0; p < POLICIES; p++) {
        if (policies[p].linear) continue;
        double regret = regret_after(p, 1, at, rounds, 0, 0.01) / (double)(rounds - at);
        if (!(regret < 0.3)) fail_msg("%s: the regret is %.2f a round", policies[p].name, regret);
    }
}

/* All arms are clicked on alike, and one sells: a visit in a thousand is worth 500. */
TEST(the_arm_that_sells_is_found)
{
    enum { SELLERS = 4, ROUNDS = 14000, LAST = 3000 };
    double played = 0;
    if (!test_long(0, 1)) skip(); /* so rare a reward takes its rounds */
    for (uint64_t seed = 0; seed < 8; seed++) {
        auto_bandit *bandit = bandit_make("squarecb", SELLERS, seed, "f1.deep_width=32");
        random_stream draw = random_named(seed, "purchases");
        float x[SELLERS * SELLERS] = {0};
        for (size_t i = 0; i < SELLERS; i++) x[i * SELLERS + i] = 1;
        ee_arms arms = ee_arms_dense(x, SELLERS, SELLERS);
        for (int t = 0; t < ROUNDS; t++) {
            ee_decision made = bandit_choose(bandit, &arms, NULL);
            double reward = random_unit(&draw) < 0.2 ? 1 : 0;
            if (random_unit(&draw) < 0.001 && made.arm == seed % SELLERS) reward = 500;
            bandit_reward(bandit, made.id, reward);
            if (t >= ROUNDS - LAST) played += (double)(made.arm == seed % SELLERS) / LAST / 8;
        }
    }
    if (played < 0.5) fail_msg("it is played in %.2f of the last rounds", played);
}

/* Rewards of 0 and 1, with probabilities that differ enough to be told apart in a hundred rounds. Where the first two
 * rewards of the best arm are both 0, one seed in a hundred, a draw may not come to it again in this time. */
TEST(four_arms_are_told_apart)
{
    enum { FOUR = 4, LAST = 100 };
    const int rounds = (int)test_long(600, 2000);
    const uint64_t seeds = test_long(2, 25);
    const char *const names[] = {"linucb", "lints", "neural-ucb", "neural-ts", "eenet"};
    const double chances[FOUR] = {0.9, 0.6, 0.5, 0.4};
    float x[FOUR * FOUR] = {0};
    for (size_t i = 0; i < FOUR; i++) x[i * FOUR + i] = 1;
    ee_arms arms = ee_arms_dense(x, FOUR, FOUR);
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
        uint64_t missed = 0;
        for (uint64_t seed = 0; seed < seeds; seed++) {
            auto_bandit *bandit = bandit_make(names[p], FOUR, seed, p < 2 ? NULL : "f1.width=24 f1.deep_width=16");
            random_stream draw = random_named(seed, "four arms");
            int best = 0;
            for (int t = 0; t < rounds; t++) {
                ee_decision made = bandit_choose(bandit, &arms, NULL);
                bandit_reward(bandit, made.id, random_unit(&draw) < chances[made.arm] ? 1 : 0);
                best += t >= rounds - LAST && made.arm == 0;
            }
            missed += best < LAST / 2;
        }
        if (missed > (strstr(names[p], "ts") ? 1 : 0))
            fail_msg("%s: the best arm is not found on %d seeds", names[p], (int)missed);
    }
}
