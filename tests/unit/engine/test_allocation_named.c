/* Allocation of named features: none once the names are known, and any one may fail: a status, nothing leaked, nothing
 * changed. */
#include "named_play.h"

#include "counted_memory.h"

enum { KNOWN = 20 };
#define F1 "f1.width=4 f1.deep_width=4"

static const char *const options[] = {"names=1000", "names=30 hashes=8", "hashing=vw bits=10",
                                      "standardize=off products=user*item+item*item"};
enum { OPTIONS = sizeof options / sizeof *options };

/* What the tests work on. Rounds 1 to KNOWN were played after the snapshot was made. */
static reader make_reader(const char *features)
{
    reader self = reader_make(named_make("greedy", F1 " nonzeros=64", features), 1);
    self.round = round_make();
    named_play(self.bandit, self.round, 1, KNOWN);
    return self;
}

static void decide_published(reader *self, uint64_t number, ee_score *scores)
{
    ee_decision decision;
    named_draw(self->round, number);
    ee_scratch_seed(self->scratch, number);
    ok(ee_snapshot_decide_round(self->snapshot, self->scratch, self->round, &decision, scores, NULL, NULL));
}

TEST(known_names_allocate_nothing)
{
    for (size_t o = 0; o < OPTIONS; o++) {
        ee_score scores[NAMED_ARMS];
        auto_reader self = make_reader(options[o]);
        size_t before = 0;
        for (uint64_t i = 0; i < 2 * KNOWN; i++) {
            uint64_t t = 1 + i % KNOWN;
            if (i == KNOWN) before = calls; /* all has grown as it must */
            named_play(self.bandit, self.round, t, t);
            ok(ee_snapshot_update(self.snapshot, self.bandit, NULL));
            decide_published(&self, t, scores);
        }
        assert_int_equal(calls, before);
    }
}

/* ---- any may fail ---- */

/* Long enough for everything of a round to grow, with escapes. */
static const char *long_round(void)
{
    static char json[20000];
    int used = snprintf(json, sizeof json, "{\"\\u00fc\":\"\\n\",\"_multi\":[");
    for (int i = 0; i < 100; i++)
        used += snprintf(json + used, sizeof json - (size_t)used, "%s{\"item%d\":{\"a\\t\":%d,\"w\":\"v\\\"%d\"}}",
                         i ? "," : "", i, i, i);
    snprintf(json + used, sizeof json - (size_t)used, "]}");
    return json;
}

TEST(parsing_may_fail_anywhere)
{
    size_t held = live, failures = 0;
    const char *json = long_round();
    for (bool failed = true; failed;) {
        ee_round *round;
        ee_arms arms, later;
        ee_bandit *bandit = named_make("uniform", NULL, "");
        ok(ee_round_create(NULL, &round, NULL));
        named_draw(round, 1);
        ok(ee_bandit_arms(bandit, round, &arms, NULL));
        size_t entries = arms.starts[arms.count];
        memory_fail(failures + 1);
        ee_status status = ee_round_read(round, json, strlen(json), &last_error);
        failed = memory_failed(status);
        failures += failed;
        ok(ee_bandit_arms(bandit, round, &later, NULL));
        assert_int_equal(later.count, failed ? NAMED_ARMS : NAMED_ARMS + 100);
        if (failed) assert_int_equal(later.starts[later.count], entries);
        ee_round_free(round);
        ee_bandit_free(bandit);
        assert_int_equal(live, held);
    }
    assert_true(failures > 5);
}

/* Learns that an arm of the round came with a reward, and gives the scores of all arms. */
static ee_status learn_first(const reader *self, const ee_arms *arms, ee_score *scores, ee_error *error)
{
    ee_status status = ee_bandit_learn_from(self->bandit, arms, 0, 1, error);
    return status ? status : ee_bandit_score(self->bandit, arms, scores, error);
}

/* Learning a round of many new names fails as if it had not been tried, and then goes on. Memory for what is learned of
 * the names may be missing too: then the arms are there all the same, and the reward fails as if it had not come. */
TEST(learning_may_fail_anywhere)
{
    enum { MOST_ARMS = 200 };
    static ee_score expected[MOST_ARMS], scores[MOST_ARMS];
    size_t held = live;
    const char *json = long_round();
    for (size_t i = 0; i < OPTIONS; i++) {
        size_t failures = 0, later = 0;
        ee_arms arms;
        reader sure = make_reader(options[i]);
        ee_round_clear(sure.round);
        ok(ee_round_read(sure.round, json, strlen(json), NULL));
        ok(ee_bandit_arms(sure.bandit, sure.round, &arms, NULL));
        ok(learn_first(&sure, &arms, expected, NULL));
        for (bool failed = true; failed;) {
            auto_reader self = make_reader(options[i]);
            auto_model before = model_save(self.bandit);
            ee_round_clear(self.round);
            ok(ee_round_read(self.round, json, strlen(json), NULL));
            memory_fail(++failures);
            ee_status status = ee_bandit_arms(self.bandit, self.round, &arms, &last_error);
            failed = calls >= failures;
            fail_at = 0;
            if (status) assert_int_equal(status, EE_NO_MEMORY);
            if (status) assert_true(failed && model_is_of(before, self.bandit));
            if (status) ok(ee_bandit_arms(self.bandit, self.round, &arms, &last_error));
            later += failed && !status;
            ok(learn_first(&self, &arms, scores, &last_error));
            assert_memory_equal(expected, scores, arms.count * sizeof *scores);
        }
        assert_true(failures > 3);
        assert_int_equal(later > 0, i == 0 || i == 3); /* in the others there are few places */
        reader_free(&sure);
        assert_int_equal(live, held);
    }
}

/* A bandit that was published, and the record of a decision among arms of more places than it has columns for. */
static reader reader_of_record(const char *policy, const char *small, const void **record, size_t *size)
{
    ee_decision decision;
    char json[4000];
    int used = snprintf(json, sizeof json, "{");
    for (int k = 0; k < 90; k++) used += snprintf(json + used, sizeof json - (size_t)used, "\"k%d\":true,", k);
    snprintf(json + used, sizeof json - (size_t)used, "\"_multi\":[{\"a\":true}]}");
    reader self = reader_make(named_make(policy, small, "names=1000"), 1);
    self.round = round_make();
    ok(ee_round_read(self.round, json, strlen(json), NULL));
    ok(ee_snapshot_decide_round(self.snapshot, self.scratch, self.round, &decision, NULL, NULL, NULL));
    ok(ee_scratch_record(self.scratch, 0, record, size, NULL));
    return self;
}

/* A reward makes the policy grow. Where that fails, it is as if the reward had not come. */
TEST(growing_may_fail_anywhere)
{
    static const char *const small[][2] = {
        {"eenet", F1}, {"neural-ucb", F1}, {"neural-ensemble", F1}, {"linucb", NULL}};
    const void *record;
    size_t held = live, size;
    for (size_t p = 0; p < sizeof small / sizeof *small; p++) {
        size_t failures = 0;
        reader sure = reader_of_record(small[p][0], small[p][1], &record, &size);
        ok(ee_bandit_learn_record(sure.bandit, record, size, 1, NULL));
        model after = model_save(sure.bandit);
        for (bool failed = true; failed;) {
            auto_reader self = reader_of_record(small[p][0], small[p][1], &record, &size);
            memory_fail(failures + 1);
            ee_status status = ee_bandit_learn_record(self.bandit, record, size, 1, &last_error);
            failed = memory_failed(status);
            failures += failed;
            assert_int_equal(ee_bandit_info(self.bandit).rewards, !failed);
            if (failed) ok(ee_bandit_learn_record(self.bandit, record, size, 1, &last_error));
            assert_true(model_is_of(after, self.bandit));
        }
        assert_true(failures > 10);
        model_free(&after);
        reader_free(&sure);
        assert_int_equal(live, held);
    }
}

/* An update that fails publishes nothing; the next one publishes all. */
TEST(publishing_may_fail_anywhere)
{
    size_t held = live, failures = 0;
    for (bool failed = true; failed;) {
        ee_score before[NAMED_ARMS], now[NAMED_ARMS], own[NAMED_ARMS];
        ee_arms arms;
        reader self = make_reader("names=2000");
        ok(ee_snapshot_update(self.snapshot, self.bandit, NULL));
        named_play(self.bandit, self.round, KNOWN + 1, 6 * KNOWN);
        decide_published(&self, 3, before);
        memory_fail(failures + 1);
        failed = memory_failed(ee_snapshot_update(self.snapshot, self.bandit, &last_error));
        failures += failed;
        decide_published(&self, 3, now);
        if (failed) assert_memory_equal(before, now, sizeof before);
        if (failed) ok(ee_snapshot_update(self.snapshot, self.bandit, &last_error));
        named_draw(self.round, 3);
        ok(ee_bandit_arms(self.bandit, self.round, &arms, NULL));
        ok(ee_snapshot_update(self.snapshot, self.bandit, &last_error));
        ok(ee_bandit_score(self.bandit, &arms, own, NULL));
        decide_published(&self, 3, now);
        assert_memory_equal(own, now, sizeof own);
        reader_free(&self);
        assert_int_equal(live, held);
    }
    assert_true(failures > 2);
}

TEST(creating_and_loading_may_fail_anywhere)
{
    size_t held = live;
    ee_settings settings = {.policy = "uniform", .features = "names=500"};
    for (int loads = 0; loads < 2; loads++) {
        size_t failures = 0;
        reader self = make_reader("names=500");
        model saved = model_save(self.bandit);
        for (bool failed = true; failed;) {
            auto_bandit *bandit = NULL;
            memory_fail(failures + 1);
            ee_status status = loads ? ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &bandit, &last_error)
                                     : ee_bandit_create(&settings, &bandit, &last_error);
            failed = memory_failed(status);
            failures += failed;
            assert_int_equal(failed, bandit == NULL);
        }
        assert_true(failures > 5);
        model_free(&saved);
        reader_free(&self);
        assert_int_equal(live, held);
    }
}
