/* Dense and sparse vectors: every product against the plain sum over what the vectors mean. */
#include "math/vector.h"

#include <float.h>

#include "support.h"

enum { MOST = 67 };

/* A vector that ends at a wall, with what it means beside it. */
typedef struct example {
    guard values_wall, indices_wall;
    vector vector;
    double meaning[MOST];
} example;

/* A dense vector of dim entries, some of them zero. */
static void example_dense(example *e, random_stream *stream, size_t dim)
{
    float *values = guard_end(&e->values_wall, dim);
    guard_end(&e->indices_wall, 0);
    for (size_t i = 0; i < dim; i++) {
        values[i] = random_below(stream, 5) ? (float)random_normal(stream) : 0.0f;
        e->meaning[i] = (double)values[i];
    }
    e->vector = vector_dense(values, dim);
}

/* A sparse one in which about one of spacing entries is set. */
static void example_sparse(example *e, random_stream *stream, size_t dim, uint64_t spacing)
{
    bool is_set[MOST] = {false};
    size_t count = 0;
    for (size_t i = 0; i < dim; i++) is_set[i] = random_below(stream, spacing) == 0;
    for (size_t i = 0; i < dim; i++) count += is_set[i];
    float *values = guard_end(&e->values_wall, count);
    uint32_t *indices = guard_end_bytes(&e->indices_wall, count * sizeof *indices);
    e->vector = (vector){values, indices, count};
    for (size_t i = 0; i < dim; i++) {
        e->meaning[i] = is_set[i] ? (double)(float)random_normal(stream) : 0;
        if (!is_set[i]) continue;
        *values++ = (float)e->meaning[i];
        *indices++ = (uint32_t)i;
    }
}

/* Kind 0 is dense; kind k sparse with one of k entries set, and nothing set in the last kind. */
enum { KINDS = 6 };

static void example_create(example *e, random_stream *stream, size_t dim, uint64_t kind)
{
    if (kind == 0)
        example_dense(e, stream, dim);
    else
        example_sparse(e, stream, dim, kind + 1 < KINDS ? kind : UINT64_MAX);
}

static void example_free(example *e)
{
    guard_free(&e->values_wall);
    guard_free(&e->indices_wall);
}

TEST(dot_of_every_two_kinds)
{
    random_stream stream = random_named(1, "vectors");
    for (size_t dim = 0; dim <= MOST; dim++) {
        for (uint64_t kinds = 0; kinds < KINDS * KINDS; kinds++) {
            RELEASED_BY(example_free) example a, b;
            example_create(&a, &stream, dim, kinds / KINDS);
            example_create(&b, &stream, dim, kinds % KINDS);
            double sum = 0;
            for (size_t i = 0; i < dim; i++) sum += a.meaning[i] * b.meaning[i];
            assert_close(vector_dot(a.vector, b.vector), sum, 1e-13);
            assert_true(vector_dot(a.vector, b.vector) == vector_dot(b.vector, a.vector));
        }
    }
    /* Expanding writes what a vector means. */
    random_stream other = random_named(2, "vectors");
    for (size_t dim = 0; dim <= MOST; dim++) {
        for (uint64_t kind = 0; kind < KINDS; kind++) {
            RELEASED_BY(example_free) example e;
            RELEASED_BY(guard_free) guard wall;
            example_create(&e, &other, dim, kind);
            float *block = guard_end(&wall, dim + 1), *out = block + 1;
            block[0] = 7;
            vector_expand(e.vector, out, dim);
            for (size_t i = 0; i < dim; i++) assert_true((double)out[i] == e.meaning[i]);
            assert_true(block[0] == 7);
        }
    }
}

/* Floats would lose the middle term. */
TEST(dot_is_summed_wide_and_sees_all_bits_of_an_index)
{
    const float a[] = {1e8f, 1, -1e8f}, ones[] = {1, 1, 1};
    const uint32_t places[] = {0, 1, 2};
    vector dense = vector_dense(a, 3), sparse = {a, places, 3}, ones_dense = vector_dense(ones, 3);
    vector ones_sparse = {ones, places, 3};
    assert_true(vector_dot(dense, ones_dense) == 1);
    assert_true(vector_dot(sparse, ones_dense) == 1);
    assert_true(vector_dot(dense, ones_sparse) == 1);
    assert_true(vector_dot(sparse, ones_sparse) == 1);
    const uint32_t left[] = {0, 0x7fffffffu, 0xfffffffeu}, right[] = {1, 0x80000000u, 0xfffffffeu};
    const float values[] = {2, 3, 5};
    assert_true(vector_dot((vector){values, left, 3}, (vector){values, right, 3}) == 25);
    assert_true(vector_dot((vector){values, left, 2}, (vector){values, right, 2}) == 0);
}

TEST(arms_are_vectors)
{
    const float values[] = {1, 2, 3, 4, 5, 6};
    ee_arms dense = ee_arms_dense(values, 3, 2);
    for (size_t arm = 0; arm < 3; arm++) {
        vector x = vector_of_arm(&dense, arm);
        assert_ptr_equal(x.values, values + 2 * arm);
        assert_null(x.indices);
        assert_int_equal(x.count, 2);
    }
    const size_t starts[] = {0, 2, 2, 6};
    const uint32_t indices[] = {1, 8, 0, 3, 4, 9};
    ee_arms sparse = ee_arms_sparse(starts, indices, values, 3, 10);
    for (size_t arm = 0; arm < 3; arm++) {
        vector x = vector_of_arm(&sparse, arm);
        assert_int_equal(x.count, starts[arm + 1] - starts[arm]);
        assert_non_null(x.indices);
        assert_memory_equal(x.values, values + starts[arm], x.count * sizeof *values);
        assert_memory_equal(x.indices, indices + starts[arm], x.count * sizeof *indices);
    }
    /* Arms without a single entry need no arrays of indices and values; they are all zeros and not dense. */
    const size_t nothing[] = {0, 0, 0};
    ee_arms arms = ee_arms_sparse(nothing, NULL, NULL, 2, 3);
    for (size_t arm = 0; arm < 2; arm++) {
        const float ones[] = {1, 1, 1};
        float out[] = {9, 9, 9};
        vector x = vector_of_arm(&arms, arm);
        assert_int_equal(x.count, 0);
        assert_non_null(x.indices);
        assert_true(vector_dot(x, vector_dense(ones, 3)) == 0);
        assert_true(vector_dot(vector_dense(ones, 3), x) == 0);
        vector_expand(x, out, 3);
        for (size_t i = 0; i < 3; i++) assert_true(out[i] == 0);
    }
}

static float from_bits(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

TEST(one_number_that_is_none_is_found_anywhere)
{
    /* infinities; NaNs quiet and signalling, of both signs, with the least and the most bits set */
    static const uint32_t wrong[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u,
                                     0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fbfffffu};
    static const float fine[] = {FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45f, -1e-45f, 0.0f, -0.0f, 1, -2.5f};
    for (size_t count = 0; count <= MOST; count++) {
        RELEASED_BY(guard_free) guard wall;
        float *values = guard_end(&wall, count);
        for (size_t i = 0; i < count; i++) values[i] = fine[i % 9];
        assert_true(vector_is_within(values, count, FLT_MAX));
        for (size_t i = 0; i < count; i++) {
            float kept = values[i];
            for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                values[i] = from_bits(wrong[k]);
                assert_false(vector_is_within(values, count, FLT_MAX));
                assert_true(vector_is_within(values, i, FLT_MAX));
            }
            values[i] = kept;
        }
        for (size_t i = 0; i < count; i++) values[i] = i % 2 ? -INFINITY : INFINITY; /* they must not cancel */
        assert_int_equal(vector_is_within(values, count, FLT_MAX), count == 0);
    }
    /* And a limit is kept. */
    float values[4] = {0, 1e9f, -1e9f, 5};
    assert_true(vector_is_within(values, 4, 1e9f));
    values[3] = 1.0000001e9f;
    assert_false(vector_is_within(values, 4, 1e9f));
    values[3] = -1.0000001e9f;
    assert_false(vector_is_within(values, 4, 1e9f));
}

static bool is_sound(const uint32_t *indices, size_t count, size_t dim)
{
    static const float values[MOST];
    RELEASED_BY(guard_free) guard wall;
    uint32_t *walled = guard_end_bytes(&wall, count * sizeof *walled);
    if (count) memcpy(walled, indices, count * sizeof *walled);
    return vector_is_sound((vector){values, walled, count}, dim);
}

TEST(sound_vectors_fit_the_dimension)
{
    assert_true(is_sound(NULL, 0, 5));
    for (size_t count = 1; count <= MOST; count++) {
        uint32_t indices[MOST];
        for (size_t i = 0; i < count; i++) indices[i] = (uint32_t)(2 * i);
        size_t dim = 2 * count - 1;
        assert_true(is_sound(indices, count, dim));
        assert_false(is_sound(indices, count, dim - 1));
        for (size_t i = 0; i < count; i++) { /* one entry that is wrong, at every place */
            uint32_t right = indices[i];
            indices[i] = UINT32_MAX;
            assert_false(is_sound(indices, count, dim));
            if (i) indices[i] = indices[i - 1];
            assert_false(is_sound(indices, count, dim));
            indices[i] = right;
        }
    }
    static const float values[3];
    assert_true(vector_is_sound(vector_dense(values, 3), 3));
    assert_false(vector_is_sound(vector_dense(values, 3), 2));
    assert_false(vector_is_sound(vector_dense(values, 3), 4));
}
