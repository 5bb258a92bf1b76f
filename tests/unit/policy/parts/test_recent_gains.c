/* What f1 was wrong by lately: how much it is worth. */
#include "eenet_parts.h"

#include "policy/parts/recent_gains.h"

enum { UNITS = 5, SAMPLES = 1500 };

/* f1 as it begins, and beside it the part. */
typedef struct fixture {
    parts all;
    const network *f1;
    recent_gains recent;
    float *theta;
} fixture;

static void make(fixture *self, const char *options, size_t units)
{
    ee_error error = {0};
    memset(self, 0, sizeof *self);
    parts_make(&self->all, options);
    self->f1 = &self->all.f1.f1.networks[0];
    memory *owner = &self->all.owner;
    ee_status status = recent_gains_create(&self->recent, owner, self->f1, units, &error);
    size_t count = recent_gains_theta_count(&self->recent);
    if (!status) status = memory_create(owner, &self->theta, count ? count : 1, sizeof *self->theta, &error);
    if (status) fail_msg("%s", error.message);
}

static void release(fixture *self)
{
    parts_free(&self->all);
}

#define F1 "scale=off f1.width=8 "

static float expect(const fixture *self, vector x)
{
    float activations[512];
    assert_true(self->f1->activation_count <= 512);
    network_outputs(self->f1, self->all.theta1, x, activations);
    return recent_gains_expect(&self->recent, self->theta, x, activations);
}

static vector draw_arm(const fixture *self, round_arms *round, uint64_t number)
{
    parts_draw(&self->all, round, number, 3);
    return vector_of_arm(&round->dense, number % 3);
}

static void observe(fixture *self, vector x, float gain, double spread, bool awaited)
{
    recent_gain sample = {x, gain, 0, spread, awaited};
    recent_gains_observe(&self->recent, &sample, self->all.theta1, self->theta);
    recent_gains_solve(&self->recent, spread, self->theta);
}

static float weight(const fixture *self)
{
    return self->theta[0];
}

/* Before two different rewards came there is no unit to say anything in. */
TEST(without_a_spread_or_units_nothing_is_said)
{
    static round_arms round;
    RELEASED_BY(release) fixture self;
    make(&self, F1, UNITS);
    for (uint64_t t = 0; t < 50; t++) {
        observe(&self, draw_arm(&self, &round, t), 1, 0, false);
        assert_true(weight(&self) == 0 && expect(&self, draw_arm(&self, &round, t)) == 0);
    }
    /* Nor is it without units. */
    RELEASED_BY(release) fixture without;
    make(&without, F1, 0);
    assert_int_equal(recent_gains_theta_count(&without.recent), 0);
    vector x = draw_arm(&without, &round, 1);
    recent_gains_await(&without.recent, x, without.all.theta1);
    recent_gains_observe(&without.recent, &(recent_gain){x, 1, 0, 1, false}, without.all.theta1, without.theta);
    recent_gains_solve(&without.recent, 1, without.theta);
    assert_true(expect(&without, x) == 0);
    auto_archive written = archive_writer(NULL);
    recent_gains_archive(&without.recent, &written);
    assert_int_equal(written.size, 0);
}

/* The weight is the slope of what is left of the gain without it over what it predicted before it knew. */
TEST(the_weight_is_by_predictions_made_before)
{
    static round_arms round;
    RELEASED_BY(release) fixture self;
    slope expected = {0};
    random_stream draw = random_named(5, "left");
    make(&self, F1, UNITS);
    for (uint64_t t = 0; t < 200; t++) {
        vector x = draw_arm(&self, &round, t % 4);
        float own_weight = weight(&self), gain = (float)(t % 4) + 0.5f * (float)random_normal(&draw),
              rest = 0.1f * (float)random_normal(&draw);
        self.theta[0] = 1; /* so that it says all that it predicts */
        double predicted = expect(&self, x);
        self.theta[0] = own_weight;
        recent_gain sample = {x, gain, rest, 2, false};
        recent_gains_observe(&self.recent, &sample, self.all.theta1, self.theta);
        recent_gains_solve(&self.recent, 2, self.theta);
        slope_add(&expected, predicted, (double)gain / 2 - (double)rest, 1000);
        assert_close(weight(&self), slope_weight(&expected, 0.3), 1e-5);
    }
    assert_true(weight(&self) > 0.1f);
}
