/* The settled decisions as dsjson: the exact line, what log_open reads from it, cursors, times and portions. */
#include "serve/joined_play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/log/log_export.h"

static log_export *open_export(const log_range *range)
{
    store_reader *reader;
    log_export *export;
    ok(store_reader_create(play.store, &reader, NULL));
    ok(log_export_create(reader, 1, range, &export, NULL));
    return export;
}

/* All lines of a range, fetched in portions of so many bytes; to be freed. */
static char *lines_of(log_range range, size_t portion)
{
    log_export *export = open_export(&range);
    text all = text_start(NULL);
    text_add(&all, "%s", "");
    for (bool over = false; !over;) {
        text some = text_start(&last_error);
        ok(log_export_fill(export, &some, portion, &over, &last_error));
        if (some.length) text_bytes(&all, some.bytes, some.length);
        memory_free(some.bytes);
    }
    log_export_free(export);
    return all.bytes;
}

/* ---- the line ---- */

static const float values[] = {1, 0.5f, -2, 0.1f, 0, 3};
static const double probabilities[] = {0, 0.95, 0.05};
static const uint8_t excluded[] = {1, 0, 0};
static const json_text names[] = {{"a", 1}, {"b\"", 2}, {"c", 1}};
static const decision_body vectors = {.version = 17,
                                      .count = 3,
                                      .action = 1,
                                      .choice = 1,
                                      .baseline = 1,
                                      .probabilities = probabilities,
                                      .names = names,
                                      .excluded = excluded,
                                      .dim = 2,
                                      .values = values,
                                      .record = "r",
                                      .record_size = 1};

TEST_WITH(a_line, start, end)
{
    decide("x", &vectors);
    play.now += 1500000;
    reward("x", 0.25);
    auto_memory char *lines = lines_of(everything, 1 << 16);
    assert_string_equal(
        lines, "{\"_label_cost\":-0.25,\"_label_probability\":0.95,\"_label_Action\":2,\"_labelIndex\":1,"
               "\"Timestamp\":\"2023-11-14T22:13:20.0000000Z\",\"Version\":\"1\",\"EventId\":\"x\",\"a\":[2,1,3],"
               "\"p\":[0.95,0,0.05],\"_ba\":[1],\"_dim\":2,\"c\":{\"_multi\":[{\"_tag\":\"a\",\"x\":[1,0.5]},"
               "{\"_tag\":\"b\\\"\",\"x\":[-2,0.1]},{\"_tag\":\"c\",\"x\":[0,3]}]},\"VWState\":{\"m\":\"17\"},"
               "\"_cursor\":1}\n");
}

/* ---- reading it back ---- */

static log_event got; /* the last that was read */

/* What log_open finds in the lines; the file stays open until log_close. */
static log_reader *open_lines(void)
{
    auto_memory char *lines = lines_of(everything, 1);
    folder_write_text(&play.place.folder, "log.dsjson", lines);
    log_options options = log_options_usual();
    options.strict = true;
    log_reader *log;
    bool found;
    ok(log_open(folder_path(&play.place.folder, "log.dsjson"), &options, &log, &last_error));
    ok(log_next(log, &got, &found, &last_error));
    assert_true(found);
    return log;
}

static void assert_event(const decision_body *body, double made, double value)
{
    assert_int_equal(got.count, body->count);
    assert_int_equal(got.action, body->action);
    assert_int_equal(got.baseline, body->baseline);
    assert_true(got.probability == body->probabilities[body->action]);
    assert_memory_equal(got.probabilities, body->probabilities, body->count * sizeof(double));
    assert_true(got.reward == value);
    assert_true(got.time == made);
    for (size_t i = 0; body->names && i < body->count; i++) {
        assert_int_equal(got.actions[i].length, body->names[i].length);
        assert_memory_equal(got.actions[i].bytes, body->names[i].bytes, body->names[i].length);
    }
    if (body->dim)
        assert_memory_equal(got.arms.values, body->values, body->count * body->dim * sizeof(float));
    else
        assert_memory_equal(got.context.bytes, body->context.bytes, body->context.length);
}

TEST(decisions_read_back)
{
    decision_body named = vectors;
    named.dim = 0;
    named.values = NULL;
    named.context = words("{\"user\":{\"age\":31},\"_multi\":[{\"_tag\":\"a\",\"i\":{\"p\":1.5}},{\"_tag\":\"b\\\"\"},"
                          "{\"_tag\":\"c\",\"_text\":\"so it is\"}]}");
    for (int i = 0; i < 2; i++) {
        start(NULL);
        play.now += 123457;
        decide("x", i ? &named : &vectors);
        if (!i) reward("x", 1.0 / 3);
        if (i) settle();
        log_reader *log = open_lines();
        assert_int_equal(log_dim(log), i ? 0 : 2);
        assert_event(i ? &named : &vectors, 1700000000.123457, i ? 0 : 1.0 / 3);
        log_close(log);
        end(NULL);
    }
}

TEST_WITH(apprentices_have_two_labels, start, end)
{
    decision_body other = vectors;
    other.choice = 2;
    set_mode("{\"dim\":2,\"mode\":\"apprentice\"}");
    decide("x", &other);
    decide("y", &vectors);
    set_mode("{\"dim\":2,\"mode\":\"online\"}");
    decide("z", &vectors);
    reward("z", 0.5);
    reward("y", 0.5);
    reward("x", 0.5);
    auto_memory char *lines = lines_of(everything, 1);
    const char *second = strchr(lines, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_true(strncmp(lines, "{\"_label_cost\":-0,", 18) == 0);
    assert_non_null(strstr(lines, ",\"_original_label_cost\":-0.5,\"_cursor\":2}\n"));
    assert_true(strncmp(second, "{\"_label_cost\":-1,", 18) == 0); /* its choice was the baseline */
    assert_true(strncmp(third, "{\"_label_cost\":-0.5,", 20) == 0);
    assert_null(strstr(third, "_original_label_cost"));
    bool found = true;
    log_reader *log = open_lines();
    for (size_t i = 0; found; i++) {
        assert_true(got.reward == 0.5);
        ok(log_next(log, &got, &found, NULL));
    }
    assert_int_equal(log_read(log)->events, 3);
    log_close(log);
}

/* The SETTINGS event that a decision was made under is gone, a later one is not. */
TEST_WITH(the_mode_outlives_its_event, start, end)
{
    bool more;
    set_mode("{\"dim\":2,\"mode\":\"apprentice\"}");
    play.now++;
    decide("x", &vectors);
    set_mode("{\"dim\":2,\"mode\":\"apprentice\",\"wait\":20}");
    decide("y", &vectors);
    reward("y", 0.5);
    reward("x", 0.5);
    ok(store_remove(play.store, 1, play.now, INT64_MAX, 100, &more, NULL));
    log_range range = everything;
    range.mode = MODE_APPRENTICE;
    auto_memory char *lines = lines_of(range, 1);
    const char *second = strchr(lines, '\n') + 1;
    assert_true(strncmp(lines, "{\"_label_cost\":-1,", 18) == 0);
    assert_non_null(strstr(lines, "\"EventId\":\"x\""));
    assert_true(strncmp(second, "{\"_label_cost\":-1,", 18) == 0);
    assert_non_null(strstr(second, "\"EventId\":\"y\""));
}

TEST_WITH(nothing_is_skipped, start, end)
{
    state_of(play.store, 1)->rules.default_reward = NAN;
    decide("x", &vectors);
    settle();
    log_reader *log = open_lines();
    assert_true(got.skipped);
    log_close(log);
}

/* ---- which lines ---- */

/* The cursors of the lines, as "3 5 ". */
static void assert_cursors(log_range range, size_t portion, const char *expected)
{
    auto_memory char *lines = lines_of(range, portion);
    char cursors[512] = "";
    size_t length = 0;
    for (const char *at = lines; (at = strstr(at, "\"_cursor\":")); at++)
        length += (size_t)snprintf(cursors + length, sizeof cursors - length, "%d ", atoi(at + 10));
    assert_string_equal(cursors, expected);
}

TEST_WITH(cursors_times_and_limits, start, end)
{
    const char *ids[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < 6; i++) {
        decide(ids[i], &vectors); /* 1 to 6, a second apart */
        play.now += 1000000;
    }
    for (int i = 5; i >= 1; i--) reward(ids[i], i);
    assert_cursors(everything, 1, ""); /* the first waits, and all others with it */
    reward(ids[0], 0);
    for (size_t portion = 1; portion < 1 << 16; portion *= 16) assert_cursors(everything, portion, "1 2 3 4 5 6 ");
    assert_cursors((log_range){1, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "2 3 4 5 6 ");
    assert_cursors((log_range){1, INT64_MIN, INT64_MAX, 2, MODE_ONLINE, {0}}, 1, "2 3 ");
    assert_cursors((log_range){0, START + 1000000, START + 3000000, 0, MODE_ONLINE, {0}}, 1, "2 3 ");
    assert_cursors((log_range){2, START + 1000000, START + 3000000, 0, MODE_ONLINE, {0}}, 1, "3 ");
    assert_cursors((log_range){0, START + 1000001, INT64_MAX, 1, MODE_ONLINE, {0}}, 1, "3 ");
    assert_cursors((log_range){6, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "");
    assert_cursors((log_range){1000, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "");
    assert_cursors((log_range){INT64_MAX, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "");
}

/* What is decided while somebody reads is for the next. */
TEST_WITH(an_export_ends, start, end)
{
    decide("a", &vectors);
    reward("a", 1);
    log_export *export = open_export(&everything);
    play.now++;
    decide("b", &vectors);
    reward("b", 1);
    text some = text_start(NULL);
    bool over;
    ok(log_export_fill(export, &some, 1 << 16, &over, NULL));
    assert_true(over);
    assert_non_null(strstr(some.bytes, "\"EventId\":\"a\""));
    assert_null(strstr(some.bytes, "\"EventId\":\"b\""));
    memory_free(some.bytes);
    log_export_free(export);
    assert_cursors(everything, 1, "1 4 ");
}

TEST_WITH(memory_is_bounded, start, end)
{
    enum { COUNT = 500 };
    for (int i = 0; i < COUNT; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        decide(id, &vectors);
        reward(id, 1);
    }
    log_export *export = open_export(&everything);
    size_t lines = 0, longest = 0;
    for (bool over = false; !over;) {
        text some = text_start(NULL);
        ok(log_export_fill(export, &some, 5000, &over, NULL));
        for (size_t i = 0; i < some.length; i++) lines += some.bytes[i] == '\n';
        if (some.length > longest) longest = some.length;
        memory_free(some.bytes);
    }
    assert_int_equal(lines, COUNT);
    assert_true(longest < 10000);
    log_export_free(export);
}
