#include "gain_regression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/triangle.h"

ee_status gain_regression_create(gain_regression *self, memory *owner, size_t heads, size_t dim, double lambda,
                                 ee_error *error)
{
    *self = (gain_regression){.heads = heads, .dim = dim};
    size_t triangle = triangle_count(dim);
    ee_status status = memory_create(owner, &self->factors, heads, triangle * sizeof(double), error);
    if (!status) status = memory_create(owner, &self->moments, heads, dim * sizeof(double), error);
    if (!status) status = memory_create(owner, &self->stale, heads, 1, error);
    if (!status) status = memory_create(owner, &self->work, dim, sizeof(double), error);
    if (status) return status;
    for (size_t head = 0; head < heads; head++) triangle_start(self->factors + head * triangle, dim, sqrt(lambda));
    return EE_OK;
}

static double *factor_of(const gain_regression *self, size_t head)
{
    return self->factors + head * triangle_count(self->dim);
}

void gain_regression_correct(gain_regression *self, size_t head, const float *phi, float difference)
{
    double *moment = self->moments + head * self->dim;
    for (size_t i = 0; i < self->dim; i++) moment[i] += (double)difference * (double)phi[i];
    self->stale[head] = 1;
}

void gain_regression_add(gain_regression *self, size_t head, const float *phi, float target)
{
    gain_regression_correct(self, head, phi, target);
    for (size_t i = 0; i < self->dim; i++) self->work[i] = (double)phi[i];
    triangle_rotate(factor_of(self, head), self->work, self->dim);
}

void gain_regression_solve(gain_regression *self, float *theta)
{
    const uint8_t *end = self->stale + self->heads;
    for (uint8_t *at = self->stale; (at = memchr(at, 1, (size_t)(end - at))); at++) {
        size_t head = (size_t)(at - self->stale), dim = self->dim;
        memcpy(self->work, self->moments + head * dim, dim * sizeof *self->work);
        triangle_solve_transposed(factor_of(self, head), self->work, dim);
        triangle_solve(factor_of(self, head), self->work, dim);
        for (size_t i = 0; i < dim; i++) theta[head * dim + i] = (float)self->work[i];
        *at = 0;
    }
}

static bool is_sound(const gain_regression *self, size_t head)
{
    const double *row = factor_of(self, head), *moment = self->moments + head * self->dim;
    for (size_t i = 0; i < self->dim; row += self->dim - i, i++) {
        if (row[0] <= 0 || !isfinite(moment[i])) return false;
        for (size_t j = 0; j < self->dim - i; j++)
            if (!isfinite(row[j])) return false;
    }
    return true;
}

void gain_regression_archive(gain_regression *self, archive *a)
{
    archive_bytes(a, self->factors, self->heads * triangle_count(self->dim) * sizeof *self->factors);
    archive_bytes(a, self->moments, self->heads * self->dim * sizeof *self->moments);
    archive_bytes(a, self->stale, self->heads);
    for (size_t head = 0; a->reading && !a->status && head < self->heads; head++)
        if (!is_sound(self, head))
            archive_fail(a, EE_BAD_MODEL, "model: a number of f2's regression is not one that samples make");
}
