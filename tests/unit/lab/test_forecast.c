/* How long runs take, and how much of them is left: by hand. */
#include "lab/forecast.h"

#include <math.h>

#include "base/memory.h"
#include "support.h"

static dataset *data, *other;

static int set_up(void **state)
{
    (void)state;
    ee_status status = dataset_open("synthetic:inner,dim=3,arms=2", NULL, &data, NULL);
    return status || dataset_open("synthetic:inner,dim=4,arms=2", NULL, &other, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    dataset_free(data);
    dataset_free(other);
    return 0;
}

static pace_setting setting(const dataset *of, const char *policy, const char *options)
{
    return pace_setting_of_job(&(run_job){.data = of, .policy = policy, .options = options});
}

static void learn(pace *known, pace_setting what, uint64_t rounds, double seconds)
{
    assert_int_equal(pace_learn(known, &what, (double)rounds, seconds, NULL), EE_OK);
}

static void assert_seconds(const pace *known, pace_setting what, double rounds, double expected)
{
    double got = pace_seconds(known, &what, rounds);
    if (!(fabs(got - expected) < 1e-9)) fail_msg("got %g seconds, expected %g", got, expected);
}

/* The nearest that is known tells: the setting, the policy on the data set, the policy, all. */
static void the_nearest_tells(void **state)
{
    (void)state;
    pace known = {0};
    pace_setting slow = setting(data, "eenet", "f1.width=100"), wide = setting(data, "eenet", "f1.width=50");
    assert_true(isnan(pace_seconds(&known, &slow, 10.0)));
    learn(&known, setting(data, "uniform", NULL), 100, 1.0);
    assert_seconds(&known, slow, 10.0, 0.1);
    learn(&known, setting(other, "eenet", NULL), 100, 20.0);
    assert_seconds(&known, slow, 10.0, 2.0);
    learn(&known, wide, 100, 40.0);
    assert_seconds(&known, slow, 10.0, 4.0);
    learn(&known, setting(data, "eenet", "f1.width=20"), 10, 2.0);
    assert_seconds(&known, slow, 10.0, 3.0); /* a setting counts once, however long it was played */
    learn(&known, slow, 100, 70.0);
    assert_seconds(&known, slow, 10.0, 7.0);
    learn(&known, slow, 300, 30.0);
    assert_seconds(&known, slow, 10.0, 2.5); /* 100 seconds in 400 rounds */
    assert_seconds(&known, setting(data, "uniform", ""), 10.0, 0.1);
    pace_release(&known);
}

/* What has no rounds, or took no time that could be measured, tells nothing. */
static void nothing_is_learned_from_nothing(void **state)
{
    (void)state;
    pace known = {0};
    pace_setting any = setting(data, "uniform", NULL);
    learn(&known, any, 0, 5.0);
    learn(&known, any, 10, 0.0);
    assert_true(isnan(pace_seconds(&known, &any, 10.0)));
    pace_release(&known);
}

/* ---- what is left ---- */

enum { JOBS = 4, ROUNDS = 100 };

static run_job jobs[JOBS];

/* Two runs of a quick policy, then two of a slow one. */
static void make_jobs(void)
{
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (run_job){.data = data, .policy = i < 2 ? "uniform" : "eenet", .seed = i % 2, .rounds = ROUNDS};
}

static void end_run(forecast *ahead, size_t place, double seconds, bool read)
{
    run_result result = {.finished = true, .rounds = ROUNDS, .seconds = seconds};
    assert_int_equal(forecast_end(ahead, place, &result, read, NULL), EE_OK);
}

static run_standing tell(forecast *ahead, double seconds, size_t ended, const run_playing *runs, size_t running)
{
    run_standing now = {
        .jobs = JOBS, .ended = ended, .seconds = seconds, .runs = runs, .running = running, .share = 0.0, .left = NAN};
    forecast_tell(ahead, &now);
    return now;
}

static void policies_differ(void **state)
{
    (void)state;
    make_jobs();
    forecast ahead;
    assert_int_equal(forecast_start(jobs, JOBS, 1, &ahead, NULL), EE_OK);
    assert_true(isnan(tell(&ahead, 0.0, 0, NULL, 0).left)); /* nothing is known */

    /* Half of the first run took 1 second: nobody knows of the slow policy yet. */
    run_playing first = {&jobs[0], ROUNDS / 2, 1.0};
    run_standing now = tell(&ahead, 1.0, 0, &first, 1);
    assert_close(now.left, 1.0 + 2.0 + 4.0, 1e-9);
    assert_close(now.share, 1.0 / 8.0, 1e-9);

    /* Both quick ones have ended, the slow one has played a tenth in 10 seconds. */
    end_run(&ahead, 0, 2.0, false);
    end_run(&ahead, 1, 2.0, false);
    run_playing slow = {&jobs[2], ROUNDS / 10, 10.0};
    now = tell(&ahead, 14.0, 2, &slow, 1);
    assert_close(now.left, 90.0 + 100.0, 1e-9);
    assert_close(now.share, 1.0 - 7.0 / 8.0 * 190.0 / (190.0 + 13.0), 1e-9); /* it goes on, and never back */

    /* The third has ended, after less than was thought. */
    end_run(&ahead, 2, 60.0, false);
    run_playing last = {&jobs[3], 0, 0.0};
    double before = now.share;
    now = tell(&ahead, 64.0, 3, &last, 1);
    assert_close(now.left, 60.0, 1e-9);
    assert_true(now.share > before && now.share < 1.0);
    forecast_release(&ahead);
}

/* Quick ones have ended, and the first round of a slow one takes long: the bar waits for it. */
static void a_first_round_that_is_long(void **state)
{
    (void)state;
    make_jobs();
    forecast ahead;
    assert_int_equal(forecast_start(jobs, JOBS, 1, &ahead, NULL), EE_OK);
    end_run(&ahead, 0, 0.001, false);
    end_run(&ahead, 1, 0.001, false);
    run_playing slow = {&jobs[2], 0, 0.0};
    double before = tell(&ahead, 0.002, 2, &slow, 1).share;
    assert_close(before, 0.5, 1e-9);
    for (size_t tenth = 1; tenth <= 100; tenth++) {
        slow.seconds = 0.1 * (double)tenth;
        run_standing now = tell(&ahead, 0.002 + slow.seconds, 2, &slow, 1);
        assert_close(now.left, 2 * ROUNDS * slow.seconds, 0.1);
        assert_true(now.share > before && now.share < 0.6);
        before = now.share;
    }
    forecast_release(&ahead);
}

/* On two threads the rest takes half the time, but no less than its longest run. */
static void on_two_threads(void **state)
{
    (void)state;
    make_jobs();
    forecast ahead;
    assert_int_equal(forecast_start(jobs, JOBS, 2, &ahead, NULL), EE_OK);
    end_run(&ahead, 0, 2.0, false);
    run_playing runs[2] = {{&jobs[1], ROUNDS / 2, 1.0}, {&jobs[2], ROUNDS / 2, 50.0}};
    assert_close(tell(&ahead, 1.0, 1, runs, 2).left, 100.0, 1e-9); /* of 1 + 50 + 100 */
    run_playing both[2] = {{&jobs[3], ROUNDS / 2, 50.0}, {&jobs[2], ROUNDS / 2, 50.0}};
    end_run(&ahead, 1, 2.0, false);
    assert_close(tell(&ahead, 1.0, 2, both, 2).left, 50.0, 1e-9);
    forecast_release(&ahead);
}

/* What an earlier call has played is done, and its pace is known. */
static void what_was_read_is_done(void **state)
{
    (void)state;
    make_jobs();
    forecast ahead;
    assert_int_equal(forecast_start(jobs, JOBS, 1, &ahead, NULL), EE_OK);
    pace_setting slow = setting(data, "eenet", NULL), quick = setting(data, "uniform", NULL);
    learn(&ahead.known, slow, ROUNDS, 100.0);
    learn(&ahead.known, quick, ROUNDS, 1.0);
    end_run(&ahead, 2, 100.0, true);
    run_playing first = {&jobs[0], 0, 0.0};
    run_standing now = tell(&ahead, 0.1, 1, &first, 1);
    assert_close(now.left, 1.0 + 1.0 + 100.0, 1e-9);
    assert_close(now.share, 100.0 / 202.0, 1e-9);
    forecast_release(&ahead);
}

/* Where others use the machine too, seconds on the wall are more than those of the processor. */
static void a_loaded_machine(void **state)
{
    (void)state;
    make_jobs();
    forecast ahead;
    assert_int_equal(forecast_start(jobs, JOBS, 1, &ahead, NULL), EE_OK);
    end_run(&ahead, 0, 2.0, true);
    end_run(&ahead, 1, 2.0, true);
    end_run(&ahead, 2, 2.0, true);
    run_playing last = {&jobs[3], ROUNDS / 4, 1.0};
    assert_close(tell(&ahead, 4.0, 3, &last, 1).left, 4.0 * 3.0, 1e-9);
    forecast_release(&ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_tells), cmocka_unit_test(nothing_is_learned_from_nothing),
        cmocka_unit_test(policies_differ),   cmocka_unit_test(a_first_round_that_is_long),
        cmocka_unit_test(on_two_threads),    cmocka_unit_test(what_was_read_is_done),
        cmocka_unit_test(a_loaded_machine),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
