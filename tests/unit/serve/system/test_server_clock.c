#include "serve/system/server_clock.h"
#include "support.h"

static const int64_t SECOND = 1000000;

static void follows_the_clock(void **state)
{
    (void)state;
    server_clock clock = server_clock_start(0, 100 * SECOND, 7);
    for (int64_t i = 1; i < 1000; i++)
        assert_int_equal(server_clock_at(&clock, 100 * SECOND + i * 1000, 7 + i * 1000), 100 * SECOND + i * 1000);
}

static void starts_no_earlier_than_it_ever_was(void **state)
{
    (void)state;
    server_clock clock = server_clock_start(200 * SECOND, 100 * SECOND, 0);
    assert_int_equal(server_clock_at(&clock, 100 * SECOND, 0), 200 * SECOND);
    /* nine tenths of the real time, until the system's clock has come up */
    assert_int_equal(server_clock_at(&clock, 110 * SECOND, 10 * SECOND), 209 * SECOND);
}

static void a_jump_is_taken_in_slowly(void **state)
{
    (void)state;
    server_clock clock = server_clock_start(0, 1000 * SECOND, 0);
    /* forward an hour: ten seconds later it is eleven */
    assert_int_equal(server_clock_at(&clock, 4610 * SECOND, 10 * SECOND), 1011 * SECOND);
    /* back to what is right: ten seconds later it is nine, within a tenth of the truth */
    assert_int_equal(server_clock_at(&clock, 1020 * SECOND, 20 * SECOND), 1020 * SECOND);
    assert_int_equal(server_clock_at(&clock, 0, 30 * SECOND), 1029 * SECOND);
}

static void never_goes_back(void **state)
{
    (void)state;
    server_clock clock = server_clock_start(0, 0, 0);
    int64_t last = 0;
    uint64_t noise = 1;
    for (int64_t real = 0; real < 5000 * SECOND; real += SECOND) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        int64_t wall = (int64_t)(noise >> 24) - ((int64_t)1 << 39);
        int64_t now = server_clock_at(&clock, wall, real);
        assert_true(now >= last && now - last <= 1100000 && (!real || now - last >= 900000));
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_clock),
        cmocka_unit_test(starts_no_earlier_than_it_ever_was),
        cmocka_unit_test(a_jump_is_taken_in_slowly),
        cmocka_unit_test(never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
