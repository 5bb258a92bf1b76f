/* One layer of a network: fully connected, convolution or max-pooling, the first two optionally with a ReLU. A layer is
 * only shapes and offsets; its parameters are in the theta of the network, its outputs in the activations. */
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
    LAYER_POOL         /* the maximum of each kernel, kernels side by side; no parameters */
} layer_kind;

typedef struct layer {
    layer_kind kind;
    shape in, out;
    size_t kernel_height, kernel_width, stride; /* a 1-d layer has height 1; stride is along the width and height */
    bool bias, relu;
    size_t weight_count;
    size_t parameters;      /* offset in theta */
    size_t parameter_count; /* weights and biases */
    size_t output;          /* offset in the activations */

    /* For a convolution that reads its input as a product (network.h); otherwise 0. */
    size_t rows, columns;
    size_t covered; /* rows that a kernel covers, at most MOST_KERNEL_ROWS */
    size_t step;    /* rows from one kernel to the next */
    size_t within;  /* outputs whose kernels cover only the product */
} layer;

enum { MOST_KERNEL_ROWS = 64 };

/* In all functions below, theta is the array of the whole network; gradient, output and delta are those of this layer.
 * A delta is the derivative of the network output with respect to the output of this layer before its ReLU. */
void layer_forward(const layer *self, const kernel_table *kernels, const float *theta, vector input, float *output);

/* The same for a sparse input of a fully connected layer that is followed by `behind` more indices: see forward_sparse
 * in math/kernels.h. */
void layer_forward_sparse(const layer *self, const kernel_table *kernels, const float *theta, vector input,
                          size_t behind, float *output);

/* The same for many inputs, (count, in), of a fully connected layer. */
void layer_forward_many(const layer *self, const kernel_table *kernels, const float *theta, const_matrix inputs,
                        size_t count, matrix outputs);

/* input_delta = the derivative with respect to the input of this layer. input is that of the forward pass. If relu is
 * set, it is the output of a ReLU, and the derivative is with respect to the input of that ReLU. */
void layer_backward(const layer *self, const kernel_table *kernels, const float *theta, const float *input,
                    const float *delta, float *input_delta, bool relu);

/* gradient += the derivative with respect to the parameters of this layer. */
void layer_add_gradient(const layer *self, const kernel_table *kernels, vector input, const float *delta,
                        float *gradient);

/* The same two for many samples of a fully connected layer. inputs is (count, in), deltas is (count, out), input_deltas
 * is (count, in); the columns of all are 1 apart. */
void layer_backward_many(const layer *self, const kernel_table *kernels, const float *theta, const_matrix inputs,
                         const_matrix deltas, size_t count, matrix input_deltas, bool relu);
void layer_add_gradient_many(const layer *self, const kernel_table *kernels, const_matrix inputs, const_matrix deltas,
                             size_t count, float *gradient);

/* The bias part of that, for a layer with biases. */
void layer_add_bias_gradient(const layer *self, const kernel_table *kernels, const_matrix deltas, size_t count,
                             float *gradient);

/* sums (width) += the rows, (count, width), times their weights, (count), added in the order of the rows. */
void layer_sum_rows(const kernel_table *kernels, float *sums, const_matrix rows, const float *weights, size_t count,
                    size_t width);

#endif
