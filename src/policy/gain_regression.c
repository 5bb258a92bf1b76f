#include "gain_regression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/triangle.h"

ee_status gain_regression_create(gain_regression *self, size_t dim, double lambda, ee_error *error)
{
    *self = (gain_regression){.dim = dim};
    ee_status status = memory_create(&self->factor, triangle_count(dim), sizeof(double), error);
    if (!status) status = memory_create(&self->moment, dim, sizeof(double), error);
    if (!status) status = memory_create(&self->work, dim, sizeof(double), error);
    if (status)
        gain_regression_destroy(self);
    else
        triangle_start(self->factor, dim, sqrt(lambda));
    return status;
}

void gain_regression_destroy(gain_regression *self)
{
    memory_free(self->factor);
    memory_free(self->moment);
    memory_free(self->work);
    *self = (gain_regression){0};
}

void gain_regression_correct(gain_regression *self, const float *phi, float difference)
{
    for (size_t i = 0; i < self->dim; i++) self->moment[i] += (double)difference * (double)phi[i];
}

void gain_regression_add(gain_regression *self, const float *phi, float target)
{
    gain_regression_correct(self, phi, target);
    for (size_t i = 0; i < self->dim; i++) self->work[i] = (double)phi[i];
    triangle_rotate(self->factor, self->work, self->dim);
}

void gain_regression_solve(gain_regression *self, float *theta)
{
    memcpy(self->work, self->moment, self->dim * sizeof *self->work);
    triangle_solve_transposed(self->factor, self->work, self->dim);
    triangle_solve(self->factor, self->work, self->dim);
    for (size_t i = 0; i < self->dim; i++) theta[i] = (float)self->work[i];
}

size_t gain_regression_memory(const gain_regression *self)
{
    return memory_size(self->factor) + memory_size(self->moment) + memory_size(self->work);
}

static bool is_sound(const gain_regression *self)
{
    const double *row = self->factor;
    for (size_t i = 0; i < self->dim; row += self->dim - i, i++) {
        if (row[0] <= 0 || !isfinite(self->moment[i])) return false;
        for (size_t j = 0; j < self->dim - i; j++)
            if (!isfinite(row[j])) return false;
    }
    return true;
}

void gain_regression_archive(gain_regression *self, archive *a)
{
    archive_bytes(a, self->factor, triangle_count(self->dim) * sizeof *self->factor);
    archive_bytes(a, self->moment, self->dim * sizeof *self->moment);
    if (a->reading && !a->status && !is_sound(self))
        archive_fail(a, EE_BAD_MODEL, "model: a number of f2's regression is not one that samples make");
}
