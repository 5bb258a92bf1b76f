/* What f2 sees: against stored numbers, and from factors against the formed gradient. */

#include "policy/parts/gradient_features.h"
#include "support_network.h"

/* A network with its passes done for one input. */
typedef struct passed {
    made_learner m;
    float *formed;
    gradient_factor factors[NETWORK_LAYERS];
    size_t count;
} passed;

static void pass(passed *p, vector x)
{
    learner_pass(&p->m, x);
    p->count = network_factors(p->m.net, x, p->m.l.activations, p->m.l.deltas, p->formed, p->factors);
}

static void make(passed *p, const char *text, size_t input)
{
    learner_make(&p->m, text, input, 11);
    p->formed = calloc(network_formed_count(p->m.net) + 1, sizeof(float));
}

static void release(passed *p)
{
    free(p->formed);
    learner_release(&p->m);
}

static void make_features(gradient_features *f, const char *text, const passed *p)
{
    static const option_group groups[] = {OPTION_GROUP_OWN(feature_option_table, NULL)};
    static const option_schema schema = OPTION_SCHEMA("test", groups, feature_options, NULL);
    feature_options options;
    options_set_defaults(&schema, &options);
    ok(options_parse(&schema, text, &options, &last_error));
    ok(gradient_features_create(f, p->m.l.memory, &options, p->m.net, &last_error));
    gradient_features_start(f, 5);
}

static float *compute(const gradient_features *f, const float *fitted, const passed *p, vector x)
{
    float *phi = calloc(f->count, sizeof *phi), *workspace = calloc(f->workspace_count + 1, sizeof *workspace);
    gradient_features_compute(f, fitted, p->factors, x, workspace, phi);
    free(workspace);
    return phi;
}

/* The gradient as network_add_gradient forms it, in the stored order: it knows nothing of factors. */
static float *form(const passed *p)
{
    float *ordered = calloc(p->m.count, sizeof *ordered);
    theta_to_golden(p->m.net, p->m.gradient, ordered);
    return ordered;
}

TEST(matches_stored_inputs)
{
    json_auto_t *file = golden_load("exploration_inputs.json");
    json_t *rows = golden_member(file, "rows");
    RELEASED_BY(release) passed p;
    make(&p, "layers=2 width=100", 20);
    theta_from_golden(p.m.net, golden_member(file, "exploitation_layers"), 0, p.m.theta);
    RELEASED_BY(release) passed f2;
    make(&f2, "layers=2 width=100 front=conv1d:1:100:50", 1101);
    const char *conv[] = {"conv_weight", "conv_bias"};
    for (size_t i = 0, at = 0; i < 2; i++) {
        size_t size;
        auto_free float *values = golden_floats(golden_member(file, conv[i]), &size);
        memcpy(f2.m.theta + f2.m.net->layers[0].parameters + at, values, size * sizeof *values);
        at += size;
    }
    theta_from_golden(f2.m.net, golden_member(file, "head_layers"), 1, f2.m.theta);
    gradient_features normalized, pooled;
    make_features(&normalized, "features=normalized", &p);
    make_features(&pooled, "features=pooled:2", &p);
    assert_int_equal(normalized.count, 2221);
    assert_int_equal(pooled.count, 1101);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        auto_free float *x = golden_floats(golden_member(row, "x"), NULL);
        auto_free float *gradient = golden_floats(golden_member(row, "gradient"), NULL);
        auto_free float *phi = golden_floats(golden_member(row, "phi"), NULL);
        auto_free float *means = golden_floats(golden_member(row, "pooled_by_2"), NULL);
        auto_free float *convolved = golden_floats(golden_member(row, "conv"), NULL);
        vector input = vector_dense(x, 20);
        pass(&p, input);
        auto_free float *formed = form(&p);
        assert_floats_close(formed, gradient, 2201, 1e-5);
        auto_free float *got = compute(&normalized, NULL, &p, input);
        assert_floats_close(got, phi, 2221, 1e-5);
        free(got);
        got = compute(&pooled, NULL, &p, input);
        assert_floats_close(got, means, 1101, 1e-5);
        float value = network_forward(f2.m.net, f2.m.theta, vector_dense(got, 1101), f2.m.l.activations);
        assert_floats_close(f2.m.l.activations + f2.m.net->layers[0].output, convolved, 21, 1e-5);
        assert_close(value, json_real_value(golden_member(row, "f2")), 1e-5);
    }
}

static void check_normalized(const passed *p, vector x, const float *g)
{
    gradient_features f;
    make_features(&f, "features=normalized", p);
    size_t count = p->m.net->parameter_count, dim = p->m.net->input;
    auto_free float *phi = compute(&f, NULL, p, x), *dense = calloc(dim, sizeof *dense);
    double square = 0;
    for (size_t i = 0; i < count; i++) square += (double)g[i] * g[i];
    for (size_t i = 0; i < count; i++) assert_close(phi[i], square > 0 ? g[i] / sqrt(2 * square) : 0, 1e-5);
    vector_expand(x, dense, dim);
    for (size_t i = 0; i < dim; i++) assert_close(phi[count + i], dense[i] / sqrt(2), 1e-6);
    assert_close(gradient_square(p->factors, p->count), square, 1e-5);
}

/* The product's entries are those of phi; where means go over two rows of the first weights, phi stays as it is. */
static void check_product(gradient_features *f, const passed *p, vector x, const float *phi)
{
    size_t count = f->count;
    gradient_features_factor(f);
    assert_true((f->rows > 0) == (f->shapes[0].in % f->k == 0));
    auto_free float *product = compute(f, NULL, p, x);
    const float *columns = product + f->rows, *others = columns + f->columns;
    size_t size = f->rows * f->columns;
    assert_int_equal(f->count - f->rows - f->columns, count - size);
    for (size_t i = 0; i < size; i++) assert_close(product[i / f->columns] * columns[i % f->columns], phi[i], 1e-5);
    assert_floats_close(others, phi + size, count - size, 1e-6);
}

static void check_pooled(const passed *p, vector x, const float *g)
{
    size_t count = p->m.net->parameter_count;
    for (size_t k = 1; k <= count + 3; k += k < 40 ? 1 : 37) {
        char text[64];
        snprintf(text, sizeof text, "features=pooled:%zu", k);
        gradient_features f;
        make_features(&f, text, p);
        auto_free float *phi = compute(&f, NULL, p, x);
        assert_int_equal(f.count, (count + k - 1) / k);
        for (size_t block = 0; block < f.count; block++) {
            double sum = 0;
            for (size_t i = block * k; i < (block + 1) * k && i < count; i++) sum += g[i];
            assert_close(phi[block], sum / (double)k, 1e-5);
        }
        check_product(&f, p, x, phi);
    }
}

static void check_sketch(const passed *p, vector x, const float *g)
{
    enum { K = 19 };
    gradient_features f;
    make_features(&f, "features=sketch:19", p);
    auto_free float *phi = compute(&f, NULL, p, x);
    for (size_t j = 0; j < K; j++) {
        double sum = 0;
        const float *signs = f.signs, *entry = g;
        for (size_t l = 0; l < p->count; l++) {
            size_t in = f.shapes[l].in, out = f.shapes[l].out, bias = f.shapes[l].bias;
            const float *of_input = signs, *of_delta = signs + (in + bias) * K;
            for (size_t a = 0; a < out; a++)
                for (size_t b = 0; b < in; b++) sum += of_delta[a * K + j] * of_input[b * K + j] * *entry++;
            for (size_t a = 0; bias && a < out; a++) sum += of_delta[a * K + j] * of_input[in * K + j] * *entry++;
            signs = of_delta + out * K;
        }
        assert_close(phi[j], sum / sqrt(K), 1e-5);
    }
}

TEST(factors_give_what_the_gradient_gives)
{
    const char *networks[] = {
        "layers=1",
        "layers=2 width=9",
        "layers=2 width=9 bias=off",
        "layers=1 bias=off",
        "layers=3 width=7",
        "layers=4 width=6",
        "layers=2 width=5 front=conv1d:2:5:2+relu",
        "layers=2 width=4 image=2x4x3 front=conv2d:3:2+relu+pool:2",
        "layers=2 width=5 heads=4",
        "layers=2 width=4 heads=2 image=1x3x4 front=conv2d:3:2+relu",
    };
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        RELEASED_BY(release) passed p;
        make(&p, networks[n], 24);
        random_stream draw = random_named(n, "inputs");
        float values[24];
        uint32_t indices[5] = {2, 3, 11, 12, 23};
        for (int i = 0; i < 24; i++) values[i] = (float)random_normal(&draw);
        vector inputs[] = {vector_dense(values, 24), {values, indices, 5}, {values, indices, 0}};
        for (size_t i = 0; i < 3; i++) {
            pass(&p, inputs[i]);
            auto_free float *g = form(&p);
            check_normalized(&p, inputs[i], g);
            check_pooled(&p, inputs[i], g);
            check_sketch(&p, inputs[i], g);
        }
    }
    /* Of a sparse arm that is pooled entry by entry, and has more of them than are put in order at once. */
    enum { DIM = 4001, COUNT = 300 };
    RELEASED_BY(release) passed wide;
    make(&wide, "layers=2 width=3", DIM);
    random_stream draw = random_named(1, "inputs");
    float values[COUNT];
    uint32_t indices[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        values[i] = (float)random_normal(&draw);
        indices[i] = 13 * i + (uint32_t)random_below(&draw, 13);
    }
    vector x = {values, indices, COUNT};
    pass(&wide, x);
    auto_free float *g = form(&wide);
    check_pooled(&wide, x, g);
}

TEST(lle_maps_a_window_point_near_its_own_place)
{
    enum { WINDOW = 60 };
    RELEASED_BY(release) passed p;
    make(&p, "layers=2 width=10", 4);
    gradient_features f;
    make_features(&f, "features=lle:2 lle_window=60 lle_neighbors=8", &p);
    lle room;
    ok(lle_create(&room, &p.m.owner, WINDOW, 8, 2, &last_error));
    float x[WINDOW][4], *points = calloc(WINDOW * f.point_count, sizeof(float));
    auto_free float *fitted = calloc(f.parameter_count, sizeof *fitted);
    auto_free double *gram = calloc(WINDOW * WINDOW, sizeof *gram),
                     *coordinates = calloc(WINDOW * 2, sizeof *coordinates);
    float origin[4] = {1, 0, 0, 0};
    pass(&p, vector_dense(origin, 4));
    auto_free float *before = compute(&f, fitted, &p, vector_dense(origin, 4));
    assert_true(before[0] == 0 && before[1] == 0); /* nothing is known before the first fit */
    for (int i = 0; i < WINDOW; i++) {             /* arms along a curve */
        double t = i / (double)WINDOW;
        float arm[4] = {(float)cos(t), (float)sin(t), (float)t, (float)(t * t)};
        memcpy(x[i], arm, sizeof arm);
        pass(&p, vector_dense(x[i], 4));
        float unused[2];
        gradient_features_compute(&f, fitted, p.factors, vector_dense(x[i], 4), points + (size_t)i * f.point_count,
                                  unused);
    }
    assert_true(gradient_features_fit(&f, &room, gram, coordinates, points, fitted));
    /* Gram entries are inner products of the formed gradients. */
    pass(&p, vector_dense(x[3], 4));
    auto_free float *g3 = form(&p);
    pass(&p, vector_dense(x[9], 4));
    auto_free float *g9 = form(&p);
    size_t n = p.m.count;
    assert_close(gram[3 * WINDOW + 9], vector_dot(vector_dense(g3, n), vector_dense(g9, n)), 1e-5);
    /* A new point close to point 30 lands close to it, compared with the spread of the window, which is 1. */
    float near[4];
    for (int j = 0; j < 4; j++) near[j] = x[30][j] + 0.001f;
    pass(&p, vector_dense(near, 4));
    auto_free float *phi = compute(&f, fitted, &p, vector_dense(near, 4));
    const float *own = gradient_features_embedding(&f, fitted, 30);
    for (int j = 0; j < 2; j++) assert_true(fabs(phi[j] - own[j]) < 0.2);
    free(points);
}
