/* Runs that end in any order, and lines that come in theirs. */
#define _POSIX_C_SOURCE 200809L
#include "lab/results/ordered_runs.h"

#include <inttypes.h>
#include <unistd.h>

#include "data/support_sets.h"
#include "lab/results/pending_runs.h"
#include "lab/results/run_keys.h"
#include "support_files.h"

enum { RUNS = 5, ROUNDS = 4 };

static char folder[60], pending[80];
static ordered_runs kept;

static int set_up(void **state)
{
    folder_enter(state);
    snprintf(folder, sizeof folder, "%s/folder", here.path);
    snprintf(pending, sizeof pending, "%s/pending", folder);
    return ordered_runs_open(folder, NULL, RUNS, &kept, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    ordered_runs_close(&kept);
    return folder_leave(state);
}

/* By another program on another machine. */
static stored_run make_run(size_t turn)
{
    return (stored_run){.dataset = "d",
                        .policy = "p",
                        .options = "",
                        .seed = turn,
                        .rounds = ROUNDS,
                        .result = {.finished = true, .rounds = ROUNDS, .regret = (double)turn},
                        .version = "0.0.1",
                        .kernels = "none",
                        .machine = "far away"};
}

static uint64_t key_of(size_t turn)
{
    stored_run run = make_run(turn);
    return run_keys_of_stored(&run).run;
}

static ee_status keep(size_t turn, ee_error *error)
{
    stored_run run = make_run(turn);
    double curve[ROUNDS] = {0.0, 0.0, 0.0, (double)turn};
    return ordered_runs_keep(&kept, turn, &run, curve, error);
}

static void assert_lines(const char *seeds)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, strlen(seeds));
    for (size_t i = 0; i < list.count; i++) {
        double curve[ROUNDS];
        assert_int_equal(list.runs[i].seed, (uint64_t)(seeds[i] - '0'));
        assert_string_equal(list.runs[i].machine, "far away");
        assert_string_equal(list.runs[i].version, "0.0.1");
        ok(results_curve(folder, &list.runs[i], curve, NULL));
    }
}

static void reopen(void)
{
    ordered_runs_close(&kept);
    ok(ordered_runs_open(folder, NULL, RUNS, &kept, NULL));
}

TEST_WITH(lines_come_in_turn, set_up, tear_down)
{
    for (size_t i = 0; i < RUNS; i++) ordered_runs_expect(&kept, i);
    ok(keep(2, NULL));
    assert_lines("");
    ok(keep(0, NULL));
    assert_lines("0");
    ok(keep(4, NULL));
    ok(keep(1, NULL));
    assert_lines("012");
    ok(ordered_runs_pass(&kept, 3, NULL)); /* it failed */
    assert_lines("0124");
    ordered_runs_close(&kept);
    assert_int_equal(access(pending, F_OK), -1);
    reopen();
}

/* Turns of which nothing is to come hold up nobody. */
TEST_WITH(turns_may_be_over, set_up, tear_down)
{
    ordered_runs_expect(&kept, 1);
    ordered_runs_expect(&kept, 3);
    ok(ordered_runs_advance(&kept, NULL));
    ok(keep(1, NULL));
    assert_lines("1");
    ok(keep(3, NULL));
    assert_lines("13");
}

/* Those that waited when it was closed are there when it is opened again, as they were played. */
TEST_WITH(what_waits_outlives_the_program, set_up, tear_down)
{
    size_t place;
    for (size_t i = 0; i < RUNS; i++) ordered_runs_expect(&kept, i);
    ok(keep(1, NULL));
    ok(keep(3, NULL));
    reopen();
    assert_int_equal(kept.waiting.count, 2);
    assert_true(run_index_find(&kept.waiting_index, key_of(3), &place));
    assert_string_equal(kept.waiting.runs[place].machine, "far away");
    assert_int_equal(kept.waiting.runs[place].seed, 3);
    ordered_runs_expect(&kept, 0);
    ordered_runs_expect_waiting(&kept, 1, key_of(1));
    ordered_runs_expect_waiting(&kept, 3, key_of(3)); /* 2 is over */
    ok(ordered_runs_advance(&kept, NULL));
    assert_lines("");
    ok(keep(0, NULL));
    assert_lines("013");
    reopen();
    assert_int_equal(kept.waiting.count, 0);
}

static void write_pending(const char *name, const char *words)
{
    ok(file_write(formatted("%s/%s", pending, name), words, strlen(words), NULL));
}

/* A run whose line is there, and what had not got its name, are removed; what is damaged or strange is passed over. */
TEST_WITH(what_is_of_no_use_is_removed, set_up, tear_down)
{
    double curve[ROUNDS] = {0.0};
    stored_run run = make_run(0);
    ordered_runs_expect(&kept, 0);
    ok(keep(0, NULL));
    ok(pending_runs_write(pending, &run, curve, NULL)); /* as after a crash */
    write_pending(formatted("%016" PRIx64 ".run.tmp", key_of(1)), "half");
    write_pending(formatted("%016" PRIx64 ".run", key_of(2)), "{\"dataset\":1}\n");
    write_pending("strange", "somebody's");
    reopen();
    assert_int_equal(kept.waiting.count, 0);
    assert_int_equal(access(formatted("%s/%016" PRIx64 ".run", pending, key_of(0)), F_OK), -1);
    assert_int_equal(access(formatted("%s/%016" PRIx64 ".run.tmp", pending, key_of(1)), F_OK), -1);
    assert_int_equal(access(formatted("%s/strange", pending), F_OK), 0);
}

TEST_WITH(what_was_taken_away_is_told, set_up, tear_down)
{
    for (size_t i = 0; i < 2; i++) ordered_runs_expect(&kept, i);
    ok(keep(1, NULL));
    assert_int_equal(unlink(formatted("%s/%016" PRIx64 ".run", pending, key_of(1))), 0);
    fails_saying(keep(0, &last_error), EE_FILE_ERROR, ".run is missing or damaged");
    assert_lines("0");
}
