/* What a confidence sequence promises: that it holds the truth at all times at once. That its numbers are those of
 * Vowpal Wabbit, where it is to be the same, stands in test_interval.c. */
#include "evaluate/intervals/confidence_sequence.h"

#include "base/random.h"
#include "support.h"

enum { ACTIONS = 3, REPLICATIONS = 400, ROUNDS = 3000, LOOKS = 30 };

/* Two contexts. The log takes the last action once in 10 or 20 rounds, the evaluated policy nearly always: weights up
 * to 19, and 0.05 elsewhere. */
static const double p[2][ACTIONS] = {{0.6, 0.3, 0.1}, {0.5, 0.45, 0.05}};
static const double pi[2][ACTIONS] = {{0.03, 0.02, 0.95}, {0.04, 0.01, 0.95}};
static const double chances[2][ACTIONS] = {{0.2, 0.1, 0.3}, {0.05, 0.4, 0.7}};
static const double model[2][ACTIONS] = {{0.25, 0.2, 0.25}, {0.1, 0.3, 0.6}};

/* Rewards are low or high. */
static const value_range range = {-1, 3, INFINITY};

static double value_of(const double policy[2][ACTIONS])
{
    double value = 0.0;
    for (size_t x = 0; x < 2; x++)
        for (size_t a = 0; a < ACTIONS; a++) value += 0.5 * policy[x][a] * (-1.0 + 4.0 * chances[x][a]);
    return value;
}

typedef struct logged {
    size_t context, action;
    double reward;
} logged;

static logged draw(random_stream *stream)
{
    size_t x = (size_t)random_below(stream, 2), a = 0;
    for (double rest = random_unit(stream) - p[x][0]; rest >= 0.0 && a + 1 < ACTIONS; rest -= p[x][a]) a++;
    return (logged){x, a, random_unit(stream) < chances[x][a] ? 3.0 : -1.0};
}

typedef enum sequence_kind { BY_IPS, BY_DR, OF_GAIN, SEQUENCE_KINDS } sequence_kind;

static void add(confidence_sequence *sequences, logged round)
{
    double q[ACTIONS], weight = pi[round.context][round.action] / p[round.context][round.action];
    for (size_t a = 0; a < ACTIONS; a++) q[a] = -1.0 + 4.0 * model[round.context][a];
    confidence_sequence_add_ips(&sequences[BY_IPS], weight, round.reward, 1);
    confidence_sequence_add_gain(&sequences[OF_GAIN], weight, round.reward, 1);
    scored_round scored = {ACTIONS, pi[round.context], p[round.context], q, round.action, round.reward, 1};
    confidence_sequence_add_dr(&sequences[BY_DR], &scored);
}

/* 400 logs, each looked at thirty times: at most 5% of them may ever miss the truth, as they do at alpha = 0.05. The
 * seed is fixed, so is the answer. */
TEST(covers_at_all_times)
{
    double truth[SEQUENCE_KINDS] = {value_of(pi), value_of(pi), value_of(pi) - value_of(p)};
    size_t missed[SEQUENCE_KINDS] = {0};
    double width[SEQUENCE_KINDS] = {0};
    random_stream stream = random_named(7, "covers");
    for (size_t i = 0; i < REPLICATIONS; i++) {
        confidence_sequence sequences[SEQUENCE_KINDS] = {
            confidence_sequence_of_ips(range), confidence_sequence_of_dr(range), confidence_sequence_of_gain(range)};
        bool holds[SEQUENCE_KINDS] = {true, true, true};
        for (size_t t = 1; t <= ROUNDS; t++) {
            add(sequences, draw(&stream));
            if (t % (ROUNDS / LOOKS)) continue;
            for (size_t k = 0; k < SEQUENCE_KINDS; k++) {
                interval at = confidence_sequence_interval(&sequences[k], 0.05);
                holds[k] = holds[k] && at.low <= truth[k] && truth[k] <= at.high;
                if (t == ROUNDS) width[k] += (at.high - at.low) / REPLICATIONS;
            }
        }
        for (size_t k = 0; k < SEQUENCE_KINDS; k++) missed[k] += !holds[k];
    }
    for (size_t k = 0; k < SEQUENCE_KINDS; k++) {
        assert_true(missed[k] <= REPLICATIONS / 20);
        assert_true(width[k] < 2.0);
    }
}

/* Coins that fall on 1 nine times in ten, looked at after each: at alpha = 0.2 at most one in five may ever miss the
 * truth, and one in ten does, so that it is no wider than it has to be. */
TEST(as_tight_as_promised_for_coins)
{
    size_t missed = 0;
    random_stream stream = random_named(3, "coins");
    for (size_t i = 0; i < REPLICATIONS; i++) {
        one_sided_sequence sequence = {0};
        bool holds = true;
        for (size_t t = 0; t < 200; t++) {
            one_sided_add(&sequence, random_unit(&stream) < 0.9 ? 1.0 : 0.0, 1);
            holds = holds && one_sided_lower(&sequence, 0.2) <= 0.9;
        }
        missed += !holds;
    }
    assert_in_range(missed, REPLICATIONS / 20, REPLICATIONS / 5);
}

/* Rounds that were dropped are rounds of 0. */
TEST(copies_are_zeros_and_one_that_counts_for_all)
{
    for (int loose = 0; loose < 2; loose++) {
        one_sided_sequence together = {.loose = loose}, apart = {.loose = loose};
        random_stream stream = random_named(0, "copies");
        for (int i = 0; i < 50; i++) {
            double y = 4.0 * random_unit(&stream) * random_unit(&stream), copies = (double)(1 + i % 5);
            one_sided_add(&together, y, copies);
            for (double k = 1; k < copies; k++) one_sided_add(&apart, 0.0, 1);
            one_sided_add(&apart, copies * y, 1);
        }
        assert_close(together.count, apart.count, 1e-15);
        assert_close(together.sum, apart.sum, 1e-14);
        assert_close(together.variation, apart.variation, 1e-13);
    }
}

static double lower_of(double variation, double alpha)
{
    return one_sided_lower(&(one_sided_sequence){.count = 1e5, .sum = 5e4, .variation = variation}, alpha);
}

/* Two ways to find the end meet at a variation of 999. */
TEST(smooth_in_the_variation)
{
    double step = lower_of(998.99, 0.05) - lower_of(998.999, 0.05);
    assert_close((lower_of(998.999, 0.05) - lower_of(999.001, 0.05)) / step, 2.0 / 9.0, 1e-3);
    assert_true(lower_of(1e9, 0.05) < lower_of(1e8, 0.05));
    assert_true(lower_of(1e3, 0.01) < lower_of(1e3, 0.05));
}

/* By hand: the weight is 9.5, so q of the first action is cut from 1 to 1 / 9.5; then d = 0.1 + 0.05, and the term of a
 * reward of 0 is 0.15 - 1. Turned, q is 0 and the reward 1: the term is 9.5. */
TEST(predictions_are_cut_for_dr)
{
    const double policy[] = {0.95, 0.05}, log[] = {0.1, 0.9}, q[] = {1, 1};
    confidence_sequence sequence = confidence_sequence_of_dr((value_range){0, 1, INFINITY});
    confidence_sequence_add_dr(&sequence, &(scored_round){2, policy, log, q, 0, 0.0, 1.0});
    assert_close(sequence.below.sum, (0.15 - 1.0 + 1.0) / 2.0, 1e-15);
    assert_close(sequence.above.sum, (9.5 + 1.0) / 2.0, 1e-15);
}

/* The quick question has the answer that the lower end would give. */
TEST(gains_are_found_when_the_lower_end_passes_zero)
{
    random_stream stream = random_named(11, "gains");
    const double alphas[] = {0.3, 0.05, 0.025, 1e-4};
    size_t above = 0, below = 0;
    for (size_t run = 0; run < 40; run++) {
        confidence_sequence gain = confidence_sequence_of_gain((value_range){0.0, 1.0, INFINITY});
        for (size_t i = 0; i < 3000; i++) {
            double weight = random_unit(&stream) < 0.5 ? 0.2 : 1.8;
            double reward = random_unit(&stream) < (weight > 1.0 ? 0.5 + 0.004 * (double)run : 0.5);
            confidence_sequence_add_gain(&gain, weight, reward, 1.0);
            if (i % 37 != 0) continue;
            for (size_t k = 0; k < sizeof alphas / sizeof *alphas; k++) {
                double low = confidence_sequence_interval(&gain, 2.0 * alphas[k]).low;
                bool found = one_sided_log_wealth(&gain.below, 0.5) > -log(alphas[k]);
                if (fabs(low) > 1e-9) assert_int_equal(found, low > 0.0);
                above += found;
                below += !found;
            }
        }
    }
    assert_true(above > 1000 && below > 1000);
}

TEST(all_that_is_possible_before_the_first_round)
{
    confidence_sequence value = confidence_sequence_of_dr(range), gain = confidence_sequence_of_gain(range);
    interval at = confidence_sequence_interval(&value, 0.05), of = confidence_sequence_interval(&gain, 0.05);
    assert_true(at.low == -1.0 && at.high == 3.0);
    assert_true(of.low == -4.0 && of.high == 4.0);
}
