/* The derivative of a network's output by its input, against differences of the same network computed in double. */
#include "support_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a network in double, written down once more and plainly ---- */

static void forward_dense(const layer *l, const float *theta, const double *in, double *out)
{
    const float *weights = theta + l->parameters;
    for (size_t o = 0; o < l->out.width; o++) {
        out[o] = l->bias ? (double)weights[l->weight_count + o] : 0;
        for (size_t i = 0; i < shape_size(l->in); i++) out[o] += in[i] * (double)weights[i * l->out.width + o];
    }
}

/* One output of a convolution or of a pool. */
static double window(const layer *l, const float *theta, const double *in, size_t channel, size_t y, size_t x)
{
    bool pool = l->kind == LAYER_POOL;
    size_t step_y = pool ? l->kernel_height : l->stride, step_x = pool ? l->kernel_width : l->stride;
    double sum = l->bias ? (double)theta[l->parameters + l->weight_count + channel] : 0, most = -INFINITY;
    for (size_t c = pool ? channel : 0; c < (pool ? channel + 1 : l->in.channels); c++)
        for (size_t i = 0; i < l->kernel_height; i++)
            for (size_t j = 0; j < l->kernel_width; j++) {
                double value = in[(c * l->in.height + y * step_y + i) * l->in.width + x * step_x + j];
                most = fmax(most, value);
                if (pool) continue;
                size_t weight = ((channel * l->in.channels + c) * l->kernel_height + i) * l->kernel_width + j;
                sum += value * (double)theta[l->parameters + weight];
            }
    return pool ? most : sum;
}

static void forward_layer(const layer *l, const float *theta, const double *in, double *out)
{
    double *next = out;
    if (l->kind == LAYER_DENSE)
        forward_dense(l, theta, in, out);
    else
        for (size_t c = 0; c < l->out.channels; c++)
            for (size_t y = 0; y < l->out.height; y++)
                for (size_t x = 0; x < l->out.width; x++) *next++ = window(l, theta, in, c, y, x);
    for (size_t i = 0; l->relu && i < shape_size(l->out); i++) out[i] = fmax(out[i], 0);
}

enum { INPUT = 48, MOST_OUTPUTS = 512 };

/* block is (INPUT). */
static double forward_plainly(const network *net, const float *theta, const double *block, size_t head)
{
    double rooms[2][MOST_OUTPUTS];
    const double *in = block;
    for (size_t i = 0; i < net->layer_count; i++) {
        assert_true(shape_size(net->layers[i].out) <= MOST_OUTPUTS);
        forward_layer(&net->layers[i], theta, in, rooms[i % 2]);
        in = rooms[i % 2];
    }
    return in[head];
}

/* ---- the comparison ---- */

/* Every second entry of the block of a head is not zero. A step this small meets no kink. */
static void check(const char *text, size_t heads, size_t head, bool sparse)
{
    learner_options options = options_from(text);
    memory owner = {0};
    learner l;
    ee_error error = {0};
    size_t input = heads * INPUT, first = head * INPUT;
    if (learner_create(&l, &owner, "test", &options, input, input, 7, SIZE_MAX, &error))
        fail_msg("%s: %s", text, error.message);
    const network *net = &l.networks[0];
    float *theta = calloc(net->parameter_count, sizeof *theta), dense[4 * INPUT] = {0}, values[INPUT],
          gradient[4 * INPUT];
    float room[INPUT];
    uint32_t indices[INPUT];
    double block[INPUT] = {0};
    random_stream draw = random_named(3 + head, "inputs");
    learner_start(&l, theta);
    for (size_t i = 0; i < INPUT / 2; i++) {
        indices[i] = (uint32_t)(first + 2 * i);
        block[2 * i] = (double)(dense[indices[i]] = values[i] = (float)random_normal(&draw));
    }
    vector x = sparse ? (vector){values, indices, INPUT / 2} : vector_dense(dense, input);
    memset(gradient, 0xff, sizeof gradient);
    network_forward(net, theta, x, l.activations);
    network_backward(net, theta, x, l.activations, 1, l.deltas);
    network_input_gradient(net, theta, x, l.activations, l.deltas, room, gradient);
    for (size_t i = 0; i < x.count; i++) {
        size_t at = sparse ? indices[i] : i;
        double expected = 0, step = 1e-6;
        if (at >= first && at < first + INPUT) {
            double kept = block[at - first];
            block[at - first] = kept + step;
            expected = forward_plainly(net, theta, block, head);
            block[at - first] = kept - step;
            expected = (expected - forward_plainly(net, theta, block, head)) / (2 * step);
            block[at - first] = kept;
        }
        if (!close_enough((double)gradient[i], expected, 1e-5))
            fail_msg("%s, head %zu, entry %zu: gradient %g, difference %g", text, head, i, (double)gradient[i],
                     expected);
    }
    free(theta);
    memory_release(&owner);
}

TEST(every_shape_matches_differences)
{
    const char *networks[] = {
        "layers=1",
        "layers=2 width=9",
        "layers=2 width=9 bias=off init=paper",
        "layers=4 width=7",
        "layers=2 width=6 front=conv1d:3:5:2+relu",
        "layers=1 front=conv1d:2:4+relu",
        "layers=2 width=5 image=2x6x4 front=conv2d:3:2+relu+pool:2",
        "layers=2 width=5 image=2x6x4 front=conv2d:3:3:1+relu+conv2d:2:2+relu bias=off",
        "layers=1 image=3x4x4 front=conv2d:2:2:2",
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        check(networks[i], 1, 0, false);
        check(networks[i], 1, 0, true);
    }
}

TEST(every_head_matches_differences)
{
    const char *networks[] = {
        "layers=1 heads=4",
        "layers=2 width=9 heads=4",
        "layers=3 width=7 heads=4 bias=off init=paper",
        "layers=2 width=5 heads=4 image=2x6x4 front=conv2d:3:2+relu+pool:2",
        "layers=2 width=5 heads=4 front=conv1d:3:5:2+relu",
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        for (size_t head = 0; head < 4; head++) {
            check(networks[i], 4, head, false);
            check(networks[i], 4, head, true);
        }
}

/* What other blocks hold is not seen, and so it contributes nothing. */
TEST(other_blocks_have_no_part)
{
    learner_options options = options_from("layers=2 width=4 heads=2");
    memory owner = {0};
    learner l;
    ok(learner_create(&l, &owner, "test", &options, 8, 8, 7, SIZE_MAX, NULL));
    float *theta = calloc(l.networks[0].parameter_count, sizeof *theta), values[] = {1, 2, 3}, gradient[3];
    const uint32_t indices[] = {0, 3, 6};
    vector x = {values, indices, 3};
    learner_start(&l, theta);
    network_forward(&l.networks[0], theta, x, l.activations);
    network_backward(&l.networks[0], theta, x, l.activations, 1, l.deltas);
    network_input_gradient(&l.networks[0], theta, x, l.activations, l.deltas, NULL, gradient);
    assert_true(gradient[0] != 0 && gradient[1] != 0 && gradient[2] == 0);
    free(theta);
    memory_release(&owner);
}
