/* Members of a network: their mean is the network, each learns by its own prior and noise, and the mean learns as if
 * there were neither. */
#include "support_network.h"

enum { HEADS = 3, BLOCK = 4, INPUT = HEADS * BLOCK, MEMBERS = 5, SAMPLES = 6 };

typedef struct problem {
    memory owner;
    learner l;
    float *theta;
    float inputs[SAMPLES][INPUT], targets[SAMPLES];
} problem;

/* A learner with heads and members, and a history of samples in all blocks. */
static void problem_make(problem *p, const char *text, double prior, double noise)
{
    learner_options options = options_from(text);
    options.members = (member_options){.count = MEMBERS, .prior = prior, .noise = noise, .rate = 1, .prior_width = 7};
    *p = (problem){.targets = {0.2f, -1, 0.7f, 1.5f, 0, 0.4f}};
    ok(learner_create(&p->l, &p->owner, "test", &options, INPUT, INPUT, 11, SIZE_MAX, &last_error));
    p->theta = calloc(p->l.networks[0].parameter_count, sizeof *p->theta);
    learner_start(&p->l, p->theta);
    random_stream draw = random_named(5, "inputs");
    for (size_t i = 0; i < SAMPLES; i++) {
        for (size_t k = 0; k < BLOCK; k++) p->inputs[i][i % HEADS * BLOCK + k] = (float)random_normal(&draw);
        vector x = vector_dense(p->inputs[i], INPUT);
        ok(learner_reserve(&p->l, 1, x, &last_error));
        learner_append(&p->l, x, p->targets[i]);
    }
}

static void problem_free(problem *p)
{
    free(p->theta);
    memory_release(&p->owner);
}

#define NETWORK "layers=2 width=9 init=uniform heads=3 "

TEST(the_output_is_the_mean_of_the_members)
{
    RELEASED_BY(problem_free) problem p;
    problem_make(&p, NETWORK, 1, 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        vector x = vector_dense(p.inputs[i], INPUT);
        float output = network_forward(&p.l.networks[0], p.theta, x, p.l.activations);
        const float *all = network_outputs(&p.l.networks[0], p.theta, x, p.l.activations);
        const float *own = network_members(&p.l.networks[0], x, p.l.activations);
        assert_ptr_equal(own, all + i % HEADS * MEMBERS);
        double sum = 0;
        for (size_t k = 0; k < MEMBERS; k++) sum += (double)own[k];
        assert_close(output, sum / MEMBERS, 1e-6);
        assert_true(own[0] != own[1]);
    }
}

static void priors_of(problem *p, vector x, float *priors)
{
    const members *m = p->l.members[0];
    auto_free float *activations = calloc(m->network.activation_count, sizeof *activations);
    network_outputs(&m->network, m->theta, x, activations);
    members_priors(m, network_members(&m->network, x, activations), priors);
}

TEST(priors_sum_to_zero_and_are_as_large_as_the_input)
{
    enum { DRAWN = 400, WIDE = 64 };
    RELEASED_BY(memory_release) memory owner = {0};
    learner l;
    learner_options options = options_from("layers=2 width=9");
    options.members = (member_options){.count = WIDE, .prior = 3, .noise = 0, .rate = 1, .prior_width = 256};
    ok(learner_create(&l, &owner, "test", &options, 20, 20, 2, SIZE_MAX, &last_error));
    const members *m = l.members[0];
    auto_free float *activations = calloc(m->network.activation_count, sizeof *activations);
    float x[20], priors[WIDE];
    random_stream draw = random_named(1, "inputs");
    double ratio = 0;
    for (size_t t = 0; t < DRAWN; t++) {
        double length = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < 20; i++) {
            x[i] = (float)random_normal(&draw);
            length += (double)x[i] * (double)x[i];
        }
        network_outputs(&m->network, m->theta, vector_dense(x, 20), activations);
        members_priors(m, network_members(&m->network, vector_dense(x, 20), activations), priors);
        for (size_t k = 0; k < WIDE; k++) {
            sum += (double)priors[k];
            squares += (double)priors[k] * (double)priors[k];
        }
        assert_close(sum, 0, 1e-4);
        ratio += squares / WIDE / (9 * length) / DRAWN;
    }
    assert_true(ratio > 0.6 && ratio < 1.6); /* 1 on average over seeds */
}

TEST(noise_is_of_the_sample_and_nearly_normal)
{
    enum { NUMBERS = 20000 };
    RELEASED_BY(problem_free) problem p;
    problem_make(&p, NETWORK, 0, 2);
    members *m = p.l.members[0];
    double sums[3] = {0}, products = 0, neighbours = 0, last = 0;
    float first[MEMBERS];
    vector x = vector_dense(p.inputs[0], INPUT);
    for (uint32_t n = 0; n < NUMBERS; n++) {
        members_add(m, x, n);
        const float *noise = members_noise_of(m, 0);
        double sum = 0, one = (double)noise[0];
        for (size_t k = 0; k < MEMBERS; k++) sum += (double)noise[k];
        assert_close(sum, 0, 1e-5);
        if (n == 0) memcpy(first, noise, sizeof first);
        sums[0] += one;
        sums[1] += one * one;
        sums[2] += one * one * one * one;
        products += one * (double)noise[1];
        neighbours += one * last;
        last = one;
        members_drop(m);
    }
    /* 2 (e - mean): variance 4 (1 - 1/5); members with each other -4/5; samples not at all. Five deviations wide. */
    double variance = 3.2, wide = 5 / sqrt(NUMBERS);
    assert_true(fabs(sums[0] / NUMBERS) < wide * sqrt(variance));
    assert_true(fabs(sums[1] / NUMBERS - variance) < wide * variance * sqrt(2));
    assert_true(fabs(products / NUMBERS + 0.8) < wide * variance);
    assert_true(fabs(neighbours / NUMBERS) < wide * variance);
    double kurtosis = sums[2] / NUMBERS / (variance * variance); /* 3 is normal, 1.8 uniform */
    assert_true(kurtosis > 2.5 && kurtosis < 3.1);
    members_add(m, x, 0);
    assert_memory_equal(members_noise_of(m, 0), first, sizeof first);
    members_drop(m);
}

/* The noise of a sample of the history, as its number gives it. */
static void noise_of_sample(problem *p, size_t sample, float *noise)
{
    members *m = p->l.members[0];
    members_add(m, history_input(&p->l.history, sample), history_number(&p->l.history, sample));
    memcpy(noise, members_noise_of(m, 0), MEMBERS * sizeof *noise);
    members_drop(m);
}

/* The sum over the samples of the mean over the members of (f_k + prior p_k - y - noise e_k)^2, and `others` times that
 * of the heads that were not played, for which y is the least and there is no noise. */
static double loss_by_hand(problem *p, double others)
{
    double sum = 0;
    for (size_t s = 0; s < SAMPLES; s++) {
        float noise[MEMBERS], priors[MEMBERS], least = p->l.units.least;
        noise_of_sample(p, s, noise);
        for (size_t head = 0; head < HEADS; head++) {
            float moved[INPUT] = {0};
            memcpy(moved + head * BLOCK, p->inputs[s] + s % HEADS * BLOCK, BLOCK * sizeof *moved);
            vector x = vector_dense(moved, INPUT);
            bool played = head == s % HEADS;
            priors_of(p, x, priors);
            network_forward(&p->l.networks[0], p->theta, x, p->l.activations);
            const float *outputs = network_members(&p->l.networks[0], x, p->l.activations);
            for (size_t k = 0; k < MEMBERS; k++) {
                double aim = played ? (double)p->targets[s] + (double)noise[k] : (double)least;
                double off = (double)outputs[k] + (double)priors[k] - aim;
                if (played || p->targets[s] != least) sum += (played ? 1 : others) * off * off / MEMBERS;
            }
        }
    }
    return sum;
}

/* One step of descent over all samples moves each parameter by the derivative of the loss. */
TEST(a_step_lowers_the_loss_of_every_member)
{
    const double rate = 1e-3, others = 0.3;
    RELEASED_BY(problem_free) problem p;
    problem_make(&p, NETWORK "training=gd steps=1 optimizer=sgd rate=0.001 history=all others=0.3", 0.8, 0.5);
    size_t count = p.l.networks[0].parameter_count;
    auto_free float *start = calloc(count, sizeof *start);
    auto_free double *moved = calloc(count, sizeof *moved);
    memcpy(start, p.theta, count * sizeof *start);
    assert_true(learner_train(&p.l, p.theta));
    for (size_t i = 0; i < count; i++) moved[i] = ((double)start[i] - (double)p.theta[i]) / rate;
    memcpy(p.theta, start, count * sizeof *start);
    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        float step = 2e-3f;
        p.theta[i] = start[i] + step;
        double up = loss_by_hand(&p, others);
        p.theta[i] = start[i] - step;
        double down = loss_by_hand(&p, others);
        p.theta[i] = start[i];
        right += close_enough(moved[i], (up - down) / (2.0 * step), 1e-2);
    }
    assert_true(right >= count - 3); /* a ReLU may bend within a step */
}
