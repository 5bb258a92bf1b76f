/* The fast kernels: plain loops in the shape that a compiler turns into vectors. This file is compiled once for each
 * instruction set, with KERNELS_NAME as the name of the table and with leave to reorder sums. */
#include "kernels.h"

#include <math.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Sums in as many lanes as hide the latency of an addition. */
static inline float dot(const float *restrict a, const float *restrict b, size_t n)
{
    enum { LANES = 16 };
    float lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lanes[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum += a[i] * b[i];
    for (size_t j = 0; j < LANES; j++) sum += lanes[j];
    return sum;
}

static inline void add_scaled(float *restrict y, float a, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* Outputs are summed in blocks that stay in registers while the inputs pass by. index is NULL for a dense x; width is
 * a constant at every call, so that each call is a loop of its own. */
static inline __attribute__((always_inline)) void forward_block(float *restrict y, const float *restrict w,
                                                                const uint32_t *restrict index, const float *restrict x,
                                                                size_t count, size_t stride, size_t width)
{
    float sum[64];
    for (size_t j = 0; j < width; j++) sum[j] = y[j];
    for (size_t i = 0; i < count; i++) {
        const float *row = w + (index ? index[i] : i) * stride;
        float value = x[i];
        for (size_t j = 0; j < width; j++) sum[j] += value * row[j];
    }
    for (size_t j = 0; j < width; j++) y[j] = sum[j];
}

static inline __attribute__((always_inline)) void forward_any(float *restrict y, const float *restrict w,
                                                              const uint32_t *restrict index, const float *restrict x,
                                                              size_t count, size_t out, size_t stride)
{
    size_t j = 0;
    for (; j + 64 <= out; j += 64) forward_block(y + j, w + j, index, x, count, stride, 64);
    for (; j + 32 <= out; j += 32) forward_block(y + j, w + j, index, x, count, stride, 32);
    for (; j + 16 <= out; j += 16) forward_block(y + j, w + j, index, x, count, stride, 16);
    for (; j + 4 <= out; j += 4) forward_block(y + j, w + j, index, x, count, stride, 4);
    for (; j < out; j++) forward_block(y + j, w + j, index, x, count, stride, 1);
}

static void forward(float *y, const float *w, const float *x, size_t in, size_t out, size_t stride)
{
    if (out == 1 && stride == 1)
        y[0] += dot(w, x, in);
    else
        forward_any(y, w, NULL, x, in, out, stride);
}

static void forward_sparse(float *y, const float *w, const uint32_t *index, const float *x, size_t count, size_t out)
{
    forward_any(y, w, index, x, count, out, out);
}

static void backward(float *restrict dx, const float *restrict w, const float *restrict delta, size_t in, size_t out,
                     size_t stride)
{
    if (out == 1 && stride == 1) {
        add_scaled(dx, delta[0], w, in);
        return;
    }
    for (size_t i = 0; i < in; i++) dx[i] += dot(w + i * stride, delta, out);
}

static void update(float *restrict w, const float *restrict x, const float *restrict delta, size_t in, size_t out)
{
    if (out == 1) {
        add_scaled(w, delta[0], x, in);
        return;
    }
    for (size_t i = 0; i < in; i++) add_scaled(w + i * out, x[i], delta, out);
}

static void update_sparse(float *restrict w, const uint32_t *restrict index, const float *restrict x,
                          const float *restrict delta, size_t count, size_t out)
{
    for (size_t i = 0; i < count; i++) add_scaled(w + index[i] * out, x[i], delta, out);
}

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

static void relu_backward(float *restrict delta, const float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) delta[i] = y[i] > 0 ? delta[i] : 0;
}

/* A row of theta, whose gradient is x delta. */
#if defined(__aarch64__)

typedef float32x4_t lanes;

/* Two vectors share a division, 1/a = b/(ab) and 1/b = a/(ab): with a square root for each, divisions are what the
 * machine waits for. a and b are at least epsilon, and their product overflows where the gradient's square does. count
 * is a constant at every call. */
static inline __attribute__((always_inline)) void adam_lanes(float *theta, float *first, float *second, float x,
                                                             const float *delta, const adam_step *s, size_t count)
{
    lanes m[8], d[8], rate = vdupq_n_f32(s->rate);
    for (size_t i = 0; i < count; i++) {
        lanes g = vmulq_n_f32(vld1q_f32(delta + 4 * i), x);
        g = vfmaq_n_f32(g, vld1q_f32(theta + 4 * i), s->l2);
        lanes v = vfmaq_n_f32(vmulq_f32(g, g), vld1q_f32(second + 4 * i), s->beta2);
        m[i] = vfmaq_n_f32(g, vld1q_f32(first + 4 * i), s->beta1);
        vst1q_f32(second + 4 * i, v);
        vst1q_f32(first + 4 * i, m[i]);
        d[i] = vfmaq_n_f32(vdupq_n_f32(s->epsilon), vsqrtq_f32(v), s->correction);
    }
    for (size_t i = 0; i + 2 <= count; i += 2) {
        lanes r = vdivq_f32(rate, vmulq_f32(d[i], d[i + 1])), *a = &m[i];
        vst1q_f32(theta + 4 * i, vfmsq_f32(vld1q_f32(theta + 4 * i), vmulq_f32(a[0], d[i + 1]), r));
        vst1q_f32(theta + 4 * i + 4, vfmsq_f32(vld1q_f32(theta + 4 * i + 4), vmulq_f32(a[1], d[i]), r));
    }
    if (count == 1) vst1q_f32(theta, vfmsq_f32(vld1q_f32(theta), rate, vdivq_f32(m[0], d[0])));
}

static size_t adam_blocks(float *theta, float *first, float *second, float x, const float *delta, size_t n,
                          const adam_step *s)
{
    size_t j = 0;
    for (; j + 32 <= n; j += 32) adam_lanes(theta + j, first + j, second + j, x, delta + j, s, 8);
    for (; j + 4 <= n; j += 4) adam_lanes(theta + j, first + j, second + j, x, delta + j, s, 1);
    return j;
}

#else

static size_t adam_blocks(float *theta, float *first, float *second, float x, const float *delta, size_t n,
                          const adam_step *s)
{
    (void)theta, (void)first, (void)second, (void)x, (void)delta, (void)n, (void)s;
    return 0;
}

#endif

static void adam_row(float *restrict theta, float *restrict first, float *restrict second, float x,
                     const float *restrict delta, size_t n, adam_step s)
{
    for (size_t j = adam_blocks(theta, first, second, x, delta, n, &s); j < n; j++) {
        float g = x * delta[j] + s.l2 * theta[j];
        first[j] = s.beta1 * first[j] + g;
        second[j] = s.beta2 * second[j] + g * g;
        theta[j] -= s.rate * first[j] / (s.correction * sqrtf(second[j]) + s.epsilon);
    }
}

static void adam(float *theta, float *first, float *second, const float *x, const float *delta, size_t in, size_t out,
                 const adam_step *step)
{
    if (out == 1) { /* the transpose is one long row */
        adam_row(theta, first, second, delta[0], x, in, *step);
        return;
    }
    for (size_t i = 0; i < in; i++)
        adam_row(theta + i * out, first + i * out, second + i * out, x[i], delta, out, *step);
}

/* kernels_avx2, say; "avx2" */
#define JOIN(a, b) a##b
#define TABLE(name) JOIN(kernels_, name)
#define QUOTE(name) #name
#define TEXT(name) QUOTE(name)

extern const kernel_table TABLE(KERNELS_NAME);
const kernel_table TABLE(KERNELS_NAME) = {
    TEXT(KERNELS_NAME), dot,  add_scaled,    forward, forward_sparse, backward, update,
    update_sparse,      relu, relu_backward, adam,
};
