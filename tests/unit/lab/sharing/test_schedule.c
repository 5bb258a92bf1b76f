/* Who plays which job: by hand. */
#include "lab/sharing/schedule.h"

#include <math.h>

#include "support.h"

static void assert_seconds(const double *seconds, size_t count, size_t hands, double expected)
{
    double got = NAN;
    ok(schedule_seconds(seconds, count, hands, &got, NULL));
    if (!(fabs(got - expected) < 1e-12)) fail_msg("%zu hands: got %g seconds, expected %g", hands, got, expected);
}

TEST(the_longest_go_first)
{
    const double seconds[] = {1.0, 5.0, 3.0, 5.0, 0.0, 3.0};
    const size_t expected[] = {1, 3, 2, 5, 0, 4}; /* equals as they are listed */
    size_t places[6];
    ok(schedule_sort(seconds, 6, places, NULL));
    assert_memory_equal(places, expected, sizeof expected);
}

TEST(each_goes_to_whoever_has_least_to_do)
{
    const double seconds[] = {1.0, 5.0, 3.0, 4.0, 2.0};
    const size_t two[] = {0, 0, 1, 1, 0};   /* 5 | 4, 5 | 4+3, 5+2 | 7, 7+1 | 7: equals are the first's */
    const size_t three[] = {1, 0, 2, 1, 2}; /* 5 | 4 | 3, 5 | 4 | 3+2, 5 | 4+1 | 5 */
    size_t owner[5];
    ok(schedule_assign(seconds, 5, 2, owner, NULL));
    assert_memory_equal(owner, two, sizeof two);
    ok(schedule_assign(seconds, 5, 3, owner, NULL));
    assert_memory_equal(owner, three, sizeof three);
    assert_seconds(seconds, 5, 2, 8.0);
    assert_seconds(seconds, 5, 3, 5.0);
}

/* The plain way, for a heap that has many hands. */
TEST(many_hands_are_as_by_looking_at_each)
{
    enum { COUNT = 500, HANDS = 37 };
    double seconds[COUNT], busy[HANDS] = {0.0}, longest = 0.0;
    size_t owner[COUNT], places[COUNT];
    for (size_t i = 0; i < COUNT; i++) seconds[i] = (double)(i * 7919 % 101);
    ok(schedule_sort(seconds, COUNT, places, NULL));
    ok(schedule_assign(seconds, COUNT, HANDS, owner, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        size_t freest = 0;
        for (size_t k = 1; k < HANDS; k++)
            if (busy[k] < busy[freest]) freest = k;
        assert_int_equal(owner[places[i]], freest);
        busy[freest] += seconds[places[i]];
        longest = fmax(longest, busy[freest]);
    }
    assert_seconds(seconds, COUNT, HANDS, longest);
}

TEST(the_ends_of_the_scale)
{
    const double seconds[] = {2.0, 7.0, 1.0};
    size_t owner[3] = {9, 9, 9};
    const size_t own[] = {1, 0, 2}, all[] = {0, 0, 0};
    assert_seconds(seconds, 3, 1, 10.0);
    assert_seconds(seconds, 3, 3, 7.0);
    assert_seconds(seconds, 3, 1000, 7.0);
    assert_seconds(seconds, 0, 4, 0.0);
    assert_seconds(seconds, 3, 0, 10.0); /* nobody is as one */
    ok(schedule_assign(seconds, 3, 1000, owner, NULL));
    assert_memory_equal(owner, own, sizeof own);
    ok(schedule_assign(seconds, 3, 1, owner, NULL));
    assert_memory_equal(owner, all, sizeof all);
}
