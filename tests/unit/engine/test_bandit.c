/* The contract of a bandit: decide, score, learn, and what a bandit says of itself. */
#include "rounds.h"

#include <float.h>

/* Networks small enough that a few hundred rounds take milliseconds. */
static const char small_eenet[] =
    "f1.width=8 exploration=network f2.width=8 f3.width=4 features=sketch:8 decision=hybrid hybrid_after=20";
static const char small_greedy[] = "f1.width=8";

static round_arms round_now;

/* Which arm has the largest score, and by how much. */
static size_t best_of(const ee_score *scores, size_t count, float *lead)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (scores[i].score > scores[best].score) best = i;
    *lead = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (i != best && scores[best].score - scores[i].score < *lead) *lead = scores[best].score - scores[i].score;
    return best;
}

static bool scores_equal(const ee_score *a, const ee_score *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

TEST(ids_count_from_one)
{
    auto_bandit *bandit = bandit_make("uniform", 4, 1, NULL);
    for (uint64_t id = 1; id <= 50; id++) {
        round_draw(&round_now, id, 3, 4, 4);
        assert_int_equal(bandit_choose(bandit, &round_now.dense, NULL).id, id);
        ee_arms none = ee_arms_dense(round_now.values, 0, 4);
        ee_decision unused; /* what is refused takes no id */
        assert_int_equal(ee_bandit_decide(bandit, &none, &unused, NULL, NULL, NULL), EE_BAD_INPUT);
    }
}

TEST(scores_are_filled_and_the_best_wins)
{
    static const char *const policies[][2] = {{"eenet", small_eenet}, {"greedy", small_greedy}};
    for (size_t p = 0; p < 2; p++) {
        auto_bandit *bandit = bandit_make(policies[p][0], 8, 3, policies[p][1]);
        double first_reward = NAN;
        bool differ = false; /* before two different rewards came, no arm is better than another */
        for (uint64_t t = 1; t <= 60; t++) {
            ee_score scores[7], seen[7];
            float lead;
            memset(scores, 0xff, sizeof scores); /* NaNs */
            memset(seen, 0xff, sizeof seen);
            round_draw(&round_now, t, 6, 8, 8);
            ok(ee_bandit_score(bandit, &round_now.dense, seen, NULL));
            ee_decision decision = bandit_choose(bandit, &round_now.dense, scores);
            for (size_t i = 0; i < 6; i++) {
                assert_true(isfinite(scores[i].exploitation) && isfinite(scores[i].exploration));
                assert_true(isfinite(scores[i].score));
            }
            assert_true(isnan(scores[6].score)); /* arms->count entries and no more */
            assert_true(scores_equal(scores, seen, 6));
            size_t best = best_of(scores, 6, &lead);
            assert_int_equal(lead > 0, differ);
            assert_true(!differ || decision.arm == best);
            assert_true(decision.probability == (differ ? 1 : 1.0 / 6));
            double reward = round_reward(&round_now, decision.arm);
            if (t == 1) first_reward = reward;
            differ |= reward != first_reward;
            bandit_reward(bandit, decision.id, reward);
        }
        assert_true(differ);
    }
}

TEST(score_changes_nothing)
{
    auto_bandit *bandit = bandit_make("eenet", 8, 3, small_eenet);
    bandit_play(bandit, 1, 40, 5, false);
    round_draw(&round_now, 41, 200, 8, 5); /* more than the reserve */
    bandit_choose(bandit, &round_now.dense, NULL);
    auto_model before = model_save(bandit);
    ee_score first[200], again[200];
    ok(ee_bandit_score(bandit, &round_now.dense, first, NULL));
    assert_true(model_is_of(before, bandit));
    ok(ee_bandit_score(bandit, &round_now.sparse, again, NULL));
    ok(ee_bandit_score(bandit, &round_now.dense, again, NULL));
    assert_true(scores_equal(first, again, 200));
    assert_true(model_is_of(before, bandit));
}

/* ---- dense and sparse ---- */

/* Two bandits see the same rounds, one dense, one sparse. Sums run in another order, so scores agree to a tolerance;
 * rounds whose two best arms are closer than that are left out for both. */
static void compare_forms(const char *policy, const char *options, size_t nonzeros)
{
    enum { ARMS = 5, DIM = 12, ROUNDS = 40 };
    auto_bandit *dense = bandit_make(policy, DIM, 9, options), *sparse = bandit_make(policy, DIM, 9, options);
    size_t compared = 0;
    for (int reward = 0; reward < 2; reward++) { /* before two different ones came, all scores are equal */
        round_draw(&round_now, 100, ARMS, DIM, nonzeros);
        ok(ee_bandit_learn_from(dense, &round_now.dense, 0, reward, NULL));
        ok(ee_bandit_learn_from(sparse, &round_now.sparse, 0, reward, NULL));
    }
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        ee_score a[ARMS], b[ARMS];
        float lead;
        round_draw(&round_now, t, ARMS, DIM, nonzeros);
        ok(ee_bandit_score(dense, &round_now.dense, a, NULL));
        best_of(a, ARMS, &lead);
        if (lead < 1e-3f) continue;
        compared++;
        ee_decision left = bandit_choose(dense, &round_now.dense, a);
        ee_decision right = bandit_choose(sparse, &round_now.sparse, b);
        assert_floats_close(&a[0].exploitation, &b[0].exploitation, 3 * ARMS, 1e-4);
        assert_int_equal(left.arm, right.arm);
        assert_true(left.probability == right.probability);
        bandit_reward(dense, left.id, round_reward(&round_now, left.arm));
        bandit_reward(sparse, right.id, round_reward(&round_now, right.arm));
    }
    assert_true(compared > ROUNDS / 2);
}

TEST(dense_and_sparse_forms_decide_alike)
{
    static const char *const options[] = {
        "f1.width=8 exploration=network f2.width=8 features=normalized decision=linear",
        "f1.width=8 exploration=network f2.width=8 f3.width=8 features=pooled:3 decision=neural",
        "f1.width=8 exploration=network f2.width=8 f3.width=4 features=sketch:8 f1.layers=3 decision=hybrid "
        "hybrid_after=10",
        "f1.width=8 exploration=network f2.width=8 features=pooled:2 f1.front=conv1d:2:3+relu+pool:2 decision=linear",
        "f1.width=8 units=5",
        "f1.width=8 units=5 blocks=3 scale=off",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        compare_forms("eenet", options[i], 4);
        compare_forms("eenet", options[i], 12);
    }
    compare_forms("greedy", small_greedy, 4);
}

/* An arm without entries is the zero vector, also where there are no arrays of entries at all. */
TEST(empty_sparse_arms_are_zero)
{
    static const char *const options[] = {
        "f1.width=8 exploration=network f2.width=8 features=normalized", small_eenet,
        "f1.width=8 exploration=network f2.width=8 features=pooled:3",
        "f1.width=8 exploration=network f2.width=8 features=sketch:8 f1.front=conv1d:2:3"};
    static const float zeros[2 * 8] = {0};
    static const size_t starts[3] = {0};
    ee_arms dense = ee_arms_dense(zeros, 2, 8), sparse = ee_arms_sparse(starts, NULL, NULL, 2, 8);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        auto_bandit *bandit = bandit_make("eenet", 8, 3, options[i]);
        ee_score a[2], b[2];
        bandit_play(bandit, 1, 10, 4, false);
        ok(ee_bandit_score(bandit, &dense, a, NULL));
        ee_decision decision = bandit_choose(bandit, &sparse, b);
        assert_floats_close(&b[0].exploitation, &a[0].exploitation, 6, 1e-6);
        bandit = bandit_reload(bandit); /* with the decision waiting */
        bandit_reward(bandit, decision.id, 1);
        bandit = bandit_reload(bandit); /* with the empty arm in the history */
    }
}

/* ---- arms divided by the mean length of the first round ---- */

static double mean_length(const round_arms *round)
{
    size_t count = round->dense.count, dim = round->dense.dim;
    double sum = 0;
    for (size_t arm = 0; arm < count; arm++) {
        double square = 0;
        for (size_t i = arm * dim; i < (arm + 1) * dim; i++) square += (double)round->values[i] * round->values[i];
        sum += sqrt(square);
    }
    return sum / (double)count;
}

/* The same arms in both forms, divided by a length. */
static void scale_arms(const round_arms *from, round_arms *to, double length)
{
    size_t count = from->dense.count, dim = from->dense.dim;
    for (size_t i = 0; i < count * dim; i++) to->values[i] = (float)(1 / length) * from->values[i];
    round_compress(to, count, dim);
}

/* Arms of many lengths, in rounds of different ones; some rounds have an arm of zeros. */
static void draw_lengths(round_arms *round, uint64_t t, size_t count, size_t dim, float size)
{
    static const float lengths[] = {1e-3f, 7, 0.2f, 0.3f, 14};
    round_draw(round, t, count, dim, dim / 2);
    for (size_t i = 0; i < count * dim; i++) {
        round->values[i] *= size * (float)(1 + t % 2) * lengths[(i / dim + t) % 5];
        if (i / dim == 1 && t % 4 == 0) round->values[i] = 0;
    }
    round_compress(round, count, dim);
}

/* A bandit that scales, and one that is given its arms scaled. */
typedef struct scaling {
    ee_bandit *scales, *plain;
} scaling;

static scaling make_scaling(const char *policy, size_t dim, const char *options)
{
    char on[256], off[256];
    snprintf(on, sizeof on, "%s scale=on", options);
    snprintf(off, sizeof off, "%s scale=off", options);
    return (scaling){bandit_make(policy, dim, 9, on), bandit_make(policy, dim, 9, off)};
}

static void free_scaling(scaling *pair)
{
    ee_bandit_free(pair->scales);
    ee_bandit_free(pair->plain);
}

/* The one sees what the other is given, and learns from it too. The arms are spoilt. */
static void play_scaled(scaling *pair, round_arms *round, double length, bool sparse)
{
    enum { MOST_ARMS = 8 };
    static round_arms scaled;
    ee_score a[MOST_ARMS], b[MOST_ARMS], looked[MOST_ARMS];
    size_t count = round->dense.count;
    scale_arms(round, &scaled, length);
    const ee_arms *given = sparse ? &round->sparse : &round->dense;
    ok(ee_bandit_score(pair->scales, given, looked, NULL));
    ee_decision left = bandit_choose(pair->scales, given, a);
    ee_decision right = bandit_choose(pair->plain, sparse ? &scaled.sparse : &scaled.dense, b);
    assert_true(scores_equal(a, b, count));
    assert_true(scores_equal(a, looked, count));
    assert_true(left.arm == right.arm && left.probability == right.probability);
    double reward = round_reward(&scaled, left.arm);
    memset(round->values, 0xff, sizeof round->values); /* what it learns from is its own copy */
    memset(round->entries, 0xff, sizeof round->entries);
    bandit_reward(pair->scales, left.id, reward);
    bandit_reward(pair->plain, right.id, reward);
}

/* Whatever the arms' size, and in either form. */
static void compare_scaling(const char *policy, const char *options)
{
    enum { ARMS = 5, DIM = 12 };
    static const float sizes[] = {1, 3e5f, 1e-5f};
    static round_arms round;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        RELEASED_BY(free_scaling) scaling pair = make_scaling(policy, DIM, options);
        double length = 0;
        for (uint64_t t = 1; t <= 30; t++) {
            draw_lengths(&round, t, ARMS, DIM, sizes[k]);
            if (t == 1) length = mean_length(&round);
            play_scaled(&pair, &round, length, (t + k) % 3 != 0);
        }
    }
}

TEST(arms_may_be_scaled_by_the_bandit)
{
    compare_scaling("eenet", "f1.width=8");
    compare_scaling("eenet", "f1.width=8 blocks=3 units=5");
    compare_scaling("eenet", small_eenet);
    compare_scaling("eenet", "f1.width=8 exploration=network f2.width=8 features=normalized extra_until=30");
    compare_scaling("greedy", small_greedy);
    compare_scaling("greedy", "f1.width=8 propensity=softmax");
    compare_scaling("neural-ucb", "f1.width=8 f1.heads=2");
    compare_scaling("neural-linear", "f1.width=8 rebuild=9 probability_draws=4");
    compare_scaling("linucb", "");
    compare_scaling("kernelucb", "max_contexts=20");
}

/* Whoever scales, the caller's arms stay what they are. */
TEST(the_callers_arms_are_not_touched)
{
    static round_arms round, copy;
    auto_bandit *bandit = bandit_make("eenet", 12, 9, "f1.width=8 scale=on");
    for (uint64_t t = 1; t <= 6; t++) {
        draw_lengths(&round, t, 5, 12, 1);
        copy = round;
        ee_decision decision = bandit_choose(bandit, t % 2 ? &round.sparse : &round.dense, NULL);
        bandit_reward(bandit, decision.id, 1);
        assert_memory_equal(round.values, copy.values, sizeof copy.values);
        assert_memory_equal(round.entries, copy.entries, sizeof copy.entries);
    }
}

/* Rounds whose arms are zeros, or so short that their length says nothing, are seen as they are: the first is the one
 * that comes after them. */
TEST(a_round_of_nothing_is_not_the_first)
{
    static const char *const policies[][2] = {{"eenet", "f1.width=8"}, {"greedy", small_greedy}, {"linucb", ""}};
    static const float sizes[] = {0, 1e-7f, 0, 3, 1e-7f, 15, 0, 0.6f};
    static round_arms round;
    for (size_t p = 0; p < 3; p++) {
        RELEASED_BY(free_scaling) scaling pair = make_scaling(policies[p][0], 8, policies[p][1]);
        double length = 1;
        for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
            round_draw(&round, t, 4, 8, 4);
            for (size_t i = 0; i < 4 * 8; i++) round.values[i] *= sizes[t];
            round_compress(&round, 4, 8);
            if (t == 3) length = mean_length(&round);
            play_scaled(&pair, &round, length, t % 2 == 0);
        }
    }
}

/* Scores before the first decision are scaled by the length of their own arms. Neither they nor refusals keep it. */
TEST(neither_a_look_nor_a_refusal_is_the_first_round)
{
    static round_arms round;
    RELEASED_BY(free_scaling) scaling pair = make_scaling("eenet", 12, "f1.width=8");
    auto_model before = model_save(pair.scales);
    for (uint64_t t = 1; t <= 3; t++) {
        ee_score looked[5], own[5];
        draw_lengths(&round, t, 5, 12, 9);
        ok(ee_bandit_score(pair.scales, &round.dense, looked, NULL));
        scale_arms(&round, &round, mean_length(&round));
        ok(ee_bandit_score(pair.plain, &round.dense, own, NULL));
        assert_true(scores_equal(looked, own, 5));
    }
    draw_lengths(&round, 4, 5, 12, 9);
    round.values[59] = NAN;
    ee_decision decision;
    assert_int_equal(ee_bandit_decide(pair.scales, &round.dense, &decision, NULL, NULL, NULL), EE_BAD_INPUT);
    assert_true(model_is_of(before, pair.scales));
    draw_lengths(&round, 5, 5, 12, 1);
    play_scaled(&pair, &round, mean_length(&round), true);
}

/* Nothing, in whatever form it comes, is seen as nothing. */
TEST(arms_of_zeros_stay_zeros)
{
    static const char *const options[] = {"f1.width=8 scale=on", "f1.width=8 scale=on blocks=2",
                                          "f1.width=8 scale=on f1.bias=off"};
    for (size_t k = 0; k < 3; k++) {
        auto_bandit *bandit = bandit_make("eenet", 4, 3, options[k]), *twin = bandit_make("eenet", 4, 3, options[k]);
        float zeros[2 * 4] = {0};
        uint32_t indices[] = {1, 3};
        size_t none[] = {0, 0, 0}, some[] = {0, 2, 2};
        ee_arms forms[] = {ee_arms_dense(zeros, 2, 4), ee_arms_sparse(none, NULL, NULL, 2, 4),
                           ee_arms_sparse(none, indices, zeros, 2, 4), ee_arms_sparse(some, indices, zeros, 2, 4)};
        for (size_t t = 0; t < 12; t++) {
            ee_score a[2], b[2];
            ee_decision left = bandit_choose(bandit, &forms[0], a), right = bandit_choose(twin, &forms[t % 4], b);
            assert_true(scores_equal(a, b, 2) && isfinite(a[0].score) && a[0].score == a[1].score);
            bandit_reward(bandit, left.id, 1);
            bandit_reward(twin, right.id, 1);
        }
        bandit_play(bandit, 1, 20, 3, true);
        bandit_play(twin, 1, 20, 3, true);
        round_draw(&round_now, 21, 3, 4, 4);
        ee_score a[3], b[3];
        bandit_choose(bandit, &round_now.dense, a);
        bandit_choose(twin, &round_now.dense, b);
        assert_floats_close(&a[0].exploitation, &b[0].exploitation, 9, 1e-5);
    }
}

/* f1.heads=0 are as many as there are blocks, whoever has an f1. */
TEST(heads_may_be_those_of_the_blocks)
{
    static const char *const policies[][2] = {{"eenet", "f1.width=8"},
                                              {"eenet", small_eenet},
                                              {"greedy", small_greedy},
                                              {"neural-epsilon", small_greedy},
                                              {"squarecb", small_greedy},
                                              {"neural-fastcb", small_greedy},
                                              {"neural-ensemble", small_greedy},
                                              {"neural-ucb", small_greedy},
                                              {"neural-ts", small_greedy},
                                              {"neural-ucb", "f1.width=3 covariance=full"},
                                              {"neural-linear", "f1.width=8 rebuild=9"},
                                              {"neural-linucb", "f1.width=8 rebuild=9"}};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        char named[256], reported[256];
        snprintf(named, sizeof named, "%s f1.heads=4", policies[p][1]);
        snprintf(reported, sizeof reported, "%s f1.heads=0 blocks=4", policies[p][1]);
        auto_bandit *one = bandit_make(policies[p][0], 8, 3, named),
                    *other = bandit_make(policies[p][0], 8, 3, reported);
        assert_int_equal(ee_bandit_memory(one), ee_bandit_memory(other));
        for (uint64_t t = 1; t <= 40; t++) {
            ee_score a[5], b[5];
            round_draw(&round_now, t, 5, 8, 2);
            ee_decision left = bandit_choose(one, &round_now.sparse, a);
            ee_decision right = bandit_choose(other, &round_now.sparse, b);
            assert_true(scores_equal(a, b, 5) && left.arm == right.arm);
            bandit_reward(one, left.id, round_reward(&round_now, left.arm));
            bandit_reward(other, right.id, round_reward(&round_now, left.arm));
        }
    }
}

/* The rewards of decisions 1 to 40 come in the order that the step gives: 1 in order, 39 in reverse. */
static ee_bandit *learn_late(const char *options, uint64_t step)
{
    enum { DECISIONS = 40 };
    ee_bandit *bandit = bandit_make("eenet", 8, 3, options);
    double rewards[DECISIONS];
    for (uint64_t t = 0; t < DECISIONS; t++) {
        round_draw(&round_now, t, 4, 8, 4);
        ee_decision decision = bandit_choose(bandit, t % 2 ? &round_now.dense : &round_now.sparse, NULL);
        rewards[t] = round_reward(&round_now, decision.arm);
    }
    for (uint64_t i = 0; i < DECISIONS; i++) {
        uint64_t id = (i * step) % DECISIONS + 1;
        bandit_reward(bandit, id, rewards[id - 1]);
        assert_int_equal(ee_bandit_info(bandit).rewards, i + 1);
    }
    assert_int_equal(ee_bandit_learn(bandit, 1, 1, NULL), EE_REWARDED_DECISION);
    return bandit;
}

/* Where training is the sum over all samples from theta_0, the order in which they came does not matter: a late reward
 * joins the arm, the value and the features of its own decision. The weights of a committee know the order: they are by
 * what its networks said of each arm before its reward came. */
TEST(a_late_reward_meets_its_own_decision)
{
    static const char options[] =
        "features=sketch:8 decision=linear standardize=off recall=0 "
        "f1.committee=1 f1.width=8 f1.training=gd f1.history=all f1.optimizer=sgd f1.steps=5 "
        "exploration=network f2.width=8 f2.training=gd f2.history=all f2.optimizer=sgd f2.steps=5";
    auto_bandit *forward = learn_late(options, 1), *backward = learn_late(options, 39);
    ee_score a[6], b[6];
    round_draw(&round_now, 999, 6, 8, 8);
    ok(ee_bandit_score(forward, &round_now.dense, a, NULL));
    ok(ee_bandit_score(backward, &round_now.dense, b, NULL));
    assert_floats_close(&a[0].exploitation, &b[0].exploitation, 18, 1e-4);
    auto_bandit *untrained = bandit_make("eenet", 8, 3, options);
    ok(ee_bandit_score(untrained, &round_now.dense, b, NULL));
    assert_true(close_first_wrong(&a[0].exploitation, &b[0].exploitation, 18, 1e-2) < 18);
}

TEST(the_seed_is_all_randomness)
{
    static const char *const policies[][2] = {{"eenet", small_eenet}, {"greedy", small_greedy}, {"uniform", NULL}};
    for (size_t p = 0; p < 3; p++) {
        auto_bandit *one = bandit_make(policies[p][0], 8, 7, policies[p][1]),
                    *same = bandit_make(policies[p][0], 8, 7, policies[p][1]),
                    *other = bandit_make(policies[p][0], 8, 8, policies[p][1]);
        bandit_play(one, 1, 50, 5, false);
        bandit_play(same, 1, 50, 5, false);
        bandit_play(other, 1, 50, 5, false);
        auto_model mine = model_save(one), its = model_save(other);
        assert_true(model_is_of(mine, same));
        /* Beyond the seed itself, which the file holds: what was drawn differs too. */
        size_t differs = 0;
        for (size_t i = 0; mine.size == its.size && i < mine.size; i++)
            differs += ((char *)mine.bytes)[i] != ((char *)its.bytes)[i];
        assert_true(mine.size != its.size || differs > 30);
    }
}

/* ---- describing ---- */

TEST(info_says_what_a_bandit_is)
{
    auto_bandit *bandit = bandit_make("eenet", 8, 42, small_eenet);
    bandit_play(bandit, 1, 3, 4, false);
    round_draw(&round_now, 4, 4, 8, 8);
    bandit_choose(bandit, &round_now.dense, NULL);
    ee_info info = ee_bandit_info(bandit);
    assert_string_equal(info.policy, "eenet");
    assert_int_equal(info.dim, 8);
    assert_int_equal(info.seed, 42);
    assert_int_equal(info.decisions, 4);
    assert_int_equal(info.rewards, 3);
    assert_non_null(strstr(info.options, "f1.width=8"));
    assert_non_null(strstr(info.options, "features=sketch:8"));
    assert_non_null(strstr(info.options, "hybrid_after=20"));
    assert_string_equal(ee_version(), EE_VERSION);
    assert_true(strlen(ee_kernels()) > 0);
    /* Every status has a name. */
    assert_string_equal(ee_status_name(EE_OK), "EE_OK");
    assert_string_equal(ee_status_name(EE_BAD_OPTION), "EE_BAD_OPTION");
    int count = 0;
    while (strncmp(ee_status_name((ee_status)count), "EE_", 3) == 0) count++;
    assert_true(count > EE_DIVERGED);
    assert_string_equal(ee_status_name((ee_status)count), "unknown");
    assert_string_equal(ee_status_name((ee_status)-1), "unknown");
    /* Reserved words are zero: a newer program may read members there that this library does not know of. */
    ee_policy policy;
    ee_option option;
    memset(&policy, 0xff, sizeof policy);
    memset(&option, 0xff, sizeof option);
    ok(ee_policy_describe(0, &policy, NULL));
    ok(ee_option_describe("eenet", 0, &option, NULL));
    static const uint64_t zeros[64] = {0};
    assert_memory_equal(policy.reserved, zeros, sizeof policy.reserved);
    assert_memory_equal(option.reserved, zeros, sizeof option.reserved);
    assert_memory_equal(info.reserved, zeros, sizeof info.reserved);
}

/* Every option of a policy that acts, as ee_option_describe tells it, joined to one text. */
static size_t join_options(const char *policy, char *text, size_t capacity)
{
    size_t count = 0, length = 0;
    ee_option option;
    for (; ee_option_describe(policy, count, &option, NULL) == EE_OK; count++) {
        assert_true(strlen(option.name) > 0 && strlen(option.range) > 0 && strlen(option.value) > 0);
        assert_true(strlen(option.meaning) > 0 && strlen(option.part) > 0);
        assert_true(option.acts || strlen(option.needs) > 0);
        if (!option.acts) continue;
        length +=
            (size_t)snprintf(text + length, capacity - length, "%s%s=%s", length ? " " : "", option.name, option.value);
        assert_true(length < capacity);
    }
    char expected[128];
    size_t owner = strcspn(policy, ":");
    snprintf(expected, sizeof expected, "%.*s has %zu options, asked for number %zu", (int)owner, policy, count, count);
    refuses(ee_option_describe(policy, count, &option, &last_error), expected);
    return count;
}

/* The words of a preset whose options act in it. */
static void keep_acting(const ee_policy *policy, char *text, size_t capacity)
{
    const char *place = policy->preset;
    size_t length, used = 0;
    for (; (place += strspn(place, " \n"), length = strcspn(place, " \n")); place += length) {
        ee_option option;
        size_t i = 0, name = strcspn(place, "=");
        do ok(ee_option_describe(policy->name, i++, &option, NULL));
        while (strlen(option.name) != name || strncmp(option.name, place, name) != 0);
        if (option.acts) used += (size_t)snprintf(text + used, capacity - used, "%.*s ", (int)length, place);
        assert_true(used < capacity);
    }
    text[used] = '\0';
}

/* The same bandit comes from a preset's name, from the preset's options, from all options that are described, and from
 * the options that the bandit tells of itself. */
TEST(descriptions_are_complete)
{
    static char described[8192], preset[8192];
    size_t found = 0, count = 0;
    ee_policy policy;
    for (; ee_policy_describe(count, &policy, NULL) == EE_OK; count++) {
        static const char *const known[] = {"eenet", "eenet:paper", "eenet:authors", "greedy", "uniform"};
        for (size_t i = 0; i < 5; i++) found += strcmp(policy.name, known[i]) == 0;
        assert_true(strlen(policy.summary) > 0 && policy.paper != NULL);
        assert_true(strchr(policy.name, ':') || strcmp(policy.preset, "") == 0);
        char base[64] = "";
        memcpy(base, policy.name, strcspn(policy.name, ":"));
        assert_true(join_options(policy.name, described, sizeof described) >= 3);
        auto_bandit *bandit = bandit_make(policy.name, 20, 1, NULL);
        keep_acting(&policy, preset, sizeof preset);
        auto_bandit *by_preset = bandit_make(base, 20, 1, preset);
        auto_bandit *by_options = bandit_make(base, 20, 1, described);
        auto_bandit *by_info = bandit_make(policy.name, 20, 1, ee_bandit_info(bandit).options);
        assert_string_equal(ee_bandit_info(bandit).policy, policy.name);
        assert_string_equal(ee_bandit_info(by_preset).options, ee_bandit_info(bandit).options);
        assert_string_equal(ee_bandit_info(by_options).options, ee_bandit_info(bandit).options);
        assert_string_equal(described, ee_bandit_info(bandit).options);
        assert_true(bandits_equal(bandit, by_info));
    }
    assert_int_equal(found, 5);
    char expected[64];
    snprintf(expected, sizeof expected, "describe: unknown policy number %zu", count);
    refuses(ee_policy_describe(count, &policy, &last_error), expected);
    assert_int_equal(ee_policy_describe(SIZE_MAX, &policy, NULL), EE_BAD_INPUT);
}

/* A policy's later words override its earlier ones, and the preset's. */
TEST(options_come_after_the_preset)
{
    auto_bandit *bandit = bandit_make("eenet:authors", 20, 1, "w2=0.75,\tpending=3\n f1.width=30, pending=4");
    const char *options = ee_bandit_info(bandit).options;
    assert_non_null(strstr(options, " w2=0.75 "));
    assert_non_null(strstr(options, "pending=4"));
    assert_non_null(strstr(options, "f1.width=30"));
    assert_non_null(strstr(options, "train_every=10 "));
}

/* While it computes, the engine takes the smallest numbers for zero; its caller's arithmetic is left alone. */
TEST(the_callers_arithmetic_is_left_alone)
{
    auto_bandit *bandit = bandit_make("eenet", 4, 1, "f1.width=4 exploration=network f2.width=4");
    bandit_play(bandit, 1, 5, 3, false);
    volatile float smallest = FLT_MIN;
    assert_true(smallest / 4 > 0);
}

static double memory_of(const char *policy, const char *options)
{
    auto_bandit *bandit = bandit_make(policy, 20, 1, options);
    return (double)ee_bandit_memory(bandit);
}

/* Twice the parameters of f1 cost EE-Net twice as much, and NeuralUCB with its whole matrix four times. */
TEST(memory_grows_as_it_should)
{
    double eenet[] = {memory_of("eenet", "f1.width=500"), memory_of("eenet", "f1.width=1000"),
                      memory_of("eenet", "f1.width=2000")};
    double ratio = (eenet[2] - eenet[1]) / (eenet[1] - eenet[0]);
    assert_true(ratio > 1.9 && ratio < 2.1);
    double full[] = {memory_of("neural-ucb", "covariance=full f1.width=20"),
                     memory_of("neural-ucb", "covariance=full f1.width=40"),
                     memory_of("neural-ucb", "covariance=full f1.width=80")};
    ratio = (full[2] - full[1]) / (full[1] - full[0]);
    assert_true(ratio > 3.7 && ratio < 4.3);
    assert_int_equal(ee_bandit_memory(NULL), 0);
}
