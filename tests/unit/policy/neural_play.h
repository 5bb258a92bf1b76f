/* What the tests of the neural policies share: arms that a test chooses, equations solved plainly, draws. */
#ifndef EENET_TEST_NEURAL_PLAY_H
#define EENET_TEST_NEURAL_PLAY_H

#include "engine/rounds.h"

#include "engine/bandit.h"
#include "policy/parts/exploitation.h"

static inline const exploitation *exploitation_of(const ee_bandit *bandit)
{
    return (const exploitation *)bandit->policy;
}

/* The activations of network k of f1 for x, the last of them its outputs; to be freed with free. */
static inline float *pass_network(const ee_bandit *bandit, size_t k, vector x, double *output)
{
    const learner *f1 = &exploitation_of(bandit)->f1;
    float *activations = calloc(f1->networks[k].activation_count, sizeof *activations);
    *output =
        (double)network_forward(&f1->networks[k], bandit->policy->parameters.values + f1->starts[k], x, activations);
    return activations;
}

/* The weight of network k in their mean. */
static inline double weight_of(const ee_bandit *bandit, size_t k)
{
    const learner *f1 = &exploitation_of(bandit)->f1;
    return f1->network_count > 1 ? (double)bandit->policy->parameters.values[f1->parameter_count + k] : 1;
}

/* The scores as the policy gives them: unlike ee_bandit_score, the next call draws others. */
static inline void play_score(ee_bandit *bandit, const ee_arms *arms, ee_score *scores)
{
    const policy *own = bandit->policy;
    ok(scratch_reserve(&bandit->room->scratch, &bandit->memory, own->class->scratch_count(own, arms->count),
                       &last_error));
    bandit->room->scratch.random = bandit->room->streams.posterior;
    own->class->score(&own->parameters, arms, &bandit->room->scratch, scores);
    bandit->room->streams.posterior = bandit->room->scratch.random;
}

/* Plays the arm that the test wants and takes in its reward, without training. scores is (arms->count). */
static inline void policy_play(ee_bandit *bandit, const ee_arms *arms, size_t arm, float reward, ee_score *scores)
{
    policy *own = bandit->policy;
    const policy_class *class = own->class;
    uint64_t round = own->parameters.round;
    play_score(bandit, arms, scores);
    size_t count = class->kept_count ? class->kept_count(own, round, arms->count) : 0;
    auto_free float *kept = calloc(count + 1, sizeof *kept);
    if (class->keep) class->keep(&own->parameters, arms, arm, &bandit->room->scratch, kept);
    observation seen = {
        .round = round, .x = vector_of_arm(arms, arm), .score = scores[arm], .kept = kept, .kept_count = count};
    ee_error error = {EE_OK, ""};
    if (class->reserve(own, &seen, &error)) fail_msg("%s", error.message);
    double *rate = &((exploitation *)own)->f1.optimizer.options.rate, before = *rate;
    *rate = 0; /* f1 is trained, and stays as it is */
    assert_true(policy_learn(own, &seen, reward));
    *rate = before;
}

/* x = A^-1 x by Gauss, A symmetric and positive. a is (n, n) and is used up. */
static inline void solve_plainly(double *a, double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            double share = a[i * n + k] / a[k * n + k];
            for (size_t j = k; share != 0 && j < n; j++) a[i * n + j] -= share * a[k * n + j];
            x[i] -= share * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
}

/* x^T A^-1 y */
static inline double form_plainly(const double *a, const double *x, const double *y, size_t n)
{
    double *copy = malloc(n * n * sizeof *copy), *solved = malloc(n * sizeof *solved), sum = 0;
    memcpy(copy, a, n * n * sizeof *copy);
    memcpy(solved, y, n * sizeof *solved);
    solve_plainly(copy, solved, n);
    for (size_t i = 0; i < n; i++) sum += x[i] * solved[i];
    free(copy);
    free(solved);
    return sum;
}

/* Mean and deviation of what the arms' draws should be; covariance is (count, count). z below 4.5: a right policy is
 * refused once in 10^5, and the seeds are fixed. */
static inline void assert_draws(ee_bandit *bandit, const ee_arms *arms, const double *mean, const double *covariance)
{
    enum { DRAWS = 5000, MOST = 8 };
    size_t n = arms->count;
    double sums[MOST] = {0}, products[MOST * MOST] = {0}, largest = 4.5;
    ee_score scores[MOST];
    assert_true(n <= MOST);
    for (int k = 0; k < DRAWS; k++) {
        play_score(bandit, arms, scores);
        for (size_t i = 0; i < n; i++) {
            assert_close(scores[i].exploitation, mean[i], 1e-5);
            assert_close(scores[i].exploitation + scores[i].exploration, scores[i].score, 1e-5);
            sums[i] += scores[i].score - mean[i];
            for (size_t j = 0; j < n; j++)
                products[i * n + j] += (scores[i].score - mean[i]) * (scores[j].score - mean[j]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        double variance = covariance[i * n + i];
        assert_true(variance > 0);
        assert_true(fabs(sums[i]) / sqrt(DRAWS * variance) < largest);
        for (size_t j = 0; j < n; j++) {
            /* The variance of a product of two normals. */
            double spread = variance * covariance[j * n + j] + covariance[i * n + j] * covariance[i * n + j];
            double excess = products[i * n + j] - DRAWS * covariance[i * n + j];
            assert_true(fabs(excess) / sqrt(DRAWS * spread) < largest);
        }
    }
}

#endif
