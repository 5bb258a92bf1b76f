/* Neural FastCB: its probabilities by the formula of the paper, the range of the rewards, f1 as a logit. */
#include "policy/neural_play.h"

enum { DIM = 6, ARMS = 5 };

static round_arms round_now;

static const parameters *parameters_of(const ee_bandit *bandit)
{
    return &bandit->policy->parameters;
}

/* f1's own output for an arm: the weighted mean of what its networks say. */
static double output_of(const ee_bandit *bandit, vector x)
{
    double mean = 0, output;
    for (size_t k = 0; k < exploitation_of(bandit)->f1.network_count; k++) {
        free(pass_network(bandit, k, x, &output));
        mean += weight_of(bandit, k) * output;
    }
    return mean;
}

/* Plays rounds whose rewards are low and high by a line. */
static void play(ee_bandit *bandit, uint64_t first, uint64_t last, double low, double high)
{
    for (uint64_t t = first; t <= last; t++) {
        round_draw(&round_now, t, ARMS, DIM, DIM);
        ee_decision decision = bandit_choose(bandit, &round_now.dense, NULL);
        bandit_reward(bandit, decision.id, round_reward(&round_now, decision.arm) > 0 ? high : low);
    }
}

/* The probabilities of the next round, by the losses of its scores: l(b) / (n l(b) + gamma (l - l(b))). */
static void check_probabilities(ee_bandit *bandit, uint64_t round, double gamma, double most, double range)
{
    ee_score scores[ARMS];
    double reported[ARMS], losses[ARMS], rest = 1;
    size_t best = 0;
    round_draw(&round_now, round, ARMS, DIM, DIM);
    ok(ee_bandit_score(bandit, &round_now.dense, scores, NULL));
    ok(ee_bandit_probabilities(bandit, &round_now.dense, reported, NULL));
    for (size_t i = 0; i < ARMS; i++) {
        losses[i] = (most - (double)scores[i].score) / range;
        assert_true(losses[i] >= 0 && losses[i] <= 1);
        if (losses[i] < losses[best]) best = i;
    }
    for (size_t i = 0; i < ARMS; i++) {
        if (i == best) continue;
        double expected = losses[best] / (ARMS * losses[best] + gamma * (losses[i] - losses[best]));
        assert_close(reported[i], expected, 1e-9);
        assert_true(reported[i] > 0 && reported[i] < 1.0 / ARMS);
        rest -= reported[i];
    }
    assert_close(reported[best], rest, 1e-9);
}

TEST(probabilities_are_the_papers)
{
    auto_bandit *bandit = bandit_make("neural-fastcb", DIM, 1, "f1.width=12 gamma=3 exponent=0.5");
    play(bandit, 1, 80, 0, 1);
    check_probabilities(bandit, 81, 3 * sqrt(81), 1, 1);
    ee_bandit_free(bandit);
    bandit = bandit_make("neural-fastcb", DIM, 1, "f1.width=12 gamma=7 exponent=0 recall=0");
    play(bandit, 1, 80, -20, 30);
    check_probabilities(bandit, 81, 7, 30, 50);
    /* Until two rewards differ nobody knows what a loss is: every arm is as good. */
    auto_bandit *equal = bandit_make("neural-fastcb", DIM, 1, "f1.width=12");
    double reported[ARMS];
    play(equal, 1, 20, 7, 7);
    ok(ee_bandit_probabilities(equal, &round_now.dense, reported, NULL));
    for (size_t i = 0; i < ARMS; i++) {
        assert_close(reported[i], 1.0 / ARMS, 1e-12);
        assert_true(fabs(output_of(equal, vector_of_arm(&round_now.dense, i))) < 0.5); /* it has learned one half */
    }
}

/* What is expected is the least and a share of the range, whatever the rewards are; f1 is the share's logit, or with
 * another loss the share. */
TEST(f1_is_a_share_of_the_range)
{
    for (int squared = 0; squared < 2; squared++) {
        const char *options[] = {"f1.width=12 scale=off recall=0", "f1.width=12 scale=off recall=0 f1.loss=squared"};
        auto_bandit *bandit = bandit_make("neural-fastcb", DIM, 2, options[squared]);
        ee_score scores[ARMS];
        play(bandit, 1, 60, -4, 6);
        round_draw(&round_now, 61, ARMS, DIM, DIM);
        ok(ee_bandit_score(bandit, &round_now.dense, scores, NULL));
        assert_true(parameters_of(bandit)->centre == -4 && parameters_of(bandit)->spread == 10);
        for (size_t i = 0; i < ARMS; i++) {
            double output = output_of(bandit, vector_of_arm(&round_now.dense, i));
            assert_close(scores[i].exploitation, -4 + 10 * (squared ? output : 1 / (1 + exp(-output))), 1e-5);
        }
        bandit = bandit_reload(bandit);
        assert_true(parameters_of(bandit)->spread == 10);
    }
    /* With standardize=off the range is 0 to 1, and what is outside counts as its end. */
    const char *options = "f1.width=12 standardize=off recall=0";
    auto_bandit *one = bandit_make("neural-fastcb", DIM, 1, options),
                *other = bandit_make("neural-fastcb", DIM, 1, options);
    for (uint64_t t = 1; t <= 60; t++) {
        ee_score own[ARMS], its[ARMS];
        round_draw(&round_now, t, ARMS, DIM, DIM);
        ee_decision a = bandit_choose(one, &round_now.dense, own), b = bandit_choose(other, &round_now.dense, its);
        assert_memory_equal(own, its, sizeof own);
        assert_int_equal(a.arm, b.arm);
        bool good = round_reward(&round_now, a.arm) > 0;
        bandit_reward(one, a.id, good ? 1 : 0);
        bandit_reward(other, b.id, good ? 5 : -3);
    }
}

/* A new least or most changes what all past rewards are worth, at once; but an outlier does only when it recurs. */
TEST(the_range_grows_with_the_rewards)
{
    auto_bandit *bandit = bandit_make("neural-fastcb", DIM, 1, "f1.width=12 recall=0");
    const exploitation *own = (const exploitation *)bandit->policy;
    play(bandit, 1, 30, 0, 1);
    assert_true(own->base.units.least == 0 && own->base.units.most == 1);
    play(bandit, 31, 31, 9, 9);
    assert_true(parameters_of(bandit)->centre == 0 && parameters_of(bandit)->spread == 1);
    play(bandit, 32, 32, 9, 9);
    assert_true(parameters_of(bandit)->centre == 0 && parameters_of(bandit)->spread == 9);
    play(bandit, 33, 33, -1, -1);
    assert_true(parameters_of(bandit)->centre == -1 && parameters_of(bandit)->spread == 10);
    bandit = bandit_reload(bandit);
    assert_true(parameters_of(bandit)->centre == -1 && parameters_of(bandit)->spread == 10);
}
