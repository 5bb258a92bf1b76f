/* The definition of every kernel in its plainest form. The fast kernels are tested against it. */
#include <math.h>

#include "kernels.h"

static float dot(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return (float)sum;
}

static void add_scaled(float *y, float a, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void forward(float *y, const float *start, const float *w, const float *x, size_t in, size_t out, size_t stride,
                    bool relu)
{
    for (size_t j = 0; j < out; j++) {
        double sum = start ? start[j] : 0;
        for (size_t i = 0; i < in; i++) sum += (double)x[i] * w[i * stride + j];
        y[j] = relu && !(sum > 0) ? 0 : (float)sum;
    }
}

static void forward_sparse(float *y, const float *start, const float *w, const uint32_t *index, const float *x,
                           size_t count, size_t behind, size_t out, size_t stride, bool relu)
{
    (void)behind;
    for (size_t j = 0; j < out; j++) {
        double sum = start ? start[j] : 0;
        for (size_t i = 0; i < count; i++) sum += (double)x[i] * w[index[i] * stride + j];
        y[j] = relu && !(sum > 0) ? 0 : (float)sum;
    }
}

static void forward_pair(matrix y, const_matrix start, const float *w, const uint32_t *index, const float *x,
                         size_t count, size_t out, size_t stride, bool relu)
{
    for (size_t r = 0; r < 2; r++) {
        for (size_t j = 0; j < out; j++) {
            double sum = start.values[r * start.row + j];
            for (size_t i = 0; i < count; i++) sum += (double)x[2 * i + r] * w[index[i] * stride + j];
            y.values[r * y.row + j] = relu && !(sum > 0) ? 0 : (float)sum;
        }
    }
}

static void forward_many(matrix y, const float *start, const float *w, const_matrix x, size_t rows, size_t in,
                         size_t out, bool relu)
{
    for (size_t r = 0; r < rows; r++) forward(y.values + r * y.row, start, w, x.values + r * x.row, in, out, out, relu);
}

static void multiply(matrix c, const_matrix a, const_matrix b, size_t rows, size_t in, size_t out)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t j = 0; j < out; j++) {
            double sum = c.values[r * c.row + j];
            for (size_t i = 0; i < in; i++) sum += (double)a.values[r * a.row + i * a.column] * b.values[i * b.row + j];
            c.values[r * c.row + j] = (float)sum;
        }
    }
}

static void backward(float *dx, const float *w, const float *delta, size_t in, size_t out, size_t stride)
{
    for (size_t i = 0; i < in; i++) dx[i] += dot(w + i * stride, delta, out);
}

static void backward_many(matrix dx, const float *w, const_matrix delta, size_t rows, size_t in, size_t out)
{
    for (size_t r = 0; r < rows; r++) backward(dx.values + r * dx.row, w, delta.values + r * delta.row, in, out, out);
}

static void update(float *w, float *biases, const float *x, const float *delta, size_t in, size_t out)
{
    for (size_t i = 0; i < in; i++) add_scaled(w + i * out, x[i], delta, out);
    if (biases) add_scaled(biases, 1, delta, out);
}

static void update_sparse(float *w, float *biases, const uint32_t *index, const float *x, const float *delta,
                          size_t count, size_t out)
{
    for (size_t i = 0; i < count; i++) add_scaled(w + index[i] * out, x[i], delta, out);
    if (biases) add_scaled(biases, 1, delta, out);
}

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

static void relu_backward(float *delta, float a, const float *w, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) delta[i] = y[i] > 0 ? a * w[i] : 0;
}

/* Kingma and Ba, "Adam", 2015. */
static void adam(float *theta, float *first, float *second, const float *x, const float *delta, size_t in, size_t out,
                 bool bias, const adam_step *step)
{
    for (size_t i = 0; i < (in + bias) * out; i++) {
        float g = (i < in * out ? x[i / out] : 1) * delta[i % out] + step->l2 * theta[i];
        first[i] = step->beta1 * first[i] + g;
        second[i] = step->beta2 * second[i] + g * g;
        theta[i] -= step->rate * first[i] / (sqrtf(second[i]) + step->epsilon);
    }
}

extern const kernel_table kernels_reference;
const kernel_table kernels_reference = {
    "reference", dot,           add_scaled, forward,       forward_sparse, forward_pair,  forward_many, multiply,
    backward,    backward_many, update,     update_sparse, relu,           relu_backward, adam,
};
