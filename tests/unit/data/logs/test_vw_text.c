/* Vowpal Wabbit's text format, line by line: labels, tags, and features as members of its JSON. */
#include "data/logs/vw_text.h"

#include "data/support_sets.h"
#include "eenet.h"
#include "features/vw_hash.h"
#include "good_logs.h"

static json_text words_of(const char *words)
{
    return (json_text){words, strlen(words)};
}

TEST(a_line_has_a_label_a_tag_and_features)
{
    static const struct {
        const char *line, *label, *tag, *features;
    } good[] = {
        {"1:2:0.4 | a c", "1:2:0.4", "", "| a c"},
        {"| a", "", "", "| a"},
        {" | a", "", "", "| a"},
        {"1:2:0.4 'id|f a", "1:2:0.4", "id", "|f a"},
        {"1:2:0.4 id|f a", "1:2:0.4", "id", "|f a"},
        {"1:2:0.4 'id |f a", "1:2:0.4", "id", "|f a"},
        {"'id |", "", "id", "|"},
        {"ccb slot 0:0:0.2 0,1 |s", "ccb slot 0:0:0.2 0,1", "", "|s"},
        {"1:2:0.4 2026-01-31T10:30|f a", "1:2:0.4", "2026-01-31T10:30", "|f a"},
        {"2026-01-31T10:30\t1:2:0.4 | a", "1:2:0.4", "", "| a"},
        {"key 7\t1:2:0.4 | a", "1:2:0.4", "", "| a"}, /* VW ignores what is before a tab */
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        vw_line line;
        log_note note = {LOG_EVENT, ""};
        if (!vw_line_split(words_of(good[i].line), &line, &note)) fail_msg("%s: %s", good[i].line, note.reason);
        json_text rest = line.label, word;
        while (line.label.length && line.label.bytes[line.label.length - 1] == ' ') line.label.length--;
        while (line.label.length && line.label.bytes[0] == ' ') line.label.bytes++, line.label.length--;
        if (!text_is(line.label, good[i].label))
            fail_msg("%s: label '%.*s'", good[i].line, (int)rest.length, rest.bytes);
        assert_true(text_is(line.tag, good[i].tag) && text_is(line.features, good[i].features));
        assert_true(vw_next_word(&rest, ' ', &word) == (good[i].label[0] != '\0'));
    }
}

TEST(labels_that_vw_would_lose_are_refused)
{
    static const char *const wrong[][2] = {
        {"1:2:0.4| a", "'1:2:0.4' touches the '|'"},
        {"shared| a", "'shared' touches the '|'"},
        {"ccb slot 0:0:0.2|a", "'0:0:0.2' touches the '|'"},
        {"1:2:0.4\t| a", "a tab follows the label '1:2:0.4'"},
        {"key\t1:2:0.4\t'id| a", "a tab follows the label '1:2:0.4'"},
        {"1:2:0.4 a b", "expected '|' between label and features, got '1:2:0.4 a b'"},
        {"1:2:0.4 |a\xff", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vw_line line;
        log_note note = {LOG_EVENT, ""};
        assert_false(vw_line_split(words_of(wrong[i][0]), &line, &note));
        if (!strstr(note.reason, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], note.reason);
    }
}

TEST(numbers_are_read_as_vw_reads_them)
{
    static const struct {
        const char *word;
        double number;
    } good[] = {{"1", 1},      {"-2.5", -2.5}, {"+3", 3}, {".5", 0.5},   {"-.5", -0.5},
                {"5.", 5},     {"007", 7},     {"0", 0},  {"1e3", 1000}, {"3.9656971e-02", 0.039656971},
                {"1.E2", 100}, {"00.5", 0.5}};
    static const char *const wrong[] = {"",    "-",    ".",  "+",     "1x",  "x",   "nan",
                                        "inf", "0x10", "1e", "1e999", "1:2", "--1", "1 "};
    double number;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!vw_number(words_of(good[i].word), &number)) fail_msg("%s", good[i].word);
        assert_true(number == good[i].number);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (vw_number(words_of(wrong[i]), &number)) fail_msg("%s is %g", wrong[i], number);
    assert_int_equal(vw_whole(words_of("4294967295")), 4294967295);
    assert_true(vw_whole(words_of("4294967296")) == SIZE_MAX && vw_whole(words_of("-1")) == SIZE_MAX);
    assert_true(vw_whole(words_of("")) == SIZE_MAX && vw_whole(words_of("1.0")) == SIZE_MAX);
}

/* The members of the features, or the reason why there are none; valid until the next call. */
static const char *members_of(const char *features)
{
    static char out[2000];
    RELEASED_BY(memory_release) memory owner = {0};
    vw_features *room;
    text into = text_start(NULL);
    log_note note = {LOG_EVENT, ""};
    bool any;
    assert_false(vw_features_create(&owner, &room, NULL));
    assert_false(vw_features_add(room, words_of("| left over |b from:1 before"), &into, &any, &note, NULL));
    into.length = 0;
    assert_false(vw_features_add(room, words_of(features), &into, &any, &note, NULL));
    assert_true(note.verdict != LOG_EVENT || any == (into.length > 0));
    snprintf(out, sizeof out, "%.*s", (int)into.length, into.bytes ? into.bytes : "");
    if (note.verdict != LOG_EVENT) snprintf(out, sizeof out, "%s", note.reason);
    memory_free(into.bytes);
    return out;
}

TEST(features_become_members)
{
    static const char *const good[][2] = {
        {"|", ""},
        {"| ", ""},
        {"|u", ""},
        {"| a b", "\"a\":true,\"b\":true"},
        {"|u age:31 plan=free", "\"u\":{\"age\":31,\"plan=free\":true}"},
        {"|u a |i b |u c", "\"u\":{\"a\":true,\"c\":true},\"i\":{\"b\":true}"}, /* one object for a name */
        {"| a:0 b:-.5 c:1e2", "\"a\":0,\"b\":-0.5,\"c\":100"},
        {"|u:2 a b:3", "\"u\":{\"a\":2,\"b\":6}"},
        {"|u:0.5 a |u b", "\"u\":{\"a\":0.5,\"b\":true}"},
        {"|u:2 k:red", "\"u\":{\"k\":\"red\"}"}, /* VW does not weigh words */
        {"|f :1 :2", "\"f\":{\"0\":1,\"1\":2}"}, /* without names: at the places of 0 and 1 */
        {"|f :1 a:2 :3 |f :4", "\"f\":{\"0\":5,\"a\":2,\"1\":3}"},
        {"| 12:0.5 7", "\"12\":0.5,\"7\":true"},
        {"| k:red k2:r|d:x", "\"k\":\"red\",\"k2\":\"r|d:x\""},
        {"| k:    red  z", "\"k\":\"red\",\"z\":true"},
        {"| k:  1.5 z", "\"k\":1.5,\"z\":true"},
        {"|u k:", "\"u\":{\"k\":true}"},
        {"|u:2 j k:", "\"u\":{\"j\":2,\"k\":1}"},
        {"|u k: ", "\"u\":{\"k\":0}"}, /* as VW */
        {"| a:1|u b", "\"a\":1,\"u\":{\"b\":true}"},
        {"| a\t b\r", "\"a\":true,\"b\":true"},
        {"| the cat the hat the", "\"the\":true,\"cat\":true,\"hat\":true,\"_text\":\"the the\""},
        {"|t a:1 a:2 a", "\"t\":{\"a\":4}"},
        {"| a a a:2", "\"a\":4"},
        {"| a |a b", "\"a\":true,\" a\":{\"b\":true}"}, /* a blank: no name twice, and VW's hash ignores it */
        {"| _multi:1 |_multi a |_x _tag", "\" _multi\":1,\"  _multi\":{\"a\":true},\" _x\":{\" _tag\":true}"},
        {"| _a _a", "\" _a\":true,\"_text\":\"_a\""},
        {"| k:red k:blue", "\"k\":\"red\",\" k\":\"blue\""},
        {"| q\"uote back\\slash", "\"q\\\"uote\":true,\"back\\\\slash\":true"},
        {"| q\" q\"", "\"q\\\"\":true,\"_text\":\"q\\\"\""},
        {"|\xc2\xa3 ff |~ff", "\"\xc2\xa3\":{\"ff\":true}"},
        {"| :red", "\"\":\"red\""},
        {"|u age:nan n:NaN", "\"u\":{\"age\":0,\"n\":0}"}, /* as VW, not a word */
        {"| k:nano k2:info", "\"k\":\"nano\",\"k2\":\"info\""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (strcmp(members_of(good[i][0]), good[i][1]) != 0) fail_msg("%s: %s", good[i][0], members_of(good[i][0]));
}

TEST(malformed_features_are_named)
{
    static const char *const wrong[][2] = {
        {"| a:1x", "expected a number after 'a:', got '1x'"},
        {"| day:2024-05-01", "expected a number after 'day:', got '2024-05-01'"},
        {"| time:12:30", "expected a number after 'time:', got '12:30'"},
        {"| a:1e999", "expected a number after 'a:', got '1e999'"},
        {"| k: |u a", "expected a number after 'k:', got '|u'"}, /* VW's value is the word |u */
        {"| k:|u a", "expected a number after 'k:', got '|u'"},
        {"| a:inf", "expected a number after 'a:', got 'inf'"}, /* a number for VW, not a word */
        {"| a:Infinity", "expected a number after 'a:', got 'Infinity'"},
        {"| :", "expected a number after ':'"},
        {"|: a", "expected |NAME or |NAME:NUMBER"},
        {"|u:x a", "expected |NAME or |NAME:NUMBER for the namespace 'u'"},
        {"|u: a", "expected |NAME or |NAME:NUMBER for the namespace 'u'"},
        {"|u:1:2 a", "expected |NAME or |NAME:NUMBER for the namespace 'u'"},
        {"|u:1e60 a:1e60", "the value of 'a' must be -1e100 to 1e100"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!strstr(members_of(wrong[i][0]), wrong[i][1])) fail_msg("%s: %s", wrong[i][0], members_of(wrong[i][0]));
}

/* The place of the only feature, with hashing=vw and chain_hash=on. */
static uint32_t place_of(const char *features)
{
    auto_round *round;
    const char *json = formatted("{%s}", members_of(features));
    assert_false(ee_round_create(NULL, &round, NULL));
    assert_false(ee_round_context(round, json, strlen(json), NULL));
    assert_int_equal(round->context.count, 1);
    uint32_t place = vw_feature_hash(&round->context.items[0], round->text, true);
    return place;
}

static uint32_t hash(const char *words, uint32_t seed)
{
    return vw_hash(words, strlen(words), seed);
}

/* VW hashes the name of a feature with the hash of its namespace as the seed; a number is added to that; a word is
 * hashed with the hash of its name. The first two numbers are from VW's own output (tests/golden/vw_hashes.json). */
TEST(places_are_those_of_vw)
{
    assert_int_equal(place_of("| feature"), 396742752);
    assert_int_equal(place_of("|namespace feature"), 142586501);
    assert_int_equal(place_of("|user plan=free"), hash("plan=free", hash("user", 0)));
    assert_int_equal(place_of("|user age:31"), hash("age", hash("user", 0)));
    assert_int_equal(place_of("|f 12:0.5"), hash("f", 0) + 12);
    assert_int_equal(place_of("|f :0.5"), hash("f", 0));
    assert_int_equal(place_of("| 12"), 12);
    assert_int_equal(place_of("|7 a"), hash("a", 7));
    assert_int_equal(place_of("|_u _a"), hash("_a", hash("_u", 0)));
    assert_int_equal(place_of("|emotion happiness:true"), hash("true", hash("happiness", hash("emotion", 0))));
}

/* A line with many names takes time in proportion to them. */
TEST(long_lines_are_read)
{
    enum { NAMES = 200000 };
    RELEASED_BY(memory_release) memory owner = {0};
    vw_features *room;
    text line = text_start(NULL), into = text_start(NULL);
    log_note note = {LOG_EVENT, ""};
    bool any;
    assert_false(vw_features_create(&owner, &room, NULL));
    for (size_t i = 0; i < NAMES; i++) text_add(&line, "|n%zu a%zu b ", i % 1000, i);
    assert_false(vw_features_add(room, (json_text){line.bytes, line.length}, &into, &any, &note, NULL));
    assert_int_equal(note.verdict, LOG_EVENT);
    size_t flags = 0;
    for (size_t i = 0; i + 5 <= into.length; i++) flags += memcmp(into.bytes + i, ":true", 5) == 0;
    assert_int_equal(flags, NAMES + 1000); /* b comes again in its namespace */
    memory_free(line.bytes);
    memory_free(into.bytes);
}
