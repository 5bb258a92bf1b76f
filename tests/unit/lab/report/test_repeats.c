#include "lab/report/repeats.h"

#include "support.h"

static void assert_words(uint64_t rows, uint64_t rounds, const char *expected)
{
    char line[160];
    assert_int_equal(repeats_format(rows, rounds, line, sizeof line), strlen(expected));
    assert_string_equal(line, expected);
}

TEST(nothing_comes_again)
{
    assert_words(0, 5000, "");
    assert_words(500, 499, "");
    assert_words(500, 500, "");
}

TEST(whole_times_are_words)
{
    assert_words(500, 1000, "1000 rounds from 500 rows: each row appears twice");
    assert_words(500, 1500, "1500 rounds from 500 rows: each row appears three times");
    assert_words(500, 5000, "5000 rounds from 500 rows: each row appears ten times");
    assert_words(500, 6000, "6000 rounds from 500 rows: each row appears twelve times");
    assert_words(500, 6500, "6500 rounds from 500 rows: each row appears 13 times");
    assert_words(1, 2, "2 rounds from 1 row: each row appears twice");
}

TEST(others_are_averages)
{
    assert_words(400, 1000, "1000 rounds from 400 rows: each row appears 2.5 times on average");
    assert_words(7, 1000, "1000 rounds from 7 rows: each row appears 143 times on average");
}

TEST(less_than_twice_is_counted)
{
    assert_words(500, 501, "501 rounds from 500 rows: 1 row appears twice");
    assert_words(500, 999, "999 rounds from 500 rows: 499 rows appear twice");
}

TEST(the_largest_numbers_fit)
{
    char line[160], cut[8];
    assert_true(repeats_format(UINT64_MAX / 2, UINT64_MAX, line, sizeof line) < sizeof line);
    assert_true(repeats_format(UINT64_MAX - 1, UINT64_MAX, line, sizeof line) < sizeof line);
    assert_int_equal(repeats_format(500, 1000, cut, sizeof cut), 49);
    assert_string_equal(cut, "1000 ro");
}
