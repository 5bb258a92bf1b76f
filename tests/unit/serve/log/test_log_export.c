/* The settled decisions as dsjson: the exact line, what log_open reads from it, cursors, times and portions. */
#include "serve/joined_play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/log/log_export.h"

static log_export *open_export(play *self, const log_range *range)
{
    store_reader *reader;
    log_export *export;
    ok(store_reader_create(self->store, &reader, NULL));
    ok(log_export_create(reader, 1, range, &export, NULL));
    return export;
}

/* All lines of a range, fetched in portions of so many bytes; to be freed. */
static char *lines_of(play *self, log_range range, size_t portion)
{
    log_export *export = open_export(self, &range);
    ee_error error = {0};
    text all = text_start(NULL);
    text_add(&all, "%s", "");
    for (bool over = false; !over;) {
        text some = text_start(&error);
        if (log_export_fill(export, &some, portion, &over, &error)) fail_msg("%s", error.message);
        if (some.length) text_bytes(&all, some.bytes, some.length);
        memory_free(some.bytes);
    }
    log_export_free(export);
    return all.bytes;
}

static void assert_lines(play *self, log_range range, const char *expected)
{
    char *lines = lines_of(self, range, 1 << 16);
    assert_string_equal(lines, expected);
    memory_free(lines);
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

TEST(a_line)
{
    play self = start();
    decide(&self, "x", &vectors);
    self.now += 1500000;
    reward(&self, "x", 0.25);
    assert_lines(&self, everything,
                 "{\"_label_cost\":-0.25,\"_label_probability\":0.95,\"_label_Action\":2,\"_labelIndex\":1,"
                 "\"Timestamp\":\"2023-11-14T22:13:20.0000000Z\",\"Version\":\"1\",\"EventId\":\"x\",\"a\":[2,1,3],"
                 "\"p\":[0.95,0,0.05],\"_ba\":[1],\"_dim\":2,\"c\":{\"_multi\":[{\"_tag\":\"a\",\"x\":[1,0.5]},"
                 "{\"_tag\":\"b\\\"\",\"x\":[-2,0.1]},{\"_tag\":\"c\",\"x\":[0,3]}]},\"VWState\":{\"m\":\"17\"},"
                 "\"_cursor\":1}\n");
    end(&self);
}

/* ---- reading it back ---- */

/* What log_open finds in the lines; the file stays open until log_close. */
static log_reader *open_lines(play *self, log_event *first)
{
    char *lines = lines_of(self, everything, 1);
    folder_write_text(&self->place.folder, "log.dsjson", lines);
    memory_free(lines);
    log_options options = log_options_usual();
    options.strict = true;
    log_reader *log;
    ee_error error = {0};
    bool found;
    if (log_open(folder_path(&self->place.folder, "log.dsjson"), &options, &log, &error)) fail_msg("%s", error.message);
    if (log_next(log, first, &found, &error)) fail_msg("%s", error.message);
    assert_true(found);
    return log;
}

static void assert_event(const log_event *got, const decision_body *body, double made, double value)
{
    assert_int_equal(got->count, body->count);
    assert_int_equal(got->action, body->action);
    assert_int_equal(got->baseline, body->baseline);
    assert_true(got->probability == body->probabilities[body->action]);
    assert_memory_equal(got->probabilities, body->probabilities, body->count * sizeof(double));
    assert_true(got->reward == value);
    assert_true(got->time == made);
    for (size_t i = 0; body->names && i < body->count; i++) {
        assert_int_equal(got->actions[i].length, body->names[i].length);
        assert_memory_equal(got->actions[i].bytes, body->names[i].bytes, body->names[i].length);
    }
    if (body->dim)
        assert_memory_equal(got->arms.values, body->values, body->count * body->dim * sizeof(float));
    else
        assert_memory_equal(got->context.bytes, body->context.bytes, body->context.length);
}

TEST(vectors_read_back)
{
    play self = start();
    self.now += 123457;
    decide(&self, "x", &vectors);
    reward(&self, "x", 1.0 / 3);
    log_event got;
    log_reader *log = open_lines(&self, &got);
    assert_int_equal(log_dim(log), 2);
    assert_event(&got, &vectors, 1700000000.123457, 1.0 / 3);
    log_close(log);
    end(&self);
}

TEST(named_features_read_back)
{
    static const char context[] =
        "{\"user\":{\"age\":31},\"_multi\":[{\"_tag\":\"a\",\"i\":{\"p\":1.5}},{\"_tag\":\"b\\\"\"},"
        "{\"_tag\":\"c\",\"_text\":\"so it is\"}]}";
    decision_body named = vectors;
    named.dim = 0;
    named.values = NULL;
    named.context = (json_text){context, sizeof context - 1};
    play self = start();
    decide(&self, "x", &named);
    settle(&self);
    log_event got;
    log_reader *log = open_lines(&self, &got);
    assert_event(&got, &named, 1700000000, 0);
    log_close(log);
    end(&self);
}

TEST(apprentices_have_two_labels)
{
    play self = start();
    decision_body other = vectors;
    other.choice = 2;
    set_mode(&self, "{\"dim\":2,\"mode\":\"apprentice\"}");
    decide(&self, "x", &other);
    decide(&self, "y", &vectors);
    set_mode(&self, "{\"dim\":2,\"mode\":\"online\"}");
    decide(&self, "z", &vectors);
    reward(&self, "z", 0.5);
    reward(&self, "y", 0.5);
    reward(&self, "x", 0.5);
    char *lines = lines_of(&self, everything, 1);
    const char *second = strchr(lines, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_true(strncmp(lines, "{\"_label_cost\":-0,", 18) == 0);
    assert_non_null(strstr(lines, ",\"_original_label_cost\":-0.5,\"_cursor\":2}\n"));
    assert_true(strncmp(second, "{\"_label_cost\":-1,", 18) == 0); /* its choice was the baseline */
    assert_true(strncmp(third, "{\"_label_cost\":-0.5,", 20) == 0);
    assert_null(strstr(third, "_original_label_cost"));
    memory_free(lines);
    log_event got;
    bool found = true;
    log_reader *log = open_lines(&self, &got);
    for (size_t i = 0; found; i++) {
        assert_true(got.reward == 0.5);
        ok(log_next(log, &got, &found, NULL));
    }
    assert_int_equal(log_read(log)->events, 3);
    log_close(log);
    end(&self);
}

/* The SETTINGS event that a decision was made under is gone, a later one is not. */
TEST(the_mode_outlives_its_event)
{
    play self = start();
    bool more;
    set_mode(&self, "{\"dim\":2,\"mode\":\"apprentice\"}");
    self.now++;
    decide(&self, "x", &vectors);
    set_mode(&self, "{\"dim\":2,\"mode\":\"apprentice\",\"wait\":20}");
    decide(&self, "y", &vectors);
    reward(&self, "y", 0.5);
    reward(&self, "x", 0.5);
    ok(store_remove(self.store, 1, self.now, INT64_MAX, 100, &more, NULL));
    log_range range = everything;
    range.mode = MODE_APPRENTICE;
    char *lines = lines_of(&self, range, 1);
    const char *second = strchr(lines, '\n') + 1;
    assert_true(strncmp(lines, "{\"_label_cost\":-1,", 18) == 0);
    assert_non_null(strstr(lines, "\"EventId\":\"x\""));
    assert_true(strncmp(second, "{\"_label_cost\":-1,", 18) == 0);
    assert_non_null(strstr(second, "\"EventId\":\"y\""));
    memory_free(lines);
    end(&self);
}

TEST(nothing_is_skipped)
{
    play self = start();
    state_of(self.store, 1)->rules.default_reward = NAN;
    decide(&self, "x", &vectors);
    settle(&self);
    log_event got;
    log_reader *log = open_lines(&self, &got);
    assert_true(got.skipped);
    log_close(log);
    end(&self);
}

/* ---- which lines ---- */

/* The cursors of the lines, as "3 5 ". */
static void assert_cursors(play *self, log_range range, size_t portion, const char *expected)
{
    char *lines = lines_of(self, range, portion), got[512] = "";
    size_t length = 0;
    for (const char *at = lines; (at = strstr(at, "\"_cursor\":")); at++)
        length += (size_t)snprintf(got + length, sizeof got - length, "%d ", atoi(at + 10));
    assert_string_equal(got, expected);
    memory_free(lines);
}

TEST(cursors_times_and_limits)
{
    play self = start();
    const char *ids[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < 6; i++) {
        decide(&self, ids[i], &vectors); /* 1 to 6, a second apart */
        self.now += 1000000;
    }
    for (int i = 5; i >= 1; i--) reward(&self, ids[i], i);
    assert_cursors(&self, everything, 1, ""); /* the first waits, and all others with it */
    reward(&self, ids[0], 0);
    for (size_t portion = 1; portion < 1 << 16; portion *= 16)
        assert_cursors(&self, everything, portion, "1 2 3 4 5 6 ");
    assert_cursors(&self, (log_range){1, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "2 3 4 5 6 ");
    assert_cursors(&self, (log_range){1, INT64_MIN, INT64_MAX, 2, MODE_ONLINE, {0}}, 1, "2 3 ");
    assert_cursors(&self, (log_range){0, START + 1000000, START + 3000000, 0, MODE_ONLINE, {0}}, 1, "2 3 ");
    assert_cursors(&self, (log_range){2, START + 1000000, START + 3000000, 0, MODE_ONLINE, {0}}, 1, "3 ");
    assert_cursors(&self, (log_range){0, START + 1000001, INT64_MAX, 1, MODE_ONLINE, {0}}, 1, "3 ");
    assert_cursors(&self, (log_range){6, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "");
    assert_cursors(&self, (log_range){1000, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "");
    assert_cursors(&self, (log_range){INT64_MAX, INT64_MIN, INT64_MAX, 0, MODE_ONLINE, {0}}, 1, "");
    end(&self);
}

/* What is decided while somebody reads is for the next. */
TEST(an_export_ends)
{
    play self = start();
    decide(&self, "a", &vectors);
    reward(&self, "a", 1);
    log_export *export = open_export(&self, &everything);
    self.now++;
    decide(&self, "b", &vectors);
    reward(&self, "b", 1);
    text some = text_start(NULL);
    bool over;
    ok(log_export_fill(export, &some, 1 << 16, &over, NULL));
    assert_true(over);
    assert_non_null(strstr(some.bytes, "\"EventId\":\"a\""));
    assert_null(strstr(some.bytes, "\"EventId\":\"b\""));
    memory_free(some.bytes);
    log_export_free(export);
    assert_cursors(&self, everything, 1, "1 4 ");
    end(&self);
}

TEST(memory_is_bounded)
{
    enum { COUNT = 500 };
    play self = start();
    for (int i = 0; i < COUNT; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        decide(&self, id, &vectors);
        reward(&self, id, 1);
    }
    log_export *export = open_export(&self, &everything);
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
    end(&self);
}
