/* EE-Net against a second implementation of Algorithm 1: in double precision, formed gradients, every round's
 * parameters stored, written for being read beside the paper. And its presets, its schedule and what its options
 * promise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bandit.h"
#include "net/network.h"
#include "support.h"

/* ---- the reference: networks without biases, weights (in, out) as the bandit lays them out ---- */

enum { DIM = 4, ARMS = 5, WIDTH = 6, WIDTH3 = 3, ROUNDS = 40, STEPS = 4, MOST = 1024, SAMPLES = ROUNDS * ARMS };
enum { P1 = DIM * WIDTH + WIDTH, PHI = P1 + DIM, P2 = PHI * WIDTH + WIDTH, P3 = 2 * WIDTH3 + WIDTH3 * WIDTH3 + WIDTH3 };

typedef struct plain {
    int layers;
    int dims[4];
    int count;
    double theta0[MOST];
} plain;

/* The output, and its derivative by every parameter. */
static double evaluate(const plain *net, const double *theta, const double *x, double *gradient)
{
    double h[4][PHI + 1] = {{0}}, delta[4][PHI + 1] = {{0}};
    memcpy(h[0], x, (size_t)net->dims[0] * sizeof *x);
    const double *w[3];
    for (int l = 0; l < net->layers; l++) {
        w[l] = theta;
        for (int j = 0; j < net->dims[l + 1]; j++) {
            for (int i = 0; i < net->dims[l]; i++) h[l + 1][j] += h[l][i] * theta[i * net->dims[l + 1] + j];
            if (l + 1 < net->layers && h[l + 1][j] < 0) h[l + 1][j] = 0;
        }
        theta += net->dims[l] * net->dims[l + 1];
    }
    delta[net->layers][0] = 1;
    for (int l = net->layers - 1; l >= 0; l--) {
        for (int i = 0; i < net->dims[l]; i++) {
            for (int j = 0; j < net->dims[l + 1]; j++) {
                gradient[w[l] - w[0] + i * net->dims[l + 1] + j] = h[l][i] * delta[l + 1][j];
                if (h[l][i] > 0) delta[l][i] += w[l][i * net->dims[l + 1] + j] * delta[l + 1][j];
            }
        }
    }
    return h[net->layers][0];
}

typedef struct samples {
    int count;
    double x[SAMPLES][PHI], y[SAMPLES];
} samples;

/* GradientDescent of Algorithm 1: from theta_0, the sum of the halved squares or the mean of the cross-entropies. */
static void descend(const plain *net, const samples *s, int count, double rate, bool entropy, double *theta)
{
    static double gradient[MOST], sum[MOST];
    memcpy(theta, net->theta0, (size_t)net->count * sizeof *theta);
    for (int step = 0; count && step < STEPS; step++) {
        memset(sum, 0, sizeof sum);
        for (int i = 0; i < count; i++) {
            double f = evaluate(net, theta, s->x[i], gradient);
            double slope = entropy ? (1 / (1 + exp(-f)) - s->y[i]) / count : f - s->y[i];
            for (int k = 0; k < net->count; k++) sum[k] += slope * gradient[k];
        }
        for (int k = 0; k < net->count; k++) theta[k] -= rate * sum[k];
    }
}

typedef struct reference {
    plain f1, f2, f3;
    samples s1, s2, s3;
    int marks[ROUNDS + 1];
    double stored1[ROUNDS + 1][MOST], stored2[ROUNDS + 1][MOST], stored3[ROUNDS + 1][MOST];
    double theta1[MOST], theta2[MOST], theta3[MOST];
    random_stream drawing;
} reference;

/* phi = (g / (sqrt 2 |g|), x / sqrt 2), g with its weights as (out, in) */
static double features(const reference *r, const double *x, double *phi)
{
    double gradient[MOST], square = 0;
    double f = evaluate(&r->f1, r->theta1, x, gradient);
    for (int k = 0; k < P1; k++) square += gradient[k] * gradient[k];
    double scale = square > 0 ? 1 / sqrt(2 * square) : 0;
    for (int a = 0; a < WIDTH; a++)
        for (int b = 0; b < DIM; b++) phi[a * DIM + b] = scale * gradient[b * WIDTH + a];
    for (int a = 0; a < WIDTH; a++) phi[DIM * WIDTH + a] = scale * gradient[DIM * WIDTH + a];
    for (int b = 0; b < DIM; b++) phi[P1 + b] = x[b] / sqrt(2);
    return f;
}

/* Which variant of EE-Net, in the bandit's options and in the reference's own terms. */
typedef struct variant {
    const char *options;
    int label;        /* 0 gain, 1 abs, 2 relu */
    double offset;    /* of the labels */
    int extra_until;  /* with c_r = 0.3 */
    int linear_until; /* ROUNDS: always linear */
    double w2, late;  /* weight of f2, and after round 20 */
    int optimal;      /* 0 binary, 1 range, 2 threshold 0.4 */
    bool draws;       /* keep=all */
} variant;

static double label_of(const variant *v, double gain)
{
    if (v->label == 1) gain = fabs(gain);
    if (v->label == 2 && gain < 0) gain = 0;
    return gain + v->offset;
}

static double optimal_of(const variant *v, double reward)
{
    if (v->optimal == 0) return reward >= 1;
    if (v->optimal == 2) return reward > 0.4;
    return reward < 0 ? 0 : reward > 1 ? 1 : reward;
}

static void append(samples *s, const double *x, int dim, double y)
{
    memcpy(s->x[s->count], x, (size_t)dim * sizeof *x);
    s->y[s->count++] = y;
}

static void train_reference(reference *r, const variant *v, int round)
{
    descend(&r->f1, &r->s1, r->s1.count, 0.02, false, r->stored1[round]);
    descend(&r->f2, &r->s2, r->s2.count, 0.01, false, r->stored2[round]);
    descend(&r->f3, &r->s3, r->s3.count, 0.3, true, r->stored3[round]);
    size_t pair = (size_t)round, third = (size_t)round;
    if (v->draws) pair = (size_t)random_below(&r->drawing, (uint64_t)round + 1);
    if (v->draws && v->linear_until < ROUNDS) third = (size_t)random_below(&r->drawing, (uint64_t)round + 1);
    memcpy(r->theta1, r->stored1[pair], sizeof r->theta1);
    memcpy(r->theta2, r->stored2[pair], sizeof r->theta2);
    memcpy(r->theta3, r->stored3[third], sizeof r->theta3);
}

static void start_reference(reference *r, const ee_bandit *bandit)
{
    memset(r, 0, sizeof *r);
    r->f1 = (plain){2, {DIM, WIDTH, 1}, P1, {0}};
    r->f2 = (plain){2, {PHI, WIDTH, 1}, P2, {0}};
    r->f3 = (plain){3, {2, WIDTH3, WIDTH3, 1}, P3, {0}};
    const float *theta = bandit->policy->parameters.values;
    assert_int_equal(bandit->policy->parameters.count, P1 + P2 + P3);
    for (int k = 0; k < P1; k++) r->theta1[k] = r->f1.theta0[k] = *theta++;
    for (int k = 0; k < P2; k++) r->theta2[k] = r->f2.theta0[k] = *theta++;
    for (int k = 0; k < P3; k++) r->theta3[k] = r->f3.theta0[k] = *theta++;
    memcpy(r->stored1[0], r->theta1, sizeof r->theta1);
    memcpy(r->stored2[0], r->theta2, sizeof r->theta2);
    memcpy(r->stored3[0], r->theta3, sizeof r->theta3);
    r->drawing = random_named(9, "drawing");
}

static void check_variant(const variant *v)
{
    char options[1024];
    snprintf(options, sizeof options,
             "f1.width=%d f2.width=%d f3.width=%d f1.steps=%d f2.steps=%d f3.steps=%d f1.rate=0.02 f2.rate=0.01 "
             "f3.rate=0.3 keep=last decision=linear optimal=binary extra_gain=0.3 %s",
             WIDTH, WIDTH, WIDTH3, STEPS, STEPS, STEPS, v->options);
    ee_settings settings = {"eenet:paper", DIM, 9, options};
    ee_bandit *bandit;
    ee_error error = {0};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("%s", error.message);
    reference *r = malloc(sizeof *r);
    start_reference(r, bandit);
    random_stream draw = random_named(4, "rounds");
    for (int round = 0; round < ROUNDS; round++) {
        float values[ARMS * DIM];
        for (int i = 0; i < ARMS * DIM; i++) values[i] = (float)random_normal(&draw);
        ee_arms arms = ee_arms_dense(values, ARMS, DIM);
        ee_decision decision;
        ee_score scores[ARMS];
        assert_int_equal(ee_bandit_decide(bandit, &arms, &decision, scores, &error), EE_OK);

        double x[ARMS][DIM], phi[ARMS][PHI], f1[ARMS], f2[ARMS], unused[MOST];
        for (int i = 0; i < ARMS; i++) {
            for (int j = 0; j < DIM; j++) x[i][j] = values[i * DIM + j];
            f1[i] = features(r, x[i], phi[i]);
            f2[i] = evaluate(&r->f2, r->theta2, phi[i], unused) - v->offset;
            double both[2] = {f1[i], f2[i]};
            double f3 = f1[i] + (round >= 20 ? v->late : v->w2) * f2[i];
            if (round >= v->linear_until) f3 = evaluate(&r->f3, r->theta3, both, unused);
            assert_close(scores[i].exploitation, f1[i], 1e-4);
            assert_close(scores[i].exploration, f2[i], 1e-4);
            assert_close(scores[i].score, f3, 1e-4);
            assert_true(scores[i].score <= scores[decision.arm].score);
        }

        size_t arm = decision.arm;
        double reward = random_unit(&draw) < 0.3 ? 1 : random_unit(&draw) < 0.5 ? 0 : 0.45;
        assert_int_equal(ee_bandit_learn(bandit, decision.id, reward, &error), EE_OK);
        double both[2] = {f1[arm], f2[arm]};
        append(&r->s1, x[arm], DIM, reward);
        append(&r->s2, phi[arm], PHI, label_of(v, (float)reward - f1[arm]));
        for (size_t i = 0; round < v->extra_until && optimal_of(v, reward) == 0 && i < ARMS; i++)
            if (i != arm) append(&r->s2, phi[i], PHI, 0.3 + v->offset);
        append(&r->s3, both, 2, optimal_of(v, reward));
        train_reference(r, v, round + 1);
    }
    free(r);
    ee_bandit_free(bandit);
}

static void follows_algorithm_1(void **state)
{
    (void)state;
    const variant variants[] = {
        {"", 0, 0, 0, ROUNDS, 1, 1, 0, false},
        {"keep=all", 0, 0, 0, ROUNDS, 1, 1, 0, true},
        {"keep=all decision=neural", 0, 0, 0, 0, 1, 1, 0, true},
        {"keep=all decision=hybrid hybrid_after=15", 0, 0, 0, 15, 1, 1, 0, true},
        {"keep=all extra_until=26", 0, 0, 26, ROUNDS, 1, 1, 0, true},
        {"label=abs", 1, 0, 0, ROUNDS, 1, 1, 0, false},
        {"label=relu label_offset=1 extra_until=25", 2, 1, 25, ROUNDS, 1, 1, 0, false},
        {"w2=0.5 w2_late=-2 w2_late_after=20", 0, 0, 0, ROUNDS, 0.5, -2, 0, false},
        {"decision=neural optimal=range extra_until=30", 0, 0, 30, 0, 1, 1, 1, false},
        {"decision=neural optimal=threshold reward_threshold=0.4 extra_until=30", 0, 0, 30, 0, 1, 1, 2, false},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) check_variant(&variants[i]);
}

/* ---- the reservoir of parameters ---- */

/* With room for all rounds, every draw is one of the thetas that training went through, theta_0 included. */
static void a_reservoir_draws_what_was_trained(void **state)
{
    (void)state;
    enum { T = 30 };
    const char *common =
        "f1.width=4 f2.width=4 f3.width=3 features=pooled:3 f1.training=gd f2.training=gd f3.training=gd "
        "f1.history=all f2.history=all f3.history=all f1.rate=0.01 f2.rate=0.01";
    char text[512];
    snprintf(text, sizeof text, "%s keep=reservoir:100", common);
    ee_settings settings[] = {{"eenet", 3, 2, text}, {"eenet", 3, 2, common}};
    ee_bandit *drawn, *last;
    ee_error error = {0};
    if (ee_bandit_create(&settings[0], &drawn, &error)) fail_msg("%s", error.message);
    if (ee_bandit_create(&settings[1], &last, &error)) fail_msg("%s", error.message);
    random_stream draw = random_named(4, "rounds");
    size_t f1_count = 3 * 4 + 4 + 4 + 1, hits[T + 1] = {0};
    float stored[T + 1][21];
    memcpy(stored[0], last->policy->parameters.values, f1_count * sizeof(float));
    for (int t = 1; t <= T; t++) {
        float values[3]; /* one arm: both bandits see and play the same */
        for (int i = 0; i < 3; i++) values[i] = (float)random_normal(&draw);
        ee_arms arms = ee_arms_dense(values, 1, 3);
        ee_decision a, b;
        double reward = random_unit(&draw);
        assert_int_equal(ee_bandit_decide(drawn, &arms, &a, NULL, &error), EE_OK);
        assert_int_equal(ee_bandit_decide(last, &arms, &b, NULL, &error), EE_OK);
        assert_int_equal(ee_bandit_learn(drawn, a.id, reward, &error), EE_OK);
        assert_int_equal(ee_bandit_learn(last, b.id, reward, &error), EE_OK);
        memcpy(stored[t], last->policy->parameters.values, f1_count * sizeof(float));
        int found = -1;
        for (int s = 0; s <= t; s++)
            if (memcmp(stored[s], drawn->policy->parameters.values, f1_count * sizeof(float)) == 0) found = s;
        assert_true(found >= 0);
        hits[found]++;
    }
    size_t distinct = 0;
    for (int s = 0; s <= T; s++) distinct += hits[s] > 0;
    assert_true(distinct > T / 4 && hits[0] > 0);
    ee_bandit_free(drawn);
    ee_bandit_free(last);
}

/* ---- what the presets say ---- */

static void assert_option(const char *owner, const char *name, const char *value)
{
    ee_option found;
    for (size_t i = 0; ee_option_describe(owner, i, &found, NULL) == EE_OK; i++) {
        if (strcmp(found.name, name) != 0) continue;
        assert_string_equal(found.value, value);
        return;
    }
    fail_msg("%s has no option %s", owner, name);
}

static void presets_are_what_they_are_named_for(void **state)
{
    (void)state;
    const char *expected[][3] = {
        {"eenet:paper", "features", "normalized"},
        {"eenet:paper", "keep", "all"},
        {"eenet:paper", "f1.training", "gd"},
        {"eenet:paper", "f1.init", "paper"},
        {"eenet:paper", "decision", "hybrid"},
        {"eenet:paper", "hybrid_after", "500"},
        {"eenet:paper", "f3.layers", "3"},
        {"eenet:paper", "f3.width", "20"},
        {"eenet:paper", "f3.loss", "cross_entropy"},
        {"eenet:authors", "f2.front", "conv1d:1:100:50"},
        {"eenet:authors", "label_offset", "1"},
        {"eenet:authors", "w2", "0.1"},
        {"eenet:authors", "w2_late", "0.01"},
        {"eenet:authors", "extra_gain", "0.2"},
        {"eenet:authors", "extra_until", "1000"},
        {"eenet:authors", "train_every", "10"},
        {"eenet:authors", "train_late_every", "100"},
        {"eenet:authors", "f1.steps", "2000"},
        {"eenet:authors", "f1.stop_loss", "0.001"},
        {"eenet:authors", "f2.optimizer", "adam"},
        {"eenet:authors", "f2.decay", "0.0001"},
        {"eenet:authors", "f2.keep_moments", "off"},
        {"eenet", "f1.layers", "2"},
        {"eenet", "f1.width", "100"},
        {"eenet", "label", "gain"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_option(expected[i][0], expected[i][1], expected[i][2]);
}

static void options_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    struct {
        const char *options, *message;
    } cases[] = {
        {"keep=all", "options: eenet.keep=all needs f1.training=gd and f1.history=all; else take keep=reservoir:N"},
        {"reward_low=1 reward_high=1", "options: eenet.reward_low must be below eenet.reward_high, got 1 and 1"},
        {"features=lle:10 lle_neighbors=10",
         "options: features=lle:10 needs more than 10 lle_neighbors and more lle_window than that, got 10 and 200"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_settings settings = {"eenet", 4, 1, cases[i].options};
        ee_bandit *bandit;
        ee_error error = {0};
        assert_int_equal(ee_bandit_create(&settings, &bandit, &error), EE_BAD_OPTION);
        assert_string_equal(error.message, cases[i].message);
        assert_null(bandit);
    }
}

/* The authors' schedule: after rewards 1, 11, 21, ... to 1000, then after 1001, 1101, ... */
static void trains_when_the_schedule_says(void **state)
{
    (void)state;
    ee_settings settings = {"greedy", 1, 1, "f1.layers=1 train_every=10 train_late_every=100 train_late_after=1000"};
    ee_bandit *bandit;
    ee_error error = {0};
    assert_int_equal(ee_bandit_create(&settings, &bandit, &error), EE_OK);
    float one = 1;
    ee_arms arms = ee_arms_dense(&one, 1, 1);
    ee_decision decision;
    for (int reward = 1; reward <= 1500; reward++) {
        float before[2];
        memcpy(before, bandit->policy->parameters.values, sizeof before);
        assert_int_equal(ee_bandit_decide(bandit, &arms, &decision, NULL, &error), EE_OK);
        assert_int_equal(ee_bandit_learn(bandit, decision.id, 1e3, &error), EE_OK);
        bool due = reward <= 1000 ? reward % 10 == 1 : reward % 100 == 1;
        assert_int_equal(memcmp(before, bandit->policy->parameters.values, sizeof before) != 0, due);
    }
    ee_bandit_free(bandit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_algorithm_1),
        cmocka_unit_test(a_reservoir_draws_what_was_trained),
        cmocka_unit_test(presets_are_what_they_are_named_for),
        cmocka_unit_test(options_that_do_not_go_together_are_refused),
        cmocka_unit_test(trains_when_the_schedule_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
