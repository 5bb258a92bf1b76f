/* Kernel ridge regression against its formula, solved anew by elimination for every answer. */
#include "math/kernel_ridge.h"

#include "support.h"

enum { DIM = 7, SAMPLES = 300, ARMS = 11 };

/* Every third feature is zero; each row in both forms. */
typedef struct rows {
    size_t count;
    float values[SAMPLES * DIM], entries[SAMPLES * DIM];
    uint32_t indices[SAMPLES * DIM];
    size_t starts[SAMPLES + 1];
    ee_arms dense, sparse;
} rows;

static void draw_rows(rows *self, size_t count, uint64_t seed)
{
    random_stream stream = random_named(seed, "rows");
    size_t end = 0;
    self->count = count;
    for (size_t i = 0; i < count * DIM; i++) {
        if (i % DIM == 0) self->starts[i / DIM] = end;
        self->values[i] = random_below(&stream, 3) ? (float)(random_unit(&stream) - 0.5) : 0;
        if (self->values[i] == 0) continue;
        self->indices[end] = (uint32_t)(i % DIM);
        self->entries[end++] = self->values[i];
    }
    self->starts[count] = end;
    self->dense = ee_arms_dense(self->values, count, DIM);
    self->sparse = ee_arms_sparse(self->starts, self->indices, self->entries, count, DIM);
}

static double reward_of(size_t sample)
{
    return sin((double)sample) + 0.5;
}

/* Every other sample is sparse. */
static void learn_rows(const kernel_ridge *k, double *factor, const rows *x, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        kernel_ridge_append(k, factor, i, vector_of_arm(i % 2 ? &x->sparse : &x->dense, i), reward_of(i));
}

static double kernel(double gamma, const float *a, const float *b, size_t dim)
{
    double square = 0;
    for (size_t i = 0; i < dim; i++) square += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return exp(-gamma * square);
}

/* inverse = (K + lambda I)^-1 by Gauss and Jordan; both (n, n) */
static void invert_gram(const kernel_ridge *k, const rows *x, size_t n, double *inverse)
{
    auto_free double *gram = calloc(n * n + 1, sizeof *gram);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            gram[i * n + j] = kernel(k->gamma, x->values + i * DIM, x->values + j * DIM, DIM) + (i == j) * k->lambda;
            inverse[i * n + j] = i == j;
        }
    for (size_t p = 0; p < n; p++) {
        double pivot = 1 / gram[p * n + p];
        for (size_t j = 0; j < n; j++) gram[p * n + j] *= pivot, inverse[p * n + j] *= pivot;
        for (size_t i = 0; i < n; i++) {
            double factor = gram[i * n + p];
            for (size_t j = 0; i != p && j < n; j++) {
                gram[i * n + j] -= factor * gram[p * n + j];
                inverse[i * n + j] -= factor * inverse[p * n + j];
            }
        }
    }
}

/* k_a^T (K + lambda I)^-1 (k_b, or the rewards where b is NULL) */
static double through_inverse(const kernel_ridge *k, const rows *x, size_t n, const double *inverse, const float *a,
                              const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += kernel(k->gamma, x->values + i * DIM, a, DIM) * inverse[i * n + j] *
                   (b ? kernel(k->gamma, x->values + j * DIM, b, DIM) : reward_of(j));
    return sum;
}

static void check_covariance(const kernel_ridge *k, const rows *x, const rows *arms, size_t count,
                             const double *inverse, const double *panel, bool sparse)
{
    double covariance[ARMS][ARMS];
    kernel_ridge_covariance(k, count, sparse ? &arms->sparse : &arms->dense, panel, covariance[0]);
    for (size_t i = 0; i < ARMS; i++)
        for (size_t j = 0; j <= i; j++) {
            const float *a = arms->values + i * DIM, *b = arms->values + j * DIM;
            double expected = kernel(k->gamma, a, b, DIM) - through_inverse(k, x, count, inverse, a, b);
            assert_close(covariance[i][j], expected, 1e-10);
        }
}

static void check_predictions(const kernel_ridge *k, const rows *x, const rows *arms, size_t count,
                              const double *factor, const double *inverse)
{
    for (size_t n = 1; n <= ARMS; n += count > 20 ? 5 : 1) {
        for (int sparse = 0; sparse < 2; sparse++) {
            double mean[ARMS], variance[ARMS];
            RELEASED_BY(guard_free) guard g;
            double *panel = guard_end_bytes(&g, kernel_ridge_panel_count(count, n) * sizeof *panel);
            size_t first = ARMS - n;
            kernel_ridge_predict(k, factor, count, sparse ? &arms->sparse : &arms->dense, first, n, panel, mean,
                                 variance);
            for (size_t i = 0; i < n; i++) {
                const float *a = arms->values + (first + i) * DIM;
                assert_close(mean[i], through_inverse(k, x, count, inverse, a, NULL), 1e-10);
                assert_close(variance[i], 1 - through_inverse(k, x, count, inverse, a, a), 1e-10);
            }
            if (n == ARMS) check_covariance(k, x, arms, count, inverse, panel, sparse);
        }
    }
}

TEST(predictions_are_the_formula)
{
    static rows x, arms;
    draw_rows(&x, SAMPLES, 1);
    draw_rows(&arms, ARMS, 2);
    kernel_ridge k = kernel_ridge_make(0, 1.5, 0.5, DIM, 4);
    auto_free double *factor = calloc(kernel_ridge_state_count(&k, SAMPLES), sizeof *factor);
    auto_free double *inverse = calloc((size_t)SAMPLES * SAMPLES, sizeof *inverse);
    size_t learned = 0;
    const size_t counts[] = {0, 1, 2, 3, 4, 5, 8, 13, 61};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        learn_rows(&k, factor, &x, learned, counts[c]);
        learned = counts[c];
        invert_gram(&k, &x, learned, inverse);
        check_predictions(&k, &x, &arms, learned, factor, inverse);
    }
}

/* K is singular to the last digit; lambda alone holds the factor up, though 1 + lambda may be 1. */
TEST(one_context_many_times_stays_finite)
{
    const double lambdas[] = {1e-6, 1e-18};
    for (size_t l = 0; l < 2; l++) {
        kernel_ridge k = kernel_ridge_make(0, 1, lambdas[l], 1, 1);
        auto_free double *factor = calloc(kernel_ridge_state_count(&k, 64), sizeof *factor);
        double panel[4 * 64], mean, variance;
        float place = 0.7f;
        for (size_t i = 0; i < 64; i++) kernel_ridge_append(&k, factor, i, vector_dense(&place, 1), 3);
        ee_arms arm = ee_arms_dense(&place, 1, 1);
        kernel_ridge_predict(&k, factor, 64, &arm, 0, 1, panel, &mean, &variance);
        assert_close(mean, 3, 1e-5);
        assert_true(variance >= 0 && variance < 1e-5);
    }
    /* F F^T is the matrix again, though the third point is the first and the last is the second, and rounding has left
     * the one a little less variance and the other a little more. */
    enum { N = 6 };
    const size_t point[N] = {0, 1, 0, 2, 3, 1};
    static rows x;
    draw_rows(&x, 4, 3);
    double matrix[N][N], factor[N][N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            factor[i][j] = matrix[i][j] = kernel(1, x.values + point[i] * DIM, x.values + point[j] * DIM, DIM);
    factor[2][2] -= 1e-13;
    factor[5][5] += 1e-13;
    kernel_ridge_factor(factor[0], N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t m = 0; m <= j; m++) sum += factor[i][m] * factor[j][m];
            assert_close(sum, matrix[i][j], 1e-9);
        }
    assert_true(factor[2][2] == 0 && factor[5][5] == 0 && factor[4][4] > 0);
}

enum { WIDE = 5000, ROOM = 1024 };

TEST(a_wide_context_is_kept_whole_or_not_at_all)
{
    kernel_ridge k = kernel_ridge_make(0, 0.01, 1, WIDE, 10);
    auto_free float *values = calloc(WIDE, sizeof *values), *entries = calloc(WIDE, sizeof *entries);
    auto_free uint32_t *indices = calloc(WIDE, sizeof *indices);
    auto_free double *factor = calloc(kernel_ridge_state_count(&k, 2), sizeof *factor);
    double panel[4 * 2], mean, variance;
    for (size_t i = 0; i < ROOM + 1; i++) {
        indices[i] = (uint32_t)(4 * i);
        values[4 * i] = entries[i] = 1 + (float)i / ROOM;
    }
    assert_false(kernel_ridge_fits(&k, vector_dense(values, WIDE)));
    assert_false(kernel_ridge_fits(&k, (vector){entries, indices, ROOM + 1}));
    values[4 * ROOM] = entries[ROOM] = 0; /* an entry that is zero takes no room */
    assert_true(kernel_ridge_fits(&k, vector_dense(values, WIDE)));
    assert_true(kernel_ridge_fits(&k, (vector){entries, indices, ROOM + 1}));

    kernel_ridge_append(&k, factor, 0, vector_dense(values, WIDE), 1);
    kernel_ridge_append(&k, factor, 1, (vector){entries, indices, ROOM + 1}, 1);
    assert_true(kernel_ridge_is_sound(&k, factor, 2));
    ee_arms arm = ee_arms_dense(values, 1, WIDE);
    kernel_ridge_predict(&k, factor, 2, &arm, 0, 1, panel, &mean, &variance);
    assert_close(mean, 2.0 / 3, 1e-12);
    const size_t starts[2] = {0, ROOM};
    arm = ee_arms_sparse(starts, indices, entries, 1, WIDE);
    entries[0] += 3; /* at a distance of 3: k = exp(-0.09) */
    kernel_ridge_predict(&k, factor, 2, &arm, 0, 1, panel, &mean, &variance);
    assert_close(mean, exp(-0.09) * 2 / 3, 1e-9);
    assert_true(kernel_ridge_fits(&(kernel_ridge){k.kernel, k.slopes, 1, 1, WIDE, WIDE}, vector_dense(values, WIDE)));
}

/* The form of a context is the third double of its record, as two words; the context follows. */
TEST(what_leads_outside_is_found)
{
    kernel_ridge k = kernel_ridge_make(0, 1, 1, 8, 4);
    size_t size = kernel_ridge_state_count(&k, 2) * sizeof(double);
    auto_free double *good = calloc(1, size), *bad = calloc(1, size);
    const float values[3] = {1, 2, 3}, dense[8] = {1};
    const uint32_t indices[3] = {1, 4, 7};
    kernel_ridge_append(&k, good, 0, vector_dense(dense, 8), 1);
    kernel_ridge_append(&k, good, 1, (vector){values, indices, 3}, 1);
    assert_true(kernel_ridge_is_sound(&k, good, 2));
    size_t first = 0, second = 2 * kernel_ridge_state_count(&k, 1); /* in words */
    struct {
        size_t word;
        uint32_t value;
    } cases[] = {
        {first + 4, 7},          {first + 4, 9},           {first + 5, 2},          {first + 6, 0x7f800000},
        {second + 4, 5},         {second + 4, UINT32_MAX}, {second + 5, 0},         {second + 6, 0x7fc00000},
        {second + 6 + 3 + 2, 8}, {second + 6 + 3 + 1, 1},  {second + 6 + 3 + 0, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(bad, good, size);
        memcpy((char *)bad + cases[i].word * 4, &cases[i].value, 4);
        if (kernel_ridge_is_sound(&k, bad, 2)) fail_msg("case %zu is taken", i);
    }

    /* Good entries, but one more than there is room for: the last index lies past the context. */
    uint32_t words[2 + 2 * 5] = {5, 1};
    for (uint32_t i = 0; i < 5; i++) words[2 + 5 + i] = i;
    memcpy(bad, good, size);
    assert_true((second + 4) * 4 + sizeof words <= size);
    memcpy((char *)bad + (second + 4) * 4, words, sizeof words);
    assert_false(kernel_ridge_is_sound(&k, bad, 2));
}

static double mean_at(const kernel_ridge *k, const double *factor, size_t count, const ee_arms *arms, double *panel)
{
    double mean, variance;
    kernel_ridge_predict(k, factor, count, arms, 0, 1, panel, &mean, &variance);
    return mean;
}

TEST(the_gradient_is_that_of_the_mean)
{
    enum { COUNT = 40 };
    kernel_ridge k = kernel_ridge_make(0, 0.7, 0.5, DIM, DIM);
    auto_free double *factor = calloc(kernel_ridge_state_count(&k, COUNT), sizeof *factor);
    auto_free double *panel = calloc(kernel_ridge_panel_count(COUNT, 1), sizeof *panel);
    auto_free double *room = calloc(kernel_ridge_gradient_room(COUNT, DIM), sizeof *room);
    static rows x, arms;
    draw_rows(&x, COUNT, 1);
    draw_rows(&arms, ARMS, 2);
    learn_rows(&k, factor, &x, 0, COUNT);
    for (size_t arm = 0; arm < ARMS; arm++) {
        float dense[DIM], sparse[DIM], *values = arms.values + arm * DIM;
        ee_arms alone = ee_arms_dense(values, 1, DIM);
        kernel_ridge_gradient(&k, factor, COUNT, vector_of_arm(&arms.dense, arm), room, dense);
        kernel_ridge_gradient(&k, factor, COUNT, vector_of_arm(&arms.sparse, arm), room, sparse);
        for (size_t i = 0; i < DIM; i++) {
            float kept = values[i], up = kept + 0x1p-12f, down = kept - 0x1p-12f;
            values[i] = up;
            double above = mean_at(&k, factor, COUNT, &alone, panel);
            values[i] = down;
            double below = mean_at(&k, factor, COUNT, &alone, panel);
            values[i] = kept;
            assert_close(dense[i], (above - below) / ((double)up - (double)down), 1e-6);
        }
        for (size_t i = arms.starts[arm]; i < arms.starts[arm + 1]; i++)
            assert_close(sparse[i - arms.starts[arm]], dense[arms.indices[i]], 1e-6);
    }
}
