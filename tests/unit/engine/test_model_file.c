/* Models: what is saved and loaded goes on as if it had never stopped, and nothing but a whole model is loaded. */
#define _GNU_SOURCE
#include "rounds.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support_files.h"

/* ---- save, load, continue ---- */

/* A script: which arms round t has and when its reward comes depend on t alone, so a run can be taken up anywhere. The
 * reward of round t comes t * 7 % 6 rounds later: out of order, some after the decision expired, every 11th never. */
enum { DIM = 8, EVERY = 60, LATER = 90, MOST_LAG = 5 };

typedef struct script {
    const char *policy, *options;
    bool sparse;
} script;

typedef struct trace {
    size_t arms[LATER + 1];
    double probabilities[LATER + 1];
    double rewards[LATER + 1];
} trace;

#define F1 "f1.width=6 f1.deep_width=5 "
#define F2 F1 "exploration=network f2.width=6 "
#define F3 F2 "f3.width=4 "
#define PAPER "f1.width=6 exploration=network f2.width=6 f3.width=4 f1.steps=2 f2.steps=2 f3.steps=2 "
#define AUTHORS "f1.width=6 exploration=network f2.width=6 f1.steps=20 f2.steps=20 f2.front=conv1d:1:10:5 "

static const script scripts[] = {
    {"uniform", "pending=4", false},
    {"ucb1", "pending=4", false},
    {"ucb1", "blocks=2 propensity=floor", true},
    {"thompson", "probability_draws=3", true},
    {"neural-epsilon", F1 "epsilon=0.3", false},
    {"squarecb", F1 "gamma=3", true},
    {"neural-fastcb", F1 "gamma=3", true},
    {"neural-fastcb", F1 "blocks=2 exclusive=on f1.others=0.5 standardize=off", false},
    {"neural-ensemble", F1 "members=3 f1.history=reservoir:7 f1.order=shuffle f1.batch=3", true},
    {"neural-ensemble", F1 "members=4 decision=thompson f1.history=ring:10", false},
    {"neural-ensemble", F1 "members=3 blocks=2 exclusive=on f1.others=0.5 f1.optimizer=sgd f1.batch=1", true},
    {"neural-ucb", F1, false},
    {"neural-ucb", F1 "f1.heads=4", true},
    {"neural-ucb", F1 "f1.front=conv1d:2:3+relu", true},
    {"neural-ucb", "f1.width=4 f1.deep_width=5 covariance=full memory_limit=1", true},
    {"neural-ts", F1 "probability_draws=3", true},
    {"neural-ts", F1 "f1.heads=0 blocks=2 probability_draws=3", true},
    {"neural-linear", F1 "rebuild=0 probability_draws=3 f1.history=all", true},
    {"neural-linear", F1 "f1.heads=0 blocks=2 rebuild=7 probability_draws=3", true},
    {"neural-linucb", F1 "rebuild=5 f1.history=ring:20", true},
    {"neural-linucb", F1 "f1.heads=4 rebuild=7", true},
    {"linucb", "refresh=4 nonzeros=2", true},
    {"linucb", "propensity=igw propensity_gamma=3 scale=on", true},
    {"lints", "probability_draws=3 refresh=1000", true},
    {"kernelucb", "max_contexts=20", false},
    {"kernelts", "max_contexts=30 probability_draws=3", true},
    {"greedy", F1 "propensity=floor", false},
    {"greedy", F1 "f1.history=ring:10 f1.optimizer=adam f1.decay=0.01 f1.order=shuffle f1.batch=3", false},
    {"greedy", F1 "f1.history=all f1.optimizer=sgd f1.order=shuffle f1.batch=1 f1.steps=7 nonzeros=1", true},
    {"greedy", F1 "f1.history=reservoir:7 f1.layers=3 train_every=4 f1.decay=0.1", true},
    {"greedy", F1 "scale=on f1.heads=0 blocks=2 f1.lazy=on", true},
    {"eenet", F2 "propensity=softmax", false},
    {"eenet", F2 "features=normalized decision=linear f1.heads=2", true},
    {"eenet", F3 "features=normalized decision=neural pending=3", true},
    {"eenet", F3 "features=pooled:2 decision=hybrid hybrid_after=15 arms=2 extra_until=20", false},
    {"eenet", F2 "features=sketch:8 f1.history=ring:9 f2.history=reservoir:6", false},
    {"eenet",
     F3 "features=sketch:8 f1.optimizer=sgd f2.optimizer=adam f3.optimizer=adam f2.keep_moments=off decision=neural "
        "f1.decay=0.01 f2.decay=0.01",
     true},
    {"eenet",
     F3 "features=sketch:8 f1.order=shuffle f2.order=shuffle f3.order=shuffle f1.history=ring:9 "
        "f2.history=reservoir:6 f3.history=all f1.steps=5 f1.batch=4 decision=neural",
     false},
    {"eenet", F2 "features=lle:3 lle_window=16 lle_neighbors=6", false},
    {"eenet", F3 "features=lle:3 lle_window=16 lle_neighbors=6 f2.order=shuffle f2.history=ring:20 decision=neural",
     true},
    {"eenet",
     F3 "features=sketch:8 keep=reservoir:5 decision=neural train_every=3 train_late_every=7 train_late_after=30 "
        "label=abs optimal=threshold",
     true},
    {"eenet", F2 "features=pooled:2 f1.front=conv1d:2:3+relu+pool:2 f1.image=1x1x8", false},
    {"eenet", F2 "features=pooled:3 f1.heads=2 f1.front=conv2d:2:2+relu f1.image=1x2x2 label=relu", true},
    {"eenet", F1 "units=2 f1.history=ring:9 refresh=3 train_every=3", true},
    {"eenet", F1 "f1.history=all label=abs f1.average=0 f1.lazy=off decision=hybrid scale=off", true},
    {"eenet", F1 "units=3 blocks=4 refresh=3 exclusive=on f1.others=0.5 recall=40", true},
    {"eenet", F1 "blocks=2 train_every=3 f1.layers=3 f1.optimizer=sgd f1.decay=0.1 recall=0", false},
    {"greedy", "f1.width=7 f1.committee=2 f1.deep_width=5", true},
    {"greedy", "f1.width=5 f1.lazy=on f1.average=6 f1.batch=4 f1.history=ring:9 f1.decay=0.1 scale=off", false},
    {"greedy", "f1.width=5 f1.heads=2 f1.others=0.5 exclusive=on f1.lazy=on f1.history=all f1.batch=4", true},
    {"greedy", "f1.layers=1 f1.committee=2 f1.deep_width=3 f1.batch=1 f1.steps=3 f1.order=shuffle", false},
    {"greedy", "f1.width=5 f1.batch=1 f1.average=50 f1.history=reservoir:9 f1.optimizer=sgd", true},
    {"neural-ucb", "f1.width=3 f1.committee=4 f1.deep_width=6", false},
    {"neural-linucb", "f1.width=5 f1.committee=3 f1.deep_width=5 blocks=2 f1.order=shuffle f1.steps=3", true},
    {"neural-ensemble:paper", "f1.width=9 f1.history=reservoir:10 f1.batch=1", true},
    {"neural-fastcb:paper", "f1.width=9 f1.history=ring:10", false},
    {"neural-ucb:paper", "f1.width=5 f1.bias=off covariance=full f1.front=conv1d:2:3+relu", true},
    {"neural-ts:paper", "f1.width=6 covariance=full probability_draws=3", false},
    {"neural-linear:paper", "f1.width=6 rebuild=0 probability_draws=3", true},
    {"neural-linucb:paper", "f1.width=5 f1.bias=off rebuild=7 train_every=2 f1.history=reservoir:6", false},
    {"eenet", "f1.width=5 f1.committee=3 f1.deep_width=5 blocks=2 f1.order=shuffle f1.steps=3", true},
    {"eenet", F2 "scale=off features=pooled:2 f1.committee=3 f1.deep_width=4 keep=reservoir:5", false},
    {"eenet", F2 "scale=off features=normalized extra_until=12 label_offset=-0.5 extra_gain=2 label=relu", true},
    {"eenet", F2 "scale=off features=sketch:4 f1.layers=3 blocks=4", true},
    {"eenet", F2 "scale=off features=pooled:2 f2.front=conv1d:2:3", false},
    {"eenet", F2 "scale=off features=lle:2 lle_window=8 lle_neighbors=4 extra_until=1000", true},
    {"eenet", F1 "scale=off units=3 refresh=0 recent_units=2", false},
    {"eenet", F1 "scale=off blocks=4 recent_units=0 ridge=0.5", true},
    {"eenet", F1 "scale=off label=abs prior_gain=-1 standardize=off", false},
    {"eenet", F3 "scale=off train_every=3 decision=neural optimal=threshold", true},
    {"eenet:paper", PAPER "hybrid_after=10", false},
    {"eenet:paper", PAPER "decision=neural nonzeros=1 extra_until=30", true},
    {"eenet:authors", AUTHORS "pending=5", false},
    {"eenet:authors", AUTHORS "extra_until=25 w2_late_after=40", true},
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

static round_arms round_now;

static void script_decide(ee_bandit *bandit, const script *s, uint64_t t, trace *seen)
{
    round_draw(&round_now, t, 1 + t % 6, DIM, 1 + t % DIM);
    bool sparse = s->sparse && t % 4 != 0;
    ee_decision decision = bandit_choose(bandit, sparse ? &round_now.sparse : &round_now.dense, NULL);
    assert_int_equal(decision.id, t);
    seen->arms[t] = decision.arm;
    seen->probabilities[t] = decision.probability;
    seen->rewards[t] = round_reward(&round_now, decision.arm) + (t % 5 == 0 ? 0.25 : 0);
}

/* The rewards that come at the end of round t, the newest decision's first. */
static void script_learn(ee_bandit *bandit, uint64_t t, const trace *seen)
{
    for (uint64_t lag = 0; lag <= MOST_LAG && lag < t; lag++) {
        uint64_t id = t - lag;
        if (id * 7 % (MOST_LAG + 1) != lag || id % 11 == 0) continue;
        ee_status status = ee_bandit_learn(bandit, id, seen->rewards[id], NULL);
        assert_true(status == EE_OK || status == EE_EXPIRED_DECISION);
    }
}

/* Loads the model that was saved in round t, before or after the rewards of that round, and plays on to the last
 * round, after which the model must be as `end`. */
static void assert_goes_on(const script *s, model saved, uint64_t t, bool learned, const trace *expected, uint64_t last,
                           model end)
{
    auto_bandit *bandit = model_load(saved);
    assert_true(model_is_of(saved, bandit));
    trace seen = *expected;
    memset(seen.arms + t + 1, 0xff, (last - t) * sizeof *seen.arms);
    if (!learned) script_learn(bandit, t, &seen);
    for (uint64_t next = t + 1; next <= last; next++) {
        script_decide(bandit, s, next, &seen);
        script_learn(bandit, next, &seen);
    }
    for (uint64_t i = t + 1; i <= last; i++) {
        if (seen.arms[i] == expected->arms[i] && seen.probabilities[i] == expected->probabilities[i]) continue;
        fail_msg("%s (%s), saved in round %d: round %d differs", s->policy, s->options, (int)t, (int)i);
    }
    if (!model_is_of(end, bandit))
        fail_msg("%s (%s), saved in round %d: the model in round %d differs", s->policy, s->options, (int)t, (int)last);
}

static bool saves_at(uint64_t t)
{
    return t <= EVERY ? t % test_long(30, 1) == 0 : t % 15 == 0;
}

TEST(loaded_bandits_go_on)
{
    static model before[LATER + 1], after[LATER + 1]; /* the rewards of a round */
    static trace expected, silent;
    size_t drawn = 0;
    for (size_t i = 0; i < SCRIPTS; i++) {
        const script *s = &scripts[i];
        auto_bandit *bandit = bandit_make(s->policy, DIM, 6, s->options);
        auto_bandit *never_saved = bandit_make(s->policy, DIM, 6, s->options);
        after[0] = model_save(bandit);
        for (uint64_t t = 1; t <= LATER; t++) {
            script_decide(bandit, s, t, &expected);
            script_decide(never_saved, s, t, &silent);
            if (saves_at(t)) before[t] = model_save(bandit);
            script_learn(bandit, t, &expected);
            script_learn(never_saved, t, &silent);
            if (saves_at(t)) after[t] = model_save(bandit);
            drawn += expected.probabilities[t] < 1;
        }
        ee_info info = ee_bandit_info(bandit); /* some decisions wait, some have expired */
        assert_true(info.decisions == LATER && info.rewards > LATER / 3 && info.rewards < LATER);
        assert_memory_equal(expected.arms + 1, silent.arms + 1, LATER * sizeof *silent.arms);
        assert_true(model_is_of(after[LATER], never_saved)); /* saving changed nothing */
        for (uint64_t t = 0; t <= LATER; t++) {
            /* Some models play on to the end, others to a round whose model is saved. */
            uint64_t last = t % test_long(15, 5) != 0 && t + 14 <= EVERY ? t + 14 : LATER;
            if (t && saves_at(t) && t % 2) assert_goes_on(s, before[t], t, false, &expected, last, after[last]);
            if (saves_at(t)) assert_goes_on(s, after[t], t, true, &expected, last, after[last]);
            model_free(&before[t]);
            model_free(&after[t]);
        }
    }
    assert_true(drawn > LATER / 2);
}

/* ---- what is not a whole model ---- */

/* A bandit with a little of everything in it: waiting decisions, sparse and dense, a history, moments, an order. */
static model small_model(const char *policy, const char *options, size_t dim)
{
    auto_bandit *bandit = bandit_make(policy, dim, 6, options);
    for (uint64_t t = 1; t <= 6; t++) {
        round_draw(&round_now, t, 3, dim, 2);
        ee_decision decision = bandit_choose(bandit, t % 2 ? &round_now.sparse : &round_now.dense, NULL);
        if (t < 5) bandit_reward(bandit, decision.id, t % 2 ? 1 : 0);
    }
    return model_save(bandit);
}

static const char little_eenet[] = "f1.width=2 f1.deep_width=1 exploration=network f2.width=2 f3.width=2 "
                                   "features=sketch:2 pending=4 arms=3 nonzeros=2 "
                                   "f1.history=all f1.order=shuffle f2.history=ring:3 f3.optimizer=sgd decision=neural";
static const char little_greedy[] =
    "f1.width=1 f1.deep_width=1 pending=1 arms=1 nonzeros=1 f1.history=ring:1 f1.optimizer=sgd";

/* Loads size bytes that end at a wall. */
static ee_status load_at_wall(const uint8_t *wall, const void *bytes, size_t size, ee_bandit **out, ee_error *error)
{
    uint8_t *place = (uint8_t *)(uintptr_t)(wall - size);
    memcpy(place, bytes, size);
    *out = (ee_bandit *)(void *)place;
    return ee_bandit_load_bytes(place, size, NULL, out, error);
}

static void assert_not_loaded(const void *bytes, size_t size, const char *expected, ee_status status,
                              const char *sentence)
{
    ee_bandit *bandit = (ee_bandit *)(uintptr_t)bytes;
    ee_settings wanted = {.policy = expected};
    fails_with(ee_bandit_load_bytes(bytes, size, &wanted, &bandit, &last_error), status, sentence);
    assert_null(bandit);
    assert_int_equal(ee_bandit_load_bytes(bytes, size, &wanted, &bandit, NULL), status);
    assert_null(bandit);
}

static void repair_checksum(uint8_t *bytes, size_t size)
{
    uint64_t checksum = archive_checksum(bytes, size - 8);
    memcpy(bytes + size - 8, &checksum, 8);
}

/* The model with its checksum repaired. */
static void assert_contents_refused(model saved, const char *sentence)
{
    repair_checksum(saved.bytes, saved.size);
    assert_not_loaded(saved.bytes, saved.size, NULL, EE_BAD_MODEL, sentence);
}

TEST(a_cut_model_or_a_flipped_bit_is_refused)
{
    static const struct {
        const char *policy, *options;
        size_t stride;
    } models[] = {{"uniform", "pending=2", 3}, {"greedy", little_greedy, 17}, {"eenet", little_eenet, 97}};
    for (size_t i = 0; i < 3; i++) {
        auto_model saved = small_model(models[i].policy, models[i].options, 4);
        uint8_t *bytes = saved.bytes;
        char sentence[128];
        snprintf(sentence, sizeof sentence, "model: damaged or truncated: the checksum of its %zu bytes is wrong",
                 saved.size);
        for (size_t bit = 0; bit < saved.size * 8; bit += models[i].stride) {
            bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1 << bit % 8);
            assert_not_loaded(bytes, saved.size, NULL, EE_BAD_MODEL, bit < 64 ? "model: not an eenet model" : sentence);
            bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1 << bit % 8);
        }
        ee_bandit_free(model_load(saved)); /* all bits are back */
    }
    /* Also where the checksum is right: whoever made the file cut its contents, by three bytes or more: numbers have
     * four. */
    static const char *const whole[][2] = {
        {"uniform", "pending=2"}, {"greedy", little_greedy}, {"eenet", little_eenet}};
    for (size_t i = 0; i < 3; i++) {
        auto_model saved = small_model(whole[i][0], whole[i][1], 4);
        RELEASED_BY(guard_free) guard g;
        uint8_t *wall = (uint8_t *)guard_end_bytes(&g, saved.size) + saved.size;
        static uint8_t copy[1 << 16];
        char sentence[128];
        assert_true(saved.size <= sizeof copy);
        for (size_t size = 0; size < saved.size; size += i < 2 ? 1 : test_long(7, 1)) {
            ee_bandit *bandit;
            ee_error error = {EE_OK, ""};
            assert_int_equal(load_at_wall(wall, saved.bytes, size, &bandit, &error), EE_BAD_MODEL);
            assert_null(bandit);
            if (size < 8)
                snprintf(sentence, sizeof sentence, "model: not an eenet model");
            else if (size < 16)
                snprintf(sentence, sizeof sentence, "model: truncated: %zu bytes", size);
            else
                snprintf(sentence, sizeof sentence,
                         "model: damaged or truncated: the checksum of its %zu bytes is wrong", size);
            assert_string_equal(error.message, sentence);
            if (size < 16 || size % test_long(21, 3)) continue;
            bandit = (ee_bandit *)(void *)copy;
            memcpy(copy, saved.bytes, size);
            repair_checksum(copy, size);
            assert_int_equal(ee_bandit_load_bytes(copy, size, NULL, &bandit, &error), EE_BAD_MODEL);
            assert_int_equal(error.status, EE_BAD_MODEL);
            assert_null(bandit);
        }
    }
}

/* Where the checksum is right as well, the model is refused or it is sound: what loads can decide and learn. And a file
 * of a few thousand bytes, whatever it claims, does not make the loader fill gigabytes. */
TEST(wrong_contents_do_no_harm)
{
    static uint8_t copy[1 << 16];
    auto_model saved = small_model("eenet", little_eenet, 4);
    assert_true(saved.size <= sizeof copy);
    size_t loaded = 0, refused = 0;
    for (size_t bit = 0; bit < (saved.size - 8) * 8; bit += test_long(31, 3)) {
        memcpy(copy, saved.bytes, saved.size);
        copy[bit / 8] = (uint8_t)(copy[bit / 8] ^ 1 << bit % 8);
        repair_checksum(copy, saved.size);
        auto_bandit *bandit = (ee_bandit *)(void *)copy;
        ee_status status = ee_bandit_load_bytes(copy, saved.size, NULL, &bandit, NULL);
        if (status) {
            assert_true(status == EE_BAD_MODEL || status == EE_NO_MEMORY);
            assert_null(bandit);
            refused++;
            continue;
        }
        loaded++;
        ee_info info = ee_bandit_info(bandit);
        round_draw(&round_now, 1, 3, info.dim <= ROUND_DIM ? info.dim : 4, 2);
        ee_decision decision;
        if (ee_bandit_decide(bandit, &round_now.sparse, &decision, NULL, NULL, NULL) == EE_OK) {
            status = ee_bandit_learn(bandit, decision.id, 1, NULL);
            assert_true(status == EE_OK || status == EE_DIVERGED);
        }
        for (uint64_t id = info.decisions; id > 0 && id + 4 > info.decisions; id--) {
            status = ee_bandit_learn(bandit, id, 1, NULL); /* rewarded, expired or neither, as the flipped bit has it */
            assert_true(status == EE_OK || status == EE_REWARDED_DECISION || status == EE_EXPIRED_DECISION ||
                        status == EE_DIVERGED);
        }
        auto_model again = {NULL, 0};
        status = ee_bandit_save_bytes(bandit, &again.bytes, &again.size, NULL);
        assert_true(status == EE_OK || status == EE_DIVERGED);
    }
    assert_true(loaded > 50 && refused > 50);
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_true(used.ru_maxrss < 1 << 20); /* KiB */
}

/* Algorithm 1 descends f3 over as many rounds as f1 has: a model in which they differ would read past f3's history. */
TEST(networks_must_have_seen_the_same_rounds)
{
    /* A linear decision has an f3 of the default shape. */
    static const char before[] = "decision=linear w1=0.5 w2=0.5 w2_late_after=0",
                      after[] = "decision=neural f3.bias=on f3.optimizer=adamw";
    assert_int_equal(sizeof before, sizeof after);
    auto_model saved = small_model("eenet:paper", "f1.width=2 f2.width=2 decision=linear w1=0.5 w2=0.5", 3);
    uint8_t *bytes = saved.bytes, *place = memmem(bytes, saved.size, before, sizeof before - 1);
    assert_non_null(place);
    memcpy(place, after, sizeof after - 1);
    uint8_t *recall = memmem(bytes, saved.size, " recall=0", 9); /* which needs decision=linear */
    assert_non_null(recall);
    memset(recall, ' ', 9);
    assert_contents_refused(saved, "model: f1 and f3 have not seen the same rounds");
}

/* A bandit whose first round had arms of lengths 5 and 10, and where in its model their mean lies. */
static model model_with_length(uint8_t **place)
{
    static const float values[] = {3, 0, 4, 0, 0, -8, 6, 0};
    const double length = 7.5;
    ee_arms arms = ee_arms_dense(values, 2, 4);
    auto_bandit *bandit = bandit_make("linucb:paper", 4, 6, "scale=on");
    bandit_reward(bandit, bandit_choose(bandit, &arms, NULL).id, 1);
    model saved = model_save(bandit);
    *place = memmem(saved.bytes, saved.size, &length, sizeof length);
    assert_non_null(*place);
    uint8_t *behind = *place + sizeof length, *end = (uint8_t *)saved.bytes + saved.size;
    assert_null(memmem(behind, (size_t)(end - behind), &length, sizeof length));
    return saved;
}

/* None that no round can have: arms divided by it would be no numbers. */
TEST(a_damaged_length_is_refused)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY, -7.5, -1e-300, 1e-300, 1e-6};
    static const double right[] = {0, 1.1e-6, 7.5, 1e12};
    uint8_t *place;
    auto_model saved = model_with_length(&place);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(place, &wrong[i], sizeof wrong[i]);
        assert_contents_refused(saved, "model: invalid arm length");
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        memcpy(place, &right[i], sizeof right[i]);
        repair_checksum(saved.bytes, saved.size);
        ee_bandit_free(model_load(saved));
    }
}

TEST(what_this_library_does_not_know_is_refused)
{
    auto_model saved = small_model("greedy", little_greedy, 4);
    uint8_t *bytes = saved.bytes;
    assert_int_equal(bytes[8], ARCHIVE_VERSION);
    bytes[8] = 9;
    assert_contents_refused(saved, "model: version 9 is not supported; this library reads versions 10 to 12");
    bytes[8] = 0;
    bytes[13] = 1;
    assert_contents_refused(saved,
                            "model: version 1099511627776 is not supported; this library reads versions 10 to 12");
    bytes[8] = ARCHIVE_VERSION;
    bytes[13] = 0;
    repair_checksum(bytes, saved.size);
    ee_bandit_free(model_load(saved));
    /* The head of a model is the magic, the version, the length of the name and the name. */
    enum { NAME_AT = 24 };
    assert_memory_equal(bytes + NAME_AT, "greedy", 6);
    memcpy(bytes + NAME_AT, "greedx", 6);
    assert_contents_refused(saved, "policy: unknown policy 'greedx'; did you mean 'greedy'?");
    memcpy(bytes + NAME_AT, "greedy", 6);
    char *width = memchr(bytes + NAME_AT, 'w', 300);
    while (strncmp(width, "width=", 6) != 0) width = memchr(width + 1, 'w', 300);
    memcpy(width, "widht=", 6);
    assert_contents_refused(saved, "options: greedy has no option 'f1.widht'; did you mean 'f1.width'?");
}

TEST(another_policy_or_dimension_is_refused)
{
    static const struct {
        const char *policy, *expected;
        bool accepted;
    } cases[] = {
        {"greedy", NULL, true},           {"greedy", "greedy", true},           {"greedy", "eenet", false},
        {"greedy", "gree", false},        {"greedy", "greedyy", false},         {"greedy", "", false},
        {"eenet", "eenet", true},         {"eenet", "eenet:paper", false},      {"eenet:paper", "eenet", true},
        {"eenet:paper", NULL, true},      {"eenet:paper", "eenet:paper", true}, {"eenet:paper", "eenet:authors", false},
        {"eenet:authors", "eenet", true}, {"eenet:paper", "eenet:", false},     {"eenet:paper", "uniform", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool networks = strncmp(cases[i].policy, "eenet", 5) == 0;
        bool authors = strcmp(cases[i].policy, "eenet:authors") == 0;
        const char *options = networks ? "f1.width=4 exploration=network f2.width=4 pending=4 arms=3" : little_greedy;
        auto_model saved = small_model(cases[i].policy, authors ? "f2.front=conv1d:1:100:50" : options, 4);
        if (cases[i].accepted) {
            auto_bandit *bandit = NULL;
            ee_settings wanted = {.policy = cases[i].expected};
            ok(ee_bandit_load_bytes(saved.bytes, saved.size, &wanted, &bandit, NULL));
            assert_string_equal(ee_bandit_info(bandit).policy, cases[i].policy);
        } else {
            char sentence[128];
            snprintf(sentence, sizeof sentence, "model: its policy is %s; expected %s", cases[i].policy,
                     cases[i].expected);
            assert_not_loaded(saved.bytes, saved.size, cases[i].expected, EE_BAD_MODEL, sentence);
        }
    }
    auto_model saved = small_model("uniform", "pending=1", 4);
    ee_settings wanted = {.policy = "uniform", .dim = 4, .seed = 99, .options = "nothing=is compared"};
    ee_bandit *bandit = NULL;
    ok(ee_bandit_load_bytes(saved.bytes, saved.size, &wanted, &bandit, &last_error));
    ee_bandit_free(bandit);
    wanted.dim = 5;
    fails_with(ee_bandit_load_bytes(saved.bytes, saved.size, &wanted, &bandit, &last_error), EE_BAD_MODEL,
               "model: its dimension is 4; expected 5");
    assert_null(bandit);
}

TEST(what_is_no_model_or_more_than_one_is_refused)
{
    static const char text[] = "policy,regret,seconds\neenet,5178,1.8\n";
    static const char sent_as_text[] = "eenet\x1a\n\n                        ";
    static const uint8_t zeros[64] = {0};
    assert_not_loaded(text, sizeof text, NULL, EE_BAD_MODEL, "model: not an eenet model");
    assert_not_loaded(sent_as_text, sizeof sent_as_text, NULL, EE_BAD_MODEL, "model: not an eenet model");
    assert_not_loaded(zeros, sizeof zeros, NULL, EE_BAD_MODEL, "model: not an eenet model");
    assert_not_loaded(zeros, 0, NULL, EE_BAD_MODEL, "model: not an eenet model");
    static uint8_t copy[1 << 16];
    auto_model saved = small_model("eenet", little_eenet, 4);
    assert_true(saved.size + 16 <= sizeof copy);
    for (size_t more = 1; more <= 16; more++) {
        char sentence[128];
        memcpy(copy, saved.bytes, saved.size);
        memset(copy + saved.size, 0, more);
        snprintf(sentence, sizeof sentence, "model: damaged or truncated: the checksum of its %zu bytes is wrong",
                 saved.size + more);
        assert_not_loaded(copy, saved.size + more, NULL, EE_BAD_MODEL, sentence);
        memset(copy + saved.size - 8, 0, 8);
        repair_checksum(copy, saved.size + more);
        assert_not_loaded(copy, saved.size + more, NULL, EE_BAD_MODEL, "model: unexpected bytes at its end");
    }
}

/* ---- files ---- */

static size_t folder_entries(void)
{
    DIR *listing = opendir(here.path);
    assert_non_null(listing);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(listing));) count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

TEST_IN_FOLDER(a_file_holds_the_model)
{
    const char *path = folder_path(&here, "model.eenet");
    auto_bandit *bandit =
        bandit_make("eenet", 8, 6, "f1.width=6 f1.deep_width=5 exploration=network f2.width=6 features=sketch:8");
    for (uint64_t t = 1; t <= 20; t += 10) { /* the second model goes over the first */
        bandit_play(bandit, t, t + 9, 4, t > 10);
        ok(ee_bandit_save(bandit, path, NULL));
        assert_int_equal(folder_entries(), 1); /* no temporary file beside it */
        auto_bandit *loaded = NULL;
        ok(ee_bandit_load(path, &(ee_settings){.policy = "eenet"}, &loaded, NULL));
        auto_model saved = model_save(bandit);
        assert_true(model_is_of(saved, loaded));
        bandit_play(loaded, t + 10, t + 19, 4, true);
    }
    auto_model saved = model_save(bandit);
    static uint8_t content[1 << 20];
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(content, 1, sizeof content, stream), saved.size);
    fclose(stream);
    assert_memory_equal(content, saved.bytes, saved.size);
}

static void assert_no_model(const char *path, ee_status status, const char *part)
{
    ee_error error = {EE_OK, ""};
    ee_bandit *bandit = (ee_bandit *)(uintptr_t)path;
    assert_int_equal(ee_bandit_load(path, NULL, &bandit, &error), status);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, part));
    assert_null(bandit);
    assert_int_equal(ee_bandit_load(path, NULL, &bandit, NULL), status);
}

/* Who loads, else creates, would write over what could not be read. */
TEST_IN_FOLDER(only_a_name_that_is_free_is_no_file)
{
    char path[128], inner[160];
    snprintf(path, sizeof path, "%s/nothing", here.path);
    snprintf(inner, sizeof inner, "load: there is no file %s", path);
    assert_no_model(path, EE_NO_FILE, inner);
    assert_no_model("no_model_has_this_name", EE_NO_FILE, "no_model_has_this_name");
    assert_no_model("", EE_FILE_ERROR, strerror(ENOENT));
    assert_no_model(here.path, EE_FILE_ERROR, "is not a regular file");

    snprintf(inner, sizeof inner, "%s/model", path); /* the folder is missing: as where a disk is not mounted */
    assert_no_model(inner, EE_FILE_ERROR, strerror(ENOENT));
    assert_int_equal(symlink("unmounted/model", path), 0);
    assert_no_model(path, EE_FILE_ERROR, strerror(ENOENT));
    assert_int_equal(unlink(path), 0);

    auto_bandit *bandit = bandit_make("uniform", 4, 1, NULL);
    ok(ee_bandit_save(bandit, path, NULL));
    assert_no_model(inner, EE_FILE_ERROR, strerror(ENOTDIR)); /* in a file */
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() != 0) assert_no_model(path, EE_FILE_ERROR, strerror(EACCES)); /* the superuser may read all */
    assert_int_equal(chmod(path, 0600), 0);
    if (geteuid() != 0) {
        assert_int_equal(chmod(here.path, 0), 0); /* who may not look cannot tell that it is free */
        assert_no_model(folder_path(&here, "other"), EE_FILE_ERROR, strerror(EACCES));
        assert_int_equal(chmod(here.path, 0700), 0);
    }
}

TEST_IN_FOLDER(a_damaged_file_is_refused)
{
    char sentence[256];
    const char *path = folder_path(&here, "model");
    auto_bandit *bandit = bandit_make("uniform", 4, 1, NULL);
    ok(ee_bandit_save(bandit, path, NULL));
    assert_int_equal(truncate(path, 100), 0);
    snprintf(sentence, sizeof sentence, "%s: damaged or truncated: the checksum of its 100 bytes is wrong", path);
    assert_no_model(path, EE_BAD_MODEL, sentence);
    assert_int_equal(truncate(path, 0), 0);
    snprintf(sentence, sizeof sentence, "%s: not an eenet model", path);
    assert_no_model(path, EE_BAD_MODEL, sentence);
}
