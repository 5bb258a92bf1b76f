#include "recent_gains.h"

#include <math.h>

/* In samples: several per unit, and short enough for changes over thousands of rounds. */
static const double WINDOW = 1000;
static const double LAMBDA = 3;
/* In units of the spread: the weight is low until the predictions have varied more than this in total. */
static const double DOUBT = 0.3;

ee_status recent_gains_create(recent_gains *self, memory *owner, const network *f1, size_t units, ee_error *error)
{
    const layer *last = &f1->layers[f1->layer_count - 2];
    size_t most = shape_size(last->out);
    *self = (recent_gains){.f1 = f1, .units = units < most ? units : most, .hidden = last->output};
    if (!self->units) return EE_OK;
    gain_regression_setup setup = {.heads = f1->heads, .dim = self->units, .lambda = LAMBDA, .window = WINDOW};
    ee_status status = gain_regression_create(&self->gains, owner, &setup, error);
    if (!status) status = memory_create(owner, &self->activations, f1->activation_count, sizeof(float), error);
    if (!status) status = memory_create(owner, &self->phi, self->units, sizeof(float), error);
    return status;
}

size_t recent_gains_theta_count(const recent_gains *self)
{
    return self->units ? 1 + gain_regression_theta_count(&self->gains) : 0;
}

/* ---- scoring ---- */

/* phi is the units divided by their length. */
static float length_of(const recent_gains *self, const float *units)
{
    float square = self->f1->kernels->dot(units, units, self->units);
    return square > 0 ? sqrtf(square) : 1;
}

/* The floats of the regression of the head of the arm. */
static const float *head_of(const recent_gains *self, const float *theta, vector x)
{
    return theta + 1 + network_head(self->f1, x) * gain_regression_head_count(&self->gains);
}

float recent_gains_expect(const recent_gains *self, const float *theta, vector x, const float *activations)
{
    if (!self->units || theta[0] <= 0) return 0;
    const float *units = activations + self->hidden;
    return theta[0] * self->f1->kernels->dot(head_of(self, theta, x), units, self->units) / length_of(self, units);
}

/* ---- learning ---- */

/* Computes the activations of f1 and phi of a sample. */
static void see(recent_gains *self, vector x, const float *theta1)
{
    const float *units = self->activations + self->hidden;
    network_outputs(self->f1, theta1, x, self->activations);
    float scale = 1 / length_of(self, units);
    for (size_t i = 0; i < self->units; i++) self->phi[i] = scale * units[i];
}

void recent_gains_await(recent_gains *self, vector x, const float *theta1)
{
    if (!self->units) return;
    see(self, x, theta1);
    gain_regression_add(&self->gains, network_head(self->f1, x), self->phi);
}

void recent_gains_observe(recent_gains *self, const recent_gain *sample, const float *theta1, float *theta)
{
    if (!self->units) return;
    size_t head = network_head(self->f1, sample->x);
    see(self, sample->x, theta1);
    if (sample->spread > 0) {
        float predicted = self->f1->kernels->dot(head_of(self, theta, sample->x), self->phi, self->units);
        double left = (double)sample->gain / sample->spread - (double)sample->predicted;
        slope_add(&self->worth, (double)predicted, left, WINDOW);
        theta[0] = (float)slope_weight(&self->worth, DOUBT);
    }
    if (!sample->awaited) gain_regression_add(&self->gains, head, self->phi);
    gain_regression_correct(&self->gains, head, self->phi, sample->gain);
}

void recent_gains_solve(recent_gains *self, double spread, float *theta)
{
    if (self->units) gain_regression_solve(&self->gains, 0, spread, theta + 1);
}

void recent_gains_restore(recent_gains *self, double spread, float *theta)
{
    if (!self->units) return;
    theta[0] = (float)slope_weight(&self->worth, DOUBT);
    gain_regression_restore(&self->gains, 0, spread, theta + 1);
}

void recent_gains_archive(recent_gains *self, archive *a)
{
    if (!self->units) return;
    gain_regression_archive(&self->gains, a);
    slope_archive(&self->worth, a);
}
