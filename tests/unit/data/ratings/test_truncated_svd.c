/* Singular vectors against what they must be: A v = s u and A^T u = s v, orthonormal, the largest; and against stored
 * numbers of another program. */

#include "base/random.h"
#include "data/ratings/truncated_svd.h"
#include "support.h"

/* A matrix with its own arrays, and its decomposition. */
typedef struct problem {
    sparse_matrix matrix;
    double *dense; /* (rows, columns) */
    size_t rank;
    double *left, *values, *right;
} problem;

static void *take(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

/* dense becomes the problem's */
static problem make_problem(double *dense, size_t rows, size_t columns, size_t rank)
{
    size_t *starts = take(rows + 1, sizeof *starts), count = 0;
    uint32_t *indices = take(rows * columns, sizeof *indices);
    float *values = take(rows * columns, sizeof *values);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            dense[i * columns + j] = (double)(float)dense[i * columns + j];
            if (dense[i * columns + j] == 0) continue;
            indices[count] = (uint32_t)j;
            values[count++] = (float)dense[i * columns + j];
        }
        starts[i + 1] = count;
    }
    problem made = {.matrix = {rows, columns, starts, indices, values}, .dense = dense, .rank = rank};
    made.left = take(rows * rank, sizeof(double));
    made.values = take(rank, sizeof(double));
    made.right = take(columns * rank, sizeof(double));
    ok(truncated_svd(&made.matrix, rank, made.left, made.values, made.right, NULL));
    return made;
}

static void free_problem(problem *p)
{
    free((void *)(uintptr_t)p->matrix.starts);
    free((void *)(uintptr_t)p->matrix.indices);
    free((void *)(uintptr_t)p->matrix.values);
    free(p->dense);
    free(p->left);
    free(p->values);
    free(p->right);
}

static double *draw_dense(size_t rows, size_t columns, double density, uint64_t seed)
{
    random_stream draw = random_named(seed, "matrix");
    double *dense = take(rows * columns, sizeof *dense);
    for (size_t i = 0; i < rows * columns; i++) dense[i] = random_unit(&draw) < density ? random_normal(&draw) : 0;
    return dense;
}

static void check_orthonormal(const double *vectors, size_t n, size_t rank)
{
    for (size_t a = 0; a < rank; a++) {
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += vectors[i * rank + a] * vectors[i * rank + b];
            assert_close(sum, a == b ? 1 : 0, 1e-11);
        }
    }
}

/* ||A v - s u|| and ||A^T u - s v|| of every triple are within the tolerance times the largest value. */
static void check_residuals(const problem *p, double tolerance)
{
    size_t rows = p->matrix.rows, columns = p->matrix.columns;
    auto_free double *image = take(rows + columns, sizeof *image);
    double *back = image + rows;
    for (size_t r = 0; r < p->rank; r++) {
        double squares = 0;
        for (size_t i = 0; i < rows; i++) image[i] = -p->values[r] * p->left[i * p->rank + r];
        for (size_t j = 0; j < columns; j++) back[j] = -p->values[r] * p->right[j * p->rank + r];
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) {
                image[i] += p->dense[i * columns + j] * p->right[j * p->rank + r];
                back[j] += p->dense[i * columns + j] * p->left[i * p->rank + r];
            }
        }
        for (size_t i = 0; i < rows + columns; i++) squares += image[i] * image[i];
        if (sqrt(squares) > tolerance * p->values[0]) fail_msg("value %zu: residual %g", r, sqrt(squares));
    }
}

static void check(const problem *p)
{
    check_orthonormal(p->left, p->matrix.rows, p->rank);
    check_orthonormal(p->right, p->matrix.columns, p->rank);
    check_residuals(p, 1e-7);
    for (size_t r = 0; r < p->rank; r++) {
        assert_true(p->values[r] >= 0 && (r == 0 || p->values[r] <= p->values[r - 1]));
        double largest = 0;
        for (size_t i = 0; i < p->matrix.rows; i++)
            if (fabs(p->left[i * p->rank + r]) > fabs(largest)) largest = p->left[i * p->rank + r];
        assert_true(largest > 0);
    }
}

TEST(stored_numbers)
{
    json_auto_t *golden = golden_load("svd_features.json");
    size_t count, rows = 30, columns = 50, rank = 30, dim = 5;
    double *dense = golden_doubles(golden_member(golden, "matrix"), &count);
    assert_int_equal(count, rows * columns);
    auto_free double *values = golden_doubles(golden_member(golden, "singular_values"), NULL);
    auto_free double *features = golden_doubles(golden_member(golden, "user_features"), NULL);
    RELEASED_BY(free_problem) problem p = make_problem(dense, rows, columns, rank);
    check(&p);
    for (size_t r = 0; r < rank; r++) assert_close(p.values[r], values[r], 1e-10);
    for (size_t r = 0; r + 1 < dim; r++) {
        double sign = 0;
        for (size_t i = 0; i < rows; i++) {
            double squares = 0;
            for (size_t a = 0; a + 1 < dim; a++) squares += p.left[i * rank + a] * p.left[i * rank + a];
            double got = p.left[i * rank + r] / sqrt(2 * squares), expected = features[i * dim + r];
            if (sign == 0) sign = got * expected < 0 ? -1 : 1;
            assert_close(sign * got, expected, 1e-8);
        }
    }
}

/* Wide, tall and square; where the basis holds the whole space and where it must restart. */
TEST(random_matrices)
{
    static const struct {
        size_t rows, columns, rank;
        double density;
    } cases[] = {{1, 1, 1, 1},     {1, 9, 1, 1},      {9, 1, 1, 1},       {7, 5, 5, 1},        {40, 40, 40, 0.2},
                 {60, 30, 3, 0.3}, {30, 60, 30, 0.3}, {300, 500, 5, 0.1}, {300, 200, 20, 0.1}, {120, 120, 50, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double *dense = draw_dense(cases[i].rows, cases[i].columns, cases[i].density, i);
        RELEASED_BY(free_problem) problem p = make_problem(dense, cases[i].rows, cases[i].columns, cases[i].rank);
        check(&p);
    }
}

/* No value is left out: what is asked for is the start of what is asked for in full, which the Frobenius norm proves to
 * be all of it. */
TEST(values_are_the_largest)
{
    enum { ROWS = 300, COLUMNS = 320, RANK = 12 };
    RELEASED_BY(free_problem) problem few = make_problem(draw_dense(ROWS, COLUMNS, 0.1, 3), ROWS, COLUMNS, RANK);
    RELEASED_BY(free_problem) problem all = make_problem(draw_dense(ROWS, COLUMNS, 0.1, 3), ROWS, COLUMNS, ROWS);
    double norm = 0, sum = 0;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) norm += all.dense[i] * all.dense[i];
    for (size_t r = 0; r < ROWS; r++) sum += all.values[r] * all.values[r];
    assert_close(sum / norm, 1, 1e-12);
    check(&all);
    for (size_t r = 0; r < RANK; r++) assert_close(few.values[r], all.values[r], 1e-12);
}

/* A sum of three outer products of signs with disjoint columns: its values are known, the others are zero. */
TEST(low_rank)
{
    enum { ROWS = 200, COLUMNS = 180, BAND = 60, RANK = 9 };
    double *dense = take(ROWS * COLUMNS, sizeof *dense);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            size_t band = j / BAND,
                   bit = band == 0 ? 0 : i >> (band - 1) & 1; /* orthogonal: 1, the bits 0 and 1 of i */
            dense[i * COLUMNS + j] = (bit ? -1.0 : 1.0) * (double)(3 - band);
        }
    RELEASED_BY(free_problem) problem p = make_problem(dense, ROWS, COLUMNS, RANK);
    check(&p);
    for (size_t r = 0; r < 3; r++) assert_close(p.values[r], (double)(3 - r) * sqrt(ROWS * BAND), 1e-12);
    for (size_t r = 3; r < RANK; r++) assert_true(p.values[r] < 1e-10);
}

TEST(nothing_in_it)
{
    RELEASED_BY(free_problem) problem p = make_problem(take(200 * 300, sizeof(double)), 200, 300, 4);
    check_orthonormal(p.left, 200, 4);
    check_orthonormal(p.right, 300, 4);
    for (size_t r = 0; r < 4; r++) assert_true(p.values[r] == 0);
}

/* Forty equal values, more than a block has vectors, above many lesser ones; rows without entries among them. */
TEST(equal_values)
{
    enum { SIDE = 600, EQUAL = 40, RANK = 45 };
    double *dense = take(SIDE * SIDE, sizeof *dense);
    for (size_t i = 0; i < 500; i++)
        dense[i * SIDE + (i * 7) % SIDE] = i < EQUAL ? 5.0 : 4.0 * (double)(float)(1.0 - 0.001 * (double)(i - EQUAL));
    RELEASED_BY(free_problem) problem p = make_problem(dense, SIDE, SIDE, RANK);
    check(&p);
    for (size_t r = 0; r < EQUAL; r++) assert_close(p.values[r], 5.0, 1e-12);
    for (size_t r = EQUAL; r < RANK; r++)
        assert_close(p.values[r], (double)(float)(4.0 * (1.0 - 0.001 * (double)(r - EQUAL))), 1e-6);
}

/* Values over ten orders of magnitude: B's squares alone would lose the small ones. */
TEST(small_values_keep_their_digits)
{
    enum { SIDE = 16 };
    double *dense = take(SIDE * SIDE, sizeof *dense);
    for (size_t i = 0; i < SIDE; i++) dense[i * SIDE + (5 * i) % SIDE] = pow(0.25, (double)i);
    RELEASED_BY(free_problem) problem p = make_problem(dense, SIDE, SIDE, SIDE);
    for (size_t r = 0; r < SIDE; r++) assert_close(p.values[r] / pow(0.25, (double)r), 1, 1e-9);
}

TEST(same_bytes_and_nothing_that_is_not_asked_for)
{
    enum { ROWS = 300, COLUMNS = 400, RANK = 5 };
    RELEASED_BY(free_problem) problem one = make_problem(draw_dense(ROWS, COLUMNS, 0.1, 8), ROWS, COLUMNS, RANK);
    RELEASED_BY(free_problem) problem two = make_problem(draw_dense(ROWS, COLUMNS, 0.1, 8), ROWS, COLUMNS, RANK);
    assert_memory_equal(one.left, two.left, ROWS * RANK * sizeof(double));
    assert_memory_equal(one.right, two.right, COLUMNS * RANK * sizeof(double));
    double values[RANK];
    ok(truncated_svd(&one.matrix, RANK, NULL, values, NULL, NULL));
    assert_memory_equal(one.values, values, sizeof values);
    ok(truncated_svd(&one.matrix, RANK, NULL, NULL, two.right, NULL));
    assert_memory_equal(one.right, two.right, COLUMNS * RANK * sizeof(double));
}
