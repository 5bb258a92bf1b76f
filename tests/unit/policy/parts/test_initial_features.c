/* What a solved f2 sees, against the last hidden layer computed by plain loops. */
#include "policy/parts/initial_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_network.h"

enum { INPUTS = 24, MOST = 256 };

/* ---- a network by its definition ---- */

static void pass_dense(const layer *l, const float *theta, const double *in, double *out)
{
    size_t inputs = shape_size(l->in), width = l->out.width;
    for (size_t j = 0; j < width; j++) {
        out[j] = l->bias ? theta[inputs * width + j] : 0;
        for (size_t i = 0; i < inputs; i++) out[j] += in[i] * theta[i * width + j];
    }
}

static double convolve_at(const layer *l, const float *weights, const double *in, size_t y, size_t x)
{
    double sum = 0;
    for (size_t c = 0; c < l->in.channels; c++)
        for (size_t a = 0; a < l->kernel_height; a++)
            for (size_t b = 0; b < l->kernel_width; b++)
                sum += *weights++ * in[(c * l->in.height + y * l->stride + a) * l->in.width + x * l->stride + b];
    return sum;
}

static double largest_at(const layer *l, const double *in, size_t channel, size_t y, size_t x)
{
    double largest = -INFINITY;
    for (size_t a = 0; a < l->kernel_height; a++)
        for (size_t b = 0; b < l->kernel_width; b++)
            largest =
                fmax(largest,
                     in[(channel * l->in.height + y * l->kernel_height + a) * l->in.width + x * l->kernel_width + b]);
    return largest;
}

static void pass_image(const layer *l, const float *theta, const double *in, double *out)
{
    size_t kernel = l->in.channels * l->kernel_height * l->kernel_width;
    for (size_t c = 0; c < l->out.channels; c++) {
        for (size_t y = 0; y < l->out.height; y++) {
            for (size_t x = 0; x < l->out.width; x++) {
                if (l->kind == LAYER_POOL)
                    *out++ = largest_at(l, in, c, y, x);
                else
                    *out++ = convolve_at(l, theta + c * kernel, in, y, x) + (l->bias ? theta[l->weight_count + c] : 0);
            }
        }
    }
}

/* phi of a block of the input by all of f1 but its last layer. Returns how many there are. */
static size_t compute_plainly(const network *f1, const float *theta, size_t units, const float *block, double *phi)
{
    double values[NETWORK_LAYERS][MOST] = {{0}};
    size_t count = f1->block;
    for (size_t i = 0; i < count; i++) values[0][i] = block[i];
    for (size_t i = 0; i + 1 < f1->layer_count; i++) {
        const layer *l = &f1->layers[i];
        double *out = values[i + 1];
        if (l->kind == LAYER_DENSE)
            pass_dense(l, theta + l->parameters, values[i], out);
        else
            pass_image(l, theta + l->parameters, values[i], out);
        count = shape_size(l->out);
        assert_true(count <= MOST);
        for (size_t j = 0; l->relu && j < count; j++) out[j] = fmax(out[j], 0);
        if (i + 2 == f1->layer_count && units < count) count = units;
        memcpy(phi, out, count * sizeof *phi);
    }
    double square = 0;
    for (size_t i = 0; i < count; i++) square += phi[i] * phi[i];
    for (size_t i = 0; i < count && square > 0; i++) phi[i] /= sqrt(square);
    return count;
}

/* ---- the features ---- */

/* f1 at theta_0 and what is seen of it, in room that ends at a wall. */
typedef struct seen {
    memory owner;
    learner f1;
    float *theta0;
    initial_features features;
    guard walls[2];
    float *activations, *phi;
} seen;

static void make(seen *self, const char *text, size_t units)
{
    self->owner = (memory){0};
    learner_options options = options_from(text);
    ee_error error = {0};
    if (learner_create(&self->f1, &self->owner, "f1", &options, INPUTS, INPUTS, 3, SIZE_MAX, &error))
        fail_msg("%s", error.message);
    self->theta0 = calloc(self->f1.networks[0].parameter_count, sizeof(float));
    learner_start(&self->f1, self->theta0);
    if (initial_features_create(&self->features, &self->owner, &self->f1.networks[0], units, &error))
        fail_msg("%s", error.message);
    initial_features_set(&self->features, &self->f1.networks[0], self->theta0);
    self->activations = guard_end(&self->walls[0], self->features.network.activation_count);
    self->phi = guard_end(&self->walls[1], self->features.count);
}

static void release(seen *self)
{
    memory_release(&self->owner);
    free(self->theta0);
    for (size_t i = 0; i < 2; i++) guard_free(&self->walls[i]);
}

static void assert_phi(seen *self, vector x, const double *expected)
{
    initial_features_compute(&self->features, x, self->activations, self->phi);
    for (size_t i = 0; i < self->features.count; i++) assert_close(self->phi[i], expected[i], 1e-5);
}

/* Every second entry of a block of the input, in both forms. */
static void check_block(seen *self, size_t units, size_t head, random_stream *draw)
{
    const network *f1 = &self->f1.networks[0];
    float dense[INPUTS] = {0}, values[INPUTS];
    uint32_t indices[INPUTS];
    size_t entries = 0;
    for (size_t i = 0; i < f1->block; i += 2) {
        indices[entries] = (uint32_t)(head * f1->block + i);
        values[entries] = (float)random_normal(draw);
        dense[indices[entries]] = values[entries];
        entries++;
    }
    double expected[MOST], square = 0;
    size_t count = compute_plainly(f1, self->theta0, units, dense + head * f1->block, expected);
    assert_int_equal(self->features.count, count);
    assert_phi(self, vector_dense(dense, INPUTS), expected);
    assert_phi(self, (vector){values, indices, entries}, expected);
    for (size_t i = 0; i < count; i++) square += (double)self->phi[i] * self->phi[i];
    if (square != 0) assert_close(square, 1, 1e-5); /* of few units all may be off */
}

TEST(is_the_last_hidden_layer_at_length_1)
{
    const char *networks[] = {
        "layers=2 width=9",
        "layers=2 width=9 bias=off init=paper",
        "layers=3 width=9",
        "layers=4 width=9 bias=off init=glorot",
        "layers=2 width=9 image=1x4x6 front=conv2d:2:3+relu",
        "layers=2 width=9 image=2x4x3 front=conv2d:3:2+relu+pool:2",
        "layers=3 width=9 front=conv1d:3:5:2+relu",
        "layers=2 width=9 heads=4",
        "layers=3 width=9 heads=3 bias=off",
        "layers=2 width=9 heads=2 image=1x3x4 front=conv2d:2:2+relu",
    };
    const size_t units[] = {1, 2, 5, 8, 9, 10, 4096}; /* less than the width, as many, more */
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            seen self;
            make(&self, networks[n], units[k]);
            assert_int_equal(self.features.count, units[k] < 9 ? units[k] : 9);
            random_stream draw = random_named(n, "inputs");
            for (size_t t = 0; t < 3 * self.f1.networks[0].heads; t++)
                check_block(&self, units[k], t % self.f1.networks[0].heads, &draw);
            release(&self);
        }
    }
}

/* Of a convolution, and of a pool, at most so many too. */
TEST(a_last_layer_of_an_image_has_units_too)
{
    const char *networks[] = {"layers=1 image=1x4x6 front=conv2d:2:3+relu", "layers=1 front=conv1d:3:5:2",
                              "layers=1 image=2x4x3 front=conv2d:3:2+relu+pool:2",
                              "layers=1 heads=2 image=1x3x4 front=conv2d:2:2+relu"};
    const size_t counts[] = {2 * 2 * 4, 3 * 10, 3 * 1 * 1, 2 * 2 * 3};
    const size_t units[] = {1, 2, 3, 11, 12, 29, 30, 4096};
    for (size_t n = 0; n < 4; n++) {
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            seen self;
            make(&self, networks[n], units[k]);
            assert_int_equal(self.features.count, units[k] < counts[n] ? units[k] : counts[n]);
            random_stream draw = random_named(n, "inputs");
            for (size_t t = 0; t < 4; t++) check_block(&self, units[k], t % self.f1.networks[0].heads, &draw);
            release(&self);
        }
    }
}

/* The same context in another block looks the same: which block it is only the heads know. */
TEST(blocks_look_alike)
{
    seen self;
    make(&self, "layers=2 width=9 heads=4", 7);
    float values[3] = {1.5f, -2, 0.25f}, first[7];
    for (uint32_t head = 0; head < 4; head++) {
        uint32_t indices[3] = {6 * head, 6 * head + 2, 6 * head + 5};
        initial_features_compute(&self.features, (vector){values, indices, 3}, self.activations, self.phi);
        if (!head) memcpy(first, self.phi, sizeof first);
        assert_memory_equal(first, self.phi, sizeof first);
        ee_arms arms = {.count = 1, .dim = INPUTS, .values = values, .indices = indices, .starts = (size_t[]){0, 3}};
        memset(self.phi, 0, sizeof first);
        initial_features_compute_arm(&self.features, &arms, 0, self.activations, self.phi);
        assert_memory_equal(first, self.phi, sizeof first);
    }
    release(&self);
}

TEST(many_arms_look_as_each_alone)
{
    enum { MANY = 5 };
    const char *networks[] = {"layers=2 width=40", "layers=1 front=conv1d:3:5:2+relu"};
    const size_t units[] = {30, 7};
    for (size_t n = 0; n < 2; n++) {
        seen self;
        make(&self, networks[n], units[n]);
        float x[MANY * INPUTS], activations[MANY * 64], phi[MANY * 30];
        for (int i = 0; i < MANY * INPUTS; i++) x[i] = (float)(i * i % 11) - 5;
        assert_true(self.features.network.activation_count <= 64);
        initial_features_compute_many(&self.features, x, MANY, activations, phi);
        for (size_t i = 0; i < MANY; i++) {
            initial_features_compute(&self.features, vector_dense(x + i * INPUTS, INPUTS), self.activations, self.phi);
            assert_floats_close(phi + i * units[n], self.phi, units[n], 1e-6);
        }
        release(&self);
    }
}

/* f1's training does not reach them. */
TEST(theta_0_is_copied)
{
    seen self;
    make(&self, "layers=2 width=9", 5);
    float x[INPUTS], before[5];
    for (int i = 0; i < INPUTS; i++) x[i] = (float)(i % 5) - 2;
    initial_features_compute(&self.features, vector_dense(x, INPUTS), self.activations, self.phi);
    memcpy(before, self.phi, sizeof before);
    memset(self.theta0, 0, self.f1.networks[0].parameter_count * sizeof(float));
    memset(self.f1.initial, 0, self.f1.networks[0].parameter_count * sizeof(float));
    initial_features_compute(&self.features, vector_dense(x, INPUTS), self.activations, self.phi);
    assert_memory_equal(before, self.phi, sizeof before);
    release(&self);
}

TEST(nothing_that_is_on_gives_zeros)
{
    seen self;
    make(&self, "layers=2 width=9 bias=off", 5);
    float zeros[INPUTS] = {0};
    const double expected[5] = {0};
    assert_phi(&self, vector_dense(zeros, INPUTS), expected);
    static const uint32_t none[1];
    assert_phi(&self, (vector){NULL, none, 0}, expected);
    release(&self);
}

TEST(a_network_without_hidden_layer_is_refused)
{
    learner_options options = options_from("layers=1");
    network f1;
    memory owner = {0};
    initial_features features;
    ee_error error = {0};
    ok(network_create(&f1, "f1", &options.network, INPUTS, &error));
    assert_int_equal(initial_features_create(&features, &owner, &f1, 5, &error), EE_BAD_OPTION);
    assert_string_equal(
        error.message,
        "options: f1.layers must be at least 2 with eenet.exploration=ridge, got 1; or use exploration=network");
    memory_release(&owner);
}
