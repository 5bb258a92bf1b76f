/* Values that are far from all others: a wrong number among named features, and a first round of vectors that is much
 * longer or shorter than the rest. A bandit goes on deciding as if they had not come, and says how many they were. */
#include "named_play.h"

/* ---- named features ---- */

enum { USUAL = -1, ACTIONS = 3 };

typedef struct visitors {
    reader of;
    random_stream stream;
} visitors;

static visitors visitors_make(const char *policy)
{
    return (visitors){named_reader(policy, NULL, "names=100 hashes=8"), random_named(3, "visitors")};
}

static void visitors_free(visitors *self)
{
    reader_free(&self->of);
}

/* The young want the first, the others the second. Returns the age; age: what is sent in its place where it is not
 * USUAL. */
static double visit(visitors *self, double age)
{
    double own = 40 + 12 * random_normal(&self->stream);
    char json[256];
    int size =
        snprintf(json, sizeof json,
                 "{\"user\":{\"age\":%.9g,\"visits\":%.4g},\"_multi\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"}]}",
                 age == USUAL ? own : age, exp(random_normal(&self->stream)));
    ee_round_clear(self->of.round);
    ok(ee_round_read(self->of.round, json, (size_t)size, NULL));
    return own;
}

/* Decides a visit; returns whether that was right. */
static bool serve(visitors *self, double age, bool rewarded)
{
    double own = visit(self, age);
    reader_take_arms(&self->of);
    ee_decision decision = bandit_choose(self->of.bandit, &self->of.arms, NULL);
    bool right = decision.arm == (own >= 40);
    if (rewarded) bandit_reward(self->of.bandit, decision.id, right);
    return right;
}

static size_t serve_many(visitors *self, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++) right += serve(self, USUAL, true);
    return right;
}

static ee_feature age_of(visitors *self)
{
    ee_feature feature;
    for (size_t place = 0; ee_bandit_feature(self->of.bandit, place, &feature, NULL) == EE_OK; place++)
        if (strcmp(feature.name, "user.age") == 0) return feature;
    fail_msg("no age");
    return feature;
}

/* One age among `before` others; how many of the next decisions are right, with and without it. */
static void assert_unimpressed(const char *policy, size_t before, double age, bool rewarded)
{
    const size_t after = test_long(400, 1000);
    RELEASED_BY(visitors_free) visitors usual = visitors_make(policy), self = visitors_make(policy);
    serve_many(&usual, before);
    serve_many(&self, before);
    serve(&usual, USUAL, rewarded);
    serve(&self, age, rewarded);
    size_t expected = serve_many(&usual, after), right = serve_many(&self, after);
    if ((double)right < 0.96 * (double)expected || (double)expected < 0.9 * (double)after)
        fail_msg("%s: %zu right of %d after %g, %zu without it", policy, right, after, age, expected);
    assert_int_equal(age_of(&self).limited, before > 8);
    assert_int_equal(age_of(&usual).limited, 0);
    assert_true(age_of(&self).deviation < 16);
}

TEST(one_wrong_number_changes_little)
{
    static const char *const policies[] = {"linucb", "eenet", "eenet:fast"};
    for (size_t i = 0; i < 3; i++) {
        if (i == 0 || test_long(0, 1)) assert_unimpressed(policies[i], 300, 1e30, true);
        if (i == 1 || test_long(0, 1)) assert_unimpressed(policies[i], 500, 1e12, false);
        if (i == 2 || test_long(0, 1)) assert_unimpressed(policies[i], 500, -1e12, true);
    }
    /* The first values may be wrong: then they are forgotten. */
    static const double wrong[] = {1e30, 1e12, 4000, -1e-60};
    for (size_t i = 0; i < 4; i++) {
        RELEASED_BY(visitors_free) visitors self = visitors_make("linucb");
        for (size_t k = 0; k < 3; k++) serve(&self, wrong[i], true);
        serve_many(&self, 300);
        size_t right = serve_many(&self, 500);
        if (right < 450) fail_msg("%zu right of 500 after %g", right, wrong[i]);
        assert_close(age_of(&self).deviation, 12, 0.15);
    }
}

/* What is no number, or none that can be kept, is refused; what is too small to have a scale counts as 0. */
TEST(a_number_that_is_none_is_refused)
{
    static const char *const bad[] = {"NaN", "nan", "Infinity", "-Infinity", "1e309", "-1e400", "1e101", "1e308"};
    static const char *const good[] = {"1e100", "-1e100", "5e-324", "-1e-400", "1e-200", "0"};
    RELEASED_BY(visitors_free) visitors self = visitors_make("linucb");
    serve_many(&self, 50);
    auto_model before = model_save(self.of.bandit);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char json[128];
        ee_error error = {EE_OK, ""};
        int size = snprintf(json, sizeof json, "{\"user\":{\"age\":%s}}", bad[i]);
        ee_round_clear(self.of.round);
        assert_int_equal(ee_round_context(self.of.round, json, (size_t)size, &error), EE_BAD_INPUT);
        assert_true(strlen(error.message) > 0);
    }
    assert_true(model_is_of(before, self.of.bandit));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char json[128];
        int size = snprintf(json, sizeof json, "{\"user\":{\"age\":%s},\"_multi\":[{},{}]}", good[i]);
        ee_round_clear(self.of.round);
        ok(ee_round_read(self.of.round, json, (size_t)size, NULL));
        reader_take_arms(&self.of);
        bandit_choose(self.of.bandit, &self.of.arms, NULL);
        assert_true(isfinite(age_of(&self).mean) && age_of(&self).deviation < 200);
    }
    assert_int_equal(age_of(&self).limited, 2);
}

/* ---- vectors ---- */

enum { DIM = 8, ARMS = 4, ROUNDS = 400 };

/* What is right is the same whatever the size. */
static size_t play_sized(ee_bandit *bandit, uint64_t first, uint64_t last, float size)
{
    static round_arms round;
    size_t right = 0;
    for (uint64_t t = first; t <= last; t++) {
        float best = -INFINITY;
        round_draw(&round, t, ARMS, DIM, DIM);
        for (size_t arm = 0; arm < ARMS; arm++) best = fmaxf(best, round.values[arm * DIM]);
        for (size_t i = 0; i < ARMS * DIM; i++) round.values[i] *= size;
        ee_decision decision = bandit_choose(bandit, &round.dense, NULL);
        float value = round.values[decision.arm * DIM] / size;
        right += value == best;
        bandit_reward(bandit, decision.id, (double)value);
    }
    return right;
}

TEST(an_unusual_first_round_is_replaced)
{
    static const char *const policies[] = {"eenet:fast", "eenet", "neural-ucb", "greedy"};
    static const float sizes[] = {1e6f, 1e-5f, 20, 0.05f};
    for (size_t p = 0; p < 4; p++) {
        auto_bandit *usual = bandit_make(policies[p], DIM, 1, "scale=on f1.width=16");
        play_sized(usual, 1, ROUNDS, 1);
        size_t expected = play_sized(usual, ROUNDS + 1, ROUNDS + 100, 1);
        for (size_t i = p % test_long(2, 1); i < 4; i += test_long(2, 1)) {
            auto_bandit *bandit = bandit_make(policies[p], DIM, 1, "scale=on f1.width=16");
            play_sized(bandit, 1, 1, sizes[i]);
            play_sized(bandit, 2, ROUNDS, 1);
            size_t right = play_sized(bandit, ROUNDS + 1, ROUNDS + 100, 1);
            if (right + 8 < expected) fail_msg("%s, %g: %zu of %zu", policies[p], (double)sizes[i], right, expected);
        }
    }
}
