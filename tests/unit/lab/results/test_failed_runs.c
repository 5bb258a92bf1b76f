#include "lab/results/failed_runs.h"

#include <string.h>

#include "base/file.h"
#include "support_files.h"

static test_folder place;

static int set_up(void **state)
{
    (void)state;
    place = folder_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

TEST_WITH(test_none, set_up, tear_down)
{
    failed_runs runs = {0};
    ok(failed_runs_read(place.path, &runs, NULL));
    assert_int_equal(runs.count, 0);
    assert_null(failed_runs_find(&runs, 0));
    ok(failed_runs_read(folder_path(&place, "nowhere"), &runs, NULL));
    failed_runs_release(&runs);
}

TEST_WITH(test_kept_once, set_up, tear_down)
{
    failed_runs runs = {0};
    for (size_t i = 0; i < 2; i++) {
        ok(failed_runs_keep(place.path, 0xfedcba9876543210, "learn: it diverged", NULL));
        ok(failed_runs_keep(place.path, 7, "score: not finite", NULL));
    }
    ok(failed_runs_read(place.path, &runs, NULL));
    ok(failed_runs_read(place.path, &runs, NULL));
    assert_int_equal(runs.count, 2);
    assert_string_equal(failed_runs_find(&runs, 0xfedcba9876543210)->sentence, "learn: it diverged");
    assert_string_equal(failed_runs_find(&runs, 7)->sentence, "score: not finite");
    assert_null(failed_runs_find(&runs, 8));
    failed_runs_release(&runs);
}

TEST_WITH(test_written_anew, set_up, tear_down)
{
    failed_runs runs = {0};
    ok(failed_runs_keep(place.path, 1, "one", NULL));
    ok(failed_runs_keep(place.path, 2, "two", NULL));
    ok(failed_runs_read(place.path, &runs, NULL));
    runs.count = 0;
    ok(failed_runs_write(place.path, &runs, NULL));
    ok(failed_runs_read(place.path, &runs, NULL));
    assert_int_equal(runs.count, 0);
    failed_runs_release(&runs);
}

TEST_WITH(test_damaged, set_up, tear_down)
{
    static const char *const wrong[] = {"nonsense\n", "0123456789abcdef\n", "0123456789abcde why\n",
                                        "0123456789abcdef0 why\n", "\n"};
    failed_runs runs = {0};
    ee_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        folder_write_text(&place, "failed", wrong[i]);
        assert_int_equal(failed_runs_read(place.path, &runs, &error), EE_BAD_INPUT);
        assert_message_has(error.message, "failed: line 1: expected the key of a run and an error message");
    }
    folder_write_text(&place, "failed", "0123456789abcdef why\nfedc"); /* half a line */
    ok(failed_runs_read(place.path, &runs, &error));
    assert_int_equal(runs.count, 1);
    failed_runs_release(&runs);
}
