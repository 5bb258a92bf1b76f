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
    return p->times[i] > 0 ? expected + p->agreed / (p->spread + 1) * (p->mean[i] - expected) : expected;
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
        cmocka_unit_test(certain_rewards_are_believed_and_noise_is_not),
        cmocka_unit_test(nothing_is_said_of_an_arm_that_never_came),
        cmocka_unit_test(an_arm_is_its_entries_that_are_not_zero),
        cmocka_unit_test(a_full_memory_forgets_the_older_arm),
        cmocka_unit_test(no_room_recalls_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
