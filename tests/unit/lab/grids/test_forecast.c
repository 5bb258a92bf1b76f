/* How long runs take, and how much of them is left: by hand. */
#include "lab/grids/forecast.h"

#include <math.h>

#include "base/memory.h"
#include "lab/sharing/usual_pace.h"
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

static void learn(pace *known, pace_setting what, double work, double seconds)
{
    ok(pace_learn(known, &what, work, seconds, NULL));
}

static void assert_seconds(const pace *known, pace_setting what, double rounds, double expected)
{
    double got = pace_seconds(known, &what, rounds);
    if (!(fabs(got - expected) < 1e-9)) fail_msg("got %g seconds, expected %g", got, expected);
}

/* The nearest that is known tells: the setting, the policy on the data set, the policy, all. */
TEST(the_nearest_tells)
{
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
TEST(nothing_is_learned_from_nothing)
{
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

/* How much longer the slow ones take, as far as nobody has seen one. */
static double usual_ratio(void)
{
    return usual_pace_seconds(&jobs[2]) / usual_pace_seconds(&jobs[0]);
}

static void end_run(forecast *ahead, size_t place, double seconds, bool read)
{
    run_result result = {.finished = true, .rounds = ROUNDS, .seconds = seconds};
    ok(forecast_end(ahead, place, &result, read, NULL));
}

static run_standing tell(forecast *ahead, double seconds, size_t ended, const run_playing *runs, size_t running)
{
    run_standing now = {
        .jobs = JOBS, .ended = ended, .seconds = seconds, .runs = runs, .running = running, .share = 0.0, .left = NAN};
    forecast_tell(ahead, &now);
    return now;
}

TEST(policies_differ)
{
    make_jobs();
    forecast ahead;
    ok(forecast_start(jobs, JOBS, 1, &ahead, NULL));
    assert_true(isnan(tell(&ahead, 0.0, 0, NULL, 0).left)); /* nothing is known */

    /* Half of the first run took 1 second: of the slow policy only what is usual is known. */
    run_playing first = {&jobs[0], ROUNDS / 2, 1.0};
    run_standing now = tell(&ahead, 1.0, 0, &first, 1);
    double left = 1.0 + 2.0 + 4.0 * usual_ratio(), share = 1.0 / (1.0 + left);
    assert_close(now.left, left, 1e-9);
    assert_close(now.share, share, 1e-9);

    /* Both quick ones have ended, the slow one has played a tenth in 10 seconds. */
    end_run(&ahead, 0, 2.0, false);
    end_run(&ahead, 1, 2.0, false);
    run_playing slow = {&jobs[2], ROUNDS / 10, 10.0};
    now = tell(&ahead, 14.0, 2, &slow, 1);
    assert_close(now.left, 90.0 + 100.0, 1e-9);
    assert_close(now.share, 1.0 - (1.0 - share) * 190.0 / (190.0 + 13.0), 1e-9); /* it goes on, and never back */

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
TEST(a_first_round_that_is_long)
{
    make_jobs();
    forecast ahead;
    ok(forecast_start(jobs, JOBS, 1, &ahead, NULL));
    end_run(&ahead, 0, 0.001, false);
    end_run(&ahead, 1, 0.001, false);
    run_playing slow = {&jobs[2], 0, 0.0};
    double before = tell(&ahead, 0.002, 2, &slow, 1).share;
    assert_close(before, 1.0 / (1.0 + usual_ratio()), 1e-9);
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
TEST(on_two_threads)
{
    make_jobs();
    forecast ahead;
    ok(forecast_start(jobs, JOBS, 2, &ahead, NULL));
    end_run(&ahead, 0, 2.0, false);
    run_playing runs[2] = {{&jobs[1], ROUNDS / 2, 1.0}, {&jobs[2], ROUNDS / 2, 50.0}};
    assert_close(tell(&ahead, 1.0, 1, runs, 2).left, 100.0, 1e-9); /* of 1 + 50 + 100 */
    run_playing both[2] = {{&jobs[3], ROUNDS / 2, 50.0}, {&jobs[2], ROUNDS / 2, 50.0}};
    end_run(&ahead, 1, 2.0, false);
    assert_close(tell(&ahead, 1.0, 2, both, 2).left, 50.0, 1e-9);
    forecast_release(&ahead);
}

/* What an earlier call has played is done, and its pace is known. */
TEST(what_was_read_is_done)
{
    make_jobs();
    forecast ahead;
    ok(forecast_start(jobs, JOBS, 1, &ahead, NULL));
    pace_setting slow = setting(data, "eenet", NULL), quick = setting(data, "uniform", NULL);
    learn(&ahead.known, slow, usual_pace_seconds(&jobs[2]), 100.0);
    learn(&ahead.known, quick, usual_pace_seconds(&jobs[0]), 1.0);
    end_run(&ahead, 2, 100.0, true);
    run_playing first = {&jobs[0], 0, 0.0};
    run_standing now = tell(&ahead, 0.1, 1, &first, 1);
    assert_close(now.left, 1.0 + 1.0 + 100.0, 1e-9);
    assert_close(now.share, 100.0 / 202.0, 1e-9);
    forecast_release(&ahead);
}

/* A policy is as much slower than usual on another data set, and in longer runs, as on the one where it was seen. */
TEST(other_data_and_longer_runs)
{
    run_job both[] = {{.data = data, .policy = "kernelucb", .rounds = 100},
                      {.data = other, .policy = "kernelucb", .rounds = 900}};
    forecast ahead;
    ok(forecast_start(both, 2, 1, &ahead, NULL));
    assert_close(forecast_seconds(&ahead, 1), usual_pace_seconds(&both[1]), 1e-12); /* nothing is known */
    run_result result = {.finished = true, .rounds = 100, .seconds = 3.0 * usual_pace_seconds(&both[0])};
    ok(forecast_end(&ahead, 0, &result, false, NULL));
    double whole = 3.0 * usual_pace_seconds(&both[1]);
    assert_close(forecast_seconds(&ahead, 1), whole, 1e-9);
    assert_close(tell(&ahead, 0.0, 1, NULL, 0).left, whole, 1e-9);

    /* A third of its rounds is less than a third of its work. */
    run_job third = both[1];
    third.rounds = 300;
    double played = usual_pace_seconds(&third);
    run_playing second = {&both[1], 300, played};
    assert_close(tell(&ahead, 0.1, 1, &second, 1).left, usual_pace_seconds(&both[1]) - played, 1e-9);
    assert_true(played < usual_pace_seconds(&both[1]) / 9.0);
    forecast_release(&ahead);
}

/* A run that failed before its first round says nothing. */
TEST(a_run_without_rounds)
{
    make_jobs();
    forecast ahead;
    ok(forecast_start(jobs, JOBS, 1, &ahead, NULL));
    run_result failed = {.status = EE_DIVERGED, .seconds = 5.0};
    ok(forecast_end(&ahead, 0, &failed, false, NULL));
    assert_true(isnan(tell(&ahead, 0.0, 1, NULL, 0).left));
    forecast_release(&ahead);
}

/* Where others use the machine too, seconds on the wall are more than those of the processor. */
TEST(a_loaded_machine)
{
    make_jobs();
    forecast ahead;
    ok(forecast_start(jobs, JOBS, 1, &ahead, NULL));
    end_run(&ahead, 0, 2.0, true);
    end_run(&ahead, 1, 2.0, true);
    end_run(&ahead, 2, 2.0, true);
    run_playing last = {&jobs[3], ROUNDS / 4, 1.0};
    assert_close(tell(&ahead, 4.0, 3, &last, 1).left, 4.0 * 3.0, 1e-9);
    forecast_release(&ahead);
}

TEST_GROUP(set_up, tear_down)
