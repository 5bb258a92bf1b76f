#include "lab/repeats.h"

#include <string.h>

#include "support.h"

static void assert_words(uint64_t rows, uint64_t rounds, const char *expected)
{
    char line[160];
    assert_int_equal(repeats_format(rows, rounds, line, sizeof line), strlen(expected));
    assert_string_equal(line, expected);
}

static void nothing_comes_again(void **state)
{
    (void)state;
    assert_words(0, 5000, "");
    assert_words(500, 499, "");
    assert_words(500, 500, "");
}

static void whole_times_are_words(void **state)
{
    (void)state;
    assert_words(500, 1000, "500 rows, 1000 rounds: every row comes twice");
    assert_words(500, 1500, "500 rows, 1500 rounds: every row comes three times");
    assert_words(500, 5000, "500 rows, 5000 rounds: every row comes ten times");
    assert_words(500, 6000, "500 rows, 6000 rounds: every row comes twelve times");
    assert_words(500, 6500, "500 rows, 6500 rounds: every row comes 13 times");
    assert_words(1, 2, "1 row, 2 rounds: every row comes twice");
}

static void others_are_averages(void **state)
{
    (void)state;
    assert_words(400, 1000, "400 rows, 1000 rounds: every row comes 2.5 times on average");
    assert_words(7, 1000, "7 rows, 1000 rounds: every row comes 143 times on average");
}

static void less_than_twice_is_counted(void **state)
{
    (void)state;
    assert_words(500, 501, "500 rows, 501 rounds: 1 row comes twice");
    assert_words(500, 999, "500 rows, 999 rounds: 499 rows come twice");
}

static void the_largest_numbers_fit(void **state)
{
    (void)state;
    char line[160], cut[8];
    assert_true(repeats_format(UINT64_MAX / 2, UINT64_MAX, line, sizeof line) < sizeof line);
    assert_true(repeats_format(UINT64_MAX - 1, UINT64_MAX, line, sizeof line) < sizeof line);
    assert_int_equal(repeats_format(500, 1000, cut, sizeof cut), 44);
    assert_string_equal(cut, "500 row");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_comes_again),     cmocka_unit_test(whole_times_are_words),
        cmocka_unit_test(others_are_averages),     cmocka_unit_test(less_than_twice_is_counted),
        cmocka_unit_test(the_largest_numbers_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
