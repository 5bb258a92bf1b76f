/* The fast kernels: plain loops in the shape that a compiler turns into vectors. This file is compiled once for each
 * instruction set, with KERNELS_NAME as the name of the table and with leave to reorder sums. */
#include "kernels.h"

#include <math.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__AVX2__)
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
    return vmaxnmq_f32(values, (lanes){0}); /* of a number and none, the number */
#else
    return (lanes)((lane_bits)values & (values > 0));
#endif
}

/* What is left over of a row behind its last whole vector is taken as the row's last vector, of which the first lanes
 * have been seen already. This is set in the others, 1 to LANES - 1 of them. */
static inline lane_bits last_lanes(size_t left)
{
    static const int32_t places[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (lane_bits)load((const float *)(const void *)places) >= (int32_t)(LANES - left);
}

/* Below, a parameter in capitals is a constant at every call: each call is a loop of its own, whose sums stay in
 * registers. */
#define INLINE static inline __attribute__((always_inline))

/* ---- sums along rows ---- */

/* The sum of the entries of each of up to four vectors. */
INLINE quad sum_entries(const lanes *sum, size_t ROWS)
{
    quad totals = {0};
#if defined(__aarch64__)
    if (ROWS == 4) return vpaddq_f32(vpaddq_f32(sum[0], sum[1]), vpaddq_f32(sum[2], sum[3]));
#endif
    for (size_t r = 0; r < ROWS; r++)
        for (size_t l = 0; l < LANES; l++) totals[r] += sum[r][l];
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

static void backward(float *dx, const float *w, const float *delta, size_t in, size_t out, size_t stride)
{
    if (out == 1 && stride == 1) {
        add_scaled(dx, delta[0], w, in);
        return;
    }
    size_t i = 0;
    for (; i + 4 <= in; i += 4) dot_rows(dx + i, w + i * stride, delta, out, stride, 4, 1);
    for (; i < in; i++) dot_rows(dx + i, w + i * stride, delta, out, stride, 1, 4);
}

/* ---- sums of rows ---- */

/* No machine guesses which rows a sparse input takes next. */
enum { AHEAD = 8, LINE = 16 }; /* rows; floats of a line of the cache */

/* Outputs are summed in blocks while the inputs pass by. index is NULL for a dense x. */
INLINE void forward_block(float *restrict y, const float *restrict w, const uint32_t *restrict index,
                          const float *restrict x, size_t count, size_t stride, size_t VECTORS)
{
    lanes sum[16];
    for (size_t v = 0; v < VECTORS; v++) sum[v] = load(y + v * LANES);
    for (size_t i = 0; i < count; i++) {
        const float *row = w + (index ? index[i] : i) * stride;
        float value = x[i];
        if (index && i + AHEAD < count)
            for (size_t k = 0; k < VECTORS * LANES; k += LINE) __builtin_prefetch(w + index[i + AHEAD] * stride + k);
        for (size_t v = 0; v < VECTORS; v++) sum[v] += value * load(row + v * LANES);
    }
    for (size_t v = 0; v < VECTORS; v++) store(y + v * LANES, sum[v]);
}

/* The last vector of outputs, of which so many are left. */
INLINE void forward_rest(float *restrict y, const float *restrict w, const uint32_t *restrict index,
                         const float *restrict x, size_t count, size_t stride, size_t left)
{
    lane_bits added = last_lanes(left);
    lanes before = load(y), sum = before;
    for (size_t i = 0; i < count; i++) sum += x[i] * load(w + (index ? index[i] : i) * stride);
    store(y, (lanes)(((lane_bits)sum & added) | ((lane_bits)before & ~added)));
}

INLINE void forward_any(float *restrict y, const float *restrict w, const uint32_t *restrict index,
                        const float *restrict x, size_t count, size_t out, size_t stride)
{
    size_t j = 0;
    for (; j + 16 * LANES <= out; j += 16 * LANES) forward_block(y + j, w + j, index, x, count, stride, 16);
    for (; j + 8 * LANES <= out; j += 8 * LANES) forward_block(y + j, w + j, index, x, count, stride, 8);
    for (; j + 4 * LANES <= out; j += 4 * LANES) forward_block(y + j, w + j, index, x, count, stride, 4);
    for (; j + LANES <= out; j += LANES) forward_block(y + j, w + j, index, x, count, stride, 1);
    if (j < out && out >= LANES) {
        forward_rest(y + out - LANES, w + out - LANES, index, x, count, stride, out - j);
        return;
    }
    for (; j < out; j++)
        for (size_t i = 0; i < count; i++) y[j] += x[i] * w[(index ? index[i] : i) * stride + j];
}

/* A block of outputs passes over all rows. So many rows stay in the first cache until the last block has seen them. */
static size_t rows_at_once(size_t out)
{
    enum { CACHED = 4096 }; /* floats: half of a small first cache */
    return out && out < CACHED ? CACHED / out : 1;
}

static void forward(float *y, const float *w, const float *x, size_t in, size_t out, size_t stride)
{
    if (out == 1 && stride == 1) {
        y[0] += dot(w, x, in);
        return;
    }
    size_t rows = rows_at_once(out), i = 0;
    for (; i + rows < in; i += rows) forward_any(y, w + i * stride, NULL, x + i, rows, out, stride);
    forward_any(y, w + i * stride, NULL, x + i, in - i, out, stride);
}

static void forward_sparse(float *y, const float *w, const uint32_t *index, const float *x, size_t count, size_t out,
                           size_t stride)
{
    forward_any(y, w, index, x, count, out, stride);
}

/* ---- products of matrices ---- */

/* ROWS times VECTORS sums stay in registers while the rows of b pass by: AVX2 has half as many as the others. */
#if defined(__AVX2__) && !defined(__AVX512F__)
enum { WIDE = 2 };
#else
enum { WIDE = 4 };
#endif
enum { MOST_ROWS = 4, PACKED = 256 };

/* C = S + A B, then what is below zero set to zero. S may be C. */
typedef struct product {
    float *c;
    const float *start, *b;
    size_t c_row, start_row, b_row, in, out;
    bool relu;
} product;

/* From column j on. a is packed: entry i of its rows lies at a[i * MOST_ROWS]. */
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

INLINE void multiply_rows(product p, const float *restrict a, size_t ROWS)
{
    size_t j = 0;
    for (; j + WIDE * LANES <= p.out; j += WIDE * LANES) multiply_block(p, a, j, ROWS, WIDE);
    for (; j + LANES <= p.out; j += LANES) multiply_block(p, a, j, ROWS, 1);
    for (; j < p.out; j++) {
        for (size_t r = 0; r < ROWS; r++) {
            float sum = p.start[r * p.start_row + j];
            for (size_t i = 0; i < p.in; i++) sum += a[i * MOST_ROWS + r] * p.b[i * p.b_row + j];
            p.c[r * p.c_row + j] = p.relu && !(sum > 0) ? 0 : sum;
        }
    }
}

/* Four rows at a time; the last ones are dealt so that none is left alone. */
static size_t rows_together(size_t left)
{
    return left == 5 || left == 6 ? 3 : left < MOST_ROWS ? left : MOST_ROWS;
}

static void multiply_all(product p, const_matrix a, size_t rows)
{
    float packed[PACKED * MOST_ROWS];
    for (size_t r = 0, taken; r < rows; r += taken) {
        taken = rows_together(rows - r);
        for (size_t i = 0; i < p.in; i++)
            for (size_t t = 0; t < MOST_ROWS; t++)
                packed[i * MOST_ROWS + t] = t < taken ? a.values[(r + t) * a.row + i * a.column] : 0;
        if (taken == 4) multiply_rows(p, packed, 4);
        if (taken == 3) multiply_rows(p, packed, 3);
        if (taken == 2) multiply_rows(p, packed, 2);
        if (taken == 1) multiply_rows(p, packed, 1);
        p.c += taken * p.c_row;
        p.start += taken * p.start_row;
    }
}

/* So many inputs as can be packed, then the next ones. */
static void multiply_inputs(product p, const_matrix a, size_t rows, size_t in)
{
    bool relu = p.relu;
    for (;; in -= PACKED) {
        bool last = in <= PACKED;
        p.in = last ? in : PACKED;
        p.relu = relu && last;
        multiply_all(p, a, rows);
        if (last) return;
        p.start = p.c;
        p.start_row = p.c_row;
        p.b += PACKED * p.b_row;
        a.values += PACKED * a.column;
    }
}

static void multiply(matrix c, const_matrix a, const_matrix b, size_t rows, size_t in, size_t out)
{
    product p = {c.values, c.values, b.values, c.row, c.row, b.row, in, out, false};
    multiply_inputs(p, a, rows, in);
}

static void forward_many(matrix y, const float *w, const float *bias, const_matrix x, size_t rows, size_t in,
                         size_t out, bool relu)
{
    product p = {y.values, bias, w, y.row, 0, out, in, out, relu};
    if (!bias) {
        for (size_t r = 0; r < rows; r++) memset(y.values + r * y.row, 0, out * sizeof(float));
        p.start = y.values;
        p.start_row = y.row;
    }
    multiply_inputs(p, x, rows, in);
}

/* ---- outer products ---- */

INLINE void update_block(float *restrict w, const uint32_t *restrict index, const float *restrict x,
                         const float *restrict delta, size_t count, size_t out, size_t VECTORS)
{
    lanes d[16];
    for (size_t v = 0; v < VECTORS; v++) d[v] = load(delta + v * LANES);
    for (size_t i = 0; i < count; i++) {
        float *row = w + (index ? index[i] : i) * out, value = x[i];
        for (size_t v = 0; v < VECTORS; v++) store(row + v * LANES, load(row + v * LANES) + value * d[v]);
    }
}

INLINE void update_any(float *restrict w, const uint32_t *restrict index, const float *restrict x,
                       const float *restrict delta, size_t count, size_t out)
{
    size_t j = 0;
    for (; j + 16 * LANES <= out; j += 16 * LANES) update_block(w + j, index, x, delta + j, count, out, 16);
    for (; j + 8 * LANES <= out; j += 8 * LANES) update_block(w + j, index, x, delta + j, count, out, 8);
    for (; j + 4 * LANES <= out; j += 4 * LANES) update_block(w + j, index, x, delta + j, count, out, 4);
    for (; j + LANES <= out; j += LANES) update_block(w + j, index, x, delta + j, count, out, 1);
    if (j < out && out >= LANES) {
        float rest[LANES];
        store(rest, (lanes)((lane_bits)load(delta + out - LANES) & last_lanes(out - j)));
        update_block(w + out - LANES, index, x, rest, count, out, 1);
        return;
    }
    for (; j < out; j++)
        for (size_t i = 0; i < count; i++) w[(index ? index[i] : i) * out + j] += x[i] * delta[j];
}

static void update(float *w, const float *x, const float *delta, size_t in, size_t out)
{
    if (out == 1) {
        add_scaled(w, delta[0], x, in);
        return;
    }
    size_t rows = rows_at_once(out), i = 0;
    for (; i + rows < in; i += rows) update_any(w + i * out, NULL, x + i, delta, rows, out);
    update_any(w + i * out, NULL, x + i, delta, in - i, out);
}

static void update_sparse(float *w, const uint32_t *index, const float *x, const float *delta, size_t count, size_t out)
{
    update_any(w, index, x, delta, count, out);
}

/* ---- rectifier ---- */

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

static void relu_backward(float *restrict delta, const float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) delta[i] = y[i] > 0 ? delta[i] : 0;
}

/* ---- Adam ---- */

/* Square roots and divisions are what Adam waits for. Where a machine has good guesses of them, a step of Newton's
 * iteration makes a guess exact to a unit or two in the last place. TOGETHER vectors fill the registers. */
#if defined(__AVX512F__) || defined(__AVX2__)
#define ADAM_BLOCKS
enum { GUESSES = 1, TOGETHER = 4 };

INLINE lanes root(lanes v)
{
    lanes least = (lanes){0} + 1e-37f; /* the guess for zero is infinite */
#if defined(__AVX512F__)
    v = (lanes)_mm512_max_ps((__m512)v, (__m512)least);
    lanes guess = (lanes)_mm512_rsqrt14_ps((__m512)v);
#else
    v = (lanes)_mm256_max_ps((__m256)v, (__m256)least);
    lanes guess = (lanes)_mm256_rsqrt_ps((__m256)v);
#endif
    return v * guess * (1.5f - 0.5f * v * guess * guess);
}

INLINE lanes quotient(float a, lanes d)
{
#if defined(__AVX512F__)
    lanes guess = (lanes)_mm512_rcp14_ps((__m512)d);
#else
    lanes guess = (lanes)_mm256_rcp_ps((__m256)d);
#endif
    return a * guess * (2.0f - d * guess);
}

#elif defined(__aarch64__)
#define ADAM_BLOCKS
enum { GUESSES = 0, TOGETHER = 8 }; /* they are slower here than the machine's own */

INLINE lanes root(lanes v)
{
    return vsqrtq_f32(v);
}

INLINE lanes quotient(float a, lanes d)
{
    return a / d;
}
#endif

#if defined(ADAM_BLOCKS)

/* Without guesses two vectors share a division, 1/a = b/(ab) and 1/b = a/(ab). a and b are at least epsilon, and their
 * product overflows where the gradient's square does.
 *
 * A machine has fewer registers for results under way than the roots have it wait: each number is loaded once, and the
 * product of a sum that is ready last is the one that is added. */
INLINE void adam_block(float *restrict theta, float *restrict first, float *restrict second, float x,
                       const float *restrict delta, adam_step s, size_t VECTORS)
{
    lanes t[TOGETHER], m[TOGETHER], d[TOGETHER];
#pragma GCC unroll 8
    for (size_t v = 0; v < VECTORS; v++) {
        t[v] = load(theta + v * LANES);
        m[v] = s.l2 * t[v] + x * load(delta + v * LANES);
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < VECTORS; v++) {
        d[v] = m[v] * m[v] + s.beta2 * load(second + v * LANES);
        store(second + v * LANES, d[v]);
        d[v] = root(d[v]) + s.epsilon;
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < VECTORS; v++) {
        m[v] += s.beta1 * load(first + v * LANES);
        store(first + v * LANES, m[v]);
    }
#pragma GCC unroll 8
    for (size_t v = 0; !GUESSES && v + 2 <= VECTORS; v += 2) {
        lanes r = quotient(s.rate, d[v] * d[v + 1]);
        store(theta + v * LANES, t[v] - m[v] * d[v + 1] * r);
        store(theta + (v + 1) * LANES, t[v + 1] - m[v + 1] * d[v] * r);
    }
#pragma GCC unroll 8
    for (size_t v = GUESSES ? 0 : VECTORS / 2 * 2; v < VECTORS; v++)
        store(theta + v * LANES, t[v] - m[v] * quotient(s.rate, d[v]));
}

INLINE size_t adam_blocks(float *restrict theta, float *restrict first, float *restrict second, float x,
                          const float *restrict delta, size_t n, adam_step s)
{
    size_t j = 0;
    for (; j + TOGETHER * LANES <= n; j += TOGETHER * LANES)
        adam_block(theta + j, first + j, second + j, x, delta + j, s, TOGETHER);
    for (; j + LANES <= n; j += LANES) adam_block(theta + j, first + j, second + j, x, delta + j, s, 1);
    return j;
}

#else

INLINE size_t adam_blocks(float *restrict theta, float *restrict first, float *restrict second, float x,
                          const float *restrict delta, size_t n, adam_step s)
{
    (void)theta, (void)first, (void)second, (void)x, (void)delta, (void)n, (void)s;
    return 0;
}

#endif

INLINE void adam_row(float *restrict theta, float *restrict first, float *restrict second, float x,
                     const float *restrict delta, size_t n, adam_step s)
{
    for (size_t j = adam_blocks(theta, first, second, x, delta, n, s); j < n; j++) {
        float g = x * delta[j] + s.l2 * theta[j];
        first[j] = s.beta1 * first[j] + g;
        second[j] = s.beta2 * second[j] + g * g;
        theta[j] -= s.rate * first[j] / (sqrtf(second[j]) + s.epsilon);
    }
}

static void adam(float *theta, float *first, float *second, const float *x, const float *delta, size_t in, size_t out,
                 const adam_step *step)
{
    adam_step s = *step; /* what is written could be part of it, for all that the compiler knows */
    if (out == 1) {      /* the transpose is one long row */
        adam_row(theta, first, second, delta[0], x, in, s);
        return;
    }
    for (size_t i = 0; i < in; i++) adam_row(theta + i * out, first + i * out, second + i * out, x[i], delta, out, s);
}

/* kernels_avx2, say; "avx2" */
#define JOIN(a, b) a##b
#define TABLE(name) JOIN(kernels_, name)
#define QUOTE(name) #name
#define TEXT(name) QUOTE(name)

extern const kernel_table TABLE(KERNELS_NAME);
const kernel_table TABLE(KERNELS_NAME) = {
    TEXT(KERNELS_NAME), dot,    add_scaled,    forward, forward_sparse, forward_many, multiply,
    backward,           update, update_sparse, relu,    relu_backward,  adam,
};
