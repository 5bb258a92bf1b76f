/* What a solved f2 sees, against the last hidden layer computed by plain loops. */
#include "policy/parts/initial_features.h"

#include "net/plain_network.h"

enum { INPUTS = 24 };

/* phi of a block of the input by all of f1 but its last layer, in double. Returns how many there are. */
static size_t compute_plainly(const network *f1, const float *theta0, size_t units, const float *block, double *phi)
{
    double in[INPUTS], square = 0, *theta = plain_theta(theta0, f1->parameter_count);
    for (size_t i = 0; i < f1->block; i++) in[i] = (double)block[i];
    size_t count = plain_pass(f1, theta, in, f1->layer_count - 1, phi);
    if (units < count) count = units;
    for (size_t i = 0; i < count; i++) square += phi[i] * phi[i];
    for (size_t i = 0; i < count && square > 0; i++) phi[i] /= sqrt(square);
    free(theta);
    return count;
}

/* ---- the features ---- */

/* f1 at theta_0 and what is seen of it, in room that ends at a wall. */
typedef struct seen {
    made_learner f1;
    initial_features features;
    guard walls[2];
    float *activations, *phi;
} seen;

static void make(seen *self, const char *text, size_t units)
{
    learner_make(&self->f1, text, INPUTS, 3);
    ok(initial_features_create(&self->features, &self->f1.owner, self->f1.net, units, NULL));
    initial_features_set(&self->features, self->f1.net, self->f1.theta);
    self->activations = guard_end(&self->walls[0], self->features.network.activation_count);
    self->phi = guard_end(&self->walls[1], self->features.count);
}

static void release(seen *self)
{
    learner_release(&self->f1);
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
    const network *f1 = self->f1.net;
    float dense[INPUTS] = {0}, values[INPUTS];
    uint32_t indices[INPUTS];
    size_t entries = 0;
    for (size_t i = 0; i < f1->block; i += 2) {
        indices[entries] = (uint32_t)(head * f1->block + i);
        values[entries] = (float)random_normal(draw);
        dense[indices[entries]] = values[entries];
        entries++;
    }
    double expected[PLAIN_MOST], square = 0;
    size_t count = compute_plainly(f1, self->f1.theta, units, dense + head * f1->block, expected);
    assert_int_equal(self->features.count, count);
    assert_phi(self, vector_dense(dense, INPUTS), expected);
    assert_phi(self, (vector){values, indices, entries}, expected);
    for (size_t i = 0; i < count; i++) square += (double)self->phi[i] * self->phi[i];
    if (square != 0) assert_close(square, 1, 1e-5); /* of few units all may be off */
}

/* Units: less than there are, as many, more; of a convolution and of a pool at most so many too. */
TEST(is_the_last_hidden_layer_at_length_1)
{
    static const struct {
        const char *network;
        size_t count;
    } cases[] = {
        {"layers=2 width=9", 9},
        {"layers=2 width=9 bias=off init=paper", 9},
        {"layers=3 width=9", 9},
        {"layers=4 width=9 bias=off init=glorot", 9},
        {"layers=2 width=9 image=1x4x6 front=conv2d:2:3+relu", 9},
        {"layers=2 width=9 image=2x4x3 front=conv2d:3:2+relu+pool:2", 9},
        {"layers=3 width=9 front=conv1d:3:5:2+relu", 9},
        {"layers=2 width=9 heads=4", 9},
        {"layers=3 width=9 heads=3 bias=off", 9},
        {"layers=2 width=9 heads=2 image=1x3x4 front=conv2d:2:2+relu", 9},
        {"layers=1 image=1x4x6 front=conv2d:2:3+relu", 2 * 2 * 4},
        {"layers=1 front=conv1d:3:5:2", 3 * 10},
        {"layers=1 image=2x4x3 front=conv2d:3:2+relu+pool:2", 3 * 1 * 1},
        {"layers=1 heads=2 image=1x3x4 front=conv2d:2:2+relu", 2 * 2 * 3},
    };
    const size_t units[] = {1, 2, 5, 8, 9, 10, 29, 30, 4096};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            RELEASED_BY(release) seen self;
            make(&self, cases[n].network, units[k]);
            assert_int_equal(self.features.count, units[k] < cases[n].count ? units[k] : cases[n].count);
            random_stream draw = random_named(n, "inputs");
            for (size_t head = 0; head < self.f1.net->heads; head++) check_block(&self, units[k], head, &draw);
        }
    }
}

/* The same context in another block looks the same: which block it is only the heads know. */
TEST(blocks_look_alike_and_training_changes_nothing)
{
    RELEASED_BY(release) seen self;
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
    /* f1's training does not reach them. */
    RELEASED_BY(release) seen trained;
    make(&trained, "layers=2 width=9", 5);
    float x[INPUTS], before[5];
    for (int i = 0; i < INPUTS; i++) x[i] = (float)(i % 5) - 2;
    initial_features_compute(&trained.features, vector_dense(x, INPUTS), trained.activations, trained.phi);
    memcpy(before, trained.phi, sizeof before);
    memset(trained.f1.theta, 0, trained.f1.count * sizeof(float));
    memset(trained.f1.l.initial, 0, trained.f1.count * sizeof(float));
    initial_features_compute(&trained.features, vector_dense(x, INPUTS), trained.activations, trained.phi);
    assert_memory_equal(before, trained.phi, sizeof before);
}

TEST(many_arms_look_as_each_alone)
{
    enum { MANY = 5 };
    const char *networks[] = {"layers=2 width=40", "layers=1 front=conv1d:3:5:2+relu"};
    const size_t units[] = {30, 7};
    for (size_t n = 0; n < 2; n++) {
        RELEASED_BY(release) seen self;
        make(&self, networks[n], units[n]);
        float x[MANY * INPUTS], activations[MANY * 64], phi[MANY * 30];
        for (int i = 0; i < MANY * INPUTS; i++) x[i] = (float)(i * i % 11) - 5;
        assert_true(self.features.network.activation_count <= 64);
        initial_features_compute_many(&self.features, x, MANY, activations, phi);
        for (size_t i = 0; i < MANY; i++) {
            initial_features_compute(&self.features, vector_dense(x + i * INPUTS, INPUTS), self.activations, self.phi);
            assert_floats_close(phi + i * units[n], self.phi, units[n], 1e-6);
        }
    }
}
