/* NeuralLinear and Neural-LinUCB: against a regression that is solved anew, and what they promise. */
#include "policy/neural_play.h"
#include "policy/parts/last_layer.h"

enum { DIM = 12, ARMS = 6, WIDTH = 9, D = WIDTH + 1 };

static round_arms round_now;

static const last_layer *parts_of(const ee_bandit *bandit)
{
    return (const last_layer *)bandit->policy;
}

/* h of all networks of f1 and the 1 behind it, (D), by f1 as it is now. */
static void features_of(const ee_bandit *bandit, vector x, double *h)
{
    const learner *f1 = &parts_of(bandit)->shared.f1;
    size_t count = 0;
    for (size_t k = 0; k < f1->network_count; k++) {
        const network *net = &f1->networks[k];
        size_t width = net->layers[net->layer_count - 1].in.width;
        double output;
        auto_free float *activations = pass_network(bandit, k, x, &output);
        const float *hidden = activations + net->activation_count - net->heads - width; /* before the outputs */
        for (size_t i = 0; i < width; i++) h[count++] = (double)hidden[i];
    }
    assert_int_equal(count, WIDTH);
    h[WIDTH] = 1;
}

/* A and the sum of w y h, as plain sums. */
typedef struct regression {
    double a[D * D], moment[D];
} regression;

static void regression_start(regression *r, double lambda)
{
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < D; i++) r->a[i * D + i] = lambda;
}

static void regression_add(regression *r, const double *h, double y, double weight)
{
    for (size_t i = 0; i < D; i++) {
        r->moment[i] += weight * y * h[i];
        for (size_t j = 0; j < D; j++) r->a[i * D + j] += weight * h[i] * h[j];
    }
}

/* Of the samples that f1's history holds, by f1 as it is now. */
static void regression_of_history(regression *r, const ee_bandit *bandit, double lambda, double weight)
{
    const history *samples = &parts_of(bandit)->shared.f1.history;
    regression_start(r, lambda);
    for (size_t i = 0; i < samples->count; i++) {
        double h[D];
        features_of(bandit, history_input(samples, i), h);
        regression_add(r, h, history_target(samples, i), weight);
    }
}

static void check_scores(const regression *r, const ee_bandit *bandit, const ee_arms *arms, double alpha,
                         const ee_score *scores)
{
    for (size_t i = 0; i < arms->count; i++) {
        double h[D];
        features_of(bandit, vector_of_arm(arms, i), h);
        double mean = form_plainly(r->a, h, r->moment, D), width = sqrt(form_plainly(r->a, h, h, D));
        assert_close(scores[i].exploitation, mean, 1e-5);
        assert_close(scores[i].exploration, alpha * width, 1e-5);
        assert_close(scores[i].score, mean + alpha * width, 1e-5);
    }
}

/* Samples keep the features of their time; right after a rebuild all have f1's present ones. */
static void check_play(const char *network_text, int rebuild, const char *history_text, double kept)
{
    enum { EVERY = 3, ROUNDS = 61 }; /* trains at 1, 4, 7, ... */
    char options[200];
    snprintf(options, sizeof options, "%s alpha=0.7 lambda=0.2 rebuild=%d train_every=%d f1.rate=0.02 f1.history=%s",
             network_text, rebuild, EVERY, history_text);
    auto_bandit *bandit = bandit_make("neural-linucb:paper", DIM, 3, options);
    regression plain;
    regression_start(&plain, 0.2);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        ee_score scores[ARMS];
        double h[D];
        round_draw(&round_now, t, ARMS, DIM, 6);
        ee_decision decision = bandit_choose(bandit, &round_now.dense, scores);
        check_scores(&plain, bandit, &round_now.dense, 0.7, scores);
        double reward = round_reward(&round_now, decision.arm);
        features_of(bandit, vector_of_arm(&round_now.dense, decision.arm), h);
        regression_add(&plain, h, reward, 1);
        bandit_reward(bandit, decision.id, reward);
        double held = (double)t < kept ? (double)t : kept;
        if (rebuild && t % EVERY == 1 && ((int)t / EVERY + 1) % rebuild == 0) /* a reservoir stands for all samples */
            regression_of_history(&plain, bandit, 0.2,
                                  strncmp(history_text, "reservoir", 9) == 0 ? (double)t / held : 1);
    }
}

TEST(a_rebuild_takes_the_features_of_now)
{
    check_play("f1.width=9", 0, "all", 0);
    check_play("f1.width=9 f1.layers=4 f1.bias=off", 0, "all", 0);
    check_play("f1.width=9 f1.front=conv1d:2:3+relu+pool:2", 0, "all", 0);
    check_play("f1.width=5 f1.committee=3 f1.deep_width=2", 0, "all", 0);
    check_play("f1.width=9", 4, "all", 1000);
    check_play("f1.committee=2 f1.width=4 f1.deep_width=5", 4, "ring:17", 17);
    check_play("f1.width=9", 4, "ring:7", 7);
    check_play("f1.width=9", 4, "reservoir:13", 13);
    /* A network without a hidden layer is refused. */
    ee_bandit *bandit = NULL;
    ee_settings settings = {.policy = "neural-linear:paper", .dim = 4, .options = "f1.layers=1"};
    fails_with(ee_bandit_create(&settings, &bandit, &last_error), EE_BAD_OPTION,
               "options: f1.layers must be at least 2, got 1: neural-linear explores on the last hidden layer");
    assert_null(bandit);
    settings.policy = "neural-linucb:paper";
    fails_with(ee_bandit_create(&settings, &bandit, &last_error), EE_BAD_OPTION,
               "options: f1.layers must be at least 2, got 1: neural-linucb explores on the last hidden layer");
}

/* One theta for all arms: their scores vary together, by nu^2 h^T A^-1 h'. */
TEST(draws_have_the_formulas_mean_and_covariance)
{
    const double nu = 0.4;
    auto_bandit *bandit = bandit_make("neural-linear:paper", DIM, 2, "nu=0.4 f1.width=9 lambda=0.5");
    regression plain;
    regression_start(&plain, 0.5);
    for (uint64_t t = 1; t <= 20; t++) {
        ee_score scores[ARMS];
        double h[D];
        round_draw(&round_now, t, ARMS, DIM, 6);
        policy_play(bandit, &round_now.dense, t % ARMS, (float)(t % 2), scores);
        features_of(bandit, vector_of_arm(&round_now.dense, t % ARMS), h);
        regression_add(&plain, h, (double)(t % 2), 1);
    }
    double h[ARMS][D], mean[ARMS], covariance[ARMS * ARMS], apart = 0;
    for (size_t i = 0; i < ARMS; i++) features_of(bandit, vector_of_arm(&round_now.dense, i), h[i]);
    for (size_t i = 0; i < ARMS; i++) {
        mean[i] = form_plainly(plain.a, h[i], plain.moment, D);
        for (size_t j = 0; j < ARMS; j++) {
            covariance[i * ARMS + j] = nu * nu * form_plainly(plain.a, h[i], h[j], D);
            if (i != j) apart += covariance[i * ARMS + j];
        }
    }
    assert_true(apart > 0.01); /* so that independent draws would be found out */
    assert_draws(bandit, &round_now.dense, mean, covariance);
}

/* Arm i lies in block i % 3 alone: each block is a regression of its own. */
TEST(blocks_have_a_regression_each)
{
    enum { HEADS = 3, BLOCK = DIM / HEADS };
    auto_bandit *bandit =
        bandit_make("neural-linucb:paper", DIM, 3, "f1.width=9 f1.heads=3 alpha=0.7 lambda=0.2 rebuild=0 f1.rate=0.02");
    regression plain[HEADS];
    size_t played[HEADS] = {0};
    for (size_t i = 0; i < HEADS; i++) regression_start(&plain[i], 0.2);
    random_stream draw = random_named(5, "arms");
    for (uint64_t t = 1; t <= 80; t++) {
        float values[ARMS * DIM] = {0};
        for (size_t i = 0; i < ARMS; i++)
            for (size_t j = 0; j < BLOCK; j++) values[i * DIM + i % HEADS * BLOCK + j] = (float)random_normal(&draw);
        ee_arms arms = {.count = ARMS, .dim = DIM, .values = values};
        ee_score scores[ARMS];
        ee_decision decision = bandit_choose(bandit, &arms, scores);
        for (size_t i = 0; i < ARMS; i++) {
            ee_arms alone = {.count = 1, .dim = DIM, .values = values + i * DIM};
            check_scores(&plain[i % HEADS], bandit, &alone, 0.7, scores + i);
        }
        double h[D], reward = decision.arm % HEADS == 1 ? 1 : 0.5 * random_unit(&draw);
        features_of(bandit, vector_of_arm(&arms, decision.arm), h);
        regression_add(&plain[decision.arm % HEADS], h, reward, 1);
        played[decision.arm % HEADS]++;
        bandit_reward(bandit, decision.id, reward);
    }
    for (size_t i = 0; i < HEADS; i++) assert_true(played[i] > 2);
}
