/* Studies of coverage that are kept: what is read is what was written, and only where the same was asked. */
#include "lab/studies/coverage_report.h"

#include <float.h>
#include <math.h>

#include "base/file.h"
#include "support_files.h"

static const known_policy candidates[] = {{KNOWN_SOFTMAX, 0.2}, {KNOWN_GREEDY, 0}};

enum { CANDIDATES = sizeof candidates / sizeof *candidates };

static dataset *data;

static int open_data(void **state)
{
    (void)state;
    return dataset_open("synthetic:clicks,arms=4", NULL, &data, NULL) ? -1 : 0;
}

static int free_data(void **state)
{
    (void)state;
    dataset_free(data);
    return 0;
}

static coverage_entry entry_of(known_kind kind, double amount)
{
    return (coverage_entry){.data = data,
                            .training = 100,
                            .pool = 50,
                            .plan = {NULL, {kind, amount}, candidates, CANDIDATES, 500, 20, 60, 1}};
}

/* Numbers that few digits do not tell, and those that are no numbers: each in turn. */
static double next_odd(size_t *turn)
{
    const double odd[] = {0.1 + 0.2, 1.0 / 3, -0.0, 5e-324, DBL_MAX, NAN, 1e-7 / 3, -2e22 / 7};
    return odd[(*turn)++ % (sizeof odd / sizeof *odd)];
}

static void fill(coverage_result *out)
{
    size_t turn = 0;
    *out = (coverage_result){.behaviour = next_odd(&turn), .least_probability = next_odd(&turn)};
    ok(memory_create(NULL, &out->candidates, CANDIDATES, sizeof *out->candidates, NULL));
    for (size_t c = 0; c < CANDIDATES; c++) {
        coverage_candidate *of = &out->candidates[c];
        of->truth = next_odd(&turn);
        for (size_t k = 0; k < COVERAGE_INTERVALS; k++)
            of->intervals[k] = (coverage_of_interval){next_odd(&turn), next_odd(&turn), next_odd(&turn)};
        for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++)
            of->estimators[k] = (coverage_of_estimator){next_odd(&turn), next_odd(&turn)};
    }
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        out->ordered[k] = next_odd(&turn);
        out->pairs[k] = next_odd(&turn);
    }
}

static void expect_same(const coverage_result *one, const coverage_result *other)
{
    assert_memory_equal(&one->behaviour, &other->behaviour, sizeof one->behaviour);
    assert_memory_equal(&one->least_probability, &other->least_probability, sizeof one->least_probability);
    assert_memory_equal(one->candidates, other->candidates, CANDIDATES * sizeof *one->candidates);
    assert_memory_equal(one->ordered, other->ordered, sizeof one->ordered);
    assert_memory_equal(one->pairs, other->pairs, sizeof one->pairs);
}

static void open_kept(const test_folder *folder, kept_studies *out)
{
    ee_error error;
    if (kept_studies_open(folder->path, out, &error)) fail_msg("%s", error.message);
}

/* One study in the folder, of floor:0.5. */
static void make_kept(const test_folder *folder, coverage_entry *out)
{
    kept_studies kept;
    ee_error error;
    *out = entry_of(KNOWN_FLOOR, 0.5);
    fill(&out->result);
    open_kept(folder, &kept);
    if (coverage_keep(&kept, out, &error)) fail_msg("%s", error.message);
    kept_studies_close(&kept);
}

TEST(what_is_read_is_what_was_written)
{
    test_folder folder = folder_make();
    coverage_entry written, read = entry_of(KNOWN_FLOOR, 0.5);
    coverage_result expected;
    kept_studies kept;
    bool found = false;
    make_kept(&folder, &written);
    fill(&expected);
    expect_same(&written.result, &expected);
    open_kept(&folder, &kept);
    ok(coverage_find(&kept, &read, &found, NULL));
    assert_true(found);
    expect_same(&read.result, &expected);
    text line = coverage_line(&read, NULL);
    assert_int_equal(line.length, kept.lines[0].length + 1);
    assert_memory_equal(line.bytes, kept.lines[0].bytes, kept.lines[0].length);
    memory_free(line.bytes);
    kept_studies_close(&kept);
    coverage_release(&written.result);
    coverage_release(&read.result);
    coverage_release(&expected);
    folder_remove(&folder);
}

TEST(what_was_not_asked_is_not_found)
{
    test_folder folder = folder_make();
    known_policy others[CANDIDATES] = {{KNOWN_SOFTMAX, 0.20000001}, {KNOWN_GREEDY, 0}};
    coverage_entry written, asked[9];
    for (size_t i = 0; i < 9; i++) asked[i] = entry_of(KNOWN_FLOOR, 0.5);
    asked[0].plan.seed++;
    asked[1].plan.rounds++;
    asked[2].plan.replications++;
    asked[3].plan.resamples++;
    asked[4].training++;
    asked[5].pool++;
    asked[6].plan.behaviour.amount = 0.50000001;
    asked[7].plan.candidates = others;
    asked[8].plan.candidate_count--;
    make_kept(&folder, &written);
    kept_studies kept;
    open_kept(&folder, &kept);
    for (size_t i = 0; i < 9; i++) {
        bool found = true;
        ok(coverage_find(&kept, &asked[i], &found, NULL));
        if (found) fail_msg("request %zu", i);
    }
    kept_studies_close(&kept);
    coverage_release(&written.result);
    folder_remove(&folder);
}

/* Puts words in the place of others in the last line, which is the second, and expects the sentence. */
static void expect_damage(const test_folder *folder, const char *line, const char *part, const char *words,
                          const char *sentence)
{
    const char *at = strstr(line, part);
    assert_non_null(at);
    text whole = text_start(NULL);
    text_add(&whole, "{}\n%.*s%s%s", (int)(at - line), line, words, at + strlen(part));
    folder_write_text(folder, "coverage.jsonl", whole.bytes);
    memory_free(whole.bytes);
    kept_studies kept;
    coverage_entry entry = entry_of(KNOWN_FLOOR, 0.5);
    bool found;
    ee_error error = {EE_OK, ""};
    ee_status status = kept_studies_open(folder->path, &kept, &error);
    if (!status) status = coverage_find(&kept, &entry, &found, &error);
    assert_int_equal(status, EE_BAD_INPUT);
    char whole_sentence[300];
    snprintf(whole_sentence, sizeof whole_sentence, "%s/%s; delete that line to continue", folder->path, sentence);
    assert_string_equal(error.message, whole_sentence);
    kept_studies_close(&kept);
    coverage_release(&entry.result);
}

TEST(damaged_lines_are_named)
{
    test_folder folder = folder_make();
    coverage_entry written;
    make_kept(&folder, &written);
    uint8_t *bytes;
    size_t size;
    ok(file_read(folder_path(&folder, "coverage.jsonl"), &bytes, &size, NULL));
    const char *line = (const char *)bytes;
    expect_damage(&folder, line, "{\"dataset\"", "\"dataset\"", "coverage.jsonl: line 2: byte 1: expected {");
    expect_damage(&folder, line, "\"dataset\":", "\"dataset\"",
                  "coverage.jsonl: line 2: invalid JSON at byte 11: expected ':'");
    expect_damage(&folder, line, "\"behaviour_value\":", "\"behaviour_value\":\"none\",\"more\":",
                  "coverage.jsonl: line 2: expected a number in 'behaviour_value'");
    expect_damage(&folder, line, "\"covers\"", "\"cover\"", "coverage.jsonl: line 2: expected a number in 'covers'");
    expect_damage(&folder, line, "\"all\"", "\"pairs\"", "coverage.jsonl: line 2: expected a number in 'all'");
    memory_free(bytes);
    coverage_release(&written.result);
    folder_remove(&folder);
}

TEST_GROUP(open_data, free_data)
