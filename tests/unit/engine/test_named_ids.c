/* The ids of actions in rounds of named features: they are features where they come again, they cost nothing where they
 * do not, and they can be turned off. */
#include "named_play.h"

#include "engine/bandit.h"
#include "features/features.h"

static void add_action(ee_round *round, const char *json, const char *id)
{
    ee_error error = {EE_OK, ""};
    ok(ee_round_action(round, json, strlen(json), &last_error));
    if (id && ee_round_action_id(round, id, strlen(id), &error)) fail_msg("%s", error.message);
}

/* The place of a name; SIZE_MAX where it has none. */
static size_t place_of(ee_bandit *bandit, const char *name)
{
    ee_feature feature;
    for (size_t i = 0; i < features_count(bandit->features); i++) {
        ok(ee_bandit_feature(bandit, i, &feature, NULL));
        if (strcmp(feature.name, name) == 0) return i;
    }
    return SIZE_MAX;
}

/* ---- learning ---- */

/* Nothing but ids, in any order. */
TEST(ids_alone_are_learned)
{
    static const char *const ids[] = {"red", "green", "blue"};
    static const char *const policies[] = {"eenet", "linucb", "ucb1", "thompson", "neural-epsilon"};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        enum { ROUNDS = 400, LAST = 100 };
        auto_reader play = named_reader(policies[p], NULL, "names=100 hashes=10");
        size_t right = 0;
        for (size_t t = 0; t < ROUNDS; t++) {
            random_stream stream = random_named(t, "order");
            size_t first = (size_t)random_below(&stream, 3);
            ee_round_clear(play.round);
            for (size_t i = 0; i < 3; i++) add_action(play.round, "{}", ids[(first + i) % 3]);
            reader_take_arms(&play);
            ee_decision decision = bandit_choose(play.bandit, &play.arms, NULL);
            bool red = (first + decision.arm) % 3 == 0;
            bandit_reward(play.bandit, decision.id, red);
            right += t >= ROUNDS - LAST && red;
        }
        if (right < LAST * 9 / 10) fail_msg("%s: %zu of %d", policies[p], right, LAST);
    }
}

/* What a user likes is a matter of the product of the context with the id. */
TEST(ids_are_multiplied_with_the_context)
{
    enum { ROUNDS = 500, LAST = 100 };
    auto_reader play = named_reader("linucb", "alpha=1", "names=100 hashes=10");
    size_t right = 0;
    for (size_t t = 0; t < ROUNDS; t++) {
        const char *context = t % 2 ? "{\"plan\":\"free\"}" : "{\"plan\":\"paid\"}";
        ee_round_clear(play.round);
        ok(ee_round_context(play.round, context, strlen(context), NULL));
        add_action(play.round, "{\"_tag\":\"a\"}", NULL);
        add_action(play.round, "{\"_tag\":\"b\"}", NULL);
        reader_take_arms(&play);
        ee_decision decision = bandit_choose(play.bandit, &play.arms, NULL);
        bandit_reward(play.bandit, decision.id, decision.arm == t % 2);
        right += t >= ROUNDS - LAST && decision.arm == t % 2;
    }
    assert_true(right >= LAST * 9 / 10);
    assert_true(place_of(play.bandit, "plan=free*_id=a") < SIZE_MAX);
}

/* ---- ids that never recur ---- */

static double play_sessions(reader *play, size_t rounds, size_t *next)
{
    double sum = 0;
    for (size_t t = 0; t < rounds; t++) {
        char json[128];
        size_t plan = named_plan(t);
        ee_round_clear(play->round);
        int size = snprintf(json, sizeof json, "{\"user\":{\"plan\":\"p%zu\"}}", plan);
        ok(ee_round_context(play->round, json, (size_t)size, NULL));
        for (size_t i = 0; i < NAMED_ARMS; i++) {
            snprintf(json, sizeof json, "{\"_tag\":\"session-%zu\",\"kind\":\"k%zu\"}", (*next)++, i);
            add_action(play->round, json, NULL);
        }
        reader_take_arms(play);
        ee_decision decision = bandit_choose(play->bandit, &play->arms, NULL);
        double reward = decision.arm == plan;
        bandit_reward(play->bandit, decision.id, reward);
        sum += reward;
    }
    return sum;
}

TEST(ids_that_never_recur_cost_nothing)
{
    enum { LEARN = 500, SHOW = 25000, MOST_MEMORY = 1 << 20 };
    auto_reader play = named_reader("linucb", NULL, "names=300 hashes=16"),
                off = named_reader("linucb", NULL, "names=300 hashes=16 ids=off");
    size_t next = 0, same = 0;
    double with = play_sessions(&play, LEARN, &next), without = play_sessions(&off, LEARN, &same);
    assert_true(with >= without - LEARN / 50); /* what is good is learned as fast */
    size_t names = features_count(play.bandit->features), before = ee_bandit_memory(play.bandit);
    assert_int_equal(names, features_count(off.bandit->features));
    for (size_t t = 0; t < SHOW; t++) {
        ee_round_clear(play.round);
        for (size_t i = 0; i < NAMED_ARMS; i++) {
            char id[32];
            snprintf(id, sizeof id, "session-%zu", next++);
            add_action(play.round, "{\"kind\":\"k1\"}", id);
        }
        reader_take_arms(&play);
    }
    assert_true(next > 100000);
    assert_int_equal(features_count(play.bandit->features), names);
    assert_true(ee_bandit_memory(play.bandit) < before + MOST_MEMORY);
    for (size_t t = 0; t < 10; t++) { /* one that does recur is seen among them */
        ee_round_clear(play.round);
        add_action(play.round, "{}", "session-last");
        reader_take_arms(&play);
    }
    assert_true(place_of(play.bandit, "_id=session-last") < SIZE_MAX);
}

/* Slots of one request are rounds with the same ids, one after the other. */
TEST(slots_of_one_request_are_no_recurrence)
{
    auto_reader play = named_reader("linucb", NULL, "names=300 hashes=16");
    for (size_t t = 0; t < 100; t++) {
        for (size_t slot = 0; slot < 3; slot++) {
            ee_round_clear(play.round);
            for (size_t i = 0; i < 4; i++) {
                char id[32];
                snprintf(id, sizeof id, "r%zu-%zu", t, i);
                add_action(play.round, "{}", id);
            }
            reader_take_arms(&play);
        }
    }
    assert_int_equal(features_count(play.bandit->features), 1);
    /* Vowpal Wabbit does not take a tag for a feature. */
    auto_reader hashed = named_reader("greedy", "f1.width=4", "hashing=vw bits=8");
    add_action(hashed.round, "{\"a\":1}", "one");
    reader_take_arms(&hashed);
    assert_int_equal(hashed.arms.starts[1], 2); /* a and the constant */
    assert_int_equal(hashed.arms.ids[0], ee_arm_id("one", 3));
}

/* ---- the state ---- */

TEST(ids_are_saved_and_published)
{
    auto_reader play = named_reader("linucb", NULL, "names=60 hashes=4");
    auto_bandit *again = NULL;
    for (size_t t = 0; t < 300; t++) {
        char id[32];
        ee_round_clear(play.round);
        snprintf(id, sizeof id, "new-%zu", t);
        add_action(play.round, "{}", t % 3 ? id : "often");
        snprintf(id, sizeof id, "twice-%zu", t / 2);
        add_action(play.round, "{}", id);
        add_action(play.round, "{}", NULL);
        reader_take_arms(&play);
        assert_int_equal(play.arms.ids[2], 2); /* without an id: its position */
        if (again) ok(ee_bandit_arms(again, play.round, NULL, NULL));
        if (t != 150) continue;
        again = bandit_copy(play.bandit);
    }
    assert_true(bandits_equal(play.bandit, again));
    auto_snapshot *snapshot = snapshot_make(again);
    auto_scratch *room = scratch_make(snapshot, 1);
    ee_score here[3], there[3];
    ee_decision decision;
    reader_take_arms(&play);
    ok(ee_bandit_arms(again, play.round, NULL, NULL));
    ok(ee_snapshot_update(snapshot, again, NULL));
    ok(ee_bandit_score(play.bandit, &play.arms, here, NULL));
    ok(ee_snapshot_decide_round(snapshot, room, play.round, &decision, there, NULL, NULL));
    assert_memory_equal(here, there, sizeof here);
}

/* ---- what an id is ---- */

TEST(an_id_that_is_a_feature_already_is_that_feature)
{
    for (int off = 0; off < 2; off++) {
        auto_reader play = named_reader("linucb", NULL, off ? "names=60 hashes=4 ids=off" : "names=60 hashes=4");
        for (size_t t = 0; t < 20; t++) {
            ee_round_clear(play.round);
            add_action(play.round, "{\"_tag\":\"a7\",\"item\":{\"id\":\"a7\"}}", NULL);
            add_action(play.round, "{\"item\":{\"id\":\"b2\"}}", "b2");
            add_action(play.round, "{\"color\":\"red\"}", "red");
            reader_take_arms(&play);
            /* A feature that is no id has its place at once. */
            assert_int_equal(place_of(play.bandit, "item.id=a7") < SIZE_MAX, off || t >= 3);
        }
        assert_true(place_of(play.bandit, "color=red") < SIZE_MAX);
        assert_int_equal(place_of(play.bandit, "_id=a7"), SIZE_MAX);
        assert_int_equal(place_of(play.bandit, "_id=b2"), SIZE_MAX);
        assert_int_equal(place_of(play.bandit, "_id=red") < SIZE_MAX, !off);
        assert_int_equal(play.arms.ids == NULL, off);
        if (!off) assert_int_equal(play.arms.ids[2], ee_arm_id("red", 3));
    }
}

/* The value of an arm at a place. */
static float value_at(const ee_arms *arms, size_t arm, size_t place)
{
    for (size_t i = arms->starts[arm]; i < arms->starts[arm + 1]; i++)
        if (arms->indices[i] == place) return arms->values[i];
    return 0;
}

/* An id alone stands for all features; beside others it says little, and is multiplied with nothing. */
TEST(an_id_beside_features_has_less_weight)
{
    auto_reader play = named_reader("linucb", NULL, "names=60 hashes=4");
    static const char context[] = "{\"plan\":\"free\"}";
    for (size_t t = 0; t < 20; t++) {
        ee_round_clear(play.round);
        ok(ee_round_context(play.round, context, strlen(context), NULL));
        add_action(play.round, "{}", "alone");
        add_action(play.round, "{\"color\":\"red\"}", "beside");
        reader_take_arms(&play);
    }
    assert_true(value_at(&play.arms, 0, place_of(play.bandit, "_id=alone")) == 1);
    assert_true(value_at(&play.arms, 1, place_of(play.bandit, "_id=beside")) == 0.25f);
    assert_true(place_of(play.bandit, "plan=free*_id=alone") < SIZE_MAX);
    assert_int_equal(place_of(play.bandit, "plan=free*_id=beside"), SIZE_MAX);
}

/* Models of version 10 knew no ids, and go on without. */
TEST(models_from_before_pass_over_ids)
{
    static const char *const names[] = {"eenet-named", "linucb-named", "linucb-hashed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        auto_reader play = {0};
        snprintf(path, sizeof path, "%s/10/%s.model", EENET_MODELS_DIR, names[i]);
        ok(ee_bandit_load(path, NULL, &play.bandit, &last_error));
        assert_non_null(strstr(ee_bandit_info(play.bandit).features, "ids=off"));
        play.round = round_make();
        add_action(play.round, "{}", "a");
        reader_take_arms(&play);
        assert_null(play.arms.ids);
        assert_int_equal(play.arms.starts[1], 1); /* the constant */
    }
}

TEST(wrong_ids_are_refused)
{
    static const char twice[] = "{\"_tag\":\"a\",\"_tag\":\"b\"}", number[] = "{\"_tag\":7}";
    auto_round *round = round_make();
    refuses(ee_round_action_id(round, "a", 1, &last_error),
            "id: round and id must not be NULL, and the round needs an action first");
    refuses(ee_round_action(round, twice, strlen(twice), &last_error), "action: the action has two ids");
    refuses(ee_round_action(round, number, strlen(number), &last_error),
            "action: _tag, the id of an action, must be a string");
    assert_int_equal(ee_round_count(round), 0);
    add_action(round, "{\"_tag\":\"\"}", NULL); /* as none */
    assert_int_equal(round->identified, 0);
    refuses(ee_round_action_id(round, "", 0, &last_error), "id: the id of an action is empty");
    ok(ee_round_action_id(round, "a", 1, &last_error));
    refuses(ee_round_action_id(round, "a", 1, &last_error), "id: the action has two ids");
}
