#include "gradient_features.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_WINDOW = 1024, MOST_NEIGHBORS = 64 };

/* The authors pool by 50 on MNIST, whose f1 has 784,201 parameters, and by 2 on Yelp, whose f1 has 2,201. */
enum { LARGE_F1 = 100000 };

static const option rows[] = {
    OPTION_ROW_NUMBERED(
        feature_options, kind, "features", "sketch:32", "normalized|pooled:N|lle:N|sketch:N|authors", 1, 1e6,
        "f2's input, made from f1's gradient; authors: pooled by 2, or by 50 if f1 has over 100,000 parameters"),
    OPTION_ROW_INTEGER(feature_options, window, "lle_window", "200", 8, MOST_WINDOW,
                       "gradients to fit the embedding to, and rewards between fits", .needs = "features=lle"),
    OPTION_ROW_INTEGER(feature_options, neighbors, "lle_neighbors", "15", 2, MOST_NEIGHBORS,
                       "neighbours of a gradient in the embedding", .needs = "features=lle"),
};
const option_table feature_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

static size_t inputs_of(const gradient_factor *factor)
{
    return factor->in + (factor->bias ? 1 : 0);
}

static ee_status create_lle(gradient_features *self, const feature_options *options, ee_error *error)
{
    self->window = (size_t)options->window;
    self->neighbors = (size_t)options->neighbors;
    if (self->k >= self->neighbors || self->neighbors >= self->window)
        return status_fail(error, EE_BAD_OPTION,
                           "options: features=lle:%zu needs lle_neighbors above %zu and lle_window above "
                           "lle_neighbors, got %zu and %zu",
                           self->k, self->k, self->neighbors, self->window);
    for (size_t f = 0; f < self->factor_count; f++) self->point_count += self->shapes[f].in + self->shapes[f].out;
    self->workspace_count = self->point_count;
    self->parameter_count = 1 + self->window * (self->point_count + self->k);
    return EE_OK;
}

static size_t widest_input(const gradient_features *self)
{
    size_t widest = 0;
    for (size_t f = 0; f < self->factor_count; f++)
        if (self->shapes[f].in > widest) widest = self->shapes[f].in;
    return widest;
}

static ee_status create_signs(gradient_features *self, memory *owner, ee_error *error)
{
    for (size_t f = 0; f < self->factor_count; f++)
        self->sign_count += (inputs_of(&self->shapes[f]) + self->shapes[f].out) * self->k;
    return memory_create(owner, &self->signs, self->sign_count, sizeof(float), error);
}

void gradient_features_start(gradient_features *self, uint64_t seed)
{
    random_stream stream = random_named(seed, "sketch");
    uint64_t bits = 0;
    for (size_t i = 0; i < self->sign_count; i++) {
        if (i % 64 == 0) bits = random_bits(&stream);
        self->signs[i] = bits >> (i % 64) & 1 ? 1 : -1;
    }
}

ee_status gradient_features_create(gradient_features *self, memory *owner, const feature_options *options,
                                   const network *f1, ee_error *error)
{
    *self = (gradient_features){.kind = (feature_kind)options->kind.pick, .k = (size_t)options->kind.number};
    self->f1 = f1;
    self->kernels = f1->kernels;
    if (self->kind == FEATURES_AUTHORS) {
        self->kind = FEATURES_POOLED;
        self->k = f1->parameter_count > LARGE_F1 ? 50 : 2;
    }
    self->factor_count = network_factor_shapes(f1, self->shapes);
    size_t gradient = f1->parameter_count;
    switch (self->kind) {
    case FEATURES_NORMALIZED:
        self->count = gradient + f1->input;
        return EE_OK;
    case FEATURES_POOLED:
    case FEATURES_AUTHORS:
        self->count = (gradient + self->k - 1) / self->k;
        self->workspace_count = self->count + 2 + widest_input(self);
        return EE_OK;
    case FEATURES_LLE:
        self->count = self->k;
        return create_lle(self, options, error);
    case FEATURES_SKETCH:
        self->count = self->k;
        self->workspace_count = 2 * self->k;
        return create_signs(self, owner, error);
    }
    return EE_OK;
}

void gradient_features_factor(gradient_features *self)
{
    const gradient_factor *first = &self->shapes[0];
    if (self->kind != FEATURES_POOLED || first->in % self->k) return;
    self->rows = first->out;
    self->columns = first->in / self->k;
    self->count = self->count - self->rows * self->columns + self->rows + self->columns;
    self->workspace_count = self->count + 2 + widest_input(self);
}

/* ---- the gradient itself ---- */

double gradient_square(const gradient_factor *factors, size_t count)
{
    double sum = 0;
    for (size_t f = 0; f < count; f++) {
        vector delta = vector_dense(factors[f].delta, factors[f].out);
        sum += vector_dot(delta, delta) * (vector_dot(factors[f].input, factors[f].input) + (factors[f].bias ? 1 : 0));
    }
    return sum;
}

/* out += scale times the gradient */
static void add_formed(const gradient_factor *factors, size_t count, float scale, float *out)
{
    for (size_t f = 0; f < count; f++) {
        const gradient_factor *g = &factors[f];
        for (size_t a = 0; a < g->out; a++, out += g->in) {
            float d = scale * g->delta[a];
            if (d == 0) continue;
            for (size_t i = 0; i < g->input.count; i++) {
                size_t b = g->input.indices ? g->input.indices[i] : i;
                out[b] += d * g->input.values[i];
            }
        }
        for (size_t a = 0; g->bias && a < g->out; a++) *out++ += scale * g->delta[a];
    }
}

static void compute_normalized(const gradient_features *self, const gradient_factor *factors, vector x, float *phi)
{
    double square = gradient_square(factors, self->factor_count);
    float *tail = phi + self->f1->parameter_count;
    memset(phi, 0, self->f1->parameter_count * sizeof *phi);
    if (square > 0) add_formed(factors, self->factor_count, (float)sqrt(0.5 / square), phi);
    vector_expand(x, tail, self->f1->input);
    for (size_t i = 0; i < self->f1->input; i++) tail[i] *= (float)sqrt(0.5);
}

/* ---- pooled ---- */

static size_t greatest_divisor(size_t a, size_t b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

/* sums = the input of a factor summed over blocks of k, the first block shortened by phase entries. Returns the range
 * of blocks that are not empty. */
static size_t pool_input(vector x, size_t phase, size_t k, float *sums, size_t *first)
{
    *first = 0;
    if (!x.count) return 0;
    size_t last_entry = x.indices ? x.indices[x.count - 1] : x.count - 1;
    *first = (phase + (x.indices ? x.indices[0] : 0)) / k;
    size_t end = (phase + last_entry) / k + 1;
    size_t block = *first, i = 0;
    if (k == 2 && phase == 0 && !x.indices) /* pairs, as in the authors' code: the compiler vectorises them */
        for (; i + 2 <= x.count; i += 2) sums[block++] = (x.values[i] + x.values[i + 1]) / 2;
    for (; block < end; block++) {
        size_t limit = (block + 1) * k - phase, stop = limit < x.count ? limit : x.count;
        float sum = 0;
        if (x.indices)
            for (; i < x.count && x.indices[i] < limit; i++) sum += x.values[i];
        else
            for (; i < stop; i++) sum += x.values[i];
        sums[block] = sum / (float)k;
    }
    return end;
}

/* For a sparse input with few entries in the first layer: adds each entry to its block, in every row whose unit is
 * on. */
static void pool_entries(const gradient_features *self, const gradient_factor *g, float *phi)
{
    enum { MOST = 256 };
    uint32_t block[MOST], phase[MOST];
    size_t k = self->k, count;
    for (size_t from = 0; from < g->input.count; from += count) {
        const uint32_t *indices = g->input.indices + from;
        const float *values = g->input.values + from;
        count = g->input.count - from < MOST ? g->input.count - from : MOST;
        for (size_t i = 0; i < count; i++) {
            block[i] = (uint32_t)(indices[i] / k);
            phase[i] = (uint32_t)(indices[i] % k);
        }
        for (size_t a = 0; a < g->out; a++) {
            size_t row = a * g->in, left = k - row % k;
            float d = g->delta[a] / (float)k, *means = phi + row / k;
            for (size_t i = 0; d != 0 && i < count; i++) means[block[i] + (phase[i] >= left)] += d * values[i];
        }
    }
}

/* Row a of the gradient of a layer is delta[a] times the input, from entry start + a in on. Rows whose start has the
 * same remainder by k divide the input into the same blocks, so each division is summed once for all of them. If there
 * are several, all divisions are at multiples of a cell, whose sums serve them all. */
static void pool_rows(const gradient_features *self, const gradient_factor *g, size_t start, float *sums, float *phi)
{
    size_t k = self->k, divisor = greatest_divisor(k, g->in), period = k / divisor, offset = 0;
    size_t cell = period > 1 ? greatest_divisor(divisor, start) : 1;
    float *cells = sums + self->count + 2;
    vector input = g->input;
    size_t cuts = period < g->out ? period : g->out, of_a_cut = cell > 1 ? g->in / cell : input.count + g->in / k;
    if (input.indices && input.count * g->out < cuts * of_a_cut) {
        pool_entries(self, g, phi);
        return;
    }
    if (cell > 1) {
        size_t end = pool_input(g->input, 0, cell, cells, &offset);
        input = vector_dense(cells + offset, end - offset);
    }
    for (size_t row = 0; row < period && row < g->out; row++) {
        size_t first, phase = (start + row * g->in) % k;
        size_t end = pool_input(input, phase / cell + offset, k / cell, sums, &first);
        if (period == 1 && phase == 0 && end - first == g->in / k) { /* no block covers two rows */
            self->kernels->update(phi + start / k, NULL, g->delta, sums, g->out, end);
            return;
        }
        for (size_t a = row; a < g->out && first < end; a += period) {
            if (g->delta[a] == 0) continue;
            float *block = phi + (start + a * g->in) / k;
            self->kernels->add_scaled(block + first, g->delta[a], sums + first, end - first);
        }
    }
}

static void compute_pooled(const gradient_features *self, const gradient_factor *factors, float *sums, float *phi)
{
    size_t start = 0, k = self->k;
    memset(phi, 0, self->count * sizeof *phi);
    if (self->rows) {
        size_t first;
        memcpy(phi, factors[0].delta, self->rows * sizeof *phi);
        pool_input(factors[0].input, 0, k, phi + self->rows, &first);
        phi += self->rows + self->columns; /* the rest starts with a block and is pooled separately */
    }
    for (size_t f = 0; f < self->factor_count; f++) {
        const gradient_factor *g = &factors[f];
        if (f || !self->rows) {
            pool_rows(self, g, start, sums, phi);
            start += g->out * g->in;
        }
        if (!g->bias) continue;
        size_t first, end = pool_input(vector_dense(g->delta, g->out), start % k, k, sums, &first);
        self->kernels->add_scaled(phi + start / k, 1, sums, end);
        start += g->out;
    }
}

/* ---- projections ---- */

/* out = the projections of x, followed by a 1 if there is a bias; signs is (in + bias, count) */
static void project(const kernel_table *kernels, const float *signs, vector x, size_t in, bool bias, size_t count,
                    float *out)
{
    const float *start = bias ? signs + in * count : NULL;
    if (x.indices)
        kernels->forward_sparse(out, start, signs, x.indices, x.values, x.count, 0, count, count, false);
    else
        kernels->forward(out, start, signs, x.values, in, count, count, false);
}

/* With random signs s and t, the sum over a, b of s[a] t[b] delta[a] x[b] is (s . delta) (t . x). */
static void compute_sketch(const gradient_features *self, const gradient_factor *factors, float *workspace, float *phi)
{
    size_t k = self->k;
    const float *signs = self->signs;
    float *of_input = workspace, *of_delta = workspace + k;
    memset(phi, 0, k * sizeof *phi);
    for (size_t f = 0; f < self->factor_count; f++) {
        const gradient_factor *g = &factors[f];
        project(self->kernels, signs, g->input, g->in, g->bias, k, of_input);
        signs += inputs_of(g) * k;
        project(self->kernels, signs, vector_dense(g->delta, g->out), g->out, false, k, of_delta);
        signs += g->out * k;
        for (size_t j = 0; j < k; j++) phi[j] += of_input[j] * of_delta[j];
    }
    /* With this factor, the inner product of two sketches is that of the gradients on average. */
    float scale = 1 / sqrtf((float)k);
    for (size_t j = 0; j < k; j++) phi[j] *= scale;
}

/* ---- lle ---- */

/* fitted is: 1 if there is a fit, otherwise 0; the points (window, point_count); their embedding (window, k). */

/* The factors in one row, for storing. */
static void gather_point(const gradient_features *self, const gradient_factor *factors, float *point)
{
    for (size_t f = 0; f < self->factor_count; f++) {
        memcpy(point, factors[f].delta, factors[f].out * sizeof *point);
        point += factors[f].out;
        vector_expand(factors[f].input, point, factors[f].in);
        point += factors[f].in;
    }
}

/* The inner product of two gradients, from their factors. */
static double inner_product(const gradient_features *self, const float *a, const float *b)
{
    double sum = 0;
    for (size_t f = 0; f < self->factor_count; f++) {
        size_t out = self->shapes[f].out, in = self->shapes[f].in;
        double deltas = vector_dot(vector_dense(a, out), vector_dense(b, out));
        double inputs = vector_dot(vector_dense(a + out, in), vector_dense(b + out, in));
        sum += deltas * (inputs + (self->shapes[f].bias ? 1 : 0));
        a += out + in;
        b += out + in;
    }
    return sum;
}

const float *gradient_features_embedding(const gradient_features *self, const float *fitted, size_t point)
{
    return fitted + 1 + self->window * self->point_count + point * self->k;
}

void gradient_features_map(const gradient_features *self, const float *fitted, const float *point, float *phi)
{
    memset(phi, 0, self->k * sizeof *phi);
    if (fitted[0] == 0) return;
    const float *points = fitted + 1;
    size_t size = self->point_count, count = self->neighbors;
    double distances[MOST_WINDOW] = {0}, inner[MOST_WINDOW] = {0};
    double square = inner_product(self, point, point);
    for (size_t i = 0; i < self->window; i++) {
        const float *other = points + i * size;
        inner[i] = inner_product(self, point, other);
        distances[i] = square - 2 * inner[i] + inner_product(self, other, other);
    }
    int nearest[MOST_NEIGHBORS];
    lle_nearest(distances, self->window, count, nearest);
    double local[MOST_NEIGHBORS * MOST_NEIGHBORS], weights[MOST_NEIGHBORS];
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            size_t i = (size_t)nearest[a], j = (size_t)nearest[b];
            local[a * count + b] =
                inner_product(self, points + i * size, points + j * size) - inner[i] - inner[j] + square;
        }
    }
    lle_weights(local, count, 1e-3, weights);
    for (size_t a = 0; a < count; a++)
        self->kernels->add_scaled(phi, (float)weights[a], gradient_features_embedding(self, fitted, (size_t)nearest[a]),
                                  self->k);
}

bool gradient_features_fit(const gradient_features *self, lle *room, double *gram, double *embedding,
                           const float *points, float *fitted)
{
    size_t n = self->window, size = self->point_count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double product = inner_product(self, points + i * size, points + j * size);
            gram[i * n + j] = product;
            gram[j * n + i] = product;
        }
    }
    if (!lle_fit(room, gram, embedding)) return false;
    fitted[0] = 1;
    memcpy(fitted + 1, points, n * size * sizeof *points);
    /* Columns have length 1 over the window; f2 learns better from entries of about 1. */
    double scale = sqrt((double)n);
    float *out = fitted + 1 + n * size;
    for (size_t i = 0; i < n * self->k; i++) out[i] = (float)(scale * embedding[i]);
    return true;
}

void gradient_features_compute(const gradient_features *self, const float *fitted, const gradient_factor *factors,
                               vector x, float *workspace, float *phi)
{
    switch (self->kind) {
    case FEATURES_NORMALIZED:
        compute_normalized(self, factors, x, phi);
        break;
    case FEATURES_POOLED:
    case FEATURES_AUTHORS:
        compute_pooled(self, factors, workspace, phi);
        break;
    case FEATURES_LLE:
        gather_point(self, factors, workspace);
        gradient_features_map(self, fitted, workspace, phi);
        break;
    case FEATURES_SKETCH:
        compute_sketch(self, factors, workspace, phi);
        break;
    }
}
