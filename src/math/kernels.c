/* The fast kernels: plain loops in the shape that a compiler turns into vectors. This file is compiled once for each
 * instruction set, with KERNELS_NAME as the name of the table and with leave to reorder sums. */
#include "kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE__)
#include <immintrin.h>
#endif

/* As many floats as one instruction takes. The compiler turns arithmetic on them into those of the machine. */
#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t lane_bits __attribute__((vector_size(LANES * sizeof(float))));
typedef float quad __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(float)), may_alias));

static inline lanes load(const float *from)
{
    return *(const lanes *)(const void *)from;
}

static inline void store(float *to, lanes values)
{
    *(lanes *)(void *)to = values;
}

/* max(values, 0) */
static inline lanes rectified(lanes values)
{
#if defined(__aarch64__)
    return vmaxnmq_f32(values, (lanes){0}); /* returns the number if the other is NaN */
#else
    return (lanes)((lane_bits)values & (values > 0));
#endif
}

/* If a row is not a whole number of vectors, its rest is read as its last LANES entries, of which the first have been
 * used already. This mask is set in the new lanes, 1 to LANES - 1 of them. */
static inline lane_bits last_lanes(size_t left)
{
    static const int32_t places[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (lane_bits)load((const float *)(const void *)places) >= (int32_t)(LANES - left);
}

/* Below, a parameter in capitals is a constant at every call: each call becomes a separate loop whose sums stay in
 * registers. */
#define INLINE static inline __attribute__((always_inline))

/* ---- sums along rows ---- */

/* The sum of the entries of each of up to four vectors. */
INLINE quad sum_entries(const lanes *sum, size_t ROWS)
{
    quad totals = {0};
#if defined(__aarch64__)
    lanes none = {0}, pair = vpaddq_f32(sum[0], ROWS > 1 ? sum[1] : none);
    if (ROWS > 2) none = vpaddq_f32(sum[2], ROWS > 3 ? sum[3] : none);
    totals = vpaddq_f32(pair, none);
#else
    for (size_t r = 0; r < ROWS; r++)
        for (size_t l = 0; l < LANES; l++) totals[r] += sum[r][l];
#endif
    return totals;
}

/* sums[r] += row r of w . x, the rows stride apart. SUMS vectors for each row hide the latency of an addition. */
INLINE void dot_rows(float *restrict sums, const float *restrict w, const float *restrict x, size_t n, size_t stride,
                     size_t ROWS, size_t SUMS)
{
    lanes sum[4][4] = {0}, whole[4];
    size_t i = 0;
    for (; i + SUMS * LANES <= n; i += SUMS * LANES)
#pragma GCC unroll 4
        for (size_t s = 0; s < SUMS; s++)
#pragma GCC unroll 4
            for (size_t r = 0; r < ROWS; r++)
                sum[s][r] += load(w + r * stride + i + s * LANES) * load(x + i + s * LANES);
    for (; i + LANES <= n; i += LANES)
#pragma GCC unroll 4
        for (size_t r = 0; r < ROWS; r++) sum[0][r] += load(w + r * stride + i) * load(x + i);
    if (i < n && n >= LANES) {
        size_t last = n - LANES;
        lanes rest = (lanes)((lane_bits)load(x + last) & last_lanes(n - i));
#pragma GCC unroll 4
        for (size_t r = 0; r < ROWS; r++) sum[0][r] += load(w + r * stride + last) * rest;
        i = n;
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        whole[r] = sum[0][r];
#pragma GCC unroll 4
        for (size_t s = 1; s < SUMS; s++) whole[r] += sum[s][r];
    }
    quad totals = sum_entries(whole, ROWS);
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        float total = totals[r];
        for (size_t k = i; k < n; k++) total += w[r * stride + k] * x[k];
        sums[r] += total;
    }
}

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0;
    dot_rows(&sum, a, b, n, 0, 1, 4);
    return sum;
}

static void add_scaled(float *restrict y, float a, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* As dot_rows, for rows of up to four vectors: x stays in registers. */
INLINE void dot_short_rows(float *restrict sums, const float *restrict w, const lanes *x, size_t n, size_t stride,
                           size_t ROWS, size_t VECTORS)
{
    lanes sum[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        sum[r] = x[VECTORS - 1] * load(w + r * stride + n - LANES);
#pragma GCC unroll 3
        for (size_t v = 0; v + 1 < VECTORS; v++) sum[r] += x[v] * load(w + r * stride + v * LANES);
    }
    quad totals = sum_entries(sum, ROWS);
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) sums[r] += totals[r];
}

INLINE void backward_short(float *dx, const float *w, const float *delta, size_t in, size_t out, size_t stride,
                           size_t VECTORS)
{
    lanes x[4];
    size_t i = 0, before = (VECTORS - 1) * LANES;
    for (size_t v = 0; v + 1 < VECTORS; v++) x[v] = load(delta + v * LANES);
    x[VECTORS - 1] = load(delta + out - LANES);
    if (out < before + LANES) x[VECTORS - 1] = (lanes)((lane_bits)x[VECTORS - 1] & last_lanes(out - before));
    for (; i + 4 <= in; i += 4) dot_short_rows(dx + i, w + i * stride, x, out, stride, 4, VECTORS);
    for (; i < in; i++) dot_short_rows(dx + i, w + i * stride, x, out, stride, 1, VECTORS);
}

static void backward(float *dx, const float *w, const float *delta, size_t in, size_t out, size_t stride)
{
    if (out == 1 && stride == 1) {
        add_scaled(dx, delta[0], w, in);
        return;
    }
    if (out >= LANES && out <= 4 * LANES) {
        if (out <= LANES)
            backward_short(dx, w, delta, in, out, stride, 1);
        else if (out <= 2 * LANES)
            backward_short(dx, w, delta, in, out, stride, 2);
        else if (out <= 3 * LANES)
            backward_short(dx, w, delta, in, out, stride, 3);
        else
            backward_short(dx, w, delta, in, out, stride, 4);
        return;
    }
    size_t i = 0;
    for (; i + 4 <= in; i += 4) dot_rows(dx + i, w + i * stride, delta, out, stride, 4, 1);
    for (; i < in; i++) dot_rows(dx + i, w + i * stride, delta, out, stride, 1, 4);
}

/* ---- sums of rows ---- */

/* The processor cannot predict which rows a sparse input needs next. Rows of later inputs come from memory, and many
 * must be requested at once: the second cache allows more outstanding lines than the first. */
enum { AHEAD = 8, FAR_AHEAD = 64, LINE = 16 }; /* rows; floats per cache line */

/* block(p, j, VECTORS, REST) for all of a row of at least one vector, from its entry j on. Where the row is not whole
 * vectors its last block has one more, REST, which begins before the one in front of it ends. */
#define IN_BLOCKS(out, block, p)                                                                                       \
    do {                                                                                                               \
        size_t j = 0, kept = (out) % LANES ? LANES : 0;                                                                \
        for (; j + 12 * LANES + kept <= (out); j += 12 * LANES) block(p, j, 12, false);                                \
        for (; j + 8 * LANES + kept <= (out); j += 8 * LANES) block(p, j, 8, false);                                   \
        for (; j + 4 * LANES + kept <= (out); j += 4 * LANES) block(p, j, 4, false);                                   \
        if (kept) {                                                                                                    \
            if ((out) < j + 2 * LANES)                                                                                 \
                block(p, j, 1, true);                                                                                  \
            else if ((out) < j + 3 * LANES)                                                                            \
                block(p, j, 2, true);                                                                                  \
            else if ((out) < j + 4 * LANES)                                                                            \
                block(p, j, 3, true);                                                                                  \
            else                                                                                                       \
                block(p, j, 4, true);                                                                                  \
        } else if ((out) == j + LANES) {                                                                               \
            block(p, j, 1, false);                                                                                     \
        } else if ((out) == j + 2 * LANES) {                                                                           \
            block(p, j, 2, false);                                                                                     \
        } else if ((out) == j + 3 * LANES) {                                                                           \
            block(p, j, 3, false);                                                                                     \
        }                                                                                                              \
    } while (0)

enum { MOST_VECTORS = 12 }; /* whose sums fit in registers */

/* y = start + x W, then y = max(y, 0) if relu is set. start may be y. index is NULL for a dense x. */
typedef struct row_sum {
    float *y;
    const float *start, *w;
    const uint32_t *index;
    const float *x;
    size_t count, behind, out, stride;
    bool relu;
} row_sum;

/* VECTORS of outputs from j on, and with REST the last ones of all, some of which are in the vector before too. They
 * stay in registers while the inputs pass by. */
INLINE void forward_block(row_sum p, size_t j, size_t VECTORS, bool REST)
{
    lanes sum[MOST_VECTORS], rest = {0};
    size_t last = p.out - LANES - j;
    for (size_t v = 0; v < VECTORS; v++) sum[v] = load(p.start + j + v * LANES);
    if (REST) rest = load(p.start + j + last);
    for (size_t i = 0; i < p.count; i++) {
        const float *row = p.w + (p.index ? p.index[i] : i) * p.stride + j;
        float value = p.x[i];
        if (p.index && i + AHEAD < p.count)
            for (size_t k = 0; k < VECTORS * LANES; k += LINE)
                __builtin_prefetch(p.w + p.index[i + AHEAD] * p.stride + j + k);
        if (p.behind && i + FAR_AHEAD < p.count + p.behind)
            for (size_t k = 0; k < VECTORS * LANES; k += LINE)
                __builtin_prefetch(p.w + p.index[i + FAR_AHEAD] * p.stride + j + k, 0, 2);
        for (size_t v = 0; v < VECTORS; v++) sum[v] += value * load(row + v * LANES);
        if (REST) rest += value * load(row + last);
    }
    for (size_t v = 0; p.relu && v < VECTORS; v++) sum[v] = rectified(sum[v]);
    for (size_t v = 0; v < VECTORS; v++) store(p.y + j + v * LANES, sum[v]);
    if (REST) store(p.y + j + last, p.relu ? rectified(rest) : rest);
}

INLINE void forward_any(row_sum p)
{
    if (p.out >= LANES) {
        IN_BLOCKS(p.out, forward_block, p);
        return;
    }
    for (size_t j = 0; j < p.out; j++) {
        float sum = p.start[j];
        for (size_t i = 0; i < p.count; i++) sum += p.x[i] * p.w[(p.index ? p.index[i] : i) * p.stride + j];
        p.y[j] = p.relu && !(sum > 0) ? 0 : sum;
    }
}

/* A block of outputs goes over all rows. This many rows stay in the first cache until the last block has used them. */
static size_t rows_at_once(size_t rows, size_t out)
{
    enum { CACHED = 4096 }; /* floats: half of a small first cache */
    if (rows * out <= CACHED) return rows;
    return out < CACHED ? CACHED / out : 1;
}

static void forward_dense(row_sum p)
{
    size_t rows = rows_at_once(p.count, p.out), count = p.count;
    bool relu = p.relu;
    for (;; count -= rows) {
        bool last = count <= rows;
        p.count = last ? count : rows;
        p.relu = relu && last;
        forward_any(p);
        if (last) return;
        p.start = p.y;
        p.w += rows * p.stride;
        p.x += rows;
    }
}

/* The start of the sums if none is given: y, set to zero. */
static const float *zeros_at(float *y, size_t out)
{
    memset(y, 0, out * sizeof *y);
    return y;
}

static void forward(float *y, const float *start, const float *w, const float *x, size_t in, size_t out, size_t stride,
                    bool relu)
{
    if (out == 1 && stride == 1) {
        float sum = (start ? start[0] : 0) + dot(w, x, in);
        y[0] = relu && !(sum > 0) ? 0 : sum;
        return;
    }
    if (!start) start = zeros_at(y, out);
    forward_dense((row_sum){y, start, w, NULL, x, in, 0, out, stride, relu});
}

static void forward_sparse(float *y, const float *start, const float *w, const uint32_t *index, const float *x,
                           size_t count, size_t behind, size_t out, size_t stride, bool relu)
{
    if (!start) start = zeros_at(y, out);
    if (behind)
        forward_any((row_sum){y, start, w, index, x, count, behind, out, stride, relu});
    else
        forward_any((row_sum){y, start, w, index, x, count, 0, out, stride, relu});
}

/* Y = start + X W for two rows of X with the same indices. Each loaded row of w serves both. */
typedef struct pair_sum {
    matrix y;
    const_matrix start;
    const float *w;
    const uint32_t *index;
    const float *x;
    size_t count, stride;
    bool relu;
} pair_sum;

#if defined(__AVX2__) && !defined(__AVX512F__)
enum { PAIRED = 4 }; /* vectors per row whose sums fit in registers */
#else
enum { PAIRED = 8 };
#endif

/* VECTORS of outputs from j on. Of the lanes of the last vector only the last `fresh` are written. */
INLINE void pair_block(pair_sum p, size_t j, size_t VECTORS, size_t fresh)
{
    lanes sum[2 * PAIRED];
    for (size_t r = 0; r < 2; r++)
        for (size_t v = 0; v < VECTORS; v++)
            sum[r * VECTORS + v] = load(p.start.values + r * p.start.row + j + v * LANES);
    for (size_t i = 0; i < p.count; i++) {
        const float *row = p.w + p.index[i] * p.stride + j;
        float first = p.x[2 * i], second = p.x[2 * i + 1];
        if (i + AHEAD < p.count)
            for (size_t k = 0; k < VECTORS * LANES; k += LINE)
                __builtin_prefetch(p.w + p.index[i + AHEAD] * p.stride + j + k);
        for (size_t v = 0; v < VECTORS; v++) {
            lanes weights = load(row + v * LANES);
            sum[v] += first * weights;
            sum[VECTORS + v] += second * weights;
        }
    }
    for (size_t k = 0; p.relu && k < 2 * VECTORS; k++) sum[k] = rectified(sum[k]);
    for (size_t r = 0; r < 2; r++) {
        float *y = p.y.values + r * p.y.row + j;
        lanes *last = &sum[r * VECTORS + VECTORS - 1];
        if (fresh < LANES) {
            lane_bits set = last_lanes(fresh), old = (lane_bits)load(y + (VECTORS - 1) * LANES);
            *last = (lanes)(((lane_bits)*last & set) | (old & ~set));
        }
        for (size_t v = 0; v < VECTORS; v++) store(y + v * LANES, sum[r * VECTORS + v]);
    }
}

static void forward_pair(matrix y, const_matrix start, const float *w, const uint32_t *index, const float *x,
                         size_t count, size_t out, size_t stride, bool relu)
{
    pair_sum p = {y, start, w, index, x, count, stride, relu};
    size_t j = 0;
    for (; j + PAIRED * LANES <= out; j += PAIRED * LANES) pair_block(p, j, PAIRED, LANES);
    for (; PAIRED > 4 && j + 4 * LANES <= out; j += 4 * LANES) pair_block(p, j, 4, LANES);
    for (; j + 2 * LANES <= out; j += 2 * LANES) pair_block(p, j, 2, LANES);
    for (; j + LANES <= out; j += LANES) pair_block(p, j, 1, LANES);
    if (j < out) pair_block(p, out - LANES, 1, out - j);
}

/* ---- products of matrices ---- */

/* ROWS times VECTORS sums stay in registers while the rows of b pass by: AVX2 has half as many as the others. */
#if defined(__AVX2__) && !defined(__AVX512F__)
enum { WIDE = 2 };
#else
enum { WIDE = 4 };
#endif
enum { MOST_ROWS = 4, BLOCK = WIDE * LANES };

/* This much of the left side is packed at once: half of a first cache. The other half is for a block of columns of the
 * right side, which stays there while all packed rows go over it. */
enum { PACKED = 256, PACKED_ROWS = 32 };

/* C = S + A B, then max(C, 0). S may be C. */
typedef struct product {
    float *c;
    const float *start, *b;
    size_t c_row, start_row, b_row, in, out;
    bool relu;
} product;

/* From column j on. a is packed: entry i of its rows is at a[i * MOST_ROWS]. */
INLINE void multiply_block(product p, const float *restrict a, size_t j, size_t ROWS, size_t VECTORS)
{
    lanes sum[MOST_ROWS * WIDE];
    for (size_t r = 0; r < ROWS; r++)
        for (size_t v = 0; v < VECTORS; v++) sum[r * VECTORS + v] = load(p.start + r * p.start_row + j + v * LANES);
    for (size_t i = 0; i < p.in; i++) {
        quad entries = *(const quad *)(const void *)(a + i * MOST_ROWS);
        for (size_t v = 0; v < VECTORS; v++) {
            lanes row = load(p.b + i * p.b_row + j + v * LANES);
            for (size_t r = 0; r < ROWS; r++) sum[r * VECTORS + v] += entries[r] * row;
        }
    }
    for (size_t k = 0; p.relu && k < ROWS * VECTORS; k++) sum[k] = rectified(sum[k]);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t v = 0; v < VECTORS; v++) store(p.c + r * p.c_row + j + v * LANES, sum[r * VECTORS + v]);
}

/* For a matrix narrower than a vector. The compiler sums four entries side by side, then the rest. */
INLINE void multiply_narrow(product p, const float *restrict a, size_t ROWS)
{
    for (size_t j = 0; j < p.out; j++) {
        for (size_t r = 0; r < ROWS; r++) {
            float sum = p.start[r * p.start_row + j];
            for (size_t i = 0; i < p.in; i++) sum += a[i * MOST_ROWS + r] * p.b[i * p.b_row + j];
            p.c[r * p.c_row + j] = p.relu && !(sum > 0) ? 0 : sum;
        }
    }
}

/* Hides a sum from the compiler, which may reorder sums. */
INLINE lanes as_it_is(lanes values)
{
#if defined(__aarch64__)
    __asm__("" : "+w"(values));
#elif defined(__AVX512F__)
    __asm__("" : "+v"(values));
#elif defined(__SSE__)
    __asm__("" : "+x"(values));
#endif
    return values;
}

/* The sum of four, as the compiler adds up the lanes of a vector of four in multiply_narrow. */
INLINE lanes sum_of_four(const lanes *sum)
{
#if defined(__aarch64__)
    return as_it_is(sum[0] + sum[1]) + as_it_is(sum[2] + sum[3]);
#else
    return as_it_is(sum[0] + sum[2]) + as_it_is(sum[1] + sum[3]);
#endif
}

/* The last columns, fewer than a vector, as the last lanes of a vector that overlaps those before. Their sums have
 * always been in the order of multiply_narrow, and results must not change: this keeps that order, for all of them at
 * once. */
INLINE void multiply_rest(product p, const float *restrict a, size_t ROWS)
{
    lanes part[MOST_ROWS * 4], sum[MOST_ROWS];
    lane_bits set = last_lanes(p.out % LANES);
    size_t j = p.out - LANES, turns = (ROWS > 1 && p.in ? p.in - 1 : p.in) / 4;
    for (size_t k = 0; k < ROWS * 4; k++) part[k] = (lanes){0};
    for (size_t i = 0; i < 4 * turns; i += 4)
#pragma GCC unroll 4
        for (size_t l = 0; l < 4; l++) {
            quad entries = *(const quad *)(const void *)(a + (i + l) * MOST_ROWS);
            lanes row = load(p.b + (i + l) * p.b_row + j);
            for (size_t r = 0; r < ROWS; r++) part[r * 4 + l] += entries[r] * row;
        }
    for (size_t r = 0; r < ROWS; r++) {
        sum[r] = load(p.start + r * p.start_row + j);
        if (turns) sum[r] = as_it_is(as_it_is(sum_of_four(part + r * 4)) + sum[r]);
    }
    for (size_t i = 4 * turns; i < p.in; i++) {
        lanes row = load(p.b + i * p.b_row + j);
        for (size_t r = 0; r < ROWS; r++) sum[r] += a[i * MOST_ROWS + r] * row;
    }
    for (size_t r = 0; r < ROWS; r++) {
        float *c = p.c + r * p.c_row + j;
        lanes value = p.relu ? rectified(sum[r]) : sum[r];
        store(c, (lanes)(((lane_bits)value & set) | ((lane_bits)load(c) & ~set)));
    }
}

INLINE void multiply_rows(product p, const float *restrict a, size_t ROWS)
{
    size_t j = 0;
    if (p.out < LANES) {
        multiply_narrow(p, a, ROWS);
        return;
    }
    for (; j + BLOCK <= p.out; j += BLOCK) multiply_block(p, a, j, ROWS, WIDE);
    for (; WIDE > 2 && j + 2 * LANES <= p.out; j += 2 * LANES) multiply_block(p, a, j, ROWS, 2);
    for (; j + LANES <= p.out; j += LANES) multiply_block(p, a, j, ROWS, 1);
    if (j < p.out) multiply_rest(p, a, ROWS);
}

/* Four rows at a time; the last ones are split so that no single row is left. */
static size_t rows_together(size_t left)
{
    return left == 5 || left == 6 ? 3 : left < MOST_ROWS ? left : MOST_ROWS;
}

/* Turns rows into columns. */
INLINE void transpose_quads(quad *q)
{
#if defined(__aarch64__)
    quad a = vzip1q_f32(q[0], q[2]), b = vzip2q_f32(q[0], q[2]);
    quad c = vzip1q_f32(q[1], q[3]), d = vzip2q_f32(q[1], q[3]);
    q[0] = vzip1q_f32(a, c);
    q[1] = vzip2q_f32(a, c);
    q[2] = vzip1q_f32(b, d);
    q[3] = vzip2q_f32(b, d);
#else
    for (size_t r = 0; r < 4; r++) {
        for (size_t c = 0; c < r; c++) {
            float above = q[c][r];
            q[c][r] = q[r][c];
            q[r][c] = above;
        }
    }
#endif
}

/* Four rows of a become columns whose entries are `apart` floats apart. Missing rows are zeros. */
static void pack_rows(float *restrict packed, size_t apart, const_matrix a, size_t rows, size_t in)
{
    size_t i = 0;
    for (; rows == MOST_ROWS && a.row == 1 && i < in; i++)
        *(quad *)(void *)(packed + i * apart) = *(const quad *)(const void *)(a.values + i * a.column);
    for (; rows == MOST_ROWS && a.column == 1 && i + 4 <= in; i += 4) {
        quad q[4];
        for (size_t r = 0; r < 4; r++) q[r] = *(const quad *)(const void *)(a.values + r * a.row + i);
        transpose_quads(q);
        for (size_t k = 0; k < 4; k++) *(quad *)(void *)(packed + (i + k) * apart) = q[k];
    }
    for (; i < in; i++)
        for (size_t r = 0; r < MOST_ROWS; r++)
            packed[i * apart + r] = r < rows ? a.values[r * a.row + i * a.column] : 0;
}

/* Packs up to PACKED_ROWS rows of up to PACKED entries, in groups of the rows that are computed together. */
static void pack(float *restrict packed, const_matrix a, size_t rows, size_t in)
{
    for (size_t r = 0, taken; r < rows; r += taken, packed += in * MOST_ROWS) {
        taken = rows_together(rows - r);
        pack_rows(packed, MOST_ROWS, (const_matrix){a.values + r * a.row, a.row, a.column}, taken, in);
    }
}

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* This many columns of the right side, whole blocks and at least one, stay in the first cache while the rows go over
 * them. */
static size_t columns_at_once(size_t in, size_t out)
{
    enum { CACHED = 4096 }; /* floats */
    size_t blocks = CACHED / (BLOCK * (in ? in : 1)), columns = blocks ? blocks * BLOCK : BLOCK;
    return out < columns + LANES ? out : columns; /* those that are left are no fewer than a vector */
}

static void multiply_packed(product p, const float *restrict packed, size_t rows)
{
    for (size_t left = p.out; left; left -= p.out, p.c += p.out, p.start += p.out, p.b += p.out) {
        const float *a = packed;
        p.out = columns_at_once(p.in, left);
        product part = p;
        for (size_t r = 0, taken; r < rows; r += taken, a += p.in * MOST_ROWS) {
            taken = rows_together(rows - r);
            if (taken == 4) multiply_rows(part, a, 4);
            if (taken == 3) multiply_rows(part, a, 3);
            if (taken == 2) multiply_rows(part, a, 2);
            if (taken == 1) multiply_rows(part, __builtin_assume_aligned(a, sizeof(quad)), 1);
            part.c += taken * p.c_row;
            part.start += taken * p.start_row;
        }
    }
}

/* As many rows as are packed at once, so that the remaining ones are split as if all were together. */
static size_t rows_packed(size_t left, size_t most)
{
    return left <= most ? left : left < most + 3 ? most - MOST_ROWS : most;
}

/* The inputs packed at once. If the rows of the right side are a multiple of 512 bytes apart, they share few cache
 * sets, so fewer of them stay there. Used only if it does not change the order of sums. */
static size_t inputs_at_once(const product *p)
{
    enum { APART = 128, FEW = 64 };
    return p->b_row % APART == 0 && p->out % LANES == 0 ? FEW : PACKED;
}

/* As many inputs as can be packed, then the next ones; the same for rows. */
static void multiply_inputs(product p, const_matrix a, size_t rows, size_t in)
{
    float packed[PACKED_ROWS * PACKED] __attribute__((aligned(64)));
    bool relu = p.relu;
    size_t i = 0, most = inputs_at_once(&p);
    do {
        p.in = at_most(in - i, most);
        p.relu = relu && i + p.in == in;
        for (size_t r = 0, taken; r < rows; r += taken) {
            taken = rows_packed(rows - r, PACKED_ROWS);
            product part = p;
            part.c += r * p.c_row;
            part.start += r * p.start_row;
            pack(packed, (const_matrix){a.values + r * a.row + i * a.column, a.row, a.column}, taken, p.in);
            multiply_packed(part, packed, taken);
        }
        p.start = p.c;
        p.start_row = p.c_row;
        p.b += p.in * p.b_row;
        i += p.in;
    } while (i < in);
}

static void multiply(matrix c, const_matrix a, const_matrix b, size_t rows, size_t in, size_t out)
{
    product p = {c.values, c.values, b.values, c.row, c.row, b.row, in, out, false};
    multiply_inputs(p, a, rows, in);
}

static void forward_many(matrix y, const float *start, const float *w, const_matrix x, size_t rows, size_t in,
                         size_t out, bool relu)
{
    if (out == 1) {
        for (size_t r = 0; r < rows; r++) forward(y.values + r * y.row, start, w, x.values + r * x.row, in, 1, 1, relu);
        return;
    }
    product p = {y.values, start, w, y.row, 0, out, in, out, relu};
    if (!start) {
        for (size_t r = 0; r < rows; r++) zeros_at(y.values + r * y.row, out);
        p.start = y.values;
        p.start_row = y.row;
    }
    multiply_inputs(p, x, rows, in);
}

/* As much as PACKED_ROWS by PACKED, but more rows at a time, since the right side is packed again each time. */
enum { COLUMN = 128, MANY_ROWS = 64 };

/* The right side is the transpose of w: a block of its columns is packed from the same number of rows of w. */
static void multiply_transposed(product p, const float *packed, size_t rows, const float *w, size_t w_row)
{
    enum { MOST = BLOCK + LANES };
    float columns[COLUMN * MOST];
    size_t all = p.out;
    p.b = columns;
    p.b_row = MOST;
    for (size_t j = 0; j < all; j += p.out) {
        p.out = all - j < MOST ? all - j : BLOCK; /* those that are left are no fewer than a vector */
        for (size_t t = 0; t < p.out; t += MOST_ROWS)
            pack_rows(columns + t, MOST, (const_matrix){w + (j + t) * w_row, w_row, 1}, at_most(p.out - t, MOST_ROWS),
                      p.in);
        multiply_packed(p, packed, rows);
        p.c += p.out;
        p.start += p.out;
    }
}

static void backward_many(matrix dx, const float *w, const_matrix delta, size_t rows, size_t in, size_t out)
{
    float packed[MANY_ROWS * COLUMN] __attribute__((aligned(64)));
    for (size_t j = 0; j < out; j += COLUMN) {
        size_t width = at_most(out - j, COLUMN);
        for (size_t r = 0, taken; r < rows; r += taken) {
            taken = rows_packed(rows - r, MANY_ROWS);
            float *c = dx.values + r * dx.row;
            product p = {c, c, NULL, dx.row, dx.row, 0, width, in, false};
            pack(packed, (const_matrix){delta.values + r * delta.row + j, delta.row, 1}, taken, width);
            multiply_transposed(p, packed, taken, w + j, out);
        }
    }
}

/* ---- outer products ---- */

/* W += x delta^T, and delta added to the row `biases` if it is not NULL. */
typedef struct outer_product {
    float *w, *biases;
    const uint32_t *index;
    const float *x, *delta;
    size_t count, out;
} outer_product;

INLINE void update_row(float *row, float x, const lanes *d, size_t last, size_t VECTORS, bool REST)
{
    lanes rest = d[0];
    if (REST) rest = load(row + last) + x * d[VECTORS];
    for (size_t v = 0; v < VECTORS; v++) store(row + v * LANES, load(row + v * LANES) + x * d[v]);
    if (REST) store(row + last, rest);
}

/* As forward_block. */
INLINE void update_block(outer_product p, size_t j, size_t VECTORS, bool REST)
{
    lanes d[MOST_VECTORS + 1];
    size_t last = p.out - LANES - j;
    for (size_t v = 0; v < VECTORS; v++) d[v] = load(p.delta + j + v * LANES);
    if (REST) d[VECTORS] = load(p.delta + j + last);
    for (size_t i = 0; i < p.count; i++)
        update_row(p.w + (p.index ? p.index[i] : i) * p.out + j, p.x[i], d, last, VECTORS, REST);
    if (p.biases) update_row(p.biases + j, 1, d, last, VECTORS, REST);
}

INLINE void update_any(outer_product p)
{
    if (p.out >= LANES) {
        IN_BLOCKS(p.out, update_block, p);
        return;
    }
    for (size_t j = 0; j < p.out; j++) {
        for (size_t i = 0; i < p.count; i++) p.w[(p.index ? p.index[i] : i) * p.out + j] += p.x[i] * p.delta[j];
        if (p.biases) p.biases[j] += p.delta[j];
    }
}

static void update(float *w, float *biases, const float *x, const float *delta, size_t in, size_t out)
{
    if (out == 1) {
        add_scaled(w, delta[0], x, in);
        if (biases) biases[0] += delta[0];
        return;
    }
    size_t rows = rows_at_once(in, out), i = 0;
    for (; i + rows < in; i += rows) update_any((outer_product){w + i * out, NULL, NULL, x + i, delta, rows, out});
    update_any((outer_product){w + i * out, biases, NULL, x + i, delta, in - i, out});
}

static void update_sparse(float *w, float *biases, const uint32_t *index, const float *x, const float *delta,
                          size_t count, size_t out)
{
    update_any((outer_product){w, biases, index, x, delta, count, out});
}

/* ---- rectifier ---- */

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

static void relu_backward(float *delta, float a, const float *w, const float *y, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) store(delta + i, (lanes)((lane_bits)(a * load(w + i)) & (load(y + i) > 0)));
    for (; i < n; i++) delta[i] = y[i] > 0 ? a * w[i] : 0;
}

/* ---- Adam ---- */

/* x86 estimates 1 / sqrt(v) and 1 / d faster than it computes them, and one Newton step makes the estimate right to two
 * parts in 10^7. The estimates of AArch64 would need two steps, which take longer than its exact instructions. */
#if defined(__AVX512F__)
INLINE lanes guess_inverse_root(lanes v)
{
    return (lanes)_mm512_rsqrt14_ps((__m512)v);
}
INLINE lanes guess_inverse(lanes d)
{
    return (lanes)_mm512_rcp14_ps((__m512)d);
}
#elif defined(__AVX__)
INLINE lanes guess_inverse_root(lanes v)
{
    return (lanes)_mm256_rsqrt_ps((__m256)v);
}
INLINE lanes guess_inverse(lanes d)
{
    return (lanes)_mm256_rcp_ps((__m256)d);
}
#elif defined(__SSE__)
INLINE lanes guess_inverse_root(lanes v)
{
    return (lanes)_mm_rsqrt_ps((__m128)v);
}
INLINE lanes guess_inverse(lanes d)
{
    return (lanes)_mm_rcp_ps((__m128)d);
}
#endif

/* sqrt(v); on x86 it is off for a v near FLT_MIN or below, by less than 1e-19. */
INLINE lanes root(lanes v)
{
#if defined(__aarch64__)
    return vsqrtq_f32(v);
#elif defined(__SSE__)
    lanes y = guess_inverse_root(v + FLT_MIN), r = v * y; /* the estimate for 0 is infinite */
    return r + r * (0.5f - 0.5f * (r * y));
#else
    for (size_t l = 0; l < LANES; l++) v[l] = sqrtf(v[l]);
    return v;
#endif
}

/* a / d */
INLINE lanes quotient(float a, lanes d)
{
#if defined(__SSE__)
    lanes y = guess_inverse(d), q = a * y;
    return q + y * (a - d * q);
#else
    return a / d;
#endif
}

/* Several vectors at once hide the latency; their number fills the registers. */
enum { SIDE_BY_SIDE = 2 * WIDE };

INLINE void adam_block(float *restrict theta, float *restrict first, float *restrict second, float x,
                       const float *restrict delta, adam_step s, size_t VECTORS)
{
    lanes t[SIDE_BY_SIDE], m[SIDE_BY_SIDE], d[SIDE_BY_SIDE];
#pragma GCC unroll 8
    for (size_t k = 0; k < VECTORS; k++) {
        t[k] = load(theta + k * LANES);
        m[k] = s.l2 * t[k] + x * load(delta + k * LANES);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < VECTORS; k++) {
        d[k] = s.beta2 * load(second + k * LANES) + m[k] * m[k];
        store(second + k * LANES, d[k]);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < VECTORS; k++) {
        m[k] += s.beta1 * load(first + k * LANES);
        store(first + k * LANES, m[k]);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < VECTORS; k++) d[k] = root(d[k]) + s.epsilon;
#pragma GCC unroll 8
    for (size_t k = 0; k + 1 < VECTORS; k += 2) { /* two vectors share a division */
        lanes q = quotient(s.rate, d[k] * d[k + 1]);
        store(theta + k * LANES, t[k] - (m[k] * d[k + 1]) * q);
        store(theta + (k + 1) * LANES, t[k + 1] - (m[k + 1] * d[k]) * q);
    }
    size_t last = VECTORS - 1;
    if (VECTORS % 2) store(theta + last * LANES, t[last] - m[last] * quotient(s.rate, d[last]));
}

INLINE void adam_row(float *restrict theta, float *restrict first, float *restrict second, float x,
                     const float *restrict delta, size_t n, adam_step s)
{
    size_t j = 0;
    for (; j + SIDE_BY_SIDE * LANES <= n; j += SIDE_BY_SIDE * LANES)
        adam_block(theta + j, first + j, second + j, x, delta + j, s, SIDE_BY_SIDE);
    for (; j + LANES <= n; j += LANES) adam_block(theta + j, first + j, second + j, x, delta + j, s, 1);
    for (; j < n; j++) {
        float g = x * delta[j] + s.l2 * theta[j];
        first[j] = s.beta1 * first[j] + g;
        second[j] = s.beta2 * second[j] + g * g;
        theta[j] -= s.rate * first[j] / (sqrtf(second[j]) + s.epsilon);
    }
}

static void adam(float *theta, float *first, float *second, const float *x, const float *delta, size_t in, size_t out,
                 bool bias, const adam_step *step)
{
    adam_step s = *step; /* copied, because the compiler must assume that the output may overlap it */
    size_t i = 0;
    if (out == 1) { /* the transpose is one long row */
        adam_row(theta, first, second, delta[0], x, in, s);
        i = in;
    }
    for (; i < in + bias; i++)
        adam_row(theta + i * out, first + i * out, second + i * out, i < in ? x[i] : 1, delta, out, s);
}

/* kernels_avx2, say; "avx2" */
#define JOIN(a, b) a##b
#define TABLE(name) JOIN(kernels_, name)
#define QUOTE(name) #name
#define TEXT(name) QUOTE(name)

extern const kernel_table TABLE(KERNELS_NAME);
const kernel_table TABLE(KERNELS_NAME) = {
    TEXT(KERNELS_NAME), dot,           add_scaled, forward,       forward_sparse, forward_pair,  forward_many, multiply,
    backward,           backward_many, update,     update_sparse, relu,           relu_backward, adam,
};
