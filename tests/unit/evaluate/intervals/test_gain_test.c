/* The test of gains: its terms have the mean that they should, none is below what a bet can bear, and with nothing to
 * correct it is the gain's own sequence. */
#include "evaluate/intervals/gain_test.h"

#include "base/random.h"
#include "support.h"

enum { ACTIONS = 4 };
static const value_range unit = {0.0, 1.0, INFINITY};
static const double slacks[GAIN_BETS] = {1.0, 4.0, 16.0, 64.0};

/* What a bet was told of one round that follows some others: its term. */
static double term_of(const gain_test *before, const scored_round *round, size_t bet)
{
    gain_test after = *before;
    gain_test_add(&after, round, round->pi[round->action] / round->p[round->action]);
    double y = after.bets[bet].sum - before->bets[bet].sum;
    return y * (1.0 + slacks[bet]) - slacks[bet];
}

static void draw_shares(random_stream *stream, double *out, double least)
{
    double sum = 0.0;
    for (size_t a = 0; a < ACTIONS; a++) sum += out[a] = least + pow(random_unit(stream), 6.0);
    for (size_t a = 0; a < ACTIONS; a++) out[a] /= sum;
}

/* Over the actions that the log may take, with their probabilities and rewards: what the policy earns more. */
TEST(terms_have_the_gain_as_their_mean)
{
    random_stream stream = random_named(1, "gain terms");
    for (size_t trial = 0; trial < 2000; trial++) {
        double p[ACTIONS], pi[ACTIONS], reward[ACTIONS], gain = 0.0, lost = 0.0;
        gain_test test = gain_test_start(unit);
        test.count = 100.0 * random_unit(&stream);
        test.sum = test.count * random_unit(&stream);
        draw_shares(&stream, p, 0.001);
        draw_shares(&stream, pi, 0.0);
        if (trial % 3 == 0) { /* one that it never takes */
            p[0] += p[1];
            p[1] = 0.0;
        }
        for (size_t a = 0; a < ACTIONS; a++) {
            reward[a] = random_unit(&stream);
            gain += (pi[a] - p[a]) * reward[a];
            if (p[a] == 0.0) lost += pi[a] * reward[a];
        }
        for (size_t bet = 0; bet < GAIN_BETS; bet++) {
            double mean = 0.0;
            for (size_t a = 0; a < ACTIONS; a++) {
                scored_round round = {
                    .count = ACTIONS, .pi = pi, .p = p, .action = a, .reward = reward[a], .copies = 1.0};
                if (p[a] == 0.0) continue;
                double term = term_of(&test, &round, bet);
                assert_true(term >= -slacks[bet] - 1e-9);
                mean += p[a] * term;
            }
            assert_close(mean, gain - lost, 1e-9);
        }
    }
}

/* Also for the rewards at the ends of the range, and weights of any size. */
TEST(no_term_is_below_its_slack)
{
    for (double p = 1.0; p > 1e-9; p /= 3.0)
        for (double c = 0.0; c <= 1.0; c += 0.25)
            for (int reward = 0; reward < 2; reward++) {
                double shares[2] = {p, 1.0 - p}, pi[2] = {1.0, 0.0};
                gain_test test = {.range = unit, .count = 1e6, .sum = 1e6 * c};
                scored_round round = {
                    .count = 2, .pi = pi, .p = shares, .action = 0, .reward = (double)reward, .copies = 1.0};
                for (size_t bet = 0; bet < GAIN_BETS; bet++)
                    assert_true(term_of(&test, &round, bet) >= -slacks[bet] * (1.0 + 1e-12));
            }
}

TEST(without_probabilities_it_is_the_gains_own_sequence)
{
    random_stream stream = random_named(2, "gain test");
    gain_test test = gain_test_start((value_range){-1.0, 3.0, INFINITY});
    confidence_sequence gain = confidence_sequence_of_gain(test.range);
    for (size_t i = 0; i < 3000; i++) {
        double weight = random_unit(&stream) < 0.5 ? 0.5 : 1.5, reward = weight > 1.0 ? 2.0 : 1.0;
        scored_round round = {.count = 2, .action = 0, .reward = reward, .copies = i % 50 == 0 ? 3.0 : 1.0};
        gain_test_add(&test, &round, weight);
        confidence_sequence_add_gain(&gain, weight, reward, round.copies);
    }
    assert_true(test.bets[0].sum == gain.below.sum && test.bets[0].variation == gain.below.variation);
    /* Half of the money is there: it is behind by no more than that. */
    assert_true(gain_test_log_wealth(&test) >= one_sided_log_wealth(&gain.below, 0.5) - log(2.0) - 1e-12);
    assert_true(gain_test_passes(&test, 0.01));
    assert_false(gain_test_passes(&(gain_test){.range = unit}, 0.5));
}

enum { SLOTS = 3 };

/* The mean of the slots' own terms, so at least -1 whatever their number; of one slot it is its own. */
TEST(a_round_of_slots_is_the_mean_of_its_slots)
{
    random_stream stream = random_named(3, "gain slots");
    for (size_t trial = 0; trial < 1000; trial++) {
        size_t count = 1 + trial % SLOTS;
        double weights[SLOTS], rewards[SLOTS], mean = 0.0;
        gain_test test = gain_test_start((value_range){-1.0, 3.0, INFINITY});
        for (size_t k = 0; k < count; k++) {
            weights[k] = trial % 7 == 0 ? 0.0 : 5.0 * random_unit(&stream);
            rewards[k] = trial % 7 == 0 ? 3.0 : 4.0 * random_unit(&stream) - 1.0;
            mean += (weights[k] - 1.0) * (rewards[k] + 1.0) / 4.0 / (double)count;
        }
        gain_test_add_slots(&test, weights, rewards, count, 1.0);
        for (size_t bet = 0; bet < GAIN_BETS; bet++)
            assert_close(test.bets[bet].sum * (1.0 + slacks[bet]) - slacks[bet], mean, 1e-12);
        if (trial % 7 == 0) assert_close(mean, -1.0, 1e-12);
    }
}

/* One who takes other actions than the log, which earn as much, slot by slot: looked at after every round, it passes
 * with chance alpha at most. */
TEST(slots_pass_rarely_where_nothing_is_gained)
{
    enum { TRIALS = 400, ROUNDS = 1000 };
    const double alpha = 0.1;
    random_stream stream = random_named(4, "gain slots");
    size_t passed = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        gain_test test = gain_test_start(unit);
        bool passes = false;
        for (size_t i = 0; i < ROUNDS && !passes; i++) {
            double weights[SLOTS], rewards[SLOTS];
            for (size_t k = 0; k < SLOTS; k++) {
                weights[k] = random_unit(&stream) < 0.25 ? 0.7 / 0.25 : 0.3 / 0.75;
                rewards[k] = random_unit(&stream) < 0.5;
            }
            gain_test_add_slots(&test, weights, rewards, SLOTS, 1.0);
            passes = gain_test_passes(&test, alpha);
        }
        passed += passes;
    }
    assert_true((double)passed <= alpha * TRIALS);
}

TEST(slots_pass_where_something_is_gained)
{
    random_stream stream = random_named(5, "gain slots");
    gain_test test = gain_test_start(unit);
    for (size_t i = 0; i < 2000; i++) {
        double weights[SLOTS], rewards[SLOTS];
        for (size_t k = 0; k < SLOTS; k++) {
            bool same = random_unit(&stream) < 0.5;
            weights[k] = same ? 1.8 : 0.2;
            rewards[k] = random_unit(&stream) < (same ? 0.6 : 0.4);
        }
        gain_test_add_slots(&test, weights, rewards, SLOTS, 1.0);
    }
    assert_true(gain_test_passes(&test, 0.001));
}
