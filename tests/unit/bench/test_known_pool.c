#include "bench/studies/known_pool.h"

#include <math.h>

#include "data/support_sets.h"
#include "support.h"

static known_policy parse(const char *text)
{
    known_policy which;
    ee_error error = {EE_OK, ""};
    if (known_policy_parse(text, &which, &error)) fail_msg("%s: %s", text, error.message);
    return which;
}

TEST(policies_have_names)
{
    static const char *const names[][2] = {
        {"uniform", "uniform"},      {"little", "little"},       {"greedy", "greedy"},   {"floor", "floor:0.5"},
        {"floor:0.20", "floor:0.2"}, {"softmax:2", "softmax:2"}, {"igw:1e3", "igw:1000"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[KNOWN_TEXT];
        known_policy_format(parse(names[i][0]), text);
        assert_string_equal(text, names[i][1]);
        assert_true(known_policy_explores(parse(names[i][0])) == (i == 0 || i > 2));
    }
    static const char *const bad[] = {
        "", "unifor", "uniform:1", "floor:", "floor:0", "floor:1.5", "softmax:nan", "igw:x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        known_policy which;
        assert_int_equal(known_policy_parse(bad[i], &which, NULL), EE_BAD_OPTION);
    }
}

/* The value of a policy is what it gets when it is played for long. */
TEST(values_are_exact)
{
    enum { POOL = 50, ARMS = 5, PLAYED = 30000 };
    RELEASED_BY(known_pool_release) known_pool pool = {0};
    auto_dataset *data = open_data("synthetic:clicks,arms=5,rate=0.3");
    known_plan plan = {data, 3, 1000, POOL};
    ok(known_pool_create(&plan, &pool, &last_error));
    assert_true(pool.binary && pool.low == 0 && pool.high == 1 && pool.arms == ARMS);

    static const char *const names[] = {"uniform", "little", "greedy", "floor", "softmax", "igw"};
    double values[sizeof names / sizeof *names];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double probabilities[POOL * ARMS], sum = 0;
        random_stream random = random_named(7, "a test");
        known_pool_probabilities(&pool, parse(names[k]), probabilities);
        values[k] = known_pool_value(&pool, probabilities);
        for (size_t i = 0; i < PLAYED; i++) {
            size_t row = random_below(&random, POOL) * ARMS;
            size_t arm = propensity_draw(probabilities + row, ARMS, &random);
            sum += pool.expected[row + arm];
        }
        assert_true(fabs(sum / PLAYED - values[k]) < 0.01);
    }
    assert_true(values[2] > values[0] + 0.1); /* the model has learned */
    assert_true(fabs(values[3] - 0.5 * (values[2] + values[0])) < 1e-12);

    double error_of_model = 0, error_of_mean = 0;
    for (size_t i = 0; i < POOL * ARMS; i++) {
        assert_true(pool.predicted[i] >= 0 && pool.predicted[i] <= 1);
        error_of_model += pow(pool.predicted[i] - pool.expected[i], 2);
        error_of_mean += pow(values[0] - pool.expected[i], 2);
    }
    assert_true(error_of_model < error_of_mean);
}

/* Rewards that are no clicks are certain: what they can be is what there is. */
TEST(other_rewards_are_certain)
{
    RELEASED_BY(known_pool_release) known_pool pool = {0};
    auto_dataset *data = open_data("synthetic:inner,arms=3");
    known_plan plan = {data, 0, 20, 30};
    ok(known_pool_create(&plan, &pool, NULL));
    assert_true(!pool.binary);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < pool.count * pool.arms; i++) {
        low = fmin(low, pool.expected[i]);
        high = fmax(high, pool.expected[i]);
        assert_true(pool.predicted[i] >= pool.low && pool.predicted[i] <= pool.high);
    }
    assert_true(low == pool.low && high == pool.high);
}
