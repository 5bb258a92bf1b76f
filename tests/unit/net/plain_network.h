/* A network in double precision, written down once more and plainly. */
#ifndef EENET_TEST_PLAIN_NETWORK_H
#define EENET_TEST_PLAIN_NETWORK_H

#include "support_network.h"

enum { PLAIN_MOST = 512 }; /* outputs of a layer */

static inline double *plain_theta(const float *theta, size_t count)
{
    double *wide = malloc(count * sizeof *wide);
    for (size_t i = 0; i < count; i++) wide[i] = (double)theta[i];
    return wide;
}

/* One output of a convolution or of a pool. */
static inline double plain_window(const layer *l, const double *theta, const double *in, size_t channel, size_t y,
                                  size_t x)
{
    bool pool = l->kind == LAYER_POOL;
    size_t step_y = pool ? l->kernel_height : l->stride, step_x = pool ? l->kernel_width : l->stride;
    double sum = l->bias ? theta[l->parameters + l->weight_count + channel] : 0, most = -INFINITY;
    for (size_t c = pool ? channel : 0; c < (pool ? channel + 1 : l->in.channels); c++)
        for (size_t i = 0; i < l->kernel_height; i++)
            for (size_t j = 0; j < l->kernel_width; j++) {
                double value = in[(c * l->in.height + y * step_y + i) * l->in.width + x * step_x + j];
                most = fmax(most, value);
                if (pool) continue;
                size_t weight = ((channel * l->in.channels + c) * l->kernel_height + i) * l->kernel_width + j;
                sum += value * theta[l->parameters + weight];
            }
    return pool ? most : sum;
}

static inline void plain_layer(const layer *l, const double *theta, const double *in, double *out)
{
    double *next = out;
    const double *weights = theta + l->parameters;
    for (size_t c = 0; l->kind != LAYER_DENSE && c < l->out.channels; c++)
        for (size_t y = 0; y < l->out.height; y++)
            for (size_t x = 0; x < l->out.width; x++) *next++ = plain_window(l, theta, in, c, y, x);
    for (size_t o = 0; l->kind == LAYER_DENSE && o < l->out.width; o++) {
        out[o] = l->bias ? weights[l->weight_count + o] : 0;
        for (size_t i = 0; i < shape_size(l->in); i++) out[o] += in[i] * weights[i * l->out.width + o];
    }
    for (size_t i = 0; l->relu && i < shape_size(l->out); i++) out[i] = fmax(out[i], 0);
}

/* The first layers over a block of the input; out is (PLAIN_MOST). Returns how many outputs there are. */
static inline size_t plain_pass(const network *net, const double *theta, const double *block, size_t layers,
                                double *out)
{
    double in[PLAIN_MOST];
    size_t count = net->block;
    memcpy(out, block, count * sizeof *out);
    for (size_t i = 0; i < layers; i++) {
        memcpy(in, out, count * sizeof *in);
        count = shape_size(net->layers[i].out);
        assert_true(count <= PLAIN_MOST);
        plain_layer(&net->layers[i], theta, in, out);
    }
    return count;
}

#endif
