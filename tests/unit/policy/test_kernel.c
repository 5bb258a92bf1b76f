/* KernelUCB and KernelTS through the library: stored scores of another program, what their draws are distributed as,
 * what is kept and for how long. */

#include "math/kernel_ridge.h"
#include "neural_play.h"

static const char *const policies[] = {"kernelucb", "kernelts"};
enum { POLICIES = 2 };

/* Gives the one arm to play, and its reward. */
static void teach(ee_bandit *bandit, const ee_arms *arm, double reward)
{
    bandit_reward(bandit, bandit_choose(bandit, arm, NULL).id, reward);
}

static void draw_values(float *values, size_t count, uint64_t seed)
{
    random_stream stream = random_named(seed, "values");
    for (size_t i = 0; i < count; i++) values[i] = (float)(random_unit(&stream) - 0.5);
}

enum { GOLDEN_ARMS = 5, GOLDEN_DIM = 6 };

static void check_golden(bool sparse, const char *more)
{
    json_auto_t *golden = golden_load("kernelucb.json");
    size_t count, rounds;
    auto_free float *contexts = golden_floats(golden_member(golden, "contexts"), &count);
    auto_free double *played = golden_doubles(golden_member(golden, "played"), &rounds);
    auto_free double *rewards = golden_doubles(golden_member(golden, "rewards"), NULL);
    auto_free double *expected = golden_doubles(golden_member(golden, "scores"), NULL);
    assert_int_equal(count, rounds * GOLDEN_ARMS * GOLDEN_DIM);
    char options[128];
    snprintf(options, sizeof options, "gamma=%g nu=%g lambda=%g %s", json_number_value(golden_member(golden, "gamma")),
             json_number_value(golden_member(golden, "nu")), json_number_value(golden_member(golden, "lambda_")), more);
    auto_bandit *bandit = bandit_make("kernelucb", GOLDEN_DIM, 1, options);
    size_t starts[GOLDEN_ARMS + 1];
    uint32_t indices[GOLDEN_ARMS * GOLDEN_DIM];
    for (uint32_t i = 0; i < GOLDEN_ARMS * GOLDEN_DIM; i++) indices[i] = i % GOLDEN_DIM;
    for (size_t i = 0; i <= GOLDEN_ARMS; i++) starts[i] = i * GOLDEN_DIM;
    for (size_t t = 0; t < rounds; t++) {
        const float *x = contexts + t * GOLDEN_ARMS * GOLDEN_DIM, *own = x + (size_t)played[t] * GOLDEN_DIM;
        ee_arms all = ee_arms_dense(x, GOLDEN_ARMS, GOLDEN_DIM), one = ee_arms_dense(own, 1, GOLDEN_DIM);
        if (sparse) all = ee_arms_sparse(starts, indices, x, GOLDEN_ARMS, GOLDEN_DIM);
        if (sparse) one = ee_arms_sparse(starts, indices, own, 1, GOLDEN_DIM);
        ee_score scores[GOLDEN_ARMS];
        ok(ee_bandit_score(bandit, &all, scores, NULL));
        for (size_t i = 0; i < GOLDEN_ARMS; i++) {
            assert_close(scores[i].score, expected[t * GOLDEN_ARMS + i], 1e-5);
            assert_close(scores[i].exploitation + scores[i].exploration, scores[i].score, 1e-6);
            assert_true(scores[i].exploration > 0);
        }
        teach(bandit, &one, rewards[t]);
    }
    assert_true(rounds >= 40);
}

enum { TS_DIM = 2, TS_ARMS = 6, TS_SAMPLES = 12 };

/* Two arms are the same, two are near each other, one is far from all. */
static const float ts_values[TS_ARMS * TS_DIM] = {0.1f, 0.2f, 0.5f, -0.3f, 0.1f, 0.2f, 0.6f, -0.2f, 9, 9, -0.4f, 0};

/* What the draws must be distributed as: mean (TS_ARMS), covariance (TS_ARMS, TS_ARMS). */
static void posterior(const float *played, const double *rewards, double *mean, double covariance[TS_ARMS][TS_ARMS])
{
    kernel_ridge k = kernel_ridge_make(0, 1.5, 0.2, TS_DIM, 1);
    auto_free double *state = calloc(kernel_ridge_state_count(&k, TS_SAMPLES), sizeof *state),
                     *panel = calloc(kernel_ridge_panel_count(TS_SAMPLES, TS_ARMS), sizeof *panel);
    double variance[TS_ARMS];
    for (size_t i = 0; i < TS_SAMPLES; i++)
        kernel_ridge_append(&k, state, i, vector_dense(played + i * TS_DIM, TS_DIM), rewards[i]);
    ee_arms arms = ee_arms_dense(ts_values, TS_ARMS, TS_DIM);
    kernel_ridge_predict(&k, state, TS_SAMPLES, &arms, 0, TS_ARMS, panel, mean, variance);
    kernel_ridge_covariance(&k, TS_SAMPLES, &arms, panel, covariance[0]);
    for (size_t i = 0; i < TS_ARMS; i++)
        for (size_t j = 0; j <= i; j++) covariance[j][i] = covariance[i][j] *= 0.5 * 0.5 / 0.2; /* nu^2 / lambda */
}

TEST(scores_are_the_stored_ones_and_draws_those_of_the_posterior)
{
    float played[TS_SAMPLES * TS_DIM];
    double rewards[TS_SAMPLES], mean[TS_ARMS], covariance[TS_ARMS][TS_ARMS];
    draw_values(played, TS_SAMPLES * TS_DIM, 5);
    auto_bandit *bandit = bandit_make("kernelts", TS_DIM, 3, "gamma=1.5 lambda=0.2 nu=0.5");
    for (size_t i = 0; i < TS_SAMPLES; i++) {
        ee_arms one = ee_arms_dense(played + i * TS_DIM, 1, TS_DIM);
        rewards[i] = (float)sin((double)i);
        teach(bandit, &one, rewards[i]);
    }
    posterior(played, rewards, mean, covariance);
    ee_arms arms = ee_arms_dense(ts_values, TS_ARMS, TS_DIM);
    assert_draws(bandit, &arms, mean, covariance[0]);
    assert_close(covariance[4][4], 0.5 * 0.5 / 0.2, 1e-9);
    assert_true(covariance[0][0] < 0.2 && covariance[3][1] > 0.5 * covariance[1][1]);
    check_golden(false, "");
    check_golden(true, "");
    check_golden(false, "max_contexts=40 nonzeros=1 arms=1");
}

TEST(after_max_contexts_nothing_changes)
{
    enum { DIM = 4, ARMS = 5, MOST = 25 };
    float values[ARMS * DIM], other[DIM];
    draw_values(values, ARMS * DIM, 1);
    for (int p = 0; p < POLICIES; p++) {
        auto_bandit *bandit = bandit_make(policies[p], DIM, 1, "max_contexts=25 gamma=3");
        ee_score before[ARMS], now[ARMS];
        size_t bytes = ee_bandit_memory(bandit);
        ee_arms arms = ee_arms_dense(values, ARMS, DIM), one = ee_arms_dense(other, 1, DIM);
        ok(ee_bandit_score(bandit, &arms, before, NULL));
        for (uint64_t t = 1; t <= 3 * MOST; t++) {
            draw_values(other, DIM, 10 + t);
            teach(bandit, &one, 1);
            ok(ee_bandit_score(bandit, &arms, now, NULL));
            bool same = true;
            for (size_t i = 0; i < ARMS; i++) same &= now[i].exploitation == before[i].exploitation;
            assert_int_equal(same, t > MOST);
            memcpy(before, now, sizeof before);
            assert_int_equal(ee_bandit_memory(bandit), bytes);
        }
        assert_int_equal(ee_bandit_info(bandit).rewards, 3 * MOST);
    }
}

/* A sound checksum over an index past the dimension: it would be read from outside of an arm. */
TEST(a_model_with_a_bad_index_is_refused)
{
    const float value = 0.625f;
    const uint32_t index = 3, bad = 6;
    const size_t starts[2] = {0, 1};
    auto_bandit *bandit = bandit_make("kernelucb", 6, 9, "max_contexts=30"), *loaded;
    ee_arms arm = ee_arms_sparse(starts, &index, &value, 1, 6);
    teach(bandit, &arm, 1);
    auto_model saved = model_save(bandit);
    uint8_t context[8], *place = NULL;
    memcpy(context, &value, 4);
    memcpy(context + 4, &index, 4);
    uint8_t *bytes = saved.bytes;
    for (uint8_t *at = bytes; !place && at + 8 <= bytes + saved.size; at++)
        if (memcmp(at, context, 8) == 0) place = at;
    assert_non_null(place);
    memcpy(place + 4, &bad, 4);
    uint64_t checksum = archive_checksum(bytes, saved.size - 8);
    memcpy(bytes + saved.size - 8, &checksum, 8);
    fails_with(ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &loaded, &last_error), EE_BAD_MODEL,
               "model: a context is not a vector of the model's dimension");
    assert_null(loaded);
}

TEST(an_arm_too_wide_to_keep_is_refused)
{
    enum { DIM = 200000, WIDTH = 1500 };
    auto_free float *values = calloc(DIM, sizeof *values);
    for (size_t i = 0; i < WIDTH; i++) values[2 * i] = 0.01f;
    ee_arms arm = ee_arms_dense(values, 1, DIM);
    for (int p = 0; p < POLICIES; p++) {
        auto_bandit *bandit = bandit_make(policies[p], DIM, 1, "max_contexts=400 pending=4");
        char expected[256];
        snprintf(expected, sizeof expected,
                 "learn: the arm has more than 1024 non-zero features, the room of %s; create it with a larger option "
                 "nonzeros",
                 policies[p]);
        ee_decision decision = bandit_choose(bandit, &arm, NULL);
        auto_model before = model_save(bandit);
        refuses(ee_bandit_learn(bandit, decision.id, 1, &last_error), expected);
        assert_true(model_is_of(before, bandit));
        ee_bandit_free(bandit);
        bandit = bandit_make(policies[p], DIM, 1, "max_contexts=400 pending=4 nonzeros=1500");
        teach(bandit, &arm, 1);
    }
}
