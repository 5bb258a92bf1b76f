#include "evaluate/intervals/comparison.h"

#include "base/random.h"
#include "support.h"

static const double mixed[] = {1.5, -0.5, 2.0, 3.0, -1.0, 0.7, 2.2, 1.1};

/* The p-value is SciPy's permutation_test over all 256 signs. Of the 128 splits 6 are at most 5%; the ends are the 7th
 * of the sorted ends of their ranges, by SciPy's permutation_test of the differences minus a value, bisected. */
TEST(eight_pairs)
{
    comparison result;
    ok(comparison_paired(mixed, 8, &result, NULL));
    assert_int_equal(result.pairs, 8);
    assert_close(result.difference, 1.125, 1e-15);
    assert_true(result.p == 0.0625);
    assert_close(result.low, -0.4 / 3.0, 1e-12);
    assert_close(result.high, 6.7 / 3.0, 1e-12);
}

/* Two of 2^6 flips are below 5%, 4 are above: the interval ends at the smallest and the largest difference. With 7, the
 * fourth: behind it are nothing, the smallest, and the mean of the two smallest. */
TEST(ends_of_few_pairs)
{
    const double six[] = {4.0, -7.0, 1.0, 2.5, 3.0, 11.0}, seven[] = {4.0, -7.0, 1.0, 2.5, 3.0, 11.0, 6.0};
    comparison result;
    ok(comparison_paired(six, 6, &result, NULL));
    assert_true(result.low == -7.0 && result.high == 11.0);
    ok(comparison_paired(seven, 7, &result, NULL));
    assert_close(result.low, (-7.0 + 2.5) / 2.0, 1e-15);
    assert_close(result.high, (11.0 + 4.0) / 2.0, 1e-15); /* behind it: nothing, 11, (11 + 6) / 2 */
}

/* Below six pairs the test rejects no value, however far away. */
TEST(too_few_pairs_have_no_ends)
{
    const double equal[] = {-0.1, -0.1, -0.1, -0.1, -0.1, -0.1};
    for (size_t pairs = 1; pairs <= 6; pairs++) {
        comparison result;
        ok(comparison_paired(equal, pairs, &result, NULL));
        assert_true(result.p == 2.0 / exp2((double)pairs) && result.p == comparison_least_p(pairs));
        assert_int_equal(result.p > COMPARISON_LEVEL, pairs < 6);
        if (pairs < 6)
            assert_true(result.low == -INFINITY && result.high == INFINITY);
        else
            assert_true(fabs(result.low + 0.1) < 1e-15 && fabs(result.high + 0.1) < 1e-15);
    }
}

/* 0.1 + 0.2 and 0.3 are not the same double, but they are a tie: of the 8 sums 0.6, 0, 0.2, 0.4 (and their negatives)
 * those of 0.4 or more are 4. */
TEST(ties_count)
{
    const double tied[] = {0.1, 0.2, -0.3}; /* sum 0: every sum is as far out */
    comparison result;
    ok(comparison_paired(tied, 3, &result, NULL));
    assert_true(result.p == 1.0);
    const double partly[] = {0.3, 0.2, -0.1};
    ok(comparison_paired(partly, 3, &result, NULL));
    assert_true(result.p == 0.5);
    const double inside[] = {0.1, 0.2, -0.3,
                             1.0}; /* of the 8 splits 4 have parts on both sides of 0, one has it as end */
    ok(comparison_paired(inside, 4, &result, NULL));
    assert_true(result.p == 0.625);
}

TEST(no_differences)
{
    const double zeros[] = {0, 0, 0, 0, 0, 0};
    comparison result;
    ok(comparison_paired(zeros, 6, &result, NULL));
    assert_true(result.p == 1.0 && result.low == 0.0 && result.high == 0.0);
}

TEST(few_pairs)
{
    comparison result;
    ok(comparison_paired(mixed, 1, &result, NULL));
    assert_true(result.p == 1.0 && result.difference == 1.5);
    ok(comparison_paired(mixed, 0, &result, NULL));
    assert_true(isnan(result.p) && isnan(result.difference) && isnan(result.low) && isnan(result.high));
    assert_int_equal(result.pairs, 0);
}

/* The number of heads in 24 throws, twice the tail from 17 on: 2 * 536155 / 2^24. */
TEST(many_pairs_are_drawn)
{
    double throws[24];
    for (size_t i = 0; i < 24; i++) throws[i] = i < 17 ? 1.0 : -1.0;
    comparison result;
    ok(comparison_paired(throws, 24, &result, NULL));
    assert_close(result.p, 2.0 * 536155.0 / 16777216.0, 0.003);

    double far[100];
    for (size_t i = 0; i < 100; i++) far[i] = 1.0;
    ok(comparison_paired(far, 100, &result, NULL));
    assert_true(result.p == 1.0 / 100001.0 && result.low == 1.0 && result.high == 1.0);
}

/* The definition: the share of the 2^count flips of the differences minus m whose sum is as far from zero. */
static double p_by_definition(const double *differences, size_t count, double m)
{
    double observed = 0.0, size = 0.0;
    size_t far = 0;
    for (size_t i = 0; i < count; i++) {
        observed += differences[i] - m;
        size += fabs(differences[i] - m);
    }
    for (size_t flips = 0; flips < (size_t)1 << count; flips++) {
        double sum = 0.0;
        for (size_t i = 0; i < count; i++) sum += flips >> i & 1 ? m - differences[i] : differences[i] - m;
        far += fabs(sum) >= fabs(observed) - 1e-12 * size;
    }
    return (double)far / exp2((double)count);
}

static double draw_normal(random_stream *stream)
{
    return random_normal(stream);
}

/* Exponential minus its mean: skewness 2, more than regrets of ten seeds show. */
static double draw_skewed(random_stream *stream)
{
    return -log(1.0 - random_unit(stream)) - 1.0;
}

/* Whole numbers: many ties, and means that are zero. */
static double draw_whole(random_stream *stream)
{
    return (double)random_below(stream, 5) - 1.0;
}

static double (*const draws[])(random_stream *) = {draw_normal, draw_skewed, draw_whole};

static void draw_all(random_stream *stream, size_t kind, double shift, double *differences, size_t count)
{
    for (size_t i = 0; i < count; i++) differences[i] = draws[kind](stream) + shift;
}

/* The test does not reject the ends and rejects what is beyond them. */
TEST(ends_are_where_the_test_turns)
{
    random_stream stream = random_named(1, "ends");
    for (size_t i = 0; i < test_long(30, 300); i++) {
        double differences[11];
        size_t count = 6 + i % 6;
        draw_all(&stream, i % 3, 0.5, differences, count);
        comparison result;
        ok(comparison_paired(differences, count, &result, NULL));
        assert_true(result.p == p_by_definition(differences, count, 0.0));
        assert_true(result.low <= result.difference + 1e-12 && result.difference <= result.high + 1e-12);
        assert_true(p_by_definition(differences, count, result.low) > COMPARISON_LEVEL);
        assert_true(p_by_definition(differences, count, result.high) > COMPARISON_LEVEL);
        assert_true(p_by_definition(differences, count, result.low - 1e-9) < COMPARISON_LEVEL);
        assert_true(p_by_definition(differences, count, result.high + 1e-9) < COMPARISON_LEVEL);
    }
}

/* Whether zero is in the interval is whether the test rejects it: for any number of pairs, enumerated or drawn. */
TEST(interval_agrees_with_p)
{
    random_stream stream = random_named(2, "agreement");
    size_t rejected = 0, tests = 0;
    for (size_t count = 1; count <= 26; count += count < 12 ? 1 : 7)
        for (size_t i = 0; i < (count <= 12 ? test_long(60, 200) : test_long(2, 20)); i++) {
            double differences[26];
            draw_all(&stream, i % 3, i % 2 ? 0.9 / sqrt((double)count) : 0.0, differences, count);
            comparison result;
            ok(comparison_paired(differences, count, &result, NULL));
            bool excluded = result.low > 0.0 || result.high < 0.0;
            assert_int_equal(excluded, result.p < COMPARISON_LEVEL);
            rejected += excluded;
            tests++;
        }
    assert_true(rejected > tests / 50 && rejected < tests / 2);
}

/* How many intervals contain the true mean, which is zero. */
static size_t count_covering(random_stream *stream, size_t kind, size_t pairs, size_t repetitions)
{
    size_t covering = 0;
    for (size_t i = 0; i < repetitions; i++) {
        double differences[20];
        draw_all(stream, kind, 0.0, differences, pairs);
        comparison result;
        ok(comparison_paired(differences, pairs, &result, NULL));
        covering += result.low <= 0.0 && result.high >= 0.0;
    }
    return covering;
}

/* For symmetric differences the coverage is exactly 1 - 2 floor(0.05 2^(n-1)) / 2^n: 1, 1, 0.951, 0.95. Skewed ones
 * lose some of it; the percentile bootstrap covers 76, 84, 90 and 93% of normal differences. Within four standard
 * errors.
 */
TEST(coverage)
{
    static const struct {
        size_t pairs, repetitions;
        double normal, skewed;
    } cases[] = {
        {3, 4000, 1.0, 1.0}, {5, 4000, 1.0, 1.0}, {10, 4000, 1.0 - 50.0 / 1024.0, 0.9055}, {20, 200, 0.95, 0.922}};
    random_stream stream = random_named(3, "coverage");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t kind = 0; kind < 2; kind++) {
            size_t repetitions = cases[i].repetitions / test_long(10, 1);
            double expected = kind ? cases[i].skewed : cases[i].normal;
            double share = (double)count_covering(&stream, kind, cases[i].pairs, repetitions) / (double)repetitions;
            assert_close(share, expected, 4.0 * sqrt(expected * (1.0 - expected) / (double)repetitions));
        }
}

/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02. */
TEST(holm_steps_down)
{
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    ok(comparison_holm(p, 5, NULL));
    assert_close(p[0], 0.03, 1e-15);
    assert_close(p[1], 0.06, 1e-15);
    assert_true(isnan(p[2]));
    assert_close(p[3], 0.06, 1e-15);
    assert_close(p[4], 0.02, 1e-15);
}

TEST(holm_ends_at_one)
{
    double p[] = {0.5, 0.5, 0.9};
    ok(comparison_holm(p, 3, NULL));
    assert_true(p[0] == 1.0 && p[1] == 1.0 && p[2] == 1.0);
    ok(comparison_holm(p, 0, NULL));
}
