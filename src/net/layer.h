/* One layer of a network: fully connected, convolution or max-pooling, the first two with or without a ReLU behind.
 * A layer is shapes and places alone; its parameters lie in the network's theta, its outputs in the activations. */
#ifndef EENET_LAYER_H
#define EENET_LAYER_H

#include <stdbool.h>

#include "math/kernels.h"
#include "math/vector.h"

typedef struct shape {
    size_t channels, height, width;
} shape;

static inline size_t shape_size(shape s)
{
    return s.channels * s.height * s.width;
}

typedef enum layer_kind {
    LAYER_DENSE,       /* weights (in, out), then biases (out) */
    LAYER_CONVOLUTION, /* valid, no padding; weights (channels out, channels in, kernel), then biases (channels out) */
    LAYER_POOL         /* the largest of each kernel, kernels side by side; no parameters */
} layer_kind;

typedef struct layer {
    layer_kind kind;
    shape in, out;
    size_t kernel_height, kernel_width, stride; /* a 1-d layer has height 1; stride is along the width and height */
    bool bias, relu;
    size_t weight_count;
    size_t parameters;      /* where in theta */
    size_t parameter_count; /* weights and biases */
    size_t output;          /* where in the activations */

    /* For a convolution that reads its input as a product (network.h); else 0. */
    size_t rows, columns;
    size_t covered; /* rows that a kernel lies over, MOST_KERNEL_ROWS at most */
    size_t step;    /* rows from one kernel to the next */
    size_t within;  /* outputs whose kernels lie over the product alone */
} layer;

enum { MOST_KERNEL_ROWS = 64 };

/* All below: theta is the network's whole array; gradient, output and delta are this layer's. A delta is the
 * derivative of the network's output by this layer's output before its ReLU. */
void layer_forward(const layer *self, const kernel_table *kernels, const float *theta, vector input, float *output);

/* The same for a sparse input of a fully connected layer, behind whose indices lie more: see forward_sparse in
 * math/kernels.h. */
void layer_forward_sparse(const layer *self, const kernel_table *kernels, const float *theta, vector input,
                          size_t behind, float *output);

/* The same for many inputs, (count, in), of a fully connected layer. */
void layer_forward_many(const layer *self, const kernel_table *kernels, const float *theta, const_matrix inputs,
                        size_t count, matrix outputs);

/* input_delta = the derivative by this layer's input. input is that of the forward pass; relu says that it has been
 * through a ReLU, and then the derivative is by what was before that. */
void layer_backward(const layer *self, const kernel_table *kernels, const float *theta, const float *input,
                    const float *delta, float *input_delta, bool relu);

/* gradient += the derivative by this layer's parameters. */
void layer_add_gradient(const layer *self, const kernel_table *kernels, vector input, const float *delta,
                        float *gradient);

/* The same two for many samples of a fully connected layer. inputs is (count, in), deltas is (count, out), input_deltas
 * is (count, in); the columns of all are 1 apart. */
void layer_backward_many(const layer *self, const kernel_table *kernels, const float *theta, const_matrix inputs,
                         const_matrix deltas, size_t count, matrix input_deltas, bool relu);
void layer_add_gradient_many(const layer *self, const kernel_table *kernels, const_matrix inputs, const_matrix deltas,
                             size_t count, float *gradient);

/* The part of that for the biases, of a layer that has them. */
void layer_add_bias_gradient(const layer *self, const kernel_table *kernels, const_matrix deltas, size_t count,
                             float *gradient);

/* sums (width) += the rows, (count, width), times their weights, (count). Each sum is taken in the order of the rows.
 */
void layer_sum_rows(const kernel_table *kernels, float *sums, const_matrix rows, const float *weights, size_t count,
                    size_t width);

#endif
