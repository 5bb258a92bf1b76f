/* Recall against the plain sums over all that came, and what it must do with noise, with change and with little room.
 */
#include "policy/parts/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support.h"

enum { DIM = 5, ARMS = 30, ROOM = 512, ROUNDS = 600, MOST_TIMES = 64, MOST_AGAIN = 4096 };

static float features[ARMS][DIM];

static void draw_features(uint64_t seed)
{
    random_stream draw = random_named(seed, "features");
    for (size_t i = 0; i < ARMS; i++)
        for (size_t j = 0; j < DIM; j++) features[i][j] = random_below(&draw, 3) ? (float)random_normal(&draw) : 0;
}

static vector arm(size_t i)
{
    return vector_dense(features[i], DIM);
}

static float *make_memory(size_t arms)
{
    return calloc(recall_count(arms) + 1, sizeof(float));
}

/* What recall.h says, by what is known of each arm by its number. */
typedef struct plain {
    double agreed, spread, mean[ARMS], times[ARMS];
} plain;

static double plain_expect(const plain *p, size_t i, double expected)
{
    double weight = fmin(fmax(p->agreed / (p->spread + 1), 0), 1);
    return p->times[i] > 0 ? expected + weight * (p->mean[i] - expected) : expected;
}

static void plain_add(plain *p, size_t i, double expected, double reward)
{
    double more = p->mean[i] - expected;
    if (p->times[i] > 0) {
        p->agreed += more * (reward - expected) - p->agreed / MOST_AGAIN;
        p->spread += more * more - p->spread / MOST_AGAIN;
    }
    p->times[i] += p->times[i] < MOST_TIMES;
    p->mean[i] += (reward - p->mean[i]) / p->times[i];
}

static void is_the_least_squares_over_arms_that_came_again(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        draw_features(seed);
        random_stream draw = random_named(seed, "rewards");
        float *memory = make_memory(ROOM);
        plain p = {0};
        for (int t = 0; t < ROUNDS; t++) {
            size_t i = (size_t)random_below(&draw, ARMS);
            float expected = (float)random_normal(&draw), reward = (float)random_normal(&draw) + (float)i / ARMS;
            assert_close(recall_expect(memory, ROOM, arm(i), expected), plain_expect(&p, i, expected), 1e-4);
            recall_add(memory, ROOM, arm(i), expected, reward);
            plain_add(&p, i, expected, reward);
        }
        free(memory);
    }
}

/* ---- whatever comes, a prediction lies between what was expected and the mean of the arm's own rewards ---- */

/* What a sequence draws its rewards and expectations from. */
typedef struct regime {
    double reward, reward_spread; /* mean and deviation */
    double error, error_spread;   /* of the expectation: from the reward, or from 0 where there is `blind` */
    bool blind;
} regime;

static const regime regimes[] = {
    {0, 1, 0, 1, true},          /* noise */
    {0.5, 0, 0, 0, true},        /* always the same */
    {1, 0.1, -1, 0.1, false},    /* always too little is expected */
    {-3, 1, 2, 1, false},        /* always too much, of losses */
    {0, 1, 0, 0.01, false},      /* what is expected is nearly what comes: the past makes it worse */
    {0, 1, 30, 1, false},        /* far too much */
    {1e9, 0, 0, 1e9, true},      /* as large as rewards may be */
    {-1e9, 1e8, 1e9, 1e3, true}, /* and negative */
    {1, 1, 0, 1e15, true},       /* the sums grow large, */
    {1, 1, 0, 1e25, true},       /* overflow, */
    {1, 1, 3e38, 0, true},       /* and could not hold one sample */
};

static float as_float(double x)
{
    return (float)fmin(fmax(x, -3e38), 3e38);
}

/* Plays one sequence: an arm now and then gets what its regime does not draw. Returns in how many predictions the past
 * had a say. */
static int play_any(const regime *r, uint64_t seed, double surprises)
{
    draw_features(seed);
    random_stream draw = random_named(seed, "anything");
    float *memory = make_memory(ROOM);
    plain p = {0};
    double largest = 0;
    int used = 0;
    for (int t = 0; t < ROUNDS; t++) {
        size_t i = (size_t)random_below(&draw, ARMS);
        const regime *now =
            random_unit(&draw) < surprises ? &regimes[random_below(&draw, sizeof regimes / sizeof *regimes)] : r;
        float reward = as_float(now->reward + now->reward_spread * random_normal(&draw));
        double error = now->error + now->error_spread * random_normal(&draw);
        float expected = as_float(now->blind ? error : error + (double)reward);
        double got = recall_expect(memory, ROOM, arm(i), expected), mean = p.times[i] > 0 ? p.mean[i] : expected;
        double low = fmin(expected, mean), high = fmax(expected, mean);
        double rounding = 1e-5 * fmax(largest, fmax(fabs(low), fabs(high)));
        assert_true(got >= low - rounding && got <= high + rounding);
        used += fabs(got - expected) > rounding;
        recall_add(memory, ROOM, arm(i), expected, reward);
        plain_add(&p, i, expected, reward);
        largest = fmax(largest, fabs(reward));
    }
    for (size_t k = 0; k < recall_count(ROOM); k++) assert_true(isfinite(memory[k]));
    free(memory);
    return used;
}

static void a_prediction_lies_between_the_expected_and_the_mean(void **state)
{
    (void)state;
    int used = 0;
    for (size_t r = 0; r < sizeof regimes / sizeof *regimes; r++) {
        for (uint64_t seed = 0; seed < 6; seed++) {
            used += play_any(&regimes[r], seed, 0);
            used += play_any(&regimes[r], seed, 0.05);
        }
    }
    assert_true(used > ROUNDS);
}

/* An absurd expectation of one arm does not end what is known of the others. */
static void what_overflows_is_left_out(void **state)
{
    (void)state;
    draw_features(1);
    float *memory = make_memory(ROOM);
    for (size_t i = 0; i < ARMS; i++)
        for (int t = 0; t < 5; t++) recall_add(memory, ROOM, arm(i), 0, 1);
    float before = recall_expect(memory, ROOM, arm(1), 0);
    assert_true(before > 0.9f && before <= 1);
    const float absurd[] = {1e30f, -1e30f, 3e38f, -3e38f, INFINITY, NAN};
    for (size_t k = 0; k < sizeof absurd / sizeof *absurd; k++) {
        recall_add(memory, ROOM, arm(2), absurd[k], 1);
        assert_true(recall_expect(memory, ROOM, arm(1), 0) == before);
        assert_true(recall_expect(memory, ROOM, arm(2), 0) == before);
    }
    free(memory);
}

/* What is expected of an arm whose reward is 1, a coin's where there is noise, 0 after a change; 0.5 without its past.
 */
static double recalled(double noise, double change, uint64_t seed)
{
    draw_features(seed);
    random_stream draw = random_named(seed, "rewards");
    float *memory = make_memory(ROOM);
    for (int t = 0; t < 20 * ROUNDS; t++) {
        size_t i = (size_t)random_below(&draw, ARMS);
        bool coin = random_unit(&draw) < 0.5, odd = i % 2 == 1;
        double reward = noise > 0 ? coin : odd;
        if (t >= 10 * ROUNDS && change > 0) reward = 1 - reward;
        recall_add(memory, ROOM, arm(i), 0.5f, (float)reward);
    }
    double got = recall_expect(memory, ROOM, arm(1), 0.5f);
    free(memory);
    return got;
}

static void certain_rewards_are_believed_and_noise_is_not(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        assert_true(recalled(0, 0, seed) > 0.99);
        assert_true(fabs(recalled(1, 0, seed) - 0.5) < 0.02);
        assert_true(recalled(0, 1, seed) < 0.1); /* what was true of an arm is not true any more */
    }
}

static void nothing_is_said_of_an_arm_that_never_came(void **state)
{
    (void)state;
    draw_features(1);
    float *memory = make_memory(ROOM);
    for (size_t i = 1; i < ARMS; i++)
        for (int t = 0; t < 3; t++) recall_add(memory, ROOM, arm(i), 0, 1);
    assert_true(recall_expect(memory, ROOM, arm(0), 0.25f) == 0.25f);
    assert_true(recall_expect(memory, ROOM, arm(1), 0.25f) > 0.9f);
    free(memory);
}

/* An arm is the same however it is written, and another one if a single feature is. */
static void an_arm_is_its_entries_that_are_not_zero(void **state)
{
    (void)state;
    float dense[4] = {0, 2, -0.0f, -1}, sparse[2] = {2, -1}, named[3] = {2, 0, -1}, other[4] = {0, 2, 0, -1.0000001f};
    uint32_t indices[2] = {1, 3}, named_indices[3] = {1, 2, 3}, shifted[2] = {0, 3};
    float *memory = make_memory(ROOM);
    for (int t = 0; t < 9; t++) recall_add(memory, ROOM, vector_dense(dense, 4), 0, 1);
    float known = recall_expect(memory, ROOM, vector_dense(dense, 4), 0);
    assert_true(known > 0.8f);
    assert_true(recall_expect(memory, ROOM, (vector){sparse, indices, 2}, 0) == known);
    assert_true(recall_expect(memory, ROOM, (vector){named, named_indices, 3}, 0) == known);
    assert_true(recall_expect(memory, ROOM, (vector){sparse, shifted, 2}, 0) == 0);
    assert_true(recall_expect(memory, ROOM, vector_dense(other, 4), 0) == 0);
    free(memory);
}

/* Ten thousand arms in little room: the last one is known, none of those that never came, and nothing is written beyond
 * the room. */
static void a_full_memory_forgets_the_older_arm(void **state)
{
    (void)state;
    for (size_t room = 1; room <= 40; room += 13) {
        float *memory = make_memory(room), x[2];
        for (int t = 0; t < 10000; t++) {
            x[0] = (float)(t + 1), x[1] = 1;
            for (int again = 0; again < 2; again++) recall_add(memory, room, vector_dense(x, 2), 0, 1);
            assert_true(recall_expect(memory, room, vector_dense(x, 2), 0) > 0.4f);
        }
        int known = 0;
        for (int t = 0; t < 10000; t++) {
            x[0] = (float)(t + 1), x[1] = 1;
            known += recall_expect(memory, room, vector_dense(x, 2), 0) != 0;
            x[1] = -1;
            assert_true(recall_expect(memory, room, vector_dense(x, 2), 0) == 0);
        }
        assert_true(known >= 1 && known <= (int)room);
        assert_true(memory[recall_count(room)] == 0);
        free(memory);
    }
}

/* An arm that takes the place of another takes over none of its rewards. */
static void an_arm_does_not_inherit(void **state)
{
    (void)state;
    draw_features(1);
    float *memory = make_memory(1);
    for (int t = 0; t < 50; t++) recall_add(memory, 1, arm(0), 0.5f, 1);
    assert_true(recall_expect(memory, 1, arm(0), 0.5f) > 0.9f);
    recall_add(memory, 1, arm(1), 0.5f, 0);
    assert_true(recall_expect(memory, 1, arm(1), 0.5f) < 0.1f);
    free(memory);
}

static void no_room_recalls_nothing(void **state)
{
    (void)state;
    draw_features(1);
    assert_int_equal(recall_count(0), 0);
    recall_add(NULL, 0, arm(0), 0, 1);
    assert_true(recall_expect(NULL, 0, arm(0), 0.5f) == 0.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_least_squares_over_arms_that_came_again),
        cmocka_unit_test(a_prediction_lies_between_the_expected_and_the_mean),
        cmocka_unit_test(what_overflows_is_left_out),
        cmocka_unit_test(certain_rewards_are_believed_and_noise_is_not),
        cmocka_unit_test(nothing_is_said_of_an_arm_that_never_came),
        cmocka_unit_test(an_arm_is_its_entries_that_are_not_zero),
        cmocka_unit_test(a_full_memory_forgets_the_older_arm),
        cmocka_unit_test(an_arm_does_not_inherit),
        cmocka_unit_test(no_room_recalls_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
