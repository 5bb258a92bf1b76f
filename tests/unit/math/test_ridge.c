/* Ridge regression against a fresh solve of the same sums, done here in the plainest way. */
#include "math/ridge.h"

#include "support.h"

typedef struct model {
    memory *owner;
    size_t dim;
    ridge *ridge;
    double *state;
    double *a, *b; /* what the samples add up to: (dim, dim) with lambda on the diagonal, and (dim) */
} model;

static model model_make(size_t dim, double lambda, size_t refresh)
{
    model m = {.dim = dim, .a = calloc(dim * dim, sizeof(double)), .b = calloc(dim, sizeof(double))};
    m.owner = calloc(1, sizeof *m.owner);
    ok(ridge_create(m.owner, dim, lambda, refresh, &m.ridge, NULL));
    m.state = calloc(ridge_state_count(dim), sizeof(double));
    ridge_start(m.ridge, m.state);
    for (size_t i = 0; i < dim; i++) m.a[i * dim + i] = lambda;
    return m;
}

static void model_destroy(model *m)
{
    memory_release(m->owner);
    free(m->owner);
    free(m->state);
    free(m->a);
    free(m->b);
}

/* x is dense; sparse says in which form the ridge gets it. */
static void model_add(model *m, const float *x, double y, bool sparse)
{
    float values[256];
    uint32_t indices[256];
    vector v = {values, indices, 0};
    for (size_t i = 0; i < m->dim; i++) {
        m->b[i] += y * x[i];
        for (size_t j = 0; j < m->dim; j++) m->a[i * m->dim + j] += (double)x[i] * x[j];
        if (x[i] == 0) continue;
        values[v.count] = x[i];
        indices[v.count++] = (uint32_t)i;
    }
    ridge_observe(m->ridge, m->state, sparse ? v : vector_dense(x, m->dim), y, 1);
}

/* Solves a x = b by elimination; a is symmetric and positive. a and b are overwritten, b becomes x. */
static void eliminate(double *a, double *b, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        for (size_t r = c + 1; r < n; r++) {
            double factor = a[r * n + c] / a[c * n + c];
            for (size_t k = c; k < n; k++) a[r * n + k] -= factor * a[c * n + k];
            b[r] -= factor * b[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        for (size_t k = c + 1; k < n; k++) b[c] -= a[c * n + k] * b[k];
        b[c] /= a[c * n + c];
    }
}

/* out = A^-1 right, by a fresh solve */
static void solve(const model *m, const double *right, double *out)
{
    auto_free double *a = calloc(m->dim * m->dim, sizeof(double));
    memcpy(a, m->a, m->dim * m->dim * sizeof *a);
    memcpy(out, right, m->dim * sizeof *out);
    eliminate(a, out, m->dim);
}

/* Every entry of the inverse within tolerance of what the variances of its row and column allow it, and every one of
 * theta within tolerance of the largest. */
static void assert_solved(const model *m, double tolerance)
{
    size_t dim = m->dim;
    auto_free double *right = calloc(dim, sizeof(double)), *inverse = calloc(dim * dim, sizeof(double)),
                     *fresh = calloc(dim, sizeof(double));
    for (size_t i = 0; i < dim; i++) {
        memset(right, 0, dim * sizeof *right);
        right[i] = 1;
        solve(m, right, inverse + i * dim);
    }
    for (size_t i = 0; i < dim * dim; i++) {
        float row[256] = {0}, column[256] = {0};
        row[i / dim] = column[i % dim] = 1;
        double got = ridge_covariance(m->state, dim, vector_dense(row, dim), vector_dense(column, dim));
        double size = sqrt(inverse[i / dim * (dim + 1)] * inverse[i % dim * (dim + 1)]);
        if (!(fabs(got - inverse[i]) <= tolerance * size))
            fail_msg("A^-1[%zu, %zu]: %.12g, not %.12g", i / dim, i % dim, got, inverse[i]);
    }
    solve(m, m->b, fresh);
    double length = 0;
    for (size_t i = 0; i < dim; i++) length = fmax(length, fabs(fresh[i]));
    for (size_t i = 0; i < dim; i++) {
        float unit[256] = {0};
        unit[i] = 1;
        double got = ridge_mean(m->state, dim, vector_dense(unit, dim));
        if (!(fabs(got - fresh[i]) <= tolerance * length)) fail_msg("theta[%zu]: %g, not %g", i, got, fresh[i]);
    }
}

static void draw_sample(random_stream *stream, float *x, size_t dim, double *y)
{
    *y = 0.1 * random_normal(stream);
    for (size_t i = 0; i < dim; i++) {
        x[i] = (float)random_normal(stream);
        *y += x[i] * sin((double)i);
    }
}

TEST(many_updates_do_not_drift)
{
    static const size_t refreshes[] = {1, 97, 700, 1000000};
    for (size_t r = 0; r < 4; r++) {
        random_stream stream = random_named(1, "drift");
        RELEASED_BY(model_destroy) model m = model_make(20, 1, refreshes[r]);
        for (size_t t = 0; t < test_long(2000, 20000); t++) {
            float x[20];
            double y;
            draw_sample(&stream, x, 20, &y);
            model_add(&m, x, y, t % 2);
        }
        assert_solved(&m, 1e-8);
    }
}

/* Features of very different scale, and a lambda that is small beside them. */
TEST(scales_do_not_matter)
{
    random_stream stream = random_named(2, "scales");
    RELEASED_BY(model_destroy) model m = model_make(6, 1e-3, 1000);
    for (int t = 0; t < 3000; t++) {
        float x[6];
        double y;
        draw_sample(&stream, x, 6, &y);
        for (size_t i = 0; i < 6; i++) x[i] *= powf(10, (float)i - 2);
        model_add(&m, x, y, false);
        if (t < 10) assert_solved(&m, 1e-6);
    }
    assert_solved(&m, 1e-6);
    /* The rank-one update takes a small difference of what is large here; a factorisation does not. */
    RELEASED_BY(model_destroy) model two = model_make(2, 1, 1000);
    float long_one[2] = {1e6f, 1e6f}, another[2] = {1e6f, -1e6f};
    model_add(&two, long_one, 1, false);
    model_add(&two, another, 2, false);
    assert_solved(&two, 1e-12);
}

/* Blocks that do not touch each other, scattered over the features; then some that join them. */
TEST(blocks_are_solved_as_the_whole)
{
    enum { DIM = 40 };
    for (int sparse = 0; sparse < 2; sparse++) {
        random_stream stream = random_named(3, "blocks");
        RELEASED_BY(model_destroy) model m = model_make(DIM, 0.5, 7);
        for (int t = 0; t < 400; t++) {
            float x[DIM] = {0};
            size_t block = (size_t)random_below(&stream, 4);
            for (size_t i = block; i < DIM; i += 4)
                if (i != 20 + block && random_below(&stream, 3)) x[i] = (float)random_normal(&stream);
            if (t == 200) x[1] = x[2] = 1; /* two blocks become one */
            if (t == 300) x[0] = x[20] = x[39] = 1;
            model_add(&m, x, random_normal(&stream), sparse);
            if (t == 199 || t == 200 || t == 300) assert_solved(&m, 1e-11);
        }
        assert_solved(&m, 1e-11);
    }
}

/* Both forms give the same bytes: zeros of a dense vector are no features. */
TEST(dense_and_sparse_are_the_same)
{
    enum { DIM = 30 };
    RELEASED_BY(model_destroy) model dense = model_make(DIM, 1, 10), sparse = model_make(DIM, 1, 10);
    random_stream stream = random_named(4, "forms");
    for (int t = 0; t < 100; t++) {
        float x[DIM] = {0};
        for (size_t i = (size_t)t % 5; i < DIM; i += 5) x[i] = (float)random_normal(&stream);
        double y = random_normal(&stream);
        model_add(&dense, x, y, false);
        model_add(&sparse, x, y, true);
    }
    assert_memory_equal(dense.state, sparse.state, ridge_state_count(DIM) * sizeof(double));
}

TEST(the_variance_shrinks_only_where_it_played)
{
    const double lambda = 0.25;
    RELEASED_BY(model_destroy) model m = model_make(4, lambda, 1000);
    float played[4] = {1, 2, 0, 0}, other[4] = {0, 0, 3, 0};
    vector x = vector_dense(played, 4), elsewhere = vector_dense(other, 4);
    double before = 5 / lambda;
    for (int t = 1; t <= 100; t++) {
        model_add(&m, played, 1, false);
        double now = ridge_covariance(m.state, 4, x, x);
        assert_close(now, 5 / (lambda + 5 * t), 1e-12); /* by hand, for one direction played t times */
        assert_true(now < before);
        assert_true(ridge_covariance(m.state, 4, elsewhere, elsewhere) == 9 / lambda);
        assert_true(ridge_covariance(m.state, 4, x, elsewhere) == 0);
        before = now;
    }
}

/* A feature seen for the first time has the prior's variance, in either form and beside features that were seen. */
TEST(unseen_features_have_the_prior)
{
    RELEASED_BY(model_destroy) model m = model_make(5, 2, 1000);
    float seen[5] = {0, 1, 0, 1, 0}, a[5] = {1, 1, 0, 0, 2}, entries[3] = {1, 1, 2}, b[5] = {3, 0, 0, 1, 1};
    uint32_t indices[3] = {0, 1, 4};
    model_add(&m, seen, 1, true);
    vector dense = vector_dense(a, 5), sparse = {entries, indices, 3}, other = vector_dense(b, 5);
    double rest[5], right[5], expected = 0, cross = 0;
    for (size_t i = 0; i < 5; i++) right[i] = a[i];
    solve(&m, right, rest);
    for (size_t i = 0; i < 5; i++) {
        expected += rest[i] * a[i];
        cross += rest[i] * b[i];
    }
    assert_close(ridge_covariance(m.state, 5, dense, dense), expected, 1e-14);
    assert_close(ridge_covariance(m.state, 5, sparse, sparse), expected, 1e-14);
    assert_close(ridge_covariance(m.state, 5, sparse, dense), expected, 1e-14);
    assert_close(ridge_covariance(m.state, 5, other, sparse), cross, 1e-14);
    assert_close(ridge_covariance(m.state, 5, sparse, other), cross, 1e-14);
}

/* ---- drawing ---- */

/* Means, variances and the covariances of all pairs, over many draws, each within 4.5 standard errors. */
static void assert_draws(const model *m, const ee_arms *arms)
{
    enum { DRAWS = 4000, MOST = 12 };
    size_t n = arms->count;
    random_stream stream = random_named(5, "draws");
    auto_free double *room = calloc(ridge_draw_room(m->dim, n), sizeof(double));
    double drawn[MOST], sums[MOST] = {0}, products[MOST][MOST] = {{0}};
    for (int t = 0; t < DRAWS; t++) {
        ridge_draw(m->state, m->dim, arms, &stream, room, drawn);
        for (size_t i = 0; i < n; i++) {
            sums[i] += drawn[i];
            for (size_t j = 0; j <= i; j++) products[i][j] += drawn[i] * drawn[j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            vector a = vector_of_arm(arms, i), b = vector_of_arm(arms, j);
            double cov = ridge_covariance(m->state, m->dim, a, b), var_a = ridge_covariance(m->state, m->dim, a, a),
                   var_b = ridge_covariance(m->state, m->dim, b, b);
            double error = sqrt((var_a * var_b + cov * cov) / DRAWS);
            assert_true(fabs(products[i][j] / DRAWS - cov) <= 4.5 * error + 1e-12);
            assert_true(fabs(sums[i] / DRAWS) <= 4.5 * sqrt(var_a / DRAWS) + 1e-12);
        }
    }
}

TEST(draws_follow_the_covariance)
{
    enum { DIM = 6, ARMS = 12 };
    RELEASED_BY(model_destroy) model m = model_make(DIM, 1, 1000);
    random_stream stream = random_named(6, "arms");
    float x[ARMS * DIM] = {0};
    for (int t = 0; t < 10; t++) {
        double y;
        draw_sample(&stream, x, DIM, &y);
        x[2] = 0; /* this feature stays unseen */
        model_add(&m, x, y, false);
    }
    for (size_t i = 0; i < ARMS * DIM; i++) x[i] = (float)random_normal(&stream);
    memcpy(x + DIM, x, DIM * sizeof *x);     /* arm 1 is arm 0 */
    memset(x + 2 * DIM, 0, DIM * sizeof *x); /* arm 2 is nothing */
    ee_arms few = ee_arms_dense(x, 5, DIM), many = ee_arms_dense(x, ARMS, DIM);
    assert_draws(&m, &few);
    assert_draws(&m, &many);
    size_t starts[4] = {0, 2, 4, 5};
    uint32_t indices[5] = {0, 2, 2, 5, 3};
    ee_arms sparse = ee_arms_sparse(starts, indices, x, 3, DIM);
    assert_draws(&m, &sparse);
}

/* Features in blocks that were never seen together, and one that was never seen. */
static model model_of_blocks(void)
{
    enum { DIM = 12, BLOCK = 3 };
    model m = model_make(DIM, 0.5, 1000);
    random_stream stream = random_named(8, "blocks");
    for (size_t t = 0; t < 24; t++) {
        float x[DIM] = {0};
        for (size_t i = 0; i < BLOCK; i++) x[t % 4 + 4 * i] = (float)random_normal(&stream);
        if (t % 4 == 3) x[11] = 0;
        model_add(&m, x, random_normal(&stream), t % 2);
    }
    return m;
}

/* Groups of arms are drawn apart: by the arms where they are few, by the features where there are more arms. Arms of
 * one block need not have a feature in common, and one that lies in two blocks joins their arms. Feature f is in block
 * f % 4. */
TEST(draws_of_blocks_follow_the_covariance)
{
    enum { DIM = 12, ARMS = 12, EACH = 2 };
    static const uint32_t features[2][ARMS][EACH] = {
        {{0, 4}, {0, 4}, {0, 8}, {4, 8}, {0, 8}, {4, 8}, {1, 5}, {5, 9}, {2, 6}, {10, 11}, {3, 7}, {3, 11}},
        {{0, 4}, {4, 8}, {0, 8}, {4, 8}, {0, 8}, {8, 9}, {1, 5}, {5, 9}, {2, 6}, {10, 11}, {3, 7}, {6, 7}}};
    RELEASED_BY(model_destroy) model m = model_of_blocks();
    random_stream stream = random_named(9, "arms");
    for (size_t linked = 0; linked < 2; linked++) {
        size_t starts[ARMS + 1] = {0};
        float values[ARMS * EACH], dense[ARMS * DIM] = {0};
        for (size_t i = 0; i < ARMS * EACH; i++) {
            bool single = i / EACH % 3 == 0 && i % EACH; /* of some arms one entry is zero */
            values[i] = single ? 0 : (float)random_normal(&stream);
            dense[i / EACH * DIM + features[linked][i / EACH][i % EACH]] = values[i];
            starts[i / EACH + 1] = i + 1;
        }
        ee_arms sparse = ee_arms_sparse(starts, &features[linked][0][0], values, ARMS, DIM);
        ee_arms same = ee_arms_dense(dense, ARMS, DIM);
        assert_draws(&m, &sparse);
        assert_draws(&m, &same);
    }
}

/* ---- saving and loading ---- */

static void play(model *m, uint64_t from, uint64_t to)
{
    for (uint64_t t = from; t < to; t++) {
        random_stream stream = random_named(t, "play");
        float x[12] = {0};
        for (size_t i = (size_t)t % 3; i < 9; i += 3) x[i] = (float)random_normal(&stream);
        model_add(m, x, random_normal(&stream), true);
    }
}

static ee_status read_changed(const archive *whole, size_t size, size_t place, uint8_t flip, size_t width)
{
    auto_free uint8_t *bytes = malloc(whole->size);
    assert_non_null(bytes);
    memcpy(bytes, whole->bytes, whole->size);
    for (size_t i = 0; i < width; i++) bytes[place + i] ^= flip;
    RELEASED_BY(model_destroy) model m = model_make(12, 1, 7);
    archive reader = archive_reader(bytes, size, NULL);
    ridge_archive(m.ridge, m.state, &reader);
    if (!reader.status) play(&m, 0, 20); /* whatever was read, it must be safe to go on */
    return reader.status;
}

TEST(damage_is_found_or_harmless)
{
    RELEASED_BY(model_destroy) model m = model_make(12, 1, 7);
    play(&m, 0, 20);
    auto_archive writer = archive_writer(NULL);
    ridge_archive(m.ridge, m.state, &writer);
    ok(read_changed(&writer, writer.size, 0, 0, 0));
    for (size_t size = 0; size < writer.size; size++)
        assert_int_equal(read_changed(&writer, size, 0, 0, 0), EE_BAD_MODEL);
    for (size_t place = 0; place < writer.size; place++) {
        static const uint8_t flips[] = {0x01, 0x10, 0x80, 0xff};
        for (size_t i = 0; i < 4; i++) read_changed(&writer, writer.size, place, flips[i], 1);
    }
    assert_int_equal(read_changed(&writer, writer.size, 0, 0x04, 1), EE_BAD_MODEL); /* a head above its feature */
    assert_int_equal(read_changed(&writer, writer.size, 12, 0x03, 1),
                     EE_BAD_MODEL); /* 3: its head is 3, which is 0's */
    assert_int_equal(read_changed(&writer, writer.size, 54, 0x10, 1), EE_BAD_MODEL); /* more updates than a refresh */
}

TEST(a_dimension_beyond_memory_is_refused)
{
    memory owner = {0};
    ridge *none = NULL;
    assert_int_equal(ridge_create(&owner, UINT32_MAX, 1, 1, &none, NULL), EE_NO_MEMORY);
    assert_null(none);
    assert_int_equal(memory_bytes(&owner), 0);
}

/* ---- samples whose y comes later ---- */

/* A sample of one block of features, so that there are several; blocks grow together now and then. */
static void draw_in_block(random_stream *stream, float *x, size_t dim, double *y)
{
    size_t first = (size_t)random_below(stream, 3) * (dim / 3), length = random_below(stream, 20) ? dim / 3 : dim / 2;
    draw_sample(stream, x, dim, y);
    for (size_t i = 0; i < dim; i++)
        if (i < first || i >= first + length) x[i] = 0;
}

/* First told what is not true of them, and later corrected in any order, samples count as if they had come so: A^-1,
 * theta, and what a factorisation makes anew of the sums. */
TEST(a_corrected_sample_is_as_if_it_had_come_so)
{
    enum { DIM = 12, SAMPLES = 120, LATE = 9 };
    const size_t refreshes[] = {1, 7, 1000};
    for (size_t r = 0; r < 3; r++) {
        random_stream stream = random_named(r, "late");
        RELEASED_BY(model_destroy) model m = model_make(DIM, 0.3, refreshes[r]);
        double y[SAMPLES], reported[SAMPLES];
        auto_free double *copy = calloc(ridge_state_count(DIM), sizeof(double));
        float x[SAMPLES][DIM];
        ridge_copy(m.ridge, m.state, 0, copy);
        for (size_t t = 0; t < SAMPLES + LATE; t++) {
            if (t < SAMPLES) {
                draw_in_block(&stream, x[t], DIM, &y[t]);
                reported[t] = t % 2 ? ridge_mean(m.state, DIM, vector_dense(x[t], DIM)) : random_normal(&stream);
                model_add(&m, x[t], reported[t], t % 3 == 0);
            }
            if (t >= LATE) {
                size_t late = t - LATE;
                for (size_t i = 0; i < DIM; i++) m.b[i] += (y[late] - reported[late]) * (double)x[late][i];
                ridge_correct(m.ridge, m.state, vector_dense(x[late], DIM), y[late] - reported[late], 2 + t);
            }
            assert_solved(&m, 1e-8);
            ridge_copy(m.ridge, m.state, t < LATE ? 1 : 2 + t, copy);
            if (t >= SAMPLES) assert_memory_equal(copy, m.state, ridge_state_count(DIM) * sizeof *copy);
            if (t == SAMPLES - 1) ridge_copy(m.ridge, m.state, 0, copy);
        }
    }
}

/* As a damaged model may ask for. */
TEST(a_sample_that_never_came_is_not_corrected)
{
    enum { DIM = 6 };
    RELEASED_BY(model_destroy) model m = model_make(DIM, 0.3, 1000);
    const float first[DIM] = {1, 2}, other[DIM] = {0, 0, 0, 1, 1};
    model_add(&m, first, 1, false);
    auto_free double *before = calloc(ridge_state_count(DIM), sizeof(double));
    memcpy(before, m.state, ridge_state_count(DIM) * sizeof *before);
    ridge_correct(m.ridge, m.state, vector_dense(other, DIM), 5, 2);
    assert_memory_equal(before, m.state, ridge_state_count(DIM) * sizeof *before);
}
