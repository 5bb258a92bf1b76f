#include "lab/results/failed_runs.h"

#include "data/support_sets.h"
#include "support_files.h"

TEST_IN_FOLDER(test_none)
{
    RELEASED_BY(failed_runs_release) failed_runs runs = {0};
    ok(failed_runs_read(here.path, &runs, NULL));
    assert_int_equal(runs.count, 0);
    assert_null(failed_runs_find(&runs, 0));
    ok(failed_runs_read(folder_path(&here, "nowhere"), &runs, NULL));
}

TEST_IN_FOLDER(test_kept_once)
{
    RELEASED_BY(failed_runs_release) failed_runs runs = {0};
    for (size_t i = 0; i < 2; i++) {
        ok(failed_runs_keep(here.path, 0xfedcba9876543210, "learn: it diverged", NULL));
        ok(failed_runs_keep(here.path, 7, "score: not finite", NULL));
    }
    ok(failed_runs_read(here.path, &runs, NULL));
    ok(failed_runs_read(here.path, &runs, NULL));
    assert_int_equal(runs.count, 2);
    assert_string_equal(failed_runs_find(&runs, 0xfedcba9876543210)->sentence, "learn: it diverged");
    assert_string_equal(failed_runs_find(&runs, 7)->sentence, "score: not finite");
    assert_null(failed_runs_find(&runs, 8));
}

TEST_IN_FOLDER(test_written_anew)
{
    RELEASED_BY(failed_runs_release) failed_runs runs = {0};
    ok(failed_runs_keep(here.path, 1, "one", NULL));
    ok(failed_runs_keep(here.path, 2, "two", NULL));
    ok(failed_runs_read(here.path, &runs, NULL));
    runs.count = 0;
    ok(failed_runs_write(here.path, &runs, NULL));
    ok(failed_runs_read(here.path, &runs, NULL));
    assert_int_equal(runs.count, 0);
}

TEST_IN_FOLDER(test_damaged)
{
    static const char *const wrong[] = {"nonsense\n", "0123456789abcdef\n", "0123456789abcde why\n",
                                        "0123456789abcdef0 why\n", "\n"};
    RELEASED_BY(failed_runs_release) failed_runs runs = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        folder_write_text(&here, "failed", wrong[i]);
        fails_saying(failed_runs_read(here.path, &runs, &last_error), EE_BAD_INPUT,
                     "failed: line 1: expected the key of a run and an error message");
    }
    folder_write_text(&here, "failed", "0123456789abcdef why\nfedc"); /* half a line */
    ok(failed_runs_read(here.path, &runs, &last_error));
    assert_int_equal(runs.count, 1);
}
