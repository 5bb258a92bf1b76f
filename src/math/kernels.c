/* The fast kernels: plain loops in the shape that a compiler turns into vectors. This file is compiled once for each
 * instruction set, with KERNELS_NAME as the name of the table and with leave to reorder sums. */
#include "kernels.h"

#include <math.h>

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
                                                                size_t count, size_t out, size_t width)
{
    float sum[64];
    for (size_t j = 0; j < width; j++) sum[j] = y[j];
    for (size_t i = 0; i < count; i++) {
        const float *row = w + (index ? index[i] : i) * out;
        float value = x[i];
        for (size_t j = 0; j < width; j++) sum[j] += value * row[j];
    }
    for (size_t j = 0; j < width; j++) y[j] = sum[j];
}

static inline __attribute__((always_inline)) void forward_any(float *restrict y, const float *restrict w,
                                                              const uint32_t *restrict index, const float *restrict x,
                                                              size_t count, size_t out)
{
    size_t j = 0;
    for (; j + 64 <= out; j += 64) forward_block(y + j, w + j, index, x, count, out, 64);
    for (; j + 32 <= out; j += 32) forward_block(y + j, w + j, index, x, count, out, 32);
    for (; j + 16 <= out; j += 16) forward_block(y + j, w + j, index, x, count, out, 16);
    for (; j + 4 <= out; j += 4) forward_block(y + j, w + j, index, x, count, out, 4);
    for (; j < out; j++) forward_block(y + j, w + j, index, x, count, out, 1);
}

static void forward(float *y, const float *w, const float *x, size_t in, size_t out)
{
    if (out == 1)
        y[0] += dot(w, x, in);
    else
        forward_any(y, w, NULL, x, in, out);
}

static void forward_sparse(float *y, const float *w, const uint32_t *index, const float *x, size_t count, size_t out)
{
    forward_any(y, w, index, x, count, out);
}

static void backward(float *restrict dx, const float *restrict w, const float *restrict delta, size_t in, size_t out)
{
    if (out == 1) {
        for (size_t i = 0; i < in; i++) dx[i] = w[i] * delta[0];
        return;
    }
    for (size_t i = 0; i < in; i++) dx[i] = dot(w + i * out, delta, out);
}

static void update(float *restrict w, float a, const float *restrict x, const float *restrict delta, size_t in,
                   size_t out)
{
    if (out == 1) {
        add_scaled(w, a * delta[0], x, in);
        return;
    }
    for (size_t i = 0; i < in; i++) add_scaled(w + i * out, a * x[i], delta, out);
}

static void update_sparse(float *restrict w, float a, const uint32_t *restrict index, const float *restrict x,
                          const float *restrict delta, size_t count, size_t out)
{
    for (size_t i = 0; i < count; i++) add_scaled(w + index[i] * out, a * x[i], delta, out);
}

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

static void relu_backward(float *restrict delta, const float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) delta[i] = y[i] > 0 ? delta[i] : 0;
}

static void adam(float *restrict theta, float *restrict first, float *restrict second, const float *restrict gradient,
                 size_t n, const adam_step *restrict step)
{
    adam_step s = *step;
    for (size_t i = 0; i < n; i++) {
        float g = gradient[i] + s.l2 * theta[i];
        first[i] = s.beta1 * first[i] + s.rest1 * g;
        second[i] = s.beta2 * second[i] + s.rest2 * g * g;
        theta[i] = s.shrink * theta[i] - s.rate * first[i] / (sqrtf(second[i]) * s.correction + s.epsilon);
    }
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
