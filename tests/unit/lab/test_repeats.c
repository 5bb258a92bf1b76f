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
    assert_words(500, 1000, "1000 rounds from 500 rows: each row appears twice");
    assert_words(500, 1500, "1500 rounds from 500 rows: each row appears three times");
    assert_words(500, 5000, "5000 rounds from 500 rows: each row appears ten times");
    assert_words(500, 6000, "6000 rounds from 500 rows: each row appears twelve times");
    assert_words(500, 6500, "6500 rounds from 500 rows: each row appears 13 times");
    assert_words(1, 2, "2 rounds from 1 row: each row appears twice");
}

static void others_are_averages(void **state)
{
    (void)state;
    assert_words(400, 1000, "1000 rounds from 400 rows: each row appears 2.5 times on average");
    assert_words(7, 1000, "1000 rounds from 7 rows: each row appears 143 times on average");
}

static void less_than_twice_is_counted(void **state)
{
    (void)state;
    assert_words(500, 501, "501 rounds from 500 rows: 1 row appears twice");
    assert_words(500, 999, "999 rounds from 500 rows: 499 rows appear twice");
}

static void the_largest_numbers_fit(void **state)
{
    (void)state;
    char line[160], cut[8];
    assert_true(repeats_format(UINT64_MAX / 2, UINT64_MAX, line, sizeof line) < sizeof line);
    assert_true(repeats_format(UINT64_MAX - 1, UINT64_MAX, line, sizeof line) < sizeof line);
    assert_int_equal(repeats_format(500, 1000, cut, sizeof cut), 49);
    assert_string_equal(cut, "1000 ro");
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
