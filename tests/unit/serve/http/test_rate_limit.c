#include "serve/http/rate_limit.h"

#include "support.h"

static size_t passed(rate_limit *limit, uint64_t who, double rate, double from, double seconds, double pause)
{
    size_t count = 0;
    double wait;
    for (double now = from; now < from + seconds; now += pause)
        if (rate_limit_pass(limit, who, rate, 1, now, &wait)) count++;
    return count;
}

TEST(a_second_at_once_and_then_the_rate)
{
    rate_limit *limit = rate_limit_create(100);
    assert_int_equal(passed(limit, 1, 10, 100, 10, 0.001), 10 + 99);
    assert_int_equal(passed(limit, 2, 0, 100, 1, 0.001), 1000);
    rate_limit_free(limit);
}

TEST(says_when_to_come_again)
{
    rate_limit *limit = rate_limit_create(1);
    double wait = 0;
    assert_true(rate_limit_pass(limit, 7, 0.5, 1, 10, &wait));
    assert_false(rate_limit_pass(limit, 7, 0.5, 1, 11, &wait));
    assert_close(wait, 1, 1e-9);
    assert_true(rate_limit_pass(limit, 7, 0.5, 1, 12, &wait));
    /* the clock of another thread may be a little behind */
    assert_false(rate_limit_pass(limit, 7, 0.5, 1, 11.9, &wait));
    assert_close(wait, 2, 1e-9);
    rate_limit_free(limit);
}

TEST(batches_count_for_all_they_hold)
{
    rate_limit *limit = rate_limit_create(1);
    double wait;
    assert_true(rate_limit_pass(limit, 7, 100, 60, 1, &wait));
    assert_false(rate_limit_pass(limit, 7, 100, 60, 1, &wait));
    assert_close(wait, 0.2, 1e-9);
    /* one that is larger than all there ever is passes in the end, and the debt is paid before the next */
    assert_true(rate_limit_pass(limit, 7, 100, 1000, 100, &wait));
    assert_false(rate_limit_pass(limit, 7, 100, 1, 100, &wait));
    rate_limit_free(limit);
}

/* Nobody's place is taken by one that came later, while there are fewer than there are places in a row. */
TEST(many_have_their_own)
{
    rate_limit *limit = rate_limit_create(4096);
    double wait;
    size_t again = 0;
    for (uint64_t who = 0; who < 1000; who++) assert_true(rate_limit_pass(limit, who, 1, 1, 5, &wait));
    for (uint64_t who = 0; who < 1000; who++) again += rate_limit_pass(limit, who, 1, 1, 5, &wait);
    assert_true(again <= 2);
    rate_limit_free(limit);
}
