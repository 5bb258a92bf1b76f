#include "kernel_ridge.h"
#include "cholesky.h"
#include "doubles.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the kernels ---- */

/* Rounding can make |a - b|^2 negative if a = b. */
static double rbf(double gamma, double ab, double aa, double bb)
{
    double square = aa + bb - 2 * ab;
    return square > 0 ? exp(-gamma * square) : 1;
}

static kernel_slopes rbf_slopes(double gamma, double ab, double aa, double bb)
{
    double k = rbf(gamma, ab, aa, bb);
    return (kernel_slopes){2 * gamma * k, -gamma * k};
}

static const kernel_function kernels[] = {rbf};
static const kernel_slope_function slopes[] = {rbf_slopes};
const char kernel_ridge_choices[] = "rbf";

/* ---- records ---- */

enum {
    SQUARE,  /* x.x */
    TARGET,  /* z_i */
    FORM,    /* two 32-bit words: entries, and 1 if x is sparse */
    CONTEXT, /* the values, then the indices if x is sparse */
    LEAST_STRIDE = 2048,
    LANES = 4 /* arms, or rows, solved for at once: sixteen sums stay in registers */
};

/* The 32-bit words of a record's form and context. */
typedef struct context_words {
    uint32_t entries, sparse;
} context_words;

kernel_ridge kernel_ridge_make(int kernel, double gamma, double lambda, size_t dim, size_t nonzeros)
{
    size_t stride = 2 * nonzeros > LEAST_STRIDE ? 2 * nonzeros : LEAST_STRIDE;
    return (kernel_ridge){kernels[kernel], slopes[kernel], gamma, lambda, dim, dim < stride ? dim : stride};
}

static size_t head_count(const kernel_ridge *self)
{
    return CONTEXT + (self->stride + 1) / 2;
}

size_t kernel_ridge_state_count(const kernel_ridge *self, size_t samples)
{
    return samples * head_count(self) + samples * (samples + 1) / 2;
}

static size_t record_start(const kernel_ridge *self, size_t sample)
{
    return kernel_ridge_state_count(self, sample);
}

/* Row number sample of L. */
static size_t row_start(const kernel_ridge *self, size_t sample)
{
    return record_start(self, sample) + head_count(self);
}

/* ---- contexts ---- */

static size_t count_nonzeros(vector x)
{
    size_t count = 0;
    for (size_t i = 0; i < x.count; i++) count += x.values[i] != 0;
    return count;
}

bool kernel_ridge_fits(const kernel_ridge *self, vector x)
{
    return self->stride >= self->dim || 2 * count_nonzeros(x) <= self->stride;
}

static void store_sparse(vector x, size_t entries, float *values)
{
    uint32_t *indices = (uint32_t *)(void *)(values + entries);
    for (size_t i = 0, j = 0; i < x.count; i++) {
        if (x.values[i] == 0) continue;
        values[j] = x.values[i];
        indices[j++] = x.indices ? x.indices[i] : (uint32_t)i;
    }
}

/* A sparse vector that takes more room than a dense one is stored dense. */
static void store_context(const kernel_ridge *self, double *record, vector x)
{
    float *values = (float *)(void *)(record + CONTEXT);
    bool dense = self->stride >= self->dim && (!x.indices || 2 * count_nonzeros(x) > self->stride);
    context_words form = {(uint32_t)(dense ? self->dim : count_nonzeros(x)), !dense};
    memcpy(record + FORM, &form, sizeof form);
    record[SQUARE] = vector_dot(x, x);
    if (dense)
        vector_expand(x, values, self->dim);
    else
        store_sparse(x, form.entries, values);
}

static vector context_of(const double *record)
{
    context_words form;
    memcpy(&form, record + FORM, sizeof form);
    const float *values = (const float *)(const void *)(record + CONTEXT);
    const uint32_t *indices = (const uint32_t *)(const void *)(values + form.entries);
    return (vector){values, form.sparse ? indices : NULL, form.entries};
}

/* ---- inner products ---- */

/* Sparse arms are often in separate blocks: vectors whose indices cannot overlap are skipped. */
static double dot(vector a, vector b)
{
    if (!a.indices || !b.indices) return vector_dot(a, b);
    if (!a.count || !b.count) return 0;
    bool apart = a.indices[a.count - 1] < b.indices[0] || b.indices[b.count - 1] < a.indices[0];
    return apart ? 0 : vector_dot(a, b);
}

/* One dense row with LANES dense ones, in independent sums. x is (LANES, dim). */
static void dot_lanes(const float *row, const float *x, size_t dim, double *sums)
{
    double sum[LANES] = {0};
    for (size_t i = 0; i < dim; i++)
        for (size_t lane = 0; lane < LANES; lane++) sum[lane] += (double)row[i] * x[lane * dim + i];
    memcpy(sums, sum, sizeof sum);
}

/* The inner products of a context with n <= LANES arms. */
static void dot_arms(vector context, const ee_arms *arms, size_t first, size_t n, double *products)
{
    if (!arms->starts && !context.indices && n == LANES) {
        dot_lanes(context.values, arms->values + first * arms->dim, arms->dim, products);
        return;
    }
    for (size_t lane = 0; lane < n; lane++) products[lane] = dot(context, vector_of_arm(arms, first + lane));
}

/* ---- the triangular solve ---- */

/* Two arms computed as one: every machine has instructions for that. */
typedef double pair __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double)), may_alias));
enum { PAIRS = LANES / 2 };

/* Rows `row` to row + height - 1 of L V = K for LANES arms: v (samples, LANES) holds V above them and K from there on.
 * height is a constant at every call, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void solve_rows(const double *const *rows, size_t row, size_t height,
                                                             double *v)
{
    const pair *above = (const pair *)(const void *)v;
    pair sum[LANES][PAIRS], *here = (pair *)(void *)(v + row * LANES);
    for (size_t i = 0; i < height; i++)
        for (size_t p = 0; p < PAIRS; p++) sum[i][p] = here[i * PAIRS + p];
    for (size_t j = 0; j < row; j++)
        for (size_t i = 0; i < height; i++)
            for (size_t p = 0; p < PAIRS; p++) sum[i][p] -= rows[i][j] * above[j * PAIRS + p];
    for (size_t i = 0; i < height; i++) {
        for (size_t j = 0; j < i; j++)
            for (size_t p = 0; p < PAIRS; p++) sum[i][p] -= rows[i][row + j] * sum[j][p];
        for (size_t p = 0; p < PAIRS; p++) here[i * PAIRS + p] = sum[i][p] *= 1 / rows[i][row + i];
    }
}

/* All arms use a row of L while it is in the cache, because L is large. panel is (blocks, count, LANES). */
static void solve_panel(const kernel_ridge *self, const double *state, size_t count, size_t blocks, double *panel)
{
    size_t row = 0;
    for (; row + LANES <= count; row += LANES) {
        const double *rows[LANES];
        for (size_t i = 0; i < LANES; i++) rows[i] = state + row_start(self, row + i);
        for (size_t b = 0; b < blocks; b++) solve_rows(rows, row, LANES, panel + b * count * LANES);
    }
    for (; row < count; row++) {
        const double *rows[] = {state + row_start(self, row)};
        for (size_t b = 0; b < blocks; b++) solve_rows(rows, row, 1, panel + b * count * LANES);
    }
}

/* ---- learning ---- */

void kernel_ridge_append(const kernel_ridge *self, double *state, size_t count, vector x, double y)
{
    double *record = state + record_start(self, count), *row = state + row_start(self, count);
    store_context(self, record, x);
    double rest = self->kernel(self->gamma, record[SQUARE], record[SQUARE], record[SQUARE]) + self->lambda;
    for (size_t i = 0; i < count; i++) {
        const double *other = state + record_start(self, i), *above = state + row_start(self, i);
        double k = self->kernel(self->gamma, dot(x, context_of(other)), record[SQUARE], other[SQUARE]);
        row[i] = (k - doubles_dot(above, row, i)) / above[i];
        rest -= row[i] * row[i];
        y -= row[i] * other[TARGET];
    }
    row[count] = sqrt(rest > self->lambda ? rest : self->lambda); /* a smaller pivot is rounding error */
    record[TARGET] = y / row[count];
}

/* ---- predicting ---- */

static size_t block_count(size_t arms)
{
    return (arms + LANES - 1) / LANES;
}

size_t kernel_ridge_panel_count(size_t samples, size_t arms)
{
    return block_count(arms) * samples * LANES;
}

/* K of n <= LANES arms: v is (count, LANES). Lanes without an arm are zero. squares is (n). */
static void fill_block(const kernel_ridge *self, const double *state, size_t count, const ee_arms *arms, size_t first,
                       size_t n, const double *squares, double *v)
{
    for (size_t i = 0; i < count; i++, v += LANES) {
        const double *record = state + record_start(self, i);
        double products[LANES];
        dot_arms(context_of(record), arms, first, n, products);
        for (size_t lane = 0; lane < LANES; lane++)
            v[lane] = lane < n ? self->kernel(self->gamma, products[lane], squares[lane], record[SQUARE]) : 0;
    }
}

/* Mean and variance of n <= LANES arms. variance holds k(x, x). */
static void sum_block(const kernel_ridge *self, const double *state, size_t count, const double *v, size_t n,
                      double *mean, double *variance)
{
    double means[LANES] = {0}, squares[LANES] = {0};
    for (size_t i = 0; i < count; i++, v += LANES) {
        double target = state[record_start(self, i) + TARGET];
        for (size_t lane = 0; lane < LANES; lane++) {
            means[lane] += v[lane] * target;
            squares[lane] += v[lane] * v[lane];
        }
    }
    for (size_t lane = 0; lane < n; lane++) {
        mean[lane] = means[lane];
        variance[lane] = variance[lane] > squares[lane] ? variance[lane] - squares[lane] : 0;
    }
}

void kernel_ridge_predict(const kernel_ridge *self, const double *state, size_t count, const ee_arms *arms,
                          size_t first, size_t n, double *panel, double *mean, double *variance)
{
    size_t block = count * LANES;
    for (size_t i = 0; i < n; i += LANES) {
        size_t lanes = n - i < LANES ? n - i : LANES;
        double squares[LANES];
        for (size_t lane = 0; lane < lanes; lane++) {
            vector x = vector_of_arm(arms, first + i + lane);
            double square = squares[lane] = vector_dot(x, x);
            variance[i + lane] = self->kernel(self->gamma, square, square, square);
        }
        fill_block(self, state, count, arms, first + i, lanes, squares, panel + i / LANES * block);
    }
    solve_panel(self, state, count, block_count(n), panel);
    for (size_t i = 0; i < n; i += LANES)
        sum_block(self, state, count, panel + i / LANES * block, n - i < LANES ? n - i : LANES, mean + i, variance + i);
}

/* ---- the gradient of the mean ---- */

/* The mean is k_x . a with a = L^-T z. L is stored row by row, so the last row is solved first and subtracted from all
 * others. */
static void solve_weights(const kernel_ridge *self, const double *state, size_t count, double *weights)
{
    for (size_t i = 0; i < count; i++) weights[i] = state[record_start(self, i) + TARGET];
    for (size_t i = count; i-- > 0;) {
        const double *row = state + row_start(self, i);
        weights[i] /= row[i];
        doubles_add_scaled(weights, -weights[i], row, i);
    }
}

/* sums[entry of x] += scale times the same entry of a context. Both ascend. */
static void add_context(vector context, vector x, double scale, double *sums)
{
    for (size_t i = 0, j = 0; i < x.count; i++) {
        size_t index = x.indices ? x.indices[i] : i;
        if (!context.indices) {
            sums[i] += scale * (double)context.values[index];
            continue;
        }
        while (j < context.count && context.indices[j] < index) j++;
        if (j < context.count && context.indices[j] == index) sums[i] += scale * (double)context.values[j];
    }
}

size_t kernel_ridge_gradient_room(size_t samples, size_t entries)
{
    return samples + entries;
}

void kernel_ridge_gradient(const kernel_ridge *self, const double *state, size_t count, vector x, double *room,
                           float *gradient)
{
    double *weights = room, *sums = room + count, by_square = 0, square = vector_dot(x, x);
    memset(sums, 0, x.count * sizeof *sums);
    solve_weights(self, state, count, weights);
    for (size_t i = 0; i < count; i++) {
        const double *record = state + record_start(self, i);
        vector context = context_of(record);
        kernel_slopes by = self->slopes(self->gamma, dot(context, x), record[SQUARE], square);
        add_context(context, x, weights[i] * by.product, sums);
        by_square += 2 * weights[i] * by.square;
    }
    for (size_t i = 0; i < x.count; i++) gradient[i] = (float)(sums[i] + by_square * (double)x.values[i]);
}

/* sums[i][j] = a_i . b_j for the lanes of two blocks (count, LANES) */
static void multiply_blocks(const double *a, const double *b, size_t count, double sums[LANES][LANES])
{
    double sum[LANES][LANES] = {{0}};
    for (size_t row = 0; row < count; row++, a += LANES, b += LANES)
        for (size_t i = 0; i < LANES; i++)
            for (size_t j = 0; j < LANES; j++) sum[i][j] += a[i] * b[j];
    memcpy(sums, sum, sizeof sum);
}

static double prior_covariance(const kernel_ridge *self, vector a, vector b)
{
    return self->kernel(self->gamma, dot(a, b), vector_dot(a, a), vector_dot(b, b));
}

void kernel_ridge_covariance(const kernel_ridge *self, size_t count, const ee_arms *arms, const double *panel,
                             double *covariance)
{
    size_t n = arms->count, block = count * LANES;
    for (size_t i = 0; i < n; i += LANES) {
        for (size_t j = 0; j <= i; j += LANES) {
            double known[LANES][LANES];
            multiply_blocks(panel + i / LANES * block, panel + j / LANES * block, count, known);
            for (size_t a = i; a < n && a < i + LANES; a++) {
                vector x = vector_of_arm(arms, a);
                for (size_t b = j; b <= a && b < j + LANES; b++)
                    covariance[a * n + b] = prior_covariance(self, x, vector_of_arm(arms, b)) - known[a - i][b - j];
            }
        }
    }
}

void kernel_ridge_factor(double *matrix, size_t n)
{
    /* Relative to the largest variance. Rounding is far below this; the lost deviation, 1e-5 of the largest, does not
     * affect choices. */
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = matrix[i * n + i] > largest ? matrix[i * n + i] : largest;
    cholesky_factor_semidefinite(matrix, n, 0, 1e-10 * largest);
}

/* ---- checking ---- */

static bool context_is_sound(const kernel_ridge *self, const double *record)
{
    context_words form;
    memcpy(&form, record + FORM, sizeof form);
    if (form.sparse > 1 || (!form.sparse && (form.entries != self->dim || self->dim > self->stride))) return false;
    if (form.sparse && form.entries > self->stride / 2) return false;
    vector x = context_of(record);
    for (size_t i = 0; x.indices && i < x.count; i++)
        if (x.indices[i] >= self->dim || (i && x.indices[i] <= x.indices[i - 1])) return false;
    return vector_is_within(x.values, x.count, FLT_MAX);
}

bool kernel_ridge_is_sound(const kernel_ridge *self, const double *state, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!context_is_sound(self, state + record_start(self, i))) return false;
    return true;
}
