/* EE-Net against a second implementation of Algorithm 1: in double precision, formed gradients, every round's
 * parameters stored, written for being read beside the paper. And its presets, its schedule and what its options
 * promise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/bandit.h"
#include "math/cholesky.h"
#include "support_network.h"

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
            double off = entropy ? (1 / (1 + exp(-f)) - s->y[i]) / count : f - s->y[i];
            for (int k = 0; k < net->count; k++) sum[k] += off * gradient[k];
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

static void start_reference(reference *r, const variant *v, const ee_bandit *bandit)
{
    memset(r, 0, sizeof *r);
    r->f1 = (plain){2, {DIM, WIDTH, 1}, P1, {0}};
    r->f2 = (plain){2, {PHI, WIDTH, 1}, P2, {0}};
    r->f3 = (plain){3, {2, WIDTH3, WIDTH3, 1}, P3, {0}};
    const float *theta = bandit->policy->parameters.values;
    size_t first = memory_whole_lines(P1); /* theta2 begins a line of the cache */
    /* A linear decision has an f3 that nobody asks. */
    if (v->linear_until < ROUNDS) assert_int_equal(bandit->policy->parameters.count, first + P2 + P3);
    for (int k = 0; k < P1; k++) r->theta1[k] = r->f1.theta0[k] = theta[k];
    theta += first;
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
             "f1.width=%d f2.width=%d f1.steps=%d f2.steps=%d f1.rate=0.02 f2.rate=0.01 keep=last decision=linear %s",
             WIDTH, WIDTH, STEPS, STEPS, v->options);
    ee_settings settings = {.policy = "eenet:paper", .dim = DIM, .seed = 9, .options = options};
    ee_bandit *bandit;
    ee_error error = {0};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("%s", error.message);
    reference *r = malloc(sizeof *r);
    start_reference(r, v, bandit);
    random_stream draw = random_named(4, "rounds");
    for (int round = 0; round < ROUNDS; round++) {
        float values[ARMS * DIM];
        for (int i = 0; i < ARMS * DIM; i++) values[i] = (float)random_normal(&draw);
        ee_arms arms = ee_arms_dense(values, ARMS, DIM);
        ee_decision decision;
        ee_score scores[ARMS];
        ok(ee_bandit_decide(bandit, &arms, &decision, scores, NULL, &error));

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
        ok(ee_bandit_learn(bandit, decision.id, reward, &error));
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

#define THIRD "f3.width=3 f3.steps=4 f3.rate=0.3" /* WIDTH3, STEPS */

TEST(follows_algorithm_1)
{
    const variant variants[] = {
        {"", 0, 0, 0, ROUNDS, 1, 1, 0, false},
        {"keep=all", 0, 0, 0, ROUNDS, 1, 1, 0, true},
        {"keep=all decision=neural optimal=binary " THIRD, 0, 0, 0, 0, 1, 1, 0, true},
        {"keep=all decision=hybrid hybrid_after=15 optimal=binary " THIRD, 0, 0, 0, 15, 1, 1, 0, true},
        {"keep=all extra_until=26 extra_gain=0.3 optimal=binary", 0, 0, 26, ROUNDS, 1, 1, 0, true},
        {"label=abs", 1, 0, 0, ROUNDS, 1, 1, 0, false},
        {"label=relu label_offset=1 extra_until=25 extra_gain=0.3 optimal=binary", 2, 1, 25, ROUNDS, 1, 1, 0, false},
        {"w2=0.5 w2_late=-2 w2_late_after=20", 0, 0, 0, ROUNDS, 0.5, -2, 0, false},
        {"decision=neural optimal=range extra_until=30 extra_gain=0.3 " THIRD, 0, 0, 30, 0, 1, 1, 1, false},
        {"decision=neural optimal=threshold reward_threshold=0.4 extra_until=30 extra_gain=0.3 " THIRD, 0, 0, 30, 0, 1,
         1, 2, false},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) check_variant(&variants[i]);
}

/* ---- the reservoir of parameters ---- */

/* With room for all rounds, every draw is one of the thetas that training went through, theta_0 included. */
TEST(a_reservoir_draws_what_was_trained)
{
    enum { T = 30 };
    const char *common = "f1.width=4 exploration=network f2.width=4 features=pooled:3 f1.training=gd "
                         "f2.training=gd f1.history=all f2.history=all f1.rate=0.01 f2.rate=0.01";
    char text[512];
    snprintf(text, sizeof text, "%s keep=reservoir:100", common);
    ee_settings settings[] = {{.policy = "eenet", .dim = 3, .seed = 2, .options = text},
                              {.policy = "eenet", .dim = 3, .seed = 2, .options = common}};
    ee_bandit *drawn, *last;
    ee_error error = {0};
    if (ee_bandit_create(&settings[0], &drawn, &error)) fail_msg("%s", error.message);
    if (ee_bandit_create(&settings[1], &last, &error)) fail_msg("%s", error.message);
    random_stream draw = random_named(4, "rounds");
    size_t f1_count = 3 * 4 + 4 + 4 + 1, hits[T + 1] = {0};
    size_t f2_last = memory_whole_lines(f1_count) + 7 * 4 + 4 + 4; /* where f2's last parameter lies */
    float f2_start = last->policy->parameters.values[f2_last];
    float stored[T + 1][21];
    memcpy(stored[0], last->policy->parameters.values, f1_count * sizeof(float));
    for (int t = 1; t <= T; t++) {
        float values[3]; /* one arm: both bandits see and play the same */
        for (int i = 0; i < 3; i++) values[i] = (float)random_normal(&draw);
        ee_arms arms = ee_arms_dense(values, 1, 3);
        ee_decision a, b;
        double reward = random_unit(&draw);
        ok(ee_bandit_decide(drawn, &arms, &a, NULL, NULL, &error));
        ok(ee_bandit_decide(last, &arms, &b, NULL, NULL, &error));
        ok(ee_bandit_learn(drawn, a.id, reward, &error));
        ok(ee_bandit_learn(last, b.id, reward, &error));
        memcpy(stored[t], last->policy->parameters.values, f1_count * sizeof(float));
        int found = -1;
        for (int s = 0; s <= t; s++)
            if (memcmp(stored[s], drawn->policy->parameters.values, f1_count * sizeof(float)) == 0) found = s;
        assert_true(found >= 0);
        assert_true((drawn->policy->parameters.values[f2_last] == f2_start) == (found == 0)); /* theta2 came along */
        hits[found]++;
    }
    size_t distinct = 0;
    for (int s = 0; s <= T; s++) distinct += hits[s] > 0;
    assert_true(distinct > T / 4 && hits[0] > 0);
    ee_bandit_free(drawn);
    ee_bandit_free(last);
}

/* ---- how the parameters are drawn ---- */

enum { DRAWN_ROUNDS = 6, DRAWN_COUNT = DIM * WIDTH + WIDTH };

/* Plays one arm a round, which says nothing about the draw; thetas gets theta1 after 0 to DRAWN_ROUNDS rounds. */
static void play_one_arm(const char *options, uint64_t seed, float thetas[][DRAWN_COUNT])
{
    char text[256];
    snprintf(text, sizeof text, "f1.width=%d f2.width=3 f3.width=3 f1.steps=2 f2.steps=1 f3.steps=1 %s", WIDTH,
             options);
    ee_settings settings = {.policy = "eenet:paper", .dim = DIM, .seed = seed, .options = text};
    ee_bandit *bandit;
    ee_error error = {0};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("%s", error.message);
    random_stream draw = random_named(seed, "rounds");
    for (int round = 0;; round++) {
        memcpy(thetas[round], bandit->policy->parameters.values, sizeof thetas[round]);
        if (round == DRAWN_ROUNDS) break;
        float values[DIM];
        for (int i = 0; i < DIM; i++) values[i] = (float)random_normal(&draw);
        ee_arms arms = ee_arms_dense(values, 1, DIM);
        ee_decision decision;
        ok(ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error));
        ok(ee_bandit_learn(bandit, decision.id, random_unit(&draw), &error));
    }
    ee_bandit_free(bandit);
}

/* How many of the first rounds left this theta1. */
static size_t count_rounds(float thetas[][DRAWN_COUNT], const float *theta1, size_t *round)
{
    size_t found = 0;
    for (size_t r = 0; r <= DRAWN_ROUNDS; r++) {
        if (memcmp(thetas[r], theta1, sizeof thetas[r]) != 0) continue;
        *round = r;
        found++;
    }
    return found;
}

/* Algorithm 1 draws theta1 after round t from those of rounds 0 to t, each as likely as any other. */
static void check_draw(const char *options)
{
    enum { SEEDS = 1400 };
    static float trained[DRAWN_ROUNDS + 1][DRAWN_COUNT], drawn[DRAWN_ROUNDS + 1][DRAWN_COUNT];
    double hits[DRAWN_ROUNDS + 1] = {0}, total = 0, square = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        play_one_arm("keep=last", seed, trained);
        bool moved = true; /* a round in which every unit is off leaves theta1 as it was */
        size_t round = 0;
        for (size_t r = 0; r <= DRAWN_ROUNDS; r++) moved = moved && count_rounds(trained, trained[r], &round) == 1;
        if (!moved) continue;
        play_one_arm(options, seed, drawn);
        assert_int_equal(count_rounds(trained, drawn[DRAWN_ROUNDS], &round), 1);
        hits[round]++;
        total++;
    }
    assert_true(total > SEEDS / 2);
    double expected = total / (DRAWN_ROUNDS + 1);
    for (size_t r = 0; r <= DRAWN_ROUNDS; r++) square += (hits[r] - expected) * (hits[r] - expected) / expected;
    if (square >= 16.8) fail_msg("%s: chi-square %g", options, square); /* 6 degrees of freedom: 99% is 16.8 */
}

TEST(every_round_is_drawn_as_often)
{
    check_draw("keep=all");
    check_draw("keep=reservoir:100");
    check_draw("keep=reservoir:3");
    check_draw("keep=reservoir:1");
}

/* ---- f2 solved ---- */

enum { SOLVED_DIM = 12, MOST_BLOCKS = 3 };

/* A ridge f2 in the bandit's options and in the test's own terms. */
typedef struct solved_variant {
    const char *options;
    size_t blocks, units; /* of WIDTH units those that are seen */
    bool scale;
    variant labels; /* label and offset of it */
    double prior, lambda;
    int late;      /* rounds that a reward is late */
    int refreshed; /* number of latest samples that get new labels at each training */
} solved_variant;

/* What the test knows of the rounds, and f1's theta_0 of its own making. */
typedef struct solved_play {
    const solved_variant *variant;
    size_t block;  /* features of one */
    double length; /* that the arms are divided by: the mean of the first round's, or 1 */
    float theta0[MOST];
    size_t theta_count;
    float x[ROUNDS][ARMS][SOLVED_DIM];
    double phi[ROUNDS][ARMS][WIDTH];
    size_t arm[ROUNDS];
    double reward[ROUNDS], reported[ROUNDS];
    uint64_t id[ROUNDS];
    int learned;
} solved_play;

/* Where there are blocks, arms lie in one after the other. */
static size_t head_of(const solved_play *p, size_t arm)
{
    return arm % p->variant->blocks;
}

static void start_play(solved_play *p, const solved_variant *v, const ee_bandit *bandit)
{
    memset(p, 0, sizeof *p);
    p->variant = v;
    p->block = SOLVED_DIM / v->blocks;
    memory owner = {0};
    learner f1;
    learner_options options = options_from("width=6 init=uniform");
    options.network.heads = (int64_t)v->blocks;
    ee_error error = {0};
    if (learner_create(&f1, &owner, "f1", &options, SOLVED_DIM, SOLVED_DIM, 9, SIZE_MAX, &error))
        fail_msg("%s", error.message);
    p->theta_count = (p->block + 1) * WIDTH + (WIDTH + 1) * v->blocks;
    assert_int_equal(f1.networks[0].parameter_count, p->theta_count);
    learner_start(&f1, p->theta0);
    memory_release(&owner);
    const float *values = bandit->policy->parameters.values;
    assert_memory_equal(p->theta0, values, p->theta_count * sizeof(float));
    for (size_t i = 0; i < v->blocks * v->units; i++) assert_true(values[p->theta_count + i] == 0);
}

/* Of the arms of the first round. */
static double mean_length(const solved_play *p)
{
    double sum = 0;
    for (size_t arm = 0; arm < ARMS; arm++) {
        double square = 0;
        for (size_t i = 0; i < SOLVED_DIM; i++) square += (double)p->x[0][arm][i] * p->x[0][arm][i];
        sum += sqrt(square);
    }
    return sum / ARMS;
}

/* The arms of a round are contexts, of which the first is that of as many arms as there are blocks. */
static void draw_arms(solved_play *p, int round, random_stream *draw)
{
    float context[SOLVED_DIM] = {0};
    for (size_t arm = 0; arm < ARMS; arm++) {
        for (size_t i = 0; head_of(p, arm) == 0 && i < p->block; i++)
            context[i] = random_unit(draw) < 0.3 ? 0 : (float)random_normal(draw);
        memcpy(p->x[round][arm] + head_of(p, arm) * p->block, context, p->block * sizeof *context);
    }
    if (round == 0) p->length = p->variant->scale ? mean_length(p) : 1;
}

/* h = ReLU(W x + b), x the arm's block, divided by the length of the first round where the variant says so. */
static void pass_hidden(const solved_play *p, const float *theta, int round, size_t arm, double *h)
{
    const float *x = p->x[round][arm] + head_of(p, arm) * p->block;
    for (size_t j = 0; j < WIDTH; j++) {
        h[j] = theta[p->block * WIDTH + j];
        for (size_t i = 0; i < p->block; i++) h[j] += x[i] / p->length * theta[i * WIDTH + j];
        h[j] = fmax(h[j], 0);
    }
}

/* f1 of an arm: the row of its block. */
static double exploit(const solved_play *p, const float *theta, int round, size_t arm)
{
    double h[WIDTH];
    size_t head = head_of(p, arm), heads = p->variant->blocks;
    const float *last = theta + (p->block + 1) * WIDTH;
    pass_hidden(p, theta, round, arm, h);
    double sum = last[WIDTH * heads + head];
    for (size_t j = 0; j < WIDTH; j++) sum += h[j] * last[j * heads + head];
    return sum;
}

/* phi of an arm: the first units at theta_0, at length 1. */
static void see_arm(solved_play *p, int round, size_t arm)
{
    double h[WIDTH], square = 0;
    pass_hidden(p, p->theta0, round, arm, h);
    for (size_t i = 0; i < p->variant->units; i++) square += h[i] * h[i];
    for (size_t i = 0; i < p->variant->units; i++) p->phi[round][arm][i] = square > 0 ? h[i] / sqrt(square) : 0;
}

/* The plain ridge solution over all samples of a head so far: those before this round, whose gain is 0 until they are
 * learned. */
static void solve_gains(const solved_play *p, int round, size_t head, double *theta)
{
    const solved_variant *v = p->variant;
    size_t n = v->units;
    double a[WIDTH * WIDTH] = {0};
    memset(theta, 0, n * sizeof *theta);
    for (size_t i = 0; i < n; i++) a[i * n + i] = v->lambda;
    for (int t = 0; t < round; t++) {
        const double *phi = p->phi[t][p->arm[t]];
        double target = (t < p->learned ? label_of(&v->labels, p->reward[t] - p->reported[t]) : 0) - v->prior;
        if (head_of(p, p->arm[t]) != head) continue;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) a[i * n + j] += phi[i] * phi[j];
            theta[i] += target * phi[i];
        }
    }
    assert_true(cholesky_factor(a, n, 0));
    cholesky_solve(a, n, theta);
}

/* The arms of a round, in the one form or the other. */
static ee_decision decide(const solved_play *p, ee_bandit *bandit, int round, ee_score *scores)
{
    size_t starts[ARMS + 1] = {0}, end = 0;
    uint32_t indices[ARMS * SOLVED_DIM];
    float values[ARMS * SOLVED_DIM];
    for (size_t arm = 0; arm < ARMS; starts[++arm] = end) {
        for (uint32_t i = 0; i < SOLVED_DIM; i++) {
            if (p->x[round][arm][i] == 0) continue;
            indices[end] = i;
            values[end++] = p->x[round][arm][i];
        }
    }
    ee_arms dense = ee_arms_dense(p->x[round][0], ARMS, SOLVED_DIM);
    ee_arms sparse = ee_arms_sparse(starts, indices, values, ARMS, SOLVED_DIM);
    ee_decision decision;
    ee_error error = {0};
    if (ee_bandit_decide(bandit, round % 3 ? &sparse : &dense, &decision, scores, NULL, &error))
        fail_msg("%s", error.message);
    return decision;
}

static void decide_and_check(solved_play *p, ee_bandit *bandit, int round)
{
    const solved_variant *v = p->variant;
    ee_score scores[ARMS];
    ee_decision decision = decide(p, bandit, round, scores);
    for (size_t i = 0; i < ARMS; i++) {
        double theta[WIDTH], gain = v->prior - v->labels.offset;
        see_arm(p, round, i);
        solve_gains(p, round, head_of(p, i), theta);
        for (size_t k = 0; k < v->units; k++) gain += theta[k] * p->phi[round][i][k];
        assert_close(scores[i].exploitation, exploit(p, bandit->policy->parameters.values, round, i), 1e-5);
        assert_close(scores[i].exploration, gain, 1e-4);
        assert_close(scores[i].score, scores[i].exploitation + scores[i].exploration, 1e-6);
    }
    p->id[round] = decision.id;
    p->arm[round] = decision.arm;
    p->reported[round] = scores[decision.arm].exploitation;
}

static void learn_next(solved_play *p, ee_bandit *bandit)
{
    ee_error error = {0};
    int t = p->learned++, refreshed = p->variant->refreshed;
    ok(ee_bandit_learn(bandit, p->id[t], p->reward[t], &error));
    for (int i = p->learned > refreshed ? p->learned - refreshed : 0; i < p->learned; i++)
        p->reported[i] = exploit(p, bandit->policy->parameters.values, i, p->arm[i]);
}

static void check_solved(const solved_variant *v)
{
    char options[512];
    snprintf(
        options, sizeof options,
        "exploration=ridge f1.committee=1 f1.width=%d f1.init=uniform f1.rate=0.02 f1.batch=8 f1.average=5 f1.lazy=on "
        "train_every=1 decision=linear w1=1 w2=1 recall=0 standardize=off "
        "width=0 prior_gain=%g ridge=%g blocks=%zu units=%zu scale=%s %s %s",
        WIDTH, v->prior, v->lambda, v->blocks, v->units, v->scale ? "on" : "off",
        strstr(v->options, "label=") ? "" : "recent_units=0", v->options);
    ee_settings settings = {.policy = "eenet", .dim = SOLVED_DIM, .seed = 9, .options = options};
    ee_bandit *bandit;
    ee_error error = {0};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("%s", error.message);
    solved_play *p = malloc(sizeof *p);
    start_play(p, v, bandit);
    random_stream draw = random_named(6, "rounds");
    size_t played[MOST_BLOCKS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        draw_arms(p, round, &draw);
        p->reward[round] = random_unit(&draw) < 0.4 ? 1 : random_unit(&draw) < 0.5 ? 0 : 0.5;
        decide_and_check(p, bandit, round);
        played[head_of(p, p->arm[round])]++;
        if (round >= v->late) learn_next(p, bandit);
    }
    size_t used = 0;
    for (size_t head = 0; head < v->blocks; head++) used += played[head] > 2;
    assert_true(used > 1 || v->blocks == 1);
    /* f1 has moved since: labels by the one of then and by the one of now are not the same. */
    double moved = 0;
    for (int t = 0; t < ROUNDS; t++) {
        double now = exploit(p, bandit->policy->parameters.values, t, p->arm[t]);
        moved = fmax(moved, fabs(now - exploit(p, p->theta0, t, p->arm[t])));
    }
    assert_true(moved > 0.05);
    free(p);
    ee_bandit_free(bandit);
}

/* prior_gain + theta . phi, theta the solution over (phi at theta_0, r - f1 at the decision - prior_gain). */
TEST(a_ridge_f2_is_the_solution_over_all_gains)
{
    const solved_variant variants[] = {
        {"refresh=0", 1, 6, true, {.label = 0}, 0.2, 1, 0, 0},
        {"refresh=0", 1, 6, false, {.label = 0}, 0.2, 1, 0, 0},
        {"refresh=0", 1, 4, true, {.label = 0}, -0.5, 0.1, 0, 0},
        {"refresh=0", 1, 1, false, {.label = 0}, 0, 3, 0, 0},
        {"refresh=0", 1, 6, true, {.label = 0}, 0.2, 1, 4, 0},
        {"refresh=0", 2, 6, true, {.label = 0}, 1, 1, 0, 0},
        {"refresh=0", 3, 6, true, {.label = 0}, 1, 1, 0, 0},
        {"refresh=0", 3, 4, false, {.label = 0}, 1, 0.3, 0, 0},
        {"refresh=0", 3, 6, true, {.label = 0}, 1, 1, 4, 0},
        {"refresh=0 label=abs", 1, 6, true, {.label = 1}, 0.2, 1, 0, 0},
        {"refresh=0 label=relu", 3, 6, true, {.label = 2}, 2, 1, 0, 0},
        /* a history that forgets: the solution does not */
        {"refresh=0 f1.history=ring:10", 1, 6, true, {.label = 0}, 0.2, 1, 0, 0},
        {"refresh=0 f1.history=ring:10", 3, 6, true, {.label = 0}, 1, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) check_solved(&variants[i]);
}

/* So many draws that none of 40 samples is left out: each gain is r - f1, by f1 as the training left it. */
TEST(gains_are_computed_again)
{
    const solved_variant variants[] = {
        {"refresh=2000", 1, 6, true, {.label = 0}, 0.2, 1, 0, ROUNDS},
        {"refresh=2000", 1, 4, false, {.label = 0}, 0.2, 1, 0, ROUNDS},
        {"refresh=2000", 3, 6, true, {.label = 0}, 1, 1, 0, ROUNDS},
        {"refresh=2000 label=abs", 1, 6, true, {.label = 1}, 0.2, 1, 0, ROUNDS},
        {"refresh=2000", 2, 6, true, {.label = 0}, 1, 1, 3, ROUNDS},
        /* what the history has dropped keeps the gain that it was told last */
        {"refresh=1000 f1.history=ring:10", 1, 6, true, {.label = 0}, 0.2, 1, 0, 10},
        {"refresh=1000 f1.history=ring:10", 3, 6, true, {.label = 0}, 1, 1, 0, 10},
        {"refresh=10 f1.history=ring:1", 1, 6, true, {.label = 0}, 0.2, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) check_solved(&variants[i]);
}

/* ---- arms that come again ---- */

enum { COMING = 60, SHOWN = 8, AGAIN = 1500, LAST = 300 };

/* Arms whose rewards follow from nothing but which arm it is, and an f1 too small to learn them by heart. Returns the
 * share of the last rounds in which a reward was taken that could be had. */
static double play_coming_again(const char *options)
{
    ee_settings settings = {.policy = "eenet", .dim = SOLVED_DIM, .seed = 4, .options = options};
    ee_bandit *bandit;
    ee_error error = {0};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("%s", error.message);
    random_stream draw = random_named(8, "coming again");
    float features[COMING][SOLVED_DIM], shown[SHOWN][SOLVED_DIM];
    for (size_t i = 0; i < COMING; i++)
        for (size_t j = 0; j < SOLVED_DIM; j++) features[i][j] = (float)random_normal(&draw);
    int had = 0, possible = 0;
    for (int t = 0; t < AGAIN; t++) {
        bool rewarded[SHOWN], any = false;
        for (size_t a = 0; a < SHOWN; a++) {
            size_t i = (size_t)random_below(&draw, COMING);
            memcpy(shown[a], features[i], sizeof shown[a]);
            any |= rewarded[a] = i % 5 == 0;
        }
        ee_arms arms = {.count = SHOWN, .dim = SOLVED_DIM, .values = &shown[0][0]};
        ee_decision decision;
        ok(ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error));
        ok(ee_bandit_learn(bandit, decision.id, rewarded[decision.arm], &error));
        if (t < AGAIN - LAST) continue;
        possible += any;
        had += rewarded[decision.arm];
    }
    ee_bandit_free(bandit);
    return (double)had / possible;
}

TEST(arms_that_came_before_are_known)
{
    assert_true(play_coming_again("f1.committee=1 f1.width=2") > 0.9);
    assert_true(play_coming_again("f1.committee=1 f1.width=2 recall=0") < 0.7);
    assert_true(play_coming_again("f1.committee=1 f1.width=2 recall=0 w2=0") < 0.7);
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

TEST(presets_are_what_they_are_named_for)
{
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
        {"eenet", "f1.width", "200"},
        {"eenet", "exploration", "ridge"},
        {"eenet:paper", "exploration", "network"},
        {"eenet:authors", "exploration", "network"},
        {"eenet:authors", "f1.average", "0"},
        {"eenet", "label", "gain"},
        {"eenet", "prior_gain", "1"},
        {"eenet", "width", "1"},
        {"eenet", "f1.init", "paper"},
        {"eenet", "f1.heads", "0"},
        {"eenet:paper", "f1.heads", "1"},
        {"eenet:authors", "f1.heads", "1"},
        {"eenet", "f1.others", "0.1"},
        {"eenet", "scale", "on"},
        {"eenet:fast", "scale", "on"},
        {"eenet:paper", "scale", "off"},
        {"eenet:authors", "scale", "off"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_option(expected[i][0], expected[i][1], expected[i][2]);
}

TEST(options_that_do_not_go_together_are_refused)
{
    struct {
        const char *options, *message;
    } cases[] = {
        {"exploration=network keep=all",
         "options: eenet.keep=all needs f1.training=gd and f1.history=all; or use keep=reservoir:N"},
        {"decision=neural reward_low=1 reward_high=1",
         "options: eenet.reward_low must be below eenet.reward_high, got 1 and 1"},
        {"keep=reservoir:5", "options: eenet.keep needs exploration=network, but it is ridge"},
        {"extra_until=1", "options: eenet.extra_until needs exploration=network, but it is ridge"},
        {"f1.layers=1",
         "options: f1.layers must be at least 2 with eenet.exploration=ridge, got 1; or use exploration=network"},
        {"blocks=3", "options: blocks must divide the 4 features of an arm, got 3"},
        {"f1.heads=3", "options: f1.heads must divide the 4 features of an arm, got 3"},
        {"exploration=network keep=reservoir:5 features=lle:3",
         "options: eenet.keep needs features!=lle, but it is lle:3"},
        {"exploration=network features=lle:10 lle_neighbors=10",
         "options: features=lle:10 needs lle_neighbors above 10 and lle_window above lle_neighbors, got 10 and 200"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_settings settings = {.policy = "eenet", .dim = 4, .seed = 1, .options = cases[i].options};
        ee_bandit *bandit;
        ee_error error = {0};
        assert_int_equal(ee_bandit_create(&settings, &bandit, &error), EE_BAD_OPTION);
        assert_string_equal(error.message, cases[i].message);
        assert_null(bandit);
    }
}

TEST(a_front_is_a_hidden_layer)
{
    ee_settings settings = {.policy = "eenet", .dim = 4, .seed = 1, .options = "f1.layers=1 f1.front=conv1d:2:3+relu"};
    ee_bandit *bandit;
    ee_error error = {0};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("%s", error.message);
    ee_bandit_free(bandit);
}

/* More arms than pass together, and each of them alone. */
TEST(an_arm_is_scored_as_if_alone)
{
    enum { COMPANY = 37, FEATURES = 20 };
    const char *policies[] = {"eenet", "eenet:fast", "eenet:authors"};
    static float x[COMPANY * FEATURES];
    random_stream draw = random_named(1, "arms");
    for (size_t i = 0; i < COMPANY * FEATURES; i++) x[i] = (float)random_normal(&draw) / 4;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        ee_settings settings = {.policy = policies[p], .dim = FEATURES, .seed = 1};
        ee_bandit *bandit;
        ee_error error = {0};
        ee_arms arms = ee_arms_dense(x, COMPANY, FEATURES);
        ee_decision decision;
        ee_score together[COMPANY], alone;
        ok(ee_bandit_create(&settings, &bandit, &error));
        for (int round = 0; round < 12; round++) {
            ok(ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error));
            ok(ee_bandit_learn(bandit, decision.id, round % 2, &error));
        }
        ok(ee_bandit_score(bandit, &arms, together, &error));
        for (size_t i = 0; i < COMPANY; i++) {
            ee_arms one = ee_arms_dense(x + i * FEATURES, 1, FEATURES);
            ok(ee_bandit_score(bandit, &one, &alone, &error));
            assert_close(together[i].exploitation, alone.exploitation, 1e-5);
            assert_close(together[i].exploration, alone.exploration, 1e-5);
            assert_close(together[i].score, alone.score, 1e-5);
        }
        ee_bandit_free(bandit);
    }
}

/* The authors' schedule: after rewards 1, 11, 21, ... to 1000, then after 1001, 1101, ... */
static void check_schedule(int late_after)
{
    char options[96];
    snprintf(options, sizeof options, "f1.layers=1 train_every=10 train_late_every=100 train_late_after=%d",
             late_after);
    ee_settings settings = {.policy = "greedy", .dim = 1, .seed = 1, .options = options};
    ee_bandit *bandit;
    ee_error error = {0};
    ok(ee_bandit_create(&settings, &bandit, &error));
    float one = 1;
    ee_arms arms = ee_arms_dense(&one, 1, 1);
    ee_decision decision;
    for (int reward = 1; reward <= 1500; reward++) {
        float before[2];
        memcpy(before, bandit->policy->parameters.values, sizeof before);
        ok(ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error));
        ok(ee_bandit_learn(bandit, decision.id, 1e3, &error));
        bool due = reward <= late_after ? reward % 10 == 1 : reward % 100 == 1;
        assert_int_equal(memcmp(before, bandit->policy->parameters.values, sizeof before) != 0, due);
    }
    ee_bandit_free(bandit);
}

TEST(trains_when_the_schedule_says)
{
    check_schedule(1000);
    check_schedule(991); /* a training is due at the very reward after which it is late */
}
