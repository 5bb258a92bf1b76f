/* From scores to an arm: who wins, with which probability, and what is drawn. */
#include "support.h"

#include <math.h>
#include <string.h>

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
    made.arm = propensity_argmax(scores, count, stream, &made.probability);
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

static void the_best_share_the_probability(void **state)
{
    (void)state;
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
}

static void the_stream_decides(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_share_the_probability),
        cmocka_unit_test(the_stream_decides),
    };
    return cmocka_run_group_tests_name("propensity", tests, NULL, NULL);
}
