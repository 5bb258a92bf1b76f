/* Allocation of named features: none once the names are known, and any one may fail: a status, nothing leaked, nothing
 * changed. */
#include "named_play.h"

#include <stdlib.h>

#include "counted_memory.h"

enum { KNOWN = 60 };

static const char *const options[] = {"names=1000", "names=30 hashes=8", "hashing=vw bits=10",
                                      "standardize=off products=user*item+item*item"};
enum { OPTIONS = sizeof options / sizeof *options };

/* What the tests work on. Rounds 1 to KNOWN were played and published. */
typedef struct fixture {
    ee_bandit *bandit;
    ee_round *round;
    ee_snapshot *snapshot;
    ee_scratch *scratch;
} fixture;

static fixture fixture_make(const char *features)
{
    fixture self = {.bandit = named_make("greedy", "f1.width=4 nonzeros=64", features)};
    assert_int_equal(ee_round_create(NULL, &self.round, NULL), EE_OK);
    assert_int_equal(ee_snapshot_create(self.bandit, &self.snapshot, NULL), EE_OK);
    assert_int_equal(ee_scratch_create(self.snapshot, 1, &self.scratch, NULL), EE_OK);
    named_play(self.bandit, self.round, 1, KNOWN);
    return self;
}

static void fixture_free(fixture *self)
{
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    ee_bandit_free(self->bandit);
    ee_round_free(self->round);
}

static void decide_published(fixture *self, uint64_t number, ee_score *scores)
{
    ee_decision decision;
    named_draw(self->round, number);
    ee_scratch_seed(self->scratch, number);
    assert_int_equal(
        ee_snapshot_decide_round(self->snapshot, self->scratch, self->round, &decision, scores, NULL, NULL), EE_OK);
}

/* ---- none ---- */

static void known_names_allocate_nothing(void **state)
{
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        ee_score scores[NAMED_ARMS];
        fixture self = fixture_make(options[o]);
        size_t before = 0;
        for (uint64_t i = 0; i < 2 * KNOWN; i++) {
            uint64_t t = 1 + i % KNOWN;
            if (i == KNOWN) before = calls; /* all has grown as it must */
            named_play(self.bandit, self.round, t, t);
            assert_int_equal(ee_snapshot_update(self.snapshot, self.bandit, NULL), EE_OK);
            decide_published(&self, t, scores);
        }
        assert_int_equal(calls, before);
        fixture_free(&self);
    }
}

/* ---- any may fail ---- */

static bool fails_at(size_t place, ee_status status, const ee_error *error)
{
    bool failed = calls >= place;
    fail_at = 0;
    assert_int_equal(status, failed ? EE_NO_MEMORY : EE_OK);
    if (failed) assert_int_equal(error->status, EE_NO_MEMORY);
    return failed;
}

static void start_failing(size_t place)
{
    calls = 0;
    fail_at = place;
}

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

static void parsing_may_fail_anywhere(void **state)
{
    (void)state;
    size_t held = live, failures = 0;
    const char *json = long_round();
    for (bool failed = true; failed;) {
        ee_round *round;
        ee_error error;
        ee_arms arms, later;
        ee_bandit *bandit = named_make("uniform", NULL, "");
        assert_int_equal(ee_round_create(NULL, &round, NULL), EE_OK);
        named_draw(round, 1);
        assert_int_equal(ee_bandit_arms(bandit, round, &arms, NULL), EE_OK);
        size_t entries = arms.starts[arms.count];
        start_failing(failures + 1);
        ee_status status = ee_round_read(round, json, strlen(json), &error);
        failed = fails_at(failures + 1, status, &error);
        failures += failed;
        assert_int_equal(ee_bandit_arms(bandit, round, &later, NULL), EE_OK);
        assert_int_equal(later.count, failed ? NAMED_ARMS : NAMED_ARMS + 100);
        if (failed) assert_int_equal(later.starts[later.count], entries);
        ee_round_free(round);
        ee_bandit_free(bandit);
        assert_int_equal(live, held);
    }
    assert_true(failures > 5);
}

/* Learning a round of many new names fails as if it had not been tried, and then goes on. */
static void learning_may_fail_anywhere(void **state)
{
    (void)state;
    size_t held = live;
    const char *json = long_round();
    for (size_t i = 0; i < OPTIONS; i++) {
        size_t failures = 0;
        fixture sure = fixture_make(options[i]);
        ee_round_clear(sure.round);
        assert_int_equal(ee_round_read(sure.round, json, strlen(json), NULL), EE_OK);
        assert_int_equal(ee_bandit_arms(sure.bandit, sure.round, NULL, NULL), EE_OK);
        model after = model_save(sure.bandit);
        for (bool failed = true; failed;) {
            ee_error error;
            ee_arms arms;
            fixture self = fixture_make(options[i]);
            model before = model_save(self.bandit);
            ee_round_clear(self.round);
            assert_int_equal(ee_round_read(self.round, json, strlen(json), NULL), EE_OK);
            start_failing(failures + 1);
            failed = fails_at(failures + 1, ee_bandit_arms(self.bandit, self.round, &arms, &error), &error);
            failures += failed;
            if (failed) assert_true(model_is_of(before, self.bandit));
            if (failed) assert_int_equal(ee_bandit_arms(self.bandit, self.round, &arms, &error), EE_OK);
            assert_true(model_is_of(after, self.bandit));
            model_free(&before);
            fixture_free(&self);
        }
        assert_true(failures >= 3);
        model_free(&after);
        fixture_free(&sure);
        assert_int_equal(live, held);
    }
}

/* An update that fails publishes nothing; the next one publishes all. */
static void publishing_may_fail_anywhere(void **state)
{
    (void)state;
    size_t held = live, failures = 0;
    for (bool failed = true; failed;) {
        ee_score before[NAMED_ARMS], now[NAMED_ARMS], own[NAMED_ARMS];
        ee_error error;
        ee_arms arms;
        fixture self = fixture_make("names=2000");
        assert_int_equal(ee_snapshot_update(self.snapshot, self.bandit, NULL), EE_OK);
        named_play(self.bandit, self.round, KNOWN + 1, 6 * KNOWN);
        decide_published(&self, 3, before);
        start_failing(failures + 1);
        failed = fails_at(failures + 1, ee_snapshot_update(self.snapshot, self.bandit, &error), &error);
        failures += failed;
        decide_published(&self, 3, now);
        if (failed) assert_memory_equal(before, now, sizeof before);
        if (failed) assert_int_equal(ee_snapshot_update(self.snapshot, self.bandit, &error), EE_OK);
        named_draw(self.round, 3);
        assert_int_equal(ee_bandit_arms(self.bandit, self.round, &arms, NULL), EE_OK);
        assert_int_equal(ee_snapshot_update(self.snapshot, self.bandit, &error), EE_OK);
        assert_int_equal(ee_bandit_score(self.bandit, &arms, own, NULL), EE_OK);
        decide_published(&self, 3, now);
        assert_memory_equal(own, now, sizeof own);
        fixture_free(&self);
        assert_int_equal(live, held);
    }
    assert_true(failures > 2);
}

static void creating_and_loading_may_fail_anywhere(void **state)
{
    (void)state;
    size_t held = live;
    ee_settings settings = {.policy = "uniform", .features = "names=500"};
    for (int loads = 0; loads < 2; loads++) {
        size_t failures = 0;
        fixture self = fixture_make("names=500");
        model saved = model_save(self.bandit);
        for (bool failed = true; failed;) {
            ee_error error;
            ee_bandit *bandit = NULL;
            start_failing(failures + 1);
            ee_status status = loads ? ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &bandit, &error)
                                     : ee_bandit_create(&settings, &bandit, &error);
            failed = fails_at(failures + 1, status, &error);
            failures += failed;
            assert_int_equal(failed, bandit == NULL);
            ee_bandit_free(bandit);
        }
        assert_true(failures > 5);
        model_free(&saved);
        fixture_free(&self);
        assert_int_equal(live, held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_names_allocate_nothing),
        cmocka_unit_test(parsing_may_fail_anywhere),
        cmocka_unit_test(learning_may_fail_anywhere),
        cmocka_unit_test(publishing_may_fail_anywhere),
        cmocka_unit_test(creating_and_loading_may_fail_anywhere),
    };
    return cmocka_run_group_tests_name("allocation of named features", tests, NULL, NULL);
}
