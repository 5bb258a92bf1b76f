/* Rewards in other units, cents for euros, costs for gains: neural and linear policies decide the same. */
#include "neural_play.h"

enum { DIM = 6, ARMS = 5, COMING = 40 };

static round_arms round_now;

/* Arms of a round, which come again after some. */
static const ee_arms *arms_of_round(uint64_t number, uint64_t again)
{
    round_draw(&round_now, number % again, ARMS, DIM, DIM);
    return number % 2 ? &round_now.sparse : &round_now.dense;
}

/* Between -1 and 1, no line. */
static double expected_reward(size_t arm)
{
    const float *x = round_now.values + arm * DIM;
    return cos(3 * (double)x[0] + 2 * (double)x[1]) * (x[2] > 0 ? 1 : 0.5) - 0.3 * (double)x[3];
}

/* zero_matters: extra samples are for arms with a reward of 0 or less (option optimal). */
static const struct {
    const char *name, *options;
    bool zero_matters;
} cases[] = {
    {"greedy", "f1.width=16 f1.deep_width=8", false},
    {"neural-epsilon", "f1.width=16 f1.deep_width=8", false},
    {"squarecb", "f1.width=16 f1.deep_width=8", false},
    {"neural-fastcb", "f1.width=16 f1.deep_width=8", false},
    {"neural-ensemble", "f1.width=16 f1.deep_width=8", false},
    {"neural-ucb", "f1.width=16 f1.deep_width=8", false},
    {"neural-ts", "f1.width=16 f1.deep_width=8", false},
    {"neural-linear", "f1.width=16 f1.deep_width=8 rebuild=20", false},
    {"neural-linucb", "f1.width=16 f1.deep_width=8 rebuild=20", false},
    {"eenet", "f1.width=16 f1.deep_width=8", false},
    {"eenet:fast", "f1.width=16", false},
    {"linucb", "", false},
    {"lints", "", false},
    /* what only these options do */
    {"eenet", "f1.width=16 f1.deep_width=8 propensity=softmax", false},
    {"eenet", "f1.width=16 f1.deep_width=8 exploration=network f2.width=8 features=sketch:8", false},
    {"eenet", "f1.width=16 f1.deep_width=8 exploration=network f2.width=8 features=sketch:8 extra_until=100", true},
    {"eenet", "f1.width=16 f1.deep_width=8 label=abs", false},
    {"eenet", "f1.width=16 f1.deep_width=8 f1.heads=3 exclusive=on f1.others=0.5", false},
    {"greedy", "f1.width=16 f1.deep_width=8 propensity=igw", false},
    {"greedy", "f1.width=16 f1.deep_width=8 f1.loss=cross_entropy", false},
    {"neural-ensemble", "f1.width=16 f1.deep_width=8 decision=thompson", false},
    {"neural-ucb", "f1.width=4 covariance=full", false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Rewards times a power of two: each score is times it too, and every decision the same. Some rewards come late. */
static void check_power(size_t c, double power)
{
    enum { PLAYED = 80, LATE = 3 };
    const char *name = cases[c].name, *options = cases[c].options;
    auto_bandit *one = bandit_make(name, DIM, 4, options), *other = bandit_make(name, DIM, 4, options);
    random_stream draw = random_named(1, "noise");
    double waiting[PLAYED + 1] = {0};
    for (uint64_t t = 1; t <= PLAYED; t++) {
        ee_score own[ARMS], its[ARMS];
        const ee_arms *arms = arms_of_round(t, COMING);
        ee_decision a = bandit_choose(one, arms, own), b = bandit_choose(other, arms, its);
        for (size_t i = 0; i < ARMS; i++) {
            if (its[i].score == (float)power * own[i].score && its[i].exploration == (float)power * own[i].exploration)
                continue;
            fail_msg("%s %s times %g, round %d: %.9g, not %.9g", name, options, power, (int)t, its[i].score,
                     power * (double)own[i].score);
        }
        assert_int_equal(a.arm, b.arm);
        assert_true(a.probability == b.probability || isnan(a.probability));
        waiting[t] = (double)(float)(expected_reward(a.arm) + 0.2 * random_normal(&draw));
        uint64_t due = t % 4 == 0 && t > LATE ? t - LATE : t; /* one of four waits until three more were made */
        if (t % 4 == 1) continue;
        bandit_reward(one, t, waiting[t]);
        bandit_reward(other, t, power * waiting[t]);
        if (due == t) continue;
        bandit_reward(one, due, waiting[due]);
        bandit_reward(other, due, power * waiting[due]);
    }
}

TEST(powers_of_two_are_the_same_to_the_bit)
{
    for (size_t c = 0; c < CASES; c++) check_power(c, c % 2 ? 0x1p-9 : 0x1p12);
}

/* Rewards are a r + b, and come so many rounds late. */
typedef struct reporting {
    double a, b;
    uint64_t late;
} reporting;

enum { ROUNDS = 120 };

/* The regret of a run, in units of r. */
static double regret_of_telling(size_t c, uint64_t seed, reporting reported)
{
    auto_bandit *bandit = bandit_make(cases[c].name, DIM, seed, cases[c].options);
    random_stream draw = random_named(seed, "noise");
    double regret = 0, rewards[ROUNDS + 1];
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        const ee_arms *arms = arms_of_round(seed * 100000 + t, UINT64_MAX);
        ee_decision made = bandit_choose(bandit, arms, NULL);
        double best = -INFINITY, got = expected_reward(made.arm);
        for (size_t i = 0; i < ARMS; i++) best = fmax(best, expected_reward(i));
        regret += best - got;
        rewards[t] = reported.a * (got + 0.1 * random_normal(&draw)) + reported.b;
        if (t > reported.late) bandit_reward(bandit, t - reported.late, rewards[t - reported.late]);
    }
    return regret;
}

/* Nothing but rounding makes a difference: to a float of a reward near b, one of r is less exact. */
TEST(any_units_have_about_the_same_regret)
{
    static const double units[][2] = {{1000, -5000}, {0.001, 0.003}, {0.001, -0.005}, {1000, 3000}, {1, 100}};
    for (size_t c = 0; c < CASES; c++) {
        for (uint64_t seed = 0; seed < test_long(1, 3); seed++) {
            uint64_t late = (c + seed) % 2 * 20;
            double plain = cases[c].zero_matters ? 0 : regret_of_telling(c, seed, (reporting){1, 0, late});
            for (size_t u = 0; u < test_long(1, 5) && !cases[c].zero_matters; u++) {
                double regret = regret_of_telling(c, seed, (reporting){units[u][0], units[u][1], late});
                if (fabs(regret / plain - 1) > 0.05)
                    fail_msg("%s %s, rewards times %g and %g, %d late: regret %.2f, not %.2f", cases[c].name,
                             cases[c].options, units[u][0], units[u][1], (int)late, regret, plain);
            }
        }
    }
}
