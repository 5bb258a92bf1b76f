/* Logs as a whole: what is counted, what is passed over, packed and cut files, and the real lines of EENET_DATA. */
#include "data/logs/log.h"

#include <zstd.h>

#include "data/files/byte_stream.h"
#include "data/support_sets.h"
#include "support_files.h"

#define LINE(id, time, more)                                                                                           \
    "{\"_label_cost\":-1,\"_labelIndex\":0,\"EventId\":\"" id "\",\"Timestamp\":\"" time                               \
    "\",\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{\"_multi\":[{},{}]}" more "}\n"

typedef struct sums {
    double reward, probability;
    size_t counts, actions, slots;
} sums;

/* Reads all of it; returns the status of the last call. */
static ee_status read_log(const char *text, const log_options *options, log_counts *counts, sums *all, ee_error *error)
{
    log_reader *log;
    ee_status status = log_open(text, options, &log, error);
    *all = (sums){0};
    if (status) return status;
    log_event event;
    bool found;
    while (!(status = log_next(log, &event, &found, error)) && found) {
        all->reward += event.reward;
        all->probability += event.probability;
        all->counts += event.count;
        all->actions += event.action;
        all->slots += event.slot_count;
    }
    *counts = *log_read(log);
    log_close(log);
    return status;
}

static log_counts read_good(const char *text, const log_options *options, sums *all)
{
    log_counts counts;
    if (read_log(text, options, &counts, all, &last_error)) fail_msg("%s: %s", text, last_error.message);
    return counts;
}

TEST_IN_FOLDER(what_is_passed_over_is_counted)
{
    folder_write_text(&here, "log",
                      LINE("a", "2020-01-01", "")                                /* 1 */
                      "\n"                                                       /* 2 */
                      "[CHECKPOINT INFO LINE]\n"                                 /* 3 */
                      "{\"RewardValue\":1}\n"                                    /* 4 */
                      "{\"RewardValue\":1}\n"                                    /* 5 */
                      LINE("b", "2020-01-02", ",\"_skipLearn\":true")            /* 6 */
                      LINE("a", "2020-01-03", "")                                /* 7 */
                      LINE("c", "2020-01-04", ",\"pdrop\":1")                    /* 8 */
                      LINE("d", "2020-01-05", ",\"_original_label_cost\":-1e10") /* 9 */
                      "{\"_label_cost\":0,\"a\":[1,2],\"p\":[0,1]}\n"            /* 10 */
                      "{\"_label_cost\":0,\"a\":[1,2],\"p\":[0.5,1.5]}\n"        /* 11 */
                      "{\"_label_cost\":0,\"a\":[1,2],\"p\":[1.0000001,0]}\n"    /* 12: the rounding of a float */
                      "{\"_label_cost\":0,\"a\":[1,");                           /* 13 */
    log_options options = log_options_usual();
    sums all;
    log_counts counts = read_good(folder_path(&here, "log"), &options, &all);
    assert_int_equal(counts.lines, 13);
    assert_int_equal(counts.events, 3);
    assert_int_equal(counts.skipped, 1);
    assert_int_equal(counts.foreign, 3);
    assert_int_equal(counts.repeated, 1);
    assert_int_equal(counts.invalid, 4);
    assert_int_equal(counts.broken, 1);
    assert_int_equal(counts.bytes, counts.total_bytes);
    assert_true(all.probability == 2 && all.reward == 2);
    static const size_t lines[] = {3, 4, 7, 8, 9, 10, 11, 13}; /* not 5: two rewards without a decision tell enough */
    static const char *const reasons[] = {"a checkpoint",
                                          "a reward without its decision",
                                          "duplicate event id a",
                                          "pdrop",
                                          "the reward must be -1e9 to 1e9, got 1e+10",
                                          "must be above 0 and at most 1, got 0",
                                          "must be 0 to 1, got 1.5",
                                          "the log ends inside this line"};
    assert_int_equal(counts.first_count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(counts.first_lines[i], lines[i]);
        assert_message_has(counts.first_reasons[i], reasons[i]);
    }
    options.strict = true;
    fails_saying(read_log(folder_path(&here, "log"), &options, &counts, &all, &last_error), EE_BAD_INPUT,
                 "log, line 3: a checkpoint");
}

TEST_IN_FOLDER(a_time_can_be_asked_for)
{
    folder_write_text(&here, "log",
                      LINE("a", "2020-01-01", "") LINE("b", "2020-01-02", "") LINE("c", "2020-01-03", "")
                          LINE("d", "some day", ""));
    log_options options = log_options_usual();
    sums all;
    options.from = 1577923200; /* the second day */
    log_counts counts = read_good(folder_path(&here, "log"), &options, &all);
    assert_true(counts.events == 3 && counts.outside == 1); /* what has no time is let by */
    options.until = options.from + 86400;
    counts = read_good(folder_path(&here, "log"), &options, &all);
    assert_true(counts.events == 2 && counts.outside == 2);
}

/* 3000 lines, of which every byte may be the last of a part that is read. */
static char *make_lines(size_t *size)
{
    enum { LINES = 3000, ROOM = 400 };
    char *text = malloc(LINES * ROOM), filler[200];
    assert_non_null(text);
    *size = 0;
    for (size_t i = 0; i < LINES; i++) {
        memset(filler, 'x', sizeof filler);
        filler[i % sizeof filler] = 0;
        *size += (size_t)snprintf(text + *size, ROOM,
                                  "{\"_label_cost\":-%zu,\"EventId\":\"%zu\",\"a\":[1,2],\"p\":[0.5,0.5],"
                                  "\"c\":{\"_multi\":[{\"f\":\"%s\"},{}]}}\n",
                                  i % 7, i, filler);
    }
    return text;
}

static uint8_t *zstd_pack(const void *bytes, size_t size, size_t *packed_size)
{
    size_t capacity = ZSTD_compressBound(size);
    uint8_t *packed = malloc(capacity);
    assert_non_null(packed);
    *packed_size = ZSTD_compress(packed, capacity, bytes, size, 1);
    assert_false(ZSTD_isError(*packed_size));
    return packed;
}

static void expect_same(const char *path, double reward)
{
    log_options options = log_options_usual();
    sums all;
    log_counts counts = read_good(path, &options, &all);
    assert_int_equal(counts.events, 3000);
    assert_int_equal(counts.broken + counts.foreign + counts.invalid + counts.repeated, 0);
    assert_true(all.reward == reward);
    assert_int_equal(counts.bytes, counts.total_bytes);
}

/* Both ways, in one piece and in two. */
TEST_IN_FOLDER(packed_logs_read_the_same)
{
    size_t size, first = 0, packed[4];
    auto_free char *text = make_lines(&size);
    double reward = 0;
    for (size_t i = 0; i < 3000; i++) reward += (double)(i % 7);
    first = size / 3;
    uint8_t *parts[4] = {gzip_pack(text, first, &packed[0]), gzip_pack(text + first, size - first, &packed[1]),
                         zstd_pack(text, first, &packed[2]), zstd_pack(text + first, size - first, &packed[3])};
    folder_write(&here, "plain", text, size);
    expect_same(folder_path(&here, "plain"), reward);
    auto_free uint8_t *both = malloc(size);
    for (size_t i = 0; i < 4; i += 2) {
        memcpy(both, parts[i], packed[i]);
        memcpy(both + packed[i], parts[i + 1], packed[i + 1]);
        folder_write(&here, "packed", both, packed[i] + packed[i + 1]);
        expect_same(folder_path(&here, "packed"), reward);

        log_options options = log_options_usual();
        sums all;
        log_counts counts;
        folder_write(&here, "cut", both, packed[i] + packed[i + 1] / 2); /* the whole lines are read */
        counts = read_good(folder_path(&here, "cut"), &options, &all);
        assert_in_range(counts.events, 1001, 2999);
        assert_in_range(counts.broken, 1, 2);
        assert_message_has(counts.first_reasons[counts.first_count - 1], "the compressed data ends early");
        memset(both + packed[i], 0xff, 16);
        folder_write(&here, "damaged", both, packed[i] + packed[i + 1]);
        fails_saying(read_log(folder_path(&here, "damaged"), &options, &counts, &all, &last_error), EE_BAD_INPUT,
                     "damaged: the compressed data is damaged");
    }
    for (size_t i = 0; i < 4; i++) free(parts[i]);
}

TEST(a_log_that_is_not_there_is_refused)
{
    log_options options = log_options_usual();
    log_reader *log;
    fails_saying(log_open("nowhere/log", &options, &log, &last_error), EE_FILE_ERROR, "could not open nowhere/log");
    assert_null(log);
    assert_int_equal(log_open(".", &options, &log, &last_error), EE_FILE_ERROR);
}

/* What begins and does not end is no log. */
TEST(lines_have_a_limit)
{
    size_t size = BYTE_STREAM_MOST + ((size_t)1 << 20);
    auto_free char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    byte_stream *stream;
    byte_line line;
    bool found;
    ok(byte_stream_of(bytes, size, "endless", &stream, &last_error));
    refuses(byte_stream_line(stream, false, &line, &found, &last_error), "endless: a line is longer than 64 MiB");
    byte_stream_close(stream);
}

/* A log that was cut at its front, or begins with a reward of the day before, has the vectors of its first event. */
TEST_IN_FOLDER(vectors_are_known_by_the_first_event)
{
    static const char *const heads[] = {"", "\xef\xbb\xbf", "5],\"c\":{\"_multi\":[{}]}}\r\n",
                                        "{\"RewardValue\":1}\n\n"};
    static const char event_text[] = "{\"_label_cost\":0,\"_dim\":2,\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{\"_multi\":["
                                     "{\"x\":[1,2]},{\"x\":[3,4]}]}}\n";
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        log_options options = log_options_usual();
        auto_log_reader *log;
        log_event event;
        bool found;
        folder_write_text(&here, "log.dsjson", formatted("%s%s", heads[i], event_text));
        ok(log_open(folder_path(&here, "log.dsjson"), &options, &log, NULL));
        assert_int_equal(log_dim(log), 2);
        ok(log_next(log, &event, &found, NULL));
        assert_true(found && event.arms.count == 2);
    }
}

TEST_IN_FOLDER(a_log_is_known_by_its_file)
{
    log_options options = log_options_usual();
    log_reader *log;
    uint64_t prints[3];
    for (size_t i = 0; i < 3; i++) {
        if (i != 1) folder_write_text(&here, "log", i ? LINE("a", "2020-01-01", "") : "");
        ok(log_open(folder_path(&here, "log"), &options, &log, NULL));
        assert_true(log_can_repeat(log));
        assert_int_equal(log_dim(log), 0);
        prints[i] = log_fingerprint(log);
        log_close(log);
    }
    assert_true(prints[0] == prints[1] && prints[1] != prints[2]);
}

#define RL "reinforcement_learning/"

static const struct {
    const char *name;
    size_t counts[7]; /* lines, events, skipped, broken, foreign, invalid, repeated */
    double reward, probability;
    size_t actions, taken, slots;
} real[] = {
    {RL "average_reward_100_interactions.json", {100, 100, 0, 0, 0, 0, 0}, 270.3, 50, 200, 56, 0},
    {RL "ca_loop_mixed_skip_learn.json", {3, 0, 0, 0, 3, 0, 0}, 0, 0, 0, 0, 0},
    {RL "ca_loop_simple.json", {3, 0, 0, 0, 3, 0, 0}, 0, 0, 0, 0, 0},
    {RL "cb_deferred_actions_w_activations_and_apprentice_10.json", {7, 7, 0, 0, 0, 0, 0}, 19, 3.5, 14, 4, 0},
    {RL "ccb_deferred_actions_w_activations_and_apprentice_20.json", {17, 17, 0, 0, 0, 0, 0}, 27, 8.5, 34, 5, 34},
    {RL "ccb_sum_reward_100_interactions.json", {100, 100, 0, 0, 0, 0, 0}, 410, 50, 200, 40, 200},
    {RL "slates_average_reward_100_interactions.json", {100, 100, 0, 0, 0, 0, 0}, 270.3, 50, 200, 50, 200},
    {RL "slates_deferred_actions_w_activations_10.json", {7, 7, 0, 0, 0, 0, 0}, 17.8333333, 3.5, 14, 5, 14},
    {"vowpal_wabbit/b1848_dsjson_parser_regression.txt", {8, 1, 1, 0, 7, 0, 0}, 0, 0.166666672, 6, 1, 0},
    {"vowpal_wabbit/cats_room_temp.json", {100, 0, 0, 0, 100, 0, 0}, 0, 0, 0, 0, 0},
    {"vowpal_wabbit/cats_train.json", {10, 0, 0, 0, 10, 0, 0}, 0, 0, 0, 0, 0},
    {"vowpal_wabbit/cb_as_ccb.json", {1, 1, 0, 0, 0, 0, 0}, 1, 0.2, 2, 1, 0},
    {"vowpal_wabbit/cb_features_w_zero_vals.dsjson", {2, 2, 0, 0, 0, 0, 0}, 0, 1, 4, 0, 0},
    {"vowpal_wabbit/cb_simple.json", {1, 1, 0, 0, 0, 0, 0}, 1, 0.5, 2, 1, 0},
    {"vowpal_wabbit/cb_simple_pdrop.json", {1, 1, 0, 0, 0, 0, 0}, 1, 0.5, 2, 1, 0},
    {"vowpal_wabbit/cb_simple_pdrop1.json", {1, 0, 0, 0, 0, 1, 0}, 0, 0, 0, 0, 0},
    {"vowpal_wabbit/cb_test.json", {3, 0, 0, 0, 3, 0, 0}, 0, 0, 0, 0, 0},
    {"vowpal_wabbit/ccb_automl.dsjson", {9, 9, 0, 0, 0, 0, 0}, 8.13910982, 4.5, 23, 4, 18},
    {"vowpal_wabbit/ccb_data.json", {59, 59, 0, 0, 0, 0, 0}, 27.76, 14.75, 236, 81, 66},
    {"vowpal_wabbit/ccb_data_noevent.json", {59, 59, 0, 0, 0, 0, 0}, 27.76, 14.75, 236, 81, 66},
    {"vowpal_wabbit/ccb_data_parse_error.json", {70, 58, 0, 2, 0, 0, 10}, 26.76, 14.5, 232, 80, 65},
    {"vowpal_wabbit/ccb_reuse_medium.dsjson", {4, 4, 0, 0, 0, 0, 0}, 0.1404495, 1, 36, 2, 12},
    {"vowpal_wabbit/ccb_simple.json", {1, 1, 0, 0, 0, 0, 0}, 0, 0.5, 3, 2, 2},
    {"vowpal_wabbit/ccb_simple_pdrop.json", {1, 1, 0, 0, 0, 0, 0}, 0, 0.5, 3, 2, 2},
    {"vowpal_wabbit/chain_hash_json_test.json", {5, 0, 0, 0, 5, 0, 0}, 0, 0, 0, 0, 0},
    {"vowpal_wabbit/decisionservice.json", {3, 3, 0, 0, 0, 0, 0}, 2, 2.44999999, 36, 27, 0},
    {"vowpal_wabbit/dsjson_cb.json", {23, 23, 0, 0, 0, 0, 0}, 12, 17.15, 92, 30, 0},
    {"vowpal_wabbit/dsjson_cb_default_ns.json", {4, 4, 0, 0, 0, 0, 0}, 2, 1.8, 16, 4, 0},
    {"vowpal_wabbit/igl.dsjson", {200, 200, 0, 0, 0, 0, 0}, 30.5, 104.933333, 800, 248, 0},
    {"vowpal_wabbit/issue4669.dsjson", {1, 1, 0, 0, 0, 0, 0}, -1, 0.5, 2, 0, 2},
    {"vowpal_wabbit/no_shared_features.json", {2, 1, 0, 0, 0, 0, 0}, 0, 0.333333343, 3, 1, 0},
    {"vowpal_wabbit/slates_simple_unlabeled.dsjson", {2, 0, 0, 0, 2, 0, 0}, 0, 0, 0, 0, 0},
};

TEST(real_lines_are_read)
{
    const char *data = real_data();
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
        const char *path = formatted("%s/dsjson/%s", data, real[i].name);
        log_options options = log_options_usual();
        sums all;
        log_counts got = read_good(path, &options, &all);
        const size_t counts[] = {got.lines,   got.events,  got.skipped, got.broken,
                                 got.foreign, got.invalid, got.repeated};
        if (memcmp(counts, real[i].counts, sizeof counts) != 0) fail_msg("%s: other counts", real[i].name);
        assert_close(all.reward, real[i].reward, 1e-8);
        assert_close(all.probability, real[i].probability, 1e-8);
        assert_int_equal(all.counts, real[i].actions);
        assert_int_equal(all.actions, real[i].taken);
        assert_int_equal(all.slots, real[i].slots);
    }
}

/* The observations of these add up, or average, to what their writer put in the label. */
TEST(real_observations_give_the_label)
{
    static const struct {
        const char *name;
        log_aggregation aggregation;
    } files[] = {{RL "average_reward_100_interactions.json", LOG_REWARD_MEAN},
                 {RL "ccb_sum_reward_100_interactions.json", LOG_REWARD_SUM},
                 {RL "slates_average_reward_100_interactions.json", LOG_REWARD_MEAN},
                 {RL "cb_deferred_actions_w_activations_and_apprentice_10.json", LOG_REWARD_FIRST}};
    const char *data = real_data();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *path = formatted("%s/dsjson/%s", data, files[i].name);
        log_options options = log_options_usual();
        sums label, all;
        read_good(path, &options, &label);
        options.aggregation = files[i].aggregation;
        read_good(path, &options, &all);
        assert_close(all.reward, label.reward, 1e-6);
    }
}
