/* What runs and studies take before they are played: how many there are against those that are then played, how long by
 * hand. */
#define _POSIX_C_SOURCE 200809L /* for mkdtemp */
#include "lab/grids/run_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "lab/grids/study_cost.h"
#include "lab/results/pending_runs.h"
#include "lab/results/run_keys.h"
#include "lab/sharing/usual_pace.h"
#include "support.h"

static dataset *datasets[2];
static char folder[40];

static int set_up(void **state)
{
    (void)state;
    return dataset_open("synthetic:inner,dim=3,arms=2", NULL, &datasets[0], NULL) ||
           dataset_open("synthetic:cosine,dim=3,arms=2", NULL, &datasets[1], NULL);
}

static int tear_down(void **state)
{
    (void)state;
    dataset_free(datasets[0]);
    dataset_free(datasets[1]);
    return 0;
}

static int take_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/eenet-cost-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[60];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* ---- seconds ---- */

static const uint64_t seeds[] = {0, 1, 2}, tuning_seeds[] = {100, 101};

static void assert_seconds(const run_cost *cost, size_t hands, double expected)
{
    double got = NAN;
    ok(run_cost_seconds(cost, hands, &got, NULL));
    if (!(fabs(got - expected) <= 1e-9 * expected)) fail_msg("%zu: got %g, expected %g", hands, got, expected);
}

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

static void add(run_cost *cost, size_t stage, run_job job, size_t settings)
{
    char *options = resolve(&job);
    const char *both[] = {options, "another"};
    cost_group group = {stage, job, both, settings, settings, seeds, 3};
    ok(run_cost_add(cost, &group, NULL));
    memory_free(options);
}

TEST(a_stage_ends_before_the_next_begins)
{
    run_cost cost = {0};
    ok(run_cost_start(&(experiment_site){0}, datasets, 2, &cost, NULL));
    run_job slow = job_of(0, "eenet", 1000), quick = job_of(1, "linucb", 1000);
    double a = usual_pace_seconds(&slow), b = usual_pace_seconds(&quick);
    slow.tuning = true;
    add(&cost, 0, slow, 2);
    add(&cost, 3, quick, 1);
    assert_int_equal(cost.tuning, 6);
    assert_int_equal(cost.counting, 3);
    assert_int_equal(run_cost_missing(&cost), 9);
    assert_int_equal(cost.guessed, 9);
    assert_int_equal(run_cost_widest(&cost), 6);
    assert_seconds(&cost, 1, 6 * a + 3 * b);
    assert_seconds(&cost, 4, 2 * a + b);
    assert_seconds(&cost, 100, a + b);
    run_cost_release(&cost);
}

/* Writes a run that took so many times what is usual. */
static void store(run_job job, uint64_t seed, double times)
{
    char path[60], line[4096], *options = resolve(&job);
    job.seed = seed;
    run_result result = {.finished = true, .rounds = job.rounds, .seconds = times * usual_pace_seconds(&job)};
    run_report report = {.job = &job, .result = &result, .options = options};
    stored_run run = results_of_report(&report);
    run.curve = "none.npy";
    size_t length = results_format(&run, line, sizeof line);
    assert_true(length < sizeof line);
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_int_equal(fwrite(line, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    memory_free(options);
}

/* The folder's runs tell by how much this machine differs; those of the setting, or of the policy, or all. */
TEST_WITH(past_runs_tell_how_long, take_folder, remove_folder)
{
    run_job kernel = job_of(0, "kernelucb", 900), longer = job_of(0, "kernelucb", 8100),
            other = job_of(1, "linucb", 50);
    store(kernel, 7, 3.0);
    store(job_of(1, "eenet", 100), 1, 5.0);
    run_cost cost = {0};
    ok(run_cost_start(&(experiment_site){.folder = folder}, datasets, 2, &cost, NULL));
    add(&cost, 0, longer, 1);
    assert_int_equal(cost.guessed, 0);
    assert_seconds(&cost, 3, 3.0 * usual_pace_seconds(&longer)); /* a kernel's later rounds are longer than its first */
    add(&cost, 1, other, 1);
    assert_int_equal(cost.guessed, 3);
    assert_seconds(&cost, 3, 3.0 * usual_pace_seconds(&longer) + 4.0 * usual_pace_seconds(&other));
    assert_int_equal(cost.there, 0);
    run_cost_release(&cost);
}

TEST_WITH(what_is_there_is_not_played, take_folder, remove_folder)
{
    run_job job = job_of(0, "linucb", 500), tuning = job;
    tuning.tuning = true;
    store(job, 1, 1.0);
    store(job, 9, 1.0);                      /* no seed of ours */
    store(tuning, 0, 1.0);                   /* does not count */
    store(job_of(0, "linucb", 499), 2, 1.0); /* other rounds */
    store(job_of(1, "linucb", 500), 2, 1.0); /* another data set */
    run_cost cost = {0};
    ok(run_cost_start(&(experiment_site){.folder = folder}, datasets, 2, &cost, NULL));
    add(&cost, 0, job, 1);
    assert_int_equal(cost.there, 1);
    assert_int_equal(run_cost_missing(&cost), 2);
    assert_seconds(&cost, 1, 2.0 * usual_pace_seconds(&job));
    run_cost_release(&cost);
}

/* What waits for its line is there too, and what stands in the folder that is only read. Nothing is removed: whoever
 * writes may be at it. */
TEST_WITH(what_waits_and_what_is_known_is_there, take_folder, remove_folder)
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
        size_t there;
    } cases[] = {{{.folder = folder}, 2}, {{.folder = nowhere, .known = folder}, 1}, {{.folder = nowhere}, 0}};
    for (size_t i = 0; i < 3; i++) {
        run_cost cost = {0};
        ok(run_cost_start(&cases[i].site, datasets, 2, &cost, NULL));
        add(&cost, 0, job, 1);
        assert_int_equal(cost.there, cases[i].there);
        run_cost_release(&cost);
    }
    assert_false(file_is_missing(half));
    pending_run found = {0};
    job.seed = 1;
    ok(pending_runs_read(waiting, run_keys_of_job(&job, options).run, &found, NULL));
    assert_non_null(found.curve);
    pending_runs_release(&found);
    memory_free(options);
}

/* One of two settings is going to play, and the folder has runs of both: those of the one that has more. */
TEST_WITH(runs_of_other_settings_do_not_count, take_folder, remove_folder)
{
    run_job first = job_of(0, "linucb", 500), second = first;
    second.options = "alpha=0.5";
    store(first, 1, 1.0);
    store(second, 0, 1.0);
    store(second, 1, 1.0);
    char *options[] = {resolve(&first), resolve(&second)};
    cost_group group = {0, first, (const char *const *)options, 2, 1, seeds, 3};
    run_cost cost = {0};
    ok(run_cost_start(&(experiment_site){.folder = folder}, datasets, 2, &cost, NULL));
    ok(run_cost_add(&cost, &group, NULL));
    assert_int_equal(cost.there, 2);
    assert_int_equal(run_cost_missing(&cost), 1);
    group.settings = 2; /* both */
    ok(run_cost_add(&cost, &group, NULL));
    assert_int_equal(cost.there, 2 + 3);
    assert_int_equal(run_cost_missing(&cost), 1 + 3);
    run_cost_release(&cost);
    memory_free(options[0]);
    memory_free(options[1]);
}

/* ---- studies ---- */

static const grid_axis rates[] = {{"f1.rate", "0.01,0.02,0.005,0.002"}};
static const grid_policy policies[] = {{"eenet", "f1.width=5", rates, 1}, {"uniform", NULL, NULL, 0}};

static study_plan plan_of(bool halving)
{
    static const uint64_t rounds[] = {900, 40}; /* the second is too short for the early stages */
    grid_plan grid = {datasets, rounds, 2, policies, 2, tuning_seeds, 2, halving, {0}, 0};
    return (study_plan){grid, seeds, 3, true};
}

static run_cost cost_of(const study_plan *plan)
{
    run_cost cost = {0};
    ok(run_cost_start(&(experiment_site){.folder = folder}, datasets, 2, &cost, NULL));
    ok(study_cost_add(plan, &cost, NULL));
    return cost;
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
    experiment_site site = {.folder = folder, .crew = crew_of_threads(1)};
    study done = {0};
    stored_runs stored = {0};
    ok(study_run(plan, &site, &watch, &done, NULL));
    study_release(&done);
    ok(results_read(folder, &stored, NULL));
    size_t count = stored.count;
    results_release(&stored);
    return count;
}

static void play_as_many_as_were_counted(bool halving)
{
    study_plan plan = plan_of(halving);
    run_cost cost = cost_of(&plan);
    size_t runs = cost.tuning + cost.counting, early = runs - 8;
    /* Four settings on two seeds; with halving 4 and 2 on the first data set. Then two policies and six ablations. */
    assert_int_equal(cost.tuning, 2 * (halving ? 4 + 2 + 4 : 4 + 4));
    assert_int_equal(cost.counting, 2 * (2 + 6) * 3);
    assert_int_equal(cost.there, 0);
    run_cost_release(&cost);
    assert_int_equal(play(&plan, early), early);
    cost = cost_of(&plan);
    assert_int_equal(cost.tuning + cost.counting, runs);
    assert_int_equal(cost.there, early);
    run_cost_release(&cost);
    assert_int_equal(play(&plan, SIZE_MAX), runs);
    cost = cost_of(&plan);
    assert_int_equal(run_cost_missing(&cost), 0);
    assert_seconds(&cost, 1, 0.0);
    run_cost_release(&cost);
}

TEST_WITH(a_study_plays_as_many_as_were_counted, take_folder, remove_folder)
{
    play_as_many_as_were_counted(false);
}

TEST_WITH(halving_plays_as_many_as_were_counted, take_folder, remove_folder)
{
    play_as_many_as_were_counted(true);
}

TEST(a_setting_that_cannot_start_is_an_error)
{
    const grid_axis axes[] = {{"alpha", "1,-1"}};
    const grid_policy wrong = {"linucb", NULL, axes, 1};
    study_plan plan = plan_of(false);
    plan.grid.policies = &wrong;
    plan.grid.policy_count = 1;
    run_cost cost = {0};
    ee_error error;
    ok(run_cost_start(&(experiment_site){0}, datasets, 2, &cost, NULL));
    assert_int_equal(study_cost_add(&plan, &cost, &error), EE_BAD_OPTION);
    assert_non_null(strstr(error.message, "alpha"));
    run_cost_release(&cost);
}

TEST_GROUP(set_up, tear_down)
