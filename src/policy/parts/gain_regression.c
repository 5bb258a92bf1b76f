#include "gain_regression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/triangle.h"

static const double HEAVIEST = 2; /* the larger, the more lambda fades between rescalings */

/* ---- making ---- */

static double *factor_of(const gain_regression *self, size_t head)
{
    return self->factors + head * triangle_count(self->setup.dim);
}

/* Sets sketch to the signs of this many samples. They depend on nothing else, so a model need not store them. */
static void draw_signs(const gain_regression *self, uint64_t time)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    random_stream draws = random_named(self->setup.seed ^ (time * odd), "f2.signs");
    uint64_t bits = 0;
    for (size_t i = 0; i < self->setup.dim; i++, bits >>= 1) {
        if (i % 64 == 0) bits = random_bits(&draws);
        self->sketch[i] = bits & 1 ? 1 : -1;
    }
}

ee_status gain_regression_create(gain_regression *self, memory *owner, const gain_regression_setup *setup,
                                 ee_error *error)
{
    *self = (gain_regression){.setup = *setup, .fading = setup->window > 0 ? -log1p(-1 / setup->window) : 0};
    size_t heads = setup->heads, dim = setup->dim;
    ee_status status = memory_create(owner, &self->factors, heads, triangle_count(dim) * sizeof(double), error);
    if (!status) status = memory_create(owner, &self->moments, heads, dim * sizeof(double), error);
    if (!status) status = memory_create(owner, &self->seen, heads, dim * sizeof(double), error);
    if (!status) status = memory_create(owner, &self->scaled_at, heads, sizeof(uint64_t), error);
    if (!status) status = memory_create(owner, &self->stale, heads, 1, error);
    if (!status) status = memory_create(owner, &self->work, dim, sizeof(double), error);
    if (!status && setup->sketched) status = memory_create(owner, &self->sketch, dim, sizeof(double), error);
    if (status) return status;
    for (size_t head = 0; head < heads; head++) triangle_start(factor_of(self, head), dim, sqrt(setup->lambda));
    return EE_OK;
}

size_t gain_regression_head_count(const gain_regression *self)
{
    return (self->setup.sketched ? 2 : 1) * self->setup.dim;
}

size_t gain_regression_theta_count(const gain_regression *self)
{
    return self->setup.heads * gain_regression_head_count(self);
}

void gain_regression_start(const gain_regression *self, float *theta)
{
    size_t dim = self->setup.dim;
    double scale = 1 / sqrt(self->setup.lambda);
    if (!self->setup.sketched) return;
    draw_signs(self, 0);
    for (size_t head = 0; head < self->setup.heads; head++) {
        float *sketch = theta + head * gain_regression_head_count(self) + dim;
        for (size_t i = 0; i < dim; i++) sketch[i] = (float)(scale * self->sketch[i]);
    }
}

/* ---- samples ---- */

/* The weight of a sample now. */
static double weight_now(const gain_regression *self, size_t head)
{
    return self->fading > 0 ? exp(self->fading * (double)(self->time - self->scaled_at[head])) : 1;
}

/* Rescales so that a new sample has weight 1. lambda is not a sample and does not fade: what it lost is added. */
static void bring_to_scale(gain_regression *self, size_t head)
{
    size_t dim = self->setup.dim;
    double scale = 1 / weight_now(self, head), *factor = factor_of(self, head), *diagonal = factor;
    triangle_square(factor, dim);
    for (size_t i = 0; i < triangle_count(dim); i++) factor[i] *= scale;
    for (size_t i = 0; i < dim; diagonal += dim - i, i++) *diagonal += self->setup.lambda * (1 - scale);
    triangle_factor(factor, dim, self->setup.lambda, self->work);
    for (size_t i = head * dim; i < (head + 1) * dim; i++) {
        self->moments[i] *= scale;
        self->seen[i] *= scale;
    }
    self->scaled_at[head] = self->time;
}

/* The weight of a sample now, at most about HEAVIEST: a head that was idle for long is rescaled. */
static double take_weight(gain_regression *self, size_t head)
{
    if (weight_now(self, head) > HEAVIEST) bring_to_scale(self, head);
    return weight_now(self, head);
}

void gain_regression_correct(gain_regression *self, size_t head, const float *phi, float difference)
{
    double *moment = self->moments + head * self->setup.dim;
    double weighted = take_weight(self, head) * (double)difference;
    for (size_t i = 0; i < self->setup.dim; i++) moment[i] += weighted * (double)phi[i];
    self->stale[head] = 1;
}

void gain_regression_add(gain_regression *self, size_t head, const float *phi)
{
    size_t dim = self->setup.dim;
    self->time++;
    double weight = take_weight(self, head), root = sqrt(weight), *seen = self->seen + head * dim;
    for (size_t i = 0; i < dim; i++) {
        self->work[i] = root * (double)phi[i];
        seen[i] += weight * (double)phi[i];
    }
    triangle_rotate(factor_of(self, head), self->work, dim);
    self->stale[head] = 1;
}

/* ---- solving ---- */

/* out = scale values, limited so that scores are finite. The limit is reached only if the unit of the gains is now far
 * smaller than when they came. */
static void write_solution(const gain_regression *self, const double *values, double scale, float *out)
{
    const double largest = 1e9;
    for (size_t i = 0; i < self->setup.dim; i++) out[i] = (float)fmin(fmax(scale * values[i], -largest), largest);
}

static void solve_head(gain_regression *self, size_t head, double prior, double scale, float *theta)
{
    size_t dim = self->setup.dim;
    const double *moments = self->moments + head * dim, *seen = self->seen + head * dim;
    for (size_t i = 0; i < dim; i++) self->work[i] = scale * moments[i] - prior * seen[i];
    triangle_solve_transposed(factor_of(self, head), self->work, dim);
    if (self->setup.sketched) {
        draw_signs(self, self->time);
        triangle_solve_two(factor_of(self, head), self->work, self->sketch, dim);
        write_solution(self, self->sketch, sqrt(weight_now(self, head)), theta + dim);
    } else {
        triangle_solve(factor_of(self, head), self->work, dim);
    }
    write_solution(self, self->work, 1, theta);
}

void gain_regression_solve(gain_regression *self, double prior, double unit, float *theta)
{
    const uint8_t *end = self->stale + self->setup.heads;
    double scale = unit > 0 ? 1 / unit : 0;
    for (uint8_t *at = self->stale; (at = memchr(at, 1, (size_t)(end - at))); at++) {
        size_t head = (size_t)(at - self->stale);
        solve_head(self, head, prior, scale, theta + head * gain_regression_head_count(self));
        *at = 0;
    }
}

void gain_regression_restore(gain_regression *self, double prior, double unit, float *theta)
{
    memset(self->stale, 1, self->setup.heads);
    gain_regression_solve(self, prior, unit, theta);
}

/* ---- saving and loading ---- */

static bool is_sound(const gain_regression *self, size_t head)
{
    size_t dim = self->setup.dim;
    const double *row = factor_of(self, head), *moment = self->moments + head * dim, *seen = self->seen + head * dim;
    for (size_t i = 0; i < dim; row += dim - i, i++) {
        if (row[0] <= 0 || !isfinite(moment[i]) || !isfinite(seen[i])) return false;
        for (size_t j = 0; j < dim - i; j++)
            if (!isfinite(row[j])) return false;
    }
    return self->scaled_at[head] <= self->time;
}

void gain_regression_archive(gain_regression *self, archive *a)
{
    size_t heads = self->setup.heads, dim = self->setup.dim;
    archive_u64(a, &self->time);
    for (size_t head = 0; self->fading > 0 && head < heads; head++) archive_u64(a, &self->scaled_at[head]);
    archive_bytes(a, self->factors, heads * triangle_count(dim) * sizeof *self->factors);
    archive_bytes(a, self->moments, heads * dim * sizeof *self->moments);
    archive_bytes(a, self->seen, heads * dim * sizeof *self->seen);
    archive_bytes(a, self->stale, heads);
    for (size_t head = 0; a->reading && !a->status && head < heads; head++)
        if (!is_sound(self, head)) archive_fail(a, EE_BAD_MODEL, "model: invalid state of f2's regression");
}
