#include "lab/failed_runs.h"

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

static void test_none(void **state)
{
    (void)state;
    failed_runs runs = {0};
    assert_int_equal(failed_runs_read(place.path, &runs, NULL), EE_OK);
    assert_int_equal(runs.count, 0);
    assert_null(failed_runs_find(&runs, 0));
    assert_int_equal(failed_runs_read(folder_path(&place, "nowhere"), &runs, NULL), EE_OK);
    failed_runs_release(&runs);
}

static void test_kept_once(void **state)
{
    (void)state;
    failed_runs runs = {0};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(failed_runs_keep(place.path, 0xfedcba9876543210, "learn: it diverged", NULL), EE_OK);
        assert_int_equal(failed_runs_keep(place.path, 7, "score: not finite", NULL), EE_OK);
    }
    assert_int_equal(failed_runs_read(place.path, &runs, NULL), EE_OK);
    assert_int_equal(failed_runs_read(place.path, &runs, NULL), EE_OK);
    assert_int_equal(runs.count, 2);
    assert_string_equal(failed_runs_find(&runs, 0xfedcba9876543210)->sentence, "learn: it diverged");
    assert_string_equal(failed_runs_find(&runs, 7)->sentence, "score: not finite");
    assert_null(failed_runs_find(&runs, 8));
    failed_runs_release(&runs);
}

static void test_written_anew(void **state)
{
    (void)state;
    failed_runs runs = {0};
    assert_int_equal(failed_runs_keep(place.path, 1, "one", NULL), EE_OK);
    assert_int_equal(failed_runs_keep(place.path, 2, "two", NULL), EE_OK);
    assert_int_equal(failed_runs_read(place.path, &runs, NULL), EE_OK);
    runs.count = 0;
    assert_int_equal(failed_runs_write(place.path, &runs, NULL), EE_OK);
    assert_int_equal(failed_runs_read(place.path, &runs, NULL), EE_OK);
    assert_int_equal(runs.count, 0);
    failed_runs_release(&runs);
}

static void test_damaged(void **state)
{
    (void)state;
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
    assert_int_equal(failed_runs_read(place.path, &runs, &error), EE_OK);
    assert_int_equal(runs.count, 1);
    failed_runs_release(&runs);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_none),
        TEST(test_kept_once),
        TEST(test_written_anew),
        TEST(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
