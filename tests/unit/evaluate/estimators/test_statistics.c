#include "evaluate/estimators/statistics.h"

#include "base/random.h"
#include "support.h"

TEST(mean_of_values)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_true(statistics_mean(values, 8) == 5.0 && statistics_mean(values, 1) == 2.0);
    assert_true(isnan(statistics_mean(values, 0)));
}

TEST(deviation_divides_by_one_less)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_close(statistics_deviation(values, 8), sqrt(32.0 / 7.0), 1e-15);
    const double equal[] = {0.1, 0.1, 0.1};
    assert_close(statistics_deviation(equal, 3), 0.0, 1e-16);
    assert_true(isnan(statistics_deviation(values, 1)) && isnan(statistics_deviation(values, 0)));
}

/* Where the mean is large, the difference of two large sums would have lost every digit. */
TEST(deviation_far_from_zero)
{
    const double values[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
    assert_close(statistics_deviation(values, 4), sqrt(30.0), 1e-12);
}

TEST(median_odd_and_even)
{
    double odd[] = {9, -1, 4}, even[] = {8, 1, 2, 5}, one[] = {3};
    assert_true(statistics_median(odd, 3) == 4.0 && statistics_median(even, 4) == 3.5);
    assert_true(statistics_median(one, 1) == 3.0);
    assert_true(isnan(statistics_median(one, 0)));
    double holed[] = {1, NAN, 2};
    assert_true(isnan(statistics_median(holed, 3)));
}

/* Every place of lists with ties, infinities, in order and in disorder. */
TEST(select_is_what_sorting_gives)
{
    random_stream stream = random_named(1, "select");
    for (size_t count = 1; count <= 40; count++)
        for (size_t place = 0; place < count; place++) {
            double values[40], sorted[40];
            size_t distinct = 1 + random_below(&stream, 2 * count);
            for (size_t i = 0; i < count; i++) values[i] = (double)random_below(&stream, distinct);
            if (count % 3 == 0) values[count / 2] = -INFINITY;
            if (count % 4 == 0) statistics_sort(values, count);
            memcpy(sorted, values, sizeof sorted);
            statistics_sort(sorted, count);
            assert_true(statistics_select(values, count, place) == sorted[place]);
            assert_true(values[place] == sorted[place]);
            statistics_sort(values, count);
            for (size_t i = 0; i < count; i++) assert_true(values[i] == sorted[i]);
        }
}

TEST(percentiles_lie_between_neighbours)
{
    const double sorted[] = {1.0, 2.0, 4.0, 8.0};
    assert_true(statistics_percentile(sorted, 4, 0.0) == 1.0 && statistics_percentile(sorted, 4, 1.0) == 8.0);
    assert_close(statistics_percentile(sorted, 4, 0.5), 3.0, 1e-15);
    assert_close(statistics_percentile(sorted, 4, 0.75), 5.0, 1e-15);
    assert_true(isnan(statistics_percentile(sorted, 0, 0.5)));
}

TEST(margin_of_the_mean)
{
    const double values[] = {12, 15, 11, 19, 14, 13.5};
    assert_close(statistics_mean(values, 6) - statistics_margin(values, 6), 11.144601225067857, 1e-8);
    assert_close(statistics_mean(values, 6) + statistics_margin(values, 6), 17.022065441598812, 1e-8);
    assert_true(isnan(statistics_margin(values, 1)));
}

TEST(slope_of_points)
{
    const double x[] = {1, 2, 4, 7, 8}, y[] = {3, 5, 4, 9, 12}, same[] = {2, 2, 2, 2, 2};
    assert_close(statistics_slope(x, y, 5), 1.150537634408602, 1e-14);
    assert_true(isnan(statistics_slope(same, y, 5)) && isnan(statistics_slope(x, y, 1)));
    assert_true(isnan(statistics_slope(x, y, 0)));
}
