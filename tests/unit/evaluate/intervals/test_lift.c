/* The lift of treated people: its means are balanced whatever happens over time, nothing is said too early, and neither
 * outliers nor groups without events mislead it. Its level is checked in test_guardrail_study. */
#include "evaluate/intervals/lift.h"

#include "base/random.h"
#include "support.h"

static lift compared;

static int start(void **unused)
{
    (void)unused;
    compared = (lift){0};
    return 0;
}

/* Values depend on time alone, and shares change with time: plain means would differ by several units. */
TEST_WITH(a_trend_is_not_a_lift, start, NULL)
{
    enum { PEOPLE = 200 };
    for (size_t t = 0; t < 50; t++) {
        size_t treated = t < 10 ? 2 : t < 30 ? 50 : 190;
        for (size_t i = 0; i < PEOPLE; i++) lift_add(&compared, i, i < treated, (double)treated / PEOPLE, (double)t);
    }
    lift_estimate now = lift_now(&compared, 0.05);
    assert_close(now.lift, 0.0, 1e-9);
    assert_close(now.treated.mean, now.control.mean, 1e-9);
    assert_int_equal(now.treated.decisions + now.control.decisions, 50 * PEOPLE);
}

TEST_WITH(weights_are_those_of_the_other_group, start, NULL)
{
    lift_add(&compared, 1, true, 0.25, 4.0);
    lift_add(&compared, 2, true, 0.5, 1.0);
    lift_add(&compared, 3, false, 0.25, 2.0);
    lift_add(&compared, 4, false, 0.75, 6.0);
    lift_estimate now = lift_now(&compared, 0.05);
    assert_close(now.treated.mean, (0.75 * 4.0 + 0.5 * 1.0) / 1.25, 1e-12);
    assert_close(now.control.mean, (0.25 * 2.0 + 0.75 * 6.0) / 1.0, 1e-12);
    assert_close(now.relative, now.lift / 5.0, 1e-12);
}

TEST_WITH(what_cannot_be_compared_is_ignored, start, NULL)
{
    lift before = compared;
    lift_add(&compared, 1, true, 1.0, 3.0);
    lift_add(&compared, 1, false, 0.0, 3.0);
    lift_add(&compared, 1, true, 0.5, NAN);
    lift_add(&compared, 1, true, 0.5, INFINITY);
    assert_memory_equal(&compared, &before, sizeof compared);
    assert_true(isnan(lift_now(&compared, 0.05).lift));
    assert_true(lift_log_wealth(&compared, 0.0, false) == 0.0);
}

TEST_WITH(people_are_counted_once, start, NULL)
{
    for (uint64_t i = 0; i < 300000; i++) {
        lift_add(&compared, i % 100, true, 0.5, 1.0);
        lift_add(&compared, i % 30000, false, 0.5, 1.0);
    }
    lift_estimate now = lift_now(&compared, 0.05);
    assert_true(fabs(now.treated.people - 100.0) < 10.0);
    assert_true(fabs(now.control.people - 30000.0) < 3000.0);
}

/* People of both groups with these rates of events. */
static void fill(size_t from, size_t people, double share, double treated_rate, double control_rate, double value)
{
    random_stream random = random_named(from, "lift");
    for (size_t i = from; i < from + people; i++) {
        bool treated = random_unit(&random) < share;
        bool event = random_unit(&random) < (treated ? treated_rate : control_rate);
        lift_add(&compared, i, treated, share, event ? value : 0.0);
    }
}

TEST_WITH(nothing_is_said_of_few_people, start, NULL)
{
    for (uint64_t i = 0; i < 100000; i++) lift_add(&compared, i % 60, i % 2, 0.5, i % 2 ? 1.0 + (double)(i % 3) : 0.1);
    assert_true(lift_log_wealth(&compared, 0.0, false) == 0.0);
    assert_true(isnan(lift_now(&compared, 0.05).interval.low));
}

/* Everybody of a group has the same value: there is no variance, but the difference is plain. */
TEST_WITH(constants_are_compared, start, NULL)
{
    for (uint64_t i = 0; i < 200; i++) lift_add(&compared, i, i % 2, 0.5, i % 2 ? 0.0 : 0.1);
    assert_true(lift_violation(&compared, 0.1, true, 0.01) == 1.0);
    assert_true(lift_violation(&compared, 0.1, false, 0.01) == 0.0);
    compared = (lift){0};
    for (uint64_t i = 0; i < 200; i++) lift_add(&compared, i, i % 2, 0.5, 0.1);
    assert_true(lift_violation(&compared, 0.1, true, 0.01) < 0.5 && lift_violation(&compared, 0.1, false, 0.01) < 0.5);
}

TEST_WITH(harm_is_found_and_the_interval_says_how_much, start, NULL)
{
    fill(1, 40000, 0.25, 0.3, 0.2, 1.0);
    lift_estimate now = lift_now(&compared, 0.05);
    assert_true(now.interval.low > 0.07 && now.interval.low < 0.1 && now.interval.high > 0.1 &&
                now.interval.high < 0.13);
    assert_true(now.relative_interval.low > 0.35 && now.relative_interval.low < 0.5);
    assert_true(now.relative_interval.high > 0.5 && now.relative_interval.high < 0.65);
    assert_true(lift_violation(&compared, 0.1, false, 0.05) == 1.0);
    assert_true(lift_violation(&compared, 0.1, true, 0.05) == 0.0);
    assert_true(lift_violation(&compared, 0.6, false, 0.05) < 0.5);
}

/* The margin is a share of the absolute control mean: of costs counted as negative rewards too. */
TEST_WITH(bounds_hold_for_negative_values, start, NULL)
{
    fill(1, 40000, 0.5, 0.3, 0.3, -1.0);
    assert_true(lift_violation(&compared, 0.1, true, 0.05) < 0.5 && lift_violation(&compared, 0.1, false, 0.05) < 0.5);
    compared = (lift){0};
    fill(1, 40000, 0.5, 0.45, 0.3, -1.0); /* 50% below */
    assert_true(lift_violation(&compared, 0.1, true, 0.05) == 1.0);
    assert_true(lift_violation(&compared, 0.1, false, 0.05) == 0.0);
    assert_true(lift_violation(&compared, 0.6, true, 0.05) < 0.5);
    compared = (lift){0};
    fill(1, 40000, 0.5, 0.15, 0.3, -1.0); /* 50% above */
    assert_true(lift_violation(&compared, 0.1, false, 0.05) == 1.0);
    assert_true(lift_violation(&compared, 0.1, true, 0.05) == 0.0);
    assert_true(lift_violation(&compared, 0.6, false, 0.05) < 0.5);
}

/* No share of a mean of zero is more than zero, so every difference is beyond the margin, but not in both directions.
 */
TEST_WITH(a_bound_on_a_mean_of_zero_is_violated_by_a_difference, start, NULL)
{
    random_stream random = random_named(2, "zero");
    for (uint64_t i = 0; i < 40000; i++)
        lift_add(&compared, i, i % 2, 0.5, random_normal(&random) + (i % 2 ? 0.2 : 0.0));
    assert_true(lift_violation(&compared, 0.1, false, 0.05) == 1.0);
    assert_true(lift_violation(&compared, 0.1, true, 0.05) == 0.0);
}

TEST_WITH(the_relative_interval_turns_with_the_sign, start, NULL)
{
    fill(1, 40000, 0.5, 0.3, 0.2, 1.0);
    lift_estimate up = lift_now(&compared, 0.05);
    compared = (lift){0};
    fill(1, 40000, 0.5, 0.3, 0.2, -1.0);
    lift_estimate down = lift_now(&compared, 0.05);
    assert_close(down.relative, -up.relative, 1e-12);
    assert_close(down.relative_interval.low, -up.relative_interval.high, 1e-9);
    assert_close(down.relative_interval.high, -up.relative_interval.low, 1e-9);
}

TEST_WITH(no_relative_interval_around_a_mean_of_zero, start, NULL)
{
    random_stream random = random_named(1, "zero");
    for (uint64_t i = 0; i < 20000; i++) lift_add(&compared, i, i % 2, 0.5, random_normal(&random));
    lift_estimate now = lift_now(&compared, 0.05);
    assert_true(now.interval.low < 0.0 && now.interval.high > 0.0);
    assert_true(isnan(now.relative_interval.low));
}

/* A treatment that stops all events: its own variance is 0, so it is taken from the others. */
TEST_WITH(a_group_without_events_is_noticed_but_not_at_once, start, NULL)
{
    fill(1, 12000, 0.01, 0.0, 0.05, 1.0); /* six events missing */
    assert_true(lift_violation(&compared, 0.1, true, 0.05) < 1.0);
    assert_true(lift_now(&compared, 0.05).interval.high > 0.0);
    fill(12001, 100000, 0.01, 0.0, 0.05, 1.0);
    assert_true(lift_violation(&compared, 0.1, true, 0.05) == 1.0);
    assert_true(lift_now(&compared, 0.05).interval.high < 0.0);
}

TEST_WITH(one_outlier_raises_no_alarm_and_a_range_keeps_it_from_hiding_one, start, NULL)
{
    fill(1, 20000, 0.25, 0.2, 0.2, 1.0);
    lift_add(&compared, 1000000, true, 0.25, 1e6);
    assert_true(lift_violation(&compared, 0.0, false, 0.05) < 1.0);
    assert_true(lift_now(&compared, 0.05).largest > 0.9);
    for (int clipped = 0; clipped < 2; clipped++) {
        compared = clipped ? lift_start(0.0, 2.0) : (lift){0};
        fill(1, 40000, 0.25, 0.3, 0.2, 1.0);
        lift_add(&compared, 1000000, true, 0.25, 1e6);
        assert_int_equal(lift_violation(&compared, 0.1, false, 0.05) == 1.0, clipped);
    }
}

TEST_WITH(it_is_archived, start, NULL)
{
    compared = lift_start(-1.0, 5.0);
    fill(1, 3000, 0.25, 0.3, 0.2, 1.0);
    archive writer = archive_writer(NULL);
    lift_archive(&writer, &compared);
    ok(writer.status);
    lift copy = {0};
    archive reader = archive_reader(writer.bytes, writer.size, NULL);
    lift_archive(&reader, &copy);
    ok(reader.status);
    assert_int_equal(archive_remaining(&reader), 0);
    assert_true(lift_log_wealth(&copy, 0.1, false) == lift_log_wealth(&compared, 0.1, false));
    lift_add(&copy, 7, true, 0.5, 9.0);
    lift_add(&compared, 7, true, 0.5, 9.0);
    assert_memory_equal(&copy, &compared, sizeof compared);
    reader = archive_reader(writer.bytes, writer.size - 1, NULL);
    lift_archive(&reader, &copy);
    assert_true(reader.status != EE_OK);
    memory_free(writer.bytes);
}

/* Log-normal values and a control group of 5%. Without the rule about effective people 13 of 100 raise an alarm, and
 * without the one about people too, 41. */
TEST_WITH(skewed_values_cause_no_false_alarms, start, NULL)
{
    enum { TRIALS = 100 };
    size_t alarms = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        random_stream random = random_named(trial, "skewed");
        bool alarm = false;
        compared = (lift){0};
        for (uint64_t i = 0; i < 4000 && !alarm; i++) {
            bool treated = random_unit(&random) < 0.95;
            lift_add(&compared, i, treated, 0.95, exp(1.5 * random_normal(&random)));
            alarm = i % 5 == 0 && lift_violation(&compared, 0.0, false, 0.05) == 1.0;
        }
        alarms += alarm;
    }
    assert_true(alarms <= TRIALS / 20);
}

/* At the margin, which is the hardest harmless case, for means of either sign and of zero, with a look after every
 * tenth decision; in the last row the groups are equal. */
TEST_WITH(harmless_bandits_of_either_sign_raise_few_alarms, start, NULL)
{
    enum { TRIALS = 40 };
    static const struct {
        double mean, margin;
        bool below;
    } rows[] = {{-1.0, 0.1, true}, {-1.0, 0.1, false}, {0.0, 0.1, true},
                {0.0, 0.1, false}, {0.05, 0.5, true},  {-1.0, 0.1, true}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bool at_margin = r + 1 < sizeof rows / sizeof *rows; /* the last row: no difference */
        double beyond = at_margin ? rows[r].margin * fabs(rows[r].mean) * (rows[r].below ? -1.0 : 1.0) : 0.0;
        size_t alarms = 0;
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            random_stream random = random_named(trial, "signs");
            bool alarm = false;
            compared = (lift){0};
            for (uint64_t i = 0; i < 6000 && !alarm; i++) {
                bool treated = random_unit(&random) < 0.5;
                lift_add(&compared, i, treated, 0.5,
                         rows[r].mean + (treated ? beyond : 0.0) + 0.3 * random_normal(&random));
                alarm = i % 10 == 0 && lift_violation(&compared, rows[r].margin, rows[r].below, 0.05) == 1.0;
            }
            alarms += alarm;
        }
        assert_true(alarms <= TRIALS / 20);
    }
}
