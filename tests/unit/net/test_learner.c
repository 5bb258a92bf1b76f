/* Training against PyTorch's stored parameters, and what the learner's options promise. */

#include "support_network.h"

static void assert_theta(const learner *l, const float *theta, const json_t *layers, double tolerance)
{
    auto_free float *expected = calloc(l->networks[0].parameter_count, sizeof *expected);
    theta_from_golden(&l->networks[0], layers, 0, expected);
    assert_floats_close(theta, expected, l->networks[0].parameter_count, tolerance);
}

static void check_stored_training(const char *name, const kernel_table *kernels)
{
    const char *options[] = {
        "optimizer=sgd rate=0.01 loss=squared",
        "optimizer=sgd rate=0.05 loss=half",
        "optimizer=adam rate=0.001 decay=0.0001 loss=squared",
        "optimizer=adam rate=0.001 loss=cross_entropy",
        "optimizer=adamw rate=0.003 decay=0.05 loss=half",
    };
    json_auto_t *file = golden_load(name);
    json_t *cases = golden_member(file, "cases");
    assert_int_equal(json_array_size(cases), 5);
    for (size_t c = 0; c < 5; c++) {
        json_t *stored = json_array_get(cases, c);
        json_t *before = golden_member(stored, "layers_before");
        bool bias = json_object_get(json_array_get(before, 0), "bias") != NULL;
        RELEASED_BY(memory_release) memory owner = {0};
        learner l;
        make_learner(&l, &owner, golden_member(stored, "dims"), bias, options[c]);
        l.networks[0].kernels = l.optimizer.kernels = kernels;
        auto_free float *theta = calloc(l.networks[0].parameter_count, sizeof *theta);
        theta_from_golden(&l.networks[0], before, 0, theta);
        auto_free float *x = golden_floats(golden_member(stored, "inputs"), NULL);
        auto_free float *y = golden_floats(golden_member(stored, "targets"), NULL);
        auto_free float *losses = golden_floats(golden_member(stored, "losses"), NULL);
        json_t *order = golden_member(stored, "order");
        for (size_t i = 0; i < json_array_size(order); i++) {
            size_t sample = (size_t)json_integer_value(json_array_get(order, i));
            double loss =
                learner_step(&l, vector_dense(x + sample * l.networks[0].input, l.networks[0].input), y[sample], theta);
            assert_close(loss, losses[i], 1e-4);
        }
        assert_theta(&l, theta, golden_member(stored, "layers_after"), 1e-4);
    }
}

TEST(matches_stored_training_and_algorithm_1)
{
    const char *names[] = {"training.json", "training/training_2.json", "training/training_12.json",
                           "training/training_80.json"};
    const kernel_table *kernels;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++) check_stored_training(names[i], kernels);
    json_auto_t *file = golden_load("algorithm1_gradient_descent.json");
    RELEASED_BY(memory_release) memory owner = {0};
    learner l;
    make_learner(&l, &owner, golden_member(file, "dims"), false,
                 "training=gd optimizer=sgd rate=0.02 steps=25 loss=half history=all");
    theta_from_golden(&l.networks[0], golden_member(file, "layers_before"), 0, l.initial);
    auto_free float *theta = calloc(l.networks[0].parameter_count, sizeof *theta);
    auto_free float *x = golden_floats(golden_member(file, "inputs"), NULL);
    auto_free float *r = golden_floats(golden_member(file, "rewards"), NULL);
    for (size_t i = 0; i < 9; i++) learner_append(&l, vector_dense(x + i * 6, 6), r[i]);
    learner_train(&l, theta);
    assert_theta(&l, theta, golden_member(file, "layers_after"), 1e-4);
    learner_train(&l, theta); /* from theta_0 again: the same */
    assert_theta(&l, theta, golden_member(file, "layers_after"), 1e-4);
    assert_true(learner_prepare_descent(&l, 0, theta));
    learner_commit(&l, theta);
    assert_memory_equal(theta, l.initial, l.networks[0].parameter_count * sizeof *theta);
}

/* A batch is one step on the mean of its samples' gradients. */
TEST(a_batch_steps_on_the_mean)
{
    RELEASED_BY(learner_release) made_learner m;
    learner_make(&m, "layers=2 width=5 optimizer=sgd rate=0.1 batch=4 order=shuffle history=all", 3, 1);
    auto_free float *mean = calloc(m.count, sizeof *mean);
    random_stream draw = random_named(1, "samples");
    for (int i = 0; i < 4; i++) { /* as many samples as a batch has: which order they come in does not matter */
        float x[3], target = (float)random_unit(&draw);
        for (int j = 0; j < 3; j++) x[j] = (float)random_normal(&draw);
        vector input = vector_dense(x, 3);
        learner_give(&m, input, target);
        float f = learner_pass(&m, input);
        for (size_t k = 0; k < m.count; k++) mean[k] += 0.25f * 2 * (f - target) * m.gradient[k];
    }
    for (size_t i = 0; i < m.count; i++) mean[i] = m.theta[i] - 0.1f * mean[i];
    learner_train(&m.l, m.theta);
    assert_floats_close(m.theta, mean, m.count, 1e-6);
    /* A shuffled pass visits each sample once. */
    RELEASED_BY(learner_release) made_learner shuffled;
    learner_make(&shuffled,
                 "layers=1 bias=off optimizer=sgd rate=1 loss=half batch=1 steps=10 order=shuffle history=all", 10, 1);
    memset(shuffled.theta, 0, shuffled.count * sizeof *shuffled.theta);
    for (uint32_t i = 0; i < 10; i++) { /* sample i moves weight i alone, to 1 on its first visit */
        float one = 1;
        learner_give(&shuffled, (vector){&one, &i, 1}, 1);
    }
    learner_train(&shuffled.l, shuffled.theta);
    for (int i = 0; i < 10; i++) assert_true(shuffled.theta[i] == 1);
}

TEST(a_small_loss_ends_the_training)
{
    const char *text[] = {"layers=1 bias=off optimizer=sgd rate=0.1 loss=half batch=1 steps=1000 order=shuffle "
                          "history=all stop_loss=0.0005",
                          "layers=1 bias=off optimizer=sgd rate=0.1 loss=half batch=1 steps=1000 order=shuffle "
                          "history=all stop_loss=0"};
    double reached[2];
    for (int k = 0; k < 2; k++) {
        RELEASED_BY(learner_release) made_learner m;
        learner_make(&m, text[k], 1, 1);
        float one = 1;
        m.theta[0] = 0;
        for (int i = 0; i < 2; i++) learner_give(&m, vector_dense(&one, 1), 1);
        learner_train(&m.l, m.theta);
        reached[k] = m.theta[0];
    }
    /* After n steps w = 1 - 0.9^n, so step n + 1 sees the loss 0.9^2n / 2. A pass is two steps: the first whose mean is
     * at most 0.0005 is that of n = 34 and 35. */
    assert_close(reached[0], 1 - pow(0.9, 36), 1e-5);
    assert_close(reached[1], 1, 1e-6);
    /* Losses do not overflow. */
    assert_close(learner_loss_value(LOSS_CROSS_ENTROPY, 1000, 1), 0, 1e-12);
    assert_close(learner_loss_value(LOSS_CROSS_ENTROPY, -1000, 1), 1000, 1e-12);
    assert_close(learner_loss_value(LOSS_CROSS_ENTROPY, 0, 0.5f), log(2), 1e-7);
    assert_close(learner_loss_derivative(LOSS_CROSS_ENTROPY, -1000, 1), -1, 1e-12);
}

/* ---- the average of the weights ---- */

enum { INPUTS = 12 };

static void draw_values(random_stream *draw, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = (float)random_normal(draw);
}

/* What the average should be after step n, whose weights these are. */
static void add_share(double *mean, const float *weights, size_t count, int n, double half)
{
    double share = fmax(1 / (1 + n / 10.0), 1 - pow(2, -1 / half));
    for (size_t i = 0; i < count; i++) mean[i] = (1 - share) * mean[i] + share * weights[i];
}

static void assert_mean(const made_learner *t, const double *mean)
{
    for (size_t i = 0; i < t->count; i++) assert_close(t->theta[i], mean[i], 1e-5);
}

/* The twin without an average trains to the same weights, and theta is their mean by the shares. */
TEST(theta_is_the_mean_of_the_weights)
{
    enum { STEPS = 120, HALF = 5 }; /* a step's share is that of its half-life from step 68 on */
    const char *options[] = {"layers=2 width=5 batch=4 rate=0.05", "layers=2 width=5 batch=1 rate=0.05",
                             "layers=2 width=5 batch=4 optimizer=sgd rate=0.1 order=shuffle",
                             "layers=2 width=5 batch=3 rate=0.05 lazy=on"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char text[128];
        snprintf(text, sizeof text, "%s average=%d", options[k], HALF);
        RELEASED_BY(learner_release) made_learner averaged, twin;
        learner_make(&averaged, text, INPUTS, 3);
        learner_make(&twin, options[k], INPUTS, 3);
        assert_null(twin.l.moving);
        auto_free double *mean = calloc(twin.count, sizeof *mean);
        for (size_t i = 0; i < twin.count; i++) mean[i] = twin.theta[i];
        random_stream draw = random_named(k, "samples");
        for (int n = 1; n <= STEPS; n++) {
            float x[INPUTS], target = (float)random_unit(&draw);
            draw_values(&draw, x, INPUTS);
            learner_give(&averaged, vector_dense(x, INPUTS), target);
            learner_give(&twin, vector_dense(x, INPUTS), target);
            learner_train(&averaged.l, averaged.theta);
            learner_train(&twin.l, twin.theta);
            add_share(mean, twin.theta, twin.count, n, HALF);
            assert_memory_equal(averaged.l.moving, twin.theta, twin.count * sizeof(float));
            assert_mean(&averaged, mean);
        }
    }
}

/* A descent begins anew each time, and its average with it. */
TEST(a_descent_averages_its_own_steps)
{
    enum { STEPS = 12 };
    RELEASED_BY(learner_release) made_learner averaged, twin;
    learner_make(&averaged, "layers=2 width=5 training=gd optimizer=sgd rate=0.02 steps=12 average=3 history=all",
                 INPUTS, 3);
    learner_make(&twin, "layers=2 width=5 training=gd optimizer=sgd rate=0.02 history=all", INPUTS, 3);
    auto_free double *mean = calloc(twin.count, sizeof *mean);
    random_stream draw = random_named(1, "samples");
    for (int round = 0; round < 3; round++) {
        float x[INPUTS], target = (float)random_unit(&draw);
        draw_values(&draw, x, INPUTS);
        learner_give(&averaged, vector_dense(x, INPUTS), target);
        learner_give(&twin, vector_dense(x, INPUTS), target);
        for (size_t i = 0; i < twin.count; i++) mean[i] = twin.l.initial[i];
        for (int n = 1; n <= STEPS; n++) {
            twin.l.options.steps = n;
            learner_train(&twin.l, twin.theta);
            add_share(mean, twin.theta, twin.count, n, 3);
        }
        learner_train(&averaged.l, averaged.theta);
        assert_mean(&averaged, mean);
    }
}

/* ---- lazy rows ---- */

/* The last samples, of which all are in every batch: the features that each has. */
enum { BATCH = 4, FEATURES = 2, ROW = 5 };
#define LAZY "layers=2 width=5 order=shuffle decay=0.1 rate=0.01 "

/* Values at FEATURES places, the first a multiple of three. */
static vector draw_sparse(random_stream *draw, float *values, uint32_t *indices)
{
    draw_values(draw, values, FEATURES);
    indices[0] = 3 * (uint32_t)random_below(draw, INPUTS / 3);
    indices[1] = indices[0] + 1 + (uint32_t)random_below(draw, 2);
    return (vector){values, indices, FEATURES};
}

static bool same_row(const float *a, const float *b, size_t row)
{
    return memcmp(a + row * ROW, b + row * ROW, ROW * sizeof *a) == 0;
}

/* The input of sample n, in arrays of INPUTS. */
typedef vector draw_input(random_stream *draw, uint32_t n, float *values, uint32_t *indices);

/* With inputs of which every batch has all, lazy is as not lazy. */
static void assert_lazy_as_eager(const char *options, draw_input *input)
{
    char text[128];
    snprintf(text, sizeof text, "%s lazy=on", options);
    RELEASED_BY(learner_release) made_learner lazy, eager;
    learner_make(&lazy, text, INPUTS, 3);
    learner_make(&eager, options, INPUTS, 3);
    random_stream draw = random_named(strlen(options), "touched");
    for (uint32_t n = 0; n < 60; n++) {
        float values[INPUTS], target = (float)random_normal(&draw);
        uint32_t indices[INPUTS];
        vector x = input(&draw, n, values, indices);
        learner_give(&lazy, x, target);
        learner_give(&eager, x, target);
        if (n + 1 < BATCH) continue;
        learner_train(&lazy.l, lazy.theta);
        learner_train(&eager.l, eager.theta);
        assert_floats_close(lazy.theta, eager.theta, lazy.count, 1e-5);
    }
}

/* Four samples in turn, each with a quarter of the inputs. */
static vector draw_quarter(random_stream *draw, uint32_t n, float *values, uint32_t *indices)
{
    draw_values(draw, values, INPUTS / BATCH);
    for (uint32_t i = 0; i < INPUTS / BATCH; i++) indices[i] = n % BATCH + BATCH * i;
    return (vector){values, indices, INPUTS / BATCH};
}

TEST(touched_rows_move_as_ever_and_others_stand_still)
{
    assert_lazy_as_eager(LAZY "history=ring:4 batch=4 average=6", draw_quarter);
    assert_lazy_as_eager(LAZY "history=ring:4 batch=4 optimizer=adam", draw_quarter);
    assert_lazy_as_eager(LAZY "history=ring:4 batch=4 optimizer=sgd", draw_quarter);
    const struct {
        const char *text;
        size_t batch;
    } cases[] = {{LAZY "history=ring:4 batch=4 lazy=on average=6", BATCH},
                 {LAZY "history=ring:4 batch=4 lazy=on optimizer=sgd average=6", BATCH},
                 {LAZY "history=ring:1 batch=1 lazy=on average=6", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        RELEASED_BY(learner_release) made_learner t;
        learner_make(&t, cases[k].text, INPUTS, 3);
        auto_free float *theta = calloc(t.count, sizeof *theta), *moving = calloc(t.count, sizeof *moving);
        uint32_t seen[100][FEATURES];
        size_t still = 0;
        random_stream draw = random_named(2, "lazy");
        for (size_t n = 0; n < 100; n++) {
            float values[FEATURES];
            learner_give(&t, draw_sparse(&draw, values, seen[n]), (float)random_normal(&draw));
            bool touched[INPUTS] = {false};
            for (size_t i = n + 1 < cases[k].batch ? 0 : n + 1 - cases[k].batch; i <= n; i++)
                for (size_t j = 0; j < FEATURES; j++) touched[seen[i][j]] = true;
            memcpy(theta, t.theta, t.count * sizeof *theta);
            memcpy(moving, t.l.moving, t.count * sizeof *moving);
            learner_train(&t.l, t.theta);
            for (size_t row = 0; row < INPUTS; row++) {
                assert_int_equal(same_row(moving, t.l.moving, row), !touched[row]);
                assert_int_equal(same_row(theta, t.theta, row), !touched[row]);
                still += !touched[row];
            }
            /* the biases and the last layer move in every step */
            size_t rest = (t.count - INPUTS * ROW) * sizeof *theta;
            assert_memory_not_equal(moving + INPUTS * ROW, t.l.moving + INPUTS * ROW, rest);
        }
        assert_true(still > 100);
    }
}

/* As many samples in turn as a block has inputs, in any of three blocks. */
static vector draw_in_block(random_stream *draw, uint32_t n, float *values, uint32_t *indices)
{
    enum { OWN = INPUTS / 3 };
    draw_values(draw, values, 1);
    indices[0] = n % OWN + OWN * (uint32_t)random_below(draw, 3);
    return (vector){values, indices, 1};
}

/* ---- decay ---- */

/* Adam on a gradient that is the decay's alone, by its paper. */
static double step_adam(double theta, double gradient, double *first, double *second, double rate, int n)
{
    *first = 0.9 * *first + 0.1 * gradient;
    *second = 0.999 * *second + 0.001 * gradient * gradient;
    return theta - rate * (*first / (1 - pow(0.9, n))) / (sqrt(*second / (1 - pow(0.999, n))) + 1e-8);
}

/* Samples of zeros without biases have no gradient: what moves the weights is the decay. After `until` steps, of each
 * head, it falls as 1 over the root of the steps. */
static void check_decay(const char *kind, const char *how, int until, int heads)
{
    enum { STEPS = 50 };
    const double rate = 0.05, whole = 0.8;
    char text[256];
    snprintf(text, sizeof text,
             "layers=2 width=3 bias=off optimizer=%s rate=%g decay=%g decay_until=%d heads=%d %s history=all", kind,
             rate, whole, until, heads, how);
    RELEASED_BY(learner_release) made_learner t;
    learner_make(&t, text, INPUTS, 3);
    double expected[64], first[64] = {0}, second[64] = {0};
    assert_true(t.count <= 64);
    for (size_t i = 0; i < t.count; i++) expected[i] = t.theta[i];
    float zeros[INPUTS] = {0};
    learner_give(&t, vector_dense(zeros, INPUTS), 0);
    for (int n = 1; n <= STEPS; n++) {
        double decay = whole * (n > until * heads ? sqrt((double)(until * heads) / n) : 1);
        learner_train(&t.l, t.theta);
        for (size_t i = 0; i < t.count; i++) {
            if (strcmp(kind, "adam") == 0)
                expected[i] = step_adam(expected[i], decay * expected[i], &first[i], &second[i], rate, n);
            else
                expected[i] *= 1 - rate * decay;
            assert_close(t.theta[i], expected[i], 1e-4);
        }
    }
    assert_int_equal(t.l.optimizer.steps, STEPS);
}

TEST(weights_decay_by_the_formula)
{
    const char *optimizers[] = {"sgd", "adamw", "adam"}, *ways[] = {"batch=1", "batch=3"};
    for (size_t o = 0; o < 3; o++)
        for (size_t w = 0; w < 2; w++) {
            check_decay(optimizers[o], ways[w], 1000000000, 1);
            check_decay(optimizers[o], ways[w], 10, 1);
            check_decay(optimizers[o], ways[w], 1, 1);
            check_decay(optimizers[o], ways[w], 6, 3);
        }
}

/* ---- the last samples ---- */

enum { RECENT = 1000 };

/* A network that is one weight, its samples the numbers 0 to count - 1. A step by a rate of 1 sets the weight to the
 * mean of a batch. */
static void make_numbers(made_learner *t, const char *text, size_t count)
{
    char all[256];
    const float one = 1;
    snprintf(all, sizeof all, "layers=1 bias=off optimizer=sgd loss=half rate=1 order=random %s", text);
    learner_make(t, all, 1, 3);
    assert_int_equal(t->count, 1);
    for (size_t i = 0; i < count; i++) learner_give(t, vector_dense(&one, 1), (float)i);
}

/* What a batch of the newest and one more draws, of which the second is to be a recent one. */
static size_t draw_second(made_learner *t)
{
    assert_true(learner_train(&t->l, t->theta));
    return (size_t)lrintf(t->theta[0]);
}

/* All of them and none before, each as often as the others, wherever in a ring they lie. */
TEST(recent_samples_are_the_last_thousand)
{
    const int draws = (int)test_long(10000, 50000);
    const struct {
        const char *text;
        size_t count, drawn_from;
    } cases[] = {
        {"history=all recent=0.5", 3000, RECENT},
        {"history=ring:2500 recent=0.5", 3000, RECENT}, /* they lie at both ends of it */
        {"history=ring:2500 recent=1", 4999, RECENT},
        {"history=ring:2500 recent=0.5", 5000, RECENT},
        {"history=ring:2500 recent=0.5", 5001, RECENT},
        {"history=ring:1001 recent=0.5", 1700, RECENT},
        {"history=ring:2500 recent=0", 3000, 2500},
        {"history=ring:900 recent=1", 1500, 900}, /* there are fewer */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[128];
        RELEASED_BY(learner_release) made_learner t;
        snprintf(text, sizeof text, "batch=1 steps=2 %s", cases[c].text);
        make_numbers(&t, text, cases[c].count);
        size_t drawn_from = cases[c].drawn_from;
        size_t first = cases[c].count - drawn_from, *times = calloc(drawn_from, sizeof *times);
        for (int k = 0; k < draws; k++) {
            size_t drawn = draw_second(&t);
            assert_true(drawn >= first && drawn < cases[c].count);
            times[drawn - first]++;
        }
        double mean = draws / (double)drawn_from, squares = 0;
        for (size_t i = 0; i < drawn_from; i++) {
            assert_true(times[i] > 0 || mean < 30);
            squares += pow((double)times[i] - mean, 2) / mean;
        }
        double free_ones = (double)drawn_from - 1; /* chi squared, whose variance is twice that */
        assert_true(fabs(squares - free_ones) < 5 * sqrt(2 * free_ones));
        free(times);
    }
}

/* Of a batch the newest; then the share of the recent; and of all others as many as there are recent among all. */
TEST(the_recent_have_their_share_of_a_batch)
{
    enum { OF_BATCH = 20, HELD = 4000, TRAININGS = 1000 };
    const double shares[] = {0, 0.05, 0.2, 0.4, 0.5, 0.95, 1};
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        char text[128];
        RELEASED_BY(learner_release) made_learner t;
        snprintf(text, sizeof text, "batch=%d steps=1 history=ring:%d recent=%g", OF_BATCH, HELD, shares[s]);
        make_numbers(&t, text, HELD + 500);
        for (size_t i = 0; i < HELD; i++) /* 1 for the last ones, 0 for those before */
            t.l.history.forms[i].target = t.l.history.forms[i].target >= HELD + 500 - RECENT;
        double sum = 0;
        for (int k = 0; k < TRAININGS; k++) {
            t.theta[0] = 0;
            assert_true(learner_train(&t.l, t.theta));
            sum += (double)t.theta[0] * OF_BATCH / TRAININGS;
        }
        double recent = round(shares[s] * OF_BATCH), rest = OF_BATCH - recent; /* the newest is one of either */
        if (shares[s] < 1) rest -= 1;
        double by_chance = (double)RECENT / HELD, expected = recent + (shares[s] < 1) + rest * by_chance;
        double deviation = sqrt(rest * by_chance * (1 - by_chance) / TRAININGS);
        assert_true(fabs(sum - expected) <= 5 * deviation + 1e-4);
    }
}

/* ---- the units of targets ---- */

/* Trained in units, a network is, to the bit, its twin that is given (target - centre) * scale; and the heads that were
 * not played are worth the least in these units. */
static void check_units(const char *text, target_units units)
{
    RELEASED_BY(learner_release) made_learner own, twin;
    learner_make(&own, text, INPUTS, 3);
    learner_make(&twin, text, INPUTS, 3);
    own.l.units = units;
    twin.l.units.least = units.least;
    random_stream draw = random_named(7, "units");
    for (uint32_t n = 0; n < 60; n++) {
        float values[INPUTS];
        uint32_t indices[INPUTS];
        vector x = draw_in_block(&draw, n, values, indices);
        float least = units.scale > 0 ? units.least / units.scale + units.centre : 0;
        float target = n % 4 ? (float)random_normal(&draw) : least;
        learner_give(&own, x, target);
        learner_give(&twin, x, fminf(fmaxf((target - units.centre) * units.scale, units.low), units.high));
        assert_true(learner_train(&own.l, own.theta) && learner_train(&twin.l, twin.theta));
        assert_memory_equal(own.theta, twin.theta, own.count * sizeof *own.theta);
    }
}

TEST(targets_are_learned_in_their_units)
{
    const target_units units[] = {{0, 1, 0, -9, 9}, {5, 0.25f, -1.5f, -9, 9}, {-1000, 0.001f, 0, -9, 9},
                                  {1, 0, 0, -9, 9}, {0.25f, 0.5f, 0, 0, 1},   {0, 1, 0.5f, 0.5f, 0.5f}};
    const char *texts[] = {
        "layers=2 width=4 batch=4 history=ring:20",
        "layers=2 width=4 heads=3 others=0.4 batch=4 history=ring:20",
        "layers=2 width=4 heads=3 others=0.4 batch=1 optimizer=sgd rate=0.01 history=all",
        "layers=2 width=4 training=gd optimizer=sgd rate=0.001 steps=3 history=all",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) check_units(texts[k], units[u]);
}

/* ---- arms that were not played ---- */

enum { ONE_OF = 3 };

/* What training lowers for one sample: the loss of the played head and, after a reward, `others` times that of each
 * other head against the least. */
static double loss_with_others(made_learner *t, const float *theta, vector x, float target, double others)
{
    learner_loss loss = (learner_loss)t->l.options.loss.pick;
    const float *outputs = network_outputs(&t->l.networks[0], theta, x, t->l.activations);
    size_t played = network_head(&t->l.networks[0], x);
    double sum = learner_loss_value(loss, outputs[played], target);
    float least = t->l.units.least;
    for (size_t head = 0; target != least && head < ONE_OF; head++)
        if (head != played) sum += others * learner_loss_value(loss, outputs[head], least);
    return sum;
}

/* One step of descent on one sample against the finite differences of that loss. */
static void check_others(const char *loss, double others, float target, float least, uint64_t seed)
{
    const double rate = 0.25;
    char text[256];
    snprintf(text, sizeof text,
             "layers=2 width=4 heads=%d loss=%s optimizer=sgd rate=%g others=%g batch=%d init=uniform history=all",
             ONE_OF, loss, rate, others, 1 + (int)(seed % 2));
    RELEASED_BY(learner_release) made_learner t;
    learner_make(&t, text, INPUTS, 3);
    t.l.units.least = least;
    random_stream draw = random_named(seed, "others");
    float values[INPUTS];
    uint32_t indices[INPUTS];
    vector x = draw_in_block(&draw, (uint32_t)seed, values, indices);
    learner_give(&t, x, target);
    auto_free float *before = calloc(t.count, sizeof *before);
    memcpy(before, t.theta, t.count * sizeof *before);
    learner_train(&t.l, t.theta);
    for (size_t i = 0; i < t.count; i++) {
        const float step = 1e-3f, kept = before[i];
        before[i] = kept + step;
        double up = loss_with_others(&t, before, x, target, others);
        before[i] = kept - step;
        double down = loss_with_others(&t, before, x, target, others);
        before[i] = kept;
        assert_close((kept - t.theta[i]) / rate, (up - down) / (2 * step), 3e-3);
    }
}

TEST(arms_not_played_are_worth_nothing_after_a_reward)
{
    const char *losses[] = {"squared", "half", "cross_entropy"};
    for (size_t l = 0; l < 3; l++) {
        for (uint64_t seed = 0; seed < 6; seed++) {
            check_others(losses[l], 0.4, 1, 0, seed);
            check_others(losses[l], 0.4, 0, 0, seed);
            check_others(losses[l], 0, 1, 0, seed);
            check_others(losses[l], 0.4, 0, -0.5f, seed);
            check_others(losses[l], 0.4, -0.5f, -0.5f, seed);
        }
    }
}

/* ---- heads of the blocks ---- */

TEST(no_heads_are_those_of_the_blocks)
{
    learner_options two = options_from("others=0.3 heads=2"); /* others count where arms exclude each other */
    assert_true(learner_for_problem(&two, 2, true).others == 0.3);
    assert_true(learner_for_problem(&two, 2, false).others == 0);
    two.network.heads = 0;
    assert_true(learner_for_problem(&two, 2, true).others == 0.3);
    assert_true(learner_for_problem(&two, 1, true).others == 0);
    const char *texts[] = {"heads=0", "heads=3", "heads=1"};
    const size_t blocks[] = {1, 4, 12}, expected[3][3] = {{1, 4, 12}, {3, 3, 3}, {1, 1, 1}};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            learner_options options = options_from(texts[i]);
            learner_options made = learner_for_problem(&options, (int64_t)blocks[j], true);
            network net;
            ok(network_create(&net, "f1", &made.network, INPUTS, &last_error));
            assert_int_equal(net.heads, expected[i][j]);
            assert_int_equal(net.block, INPUTS / expected[i][j]);
            made.network.heads = options.network.heads; /* nothing else has changed */
            assert_memory_equal(&made, &options, sizeof made);
        }
    }
}

/* ---- committees ---- */

/* Starts the learner of one network where network k of a committee is. */
static void start_as(made_learner *alone, const made_learner *committee, size_t k)
{
    const float *from = committee->theta + committee->l.starts[k];
    assert_int_equal(alone->count, committee->l.networks[k].parameter_count);
    memcpy(alone->theta, from, alone->count * sizeof *from);
    memcpy(alone->l.initial, from, alone->count * sizeof *from);
    if (alone->l.moving) memcpy(alone->l.moving, from, alone->count * sizeof *from);
}

/* Each network of a committee learns, to the bit, as a learner that has it alone and is given the same samples. */
static void check_committee(const char *options, int layers, int width, int deep_width)
{
    enum { NETWORKS = 3, ROUNDS = 40 };
    char text[256];
    made_learner committee, alone[NETWORKS];
    snprintf(text, sizeof text, "layers=%d width=%d committee=%d deep_width=%d %s", layers, width, NETWORKS, deep_width,
             options);
    learner_make(&committee, text, INPUTS, 3);
    assert_int_equal(committee.l.network_count, NETWORKS);
    for (size_t k = 0; k < NETWORKS; k++) {
        snprintf(text, sizeof text, "layers=%d width=%d %s", layers + (int)k, k ? deep_width : width, options);
        learner_make(&alone[k], text, INPUTS, 3);
        start_as(&alone[k], &committee, k);
    }
    random_stream draw = random_named(strlen(options), "committee");
    for (uint32_t n = 0; n < ROUNDS; n++) {
        float values[INPUTS], target = (float)random_normal(&draw);
        uint32_t indices[INPUTS];
        vector x = draw_in_block(&draw, n, values, indices);
        learner_give(&committee, x, target);
        assert_true(learner_train(&committee.l, committee.theta));
        for (size_t k = 0; k < NETWORKS; k++) {
            learner_give(&alone[k], x, target);
            assert_true(learner_train(&alone[k].l, alone[k].theta));
            assert_memory_equal(committee.theta + committee.l.starts[k], alone[k].theta,
                                alone[k].count * sizeof(float));
        }
    }
    for (size_t k = 0; k < NETWORKS; k++) learner_release(&alone[k]);
    learner_release(&committee);
}

TEST(networks_of_a_committee_learn_as_if_alone)
{
    check_committee("batch=4 rate=0.02 decay=0.1 lazy=on average=6 history=ring:20", 2, 5, 7);
    check_committee("batch=4 rate=0.02 heads=3 others=0.3 lazy=on history=all", 2, 6, 3);
    check_committee("batch=4 steps=3 rate=0.02 order=shuffle history=all", 2, 4, 4);
    check_committee("batch=5 rate=0.01 optimizer=sgd loss=cross_entropy history=reservoir:8", 1, 1, 5);
    check_committee("training=gd optimizer=sgd rate=0.002 steps=4 average=3 history=all", 2, 5, 6);
    check_committee("batch=100 rate=0.02 history=all", 2, 9, 16); /* more than pass at once */
}

/* Of each network the rows that moved since and what is behind them; all else in the copy stays. */
TEST(a_copy_has_what_changed_in_each_network)
{
    RELEASED_BY(learner_release) made_learner t;
    learner_make(&t, LAZY "history=ring:1 batch=1 lazy=on committee=3 deep_width=4", INPUTS, 3);
    auto_free float *to = calloc(t.count, sizeof *to), *before = calloc(t.count, sizeof *before);
    random_stream draw = random_named(5, "copy");
    assert_int_equal(learner_copy(&t.l, t.theta, 0, to), t.count);
    assert_memory_equal(to, t.theta, t.count * sizeof *to);
    for (uint64_t time = 1; time < 40; time++) {
        float values[FEATURES];
        uint32_t indices[FEATURES];
        size_t least = 0, copied = 0;
        learner_give(&t, draw_sparse(&draw, values, indices), (float)random_normal(&draw));
        memcpy(before, t.theta, t.count * sizeof *before);
        t.l.time = time;
        assert_int_equal(learner_copy(&t.l, t.theta, time, to), 0); /* nothing yet */
        assert_true(learner_train(&t.l, t.theta));
        for (size_t i = 0; i < t.count; i++) to[i] = NAN;
        size_t said = learner_copy(&t.l, t.theta, time, to);
        for (size_t i = 0; i < t.count; i++) {
            copied += isnan(to[i]) ? 0 : 1;
            least += before[i] != t.theta[i];
            assert_true(isnan(to[i]) ? before[i] == t.theta[i] : to[i] == t.theta[i]);
        }
        size_t widths = 5 + 4 + 4, rows = 0;
        for (size_t k = 0; k < 3; k++)
            rows += t.l.networks[k].parameter_count - INPUTS * t.l.networks[k].layers[0].out.width;
        assert_int_equal(said, copied);
        assert_int_equal(said, rows + FEATURES * widths);
        assert_true(least > 0 && least <= copied);
    }
}

/* What is taken back leaves no trace: the next training is that of a twin which never saw it. */
TEST(a_committees_training_can_be_taken_back)
{
    const char *options[] = {LAZY "history=ring:9 batch=4 lazy=on average=6 order=random committee=3 deep_width=4",
                             LAZY "history=all batch=4 steps=3 average=6 committee=2 deep_width=4",
                             "layers=2 width=5 optimizer=sgd batch=3 rate=0.01 history=all committee=4 deep_width=3",
                             "layers=2 width=5 training=gd optimizer=sgd rate=0.002 steps=3 history=all committee=2 "
                             "deep_width=3"};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        RELEASED_BY(learner_release) made_learner t, twin;
        learner_make(&t, options[o], INPUTS, 3);
        learner_make(&twin, options[o], INPUTS, 3);
        random_stream draw = random_named(o, "back");
        for (int n = 0; n < 30; n++) {
            float values[FEATURES], target = (float)random_normal(&draw);
            uint32_t indices[FEATURES];
            vector x = draw_sparse(&draw, values, indices);
            if (n % 3 == 1) { /* a sample too, which must not stay */
                learner_give(&t, vector_dense((float[INPUTS]){1}, INPUTS), 100);
                assert_true(learner_prepare(&t.l, t.theta));
                learner_abort(&t.l, t.theta);
                learner_undo(&t.l);
                assert_memory_equal(t.theta, twin.theta, t.count * sizeof(float));
            }
            learner_give(&t, x, target);
            learner_give(&twin, x, target);
            assert_true(learner_train(&t.l, t.theta) && learner_train(&twin.l, twin.theta));
            assert_memory_equal(t.theta, twin.theta, t.count * sizeof(float));
        }
    }
}
