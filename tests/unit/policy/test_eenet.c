/* EE-Net against a second implementation of Algorithm 1: in double precision, formed gradients, every round's
 * parameters stored, written for being read beside the paper. And its presets, its schedule and what its options
 * promise. */
#include "engine/rounds.h"

#include "engine/bandit.h"

/* The reference: networks without biases, weights (in, out) as the bandit lays them out. */
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
    auto_bandit *bandit = bandit_make("eenet:paper", DIM, 9, options);
    auto_free reference *r = malloc(sizeof *r);
    start_reference(r, v, bandit);
    random_stream draw = random_named(4, "rounds");
    for (int round = 0; round < ROUNDS; round++) {
        float values[ARMS * DIM];
        for (int i = 0; i < ARMS * DIM; i++) values[i] = (float)random_normal(&draw);
        ee_arms arms = ee_arms_dense(values, ARMS, DIM);
        ee_score scores[ARMS];
        ee_decision decision = bandit_choose(bandit, &arms, scores);

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
        bandit_reward(bandit, decision.id, reward);
        double both[2] = {f1[arm], f2[arm]};
        append(&r->s1, x[arm], DIM, reward);
        append(&r->s2, phi[arm], PHI, label_of(v, (float)reward - f1[arm]));
        for (size_t i = 0; round < v->extra_until && optimal_of(v, reward) == 0 && i < ARMS; i++)
            if (i != arm) append(&r->s2, phi[i], PHI, 0.3 + v->offset);
        append(&r->s3, both, 2, optimal_of(v, reward));
        train_reference(r, v, round + 1);
    }
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

/* With room for all rounds, every draw is one of the thetas that training went through, theta_0 included. */
TEST(a_reservoir_draws_what_was_trained)
{
    enum { T = 30 };
    const char *common = "f1.width=4 exploration=network f2.width=4 features=pooled:3 f1.training=gd "
                         "f2.training=gd f1.history=all f2.history=all f1.rate=0.01 f2.rate=0.01";
    char text[512];
    snprintf(text, sizeof text, "%s keep=reservoir:100", common);
    auto_bandit *drawn = bandit_make("eenet", 3, 2, text), *last = bandit_make("eenet", 3, 2, common);
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
        double reward = random_unit(&draw);
        bandit_reward(drawn, bandit_choose(drawn, &arms, NULL).id, reward);
        bandit_reward(last, bandit_choose(last, &arms, NULL).id, reward);
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
}

/* ---- what the presets say ---- */

/* The defaults of a policy or preset; options as "name=value ...". */
static void assert_options(const char *owner, const char *options)
{
    char all[8192] = " ", wanted[64];
    ee_option found;
    for (size_t i = 0; ee_option_describe(owner, i, &found, NULL) == EE_OK; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s=%s ", found.name, found.value);
    for (size_t length; *options; options += length + (options[length] == ' ')) {
        length = strcspn(options, " ");
        snprintf(wanted, sizeof wanted, " %.*s ", (int)length, options);
        if (!strstr(all, wanted)) fail_msg("%s: no %s in %s", owner, wanted, all);
    }
}

TEST(presets_are_what_they_are_named_for)
{
    static const char *const expected[][2] = {
        {"eenet:paper", "features=normalized keep=all f1.training=gd f1.init=paper decision=hybrid hybrid_after=500 "
                        "f3.layers=3 f3.width=20 f3.loss=cross_entropy exploration=network f1.heads=1 scale=off"},
        {"eenet:authors", "f2.front=conv1d:1:100:50 label_offset=1 w2=0.1 w2_late=0.01 extra_gain=0.2 extra_until=1000 "
                          "train_every=10 train_late_every=100 f1.steps=2000 f1.stop_loss=0.001 f2.optimizer=adam "
                          "f2.decay=0.0001 f2.keep_moments=off exploration=network f1.average=0 f1.heads=1 scale=off"},
        {"eenet", "f1.layers=2 f1.width=200 exploration=ridge label=gain prior_gain=1 width=1 f1.init=paper "
                  "f1.heads=0 f1.others=0.1 scale=on"},
        {"eenet:fast", "scale=on"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_options(expected[i][0], expected[i][1]);
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
        {"f1.front=pool:5",
         "options: f1.front: pool:5 does not fit its input of 1x4; use a smaller one, or f1.front=none"},
        {"exploration=network features=lle:10 lle_neighbors=10",
         "options: features=lle:10 needs lle_neighbors above 10 and lle_window above lle_neighbors, got 10 and 200"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_settings settings = {.policy = "eenet", .dim = 4, .seed = 1, .options = cases[i].options};
        ee_bandit *bandit;
        fails_with(ee_bandit_create(&settings, &bandit, &last_error), EE_BAD_OPTION, cases[i].message);
        assert_null(bandit);
    }
    /* A front is a hidden layer. */
    ee_bandit_free(bandit_make("eenet", 4, 1, "f1.layers=1 f1.front=conv1d:2:3+relu"));
}

/* The authors' schedule: after rewards 1, 11, 21, ... to 1000, then after 1001, 1101, ... */
static void check_schedule(int late_after)
{
    char options[96];
    snprintf(options, sizeof options, "f1.layers=1 train_every=10 train_late_every=100 train_late_after=%d",
             late_after);
    auto_bandit *bandit = bandit_make("greedy", 1, 1, options);
    float one = 1;
    ee_arms arms = ee_arms_dense(&one, 1, 1);
    for (int reward = 1; reward <= 1500; reward++) {
        float before[2];
        memcpy(before, bandit->policy->parameters.values, sizeof before);
        bandit_reward(bandit, bandit_choose(bandit, &arms, NULL).id, 1e3);
        bool due = reward <= late_after ? reward % 10 == 1 : reward % 100 == 1;
        assert_int_equal(memcmp(before, bandit->policy->parameters.values, sizeof before) != 0, due);
    }
}

TEST(trains_when_the_schedule_says)
{
    check_schedule(1000);
    check_schedule(991); /* a training is due at the very reward after which it is late */
}
