/* The settled decisions one by one: each is what its exported line says, to the last bit; in the order of the
 * decisions, up to the first that waits. */
#include "serve/joined_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/logs/dsjson.h"
#include "data/logs/slot_context.h"
#include "serve/log/log_export.h"

enum { ACTIONS = 4, DIM = 2 };

static settled_reader *open_reader(const log_range *range)
{
    store_reader *reader;
    settled_reader *out;
    ok(store_reader_create(play.store, &reader, NULL));
    ok(settled_reader_create(reader, 1, range, &out, NULL));
    return out;
}

/* What was read last. */
static log_event got;
static settled_decision facts;

static bool next(settled_reader *from)
{
    bool found;
    ok(settled_next(from, &got, &facts, &found, NULL));
    return found;
}

/* ---- the same as the line ---- */

static void assert_same_text(json_text read, json_text expected)
{
    assert_int_equal(read.length, expected.length);
    if (read.length) assert_memory_equal(read.bytes, expected.bytes, read.length);
}

static void assert_same_doubles(const double *read, const double *expected, size_t count)
{
    assert_int_equal(!read, !expected);
    if (read) assert_memory_equal(read, expected, count * sizeof *read);
}

static void assert_same_numbers(const size_t *read, const size_t *expected, size_t count)
{
    assert_int_equal(!read, !expected);
    if (read) assert_memory_equal(read, expected, count * sizeof *read);
}

static void assert_same_slot(const log_slot *read, const log_slot *expected)
{
    assert_same_text(read->id, expected->id);
    assert_int_equal(read->count, expected->count);
    assert_same_numbers(read->actions, expected->actions, read->count);
    assert_same_doubles(read->probabilities, expected->probabilities, read->count);
    assert_same_doubles(&read->reward, &expected->reward, 1);
    assert_int_equal(read->skipped, expected->skipped);
    assert_int_equal(read->baseline, expected->baseline);
    assert_int_equal(read->allowed_count, expected->allowed_count);
    assert_same_numbers(read->allowed, expected->allowed, read->allowed_count);
    assert_same_text(read->features, expected->features);
}

static void assert_same_event(const log_event *read, const log_event *expected)
{
    assert_same_text(read->id, expected->id);
    assert_same_doubles(&read->time, &expected->time, 1);
    assert_int_equal(read->count, expected->count);
    assert_int_equal(read->action, expected->action);
    assert_same_doubles(&read->probability, &expected->probability, 1);
    assert_same_doubles(read->probabilities, expected->probabilities, read->count);
    assert_same_doubles(&read->reward, &expected->reward, 1);
    assert_same_doubles(&read->copies, &expected->copies, 1);
    assert_int_equal(read->skipped, expected->skipped);
    assert_int_equal(read->baseline, expected->baseline);
    assert_int_equal(!read->actions, !expected->actions);
    for (size_t i = 0; read->actions && i < read->count; i++) assert_same_text(read->actions[i], expected->actions[i]);
    assert_int_equal(read->arms.count, expected->arms.count);
    assert_int_equal(read->arms.dim, expected->arms.dim);
    assert_true(!read->arms.starts && !expected->arms.starts);
    if (read->arms.count)
        assert_memory_equal(read->arms.values, expected->arms.values,
                            read->arms.count * read->arms.dim * sizeof(float));
    assert_same_text(read->context, expected->context);
    assert_int_equal(read->slate, expected->slate);
    assert_int_equal(read->slot_count, expected->slot_count);
    for (size_t i = 0; i < read->slot_count; i++) assert_same_slot(&read->slots[i], &expected->slots[i]);
}

/* Compares all lines of the log with what the reader gives; how many there were. */
static size_t assert_lines_say_the_same(void)
{
    memory owner = {0};
    dsjson *room;
    store_reader *reader;
    log_export *export;
    text lines = text_start(NULL);
    bool over = false;
    size_t count = 0;
    log_options options = log_options_usual();
    options.strict = true;
    ok(dsjson_create(&owner, &room, NULL));
    ok(store_reader_create(play.store, &reader, NULL));
    ok(log_export_create(reader, 1, &everything, &export, NULL));
    while (!over) ok(log_export_fill(export, &lines, lines.length + 100, &over, NULL));
    log_export_free(export);
    settled_reader *decisions = open_reader(&everything);
    log_event expected;
    log_note note;
    for (const char *at = lines.bytes, *end; at && at < lines.bytes + lines.length; at = end + 1, count++) {
        end = memchr(at, '\n', (size_t)(lines.bytes + lines.length - at));
        ok(dsjson_parse(room, at, (size_t)(end - at), &options, &expected, &note, NULL));
        if (note.verdict) fail_msg("%s", note.reason);
        assert_true(next(decisions));
        assert_same_event(&got, &expected);
    }
    assert_false(next(decisions));
    settled_reader_free(decisions);
    memory_free(lines.bytes);
    memory_release(&owner);
    return count;
}

/* ---- decisions of all sorts ---- */

static const double probabilities[ACTIONS] = {1.0 / 3, 0, 0.1, 1 - 1.0 / 3 - 0.1};
static const float values[ACTIONS * DIM] = {1, -2.5f, 0.1f, 1e-20f, 3e8f, 7, 0, 1.0f / 3};
static const uint8_t excluded[ACTIONS] = {0, 1, 0, 0};
static const json_text names[ACTIONS] = {{"a", 1}, {"b\"\n", 3}, {"r\xc3\xa4t", 4}, {"d", 1}};
static const char context[] =
    "{\"user\":{\"age\":31},\n\"_multi\":[{\"_tag\":\"a\",\"i\":{\"p\":1.5}},{\"_tag\":\"b\\\"\\n\"},"
    "{\"_tag\":\"r\xc3\xa4t\",\"_text\":\"so it is\"},{\"_tag\":\"d\"}]}";

static decision_body vectors(void)
{
    return (decision_body){.version = 17,
                           .count = ACTIONS,
                           .action = 2,
                           .choice = 2,
                           .probabilities = probabilities,
                           .names = names,
                           .excluded = excluded,
                           .dim = DIM,
                           .values = values};
}

static decision_body named(void)
{
    decision_body body = vectors();
    body.dim = 0;
    body.values = NULL;
    body.excluded = NULL;
    body.baseline = 3;
    body.context = (json_text){context, sizeof context - 1};
    return body;
}

TEST_WITH(lines_say_the_same, start, end)
{
    decision_body body = vectors(), other = named();
    const double rewards[] = {1.0 / 3, 0, -0.0, -1e-300, 5e300};
    char id[16];
    for (int i = 0; i < 300; i++) { /* at odd times, some with a default, in all modes: some pages */
        static const char *const modes[] = {"{\"mode\":\"online\"}", "{\"mode\":\"apprentice\"}",
                                            "{\"mode\":\"logging\"}"};
        if (i % 4 == 0) set_mode(modes[i / 4 % 3]);
        play.now += 123457 + i * 1000003;
        snprintf(id, sizeof id, "%d \"\xc3\xa4", i);
        body.choice = i % 3 ? 0 : 2;
        body.names = i % 5 ? names : NULL;
        decide(id, i % 2 ? &body : &other);
        if (i % 7) reward(id, rewards[i % 5]);
    }
    state_of(play.store, 1)->rules.default_reward = NAN;
    settle();
    assert_int_equal(assert_lines_say_the_same(), 300);
}

/* ---- slots ---- */

/* A round of three slots, of which the second has features and excludes an action, and the third what is left. */
static void decide_round(const char *id, bool vector, text *room)
{
    static const char *const slots[] = {"top", "mid\"", "end"};
    static const char *const features[] = {"", "{\"size\":\"L\", \"at\":{\"x\":1}}", "{\"size\":\"S\"}"};
    static const uint8_t gone[3][ACTIONS] = {
        {0, 0, 0, 0}, {EXCLUDED_BY_REQUEST, 0, EXCLUDED_BY_SLOT, 0}, {0, EXCLUDED_BY_SLOT, EXCLUDED_BY_SLOT, 0}};
    static const double chances[3][ACTIONS] = {{0.25, 0.25, 0.25, 0.25}, {0, 0.9, 0, 0.1}, {1.0 / 3, 0, 0, 2.0 / 3}};
    static const size_t taken[] = {2, 1, 3};
    decision_body bodies[3];
    size_t starts[4] = {0};
    room->length = 0;
    for (size_t i = 0; i < 3 && !vector; i++) {
        slot_context(room, (json_text){context, sizeof context - 1}, (json_text){features[i], strlen(features[i])});
        starts[i + 1] = room->length;
    }
    for (size_t i = 0; i < 3; i++) {
        decision_body *body = &bodies[i];
        *body = vector ? vectors() : named();
        if (!vector) body->context = (json_text){room->bytes + starts[i], starts[i + 1] - starts[i]};
        body->excluded = i ? gone[i] : NULL;
        body->probabilities = chances[i];
        body->action = body->choice = taken[i];
        body->baseline = i;
        body->slot = (json_text){slots[i], strlen(slots[i])};
        body->slot_index = i;
        body->slot_count = 3;
    }
    decide(id, bodies);
}

TEST_WITH(rounds_of_slots_say_the_same, start, end)
{
    text room = text_start(NULL);
    decision_body single = named();
    set_mode("{\"mode\":\"online\"}"); /* event 1 */
    decide_round("r1", false, &room);  /* 2 to 4 */
    decide("one", &single);            /* 5 */
    decide_round("r2", true, &room);   /* 6 to 8 */
    set_mode("{\"mode\":\"apprentice\"}");
    decide_round("r3", false, &room); /* 10 to 12 */
    reward("r1\037top", 0.5);
    reward("r1\037end", -2);
    reward("one", 1);
    reward("r2\x1fmid\"", 0.1);
    reward("r3\037end", 1.0 / 3);
    settled_reader *live = open_reader(&everything);
    assert_false(next(live)); /* a slot waits */
    state_of(play.store, 1)->rules.default_reward = NAN;
    settle();
    static const uint64_t numbers[] = {4, 5, 8, 12};
    for (size_t i = 0; i < 4; i++) { /* it goes on */
        assert_true(next(live) && facts.number == numbers[i] && facts.version == 17);
        assert_int_equal(got.slot_count, i == 1 ? 0 : 3);
        if (i == 0) {
            assert_same_text(got.id, (json_text){"r1", 2});
            assert_same_text(got.slots[1].features, (json_text){"{\"size\":\"L\", \"at\":{\"x\":1}}", 26});
            assert_int_equal(got.slots[1].allowed_count, 3);
            assert_true(!got.skipped && got.slots[1].skipped && !got.slots[2].skipped);
            assert_true(got.slots[2].reward == -2);
        }
        if (i == 2) assert_true(!got.skipped && got.slots[0].skipped && !got.slots[1].skipped); /* one is enough */
        assert_int_equal(facts.mode, i == 3 ? MODE_APPRENTICE : MODE_ONLINE);
        assert_int_equal(!facts.learned, i != 3);
    }
    settled_reader_free(live);
    assert_int_equal(assert_lines_say_the_same(), 4);
    log_range inside = everything;
    inside.after = 2; /* no cursor, but what it could be */
    live = open_reader(&inside);
    assert_true(next(live) && facts.number == 5);
    settled_reader_free(live);
    memory_free(room.bytes);
}

/* A later slot that repeats depends on an earlier decision: then the round is no draw. Rules are those of all slots. */
TEST_WITH(a_round_repeats_if_one_of_its_slots_does, start, end)
{
    static const char *const slots[] = {"top", "end"};
    decision_body bodies[2];
    for (size_t i = 0; i < 2; i++) {
        bodies[i] = vectors();
        bodies[i].slot = (json_text){slots[i], 3};
        bodies[i].slot_index = i;
        bodies[i].slot_count = 2;
        bodies[i].guard = (decision_guard){.present = true, .rule_count = 1 + i, .rules = {{"all", 3}, {"end", 3}}};
    }
    bodies[1].guard.repeats = (json_text){"before\037end", 10};
    decide("r1", bodies);
    settle();
    settled_reader *reader = open_reader(&everything);
    assert_true(next(reader));
    assert_same_text(got.guard.repeats, (json_text){"before", 6});
    assert_same_text(got.guard.rules, (json_text){"[\"all\",\"end\"]", 13});
    settled_reader_free(reader);
}

/* ---- order ---- */

TEST_WITH(what_was_read_does_not_outlive_an_erasure, start, end)
{
    decision_body body = vectors();
    const char *const ids[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) decide(ids[i], &body);
    for (size_t i = 0; i < 3; i++) reward(ids[i], 1);
    settled_reader *live = open_reader(&everything);
    assert_true(next(live) && facts.number == 1);
    ok(store_erase(play.store, 1, (const uint64_t[]){6, 7, 2}, 3, NULL));
    assert_true(next(live) && facts.number == 3);
    settled_reader_free(live);
}

TEST_WITH(the_first_that_waits_holds_up_the_others, start, end)
{
    decision_body body = vectors();
    decide("a", &body);
    decide("b", &body);
    decide("c", &body);
    play.now += 500000;
    reward("c", 3);
    reward("a", 1);
    log_range joined = everything;
    joined.rules = state_of(play.store, 1)->rules;
    settled_reader *live = open_reader(&joined);
    assert_true(next(live) && facts.number == 1 && got.reward == 1 && facts.outcome == SETTLED_REWARDED);
    assert_true(facts.delay == 0.5);
    for (int i = 0; i < 2; i++) assert_false(next(live));
    settle();
    assert_true(next(live) && facts.number == 2 && facts.outcome == SETTLED_DEFAULT && isnan(facts.delay));
    assert_true(next(live) && facts.number == 3 && got.reward == 3);
    settled_reader_free(live);
}
