/* NeuralUCB and NeuralTS: their widths against stored numbers and against formed gradients, and what they promise. */
#include "policy/neural_play.h"
#include "support_network.h"

static round_arms round_now;

static const network *network_of(const ee_bandit *bandit)
{
    return &((const exploitation *)bandit->policy)->f1.networks[0];
}

static void check_golden(const char *covariance, const char *member)
{
    json_auto_t *file = golden_load("neural_widths.json");
    json_t *contexts = golden_member(file, "contexts"), *rounds = golden_member(file, "rounds");
    json_t *played = golden_member(file, "played");
    char options[128];
    snprintf(options, sizeof options, "f1.width=12 f1.bias=off lambda=%g nu=1 covariance=%s",
             json_real_value(golden_member(file, "lambda_")), covariance);
    auto_bandit *bandit = bandit_make("neural-ucb:paper", 6, 0, options);
    theta_from_golden(network_of(bandit), golden_member(file, "layers"), 0, bandit->policy->parameters.values);
    assert_int_equal(json_array_size(rounds), 12);
    for (size_t t = 0; t < json_array_size(rounds); t++) {
        enum { ARMS = 5 };
        json_t *round = json_array_get(rounds, t);
        size_t count, arms;
        ee_score scores[ARMS];
        auto_free float *values = golden_floats(json_array_get(contexts, t), &count);
        auto_free double *f = golden_doubles(golden_member(round, "f"), &arms);
        auto_free double *width = golden_doubles(golden_member(round, member), NULL);
        assert_int_equal(arms, ARMS);
        assert_int_equal(count, ARMS * 6);
        ee_arms all = ee_arms_dense(values, ARMS, 6);
        policy_play(bandit, &all, (size_t)json_integer_value(json_array_get(played, t)), 0, scores);
        for (size_t i = 0; i < ARMS; i++) {
            assert_close(scores[i].exploitation, f[i], 1e-5);
            assert_close(scores[i].exploration, width[i], 1e-5);
            assert_close(scores[i].score, f[i] + width[i], 1e-5);
        }
    }
}

TEST(widths_are_the_stored_ones)
{
    check_golden("diagonal", "width_diagonal");
    check_golden("full", "width_full");
}

enum { DIM = 24, ARMS = 5 };

/* f1's gradient at an arm, (p), by theta as it is now. */
static double *form_gradient(const ee_bandit *bandit, vector x)
{
    const network *f1 = network_of(bandit);
    const float *theta = bandit->policy->parameters.values;
    auto_free float *activations = calloc(f1->activation_count, sizeof(float)),
                    *deltas = calloc(f1->activation_count, sizeof(float));
    auto_free float *gradient = calloc(f1->parameter_count, sizeof *gradient);
    double *wide = calloc(f1->parameter_count, sizeof *wide);
    network_forward(f1, theta, x, activations);
    network_backward(f1, theta, x, activations, 1, deltas);
    network_add_gradient(f1, x, activations, deltas, gradient);
    for (size_t i = 0; i < f1->parameter_count; i++) wide[i] = gradient[i];
    return wide;
}

/* z, its diagonal or all of it, in doubles and with every gradient formed, beside a bandit that trains. */
static void check_formed(const char *network_text, bool full, bool sparse, uint64_t rounds)
{
    char options[256];
    snprintf(options, sizeof options, "lambda=0.3 nu=0.7 covariance=%s %s", full ? "full" : "diagonal", network_text);
    auto_bandit *bandit = bandit_make("neural-ucb:paper", DIM, 3, options);
    size_t p = network_of(bandit)->parameter_count;
    double m = (double)((const exploitation *)bandit->policy)->f1.options.network.width;
    auto_free double *z = calloc(p * (full ? p : 1), sizeof *z);
    for (size_t i = 0; i < p; i++) z[full ? i * p + i : i] = 0.3;
    for (uint64_t t = 1; t <= rounds; t++) {
        ee_score scores[ARMS];
        round_draw(&round_now, t, ARMS, DIM, 6);
        const ee_arms *arms = sparse ? &round_now.sparse : &round_now.dense;
        ee_decision decision = bandit_choose(bandit, arms, scores);
        for (size_t i = 0; i < ARMS; i++) {
            auto_free double *g = form_gradient(bandit, vector_of_arm(arms, i));
            double squared = 0;
            bool last = t == rounds; /* solving is slow */
            if (full && last) squared = form_plainly(z, g, g, p);
            for (size_t k = 0; !full && k < p; k++) squared += g[k] * g[k] / z[k];
            if (squared > 0) assert_close(scores[i].exploration / (0.7 * sqrt(0.3 * squared / m)), 1, 1e-5);
            assert_true(scores[i].score == scores[i].exploitation + scores[i].exploration);
        }
        double *g = form_gradient(bandit, vector_of_arm(arms, decision.arm));
        for (size_t k = 0; k < p; k++)
            for (size_t l = full ? 0 : k; l < (full ? p : k + 1); l++) z[full ? k * p + l : k] += g[k] * g[l] / m;
        free(g);
        bandit_reward(bandit, decision.id, round_reward(&round_now, decision.arm));
    }
}

static const char *const networks[] = {
    "f1.layers=1",
    "f1.layers=1 f1.bias=off",
    "f1.layers=2 f1.width=9",
    "f1.layers=2 f1.width=9 f1.bias=off",
    "f1.layers=4 f1.width=6",
    "f1.layers=2 f1.width=5 f1.front=conv1d:2:5:2+relu",
    "f1.layers=2 f1.width=4 f1.image=2x4x3 f1.front=conv2d:3:2+relu+pool:2",
    "f1.layers=2 f1.width=5 f1.heads=3",
    "f1.layers=2 f1.width=4 f1.heads=2 f1.image=1x4x3 f1.front=conv2d:3:2+relu",
};
enum { NETWORKS = sizeof networks / sizeof *networks };

/* The diagonal comes from the factors alone, the full matrix is the inverse. */
TEST(widths_are_those_of_formed_gradients)
{
    for (size_t i = 0; i < NETWORKS; i++) {
        for (int sparse = 0; sparse < 2; sparse++) {
            check_formed(networks[i], false, sparse, 30);
            check_formed(networks[i], true, sparse, 6);
        }
    }
    check_formed("f1.width=3", true, false, test_long(500, 5000)); /* rank-one updates do not drift */
}

TEST(draws_have_the_formulas_mean_and_variance)
{
    const char *const kinds[] = {"nu=0.4 f1.width=9 covariance=diagonal", "nu=0.4 f1.width=9 covariance=full"};
    for (int k = 0; k < 2; k++) {
        auto_bandit *drawing = bandit_make("neural-ts:paper", DIM, 2, kinds[k]),
                    *certain = bandit_make("neural-ucb:paper", DIM, 2, kinds[k]);
        ee_score scores[ARMS];
        for (uint64_t t = 1; t <= 20; t++) {
            round_draw(&round_now, t, ARMS, DIM, 6);
            policy_play(drawing, &round_now.dense, t % ARMS, 1, scores);
            policy_play(certain, &round_now.dense, t % ARMS, 1, scores);
        }
        double mean[ARMS], covariance[ARMS * ARMS] = {0}; /* independent */
        play_score(certain, &round_now.dense, scores);
        for (size_t i = 0; i < ARMS; i++) {
            mean[i] = scores[i].exploitation;
            covariance[i * ARMS + i] = scores[i].exploration * scores[i].exploration;
        }
        assert_draws(drawing, &round_now.dense, mean, covariance);
    }
}

TEST(full_is_refused_above_its_limit)
{
    ee_bandit *bandit = NULL;
    const char *options = "covariance=full memory_limit=1 f1.layers=1 f1.bias=off";
    ee_settings fits = {.policy = "neural-ucb:paper", .dim = 511, .options = options},
                over = {.policy = "neural-ucb:paper", .dim = 512, .options = options};
    ok(ee_bandit_create(&fits, &bandit, &last_error));
    ee_bandit_free(bandit);
    fails_with(ee_bandit_create(&over, &bandit, &last_error), EE_BAD_OPTION,
               "options: neural-ucb.covariance=full takes 1050624 bytes for f1's 512 parameters, but "
               "neural-ucb.memory_limit is 1 MiB");
    assert_null(bandit);
    ee_settings image = {.policy = "neural-ts:paper", .dim = 7840, .options = "covariance=full"};
    fails_with(ee_bandit_create(&image, &bandit, &last_error), EE_BAD_OPTION,
               "options: neural-ts.covariance=full takes 2459887970408 bytes for f1's 784201 "
               "parameters, but neural-ts.memory_limit is 1024 MiB");
}
