/* Networks against PyTorch's stored values and gradients, and every layer against finite differences. */

#include "plain_network.h"

TEST(matches_stored_networks_and_convolutions)
{
    json_auto_t *file = golden_load("mlp_forward_gradient.json");
    json_t *cases = golden_member(file, "cases");
    assert_int_equal(json_array_size(cases), 4);
    for (size_t c = 0; c < json_array_size(cases); c++) {
        json_t *stored = json_array_get(cases, c);
        RELEASED_BY(memory_release) memory owner = {0};
        learner l;
        make_learner(&l, &owner, golden_member(stored, "dims"), json_is_true(golden_member(stored, "bias")), "");
        network *net = &l.networks[0];
        size_t count = net->parameter_count, inputs, gradients;
        auto_free float *theta = calloc(count, sizeof *theta), *gradient = calloc(count, sizeof *gradient);
        auto_free float *ordered = calloc(count, sizeof *ordered);
        theta_from_golden(net, golden_member(stored, "layers"), 0, theta);
        auto_free float *x = golden_floats(golden_member(stored, "inputs"), &inputs);
        auto_free float *outputs = golden_floats(golden_member(stored, "outputs"), NULL);
        auto_free float *expected = golden_floats(golden_member(stored, "gradients"), &gradients);
        assert_int_equal(gradients, inputs / net->input * count);
        for (size_t i = 0; i < inputs / net->input; i++) {
            vector input = vector_dense(x + i * net->input, net->input);
            float f = network_forward(net, theta, input, l.activations);
            assert_close(f, outputs[i], 1e-5);
            network_backward(net, theta, input, l.activations, 1, l.deltas);
            memset(gradient, 0, count * sizeof *gradient);
            network_add_gradient(net, input, l.activations, l.deltas, gradient);
            theta_to_golden(net, gradient, ordered);
            assert_floats_close(ordered, expected + i * count, count, 1e-5);
        }
    }
    json_auto_t *convolution = golden_load("conv_forward_gradient.json");
    RELEASED_BY(learner_release) made_learner m;
    learner_make(&m, "layers=1 image=1x12x12 front=conv2d:4:3+relu+pool:2", 144, 1);
    network *net = m.net;
    size_t count = 0;
    float ordered[141];
    const char *parts[] = {"conv_weight", "conv_bias", "fc_weight", "fc_bias"};
    for (int i = 0; i < 4; i++) { /* one output: its weights read the same in both orders */
        size_t size;
        auto_free float *values = golden_floats(golden_member(convolution, parts[i]), &size);
        const layer *l0 = &net->layers[0], *part = i < 2 ? l0 : &net->layers[net->layer_count - 1];
        memcpy(m.theta + part->parameters + (i % 2 ? part->weight_count : 0), values, size * sizeof *values);
        count += size;
    }
    assert_int_equal(count, net->parameter_count);
    auto_free float *images = golden_floats(golden_member(convolution, "images"), NULL);
    auto_free float *outputs = golden_floats(golden_member(convolution, "outputs"), NULL);
    auto_free float *expected = golden_floats(golden_member(convolution, "gradients"), NULL);
    for (size_t i = 0; i < 3; i++) {
        vector input = vector_dense(images + i * 144, 144);
        assert_close(learner_pass(&m, input), outputs[i], 1e-5);
        theta_to_golden(net, m.gradient, ordered);
        assert_floats_close(ordered, expected + i * count, count, 1e-5);
    }
}

enum { INPUT = 48 };

/* Of the output by every parameter and every entry. x lies in the block of a head: every entry of it, or every second
 * and then one of the next block, which has no part. A step this small in double meets no kink. */
static void check_differences(const char *text, size_t heads, size_t head, bool sparse)
{
    const double step = 1e-6;
    RELEASED_BY(learner_release) made_learner m;
    float values[INPUT], dense[4 * INPUT] = {0}, gradient[4 * INPUT], room[INPUT];
    uint32_t indices[INPUT];
    double block[INPUT] = {0}, out[PLAIN_MOST];
    size_t entries = 0, input = heads * INPUT;
    random_stream draw = random_named(3 + head, "inputs");
    learner_make(&m, text, input, 7);
    auto_free double *theta = plain_theta(m.theta, m.count);
    for (size_t i = 0; i < INPUT; i += 1 + sparse) {
        indices[entries] = (uint32_t)(head * INPUT + i);
        block[i] = (double)(dense[indices[entries]] = values[entries] = (float)random_normal(&draw));
        entries++;
    }
    if (sparse && head + 1 < heads) indices[entries] = (uint32_t)((head + 1) * INPUT), values[entries++] = 9;
    vector x = sparse ? (vector){values, indices, entries} : vector_dense(dense, input);
    learner_pass(&m, x);
    network_input_gradient(m.net, m.theta, x, m.l.activations, m.l.deltas, room, gradient);
    for (size_t i = 0; i < m.count + x.count; i++) {
        size_t at = i < m.count ? 0 : sparse ? indices[i - m.count] : i - m.count;
        bool seen = i < m.count || at / INPUT == head;
        double *place = i < m.count ? &theta[i] : &block[at % INPUT], kept = *place, difference = 0;
        for (int side = -1; seen && side <= 1; side += 2) {
            *place = kept + side * step;
            plain_pass(m.net, theta, block, m.net->layer_count, out);
            difference += side * out[head] / (2 * step);
        }
        *place = kept;
        double got = (double)(i < m.count ? m.gradient[i] : gradient[i - m.count]);
        if (!close_enough(got, difference, 1e-4))
            fail_msg("%s, head %zu, %zu of %zu: gradient %g, difference %g", text, head, i, m.count, got, difference);
    }
}

TEST(every_layer_matches_differences)
{
    const char *networks[] = {
        "layers=1",
        "layers=2 width=9",
        "layers=2 width=9 bias=off init=paper",
        "layers=4 width=7",
        "layers=2 width=6 front=conv1d:3:5:2+relu",
        "layers=1 front=conv1d:2:4+relu+pool:3",
        "layers=2 width=5 image=2x6x4 front=conv2d:3:2+relu+pool:2",
        "layers=2 width=5 image=2x6x4 front=conv2d:3:3:1+relu+conv2d:2:2+relu bias=off",
        "layers=1 image=3x4x4 front=conv2d:2:2:2",
        "layers=1 image=1x6x8 front=pool:2+conv2d:2:2",
        /* with heads */
        "layers=1 heads=4",
        "layers=2 width=9 heads=4",
        "layers=3 width=7 heads=4 bias=off init=paper",
        "layers=2 width=5 heads=4 image=2x6x4 front=conv2d:3:2+relu+pool:2",
        "layers=1 heads=4 image=1x8x6 front=conv2d:2:3+relu",
        "layers=2 width=5 heads=4 front=conv1d:3:5:2+relu",
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        size_t heads = strstr(networks[i], "heads") ? 4 : 1;
        for (size_t head = 0; head < heads; head += 3)
            for (int sparse = 0; sparse < 2; sparse++) check_differences(networks[i], heads, head, sparse);
    }
}

/* What one pass over a convolution must give, weight by weight: outputs, the delta of its input, the gradient. */
typedef struct plain_passes {
    double *output, *input_delta, *gradient;
} plain_passes;

static plain_passes convolve_plainly(const layer *l, const float *theta, const float *input, const float *delta)
{
    size_t area = l->out.height * l->out.width;
    plain_passes p = {calloc(shape_size(l->out), sizeof(double)), calloc(shape_size(l->in), sizeof(double)),
                      calloc(l->parameter_count, sizeof(double))};
    for (size_t at = 0; at < shape_size(l->out); at++) {
        size_t o = at / area, y = at % area / l->out.width, x = at % l->out.width;
        p.output[at] = theta[l->parameters + l->weight_count + o];
        p.gradient[l->weight_count + o] += delta[at];
        for (size_t i = 0; i < l->in.channels; i++) {
            for (size_t k = 0; k < l->kernel_height * l->kernel_width; k++) {
                size_t row = y * l->stride + k / l->kernel_width, column = x * l->stride + k % l->kernel_width;
                size_t in = (i * l->in.height + row) * l->in.width + column;
                size_t weight = (o * l->in.channels + i) * l->kernel_height * l->kernel_width + k;
                p.output[at] += (double)theta[l->parameters + weight] * input[in];
                p.input_delta[in] += (double)theta[l->parameters + weight] * delta[at];
                p.gradient[weight] += (double)input[in] * delta[at];
            }
        }
    }
    return p;
}

static void assert_sums_close(const float *got, const double *expected, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (!close_enough(got[i], expected[i], 2e-4)) fail_msg("%s: %zu: %g, not %g", text, i, got[i], expected[i]);
}

/* The last two layers before the fully connected one are convolutions. */
static void check_convolutions(const char *text, size_t input)
{
    RELEASED_BY(learner_release) made_learner m;
    learner_make(&m, text, input, 3);
    auto_free float *x = calloc(input, sizeof *x);
    random_stream draw = random_named(4, "inputs");
    for (size_t i = 0; i < input; i++) x[i] = (float)random_normal(&draw);
    learner_pass(&m, vector_dense(x, input));
    for (size_t i = 0; i < 2; i++) {
        const layer *c = &m.net->layers[i], *below = i ? c - 1 : NULL;
        assert_int_equal(c->kind, LAYER_CONVOLUTION);
        const float *seen = below ? m.l.activations + below->output : x;
        plain_passes p = convolve_plainly(c, m.theta, seen, m.l.deltas + c->output);
        assert_sums_close(m.l.activations + c->output, p.output, shape_size(c->out), text);
        assert_sums_close(m.gradient + c->parameters, p.gradient, c->parameter_count, text);
        if (below) assert_sums_close(m.l.deltas + below->output, p.input_delta, shape_size(c->in), text);
        free(p.output);
        free(p.input_delta);
        free(p.gradient);
    }
}

TEST(convolutions_of_all_sizes_are_sums)
{
    check_convolutions("layers=1 image=1x28x28 front=conv2d:3:5+conv2d:4:3", 784);
    check_convolutions("layers=1 image=2x7x9 front=conv2d:3:7+conv2d:2:1", 126);     /* one row is left */
    check_convolutions("layers=1 image=1x50x100 front=conv2d:2:3+conv2d:3:4", 5000); /* rows in several parts */
    check_convolutions("layers=1 image=1x3x2048 front=conv2d:2:2+conv2d:2:2", 6144); /* rows too long to be laid out */
    check_convolutions("layers=1 image=1x70x80 front=conv2d:1:65+conv2d:2:2", 5600); /* a kernel too long for it */
    check_convolutions("layers=1 image=1x66x68 front=conv2d:2:64+conv2d:2:3", 66 * 68); /* one just not */
    check_convolutions("layers=1 image=1x20x23 front=conv2d:3:3:2+conv2d:2:2:3", 460);
    check_convolutions("layers=1 front=conv1d:3:5+conv1d:2:9", 300);
    check_convolutions("layers=1 front=conv1d:3:5+conv1d:2:9", 3000);
}

/* ---- heads ---- */

enum { HEADS = 4, BLOCK = 30, HIDDEN = 7 };

/* The first layer's gradient from its factor, (in, out): what the optimizer makes of it. */
static void assert_first_factor(made_learner *m, vector x, const float *gradient)
{
    gradient_factor factors[NETWORK_LAYERS], *f = &factors[0];
    network_factors(m->net, x, m->l.activations, m->l.deltas, m->l.gradient, factors);
    float input[HEADS * BLOCK] = {0};
    assert_int_equal(f->in, BLOCK);
    vector_expand(f->input, input, BLOCK);
    for (size_t i = 0; i < f->in * f->out; i++)
        assert_close(gradient[i], (double)input[i / f->out] * f->delta[i % f->out], 1e-6);
}

/* Some entries of a block: every second, all, or one. Returns how many. */
static uint32_t draw_entries(random_stream *draw, uint32_t first, uint32_t step, float *values, uint32_t *indices)
{
    uint32_t count = 0;
    for (uint32_t i = step / 2; i < BLOCK; i += step) {
        indices[count] = first + i;
        values[count++] = (float)random_normal(draw);
    }
    return count;
}

/* Indices count from the block's beginning on the way in: outputs and gradients are those of the dense block, to the
 * last bit those of the entries in the first block but for the head, and what other blocks have changes nothing. */
TEST(sparse_blocks_are_the_dense_ones)
{
    const char *networks[] = {"layers=1 heads=4", "layers=2 width=7 heads=4", "layers=3 width=7 heads=4 bias=off",
                              "layers=2 width=7 heads=4 image=1x5x6 front=conv2d:2:3+relu"};
    const uint32_t steps[] = {1, 2, 2 * BLOCK - 1};
    for (size_t k = 0; k < 3 * sizeof networks / sizeof *networks; k++) {
        RELEASED_BY(learner_release) made_learner sparse, dense;
        learner_make(&sparse, networks[k / 3], HEADS * BLOCK, 5);
        learner_make(&dense, networks[k / 3], HEADS * BLOCK, 5);
        size_t count = sparse.count;
        auto_free float *alone = calloc(count, sizeof *alone);
        random_stream draw = random_named(k, "inputs");
        for (uint32_t head = 0; head < HEADS; head++) {
            float values[BLOCK + 2], row[HEADS * BLOCK] = {0};
            uint32_t indices[BLOCK + 2], first = head * BLOCK;
            values[0] = 0; /* named before the block */
            indices[0] = 0;
            uint32_t entries = draw_entries(&draw, first, steps[k % 3], values + 1, indices + 1);
            vector own = {values + 1, indices + 1, entries};
            float output = learner_pass(&sparse, own);
            memcpy(alone, sparse.gradient, count * sizeof *alone);
            vector_expand(own, row, HEADS * BLOCK);
            assert_close(output, learner_pass(&dense, vector_dense(row, HEADS * BLOCK)), 1e-6);
            assert_floats_close(alone, dense.gradient, count, 1e-6);
            if (sparse.net->layers[0].kind == LAYER_DENSE) assert_first_factor(&sparse, own, dense.gradient);
            values[entries + 1] = 9; /* behind the block, where there is such a place */
            indices[entries + 1] = HEADS * BLOCK - 1;
            vector more = {values + !head, indices + !head, entries + (head > 0) + (head + 1 < HEADS)};
            assert_true(learner_pass(&sparse, more) == output);
            assert_memory_equal(sparse.gradient, alone, count * sizeof *alone);
        }
    }
}

TEST(inputs_that_are_the_same_in_their_blocks)
{
    learner_options options = options_from("layers=2 width=3 heads=3"), one = options_from("layers=2 width=3");
    network net, alone;
    ok(network_create(&net, "f1", &options.network, 12, &last_error));
    ok(network_create(&alone, "f1", &one.network, 12, &last_error));
    float values[] = {1, 2}, other[] = {1, 3}, longer[] = {1, 2, 5}, before[] = {0, 1, 2};
    uint32_t first[] = {0, 2}, second[] = {4, 6}, moved[] = {4, 7}, more[] = {4, 6, 7};
    uint32_t outside[] = {4, 6, 8}, after[] = {1, 4, 6};
    vector base = {values, first, 2};
    const struct {
        vector x;
        bool same;
    } cases[] = {{{values, first, 2}, true},   {{values, second, 2}, true}, {{other, second, 2}, false},
                 {{values, moved, 2}, false},  {{longer, more, 3}, false},  {{values, second, 1}, false},
                 {{longer, outside, 3}, true}, {{before, after, 3}, true}};
    float dense_base[12], dense[12];
    vector_expand(base, dense_base, 12);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vector x = cases[i].x;
        vector_expand(x, dense, 12);
        vector d = vector_dense(dense, 12), d_base = vector_dense(dense_base, 12);
        assert_int_equal(network_sees_same(&net, base, x), cases[i].same);
        assert_int_equal(network_sees_same(&net, x, base), cases[i].same);
        assert_int_equal(network_sees_same(&net, d_base, d), cases[i].same);
        assert_false(network_sees_same(&net, base, d)); /* forms are not compared */
        assert_false(network_sees_same(&alone, base, x));
        assert_false(network_sees_same(&alone, d_base, d));
    }
    vector none = {NULL, first, 0};
    assert_true(network_sees_same(&net, none, none)); /* of zeros the first block is seen */
    assert_false(network_sees_same(&net, none, base));
}

/* Layers of many outputs and of few, with and without biases, behind an image too. */
TEST(many_inputs_are_each_alone)
{
    enum { MANY = 11, WIDE = 20 };
    const char *networks[] = {"layers=1",
                              "layers=2 width=100",
                              "layers=3 width=17 bias=off",
                              "layers=2 width=5",
                              "layers=3 width=33 front=conv1d:2:5+relu",
                              "layers=2 width=17 heads=4"};
    float x[MANY * WIDE];
    random_stream draw = random_named(5, "inputs");
    for (size_t i = 0; i < MANY * WIDE; i++) x[i] = (float)random_normal(&draw);
    for (size_t s = 0; s < MANY; s += 2) memset(x + s * WIDE, 0, 7 * sizeof *x); /* these lie in the second block */
    for (size_t k = 0; k < sizeof networks / sizeof *networks; k++) {
        RELEASED_BY(learner_release) made_learner m;
        learner_make(&m, networks[k], WIDE, 7);
        const network *net = m.net;
        auto_free float *together = calloc(MANY * net->activation_count, sizeof *together);
        network_outputs_of_many(net, m.theta, x, MANY, together);
        for (size_t s = 0; s < MANY; s++) {
            size_t first = net->layers[0].output; /* in front of it is room that dense inputs do not need */
            network_outputs(net, m.theta, vector_dense(x + s * WIDE, WIDE), m.l.activations);
            assert_floats_close(together + s * net->activation_count + first, m.l.activations + first,
                                net->activation_count - first, 1e-6);
        }
    }
}

/* Arms of 0 to 90 entries, in arrays that end where the last one does. */
static ee_arms draw_arms(size_t count, size_t dim, random_stream *draw)
{
    size_t *starts = calloc(count + 1, sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[i + 1] = starts[i] + (i % 4 ? random_below(draw, 91) : 0);
    uint32_t *indices = calloc(starts[count], sizeof *indices);
    float *values = calloc(starts[count], sizeof *values);
    for (size_t i = 0; i < count; i++) {
        size_t entries = starts[i + 1] - starts[i];
        for (size_t e = 0; e < entries; e++) {
            indices[starts[i] + e] = (uint32_t)(e * (dim / 91) + random_below(draw, dim / 91));
            values[starts[i] + e] = (float)random_normal(draw);
        }
    }
    return (ee_arms){.count = count, .dim = dim, .values = values, .indices = indices, .starts = starts};
}

/* To the byte: what is fetched for the next arms changes nothing. */
TEST(arms_of_a_round_are_each_alone)
{
    enum { ARMS = 24, DIM = 8192 };
    static const struct {
        const char *text;
        bool fetches;
    } networks[] = {{"layers=2 width=40", true},          {"layers=2 width=40 heads=2", false},
                    {"layers=2 width=32", false},         {"layers=2 width=1030", false},
                    {"layers=3 width=37 bias=off", true}, {"layers=2 width=33 front=conv1d:2:5+relu", false}};
    random_stream draw = random_named(6, "arms");
    ee_arms arms = draw_arms(ARMS, DIM, &draw), dense = {.count = ARMS, .dim = DIM, .values = arms.values};
    for (size_t k = 0; k < sizeof networks / sizeof *networks; k++) {
        RELEASED_BY(learner_release) made_learner m;
        learner_make(&m, networks[k].text, DIM, 7);
        const network *net = m.net;
        size_t count = shape_size(net->layers[net->layer_count - 1].out);
        auto_free float *activations = calloc(net->activation_count, sizeof *activations);
        for (size_t i = 0; i < ARMS; i++) {
            size_t behind = networks[k].fetches ? arms.starts[ARMS] - arms.starts[i + 1] : 0;
            assert_int_equal(network_indices_behind(net, &arms, i), behind);
            assert_int_equal(network_indices_behind(net, &dense, i), 0);
            const float *expected = network_outputs(net, m.theta, vector_of_arm(&arms, i), m.l.activations);
            const float *outputs = network_outputs_of_arm(net, m.theta, &arms, i, activations);
            assert_memory_equal(outputs, expected, count * sizeof *outputs);
        }
    }
    free((void *)(uintptr_t)arms.starts);
    free((void *)(uintptr_t)arms.indices);
    free((void *)(uintptr_t)arms.values);
}

/* ---- products ---- */

enum { NONE = -1 };

typedef struct product_case {
    size_t rows, columns, others;
    const char *text;
    int within; /* outputs that see the product alone; NONE where it is formed */
} product_case;

/* A pass over the factors of an input, or over its entries: both outputs, and the gradients of both. */
static void check_product(const product_case *c)
{
    size_t product = c->rows * c->columns, inputs[2] = {c->rows + c->columns + c->others, product + c->others};
    float *x[2], *gradient[3], output[3];
    auto_free uint32_t *indices = calloc(inputs[0], sizeof *indices);
    for (size_t i = 0; i < 2; i++) x[i] = calloc(inputs[i], sizeof *x[i]);
    random_stream draw = random_named(product, "inputs");
    for (size_t i = 0; i < inputs[0]; i++) {
        x[0][i] = (float)random_normal(&draw);
        indices[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < product; i++) x[1][i] = x[0][i / c->columns] * x[0][c->rows + i % c->columns];
    memcpy(x[1] + product, x[0] + c->rows + c->columns, c->others * sizeof *x[0]);
    for (size_t i = 0; i < 3; i++) { /* the last as a model file may hold it */
        size_t form = i == 1;
        learner_options options = options_from(c->text);
        options.network.rows = form ? 0 : c->rows;
        options.network.columns = form ? 0 : c->columns;
        RELEASED_BY(memory_release) memory owner = {0};
        learner l;
        ok(learner_create(&l, &owner, "test", &options, inputs[form], inputs[form], 7, SIZE_MAX, &last_error));
        const network *net = &l.networks[0];
        vector input = {x[form], i == 2 ? indices : NULL, inputs[form]};
        auto_free float *theta = calloc(net->parameter_count, sizeof *theta);
        gradient[i] = calloc(net->parameter_count, sizeof(float));
        learner_start(&l, theta);
        assert_int_equal(net->layers[0].rows, form || c->within == NONE ? 0 : c->rows);
        if (net->layers[0].rows) assert_int_equal(net->layers[0].within, c->within);
        output[i] = network_forward(net, theta, input, l.activations);
        network_backward(net, theta, input, l.activations, 1, l.deltas);
        network_add_gradient(net, input, l.activations, l.deltas, gradient[i]);
        assert_close(output[i], output[0], 1e-5);
        assert_floats_close(gradient[i], gradient[0], net->parameter_count, 1e-5);
    }
    for (size_t i = 0; i < 3; i++) free(gradient[i]);
    free(x[0]);
    free(x[1]);
}

TEST(products_are_their_entries)
{
    const product_case cases[] = {
        {100, 10, 101, "layers=2 width=9 front=conv1d:1:100:50", 19}, /* as eenet:authors has it on Yelp */
        {12, 5, 0, "layers=2 width=3 front=conv1d:3:10:5+relu", 11},  /* nothing else */
        {12, 5, 8, "layers=2 width=3 front=conv1d:2:10:15+relu", 4},  /* kernels with gaps between them */
        {11, 5, 0, "layers=2 width=3 front=conv1d:2:10:15+relu", 4},  /* the last gap goes past the end */
        {11, 5, 29, "layers=2 width=3 front=conv1d:2:10:15+relu", 4},
        {7, 1, 9, "layers=2 width=3 front=conv1d:2:3+relu+pool:2", 5},
        {1, 6, 4, "layers=2 width=3 front=conv1d:1:6:6", 1},
        {3, 5, 30, "layers=2 width=3 front=conv1d:2:20:5", 0},      /* none lies within the product */
        {12, 5, 8, "layers=2 width=3 front=conv1d:2:9:5", NONE},    /* no kernel covers whole rows */
        {12, 5, 8, "layers=2 width=3 front=conv1d:2:10:4", NONE},   /* few begin with one */
        {80, 2, 30, "layers=2 width=3 front=conv1d:1:130:2", NONE}, /* one covers too many */
        {4, 5, 4, "layers=2 width=3 image=2x3x4 front=conv2d:2:2", NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_product(&cases[i]);
}

/* ---- a network without its last layer ---- */

static void check_cut(const char *text, size_t units)
{
    RELEASED_BY(learner_release) made_learner p;
    learner_make(&p, text, HEADS * BLOCK, 5);
    const network *whole = p.net;
    network cut;
    network_cut(whole, units, &cut);
    const layer *last = &whole->layers[whole->layer_count - 2];
    size_t all = shape_size(last->out), seen = last->kind == LAYER_DENSE && units < all ? units : all;
    assert_int_equal(cut.layer_count, whole->layer_count - 1);
    assert_int_equal(shape_size(cut.layers[cut.layer_count - 1].out), seen);
    size_t without = shape_size(last->in) + (last->bias ? 1 : 0); /* parameters of a unit that is left out */
    size_t output = whole->layers[whole->layer_count - 1].parameter_count;
    assert_int_equal(cut.parameter_count, whole->parameter_count - output - without * (all - seen));
    guard walls[2];
    float *theta = guard_end(&walls[0], cut.parameter_count);
    float *activations = guard_end(&walls[1], cut.activation_count), row[HEADS * BLOCK];
    network_cut_parameters(whole, &cut, p.theta, theta);
    random_stream draw = random_named(units, "inputs");
    for (uint32_t head = 0; head < HEADS; head++) {
        float values[BLOCK];
        uint32_t indices[BLOCK];
        vector x = {values, indices, draw_entries(&draw, head * BLOCK, 2, values, indices)};
        network_forward(whole, p.theta, x, p.l.activations);
        assert_floats_close(network_outputs(&cut, theta, x, activations), p.l.activations + last->output, seen, 1e-6);
        vector_expand(x, row, HEADS * BLOCK);
        x = vector_dense(row, HEADS * BLOCK);
        assert_floats_close(network_outputs(&cut, theta, x, activations), p.l.activations + last->output, seen, 1e-6);
    }
    for (size_t i = 0; i < 2; i++) guard_free(&walls[i]);
}

TEST(a_cut_network_gives_the_last_hidden_layer)
{
    const char *networks[] = {"layers=2 width=19",
                              "layers=2 width=19 bias=off",
                              "layers=3 width=19",
                              "layers=2 width=19 heads=4",
                              "layers=3 width=19 heads=4 bias=off",
                              "layers=2 width=19 heads=4 image=1x5x6 front=conv2d:2:3+relu+pool:2",
                              "layers=1 image=4x5x6 front=conv2d:3:2+relu",
                              "layers=1 heads=4 image=1x5x6 front=conv2d:3:2+pool:2"};
    const size_t units[] = {1, 7, 16, 18, 19, 20, 4096};
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++)
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) check_cut(networks[n], units[k]);
}

/* ---- initialisation ---- */

static void moments(const float *values, size_t count, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (size_t i = 0; i < count; i++) *mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) *variance += (values[i] - *mean) * (values[i] - *mean) / (double)count;
}

TEST(first_weights_have_their_variance)
{
    /* m = 200: N(0, 2/m), last layer N(0, 1/m); U(+-1/sqrt(fan in)) has variance 1/(3 fan in);
     * N(0, 2/(fan in + fan out)) */
    struct {
        const char *text;
        double hidden, last;
    } cases[] = {{"init=paper bias=off layers=2 width=200", 2.0 / 200, 1.0 / 200},
                 {"init=uniform layers=2 width=200", 1.0 / (3 * 50), 1.0 / (3 * 200)},
                 {"init=glorot layers=2 width=200", 2.0 / (50 + 200), 2.0 / (200 + 1)}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        RELEASED_BY(learner_release) made_learner m;
        learner_make(&m, cases[k].text, 50, 5);
        double mean, variance;
        moments(m.theta, 10000, &mean, &variance);
        assert_true(fabs(mean) < 5 * sqrt(cases[k].hidden / 10000));
        assert_true(fabs(variance / cases[k].hidden - 1) < 0.06);
        moments(m.theta + m.net->layers[1].parameters, 200, &mean, &variance);
        assert_true(fabs(mean) < 5 * sqrt(cases[k].last / 200));
        assert_true(fabs(variance / cases[k].last - 1) < 0.4);
    }
    /* And convolutions: fan in and fan out are of all places that the kernel has. */
    RELEASED_BY(learner_release) made_learner m;
    learner_make(&m, "init=glorot layers=3 width=60 image=2x12x12 front=conv2d:40:5+relu+pool:2", 288, 5);
    for (size_t i = 0; i < m.count; i++) m.theta[i] = NAN;
    learner_start(&m.l, m.theta);
    const double fans[] = {2 * 25 + 40 * 25, 40 * 4 * 4 + 60, 60 + 60, 60 + 1}; /* of layers with parameters */
    size_t with_parameters = 0;
    for (size_t i = 0; i < m.net->layer_count; i++) {
        const layer *own = &m.net->layers[i];
        if (!own->parameter_count) continue;
        double mean, variance, expected = 2 / fans[with_parameters++];
        moments(m.theta + own->parameters, own->weight_count, &mean, &variance);
        double wide = sqrt(1.0 / (double)own->weight_count); /* the deviation of a mean and, by sqrt 2, of a variance */
        assert_true(fabs(mean) < 4 * wide * sqrt(expected));
        assert_true(fabs(variance / expected - 1) < 4 * sqrt(2) * wide);
        assert_true(own->parameter_count > own->weight_count);
        for (size_t b = own->weight_count; b < own->parameter_count; b++)
            assert_true(m.theta[own->parameters + b] == 0);
    }
    assert_int_equal(with_parameters, 4);
}

TEST(wrong_shapes_are_named)
{
    struct {
        const char *text, *message;
    } cases[] = {
        {"image=2x3x4", "options: f1.image must be CHANNELSxHEIGHTxWIDTH with product 20, got 2x3x4"},
        {"image=4x5", "options: f1.image must be CHANNELSxHEIGHTxWIDTH with product 20, got 4x5"},
        {"heads=3", "options: f1.heads must divide the 20 features of an arm, got 3"},
        {"heads=40", "options: f1.heads must divide the 20 features of an arm, got 40"},
        {"heads=2 image=1x4x5", "options: f1.image must be CHANNELSxHEIGHTxWIDTH with product 10, got 1x4x5"},
        {"heads=2 front=conv1d:1:11",
         "options: f1.front: conv1d:1:11 does not fit its input of 1x10; use a smaller one, or f1.front=none"},
        {"front=conv1d:1:21",
         "options: f1.front: conv1d:1:21 does not fit its input of 1x20; use a smaller one, or f1.front=none"},
        {"front=conv2d:1:3",
         "options: f1.front: conv2d:1:3 does not fit its input of 1x20; use a smaller one, or f1.front=none"},
        {"front=conv1d:1:5+pool:17",
         "options: f1.front: pool:17 does not fit its input of 1x16; use a smaller one, or f1.front=none"},
        {"front=relu",
         "options: f1.front: expected conv1d:CHANNELS:KERNEL[:STRIDE], conv2d:CHANNELS:KERNEL[:STRIDE], pool:SIZE or "
         "relu (after another), joined by +, got 'relu'"},
        {"front=conv1d:0:3",
         "options: f1.front: expected conv1d:CHANNELS:KERNEL[:STRIDE], conv2d:CHANNELS:KERNEL[:STRIDE], pool:SIZE or "
         "relu (after another), joined by +, got 'conv1d:0:3'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        learner_options options = options_from(cases[i].text);
        network net;
        fails_with(network_create(&net, "f1", &options.network, 20, &last_error), EE_BAD_OPTION, cases[i].message);
    }
}
