/* The count next to a list of all times: it is never below what a span really has, and above by less than a group. */
#include "serve/guard/sliding_count.h"

#include <stdlib.h>

#include "base/random.h"
#include "support.h"

enum { ROUNDS = 20000 };

static size_t true_count(const int64_t *times, const bool *removed, size_t count, int64_t after)
{
    size_t found = 0;
    for (size_t i = count; i-- && times[i] > after;) found += !removed[i];
    return found;
}

static void compare(uint64_t most, uint32_t groups)
{
    static int64_t times[ROUNDS];
    static bool removed[ROUNDS];
    sliding_shape shape = sliding_shape_of(most, 1000, groups);
    sliding_count *self = test_calloc(1, sliding_size(&shape));
    random_stream random = random_named(most, "times");
    size_t count = 0;
    int64_t now = 5000;
    for (size_t i = 0; i < ROUNDS; i++) {
        now += (int64_t)random_below(&random, random_below(&random, 20) ? 20 : 1500);
        sliding_expire(self, &shape, now);
        size_t real = true_count(times, removed, count, now - 1000);
        assert_true(self->total >= real);
        if (groups >= most) assert_int_equal(self->total, real);
        assert_true(self->total < real + shape.group);
        if (self->total < most) {
            sliding_add(self, &shape, now);
            times[count] = now;
            removed[count++] = false;
        }
        if (count && groups >= most && !random_below(&random, 10)) {
            size_t undone = count - 1 - random_below(&random, count < 3 ? count : 3);
            if (!removed[undone]) sliding_remove(self, &shape, times[undone], now);
            removed[undone] = true;
        }
    }
    test_free(self);
}

TEST(it_is_never_too_low)
{
    compare(1, 32);
    compare(7, 32);
    compare(32, 32);
    compare(100, 32);
    compare(64, 8);
}

/* More than the limit, as after a limit was lowered: the oldest join, and none is lost too early. */
TEST(more_than_the_limit)
{
    sliding_shape shape = sliding_shape_of(3, 100, 32);
    sliding_count *self = test_calloc(1, sliding_size(&shape));
    for (int64_t now = 1; now <= 10; now++) sliding_add(self, &shape, now);
    assert_int_equal(self->total, 10);
    sliding_expire(self, &shape, 107); /* 1 to 8 are one group */
    assert_int_equal(self->total, 10);
    sliding_expire(self, &shape, 108);
    assert_int_equal(self->total, 2);
    test_free(self);
}
