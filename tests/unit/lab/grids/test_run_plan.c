/* Runs and studies are counted before they are played: as many as are then played, with times computed by hand. */
#include "lab/grids/run_plan.h"

#include "data/support_sets.h"
#include "lab/grids/study.h"
#include "lab/results/pending_runs.h"
#include "lab/results/run_keys.h"
#include "support_files.h"
#include "two_sets.h"

static const char *const folder = here.path;

static const uint64_t tuning_seeds[] = {100, 101};

static run_job job_of(size_t place, const char *policy, uint64_t rounds)
{
    return (run_job){.data = datasets[place], .policy = policy, .rounds = rounds};
}

static char *resolve(const run_job *job)
{
    char *options = NULL;
    ok(runner_check(job, &options, NULL));
    return options;
}

/* Writes a run that took this number of seconds. */
static void store(run_job job, uint64_t seed, double seconds)
{
    char line[4096], *options = resolve(&job);
    job.seed = seed;
    run_result result = {.finished = true, .rounds = job.rounds, .seconds = seconds};
    run_report report = {.job = &job, .result = &result, .options = options};
    stored_run run = results_of_report(&report);
    run.curve = "none.npy";
    size_t length = results_format(&run, line, sizeof line);
    assert_true(length < sizeof line);
    FILE *file = fopen(formatted("%s/results.jsonl", folder), "a");
    assert_non_null(file);
    assert_int_equal(fwrite(line, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    memory_free(options);
}

static run_plan start_plan(experiment_site site, size_t workers)
{
    run_plan plan = {0};
    ok(run_plan_start(&site, workers, &plan, NULL));
    return plan;
}

/* Plans three runs of a job, with seeds 0 to 2, as a stage. */
static void add_stage(run_plan *plan, run_job job)
{
    run_job jobs[3];
    run_result results[3];
    for (size_t i = 0; i < 3; i++) {
        jobs[i] = job;
        jobs[i].seed = i;
    }
    ok(run_pool_play(run_plan_pool(plan), jobs, 3, false, NULL, results, NULL));
    for (size_t i = 0; i < 3; i++) assert_true(results[i].finished);
}

TEST_IN_FOLDER(a_stage_ends_before_the_next_begins)
{
    run_job slow = job_of(0, "eenet", 1000), quick = job_of(1, "linucb", 1000);
    store(slow, 7, 10.0);
    store(quick, 7, 1.0);
    slow.tuning = true;
    RELEASED_BY(run_plan_release) run_plan plan = start_plan((experiment_site){.folder = folder}, 2);
    add_stage(&plan, slow);
    add_stage(&plan, quick);
    assert_int_equal(plan.tuning, 3);
    assert_int_equal(plan.final, 3);
    assert_int_equal(plan.stored, 0);
    assert_close(plan.seconds, 3 * 10.0 + 3 * 1.0, 1e-9);
    assert_close(plan.parallel, 15.0 + 1.5, 1e-9);
    assert_close(plan.least, 10.0 + 1.0, 1e-9);
}

/* Without a finished run of a policy there is no estimate, whatever is known of others. */
TEST_IN_FOLDER(finished_runs_determine_the_time)
{
    store(job_of(0, "linucb", 100), 7, 3.0);
    RELEASED_BY(run_plan_release) run_plan plan = start_plan((experiment_site){.folder = folder}, 100);
    add_stage(&plan, job_of(1, "linucb", 300)); /* of the policy on another data set */
    assert_close(plan.seconds, 3 * 9.0, 1e-9);
    assert_close(plan.parallel, 9.0, 1e-9); /* no shorter than a run */
    add_stage(&plan, job_of(0, "uniform", 300));
    assert_true(isnan(plan.seconds));
}

TEST_IN_FOLDER(stored_runs_are_not_played)
{
    run_job job = job_of(0, "linucb", 500), tuning = job;
    tuning.tuning = true;
    store(job, 1, 1.0);
    store(job, 9, 1.0);                      /* no seed of ours */
    store(tuning, 0, 1.0);                   /* does not count */
    store(job_of(0, "linucb", 499), 2, 1.0); /* other rounds */
    store(job_of(1, "linucb", 500), 2, 1.0); /* another data set */
    RELEASED_BY(run_plan_release) run_plan plan = start_plan((experiment_site){.folder = folder}, 1);
    add_stage(&plan, job);
    assert_int_equal(plan.final, 3);
    assert_int_equal(plan.stored, 1);
    assert_close(plan.seconds, 2.0, 0.01);
}

/* Runs in pending/ are stored too, and those of the folder that is only read. Nothing is removed, since another program
 * may be writing. */
TEST_IN_FOLDER(pending_and_known_runs_are_stored)
{
    run_job job = job_of(0, "linucb", 2);
    char waiting[60], half[90], nowhere[60], *options = resolve(&job);
    snprintf(waiting, sizeof waiting, "%s/pending", folder);
    snprintf(half, sizeof half, "%s/0123456789abcdef.run.tmp", waiting);
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", folder);
    ok(file_make_folder(waiting, NULL));
    ok(file_write(half, "half", 4, NULL));
    store(job, 1, 1.0);
    for (uint64_t seed = 1; seed <= 2; seed++) { /* of the first the line is there already */
        job.seed = seed;
        run_result result = {.finished = true, .rounds = 2, .seconds = 1.0};
        stored_run run = results_of_report(&(run_report){.job = &job, .result = &result, .options = options});
        ok(pending_runs_write(waiting, &run, (double[]){0.5, 1.0}, NULL));
    }
    const struct {
        experiment_site site;
        size_t stored;
    } cases[] = {{{.folder = folder}, 2}, {{.folder = nowhere, .known = folder}, 1}, {{.folder = nowhere}, 0}};
    for (size_t i = 0; i < 3; i++) {
        RELEASED_BY(run_plan_release) run_plan plan = start_plan(cases[i].site, 1);
        add_stage(&plan, job);
        assert_int_equal(plan.stored, cases[i].stored);
    }
    assert_false(file_is_missing(half));
    pending_run found = {0};
    job.seed = 1;
    ok(pending_runs_read(waiting, run_keys_of_job(&job, options).run, &found, NULL));
    assert_non_null(found.curve);
    pending_runs_release(&found);
    memory_free(options);
}

static const uint64_t seeds[] = {0, 1, 2};
static const grid_axis rates[] = {{"f1.rate", "0.01,0.02,0.005,0.002"}};
static const grid_policy policies[] = {{"eenet", "f1.width=4 f1.committee=1 recall=0", rates, 1},
                                       {"uniform", NULL, NULL, 0}};

static study_plan plan_of(bool halving)
{
    static const uint64_t rounds[] = {900, 20}; /* the second is too short for the early stages */
    grid_plan grid = {datasets, rounds, 2, policies, 2, tuning_seeds, 2, halving, {0}, 0};
    return (study_plan){grid, seeds, 3, true};
}

static run_plan count_runs(const study_plan *from)
{
    run_plan plan = start_plan((experiment_site){.folder = folder}, 1);
    RELEASED_BY(study_release) study done = {0};
    ok(study_run(from, &(experiment_site){.pool = run_plan_pool(&plan)}, NULL, &done, NULL));
    return plan;
}

typedef struct budget {
    size_t left;
} budget;

static bool spend(void *context, const run_report *report)
{
    budget *own = context;
    if (report->result->finished) own->left--;
    return own->left > 0;
}

static size_t play(const study_plan *plan, size_t runs)
{
    budget own = {runs};
    run_watch watch = {.ended = spend, .context = &own};
    experiment_site site = {.folder = folder, .pool = run_pool_of_threads(1)};
    RELEASED_BY(study_release) study done = {0};
    RELEASED_BY(results_release) stored_runs stored = {0};
    ok(study_run(plan, &site, &watch, &done, NULL));
    ok(results_read(folder, &stored, NULL));
    size_t count = stored.count;
    return count;
}

static void play_as_many_as_were_counted(bool halving)
{
    study_plan plan = plan_of(halving);
    RELEASED_BY(run_plan_release) run_plan counted = count_runs(&plan);
    size_t runs = counted.tuning + counted.final, early = runs - 8;
    /* Four settings on two seeds; with halving 4 and 2 on the first data set. Then two policies and six ablations. */
    assert_int_equal(counted.tuning, 2 * (halving ? 4 + 2 + 4 : 4 + 4));
    assert_int_equal(counted.final, 2 * (2 + 6) * 3);
    assert_int_equal(counted.stored, 0);
    assert_true(isnan(counted.seconds));
    run_plan_release(&counted);
    assert_int_equal(play(&plan, early), early);
    counted = count_runs(&plan);
    assert_int_equal(counted.tuning + counted.final, runs);
    assert_int_equal(counted.stored, early);
    assert_true(counted.seconds > 0.0);
    run_plan_release(&counted);
    assert_int_equal(play(&plan, SIZE_MAX), runs);
    counted = count_runs(&plan);
    assert_int_equal(counted.stored, runs);
    assert_true(counted.seconds == 0.0);
}

TEST_IN_FOLDER(a_study_plays_as_many_as_were_counted)
{
    play_as_many_as_were_counted(false);
}

TEST_IN_FOLDER(halving_plays_as_many_as_were_counted)
{
    play_as_many_as_were_counted(true);
}

TEST(a_setting_that_cannot_start_is_an_error)
{
    const grid_axis axes[] = {{"alpha", "1,-1"}};
    const grid_policy wrong = {"linucb", NULL, axes, 1};
    study_plan from = plan_of(false);
    from.grid.policies = &wrong;
    from.grid.policy_count = 1;
    RELEASED_BY(run_plan_release) run_plan plan = start_plan((experiment_site){0}, 1);
    RELEASED_BY(study_release) study done = {0};
    experiment_site counting = {.pool = run_plan_pool(&plan)};
    fails_saying(study_run(&from, &counting, NULL, &done, &last_error), EE_BAD_OPTION, "alpha");
}

TEST_GROUP(open_datasets, close_datasets)
