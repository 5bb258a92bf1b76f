/* A study: which series it has, which runs it plays, and what is left when it is stopped. */
#include "lab/grids/study.h"

#include "data/support_sets.h"
#include "lab/results/results.h"
#include "support_files.h"
#include "two_sets.h"

/* A small network: what is played hardly matters. */
#define SMALL "f1.width=4 f1.committee=1"

enum { ROUNDS = 20, SEEDS = 2 };

static const uint64_t tuning_seeds[] = {100}, seeds[SEEDS] = {0, 1}, rounds[] = {ROUNDS, ROUNDS};
static const grid_axis rates[] = {{"f1.rate", "0.01,0.02"}};
static const grid_policy eenet = {"eenet", SMALL, rates, 1}, uniform = {"uniform", NULL, NULL, 0};

static study_plan plan_of(const grid_policy *policies, size_t count, bool ablations)
{
    return (study_plan){
        {datasets, rounds, 2, policies, count, tuning_seeds, 1, false, {0}, 0}, seeds, SEEDS, ablations};
}

static void run(const study_plan *plan, const char *folder, const run_watch *watch, study *out)
{
    experiment_site site = {.folder = folder, .pool = run_pool_of_threads(1)};
    ok(study_run(plan, &site, watch, out, NULL));
}

TEST(the_chosen_settings_play_the_seeds_that_count)
{
    const grid_policy policies[] = {uniform, eenet};
    study_plan plan = plan_of(policies, 2, false);
    study done = {0};
    run(&plan, NULL, NULL, &done);
    assert_false(done.stopped);
    assert_int_equal(done.count, 4);
    for (size_t i = 0; i < done.count; i++) {
        const study_series *series = &done.series[i];
        assert_int_equal(series->dataset, i / 2);
        assert_int_equal(series->policy, i % 2);
        assert_null(series->ablation);
        assert_int_equal(series->choice.cells, i % 2 ? 2 : 1);
        for (size_t k = 0; k < SEEDS; k++) {
            run_job job = {.data = datasets[i / 2],
                           .policy = policies[i % 2].name,
                           .options = series->choice.options,
                           .seed = seeds[k],
                           .rounds = ROUNDS};
            run_result alone;
            ok(runner_run(&job, NULL, &alone, NULL));
            assert_true(series->results[k].finished && series->results[k].regret == alone.regret);
        }
    }
    study_release(&done);
    assert_null(done.series);
}

/* The ablations of a data set, in one line. */
static void list_ablations(const study *done, size_t place, char *list, size_t capacity)
{
    list[0] = '\0';
    for (size_t i = 0; i < done->count; i++) {
        const study_series *series = &done->series[i];
        if (series->dataset != place || !series->ablation) continue;
        size_t used = strlen(list);
        snprintf(list + used, capacity - used, "%s%s", used ? " " : "", series->ablation);
    }
}

/* Of each ablation the value that the chosen setting has is not played again. */
TEST(the_ablations_are_those_that_differ)
{
    static const struct {
        const char *options, *ablations;
        size_t count;
    } cases[] = {
        {SMALL " label=gain decision=linear", "label=abs label=relu decision=neural decision=hybrid w2=1 w2=0", 6},
        {SMALL " label=relu decision=neural", "label=gain label=abs decision=linear decision=hybrid", 4},
        {SMALL " w2=0.5", "label=abs label=relu decision=neural decision=hybrid w2=1 w2=0", 6},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const grid_policy policies[] = {{"eenet", cases[c].options, NULL, 0}, uniform};
        study_plan plan = plan_of(policies, 2, true);
        RELEASED_BY(study_release) study done = {0};
        run(&plan, NULL, NULL, &done);
        assert_int_equal(done.count, 2 * (2 + cases[c].count));
        for (size_t i = 0; i < 4; i++) assert_null(done.series[i].ablation); /* they stand after all others */
        for (size_t place = 0; place < 2; place++) {
            char list[200];
            list_ablations(&done, place, list, sizeof list);
            assert_string_equal(list, cases[c].ablations);
        }
        for (size_t i = 4; i < done.count; i++) {
            const study_series *series = &done.series[i];
            assert_int_equal(series->policy, 0);
            assert_int_equal(series->choice.cells, 1);
            assert_true(isnan(series->choice.regret));
            assert_memory_equal(series->choice.options, SMALL " ", sizeof SMALL);
            bool drops = strstr(cases[c].options, "w2=0.5") && strstr(series->ablation, "neural");
            assert_true(drops == !strstr(series->choice.options, cases[c].options));
            assert_non_null(strstr(series->choice.options, series->ablation));
            for (size_t k = 0; k < SEEDS; k++) assert_true(series->results[k].finished);
        }
    }
}

TEST(an_ablation_stands_on_what_was_chosen)
{
    study_plan plan = plan_of(&eenet, 1, true);
    RELEASED_BY(study_release) study done = {0};
    run(&plan, NULL, NULL, &done);
    for (size_t i = 2; i < done.count; i++) {
        const study_series *series = &done.series[i];
        const char *chosen = done.series[series->dataset].choice.options;
        assert_string_equal(series->choice.options, formatted("%s %s", chosen, series->ablation));
    }
}

/* Such steps end in numbers that are not finite. */
TEST(a_policy_that_cannot_be_played_is_left_out)
{
    const grid_axis hopeless[] = {{"f1.rate", "1000,900"}};
    const grid_policy policies[] = {{"eenet", "f1.optimizer=sgd", hopeless, 1}, uniform};
    study_plan plan = plan_of(policies, 2, true);
    RELEASED_BY(study_release) study done = {0};
    run(&plan, NULL, NULL, &done);
    assert_false(done.stopped);
    assert_int_equal(done.count, 4); /* and no ablations */
    for (size_t i = 0; i < 4; i++) {
        assert_true((done.series[i].choice.options != NULL) == (i % 2 == 1));
        for (size_t k = 0; k < SEEDS; k++) assert_true(done.series[i].results[k].finished == (i % 2 == 1));
    }
}

/* What cannot start is told before anything is played, on whatever data set. */
static bool refuse(void *context, const run_report *report)
{
    (void)context;
    (void)report;
    fail_msg("a run was played");
    return false;
}

TEST(all_is_checked_before_anything_is_played)
{
    const grid_axis axes[] = {{"alpha", "1,-1"}};
    const grid_policy policies[] = {eenet, {"linucb", NULL, axes, 1}};
    study_plan plan = plan_of(policies, 2, true);
    run_watch watch = {.ended = refuse};
    RELEASED_BY(study_release) study done = {0};
    experiment_site site = {.pool = run_pool_of_threads(1)};
    fails_saying(study_run(&plan, &site, &watch, &done, &last_error), EE_BAD_OPTION, "alpha");
}

typedef struct budget {
    size_t left; /* runs until it is stopped */
    size_t heard;
} budget;

static bool spend(void *context, const run_report *report)
{
    budget *own = context;
    (void)report;
    own->heard++;
    return own->heard < own->left;
}

/* Two data sets: two settings on one tuning seed; then two policies and six ablations on two seeds. */
enum { TUNING_RUNS = 4, RUNS = TUNING_RUNS + 2 * (2 + 6) * SEEDS };

TEST_IN_FOLDER(what_is_kept_is_marked)
{
    const grid_policy policies[] = {eenet, uniform};
    study_plan plan = plan_of(policies, 2, true);
    RELEASED_BY(study_release) study done = {0};
    run(&plan, here.path, NULL, &done);
    RELEASED_BY(results_release) stored_runs stored = {0};
    ok(results_read(here.path, &stored, NULL));
    assert_int_equal(stored.count, RUNS);
    for (size_t i = 0; i < stored.count; i++) {
        const stored_run *one = &stored.runs[i];
        assert_true(one->tuning == (i < TUNING_RUNS));
        assert_true(one->tuning ? one->seed == 100 : one->seed < SEEDS);
        for (size_t k = 0; k < i; k++) /* nothing is played twice */
            assert_true(strcmp(one->dataset, stored.runs[k].dataset) || strcmp(one->options, stored.runs[k].options) ||
                        strcmp(one->policy, stored.runs[k].policy) || one->seed != stored.runs[k].seed);
    }
}

TEST(stopped_at_any_run_it_goes_on_from_there)
{
    const grid_policy policies[] = {eenet, uniform};
    study_plan plan = plan_of(policies, 2, true);
    RELEASED_BY(study_release) study whole = {0};
    run(&plan, NULL, NULL, &whole);
    for (size_t stop = 1; stop < RUNS; stop += test_long(9, 1)) {
        test_folder kept = folder_make();
        budget first = {.left = stop}, second = {.left = SIZE_MAX};
        run_watch watch = {.ended = spend, .context = &first};
        RELEASED_BY(study_release) study done = {0};
        run(&plan, kept.path, &watch, &done);
        assert_true(done.stopped);
        assert_true(first.heard == stop || first.heard == stop + 1); /* one may be under way, and is told unfinished */
        study_release(&done);
        watch.context = &second;
        run(&plan, kept.path, &watch, &done);
        assert_false(done.stopped);
        assert_int_equal(second.heard, RUNS); /* what is read is told too */
        assert_int_equal(done.count, whole.count);
        for (size_t i = 0; i < done.count; i++)
            for (size_t k = 0; k < SEEDS; k++)
                assert_true(done.series[i].results[k].regret == whole.series[i].results[k].regret);
        folder_remove(&kept);
    }
}

TEST_GROUP(open_datasets, close_datasets)
