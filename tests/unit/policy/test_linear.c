/* LinUCB and LinTS: against the numbers of another program, and their formula. */

#include "neural_play.h"

/* Makes the bandit learn the arm, whichever it would choose: a round of this arm alone. */
static void learn_arm(ee_bandit *bandit, const float *x, size_t dim, bool sparse, double reward)
{
    static round_arms one;
    memcpy(one.values, x, dim * sizeof *x);
    round_compress(&one, 1, dim);
    ee_decision decision = bandit_choose(bandit, sparse ? &one.sparse : &one.dense, NULL);
    bandit_reward(bandit, decision.id, reward);
}

TEST(linucb_has_the_stored_scores)
{
    static round_arms round;
    json_auto_t *root = golden_load("linucb.json");
    assert_close(json_number_value(golden_member(root, "alpha")), 0.3, 0);
    assert_close(json_number_value(golden_member(root, "lambda_")), 1, 0);
    size_t dim, arms, rounds, score_count, entries;
    auto_free double *played = golden_doubles(golden_member(root, "played"), &rounds);
    auto_free double *rewards = golden_doubles(golden_member(root, "rewards"), NULL);
    auto_free double *stored = golden_doubles(golden_member(root, "scores"), &score_count);
    auto_free double *theta_last = golden_doubles(golden_member(root, "theta_last"), &dim);
    auto_free float *all = golden_floats(golden_member(root, "contexts"), &entries); /* (rounds, arms, dim) */
    assert_int_equal(rounds, 40);
    arms = score_count / rounds;
    assert_int_equal(entries, rounds * arms * dim);
    assert_int_equal(arms, json_integer_value(golden_member(root, "arms")));
    assert_int_equal(dim, json_integer_value(golden_member(root, "dim")));
    for (int form = 0; form < 4; form++) {
        bool sparse = form % 2;
        auto_bandit *bandit = bandit_make("linucb:paper", dim, 1, form < 2 ? "alpha=0.3" : "alpha=0.3 refresh=3");
        for (size_t t = 0; t < rounds; t++) {
            const float *contexts = all + t * arms * dim;
            memcpy(round.values, contexts, arms * dim * sizeof *contexts);
            round_compress(&round, arms, dim);
            ee_score scores[16];
            ok(ee_bandit_score(bandit, sparse ? &round.sparse : &round.dense, scores, NULL));
            for (size_t i = 0; i < arms; i++) {
                assert_close(scores[i].score, stored[t * arms + i], 1e-5);
                assert_close(scores[i].exploitation + scores[i].exploration, scores[i].score, 1e-6);
            }
            learn_arm(bandit, contexts + (size_t)played[t] * dim, dim, sparse, rewards[t]);
        }
        memset(round.values, 0, dim * dim * sizeof *round.values);
        for (size_t i = 0; i < dim; i++) round.values[i * dim + i] = 1;
        round_compress(&round, dim, dim);
        ee_score theta[16];
        ok(ee_bandit_score(bandit, &round.dense, theta, NULL));
        for (size_t i = 0; i < dim; i++) assert_close(theta[i].exploitation, theta_last[i], 1e-5);
    }
}

/* The scores of LinUCB with alpha = 1 give mean and deviation that the draws of LinTS must have. The third arm is the
 * sum of the others, for their covariance: all have one theta. */
TEST(thompson_draws_follow_the_formula)
{
    enum { DIM = 6, ARMS = 3 };
    const double nu = 0.7;
    static round_arms round;
    auto_bandit *ucb = bandit_make("linucb:paper", DIM, 2, "alpha=1 lambda=0.5");
    auto_bandit *thompson = bandit_make("lints:paper", DIM, 2, "nu=0.7 lambda=0.5");
    for (uint64_t t = 1; t <= 30; t++) {
        round_draw(&round, t, 1, DIM, 4);
        learn_arm(ucb, round.values, DIM, false, round_reward(&round, 0));
        learn_arm(thompson, round.values, DIM, false, round_reward(&round, 0));
    }
    round_draw(&round, 99, ARMS, DIM, 5);
    float *x = round.values;
    for (size_t i = 0; i < DIM; i++) x[2 * DIM + i] = x[i] + x[DIM + i];
    round_compress(&round, ARMS, DIM);
    ee_score scores[ARMS];
    double mean[ARMS], v[ARMS];
    ok(ee_bandit_score(ucb, &round.dense, scores, NULL));
    for (size_t i = 0; i < ARMS; i++) {
        mean[i] = scores[i].exploitation;
        v[i] = nu * nu * scores[i].exploration * scores[i].exploration;
    }
    double c = (v[2] - v[0] - v[1]) / 2;
    const double covariance[] = {v[0], c, v[0] + c, c, v[1], v[1] + c, v[0] + c, v[1] + c, v[2]};
    assert_true(fabs(c) > 0.1 * sqrt(v[0] * v[1])); /* else it says little */
    assert_draws(thompson, &round.dense, mean, covariance);
    assert_draws(thompson, &round.sparse, mean, covariance);
}
