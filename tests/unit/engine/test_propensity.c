/* From scores to an arm: who wins, with which probability, and what is drawn. */
#include "support.h"

#include "engine/propensity.h"

enum { MOST = 6 };

typedef struct choice {
    size_t arm;
    double probability;
    bool drawn; /* the stream moved */
} choice;

static choice choose(const float *values, size_t count, random_stream *stream)
{
    ee_score scores[MOST];
    for (size_t i = 0; i < count; i++) scores[i] = (ee_score){9, 9, values[i]}; /* ranked by the score alone */
    random_stream before = *stream;
    choice made = {SIZE_MAX, -1, false};
    double probabilities[MOST];
    propensity_fill((propensity_rule){.kind = PROPENSITY_ARGMAX}, scores, count, probabilities);
    made.arm = propensity_draw(probabilities, count, stream);
    made.probability = probabilities[made.arm];
    made.drawn = memcmp(&before, stream, sizeof before) != 0;
    return made;
}

/* Who may win: a 1 for each arm that shares the first place. */
typedef struct contest {
    size_t count;
    float values[MOST];
    int winners[MOST];
} contest;

static const contest contests[] = {
    {1, {-3}, {1}},
    {3, {1, 2, 3}, {0, 0, 1}},
    {3, {3, 2, 1}, {1, 0, 0}},
    {4, {-1, -0.5f, -7, -2}, {0, 1, 0, 0}},
    {3, {2, 1, 2}, {1, 0, 1}},
    {5, {0, 4, 4, 1, 4}, {0, 1, 1, 0, 1}},
    {2, {0.0f, -0.0f}, {1, 1}}, /* the two zeros are equal */
    {3, {INFINITY, 5, INFINITY}, {1, 0, 1}},
    {2, {-INFINITY, -1e38f}, {0, 1}},
    /* A score that is not a number, from a network that diverged, loses to any other. */
    {3, {NAN, -INFINITY, NAN}, {0, 1, 0}},
    {4, {1, NAN, 3, NAN}, {0, 0, 1, 0}},
    {4, {NAN, 2, NAN, 2}, {0, 1, 0, 1}},
    {3, {NAN, NAN, NAN}, {1, 1, 1}},
    {1, {NAN}, {1}},
};

TEST(the_best_share_the_probability_and_the_stream_decides)
{
    enum { DRAWS = 3000 };
    random_stream stream = random_named(1, "test");
    for (size_t i = 0; i < sizeof contests / sizeof *contests; i++) {
        const contest *c = &contests[i];
        size_t counts[MOST] = {0};
        int winners = 0;
        for (size_t arm = 0; arm < c->count; arm++) winners += c->winners[arm];
        for (size_t draw = 0; draw < DRAWS; draw++) {
            choice made = choose(c->values, c->count, &stream);
            assert_true(made.arm < c->count);
            assert_true(made.probability == 1.0 / winners);
            /* A winner without a rival takes nothing from the stream: later draws do not depend on it. */
            assert_int_equal(made.drawn, winners > 1);
            counts[made.arm]++;
        }
        double mean = (double)DRAWS / winners, deviation = sqrt(mean * (1 - 1.0 / winners));
        for (size_t arm = 0; arm < c->count; arm++) {
            double expected = c->winners[arm] ? mean : 0;
            assert_true(fabs((double)counts[arm] - expected) <= (c->winners[arm] ? 5 * deviation : 0));
        }
    }
    static const float even[MOST] = {0};
    random_stream a = random_named(7, "test"), b = a, c = random_named(8, "test");
    size_t differ = 0;
    for (size_t i = 0; i < 100; i++) {
        size_t arm = choose(even, MOST, &a).arm;
        assert_int_equal(arm, choose(even, MOST, &b).arm);
        differ += arm != choose(even, MOST, &c).arm;
    }
    assert_true(differ > 50);
}

enum { ARMS = 5, DRAWS = 100000 };
static const float example[ARMS] = {0.3f, 0.9f, -0.2f, 0.9f, 0.5f}; /* two share the first place */

static void fill_example(propensity_rule rule, double *probabilities)
{
    ee_score scores[ARMS];
    for (size_t i = 0; i < ARMS; i++) scores[i] = (ee_score){0, 0, example[i]};
    propensity_fill(rule, scores, ARMS, probabilities);
}

TEST(rules_are_their_formulas)
{
    double p[ARMS], sum = 0;
    fill_example((propensity_rule){.kind = PROPENSITY_FLOOR, .amount = 0.2}, p);
    for (size_t i = 0; i < ARMS; i++) assert_close(p[i], 0.2 / ARMS + (i == 1 || i == 3 ? 0.8 / 2 : 0), 1e-12);
    fill_example((propensity_rule){.kind = PROPENSITY_SOFTMAX, .amount = 0.5}, p);
    for (size_t i = 0; i < ARMS; i++) sum += exp((double)example[i] / 0.5);
    for (size_t i = 0; i < ARMS; i++) assert_close(p[i], exp((double)example[i] / 0.5) / sum, 1e-7);
    fill_example((propensity_rule){.kind = PROPENSITY_IGW, .amount = 7}, p);
    double rest = 1;
    for (size_t i = 0; i < ARMS; i++) {
        if (i == 1 || i == 3) continue;
        assert_close(p[i], 1 / (ARMS + 7 * (0.9 - (double)example[i])), 1e-7);
        rest -= p[i];
    }
    assert_close(p[1], rest / 2, 1e-12);
    assert_close(p[3], rest / 2, 1e-12);
}

/* FastCB's l(b) / (n l(b) + gamma (l - l(b))), for losses up to a largest reward of 1.5. */
TEST(losses_weigh_the_gaps_and_the_first_of_equal_arms_is_taken)
{
    double p[ARMS], rest = 1, least = 1.5 - (double)0.9f;
    fill_example((propensity_rule){.kind = PROPENSITY_LOSS_IGW, .amount = 4, .most = 1.5}, p);
    for (size_t i = 0; i < ARMS; i++) {
        if (i == 1 || i == 3) continue;
        double loss = 1.5 - (double)example[i];
        assert_close(p[i], least / (ARMS * least + 4 * (loss - least)), 1e-12);
        rest -= p[i];
    }
    assert_close(p[1], rest / 2, 1e-12);
    assert_close(p[3], rest / 2, 1e-12);
    /* Without a loss the best are played alone, also where rounding put them above the largest reward. */
    for (double most = (double)0.9f; most > 0.89; most -= 0.005) {
        fill_example((propensity_rule){.kind = PROPENSITY_LOSS_IGW, .amount = 4, .most = most}, p);
        for (size_t i = 0; i < ARMS; i++) assert_true(p[i] == (i == 1 || i == 3 ? 0.5 : 0));
    }
    /* gamma = 0: the gaps are no matter. */
    fill_example((propensity_rule){.kind = PROPENSITY_LOSS_IGW, .amount = 0, .most = (double)0.9f}, p);
    for (size_t i = 0; i < ARMS; i++) assert_close(p[i], 1.0 / ARMS, 1e-12);
    /* As numpy's argmax, which the authors' code decides by. */
    const ee_score scores[] = {{.score = 1}, {.score = NAN}, {.score = 3}, {.score = 2}, {.score = 3}};
    const double expected[] = {0, 0, 1, 0, 0};
    double probabilities[5];
    propensity_fill((propensity_rule){.kind = PROPENSITY_FIRST}, scores, 5, probabilities);
    for (size_t i = 0; i < 5; i++) assert_true(probabilities[i] == expected[i]);
    propensity_fill((propensity_rule){.kind = PROPENSITY_FIRST}, scores + 1, 1, probabilities);
    assert_true(probabilities[0] == 1);
}

TEST(probabilities_sum_to_one)
{
    static const float extreme[] = {3e38f, -3e38f, 0, NAN, 1e-40f, -1};
    const propensity_rule rules[] = {{.kind = PROPENSITY_ARGMAX},
                                     {.kind = PROPENSITY_FLOOR, .amount = 1},
                                     {.kind = PROPENSITY_FLOOR, .amount = 0.01},
                                     {.kind = PROPENSITY_SOFTMAX, .amount = 1e-6},
                                     {.kind = PROPENSITY_IGW},
                                     {.kind = PROPENSITY_IGW, .amount = 1e9},
                                     {.kind = PROPENSITY_SOFTMAX, .amount = 1e6},
                                     {.kind = PROPENSITY_IGW, .amount = 100},
                                     {.kind = PROPENSITY_LOSS_IGW, .amount = 10, .most = 3},
                                     {.kind = PROPENSITY_LOSS_IGW, .amount = 10, .most = 3.1e38}};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        for (size_t count = 1; count <= 6; count++) {
            ee_score scores[6];
            double p[6], sum = 0;
            for (size_t i = 0; i < count; i++) scores[i] = (ee_score){0, 0, extreme[i]};
            propensity_fill(rules[r], scores, count, p);
            for (size_t i = 0; i < count; i++) {
                assert_true(p[i] >= 0 && p[i] <= 1);
                sum += p[i];
            }
            assert_close(sum, 1, 1e-12);
        }
    }
}

TEST(draws_follow_the_probabilities)
{
    const propensity_rule rules[] = {{.kind = PROPENSITY_ARGMAX},
                                     {.kind = PROPENSITY_FLOOR, .amount = 0.3},
                                     {.kind = PROPENSITY_SOFTMAX, .amount = 0.4},
                                     {.kind = PROPENSITY_IGW, .amount = 5}};
    random_stream stream = random_named(5, "draws");
    for (size_t r = 0; r < 4; r++) {
        double p[ARMS], square = 0;
        size_t counts[ARMS] = {0};
        fill_example(rules[r], p);
        for (size_t i = 0; i < DRAWS; i++) counts[propensity_draw(p, ARMS, &stream)]++;
        for (size_t i = 0; i < ARMS; i++) {
            double expected = p[i] * DRAWS, off = (double)counts[i] - expected;
            if (p[i] > 0)
                square += off * off / expected;
            else
                assert_int_equal(counts[i], 0);
        }
        assert_true(square < 18.5); /* chi-square, four degrees of freedom: 99.9% is 18.47 */
    }
}
