/* f2 as a regression: what it adds to the parts that it is made of, which have tests of their own. */
#include "eenet_parts.h"

#include "math/float_mode.h"
#include "policy/parts/gain_regression.h"
#include "policy/parts/initial_features.h"
#include "policy/parts/recall.h"

enum { ARMS = 6, SHOWN = 3, ROOM = 64, PLAYED = 80, LATE = 4 };

#define COMMON "scale=off f1.width=6 exploration=ridge refresh=3 prior_gain=0.7 ridge=2 "

static round_arms every_arm; /* that there is: the same few come again and again */

/* A round of some of them, in sparse form. */
typedef struct shown {
    ee_arms arms;
    size_t starts[SHOWN + 1];
    uint32_t indices[SHOWN * PARTS_DIM];
    float values[SHOWN * PARTS_DIM];
} shown;

static void show(shown *self, random_stream *draw)
{
    size_t end = 0;
    for (size_t i = 0; i < SHOWN; i++) {
        vector x = vector_of_arm(&every_arm.sparse, (size_t)random_below(draw, ARMS));
        memcpy(self->indices + end, x.indices, x.count * sizeof *x.indices);
        memcpy(self->values + end, x.values, x.count * sizeof *x.values);
        self->starts[i] = end;
        end += x.count;
    }
    self->starts[SHOWN] = end;
    self->arms = ee_arms_sparse(self->starts, self->indices, self->values, SHOWN, PARTS_DIM);
}

/* What f2 says now of the arm of a decision. */
static float gain_now(const parts *self, const parts_decision *made)
{
    guard end;
    ee_score score;
    vector x = made->seen.x;
    size_t starts[] = {0, x.count};
    ee_arms one = ee_arms_sparse(starts, x.indices, x.values, 1, PARTS_DIM);
    parts_score(self, &one, &end, &score);
    guard_free(&end);
    return score.exploration;
}

/* An f2 with a memory of arms beside one without, which play the same, and a memory of the test's own. What is
 * expected of an arm without its past is f1 and the gain that the regression has for it: it is that which the past is
 * held against, and which it makes better. */
static void check_memory(const char *with, const char *without)
{
    parts self, plain;
    parts_make(&self, with);
    parts_make(&plain, without);
    parts_draw(&self, &every_arm, 7, ARMS);
    float *past = calloc(recall_count(ROOM), sizeof *past);
    random_stream draw = random_named(2, "rounds");
    parts_decision made[PLAYED], same[PLAYED];
    float largest = 0;
    for (size_t t = 0; t < PLAYED; t++) {
        ee_score scores[SHOWN], plain_scores[SHOWN];
        shown round;
        show(&round, &draw);
        parts_decide(&self, &round.arms, t % SHOWN, &made[t], scores);
        parts_decide(&plain, &round.arms, t % SHOWN, &same[t], plain_scores);
        for (size_t i = 0; i < SHOWN; i++) {
            float expected = plain_scores[i].exploitation + plain_scores[i].exploration;
            float recalled = recall_expect(past, ROOM, vector_of_arm(&round.arms, i), expected);
            assert_close(scores[i].exploitation + scores[i].exploration, recalled, 1e-5);
            largest = fmaxf(largest, fabsf(recalled - expected));
        }
        if (t < LATE) continue;
        size_t of = t - LATE;
        const observation *o = &same[of].seen;
        float reward = 3 * o->x.values[0] + 0.2f * (float)random_normal(&draw);
        recall_add(past, ROOM, o->x, o->score.exploitation + gain_now(&plain, &same[of]), reward);
        parts_observe(&self, &made[of], reward);
        parts_observe(&plain, &same[of], reward);
        parts_train(&self);
        parts_train(&plain);
    }
    assert_true(largest > 0.05f); /* the past had a say */
    free(past);
    for (size_t t = PLAYED - LATE; t < PLAYED; t++) {
        guard_free(&made[t].kept);
        guard_free(&same[t].kept);
    }
    parts_free(&self);
    parts_free(&plain);
}

static void the_past_is_held_against_f1_and_the_regression(void **state)
{
    (void)state;
    check_memory(COMMON "recall=64", COMMON "recall=0");
    check_memory(COMMON "blocks=3 recall=64", COMMON "blocks=3 recall=0");
}

/* The size of a gain, or its positive part, is not what rewards can tell of an arm. */
static void other_labels_have_no_memory(void **state)
{
    (void)state;
    const char *labels[] = {"abs", "relu"};
    for (size_t i = 0; i < 2; i++) {
        char options[256];
        parts with, without;
        snprintf(options, sizeof options, COMMON "label=%s recall=64", labels[i]);
        parts_make(&with, options);
        snprintf(options, sizeof options, COMMON "label=%s recall=0", labels[i]);
        parts_make(&without, options);
        assert_int_equal(with.f2->theta_count, without.f2->theta_count);
        parts_free(&with);
        parts_free(&without);
    }
}

/* ---- gains ---- */

/* The regression alone, told by the test: of each reward its gain less the prior, of each training the gains of the
 * samples that it draws, by f1 as it is then. */
static void gains_are_regressed_and_drawn_to_be_computed_again(void **state)
{
    (void)state;
    parts self;
    parts_make(&self, COMMON "recall=0");
    parts_draw(&self, &every_arm, 7, ARMS);
    const network *f1 = &self.f1.f1.network;
    initial_features features;
    gain_regression gains;
    ee_error error = {0};
    assert_int_equal(initial_features_create(&features, &self.owner, f1, 200, &error), EE_OK);
    initial_features_set(&features, f1, self.f1.f1.initial);
    assert_int_equal(gain_regression_create(&gains, &self.owner, 1, features.count, 2, &error), EE_OK);
    assert_int_equal(self.f2->theta_count, features.count);
    float theta[64] = {0}, phi[PLAYED][64], activations[256], predicted[PLAYED], reward[PLAYED];
    size_t played[PLAYED];
    random_stream draw = random_named(2, "rounds"), refreshing = random_named(PARTS_SEED, "refreshing");
    for (size_t t = 0; t < PLAYED; t++) {
        ee_score scores[ARMS];
        parts_decision made;
        played[t] = (size_t)random_below(&draw, ARMS);
        parts_decide(&self, &every_arm.sparse, played[t], &made, scores);
        predicted[t] = scores[played[t]].exploitation;
        reward[t] = (float)random_normal(&draw);
        initial_features_compute(&features, made.seen.x, activations, phi[t]);
        gain_regression_add(&gains, 0, phi[t], reward[t] - predicted[t] - 0.7f);
        parts_observe(&self, &made, reward[t]);
        parts_train(&self);
        for (int i = 0; i < 3; i++) {
            size_t s = (size_t)random_below(&refreshing, t + 1);
            float now = network_forward(f1, self.theta1, vector_of_arm(&every_arm.sparse, played[s]), activations);
            gain_regression_correct(&gains, 0, phi[s], (reward[s] - now) - (reward[s] - predicted[s]));
            predicted[s] = now;
        }
        gain_regression_solve(&gains, theta);
        assert_floats_close(self.theta2, theta, features.count, 1e-6);
    }
    parts_free(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_past_is_held_against_f1_and_the_regression),
        cmocka_unit_test(other_labels_have_no_memory),
        cmocka_unit_test(gains_are_regressed_and_drawn_to_be_computed_again),
    };
    float_mode_enter(); /* as the engine computes */
    return cmocka_run_group_tests_name("regression_exploration", tests, NULL, NULL);
}
