/* Bad input: a status, a sentence that names the place, and nothing changed. */
#include "rounds.h"

#include <float.h>

enum { DIM = 6, ARMS = 3 };

/* A bandit in the middle of its life: decisions 1 to 20 rewarded, but for 15, 19 and 20; pending is 8. */
typedef struct fixture {
    ee_bandit *bandit;
    model before;
    round_arms round;
} fixture;

static int bandit_begin(void **state)
{
    static fixture self;
    self.bandit =
        bandit_make("eenet", DIM, 4,
                    "exploration=network decision=hybrid f1.width=6 f2.width=6 f3.width=4 features=sketch:4 pending=8");
    for (uint64_t t = 1; t <= 20; t++) {
        round_draw(&self.round, t, ARMS, DIM, 3);
        ee_decision decision = bandit_choose(self.bandit, t % 2 ? &self.round.dense : &self.round.sparse, NULL);
        if (t != 15 && t < 19) bandit_reward(self.bandit, decision.id, round_reward(&self.round, decision.arm));
    }
    self.before = model_save(self.bandit);
    round_draw(&self.round, 21, ARMS, DIM, 3);
    *state = &self;
    return 0;
}

static int bandit_end(void **state)
{
    fixture *self = *state;
    model_free(&self->before);
    ee_bandit_free(self->bandit);
    return 0;
}

/* decide and score both refuse the arms, with and without a place for the sentence. */
static void assert_arms_refused(fixture *self, const ee_arms *arms, const char *sentence)
{
    ee_score scores[ARMS], untouched[ARMS];
    memset(scores, 0x55, sizeof scores);
    memset(untouched, 0x55, sizeof untouched);
    ee_decision decision = {77, 77, 77};
    refuses(ee_bandit_decide(self->bandit, arms, &decision, scores, NULL, &last_error), sentence);
    refuses(ee_bandit_score(self->bandit, arms, scores, &last_error), sentence);
    assert_int_equal(ee_bandit_decide(self->bandit, arms, &decision, scores, NULL, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_score(self->bandit, arms, scores, NULL), EE_BAD_INPUT);
    assert_true(decision.id == 77 && decision.arm == 77 && decision.probability == 77);
    assert_memory_equal(scores, untouched, sizeof scores);
    assert_true(model_is_of(self->before, self->bandit));
}

/* ---- arms ---- */

/* The mean length of the arms that the bandit met first. */
static double first_length(void)
{
    static round_arms first;
    double sum = 0;
    round_draw(&first, 1, ARMS, DIM, 3);
    for (size_t arm = 0; arm < ARMS; arm++) {
        double square = 0;
        for (size_t i = 0; i < DIM; i++) square += pow((double)first.values[arm * DIM + i], 2);
        sum += sqrt(square);
    }
    return sum / ARMS;
}

TEST_WITH(features_must_be_finite, bandit_begin, bandit_end)
{
    fixture *self = *state;
    static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    char sentence[80];
    for (size_t at = 0; at < ARMS * DIM; at++) {
        round_draw(&self->round, 21, ARMS, DIM, DIM);
        self->round.values[at] = bad[at % 4];
        snprintf(sentence, sizeof sentence, "arms: feature %zu of arm %zu is not a finite number", at % DIM, at / DIM);
        assert_arms_refused(self, &self->round.dense, sentence);
    }
    /* Of two, the first one is named. */
    self->round.values[DIM + 1] = NAN;
    assert_arms_refused(self, &self->round.dense, "arms: feature 1 of arm 1 is not a finite number");
    /* What is finite but huge is refused too, up to 1e9 all is taken. */
    round_draw(&self->round, 21, ARMS, DIM, 1);
    self->round.values[2] = -2e9f;
    assert_arms_refused(self, &self->round.dense, "arms: feature 2 of arm 0 is -2e+09; expected -1e9 to 1e9: scale it");
    self->round.values[2] = 1e8f;
    ee_score scores[ARMS];
    ok(ee_bandit_score(self->bandit, &self->round.dense, scores, NULL));
    /* and no more than 1e9 once it is scaled, which is by its own length during the first rounds. That is known so late
     * that what waits has been told, and stays so: here it is told beforehand, as by a snapshot. */
    bandit_play(self->bandit, 100, 170, ARMS, false);
    auto_snapshot *snapshot = snapshot_make(self->bandit);
    model_free(&self->before);
    self->before = model_save(self->bandit);
    char refusal[120];
    snprintf(refusal, sizeof refusal,
             "arms: a feature is more than 1e9 times the mean length of the first rounds' arms, which is %g",
             first_length());
    self->round.values[2] = 1e9f;
    assert_arms_refused(self, &self->round.dense, refusal);
    /* Of sparse arms too. */
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    static const size_t starts[] = {0, 0, 2, 2, 5};
    static const uint32_t indices[] = {1, 4, 0, 2, 5};
    for (size_t at = 0; at < 5; at++) {
        float values[] = {1, 2, 3, 4, 5};
        values[at] = wrong[at % 3];
        ee_arms arms = ee_arms_sparse(starts, indices, values, 4, DIM);
        snprintf(sentence, sizeof sentence, "arms: feature %u of arm %d is not a finite number", indices[at],
                 at < 2 ? 1 : 3);
        assert_arms_refused(*state, &arms, sentence);
    }
}

/* All policies give the same answers to the same bad input, and none is changed by it. */
TEST(every_policy_refuses_alike)
{
    static const float bad[DIM] = {1, NAN};
    static const size_t starts[] = {0, 2};
    static const uint32_t unsorted[] = {3, 1};
    ee_policy about;
    for (size_t p = 0; ee_policy_describe(p, &about, NULL) == EE_OK; p++) {
        if (strcmp(about.name, "eenet:authors") == 0) continue; /* its convolution needs more features */
        auto_bandit *bandit = bandit_make(about.name, DIM, 1, NULL);
        bandit_play(bandit, 1, 12, ARMS, false);
        auto_model before = model_save(bandit);
        ee_arms arms[] = {ee_arms_dense(bad, 1, DIM), ee_arms_sparse(starts, unsorted, bad, 1, DIM),
                          ee_arms_dense(bad, 0, DIM), ee_arms_dense(bad, 1, DIM - 1)};
        static const char *const sentences[] = {"arms: feature 1 of arm 0 is not a finite number",
                                                "arms: the indices of arm 0 must ascend, but 1 follows 3",
                                                "arms: a round needs at least one arm",
                                                "arms: the dimension is 5; expected 6, the bandit's"};
        for (size_t i = 0; i < 4; i++) {
            ee_decision decision;
            refuses(ee_bandit_decide(bandit, &arms[i], &decision, NULL, NULL, &last_error), sentences[i]);
        }
        assert_int_equal(ee_bandit_learn(bandit, 12, NAN, NULL), EE_BAD_INPUT);
        assert_int_equal(ee_bandit_learn(bandit, 99, 0, NULL), EE_UNKNOWN_DECISION);
        assert_true(model_is_of(before, bandit));
    }
}

/* Decides and has a reward learned that makes training diverge; returns the status of the learning. */
static ee_status learn_wildly(ee_bandit *bandit, uint64_t number)
{
    static round_arms round;
    ee_decision decision;
    round_draw(&round, number, ARMS, DIM, DIM);
    ok(ee_bandit_decide(bandit, number % 2 ? &round.dense : &round.sparse, &decision, NULL, NULL, &last_error));
    auto_model before = model_save(bandit);
    ee_status status = ee_bandit_learn(bandit, decision.id, number % 3 ? 1e9 : -1e9, &last_error);
    if (status) assert_true(model_is_of(before, bandit)); /* to the byte, and the decision still waits */
    return status;
}

/* A training that diverges is taken back, whoever trains and however, and the bandit goes on deciding. */
TEST(divergence_is_taken_back)
{
    static const struct {
        const char *policy, *options;
    } cases[] = {
        {"greedy", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.steps=50"},
        {"greedy", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.history=ring:3"},
        {"greedy", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.order=shuffle f1.batch=1 f1.history=reservoir:5"},
        {"greedy", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.training=gd f1.history=all standardize=off"},
        {"greedy", "f1.width=4 f1.layers=5 f1.rate=1000"},
        {"neural-ucb", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.steps=5 f1.history=ring:4"},
        {"neural-linear", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.steps=5 rebuild=2"},
        {"eenet", "f1.width=4 f1.optimizer=sgd f1.rate=1000 f1.steps=5 f1.history=reservoir:4"},
        {"eenet", "f1.width=4 exploration=network f2.optimizer=sgd f2.rate=1000 f2.steps=5 extra_until=1000 "
                  "f2.history=ring:6"},
        {"eenet", "f1.width=4 exploration=network decision=neural f3.loss=squared f3.optimizer=sgd f3.rate=1000 "
                  "f3.steps=9 keep=reservoir:3"},
        {"eenet:paper", "f1.width=4 f1.rate=1000 f2.width=4 f3.width=4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_bandit *bandit = bandit_make(cases[i].policy, DIM, 1, cases[i].options);
        size_t diverged = 0;
        for (uint64_t t = 1; t <= 30; t++) {
            ee_status status = learn_wildly(bandit, t);
            diverged += status != EE_OK;
            if (status)
                fails_with(status, EE_DIVERGED,
                           "learn: training diverged and was undone; use a smaller learning rate, or smaller rewards "
                           "and features");
        }
        if (!diverged) fail_msg("%s %s: nothing diverged", cases[i].policy, cases[i].options);
    }
}

TEST_WITH(arms_need_their_arrays, bandit_begin, bandit_end)
{
    fixture *self = *state;
    char sentence[120];
    ee_arms arms = ee_arms_dense(self->round.values, SIZE_MAX / 4, DIM);
    snprintf(sentence, sizeof sentence, "arms: %zu arms of 6 features do not fit in memory", arms.count);
    assert_arms_refused(self, &arms, sentence);
    assert_arms_refused(self, NULL, "arms: arms must not be NULL");
    ee_arms dense = ee_arms_dense(NULL, 2, DIM);
    assert_arms_refused(self, &dense, "arms: values must not be NULL");
    ee_arms sparse = self->round.sparse;
    sparse.indices = NULL;
    assert_arms_refused(self, &sparse, "arms: indices and values must not be NULL for sparse arms");
    sparse = self->round.sparse;
    sparse.values = NULL;
    assert_arms_refused(self, &sparse, "arms: indices and values must not be NULL for sparse arms");
}

TEST_WITH(sparse_indices_and_starts_must_ascend, bandit_begin, bandit_end)
{
    fixture *self = *state;
    static const struct {
        uint32_t indices[5];
        const char *sentence;
    } cases[] = {
        {{0, 2, 1, 3, 2}, "arms: the indices of arm 1 must ascend, but 2 follows 3"},
        {{0, 2, 1, 3, 3}, "arms: the indices of arm 1 must ascend, but 3 follows 3"},
        {{4, 0, 1, 3, 5}, "arms: the indices of arm 0 must ascend, but 0 follows 4"},
        {{0, 2, 1, 3, 6}, "arms: arm 1 has index 6; expected indices below 6, the dimension"},
        {{0, 4294967295, 1, 3, 5}, "arms: arm 0 has index 4294967295; expected indices below 6, the dimension"},
        {{0, 2, 7, 3, 5}, "arms: arm 1 has index 7; expected indices below 6, the dimension"},
    };
    static const size_t starts[] = {0, 2, 5};
    static const float values[] = {1, 2, 3, 4, 5};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_arms arms = ee_arms_sparse(starts, cases[i].indices, values, 2, DIM);
        assert_arms_refused(self, &arms, cases[i].sentence);
    }
    /* A new arm begins anew: its first index may be below the last one before. */
    static const uint32_t right[] = {0, 2, 1, 3, 5};
    ee_arms arms = ee_arms_sparse(starts, right, values, 2, DIM);
    ee_score scores[2];
    ok(ee_bandit_score(self->bandit, &arms, scores, NULL));
    /* Starts ascend from zero. */
    static const struct {
        size_t starts[4];
        const char *sentence;
    } of_starts[] = {
        {{1, 2, 3, 4}, "arms: starts[0] must be 0, got 1"},
        {{0, 2, 1, 4}, "arms: arm 1 has the entries 2 to 1; expected at most 6, from starts that increase"},
        {{0, 2, 4, 3}, "arms: arm 2 has the entries 4 to 3; expected at most 6, from starts that increase"},
        {{0, 2, 9, 9}, "arms: arm 1 has the entries 2 to 9; expected at most 6, from starts that increase"},
        {{0, 7, 7, 7}, "arms: arm 0 has the entries 0 to 7; expected at most 6, from starts that increase"},
    };
    for (size_t i = 0; i < sizeof of_starts / sizeof *of_starts; i++) {
        ee_arms own = ee_arms_sparse(of_starts[i].starts, self->round.indices, self->round.entries, 3, DIM);
        assert_arms_refused(self, &own, of_starts[i].sentence);
    }
    /* A wild end is refused before anything is read there. */
    static const size_t wild[] = {0, 2, SIZE_MAX, SIZE_MAX};
    char sentence[120];
    snprintf(sentence, sizeof sentence,
             "arms: arm 1 has the entries 2 to %zu; expected at most 6, from starts that increase", SIZE_MAX);
    ee_arms own = ee_arms_sparse(wild, self->round.indices, self->round.entries, 3, DIM);
    assert_arms_refused(self, &own, sentence);
}

TEST_WITH(calls_need_their_pointers, bandit_begin, bandit_end)
{
    fixture *self = *state;
    const ee_arms *arms = &self->round.dense;
    ee_decision decision;
    ee_score scores[ARMS];
    refuses(ee_bandit_decide(self->bandit, arms, NULL, scores, NULL, &last_error),
            "decide: decisions must not be NULL");
    refuses(ee_bandit_score(self->bandit, arms, NULL, &last_error), "score: bandit and scores must not be NULL");
    refuses(ee_bandit_probabilities(self->bandit, arms, NULL, &last_error),
            "probabilities: bandit and probabilities must not be NULL");
    assert_true(model_is_of(self->before, self->bandit));
    refuses(ee_bandit_decide(NULL, arms, &decision, scores, NULL, &last_error), "decide: bandit must not be NULL");
    refuses(ee_bandit_score(NULL, arms, scores, &last_error), "score: bandit and scores must not be NULL");
    refuses(ee_bandit_learn(NULL, 1, 1, &last_error), "learn: bandit must not be NULL");
    assert_int_equal(ee_bandit_learn(NULL, 1, 1, NULL), EE_BAD_INPUT);
}

/* ---- rewards and ids ---- */

static void assert_learn_refused(fixture *self, uint64_t id, double reward, ee_status expected, const char *sentence)
{
    fails_with(ee_bandit_learn(self->bandit, id, reward, &last_error), expected, sentence);
    assert_int_equal(ee_bandit_learn(self->bandit, id, reward, NULL), expected);
    assert_true(model_is_of(self->before, self->bandit));
}

TEST_WITH(rewards_must_be_finite, bandit_begin, bandit_end)
{
    fixture *self = *state;
    assert_learn_refused(self, 19, INFINITY, EE_BAD_INPUT, "learn: the reward must be -1e9 to 1e9, got inf");
    assert_learn_refused(self, 19, -INFINITY, EE_BAD_INPUT, "learn: the reward must be -1e9 to 1e9, got -inf");
    assert_learn_refused(self, 20, NAN, EE_BAD_INPUT, "learn: the reward must be -1e9 to 1e9, got nan");
    assert_learn_refused(self, 19, 1e39, EE_BAD_INPUT, "learn: the reward must be -1e9 to 1e9, got 1e+39");
    assert_learn_refused(self, 19, -DBL_MAX, EE_BAD_INPUT, "learn: the reward must be -1e9 to 1e9, got -1.79769e+308");
    bandit_reward(self->bandit, 19, 1); /* it still waits */
}

TEST_WITH(the_decision_must_wait_for_its_reward, bandit_begin, bandit_end)
{
    fixture *self = *state;
    assert_learn_refused(self, 0, 1, EE_UNKNOWN_DECISION, "learn: there is no decision 0; the last one is 20");
    assert_learn_refused(self, 21, 1, EE_UNKNOWN_DECISION, "learn: there is no decision 21; the last one is 20");
    assert_learn_refused(self, UINT64_MAX, 1, EE_UNKNOWN_DECISION,
                         "learn: there is no decision 18446744073709551615; the last one is 20");
    assert_learn_refused(self, 14, 1, EE_REWARDED_DECISION, "learn: decision 14 already has its reward");
    assert_learn_refused(self, 18, 1, EE_REWARDED_DECISION, "learn: decision 18 already has its reward");
    assert_learn_refused(self, 12, 1, EE_EXPIRED_DECISION,
                         "learn: decision 12 is no longer kept: 8 decisions followed it, and option pending is 8; if "
                         "it had no reward, it was forgotten");
    assert_learn_refused(self, 1, 1, EE_EXPIRED_DECISION,
                         "learn: decision 1 is no longer kept: 19 decisions followed it, and option pending is 8; if "
                         "it had no reward, it was forgotten");
    bandit_reward(self->bandit, 15, 1);
    fails_with(ee_bandit_learn(self->bandit, 15, 1, &last_error), EE_REWARDED_DECISION,
               "learn: decision 15 already has its reward");
}

/* ---- settings ---- */

static void assert_create_fails(const char *policy, size_t dim, const char *options, ee_status expected,
                                const char *sentence)
{
    ee_settings settings = {.policy = policy, .dim = dim, .seed = 1, .options = options};
    ee_bandit *bandit = (ee_bandit *)(void *)&settings;
    fails_with(ee_bandit_create(&settings, &bandit, &last_error), expected, sentence);
    assert_null(bandit);
    assert_int_equal(ee_bandit_create(&settings, &bandit, NULL), expected);
}

TEST(settings_must_name_a_policy_and_a_dimension)
{
    ee_bandit *bandit = (ee_bandit *)(void *)&state;
    refuses(ee_bandit_create(NULL, &bandit, &last_error), "create: settings.policy must not be NULL");
    assert_null(bandit);
    assert_create_fails(NULL, DIM, NULL, EE_BAD_INPUT, "create: settings.policy must not be NULL");
    assert_create_fails("eenett", DIM, NULL, EE_BAD_OPTION, "policy: unknown policy 'eenett'; did you mean 'eenet'?");
    assert_create_fails("eenet:papers", DIM, NULL, EE_BAD_OPTION,
                        "policy: unknown policy 'eenet:papers'; did you mean 'eenet:paper'?");
    assert_create_fails("gredy", DIM, NULL, EE_BAD_OPTION, "policy: unknown policy 'gredy'; did you mean 'greedy'?");
    assert_create_fails("Uniform", DIM, NULL, EE_BAD_OPTION,
                        "policy: unknown policy 'Uniform'; did you mean 'uniform'?");
    assert_create_fails("zzzzzzzzzz", DIM, NULL, EE_BAD_OPTION, "policy: unknown policy 'zzzzzzzzzz'");
    assert_create_fails("", DIM, NULL, EE_BAD_OPTION, "policy: unknown policy ''");
    char name[4001] = "", sentence[100]; /* the sentence has no room for it */
    memset(name, 'q', sizeof name - 1);
    snprintf(sentence, sizeof sentence, "policy: unknown policy '%.64s'", name);
    assert_create_fails(name, DIM, NULL, EE_BAD_OPTION, sentence);
    assert_create_fails("neural-ts", DIM, "propensity=softmax", EE_BAD_OPTION,
                        "options: neural-ts has no option 'propensity'");
    ee_settings settings = {.policy = "uniform", .dim = DIM, .seed = 1};
    refuses(ee_bandit_create(&settings, NULL, &last_error), "create: out must not be NULL");
    assert_create_fails("uniform", 0, NULL, EE_BAD_INPUT, "create: dim must be 1 to 4294967295, got 0");
    assert_create_fails("uniform", (size_t)UINT32_MAX + 1, NULL, EE_BAD_INPUT,
                        "create: dim must be 1 to 4294967295, got 4294967296");
    assert_create_fails("eenet", SIZE_MAX, NULL, EE_BAD_INPUT,
                        "create: dim must be 1 to 4294967295, got 18446744073709551615");
}

/* What an older library does not know of must not be ignored by it. */
TEST_WITH(reserved_words_must_be_zero, bandit_begin, bandit_end)
{
    fixture *self = *state;
    ee_settings settings = {.policy = "eenet", .dim = DIM};
    enum { WORDS = sizeof settings.reserved / sizeof *settings.reserved };
    for (size_t i = 0; i < WORDS; i++) {
        ee_settings grown = settings;
        grown.reserved[i] = 1;
        ee_bandit *bandit;
        refuses(ee_bandit_create(&grown, &bandit, &last_error),
                "create: settings.reserved must be zero: initialise settings with {0}");
        assert_null(bandit);
        refuses(ee_bandit_load_bytes(self->before.bytes, self->before.size, &grown, &bandit, &last_error),
                "load: settings.reserved must be zero: initialise settings with {0}");
        assert_null(bandit);
    }
}

static void *allocate_nothing(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

TEST(an_allocator_has_both_functions_and_describing_its_pointers)
{
    ee_allocator allocators[] = {{.allocate = allocate_nothing}, {0}};
    for (size_t i = 0; i < 2; i++) {
        ee_settings settings = {.policy = "uniform", .dim = DIM, .seed = 1, .allocator = &allocators[i]};
        ee_bandit *bandit = (ee_bandit *)(void *)&settings;
        refuses(ee_bandit_create(&settings, &bandit, &last_error),
                "create: the allocator must have both allocate and release");
        assert_null(bandit);
    }
    ee_option option;
    fails_with(ee_option_describe("eenets", 0, &option, &last_error), EE_BAD_OPTION,
               "policy: unknown policy 'eenets'; did you mean 'eenet'?");
    refuses(ee_option_describe(NULL, 0, &option, &last_error), "describe: policy_name and out must not be NULL");
    refuses(ee_option_describe("eenet", 0, NULL, &last_error), "describe: policy_name and out must not be NULL");
    refuses(ee_policy_describe(0, NULL, &last_error), "describe: out must not be NULL");
}

/* ---- saving and loading: see test_model_file.c for what models may be ---- */

TEST_WITH(saving_and_loading_need_their_pointers, bandit_begin, bandit_end)
{
    fixture *self = *state;
    void *bytes = &last_error;
    size_t size;
    static const char sentence[] = "save: bandit, bytes and size must not be NULL";
    refuses(ee_bandit_save_bytes(NULL, &bytes, &size, &last_error), sentence);
    refuses(ee_bandit_save_bytes(self->bandit, NULL, &size, &last_error), sentence);
    refuses(ee_bandit_save_bytes(self->bandit, &bytes, NULL, &last_error), sentence);
    refuses(ee_bandit_save(self->bandit, NULL, &last_error), "save: path must not be NULL");
    refuses(ee_bandit_save(NULL, "model", &last_error), sentence);
    assert_true(model_is_of(self->before, self->bandit));
    ee_bandit *bandit = NULL;
    static const char of_loading[] = "load: bytes and out must not be NULL";
    refuses(ee_bandit_load_bytes(NULL, 10, NULL, &bandit, &last_error), of_loading);
    refuses(ee_bandit_load_bytes(self->before.bytes, self->before.size, NULL, NULL, &last_error), of_loading);
    refuses(ee_bandit_load(NULL, NULL, &bandit, &last_error), "load: path and out must not be NULL");
    refuses(ee_bandit_load("model", NULL, NULL, &last_error), "load: path and out must not be NULL");
}
