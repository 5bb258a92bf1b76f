/* Logs that are written and read again: dsjson, compact and CSV, packed or not; cut and damaged ones. */
#include <unistd.h>

#include "base/random.h"
#include "data/logs/log_kind.h"
#include "data/support_sets.h"
#include "good_logs.h"
#include "support_files.h"

/* One line of each kind that there is. */
static const char lines[] =
    "{\"_label_cost\":-0.12345678901234566,\"_label_probability\":0.3,\"_label_Action\":2,\"EventId\":"
    "\"a\\n\\\"\\u00e9\",\"a\":[2,1,3]"
    ","
    "\"p\":[0.3,0.6,0.1],\"c\":{\"u\":{\"x\":1e-7},\"_multi\":[{\"_tag\":\"one\"},{\"j\":[{\"y\":2}]},{\"_tag\":\"3\"}]"
    "},"
    "\"Timestamp\":\"2021-05-18T13:28:29.6560001Z\"}\n"
    "{\"_label_cost\":-0.0,\"_label_probability\":0.25,\"_labelIndex\":1,\"c\":{\"_multi\":[{},{}]},\"pdrop\":0.9}\n"
    "{\"_label_cost\":3e-5,\"a\":[1,2],\"p\":[0.05000000074505806,0.9499999992549419],\"_ba\":[1],\"_skipLearn\":true,"
    "\"pdrop\":0.123456789}\n"
    "{\"_outcomes\":[{\"_label_cost\":-1.5,\"_id\":\"top\",\"_a\":[1,2],\"_p\":[0.75,0.25]},{\"_a\":[2],\"_p\":[1],"
    "\"_label_cost\":-2}],\"c\":{\"_multi\":[{\"_tag\":\"a\"},{},{}],\"_slots\":[{},{}]},\"EventId\":\"slots\"}\n"
    "{\"_outcomes\":[{\"_label_cost\":-0.0,\"_skipLearn\":true,\"_a\":[1,0],\"_p\":[0.5,0.5]},{\"_a\":[2,0],\"_p\":[0."
    "9,"
    "0.1],\"_label_cost\":-1}],\"_ba\":[0,2],\"c\":{ \"_slots\":[{\"_id\":\"t\\u00e9\", \"size\":\"L\",\"_inc\":[1,0],"
    "\"at\":{\"x\":1}},{ \"_inc\" : [0, 1, 2]}],\"u\":{\"b\": 1},\"_multi\":[{},{\"j\":2},{}]},\"EventId\":\"more\"}\n"
    "{\"_label_cost\":-2,\"_outcomes\":[{\"_a\":[1,0],\"_p\":[0.8,0.2]},{\"_a\":[0],\"_p\":[1]}],\"c\":{\"_multi\":["
    "{\"_slot_id\":0},{\"_slot_id\":0},{\"_slot_id\":1}]}}\n";

static log_writer *create_good(const char *path, size_t dim)
{
    log_writer *log;
    if (log_create(path, dim, &log, &last_error)) fail_msg("%s: %s", path, last_error.message);
    return log;
}

static void convert(const char *from, const char *to)
{
    auto_log_reader *in = open_good(from);
    log_writer *out = create_good(to, log_dim(in));
    log_event event;
    if (log_names_columns(out)) {
        while (next_good(in, &event)) ok(log_expect(out, &event, NULL));
        log_close(in);
        in = open_good(from);
    }
    while (next_good(in, &event)) ok(log_write(out, &event, &last_error));
    ok(log_end(out, true, &last_error));
}

static void same_text(json_text a, json_text b)
{
    assert_int_equal(a.length, b.length);
    if (a.length) assert_memory_equal(a.bytes, b.bytes, a.length);
}

/* To the last bit; NaN equals NaN. */
static void same_doubles(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(a[i]) && isnan(b[i])) continue;
        if (memcmp(&a[i], &b[i], sizeof *a) != 0) fail_msg("%.17g is not %.17g", a[i], b[i]);
    }
}

static void same_arms(const ee_arms *a, const ee_arms *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->dim, b->dim);
    assert_true(!a->starts == !b->starts);
    size_t first = a->starts && a->count ? a->starts[0] : 0;
    if (a->count && a->starts)
        for (size_t i = 0; i <= a->count; i++) assert_int_equal(a->starts[i] - first, b->starts[i]);
    size_t values = !a->count ? 0 : a->starts ? a->starts[a->count] - first : a->count * a->dim;
    if (values) assert_memory_equal(a->values + first, b->values, values * sizeof *a->values);
    if (values && a->starts) assert_memory_equal(a->indices + first, b->indices, values * sizeof *a->indices);
}

static void same_event(const log_event *a, const log_event *b)
{
    const double numbers[2][4] = {{a->time, a->probability, a->reward, a->copies},
                                  {b->time, b->probability, b->reward, b->copies}};
    same_doubles(numbers[0], numbers[1], 4);
    same_text(a->id, b->id);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->action, b->action);
    assert_int_equal(a->baseline, b->baseline);
    assert_true(a->skipped == b->skipped && a->slate == b->slate);
    assert_true(!a->probabilities == !b->probabilities && !a->actions == !b->actions);
    if (a->probabilities) same_doubles(a->probabilities, b->probabilities, a->count);
    for (size_t i = 0; a->actions && i < a->count; i++) same_text(a->actions[i], b->actions[i]);
    same_arms(&a->arms, &b->arms);
    assert_int_equal(a->slot_count, b->slot_count);
    for (size_t i = 0; i < a->slot_count; i++) {
        const log_slot *one = &a->slots[i], *other = &b->slots[i];
        same_text(one->id, other->id);
        assert_int_equal(one->count, other->count);
        assert_memory_equal(one->actions, other->actions, one->count * sizeof *one->actions);
        same_doubles(one->probabilities, other->probabilities, one->count);
        same_doubles(&one->reward, &other->reward, 1);
        assert_true(one->skipped == other->skipped && one->baseline == other->baseline);
        assert_true(!one->allowed == !other->allowed && one->allowed_count == other->allowed_count);
        if (one->allowed) assert_memory_equal(one->allowed, other->allowed, one->allowed_count * sizeof *one->allowed);
        same_text(one->features, other->features);
    }
}

static void same_guard(const log_event *a, const log_event *b)
{
    const log_guard *one = &a->guard, *other = &b->guard;
    assert_int_equal(one->group, other->group);
    assert_true(one->uniform == other->uniform);
    same_doubles(&one->treated_share, &other->treated_share, 1);
    same_text(one->key, other->key);
    same_text(one->segment, other->segment);
    same_text(one->rules, other->rules);
    same_text(one->repeats, other->repeats);
    assert_int_equal(a->metric_count, b->metric_count);
    for (size_t i = 0; i < a->metric_count; i++) { /* CSV has them in the order of its columns */
        size_t k = 0;
        while (k < b->metric_count && json_compare(a->metrics[i].name, b->metrics[k].name) != 0) k++;
        assert_true(k < b->metric_count);
        same_doubles(&a->metrics[i].value, &b->metrics[k].value, 1);
    }
}

static size_t same_logs(const char *one, const char *other)
{
    auto_log_reader *a = open_good(one), *b = open_good(other);
    log_event first, second;
    size_t count = 0;
    assert_int_equal(log_dim(a), log_dim(b));
    while (next_good(a, &first)) {
        assert_true(next_good(b, &second));
        same_event(&first, &second);
        same_guard(&first, &second);
        if (first.context.length) same_text(first.context, second.context);
        count++;
    }
    assert_false(next_good(b, &second));
    const log_counts *counts = log_read(b);
    assert_int_equal(counts->broken + counts->foreign + counts->invalid + counts->repeated, 0);
    return count;
}

typedef struct paths {
    char source[64], first[64], second[64];
} paths;

/* "FOLDER/first" and "FOLDER/second" with these endings. */
static paths paths_of(const test_folder *folder, const char *first, const char *second)
{
    paths p;
    snprintf(p.source, sizeof p.source, "%s/source.dsjson", folder->path);
    snprintf(p.first, sizeof p.first, "%s/first%s", folder->path, first);
    snprintf(p.second, sizeof p.second, "%s/second%s", folder->path, second);
    return p;
}

TEST_IN_FOLDER(nothing_is_lost_on_the_way)
{
    static const char *const ways[][2] = {
        {".eelog", ".dsjson"}, {".json.gz", ".eelog.zst"}, {".eelog.gz", ".dsjson.zst"}, {".dsjson", ".json"}};
    folder_write_text(&here, "source.dsjson", lines);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        paths p = paths_of(&here, ways[i][0], ways[i][1]);
        convert(p.source, p.first);
        convert(p.first, p.second);
        assert_int_equal(same_logs(p.source, p.first), 6);
        assert_int_equal(same_logs(p.source, p.second), 6);
    }
}

TEST_IN_FOLDER(real_logs_come_back)
{
    static const char *const names[] = {
        "reinforcement_learning/average_reward_100_interactions.json",
        "reinforcement_learning/cb_deferred_actions_w_activations_and_apprentice_10.json",
        "reinforcement_learning/ccb_deferred_actions_w_activations_and_apprentice_20.json",
        "reinforcement_learning/slates_average_reward_100_interactions.json",
        "vowpal_wabbit/b1848_dsjson_parser_regression.txt",
        "vowpal_wabbit/ccb_data.json",
        "vowpal_wabbit/ccb_simple_pdrop.json",
        "vowpal_wabbit/cb_simple_pdrop.json",
        "vowpal_wabbit/decisionservice.json",
        "vowpal_wabbit/dsjson_cb.json",
        "vowpal_wabbit/igl.dsjson"};
    const char *data = real_data();
    paths p = paths_of(&here, ".eelog", ".dsjson");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *source = formatted("%s/dsjson/%s", data, names[i]);
        convert(source, p.first);
        convert(p.first, p.second);
        assert_true(same_logs(source, p.second) > 0);
    }
}

/* Arms with the features of this file, dense or sparse. */
static void write_vectors(const char *path, bool sparse)
{
    float values[] = {0.1f, -3e-8f, 1e9f, 0, 16777217.0f, 0.333333343f};
    size_t starts[] = {1, 1, 3, 4};
    uint32_t indices[] = {9, 0, 70000, 3};
    double probabilities[] = {0.1, 0.2, 0.7};
    size_t dim = sparse ? 70001 : 2;
    log_writer *log = create_good(path, dim);
    log_event event = {.time = (double)NAN,
                       .count = 3,
                       .action = 2,
                       .probability = 0.7,
                       .probabilities = probabilities,
                       .reward = 0.25,
                       .copies = 1};
    event.arms = sparse ? ee_arms_sparse(starts, indices, values, 3, dim) : ee_arms_dense(values, 3, dim);
    ok(log_write(log, &event, NULL));
    event.action = 1;
    event.probability = 0.2;
    values[1] = 5;
    ok(log_write(log, &event, NULL));
    event.arms.dim++;
    assert_int_equal(log_write(log, &event, &last_error), EE_BAD_INPUT);
    ok(log_end(log, true, NULL));

    auto_log_reader *reader = open_good(path);
    log_event got;
    assert_int_equal(log_dim(reader), dim);
    assert_true(next_good(reader, &got));
    event.arms.dim--;
    event.action = 2;
    event.probability = 0.7;
    values[1] = -3e-8f;
    same_event(&event, &got);
    assert_true(next_good(reader, &got) && !next_good(reader, &got));
}

TEST_IN_FOLDER(vectors_come_back)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        paths p = paths_of(&here, ".eelog", ".dsjson.gz");
        write_vectors(p.first, sparse);
        write_vectors(p.second, sparse);
        assert_int_equal(same_logs(p.first, p.second), 2);
    }
}

/* Reads the bytes as a log; returns the status of the last call. */
static ee_status read_bytes(const uint8_t *bytes, size_t size, bool strict, log_counts *counts)
{
    byte_stream *stream;
    log_reader *log;
    log_event event;
    bool found = true;
    log_options options = log_options_usual();
    options.strict = strict;
    *counts = (log_counts){0};
    ok(byte_stream_of(bytes, size, "bytes", &stream, NULL));
    ee_status status = log_open_stream(stream, "bytes", NULL, &options, &log, NULL);
    if (status) return status;
    while (!status && found) status = log_next(log, &event, &found, NULL);
    *counts = *log_read(log);
    log_close(log);
    return status;
}

/* Cut at every byte: the whole records are read, the cut one is counted. Damaged in any byte: nothing wrong is given.
 */
TEST_IN_FOLDER(compact_logs_may_be_cut_or_damaged)
{
    folder_write_text(&here, "source.dsjson", lines);
    paths p = paths_of(&here, ".eelog", "");
    convert(p.source, p.first);
    auto_memory uint8_t *bytes;
    size_t size, before = 0;
    log_counts counts;
    ok(file_read(p.first, &bytes, &size, NULL));
    for (size_t cut = 32; cut <= size; cut++) {
        ok(read_bytes(bytes, cut, false, &counts));
        assert_in_range(counts.events, before, before + 1);
        if (counts.events == before && cut > 32) assert_int_equal(counts.broken, 1);
        if (counts.events > before) assert_int_equal(counts.broken, 0);
        before = counts.events;
    }
    assert_int_equal(before, 6);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        assert_int_not_equal(read_bytes(bytes, size, true, &counts), EE_OK);
        assert_true(counts.events < 6);
        bytes[i] ^= 0x10;
    }
}

TEST_IN_FOLDER(csv_has_a_row_for_each_event)
{
    folder_write_text(&here, "source.dsjson", lines);
    paths p = paths_of(&here, ".csv", "");
    convert(p.source, p.first);
    auto_memory uint8_t *bytes;
    size_t size;
    ok(file_read(p.first, &bytes, &size, NULL));
    assert_string_equal((char *)bytes,
                        "id,time,count,action,name,probability,reward,copies,skipped\n"
                        "\"a\n\"\"\xc3\xa9\",2021-05-18T13:28:29.6560001Z,3,1,,0.3,0.12345678901234566,1,0\n"
                        ",,2,1,,0.25,0,10.000000000000002,0\n"
                        ",,2,0,,0.05000000074505806,-0.00003,1.1408450689603253,1\n"
                        "slots,,3,1,,0.75,1.5,1,0\n"
                        "more,,3,1,,0.5,0,1,0\n"
                        ",,2,1,,0.8,2,1,0\n");
}

static json_text text_of(const char *string)
{
    return (json_text){string, strlen(string)};
}

/* A word that CSV and JSON must quote. */
static json_text draw_word(random_stream *draws)
{
    static const char *const words[] = {"", "u17", "a,b", "say \"x\"", "two\nlines", "a|b\\c", "\xc3\xa9", " blanks "};
    return text_of(words[random_below(draws, sizeof words / sizeof *words)]);
}

/* An event with some of what guardrails can do. */
static log_event draw_event(random_stream *draws, uint64_t number, log_metric *metrics, char id[16])
{
    static const char *const rules[] = {"", "[\"new items\"]", "[\"a|b\",\"c\\\\d\",\"e,f\"]", "[\"\\\"\"]"};
    static const char *const names[] = {"refund", "a,\"b\"", "\xc3\xa9"};
    snprintf(id, 16, "d%u", (unsigned)number);
    log_event event = {.time = (double)NAN, .count = 3, .action = 1, .probability = 0.25, .reward = 1, .copies = 1};
    event.id = text_of(id);
    event.guard = (log_guard){.group = (log_group)random_below(draws, LOG_GROUP_FALLBACK + 1),
                              .uniform = random_below(draws, 2),
                              .key = draw_word(draws),
                              .segment = draw_word(draws),
                              .rules = text_of(rules[random_below(draws, 4)]),
                              .repeats = draw_word(draws)};
    if (event.guard.group) event.guard.treated_share = random_unit(draws);
    event.metrics = metrics;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (random_below(draws, 2)) metrics[event.metric_count++] = (log_metric){text_of(names[i]), random_unit(draws)};
    return event;
}

/* All that guardrails and metrics say survives every way between the three formats, to the last bit. */
TEST_IN_FOLDER(guardrails_and_metrics_come_back)
{
    enum { EVENTS = 500 };
    static const char *const endings[] = {".dsjson", ".eelog", ".csv"};
    random_stream draws = random_named(7, "guardrails");
    paths p = paths_of(&here, "", "");
    log_writer *log = create_good(p.source, 0);
    for (uint64_t i = 0; i < EVENTS; i++) {
        log_metric metrics[3];
        char id[16];
        log_event event = draw_event(&draws, i, metrics, id);
        ok(log_write(log, &event, NULL));
    }
    ok(log_end(log, true, NULL));
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            p = paths_of(&here, endings[i], endings[k]);
            convert(p.source, p.first);
            convert(p.first, p.second);
            auto_log_reader *a = open_good(p.source), *b = open_good(p.second);
            log_event one, other;
            for (size_t count = 0; count < EVENTS; count++) {
                assert_true(next_good(a, &one) && next_good(b, &other));
                same_text(one.id, other.id);
                same_guard(&one, &other);
            }
        }
}

/* The columns of a CSV file are fixed by its first event, unless log_expect names more. */
TEST_IN_FOLDER(csv_refuses_what_has_no_column)
{
    log_writer *log = create_good(paths_of(&here, ".csv", "").first, 0);
    log_metric metric = {text_of("refund"), 2};
    log_event event = {.line = 1, .time = (double)NAN, .count = 2, .probability = 0.5, .copies = 1};
    ok(log_write(log, &event, NULL));
    event.guard.key = text_of("u17");
    fails_saying(log_write(log, &event, &last_error), EE_BAD_INPUT,
                 "line 1 has a group, key, segment, rules or repeats");
    event.guard.key = text_of("");
    event.metrics = &metric;
    event.metric_count = 1;
    fails_saying(log_write(log, &event, &last_error), EE_BAD_INPUT, "the metric 'refund'");
    ok(log_end(log, false, NULL));
}

/* A file from before guardrails has neither flag: its bytes are unchanged. */
TEST_IN_FOLDER(compact_logs_without_guardrails_are_unchanged)
{
    paths p = paths_of(&here, ".eelog", "");
    log_writer *log = create_good(p.first, 0);
    log_event event = {.time = 0, .count = 1, .probability = 1, .copies = 1};
    ok(log_write(log, &event, NULL));
    ok(log_end(log, true, NULL));
    auto_memory uint8_t *bytes;
    size_t size;
    ok(file_read(p.first, &bytes, &size, NULL));
    assert_int_equal(size, 32 + 4 + 60 + 4);
}

TEST_IN_FOLDER(a_log_gets_its_name_when_it_is_ended)
{
    paths p = paths_of(&here, ".dsjson", ".txt");
    log_event event = {.time = (double)NAN, .count = 1, .probability = 1, .copies = 1};
    for (int keep = 0; keep < 2; keep++) {
        log_writer *log = create_good(p.first, 0);
        ok(log_write(log, &event, NULL));
        assert_true(file_is_missing(p.first));
        ok(log_end(log, keep, NULL));
        assert_true(file_is_missing(p.first) == !keep);
    }
    log_writer *log;
    fails_saying(log_create(p.second, 0, &log, &last_error), EE_BAD_OPTION, "must end in .dsjson");
    assert_int_equal(log_create("nowhere/x.csv", 0, &log, &last_error), EE_FILE_ERROR);
    ok(log_end(NULL, true, NULL));
}
