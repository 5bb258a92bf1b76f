/* How long runs take, and how much of them is left: expected values computed by hand. */
#include "lab/grids/time_left.h"

#include "two_sets.h"

static void learn(run_times *times, const dataset *of, const char *policy, const char *options, uint64_t rounds,
                  double seconds)
{
    stored_run run = {.dataset = dataset_name(of),
                      .fingerprint = dataset_fingerprint(of),
                      .policy = policy,
                      .options = options,
                      .rounds = rounds,
                      .result = {.seconds = seconds}};
    ok(run_times_learn(times, &(stored_runs){&run, 1, 1}, NULL));
}

/* Seconds of one job of 10 rounds, which is then forgotten. */
static double seconds_of(run_times *times, const dataset *of, const char *policy, const char *options, bool any)
{
    double longest;
    size_t place;
    ok(run_times_expect(times, &(run_job){.data = of, .policy = policy, .rounds = 10}, options, &place, NULL));
    double seconds = run_times_left(times, any, &longest);
    assert_true(isnan(seconds) || longest == seconds);
    times->settings[place].unfinished = times->settings[place].longest = 0.0;
    return seconds;
}

/* The most similar runs count: of the setting, of the policy on the data set, of the policy, of all. */
TEST(the_most_similar_runs_count)
{
    RELEASED_BY(run_times_release) run_times times = {0};
    assert_true(isnan(seconds_of(&times, datasets[0], "eenet", "f1.width=100", true)));
    learn(&times, datasets[0], "uniform", "", 100, 1.0);
    assert_close(seconds_of(&times, datasets[0], "eenet", "f1.width=100", true), 0.1, 1e-12);
    assert_true(isnan(seconds_of(&times, datasets[0], "eenet", "f1.width=100", false)));
    learn(&times, datasets[1], "eenet", "", 100, 20.0);
    assert_close(seconds_of(&times, datasets[0], "eenet", "f1.width=100", false), 2.0, 1e-12);
    learn(&times, datasets[0], "eenet", "f1.width=50", 100, 40.0);
    assert_close(seconds_of(&times, datasets[0], "eenet", "f1.width=100", false), 4.0, 1e-12);
    learn(&times, datasets[0], "eenet", "f1.width=20", 10, 2.0); /* a setting counts once, however long it ran */
    assert_close(seconds_of(&times, datasets[0], "eenet", "f1.width=100", false), 3.0, 1e-12);
    learn(&times, datasets[0], "eenet", "f1.width=100", 100, 70.0);
    assert_close(seconds_of(&times, datasets[0], "eenet", "f1.width=100", false), 7.0, 1e-12);
    learn(&times, datasets[0], "eenet", "f1.width=100", 300, 30.0);
    assert_close(seconds_of(&times, datasets[0], "eenet", "f1.width=100", false), 2.5, 1e-12); /* 100 s in 400 rounds */
    assert_close(seconds_of(&times, datasets[0], "uniform", NULL, false), 0.1, 1e-12);
}

/* A round that fills three slots counts as three. */
TEST(slots_are_work)
{
    RELEASED_BY(run_times_release) run_times times = {0};
    run_job job = {.data = datasets[0], .policy = "uniform", .rounds = 10, .slots = 3};
    double longest;
    size_t place;
    learn(&times, datasets[0], "uniform", "", 100, 1.0);
    ok(run_times_expect(&times, &job, "", &place, NULL));
    ok(run_times_expect(&times, &job, "", &place, NULL));
    assert_close(run_times_left(&times, false, &longest), 0.6, 1e-12);
    assert_close(longest, 0.3, 1e-12);
}

enum { JOBS = 4, ROUNDS = 100 };

static run_job jobs[JOBS];
static time_left ahead;

/* Two runs of a fast policy, then two of a slow one. */
static int start(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] =
            (run_job){.data = datasets[0], .policy = i < 2 ? "uniform" : "eenet", .seed = i % 2, .rounds = ROUNDS};
    return time_left_start(jobs, JOBS, &(job_keys){0}, &ahead, NULL);
}

static int release(void **state)
{
    (void)state;
    time_left_release(&ahead);
    return 0;
}

static void end_run(size_t place, double seconds, bool stored)
{
    run_result result = {.finished = true, .rounds = ROUNDS, .seconds = seconds};
    time_left_end(&ahead, place, &result, stored);
}

static run_standing estimate(double seconds, const run_playing *runs, size_t running)
{
    run_standing now = {.jobs = JOBS, .seconds = seconds, .runs = runs, .running = running, .share = 0.0, .left = NAN};
    time_left_estimate(&ahead, &now);
    return now;
}

TEST_WITH(policies_differ, start, release)
{
    assert_true(isnan(estimate(0.0, NULL, 0).left)); /* nothing is known */

    /* Half of the first run took 1 second; the slow policy is taken to be like it. */
    run_playing first = {&jobs[0], ROUNDS / 2, 1.0};
    run_standing now = estimate(1.0, &first, 1);
    assert_close(now.left, 1.0 + 2.0 + 4.0, 1e-9);
    assert_close(now.share, 1.0 / 8.0, 1e-9);

    /* Both fast ones have ended, and a tenth of the slow one took 10 seconds. */
    end_run(0, 2.0, false);
    end_run(1, 2.0, false);
    run_playing slow = {&jobs[2], ROUNDS / 10, 10.0};
    now = estimate(14.0, &slow, 1);
    assert_close(now.left, 90.0 + 100.0, 1e-9);
    assert_close(now.share, 1.0 / 8.0, 1e-9); /* 14 of 204 would be less: it never decreases */

    /* The third has ended, sooner than expected. */
    end_run(2, 60.0, false);
    run_playing last = {&jobs[3], 0, 0.0};
    now = estimate(64.0, &last, 1);
    assert_close(now.left, 60.0 / 101.0 * 100.0, 1e-9); /* its first round has begun */
    assert_close(now.share, 64.0 / (64.0 + now.left), 1e-9);
}

/* Fast ones have ended, and the first round of a slow one takes long: it counts as long as it has taken. */
TEST_WITH(a_first_round_that_is_long, start, release)
{
    end_run(0, 0.001, false);
    end_run(1, 0.001, false);
    for (size_t tenth = 1; tenth <= 100; tenth++) {
        run_playing slow = {&jobs[2], 0, 0.1 * (double)tenth};
        run_standing now = estimate(0.002 + slow.seconds, &slow, 1);
        assert_close(now.left, 2 * ROUNDS * slow.seconds, 0.01 * now.left);
        assert_true(now.share < 0.1);
    }
}

/* With two at a time the rest takes half the time, but no less than the rest of a present run. */
TEST_WITH(two_at_a_time, start, release)
{
    end_run(0, 2.0, false);
    run_playing runs[2] = {{&jobs[1], ROUNDS / 2, 1.0}, {&jobs[2], ROUNDS / 2, 50.0}};
    assert_close(estimate(26.5, runs, 2).left, (1.0 + 50.0 + 100.0) / 2.0, 1e-9);
    end_run(1, 2.0, false);
    run_playing both[2] = {{&jobs[3], ROUNDS / 2, 50.0}, {&jobs[2], 4 * ROUNDS / 5, 80.0}};
    assert_close(estimate(67.0, both, 2).left, 50.0, 1e-9); /* not (50 + 20) / 2 */
}

/* Stored runs are done, and how long they took is known from the folder. */
TEST_WITH(stored_runs_are_done, start, release)
{
    learn(&ahead.times, datasets[0], "eenet", "", ROUNDS, 100.0);
    learn(&ahead.times, datasets[0], "uniform", "", ROUNDS, 1.0);
    end_run(2, 100.0, true);
    run_standing now = estimate(0.0, NULL, 0);
    assert_true(isnan(now.left)); /* nothing ran yet, so the speed of this machine is unknown */
    assert_close(now.share, 100.0 / 202.0, 1e-9);
    run_playing first = {&jobs[0], ROUNDS / 2, 0.5};
    now = estimate(0.5, &first, 1);
    assert_close(now.left, 0.5 + 1.0 + 100.0, 1e-9);
}

/* A run that failed before its first round says nothing. */
TEST_WITH(a_run_without_rounds, start, release)
{
    run_result failed = {.status = EE_DIVERGED, .seconds = 5.0};
    time_left_end(&ahead, 0, &failed, false);
    assert_true(isnan(estimate(5.0, NULL, 0).left));
}

/* On a busy machine, wall-clock seconds are more than processor seconds. */
TEST_WITH(a_busy_machine, start, release)
{
    for (size_t i = 0; i < 3; i++) end_run(i, 2.0, true);
    run_playing last = {&jobs[3], ROUNDS / 4, 1.0};
    assert_close(estimate(4.0, &last, 1).left, 4.0 * 3.0, 1e-9);
}

/* With keys, jobs match stored runs by every option, not by those that were set. */
TEST(jobs_match_stored_runs)
{
    run_job job = {.data = datasets[0], .policy = "linucb", .options = "alpha=0.1", .rounds = ROUNDS};
    RELEASED_BY(job_keys_release) job_keys keys;
    ok(job_keys_create(&job, 1, &keys, NULL));
    ok(time_left_start(&job, 1, &keys, &ahead, NULL));
    learn(&ahead.times, datasets[0], "linucb", keys.keys[0].options, ROUNDS, 7.0);
    learn(&ahead.times, datasets[0], "linucb", "alpha=0.1", ROUNDS, 1.0);
    double longest;
    assert_close(run_times_left(&ahead.times, false, &longest), 7.0, 1e-12);
    time_left_release(&ahead);
}

TEST_GROUP(open_datasets, close_datasets)
