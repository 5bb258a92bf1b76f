/* Runs of several folders in one: the order, what contradicts, what is lost. */
#define _POSIX_C_SOURCE 200809L
#include "lab/sharing/merge.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/support_sets.h"
#include "lab/results/failed_runs.h"
#include "lab/results/result_folder.h"
#include "lab/results/run_keys.h"
#include "support_files.h"

enum { ROUNDS = 40 };

static char told[8][1300];
static size_t told_count;

static void take_sentence(void *context, const char *sentence)
{
    (void)context;
    assert_true(told_count < sizeof told / sizeof *told);
    snprintf(told[told_count++], sizeof told[0], "%s", sentence);
}

static const merge_watch watch = {take_sentence, NULL};

static stored_run make_run(uint64_t seed)
{
    return (stored_run){.dataset = "synthetic:inner",
                        .fingerprint = 17,
                        .dim = 3,
                        .arms = 4,
                        .policy = "greedy",
                        .options = "a=1",
                        .seed = seed,
                        .rounds = ROUNDS,
                        .version = "0.1.0",
                        .kernels = "avx2",
                        .machine = "a machine",
                        .result = {.finished = true,
                                   .rounds = ROUNDS,
                                   .optimal = 10,
                                   .regret = 100.0 + (double)seed,
                                   .reward = 5.0,
                                   .seconds = 1.0,
                                   .bytes = 100}};
}

/* Rises to the regret of the line. */
static void make_curve(const stored_run *run, double *curve)
{
    for (size_t i = 0; i < ROUNDS; i++) curve[i] = run->result.regret * (double)(i + 1) / ROUNDS;
}

static void add(const char *folder, const stored_run *run)
{
    double curve[ROUNDS];
    RELEASED_BY(result_folder_close) result_folder into = {0};
    make_curve(run, curve);
    ok(result_folder_open(folder_path(&here, folder), NULL, &into, NULL));
    ok(result_folder_add(&into, run, curve, NULL));
}

/* A digit for each seed. */
static void add_seeds(const char *folder, const char *digits)
{
    for (; *digits; digits++) {
        stored_run run = make_run((uint64_t)(*digits - '0'));
        add(folder, &run);
    }
}

/* The order in which the seeds were asked for. */
static void write_order(const char *folder, const char *digits)
{
    char text[1000] = "";
    for (; *digits; digits++) {
        stored_run run = make_run((uint64_t)(*digits - '0'));
        sprintf(text + strlen(text), "%016" PRIx64 "\n", run_keys_of_stored(&run).run);
    }
    folder_write_text(&here, formatted("%s/order", folder), text);
}

static merge_counts counts;

static ee_status merge(const char *first, const char *second)
{
    char into[100], one[100], two[100];
    snprintf(into, sizeof into, "%s", folder_path(&here, "all"));
    snprintf(one, sizeof one, "%s", folder_path(&here, first));
    snprintf(two, sizeof two, "%s", folder_path(&here, second));
    const char *folders[] = {one, two};
    told_count = 0;
    return merge_folders(into, folders, 2, &watch, &counts, &last_error);
}

static void assert_seeds(const char *digits)
{
    RELEASED_BY(results_release) stored_runs runs = {0};
    double curve[ROUNDS], expected[ROUNDS];
    ok(results_read(folder_path(&here, "all"), &runs, NULL));
    assert_int_equal(runs.count, strlen(digits));
    for (size_t i = 0; i < runs.count; i++) {
        assert_int_equal(runs.runs[i].seed, (uint64_t)(digits[i] - '0'));
        ok(results_curve(folder_path(&here, "all"), &runs.runs[i], curve, NULL));
        make_curve(&runs.runs[i], expected);
        assert_memory_equal(curve, expected, sizeof curve);
    }
}

/* Nothing was written, not even the folder. */
static void assert_refused(void)
{
    fails_saying(merge("a", "b"), EE_BAD_INPUT, "nothing was merged because of 1 contradiction");
    assert_int_equal(told_count, 1);
    assert_true(file_is_missing(folder_path(&here, "all")));
}

TEST_IN_FOLDER(test_in_the_order_that_was_asked_for)
{
    add_seeds("a", "41");
    add_seeds("b", "23");
    write_order("a", "4213");
    write_order("b", "4213");
    ok(merge("a", "b"));
    assert_seeds("4213");
    assert_int_equal(counts.added, 4);
    assert_int_equal(counts.there, 0);
    assert_int_equal(counts.asked, 4);
    assert_int_equal(counts.missing, 0);
    assert_false(counts.only_tuning);
    assert_int_equal(told_count, 0);
}

/* What nobody asked for comes last, folder by folder. */
TEST_IN_FOLDER(test_folders_without_an_order)
{
    add_seeds("a", "98");
    add_seeds("b", "73");
    write_order("b", "3");
    ok(merge("a", "b"));
    assert_seeds("3987");
}

TEST_IN_FOLDER(test_again_and_in_the_middle)
{
    add_seeds("a", "1");
    add_seeds("b", "3");
    write_order("a", "1234");
    write_order("b", "1234");
    ok(merge("a", "b"));
    assert_int_equal(counts.missing, 2);
    add_seeds("a", "2");
    add_seeds("b", "4");
    for (size_t i = 0; i < 2; i++) {
        ok(merge("a", "b"));
        assert_int_equal(counts.added, i ? 0 : 2);
        assert_int_equal(counts.there, i ? 4 : 2);
        assert_int_equal(counts.missing, 0);
        assert_seeds("1324");
    }
    add_seeds("all", "9"); /* only the folder itself has it */
    ok(merge("a", "b"));
    assert_int_equal(counts.there, 4);
}

/* A line that is not whole, and one without its end. */
TEST_IN_FOLDER(test_while_a_shard_writes)
{
    add_seeds("a", "1");
    add_seeds("b", "2");
    FILE *file = fopen(folder_path(&here, "b/results.jsonl"), "a");
    assert_true(fputs("{\"dataset\":\"synth", file) > 0);
    assert_int_equal(fclose(file), 0);
    ok(merge("a", "b"));
    assert_seeds("12");
}

/* Seconds, bytes and machine may differ. */
TEST_IN_FOLDER(test_the_same_run_in_two)
{
    stored_run run = make_run(1);
    add("a", &run);
    run.result.seconds = 2.0;
    run.result.bytes = 200;
    run.machine = "another machine";
    add("b", &run);
    ok(merge("a", "b"));
    assert_seeds("1");
    assert_int_equal(counts.added, 1);
}

TEST_IN_FOLDER(test_another_result)
{
    stored_run run = make_run(1);
    add_seeds("b", "7");
    add("a", &run);
    run.result.regret += 0.5;
    add("b", &run);
    assert_refused();
    assert_message_has(told[0], "synthetic:inner, greedy, seed 1, 40 rounds");
    assert_message_has(told[0], "/a (line 1)");
    assert_message_has(told[0], "/b (line 2)");
    assert_message_has(told[0], "has different results in");
}

TEST_IN_FOLDER(test_every_number_counts)
{
    stored_run run = make_run(1), others[] = {run, run, run, run};
    others[0].result.reward = 6.0;
    others[1].result.optimal = 11;
    others[2].result.marks[13] = 1.0;
    others[3].result.directions[2] = (run_direction){.arms = 4, .up = 1};
    add("a", &run);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        add("b", &others[i]);
        assert_refused();
        assert_message_has(told[0], "has different results in");
        folder_write_text(&here, "b/results.jsonl", "");
    }
}

TEST_IN_FOLDER(test_another_version)
{
    stored_run run = make_run(2);
    run.kernels = "avx512";
    add_seeds("a", "1");
    add("b", &run);
    assert_refused();
    assert_message_has(told[0], "/b (line 1) was run by eenet 0.1.0 with kernels avx512");
    assert_message_has(told[0], "/a (line 1) by 0.1.0 with avx2");
    assert_message_has(told[0], "EENET_KERNELS=avx2");
    run.kernels = "avx2";
    run.version = "0.0.9";
    folder_write_text(&here, "b/results.jsonl", "");
    add("b", &run);
    assert_refused();
    assert_message_has(told[0], "0.0.9");
}

/* A folder that has runs of both already gets no worse by more of them; one that is merged into it does. */
TEST_IN_FOLDER(test_versions_that_the_folder_has)
{
    stored_run old = make_run(10), new = make_run(11);
    old.version = "0.0.9";
    add_seeds("all", "1");
    add("b", &old);
    add_seeds("a", "2");
    assert_int_equal(merge("a", "b"), EE_BAD_INPUT);
    assert_message_has(told[0], "0.0.9");
    new.version = "0.0.9";
    add("all", &new);
    ok(merge("a", "b"));
    assert_int_equal(counts.added, 2);
}

TEST_IN_FOLDER(test_another_fingerprint)
{
    stored_run run = make_run(2);
    run.fingerprint = 18;
    add_seeds("a", "1");
    add("b", &run);
    assert_refused();
    assert_message_has(told[0], "synthetic:inner has fingerprint 0000000000000011 in");
    assert_message_has(told[0], "0000000000000012 in");
    assert_message_has(told[0], "/b (line 1)");
    run.seed = 5; /* one folder has both: there are two data sets of that name */
    add("a", &run);
    ok(merge("a", "b"));
    assert_int_equal(counts.added, 3);
}

/* The first few are reported, and all are counted. */
TEST_IN_FOLDER(test_many_contradictions)
{
    for (uint64_t seed = 0; seed < 9; seed++) {
        stored_run run = make_run(seed);
        add("a", &run);
        run.result.regret += 1.0;
        add("b", &run);
    }
    refuses(merge("a", "b"), "nothing was merged because of 9 contradictions");
    assert_int_equal(told_count, 5);
}

static void cut_curves(const char *folder)
{
    RELEASED_BY(results_release) stored_runs runs = {0};
    ok(results_read(folder_path(&here, folder), &runs, NULL));
    assert_int_equal(truncate(folder_path(&here, formatted("%s/curves/%s", folder, runs.runs[0].curve)), 200), 0);
}

TEST_IN_FOLDER(test_a_lost_curve)
{
    add_seeds("a", "1");
    add_seeds("b", "2");
    write_order("a", "12");
    cut_curves("a");
    ok(merge("a", "b"));
    assert_int_equal(counts.lost, 1);
    assert_int_equal(counts.missing, 1);
    assert_int_equal(told_count, 1);
    assert_message_has(told[0], "is missing or damaged: skipped the run in line 1 of");
    assert_seeds("2");
}

/* Another folder may have it. */
TEST_IN_FOLDER(test_a_curve_that_another_has)
{
    add_seeds("a", "1");
    add_seeds("b", "1");
    cut_curves("a");
    ok(merge("a", "b"));
    assert_int_equal(counts.lost, 0);
    assert_seeds("1");
}

TEST_IN_FOLDER(test_tuning_alone)
{
    stored_run run = make_run(1);
    run.tuning = true;
    add("a", &run);
    folder_write_text(&here, "a/order", formatted("%016" PRIx64 "\n", run_keys_of_stored(&run).run));
    add("b", &run);
    ok(merge("a", "b"));
    assert_true(counts.only_tuning);
}

/* What diverged is known to all, until somebody has a result of it all the same. */
TEST_IN_FOLDER(test_runs_that_failed)
{
    uint64_t keys[3];
    failed_runs failed = {0};
    for (size_t i = 0; i < 3; i++) {
        stored_run run = make_run(i + 1);
        keys[i] = run_keys_of_stored(&run).run;
    }
    add_seeds("a", "1");
    add_seeds("b", "2");
    write_order("a", "123");
    ok(failed_runs_keep(folder_path(&here, "b"), keys[2], "it diverged", NULL));
    ok(failed_runs_keep(folder_path(&here, "b"), keys[0], "but not for a", NULL));
    for (size_t i = 0; i < 2; i++) {
        ok(merge("a", "b"));
        assert_int_equal(counts.failed, 1);
        assert_int_equal(counts.missing, 0);
        ok(failed_runs_read(folder_path(&here, "all"), &failed, NULL));
        assert_int_equal(failed.count, 1);
        assert_string_equal(failed_runs_find(&failed, keys[2])->sentence, "it diverged");
    }
    failed_runs_release(&failed);
    add_seeds("b", "3");
    ok(merge("a", "b"));
    assert_int_equal(counts.failed, 0);
    assert_int_equal(counts.missing, 0);
    assert_seeds("123");
}

TEST_IN_FOLDER(test_a_damaged_order)
{
    add_seeds("a", "1");
    add_seeds("b", "2");
    folder_write_text(&here, "a/order", "0123456789abcdef\nnonsense\n");
    fails_saying(merge("a", "b"), EE_BAD_INPUT, "a/order: line 2: expected the key of a run");
    assert_true(file_is_missing(folder_path(&here, "all")));
}

TEST_IN_FOLDER(test_a_folder_that_is_not_there)
{
    add_seeds("a", "1");
    fails_saying(merge("a", "b"), EE_FILE_ERROR, "b/results.jsonl");
    assert_true(file_is_missing(folder_path(&here, "all")));
}

TEST_IN_FOLDER(test_while_another_writes)
{
    result_folder busy = {0};
    add_seeds("a", "1");
    add_seeds("b", "2");
    ok(result_folder_open(folder_path(&here, "all"), NULL, &busy, NULL));
    fails_saying(merge("a", "b"), EE_FILE_ERROR, "another run is writing results there");
    result_folder_close(&busy);
    ok(merge("a", "b"));
}
