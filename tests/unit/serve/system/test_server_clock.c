#include "serve/system/server_clock.h"
#include "support.h"

static const int64_t SECOND = 1000000, MINUTE = 60000000, HOUR = 3600000000, DAY = 86400000000;

/* A clock, and the two that it is given. */
typedef struct stage {
    server_clock clock;
    int64_t wall, real;
} stage;

static stage start(int64_t wall)
{
    return (stage){server_clock_start(0, 0, wall, 7), wall, 7};
}

/* Both clocks go on, read once a second. */
static int64_t pass(stage *self, int64_t microseconds)
{
    int64_t now = self->clock.time;
    for (int64_t left = microseconds; left > 0; left -= SECOND) {
        int64_t step = left < SECOND ? left : SECOND;
        self->wall += step;
        self->real += step;
        now = server_clock_at(&self->clock, self->wall, self->real);
    }
    return now;
}

static int64_t wall_time(const stage *self)
{
    return self->clock.time - self->clock.ahead;
}

TEST(follows_the_clock)
{
    stage on = start(100 * SECOND);
    for (int64_t i = 1; i < 1000; i++) assert_int_equal(pass(&on, 1000), 100 * SECOND + i * 1000);
    assert_false(on.clock.in_doubt);
}

TEST(starts_no_earlier_than_it_ever_was)
{
    server_clock clock = server_clock_start(200 * SECOND, 0, 100 * SECOND, 0);
    assert_int_equal(server_clock_at(&clock, 100 * SECOND, 0), 200 * SECOND);
    /* nine tenths of the real time, until the system's clock has come up */
    assert_int_equal(server_clock_at(&clock, 110 * SECOND, 10 * SECOND), 209 * SECOND);
    /* a clock that was corrected before: its time is log time minus 50 seconds */
    clock = server_clock_start(200 * SECOND, 50 * SECOND, 170 * SECOND, 0);
    assert_int_equal(server_clock_at(&clock, 170 * SECOND, 0), 220 * SECOND);
}

/* NTP corrects by seconds, and that is no jump: the clock runs 10% faster or slower. */
TEST(small_steps_are_taken_in_slowly)
{
    const int64_t steps[] = {2 * SECOND, -2 * SECOND, 4 * MINUTE, -4 * MINUTE, 5 * MINUTE, -5 * MINUTE};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        stage on = start(1000 * SECOND);
        on.wall += steps[i];
        int64_t size = steps[i] < 0 ? -steps[i] : steps[i], half = 5 * size;
        assert_int_equal(pass(&on, half), 1000 * SECOND + half + (steps[i] < 0 ? -half / 10 : half / 10));
        assert_int_equal(on.clock.difference, steps[i] / 2);
        pass(&on, half + SECOND);
        assert_int_equal(on.clock.time, on.wall);
        assert_true(!on.clock.in_doubt && on.clock.ahead == 0);
    }
}

/* 400 days, an hour as by a wrong time zone, either way: time goes on as if nothing had happened. */
TEST(a_jump_is_not_followed)
{
    const int64_t jumps[] = {400 * DAY, HOUR, -HOUR, -400 * DAY, 5 * MINUTE + 1, -5 * MINUTE - 1};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        stage on = start(1000 * DAY);
        on.wall += jumps[i];
        assert_int_equal(pass(&on, HOUR), 1000 * DAY + HOUR);
        assert_true(on.clock.in_doubt && on.clock.difference == jumps[i]);
        on.wall -= jumps[i]; /* it comes back */
        assert_int_equal(pass(&on, SECOND), 1000 * DAY + HOUR + SECOND);
        assert_false(on.clock.in_doubt);
    }
}

/* CLOCK_BOOTTIME counts a suspended machine: both clocks have moved. */
TEST(a_suspended_machine_is_no_jump)
{
    stage on = start(1000 * DAY);
    on.wall += 3 * DAY;
    on.real += 3 * DAY;
    assert_int_equal(pass(&on, SECOND), 1003 * DAY + SECOND);
    assert_false(on.clock.in_doubt);
}

TEST(a_steady_clock_is_accepted)
{
    stage on = start(1000 * DAY);
    on.wall += 400 * DAY;
    pass(&on, 30 * MINUTE);
    on.wall -= 200 * DAY; /* another jump: it begins again */
    pass(&on, SECOND + CLOCK_STEADY - SECOND);
    assert_true(on.clock.in_doubt);
    int64_t before = on.clock.time;
    pass(&on, SECOND);
    assert_false(on.clock.in_doubt);
    assert_int_equal(on.clock.time, before + SECOND + 1); /* no wait is shorter for it */
    assert_int_equal(wall_time(&on), on.wall);
    on.wall -= 200 * DAY; /* corrected: the times of events go back, and log time does not */
    before = on.clock.time;
    pass(&on, SECOND + CLOCK_STEADY);
    assert_false(on.clock.in_doubt);
    assert_int_equal(on.clock.time, before + SECOND + CLOCK_STEADY + 1);
    assert_int_equal(wall_time(&on), on.wall);
}

TEST(a_jump_can_be_accepted)
{
    stage on = start(1000 * DAY);
    on.wall += 40 * DAY;
    pass(&on, SECOND);
    assert_false(server_clock_accept(&on.clock, CLOCK_REFUSED));
    assert_true(on.clock.in_doubt);
    assert_true(server_clock_accept(&on.clock, CLOCK_ELAPSED));
    assert_int_equal(on.clock.time, 1040 * DAY + SECOND);
    assert_int_equal(on.clock.ahead, 0);
    on.wall -= 40 * DAY;
    pass(&on, SECOND);
    assert_false(server_clock_accept(&on.clock, CLOCK_ELAPSED)); /* time does not pass backwards */
    assert_true(server_clock_accept(&on.clock, CLOCK_CORRECTED));
    assert_int_equal(on.clock.time, 1040 * DAY + 2 * SECOND + 1);
    assert_int_equal(wall_time(&on), on.wall);
    pass(&on, MINUTE);
    assert_int_equal(wall_time(&on), on.wall);
}

TEST(a_doubt_outlives_a_restart)
{
    stage on = {.wall = 1400 * DAY, .real = 5};
    on.clock = server_clock_start_in_doubt(1000 * DAY, 0, on.wall, on.real);
    assert_int_equal(pass(&on, CLOCK_STEADY - SECOND), 1000 * DAY + CLOCK_STEADY - SECOND);
    assert_true(on.clock.in_doubt);
    pass(&on, SECOND);
    assert_true(!on.clock.in_doubt && wall_time(&on) == on.wall);
}

/* Log time never goes back and is never off by more than 10%, whatever the wall clock says. */
TEST(never_goes_back)
{
    server_clock clock = server_clock_start(0, 0, 0, 0);
    int64_t last = 0;
    uint64_t noise = 1;
    for (int64_t real = 0; real < 50000 * SECOND; real += SECOND) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        int64_t size = real < 20000 * SECOND ? 24 : 33; /* hours; minutes, which it follows in part */
        int64_t wall = real + (int64_t)(noise >> size) - ((int64_t)1 << (63 - size));
        int64_t now = server_clock_at(&clock, wall, real);
        assert_true(now >= last && now - last <= 1100001 && (!real || now - last >= 900000));
        last = now;
    }
}
