/* A bandit that takes rounds of named features: it learns, is saved and loaded, replays to the byte, and publishes. */
#include "named_play.h"

/* What is good depends on the user and the item together: without their product nothing can be learned. */
TEST(a_bandit_learns_from_names)
{
    enum { ROUNDS = 600, LAST = 200 };
    static const char *const policies[] = {"linucb", "eenet"};
    for (size_t p = 0; p < 2; p++) {
        auto_round *round = round_make();
        auto_bandit *bandit = named_make(policies[p], NULL, "names=250 hashes=16");
        assert_int_equal(ee_bandit_info(bandit).dim, 266);
        named_play(bandit, round, 1, ROUNDS - LAST);
        double last = named_play(bandit, round, ROUNDS - LAST + 1, ROUNDS);
        if (last < 0.9 * LAST) fail_msg("%s: %g of %d", policies[p], last, LAST);
    }
}

static const struct {
    const char *policy, *options, *features;
} cases[] = {
    {"eenet", "f1.width=8", "names=200 hashes=32"},
    {"linucb", NULL, "names=60 hashes=10"},
    {"linucb", NULL, "names=60 hashes=0 products=user*item"},
    {"greedy", "f1.width=5", "standardize=off names=300 products=none"},
    {"greedy", "f1.width=5", "hashing=vw bits=9 chain_hash=on"},
    {"uniform", NULL, ""},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The same calls give the same bytes, also where the bandit was saved and loaded in between. */
TEST(the_same_calls_give_the_same_bytes)
{
    for (size_t i = 0; i < CASES; i++) {
        auto_round *round = round_make(), *other = round_make();
        auto_bandit *whole = named_make(cases[i].policy, cases[i].options, cases[i].features);
        auto_bandit *parts = named_make(cases[i].policy, cases[i].options, cases[i].features);
        named_play(whole, round, 1, 90);
        for (uint64_t t = 1; t <= 90; t += 30) {
            named_play(parts, t % 2 ? other : round, t, t + 29);
            parts = bandit_reload(parts);
        }
        auto_model end = model_save(whole);
        assert_true(model_is_of(end, parts));
        assert_string_equal(ee_bandit_info(whole).features, ee_bandit_info(parts).features);
    }
}

static ee_feature feature_at(ee_bandit *bandit, size_t place)
{
    ee_feature feature;
    ok(ee_bandit_feature(bandit, place, &feature, NULL));
    return feature;
}

TEST(places_can_be_read_back)
{
    static const char json[] =
        "{\"user\":{\"age\":30},\"_multi\":[{\"item\":{\"id\":\"a\"}},{\"item\":{\"id\":\"b\"}}]}";
    static const char *const names[] = {"constant",  "user.age",           "item.id=a", "user.age*item.id=a",
                                        "item.id=b", "user.age*item.id=b", ""};
    auto_bandit *bandit = named_make("linucb", NULL, "names=10 hashes=2");
    auto_round *round = round_make();
    ee_feature feature;
    ok(ee_round_read(round, json, strlen(json), NULL));
    for (int i = 0; i < 3; i++) ok(ee_bandit_arms(bandit, round, NULL, NULL));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_string_equal(feature_at(bandit, i).name, names[i]);
    assert_int_equal(feature_at(bandit, 1).count, 3);
    assert_close(feature_at(bandit, 1).mean, 30, 1e-12);
    assert_close(feature_at(bandit, 1).deviation, 0, 0);
    assert_close(feature_at(bandit, 2).deviation, 1, 0);
    assert_int_equal(feature_at(bandit, 5).count, 3);
    assert_int_equal(feature_at(bandit, 6).count, 0);
    assert_string_equal(feature_at(bandit, 11).name, "");
    refuses(ee_bandit_feature(bandit, 12, &feature, &last_error), "feature: index must be 0 to 11, got 12");
}

/* A snapshot decides a round as the bandit would have when it was published, by names of that time. */
TEST(a_snapshot_has_the_names_of_its_time)
{
    for (size_t i = 0; i < CASES; i++) {
        auto_round *round = round_make();
        auto_bandit *bandit = named_make(cases[i].policy, cases[i].options, cases[i].features);
        auto_snapshot *snapshot = snapshot_make(bandit);
        auto_scratch *scratch = scratch_make(snapshot, 1);
        for (uint64_t t = 1; t <= 60; t += 10) {
            ee_score own[NAMED_ARMS], its[NAMED_ARMS], later[NAMED_ARMS];
            ee_decision decision;
            ee_arms arms;
            const void *record;
            size_t size;
            named_play(bandit, round, t, t + 9);
            ok(ee_bandit_arms(bandit, round, &arms, NULL));
            ok(ee_bandit_score(bandit, &arms, own, NULL));
            ok(ee_snapshot_update(snapshot, bandit, NULL));
            ee_scratch_seed(scratch, t);
            ok(ee_snapshot_decide_round(snapshot, scratch, round, &decision, its, NULL, NULL));
            assert_memory_equal(own, its, sizeof own);
            named_play(bandit, round, t + 200, t + 209); /* names and scales that it does not know */
            named_draw(round, t + 9);
            ee_scratch_seed(scratch, t);
            ok(ee_snapshot_decide_round(snapshot, scratch, round, &decision, later, NULL, NULL));
            assert_memory_equal(its, later, sizeof its);
            ok(ee_scratch_record(scratch, 0, &record, &size, NULL));
            ok(ee_bandit_learn_record(bandit, record, size, 1, NULL));
        }
    }
}

TEST(what_does_not_fit_is_refused)
{
    auto_bandit *bandit = NULL, *vectors = bandit_make("uniform", 3, 1, NULL);
    auto_round *round = round_make();
    ee_feature feature;
    ee_arms arms;
    ee_settings settings = {.policy = "uniform", .features = "", .dim = 20};
    refuses(ee_bandit_create(&settings, &bandit, &last_error),
            "create: give dim or features, not both: dim must be 0 or 12288 with these features, got 20");
    settings.dim = 12288;
    ok(ee_bandit_create(&settings, &bandit, &last_error));
    assert_string_equal(ee_bandit_info(bandit).features,
                        "hashing=dictionary names=8192 hashes=4096 products=context*action standardize=on ids=on");
    assert_null(ee_bandit_info(vectors).features);
    settings.features = "nmaes=7";
    fails_with(ee_bandit_create(&settings, &(ee_bandit *){NULL}, &last_error), EE_BAD_OPTION,
               "options: features has no option 'nmaes'; did you mean 'names'?");

    refuses(ee_bandit_arms(vectors, round, &arms, &last_error),
            "arms: this bandit takes vectors; for named features, set features when you create it");
    refuses(ee_bandit_feature(vectors, 0, &feature, &last_error),
            "feature: this bandit takes vectors; for named features, set features when you create it");
    refuses(ee_bandit_arms(bandit, round, &arms, &last_error), "features: a round needs at least one action");
    refuses(ee_bandit_arms(bandit, NULL, &arms, &last_error), "arms: bandit and round must not be NULL");

    ee_decision decision;
    auto_snapshot *snapshot = snapshot_make(vectors);
    auto_scratch *scratch = scratch_make(snapshot, 1);
    refuses(ee_snapshot_decide_round(snapshot, scratch, round, &decision, NULL, NULL, &last_error),
            "decide: this bandit takes vectors; for named features, set features when you create it");
}

/* Places mean other things to features with other options. */
TEST(records_are_of_the_same_features)
{
    auto_round *round = round_make();
    auto_bandit *bandit = named_make("linucb", NULL, "names=100 hashes=100");
    auto_bandit *other = named_make("linucb", NULL, "names=120 hashes=80");
    ee_decision decision;
    const void *record;
    size_t size;
    named_draw(round, 1);
    auto_snapshot *snapshot = snapshot_make(bandit);
    auto_scratch *scratch = scratch_make(snapshot, 1);
    ok(ee_snapshot_decide_round(snapshot, scratch, round, &decision, NULL, NULL, NULL));
    ok(ee_scratch_record(scratch, 0, &record, &size, NULL));
    assert_int_equal(ee_bandit_learn_record(other, record, size, 1, &last_error), EE_BAD_RECORD);
    ok(ee_bandit_learn_record(bandit, record, size, 1, &last_error));
}
