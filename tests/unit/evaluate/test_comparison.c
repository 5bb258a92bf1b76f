#include "evaluate/comparison.h"

#include <math.h>

#include "support.h"

static const double mixed[] = {1.5, -0.5, 2.0, 3.0, -1.0, 0.7, 2.2, 1.1};

/* By SciPy's permutation_test over all 256 signs, and its bootstrap of 200,000 resamples. */
static void eight_pairs(void **state)
{
    (void)state;
    comparison result;
    assert_int_equal(comparison_paired(mixed, 8, &result, NULL), EE_OK);
    assert_int_equal(result.pairs, 8);
    assert_close(result.difference, 1.125, 1e-15);
    assert_true(result.p == 0.0625);
    assert_close(result.low, 0.225, 0.02);
    assert_close(result.high, 1.975, 0.02);
}

static void the_same_again(void **state)
{
    (void)state;
    comparison first, second;
    assert_int_equal(comparison_paired(mixed, 8, &first, NULL), EE_OK);
    assert_int_equal(comparison_paired(mixed, 8, &second, NULL), EE_OK);
    assert_true(first.low == second.low && first.high == second.high);
}

/* All of one sign: only that sum and its negative are as far out. Equal differences give equal means. */
static void one_sign(void **state)
{
    (void)state;
    const double equal[] = {-0.1, -0.1, -0.1, -0.1, -0.1};
    comparison result;
    assert_int_equal(comparison_paired(equal, 5, &result, NULL), EE_OK);
    assert_true(result.p == 2.0 / 32.0);
    assert_close(result.low, -0.1, 1e-15);
    assert_close(result.high, -0.1, 1e-15);
}

/* 0.1 + 0.2 and 0.3 are not the same double, but they are a tie: of the 8 sums 0.6, 0, 0.2, 0.4 (and their negatives)
 * those of 0.4 or more are 4. */
static void ties_count(void **state)
{
    (void)state;
    const double tied[] = {0.1, 0.2, -0.3}; /* sum 0: every sum is as far out */
    comparison result;
    assert_int_equal(comparison_paired(tied, 3, &result, NULL), EE_OK);
    assert_true(result.p == 1.0);
    const double partly[] = {0.3, 0.2, -0.1};
    assert_int_equal(comparison_paired(partly, 3, &result, NULL), EE_OK);
    assert_true(result.p == 0.5);
}

static void no_differences(void **state)
{
    (void)state;
    const double zeros[] = {0, 0, 0, 0};
    comparison result;
    assert_int_equal(comparison_paired(zeros, 4, &result, NULL), EE_OK);
    assert_true(result.p == 1.0 && result.low == 0.0 && result.high == 0.0);
}

static void few_pairs(void **state)
{
    (void)state;
    comparison result;
    assert_int_equal(comparison_paired(mixed, 1, &result, NULL), EE_OK);
    assert_true(result.p == 1.0 && result.difference == 1.5 && isnan(result.low) && isnan(result.high));
    assert_int_equal(comparison_paired(mixed, 0, &result, NULL), EE_OK);
    assert_true(isnan(result.p) && isnan(result.difference) && result.pairs == 0);
}

/* The number of heads in 24 throws, twice the tail from 17 on: 2 * 536155 / 2^24. */
static void many_pairs_are_drawn(void **state)
{
    (void)state;
    double throws[24];
    for (size_t i = 0; i < 24; i++) throws[i] = i < 17 ? 1.0 : -1.0;
    comparison result;
    assert_int_equal(comparison_paired(throws, 24, &result, NULL), EE_OK);
    assert_close(result.p, 2.0 * 536155.0 / 16777216.0, 0.003);

    double far[100];
    for (size_t i = 0; i < 100; i++) far[i] = 1.0;
    assert_int_equal(comparison_paired(far, 100, &result, NULL), EE_OK);
    assert_true(result.p == 1.0 / 100001.0);
}

/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02. */
static void holm_steps_down(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    assert_int_equal(comparison_holm(p, 5, NULL), EE_OK);
    assert_close(p[0], 0.03, 1e-15);
    assert_close(p[1], 0.06, 1e-15);
    assert_true(isnan(p[2]));
    assert_close(p[3], 0.06, 1e-15);
    assert_close(p[4], 0.02, 1e-15);
}

static void holm_ends_at_one(void **state)
{
    (void)state;
    double p[] = {0.5, 0.5, 0.9};
    assert_int_equal(comparison_holm(p, 3, NULL), EE_OK);
    assert_true(p[0] == 1.0 && p[1] == 1.0 && p[2] == 1.0);
    assert_int_equal(comparison_holm(p, 0, NULL), EE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_pairs),     cmocka_unit_test(the_same_again),       cmocka_unit_test(one_sign),
        cmocka_unit_test(ties_count),      cmocka_unit_test(no_differences),       cmocka_unit_test(few_pairs),
        cmocka_unit_test(holm_steps_down), cmocka_unit_test(many_pairs_are_drawn), cmocka_unit_test(holm_ends_at_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
