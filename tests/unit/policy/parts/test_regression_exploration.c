/* f2 as a regression: what it adds to the parts that it is made of, which have tests of their own. */
#include "eenet_parts.h"

#include "policy/parts/gain_regression.h"
#include "policy/parts/initial_features.h"
#include "policy/parts/recent_gains.h"

enum { ARMS = 6, PLAYED = 80 };

#define COMMON "scale=off f1.width=6 exploration=ridge refresh=3 prior_gain=0.7 ridge=2 width=0.4 recall=0 "

static round_arms every_arm; /* that there is: the same few come again and again */

/* The parts of f2, told by the test what f2 is told. */
typedef struct reported {
    initial_features features;
    gain_regression gains;
    recent_gains recent;
    float theta[128];
    size_t recent_theta;
    float phi[PLAYED][64], predicted[PLAYED], reward[PLAYED];
    size_t arm[PLAYED];
} reported;

static void told_make(reported *self, parts *from, bool recent)
{
    const network *f1 = &from->f1.f1.networks[0];
    memset(self, 0, sizeof *self);
    ok(initial_features_create(&self->features, &from->owner, f1, 200, &last_error));
    initial_features_set(&self->features, f1, from->f1.f1.initial);
    gain_regression_setup setup = {
        .heads = f1->heads, .dim = self->features.count, .lambda = 2, .sketched = true, .seed = PARTS_SEED};
    ok(gain_regression_create(&self->gains, &from->owner, &setup, &last_error));
    size_t units = recent ? 64 : 0; /* and as many as there are */
    ok(recent_gains_create(&self->recent, &from->owner, f1, units, &last_error));
    assert_int_equal(self->recent.units, recent ? 6 : 0);
    self->recent_theta = gain_regression_theta_count(&self->gains);
    assert_int_equal(from->f2->theta_count, self->recent_theta + recent_gains_theta_count(&self->recent));
    gain_regression_start(&self->gains, self->theta);
}

static void told_solve(reported *self, double spread)
{
    gain_regression_solve(&self->gains, 0.7, spread, self->theta);
    recent_gains_solve(&self->recent, spread, self->theta + self->recent_theta);
}

static const float *theta_of(const reported *self, const parts *from, vector x)
{
    return self->theta + network_head(&from->f1.f1.networks[0], x) * 2 * self->features.count;
}

static float learned_gain(const reported *self, const parts *from, vector x, const float *phi)
{
    return 0.7f + from->f1.f1.networks[0].kernels->dot(theta_of(self, from, x), phi, self->features.count);
}

/* prior + theta . phi + width / heads |g . phi| + what f1 was lately wrong by, times the spread */
static void assert_scores(reported *self, const parts *from, const ee_score *scores)
{
    const network *f1 = &from->f1.f1.networks[0];
    for (size_t i = 0; i < ARMS; i++) {
        vector x = vector_of_arm(&every_arm.sparse, i);
        float phi[64], activations[256];
        initial_features_compute(&self->features, x, activations, phi);
        float gain = learned_gain(self, from, x, phi);
        const float *sketch = theta_of(self, from, x) + self->features.count;
        gain += 0.4f / (float)f1->heads * fabsf(f1->kernels->dot(sketch, phi, self->features.count));
        network_outputs(f1, from->theta1, x, activations);
        gain += recent_gains_expect(&self->recent, self->theta + self->recent_theta, x, activations);
        assert_close(scores[i].exploration, from->f1.base.parameters.spread * (double)gain, 1e-5);
    }
}

static void tell_await(reported *self, parts *from, size_t t, vector x)
{
    gain_regression_add(&self->gains, network_head(&from->f1.f1.networks[0], x), self->phi[t]);
    recent_gains_await(&self->recent, x, from->theta1);
    told_solve(self, from->f1.base.parameters.spread);
}

static void tell_reward(reported *self, parts *from, size_t t, const observation *o)
{
    float gain = self->reward[t] - self->predicted[t];
    double spread = from->f1.base.parameters.spread;
    size_t head = network_head(&from->f1.f1.networks[0], o->x);
    recent_gain sample = {o->x, gain, learned_gain(self, from, o->x, self->phi[t]), spread, o->awaited};
    recent_gains_observe(&self->recent, &sample, from->theta1, self->theta + self->recent_theta);
    if (!o->awaited) gain_regression_add(&self->gains, head, self->phi[t]);
    gain_regression_correct(&self->gains, head, self->phi[t], gain);
}

/* Of each training the gains of the samples that it draws, by f1 as it is then. */
static void tell_training(reported *self, parts *from, size_t t, random_stream *refreshing)
{
    const network *f1 = &from->f1.f1.networks[0];
    for (int i = 0; i < 3; i++) {
        size_t s = (size_t)random_below(refreshing, t + 1);
        vector x = vector_of_arm(&every_arm.sparse, self->arm[s]);
        float now = exploitation_predict(&from->f1.base.parameters, from->theta1, x, from->f1.activations);
        gain_regression_correct(&self->gains, network_head(f1, x), self->phi[s],
                                (self->reward[s] - now) - (self->reward[s] - self->predicted[s]));
        self->predicted[s] = now;
    }
    told_solve(self, from->f1.base.parameters.spread);
}

static void check_gains(const char *options, bool recent)
{
    RELEASED_BY(parts_free) parts self;
    static reported its;
    parts_make(&self, options);
    parts_draw(&self, &every_arm, 7, ARMS);
    told_make(&its, &self, recent);
    float activations[256];
    random_stream draw = random_named(2, "rounds"), refreshing = random_named(PARTS_SEED, "refreshing");
    for (size_t t = 0; t < PLAYED; t++) {
        ee_score scores[ARMS];
        parts_decision made;
        its.arm[t] = (size_t)random_below(&draw, ARMS);
        parts_decide(&self, &every_arm.sparse, its.arm[t], &made, scores);
        assert_scores(&its, &self, scores);
        its.predicted[t] = scores[its.arm[t]].exploitation;
        its.reward[t] = 5 + 3 * (float)random_normal(&draw);
        initial_features_compute(&its.features, made.seen.x, activations, its.phi[t]);
        if (t % 3 == 0) {
            parts_await(&self, &made);
            tell_await(&its, &self, t, made.seen.x);
            assert_floats_close(self.theta2, its.theta, self.f2->theta_count, 1e-6);
        }
        parts_observe(&self, &made, its.reward[t]);
        observation seen = made.seen;
        its.predicted[t] = seen.score.exploitation; /* that of the first decision is the centre */
        tell_reward(&its, &self, t, &seen);
        parts_train(&self);
        tell_training(&its, &self, t, &refreshing);
        assert_floats_close(self.theta2, its.theta, self.f2->theta_count, 1e-6);
    }
}

TEST(gains_are_regressed_and_drawn_to_be_computed_again)
{
    check_gains(COMMON, true);
    check_gains(COMMON "blocks=3", true);
    check_gains(COMMON "standardize=off", true);
    check_gains(COMMON "recent_units=0", false);
    /* How far f1 is off says nothing of where it is: it is made up for by gains alone. */
    const char *labels[] = {"abs", "relu"};
    for (size_t i = 0; i < 2; i++) {
        char options[256];
        RELEASED_BY(parts_free) parts with, without;
        snprintf(options, sizeof options, COMMON "label=%s", labels[i]);
        parts_make(&with, options);
        snprintf(options, sizeof options, COMMON "label=%s recent_units=0", labels[i]);
        parts_make(&without, options);
        assert_int_equal(with.f2->theta_count, without.f2->theta_count);
    }
}
