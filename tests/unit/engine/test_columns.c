/* Policies that store the places that were met: they take memory for those alone, and decide as if all were there. */
#include "named_play.h"

#include "engine/bandit.h"
#include "engine/snapshot.h"

/* ---- as if all were there ---- */

enum { LATE = 20 };

/* How a bandit is played. */
typedef enum way { AT_ONCE, LATER, SNAPSHOTS, LATER_SNAPSHOTS, WAYS } way;

typedef struct player {
    reader of;
    uint64_t waiting[LATE];
    ee_decision decision;
    ee_score scores[NAMED_ARMS];
    double probabilities[NAMED_ARMS];
    float contributions[256];
    uint64_t record_checksum;
} player;

static player player_make(const char *name, const char *options, const char *features, bool stores_all, way how)
{
    player self = {0};
    ee_bandit *bandit;
    ee_settings settings = {.policy = name, .seed = 5, .options = options, .features = features};
    bandit_origin origin = {.most_parameters = SIZE_MAX, .stores_all = stores_all};
    if (bandit_create(&settings, &origin, &bandit, &last_error)) fail_msg("create %s: %s", name, last_error.message);
    self.of = how < SNAPSHOTS ? (reader){.bandit = bandit} : reader_make(bandit, 1);
    self.of.round = round_make();
    return self;
}

static void player_free(player *self)
{
    reader_free(&self->of);
}

/* A decision by the bandit. */
static void decide(player *self)
{
    reader_take_arms(&self->of);
    ok(ee_bandit_decide(self->of.bandit, &self->of.arms, &self->decision, self->scores, self->probabilities, NULL));
    ok(ee_bandit_explain(self->of.bandit, &self->of.arms, self->decision.arm, self->contributions, NULL));
}

/* A decision on the snapshot, which does not know the round's new names; the bandit takes it in. */
static void decide_published(player *self, uint64_t number)
{
    const void *record;
    size_t size;
    ee_scratch_seed(self->of.scratch, number);
    ok(ee_snapshot_decide_round(self->of.snapshot, self->of.scratch, self->of.round, &self->decision, self->scores,
                                self->probabilities, NULL));
    ok(ee_scratch_record(self->of.scratch, 0, &record, &size, NULL));
    self->record_checksum = archive_checksum(record, size);
    ee_decision taken = self->decision;
    ok(ee_bandit_take_record(self->of.bandit, record, size, &taken, NULL));
    self->decision.id = taken.id;
    ok(ee_bandit_arms(self->of.bandit, self->of.round, NULL, NULL));
    if (number % 3 == 0) ok(ee_snapshot_update(self->of.snapshot, self->of.bandit, NULL));
}

static void play(player *self, uint64_t number, way how)
{
    ee_error error;
    named_draw(self->of.round, number);
    if (how < SNAPSHOTS)
        decide(self);
    else
        decide_published(self, number);
    uint64_t due = self->decision.id;
    if (how == LATER || how == LATER_SNAPSHOTS) {
        due = self->waiting[number % LATE];
        self->waiting[number % LATE] = self->decision.id;
    }
    if (due && ee_bandit_learn(self->of.bandit, due, named_reward(number, self->decision.arm), &error))
        fail_msg("learn: %s", error.message);
}

static void assert_plays_alike(const player *a, const player *b)
{
    assert_memory_equal(&a->decision, &b->decision, sizeof a->decision);
    assert_memory_equal(a->scores, b->scores, sizeof a->scores);
    assert_memory_equal(a->probabilities, b->probabilities, sizeof a->probabilities);
    assert_memory_equal(a->contributions, b->contributions, sizeof a->contributions);
    assert_int_equal(a->record_checksum, b->record_checksum);
}

static const char *const small[][2] = {
    {"eenet", "f1.width=8 units=8 recent_units=4"},
    {"eenet", "f1.width=8 f1.layers=3 f1.init=uniform f1.bias=off"},
    {"eenet:fast", "f1.width=8"},
    {"eenet:paper", "f1.width=4 f2.width=4"},
    {"neural-ucb", "f1.width=8"},
    {"neural-ts", "f1.width=8"},
    {"neural-linear", "f1.width=8"},
    {"neural-linucb", "f1.width=8"},
    {"neural-ensemble", "f1.width=8 prior_width=8"},
    {"neural-ensemble", "f1.width=8 decision=thompson f1.init=glorot"},
    {"neural-fastcb", "f1.width=8"},
    {"squarecb", "f1.width=8"},
    {"greedy", "f1.width=8 f1.lazy=off f1.decay=0"},
    {"greedy", "f1.width=8 f1.lazy=off f1.decay=0.1"},
    {"neural-epsilon", "f1.width=8"},
    {"linucb", "refresh=30"},
    {"lints", "refresh=30 probability_draws=3"},
    {"kernelucb", "max_contexts=50"},
    {"thompson", NULL},
};

/* In the usual form each policy is played in one of the ways. */
TEST(decides_as_if_all_places_were_there)
{
    const uint64_t rounds = test_long(60, 150);
    for (size_t p = 0; p < sizeof small / sizeof *small; p++) {
        for (way how = p % test_long(WAYS, 1); how < WAYS; how += test_long(WAYS, 1)) {
            /* All names have room; or they share places from some round on. */
            const char *features = how % 2 ? "names=400 hashes=300" : "names=60 hashes=40";
            if (strcmp(small[p][0], "eenet:paper") == 0) features = "names=60 hashes=40";
            RELEASED_BY(player_free) player stored = player_make(small[p][0], small[p][1], features, false, how);
            RELEASED_BY(player_free) player all = player_make(small[p][0], small[p][1], features, true, how);
            for (uint64_t t = 1; t <= rounds; t++) {
                play(&stored, t, how);
                play(&all, t, how);
                assert_plays_alike(&stored, &all);
                if (how < SNAPSHOTS && t % 20 == 0) stored.of.bandit = bandit_reload(stored.of.bandit);
            }
        }
    }
}

/* Arms that the caller makes, sparse or dense, may have any place. */
TEST(takes_vectors_of_all_places)
{
    static float values[2 * 1200];
    static const size_t starts[] = {0, 3, 5};
    static const uint32_t indices[] = {0, 900, 1100, 7, 1199};
    static const float entries[] = {1, -2, 0, 3, 0.5f};
    ee_arms sparse = ee_arms_sparse(starts, indices, entries, 2, 1200), dense = ee_arms_dense(values, 2, 1200);
    for (size_t arm = 0; arm < 2; arm++)
        for (size_t i = starts[arm]; i < starts[arm + 1]; i++) values[arm * 1200 + indices[i]] = entries[i];
    for (int of_all = 0; of_all < 2; of_all++) {
        RELEASED_BY(player_free)
        player self = player_make("neural-ucb", "f1.width=8", "names=1000 hashes=200", of_all, AT_ONCE);
        for (int t = 0; t < 6; t++) {
            ee_score scores[2][2];
            float gradients[2][1200];
            ok(ee_bandit_score(self.of.bandit, &sparse, scores[0], NULL));
            ok(ee_bandit_score(self.of.bandit, &dense, scores[1], NULL));
            for (size_t arm = 0; arm < 2; arm++) {
                assert_true(fabsf(scores[0][arm].score - scores[1][arm].score) < 1e-5f);
                ok(ee_bandit_explain(self.of.bandit, &sparse, arm, gradients[0], NULL));
                ok(ee_bandit_explain(self.of.bandit, &dense, arm, gradients[1], NULL));
                for (size_t i = starts[arm], k = 0; i < starts[arm + 1]; i++, k++)
                    assert_true(fabsf(gradients[0][k] - gradients[1][indices[i]]) < 1e-5f);
            }
            ee_decision decision = bandit_choose(self.of.bandit, t % 2 ? &sparse : &dense, NULL);
            bandit_reward(self.of.bandit, decision.id, t);
        }
    }
}

/* ---- as little as was met ---- */

/* A round of twenty-five places: a constant, four plans, four items and their products. */
static void draw_few(ee_round *round, uint64_t number)
{
    char json[256];
    ee_round_clear(round);
    int size = snprintf(json, sizeof json,
                        "{\"plan\":\"p%d\",\"_multi\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\"}]}",
                        (int)(number % 4));
    ok(ee_round_read(round, json, (size_t)size, NULL));
}

/* Learns so many names, each an arm of its own. */
static void learn_names(ee_bandit *bandit, size_t names)
{
    enum { TOGETHER = 100 };
    ee_arms arms;
    auto_round *round = round_make();
    for (size_t first = 0; first < names; first += TOGETHER) {
        ee_round_clear(round);
        for (size_t i = first; i < first + TOGETHER; i++) {
            char json[64];
            int size = snprintf(json, sizeof json, "{\"id\":\"name %zu\"}", i);
            ok(ee_round_action(round, json, (size_t)size, NULL));
        }
        ok(ee_bandit_arms(bandit, round, &arms, NULL));
        bandit_reward(bandit, bandit_choose(bandit, &arms, NULL).id, 1);
    }
}

/* What a loaded bandit takes is what its names need. */
TEST(many_names_take_at_most_twice_what_they_need)
{
    static const char *const cases[][2] = {{"eenet", "f1.width=20"},
                                           {"neural-ucb", "f1.width=20"},
                                           {"neural-ensemble", "f1.width=20"},
                                           {"linucb", NULL},
                                           {"lints", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t names = test_long(500, i < 3 ? 10000 : 1000);
        auto_bandit *bandit = named_make(cases[i][0], cases[i][1], "names=30000 products=none");
        learn_names(bandit, names);
        auto_bandit *loaded = bandit_copy(bandit);
        const columns *stored = &loaded->policy->parameters.columns;
        assert_int_equal(stored->count, names + 1);
        assert_true(stored->capacity < stored->count + 16);
        assert_true(ee_bandit_memory(bandit) <= 2 * ee_bandit_memory(loaded));
    }
    /* And few names take little. */
    static const char *const policies[] = {
        "eenet",           "eenet:fast",    "neural-ucb", "neural-ts", "neural-linear", "neural-linucb",
        "neural-ensemble", "neural-fastcb", "squarecb",   "greedy",    "greedy:paper",  "neural-epsilon",
        "linucb",          "lints",         "ucb1",       "thompson",  "uniform"};
    enum { MB = 1000000 };
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        RELEASED_BY(player_free) player self = player_make(policies[p], NULL, "", false, SNAPSHOTS);
        for (uint64_t t = 0; t < 40; t++) {
            draw_few(self.of.round, t);
            reader_take_arms(&self.of);
            bandit_reward(self.of.bandit, bandit_choose(self.of.bandit, &self.of.arms, NULL).id, (double)(t % 2));
        }
        ok(ee_snapshot_update(self.of.snapshot, self.of.bandit, NULL));
        auto_model saved = model_save(self.of.bandit);
        assert_true(ee_bandit_memory(self.of.bandit) < 3 * MB);
        assert_true(memory_bytes(&self.of.snapshot->memory) < 3 * MB);
        assert_true(saved.size < MB);
    }
}

/* Places whose names are not known yet, of vectors or of a record that comes before its names. */
TEST(places_beyond_the_names_are_saved)
{
    static const char *const policies[] = {"linucb", "greedy", "eenet:fast"};
    const size_t starts[] = {0, 2, 4};
    const uint32_t indices[] = {0, 400, 0, 401};
    const float values[] = {1, 1, 1, 1};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        auto_bandit *bandit = named_make(policies[i], NULL, "names=1000");
        ee_arms arms = ee_arms_sparse(starts, indices, values, 2, ee_bandit_info(bandit).dim);
        bandit_reward(bandit, bandit_choose(bandit, &arms, NULL).id, 1);
        ee_bandit_free(bandit_copy(bandit));
    }
}
