#include "lle.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"
#include "eigen.h"

ee_status lle_create(lle *self, memory *owner, size_t points, size_t neighbors, size_t components, ee_error *error)
{
    *self = (lle){.points = points, .neighbors = neighbors, .components = components, .regularization = 1e-3};
    size_t vectors = components + 1; /* the vector of the smallest eigenvalue is constant and left out */
    size_t sizes[] = {points * points,       points * neighbors, points,
                      neighbors * neighbors, points * vectors,   eigen_work_count(points, vectors)};
    double **parts[] = {&self->matrix, &self->weights, &self->distances, &self->local, &self->vectors, &self->eigen};
    size_t total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) total += sizes[i];
    ee_status status = memory_create(owner, &self->work, total, sizeof(double), error);
    if (!status) status = memory_create(owner, &self->nearest, points * neighbors, sizeof(int), error);
    if (status) return status;
    double *next = self->work;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; next += sizes[i], i++) *parts[i] = next;
    return EE_OK;
}

void lle_nearest(const double *distances, size_t n, size_t count, int *nearest)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (found == count && distances[i] >= distances[nearest[count - 1]]) continue;
        size_t place = found < count ? found++ : count - 1;
        for (; place > 0 && distances[i] < distances[nearest[place - 1]]; place--) nearest[place] = nearest[place - 1];
        nearest[place] = (int)i;
    }
}

void lle_weights(double *local, size_t count, double regularization, double *weights)
{
    double trace = 0;
    for (size_t i = 0; i < count; i++) trace += local[i * count + i];
    double added = trace > 0 ? regularization * trace : regularization;
    for (size_t i = 0; i < count; i++) local[i * count + i] += added;
    /* With `added` on the diagonal no pivot is below it, except by rounding; then all neighbours get the same
     * weight. */
    for (size_t i = 0; i < count; i++) weights[i] = 1;
    if (cholesky_factor(local, count, added / 2)) cholesky_solve(local, count, weights);
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += weights[i];
    for (size_t i = 0; i < count; i++) weights[i] /= sum;
}

static void rebuild_point(lle *self, const double *gram, size_t point)
{
    size_t n = self->points, k = self->neighbors;
    int *nearest = self->nearest + point * k;
    for (size_t j = 0; j < n; j++)
        self->distances[j] = gram[j * n + j] - 2 * gram[point * n + j] + gram[point * n + point];
    self->distances[point] = INFINITY;
    lle_nearest(self->distances, n, k, nearest);
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++) {
            size_t i = (size_t)nearest[a], j = (size_t)nearest[b];
            self->local[a * k + b] =
                gram[i * n + j] - gram[i * n + point] - gram[j * n + point] + gram[point * n + point];
        }
    }
    lle_weights(self->local, k, self->regularization, self->weights + point * k);
}

/* matrix = (I - W)^T (I - W); a row of W has only the neighbours */
static void form_matrix(lle *self)
{
    size_t n = self->points, k = self->neighbors;
    memset(self->matrix, 0, n * n * sizeof *self->matrix);
    for (size_t point = 0; point < n; point++) {
        const int *nearest = self->nearest + point * k;
        const double *w = self->weights + point * k;
        self->matrix[point * n + point] += 1;
        for (size_t a = 0; a < k; a++) {
            size_t i = (size_t)nearest[a];
            self->matrix[point * n + i] -= w[a];
            self->matrix[i * n + point] -= w[a];
            for (size_t b = 0; b < k; b++) self->matrix[i * n + (size_t)nearest[b]] += w[a] * w[b];
        }
    }
}

static double sign_of_largest(const double *column, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(column[i]) > fabs(largest)) largest = column[i];
    return largest < 0 ? -1 : 1;
}

bool lle_fit(lle *self, const double *gram, double *embedding)
{
    size_t n = self->points, count = self->components;
    for (size_t point = 0; point < n; point++) rebuild_point(self, gram, point);
    form_matrix(self);
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(self->matrix[i])) return false;
    eigen_smallest(self->matrix, n, count + 1, self->vectors, self->eigen);
    for (size_t c = 0; c < count; c++) {
        const double *vector = self->vectors + (c + 1) * n;
        double sign = sign_of_largest(vector, n);
        for (size_t i = 0; i < n; i++) embedding[i * count + c] = sign * vector[i];
    }
    return true;
}
