/* The writer of a folder of runs: what it writes, what it keeps of what was read, and what it cuts off. */
#define _POSIX_C_SOURCE 200809L
#include "lab/results/result_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "data/support_sets.h"
#include "support_files.h"

enum { ROUNDS = 4 };

static char folder[60], other[60];

static int set_up(void **state)
{
    folder_enter(state);
    snprintf(folder, sizeof folder, "%s/deep/folder", here.path);
    snprintf(other, sizeof other, "%s/other", here.path);
    return 0;
}

/* Who played it, and where its curve lay, is not of this program. */
static stored_run make_run(const char *policy, uint64_t seed)
{
    return (stored_run){.dataset = "some:data",
                        .fingerprint = 0x1234,
                        .dim = 3,
                        .arms = 2,
                        .policy = policy,
                        .options = "a=1",
                        .seed = seed,
                        .rounds = ROUNDS,
                        .result = {.finished = true, .rounds = ROUNDS, .optimal = 1, .regret = 3.0 + (double)seed},
                        .curve = "elsewhere.npy",
                        .curve_row = 17,
                        .version = "0.0.1",
                        .kernels = "none",
                        .machine = "far away"};
}

static void make_curve(const stored_run *run, double *curve)
{
    for (size_t i = 0; i < ROUNDS; i++) curve[i] = (double)(i + run->seed);
}

static void open_folder(const char *path, result_folder *into)
{
    ok(result_folder_open(path, NULL, into, NULL));
}

typedef ee_status keep_run(result_folder *, const stored_run *, const double *, ee_error *);

static void keep(keep_run *by, result_folder *into, const char *policy, uint64_t seed)
{
    double curve[ROUNDS];
    stored_run run = make_run(policy, seed);
    make_curve(&run, curve);
    ok(by(into, &run, curve, NULL));
}

static void add(result_folder *into, const char *policy, uint64_t seed)
{
    keep(result_folder_add, into, policy, seed);
}

static char *read_lines(const char *from)
{
    uint8_t *bytes;
    size_t size;
    ok(file_read(formatted("%s/results.jsonl", from), &bytes, &size, NULL));
    return (char *)bytes;
}

static void assert_curves(const char *from, const stored_runs *list)
{
    for (size_t i = 0; i < list->count; i++) {
        double curve[ROUNDS], expected[ROUNDS];
        make_curve(&list->runs[i], expected);
        ok(results_curve(from, &list->runs[i], curve, NULL));
        assert_memory_equal(curve, expected, sizeof curve);
    }
}

TEST_WITH(runs_are_added_and_read_back, set_up, folder_leave)
{
    RELEASED_BY(result_folder_close) result_folder open;
    open_folder(folder, &open);
    assert_int_equal(open.stored.count, 0);
    add(&open, "x", 1);
    add(&open, "y", 0);
    result_folder_close(&open);
    open_folder(folder, &open);
    assert_int_equal(open.stored.count, 2);
    add(&open, "x", 0);
    result_folder_close(&open);
    open_folder(folder, &open);
    const stored_run *runs = open.stored.runs;
    assert_int_equal(open.stored.count, 3);
    assert_true(runs[0].seed == 1 && runs[1].seed == 0 && runs[2].seed == 0);
    assert_string_equal(runs[0].curve, runs[2].curve); /* they differ in the seed alone */
    assert_string_not_equal(runs[0].curve, runs[1].curve);
    assert_non_null(strstr(runs[0].curve, "some_data_x_"));
    assert_true(runs[0].curve_row == 0 && runs[1].curve_row == 0 && runs[2].curve_row == 1);
    assert_string_equal(runs[2].version, "0.0.1");
    assert_string_equal(runs[2].machine, "far away");
    assert_curves(folder, &open.stored);
}

/* From one folder to another: the same lines, though they come into another file and row. */
TEST_WITH(a_copy_has_the_same_lines, set_up, folder_leave)
{
    result_folder from, to;
    open_folder(folder, &from);
    for (uint64_t seed = 0; seed < 3; seed++) add(&from, "x", seed);
    add(&from, "y", 7);
    result_folder_close(&from);
    open_folder(folder, &from);
    open_folder(other, &to);
    for (size_t i = 0; i < from.stored.count; i++) {
        double curve[ROUNDS];
        ok(results_curve(folder, &from.stored.runs[i], curve, NULL));
        ok(result_folder_add(&to, &from.stored.runs[i], curve, NULL));
    }
    result_folder_close(&from);
    result_folder_close(&to);
    auto_memory char *left = read_lines(folder), *right = read_lines(other);
    assert_string_equal(left, right);
    open_folder(other, &to);
    assert_curves(other, &to.stored);
    result_folder_close(&to);
}

static void assert_seeds(const char *from, const char *seeds)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    ok(results_read(from, &list, NULL));
    assert_int_equal(list.count, strlen(seeds));
    for (size_t i = 0; i < list.count; i++) assert_int_equal(list.runs[i].seed, (uint64_t)(seeds[i] - '0'));
    assert_curves(from, &list);
}

/* In their order, though their curves lie in several files; and what is added at once comes after them. */
TEST_WITH(runs_that_were_put_are_there_when_flushed, set_up, folder_leave)
{
    result_folder one, many;
    open_folder(folder, &one);
    open_folder(other, &many);
    static const char policies[] = "xxxyyx", seeds[] = "013254";
    for (size_t i = 0; i < 6; i++) {
        const char policy[] = {policies[i], '\0'};
        add(&one, policy, (uint64_t)(seeds[i] - '0'));
        if (i == 5) assert_seeds(other, "013"); /* the file has changed since */
        keep(i == 5 ? result_folder_add : result_folder_put, &many, policy, (uint64_t)(seeds[i] - '0'));
        if (i == 2) assert_seeds(other, "");
    }
    assert_seeds(other, seeds);
    ok(result_folder_flush(&many, NULL)); /* nothing is left to do */
    result_folder_close(&one);
    result_folder_close(&many);
    auto_memory char *left = read_lines(folder), *right = read_lines(other);
    assert_string_equal(left, right);
}

/* More than are held in memory. */
TEST_WITH(many_runs_are_put, set_up, folder_leave)
{
    enum { LONG = 1 << 19, RUNS = 5 };
    auto_memory double *curve;
    result_folder open;
    RELEASED_BY(results_release) stored_runs list = {0};
    ok(memory_create(NULL, &curve, LONG, sizeof *curve, NULL));
    open_folder(folder, &open);
    for (uint64_t i = 0; i < RUNS; i++) {
        stored_run run = make_run("x", i);
        run.rounds = LONG;
        curve[LONG - 1] = run.result.regret;
        ok(result_folder_put(&open, &run, curve, NULL));
        assert_true(open.batch.count <= 2);
    }
    ok(result_folder_flush(&open, NULL));
    result_folder_close(&open);
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, RUNS);
    for (size_t i = 0; i < RUNS; i++) ok(results_curve(folder, &list.runs[i], curve, NULL));
}

TEST_WITH(it_has_one_writer, set_up, folder_leave)
{
    result_folder first, second;
    open_folder(folder, &first);
    fails_saying(result_folder_open(folder, NULL, &second, &last_error), EE_FILE_ERROR,
                 "another run is writing results there");
    result_folder_close(&second);
    add(&first, "x", 0);
    result_folder_close(&first);
    open_folder(folder, &second);
    assert_int_equal(second.stored.count, 1);
    result_folder_close(&second);
}

/* Half a line, and with it the row that it would have named. */
TEST_WITH(what_a_crash_left_is_cut_off, set_up, folder_leave)
{
    RELEASED_BY(result_folder_close) result_folder open;
    struct stat before, after;
    open_folder(folder, &open);
    add(&open, "x", 0);
    result_folder_close(&open);
    open_folder(folder, &open);
    const char *path = formatted("%s/curves/%s", folder, open.stored.runs[0].curve);
    assert_int_equal(stat(path, &before), 0);
    add(&open, "x", 1);
    result_folder_close(&open);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size > before.st_size);
    auto_memory char *text = read_lines(folder);
    assert_int_equal(truncate(formatted("%s/results.jsonl", folder), (off_t)strlen(text) - 1), 0);
    open_folder(folder, &open);
    assert_int_equal(open.stored.count, 1);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size == before.st_size);
    add(&open, "x", 5);
    result_folder_close(&open);
    open_folder(folder, &open);
    assert_int_equal(open.stored.count, 2);
    assert_curves(folder, &open.stored);
}

static bool is_first_seed(const void *context, const stored_run *run)
{
    (void)context;
    return run->seed == 0;
}

/* Of those whose curves are gone the ones that are asked for, and no other; without anybody who asks, none. */
TEST_WITH(lost_runs_are_taken_out, set_up, folder_leave)
{
    RELEASED_BY(result_folder_close) result_folder open;
    open_folder(folder, &open);
    for (uint64_t seed = 0; seed < 2; seed++) add(&open, "x", seed);
    add(&open, "y", 0);
    result_folder_close(&open);
    open_folder(folder, &open);
    assert_int_equal(unlink(formatted("%s/curves/%s", folder, open.stored.runs[0].curve)), 0);
    result_folder_close(&open);
    open_folder(folder, &open);
    assert_int_equal(open.stored.count, 3);
    result_folder_close(&open);
    const lost_curves lost = {.is_asked_for = is_first_seed};
    ok(result_folder_open(folder, &lost, &open, NULL));
    assert_int_equal(open.stored.count, 2);
    assert_int_equal(open.stored.runs[0].seed, 1);
    assert_string_equal(open.stored.runs[1].policy, "y");
}
