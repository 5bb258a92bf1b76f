/* The ensemble: scores by its members, and votes that are exact probabilities. */
#include "policy/neural_play.h"

enum { DIM = 6, ARMS = 5, MEMBERS = 7 };

static round_arms round_now;

/* q (MEMBERS): adds to them what the members of network k of f1 say of an arm, with its weight: the network's outputs
 * and the priors. */
static void add_network_by_hand(const ee_bandit *bandit, size_t k, vector x, double *q)
{
    double unused, mean = 0;
    const members *m = exploitation_of(bandit)->f1.members[k];
    auto_free float *activations = pass_network(bandit, k, x, &unused);
    auto_free float *of_priors = calloc(m->network.activation_count, sizeof *of_priors);
    network_forward(&m->network, m->theta, x, of_priors);
    const float *f = network_members(&exploitation_of(bandit)->f1.networks[k], x, activations);
    const float *p = network_members(&m->network, x, of_priors);
    for (size_t i = 0; i < MEMBERS; i++) mean += (double)p[i] / MEMBERS;
    for (size_t i = 0; i < MEMBERS; i++)
        q[i] += weight_of(bandit, k) * ((double)f[i] + m->options.prior * ((double)p[i] - mean));
}

/* q (MEMBERS): what each member expects of an arm, as a reward. */
static void expect_by_hand(const ee_bandit *bandit, vector x, double *q)
{
    const parameters *learned = &bandit->policy->parameters;
    memset(q, 0, MEMBERS * sizeof *q);
    for (size_t k = 0; k < exploitation_of(bandit)->f1.network_count; k++) add_network_by_hand(bandit, k, x, q);
    for (size_t i = 0; i < MEMBERS; i++) q[i] = learned->centre + learned->spread * q[i];
}

TEST(scores_are_the_mean_and_the_deviation_of_the_members)
{
    static const char *const options[] = {"members=7 f1.width=12 alpha=0.6 recall=0 scale=off",
                                          "members=7 f1.width=12 alpha=0.6 recall=0 scale=off blocks=2 prior=3",
                                          "members=7 f1.width=12 alpha=0.6 recall=0 scale=off f1.committee=1",
                                          "members=7 f1.width=12 alpha=0.6 recall=0 scale=off f1.committee=4"};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        auto_bandit *bandit = bandit_make("neural-ensemble", DIM, 3, options[o]);
        bandit_play(bandit, 1, 60, ARMS, false);
        for (int sparse = 0; sparse < 2; sparse++) {
            ee_score scores[ARMS];
            round_draw(&round_now, 61, ARMS, DIM, DIM);
            const ee_arms *arms = sparse ? &round_now.sparse : &round_now.dense;
            ok(ee_bandit_score(bandit, arms, scores, NULL));
            for (size_t i = 0; i < ARMS; i++) {
                double q[MEMBERS], mean = 0, squares = 0;
                expect_by_hand(bandit, vector_of_arm(arms, i), q);
                for (size_t k = 0; k < MEMBERS; k++) mean += q[k] / MEMBERS;
                for (size_t k = 0; k < MEMBERS; k++) squares += (q[k] - mean) * (q[k] - mean);
                double gain = 0.6 * sqrt(squares / (MEMBERS - 1));
                assert_true(gain > 0.01);
                assert_close(scores[i].exploitation, mean, 1e-5);
                assert_close(scores[i].exploration, gain, 1e-5);
                assert_close(scores[i].score, mean + gain, 1e-5);
            }
        }
    }
}

/* How many members have each arm for the best, of the arms of round_now. */
static void count_votes(const ee_bandit *bandit, double *votes)
{
    double q[ARMS][MEMBERS];
    for (size_t i = 0; i < ARMS; i++) expect_by_hand(bandit, vector_of_arm(&round_now.dense, i), q[i]);
    for (size_t i = 0; i < ARMS; i++) votes[i] = 0;
    for (size_t k = 0; k < MEMBERS; k++) {
        size_t best = 0;
        for (size_t i = 1; i < ARMS; i++)
            if (q[i][k] > q[best][k]) best = i;
        votes[best]++;
    }
}

TEST(thompson_plays_by_votes)
{
    enum { ROUNDS = 60, DRAWS = 2000 };
    auto_bandit *bandit =
        bandit_make("neural-ensemble", DIM, 3, "members=7 f1.width=12 decision=thompson recall=0 scale=off prior=2");
    bandit_play(bandit, 1, 40, ARMS, false);
    size_t divided = 0;
    for (uint64_t t = 41; t <= ROUNDS; t++) {
        double votes[ARMS], reported[ARMS];
        ee_decision decision;
        round_draw(&round_now, t, ARMS, DIM, DIM);
        count_votes(bandit, votes);
        ok(ee_bandit_decide(bandit, &round_now.dense, &decision, NULL, reported, NULL));
        for (size_t i = 0; i < ARMS; i++) assert_close(reported[i], votes[i] / MEMBERS, 1e-12);
        assert_true(decision.probability == reported[decision.arm] && decision.probability > 0);
        divided += decision.probability < 1;
        bandit_reward(bandit, decision.id, round_reward(&round_now, decision.arm));
    }
    assert_true(divided > 5); /* else there was nothing to see */
    double votes[ARMS], square = 0;
    size_t counts[ARMS] = {0};
    count_votes(bandit, votes);
    for (size_t i = 0; i < DRAWS; i++) counts[bandit_choose(bandit, &round_now.dense, NULL).arm]++;
    for (size_t i = 0; i < ARMS; i++) {
        double expected = votes[i] * DRAWS / MEMBERS, off = (double)counts[i] - expected;
        if (votes[i] > 0)
            square += off * off / expected;
        else
            assert_int_equal(counts[i], 0);
    }
    assert_true(square < 23.5); /* chi-square, at most four degrees of freedom: 99.99% */
    /* What is remembered of an arm counts in each vote: members that never learn agree on an arm whose rewards are
     * certain. */
    auto_bandit *recalling =
        bandit_make("neural-ensemble", DIM, 3, "members=7 f1.width=12 decision=thompson f1.rate=0");
    double remembered[ARMS];
    round_draw(&round_now, 1, ARMS, DIM, DIM);
    for (int t = 0; t < 1000; t++) {
        ee_decision decision = bandit_choose(recalling, &round_now.dense, NULL);
        bandit_reward(recalling, decision.id, decision.arm == 2 ? 1 : 0);
    }
    ok(ee_bandit_probabilities(recalling, &round_now.dense, remembered, NULL));
    assert_close(remembered[2], 1, 1e-12);
    /* Another rule in the place of the votes draws by the mean. */
    ee_bandit *other = bandit_make("neural-ensemble", DIM, 3, "f1.width=12 propensity=floor propensity_epsilon=0.1");
    bandit_play(other, 1, 40, ARMS, false);
    round_draw(&round_now, 41, ARMS, DIM, DIM);
    ok(ee_bandit_probabilities(other, &round_now.dense, remembered, NULL));
    for (size_t i = 0; i < ARMS; i++)
        assert_true(fabs(remembered[i] - 0.02) < 1e-9 || fabs(remembered[i] - 0.92) < 1e-9);
    ee_bandit_free(other);
    ee_settings refused = {.policy = "neural-ensemble", .dim = 3, .options = "propensity=floor decision=thompson"};
    fails_with(ee_bandit_create(&refused, &other, &last_error), EE_BAD_OPTION,
               "options: neural-ensemble.decision needs propensity=own, but it is floor");
}

/* The mean over some rounds of how far members are apart, of arms like those that were played and of others. */
TEST(members_differ_where_nothing_was_played)
{
    auto_bandit *bandit = bandit_make("neural-ensemble", DIM, 3, "f1.width=32 noise=0.2 scale=off recall=0");
    double seen = 0, unseen = 0;
    for (uint64_t t = 1; t <= 600; t++) {
        ee_score scores[2];
        round_draw(&round_now, t, 2, DIM, DIM);
        for (size_t i = 0; i < 2 * DIM; i++) {
            bool other = i % DIM >= DIM / 2; /* the second arm has the features that the first lacks */
            if (other != (i >= DIM)) round_now.values[i] = 0;
        }
        round_compress(&round_now, 2, DIM);
        double reward = round_now.values[0] > 0 ? 1 : 0;
        ok(ee_bandit_score(bandit, &round_now.dense, scores, NULL));
        ok(ee_bandit_learn_from(bandit, &round_now.dense, 0, reward, NULL));
        if (t <= 400) continue;
        seen += (double)scores[0].exploration;
        unseen += (double)scores[1].exploration;
    }
    assert_true(unseen > 2 * seen);
}
