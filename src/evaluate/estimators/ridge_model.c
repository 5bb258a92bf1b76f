#include "ridge_model.h"

#include <string.h>

#include "math/cholesky.h"

ee_status ridge_model_create(ridge_model *self, memory *owner, size_t dim, double alpha, ee_error *error)
{
    if (dim > RIDGE_MODEL_DIM)
        return status_fail(error, EE_BAD_INPUT,
                           "ridge: %zu features are too many; expected at most %d (or use f1 as reward model)", dim,
                           RIDGE_MODEL_DIM);
    size_t n = dim + 1;
    *self = (ridge_model){.dim = dim, .alpha = alpha};
    ee_status status = memory_create(owner, &self->gram, n * n, sizeof *self->gram, error);
    if (!status) status = memory_create(owner, &self->moment, n, sizeof *self->moment, error);
    if (!status) status = memory_create(owner, &self->theta, n, sizeof *self->theta, error);
    return status;
}

static size_t place_of(vector row, size_t entry)
{
    return row.indices ? row.indices[entry] : entry;
}

void ridge_model_add(ridge_model *self, vector row, double target, double weight)
{
    size_t n = self->dim + 1;
    double *constant = self->gram + self->dim * n; /* the row of the 1 at the end of x */
    for (size_t i = 0; i < row.count; i++) {
        double scaled = weight * (double)row.values[i];
        size_t place = place_of(row, i);
        double *gram = self->gram + place * n;
        for (size_t j = 0; j <= i; j++) gram[place_of(row, j)] += scaled * (double)row.values[j];
        constant[place] += scaled;
        self->moment[place] += scaled * target;
    }
    constant[self->dim] += weight;
    self->moment[self->dim] += weight * target;
}

void ridge_model_merge(ridge_model *self, const ridge_model *other)
{
    size_t n = self->dim + 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) self->gram[i * n + j] += other->gram[i * n + j];
        self->moment[i] += other->moment[i];
    }
}

/* used (dim + 1) = the features that occur in some row, and the constant; returns their number. The other coefficients
 * are 0: of thousands of features a log may use a dozen. */
static size_t list_used(const ridge_model *self, size_t *used)
{
    size_t n = self->dim + 1, count = 0;
    for (size_t i = 0; i < n; i++)
        if (self->gram[i * n + i] != 0.0) used[count++] = i;
    return count;
}

ee_status ridge_model_solve(ridge_model *self, ee_error *error)
{
    size_t n = self->dim + 1, *used;
    memset(self->theta, 0, n * sizeof *self->theta);
    if (!(self->gram[n * n - 1] > 0.0)) return EE_OK;
    memory room = {0};
    double *factor, *solved;
    ee_status status = memory_create(&room, &used, n, sizeof *used, error);
    size_t count = status ? 0 : list_used(self, used);
    if (!status) status = memory_create(&room, &factor, count * count, sizeof *factor, error);
    if (!status) status = memory_create(&room, &solved, count, sizeof *solved, error);
    if (status) goto done;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) factor[i * count + j] = self->gram[used[i] * n + used[j]];
        if (used[i] < self->dim) factor[i * count + i] += self->alpha;
        solved[i] = self->moment[used[i]];
    }
    if (cholesky_factor(factor, count, 0.0)) {
        cholesky_solve(factor, count, solved);
        for (size_t i = 0; i < count; i++) self->theta[used[i]] = solved[i];
    } else {
        status = status_fail(error, EE_BAD_INPUT, "ridge: the features or weights are too large to fit");
    }
done:
    memory_release(&room);
    return status;
}

void ridge_model_predict(const ridge_model *self, const ee_arms *arms, double *q)
{
    for (size_t arm = 0; arm < arms->count; arm++) {
        vector row = vector_of_arm(arms, arm);
        q[arm] = self->theta[self->dim];
        for (size_t i = 0; i < row.count; i++) q[arm] += self->theta[place_of(row, i)] * (double)row.values[i];
    }
}

double ridge_model_weight(ridge_weighting by, double pi, double p)
{
    if (by == RIDGE_IMPORTANCE) return pi / p;
    if (by == RIDGE_MRDR) return pi * pi * (1.0 - p) / (p * p);
    return 1.0;
}
