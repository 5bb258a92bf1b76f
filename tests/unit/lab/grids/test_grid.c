/* Settings chosen by trying them. */
#include "lab/grids/grid.h"

#include "data/support_sets.h"
#include "support.h"

static const uint64_t seeds[] = {100, 101};

/* What the runs were, in the order in which they ended. */
typedef struct notes {
    size_t runs;
    uint64_t rounds[64];
    char options[64][512];
    bool all_tuning;
    bool wanted;
} notes;

static bool note_end(void *context, const run_report *report)
{
    notes *into = context;
    assert_true(into->runs < 64);
    into->rounds[into->runs] = report->job->rounds;
    snprintf(into->options[into->runs], sizeof into->options[0], "%s", report->job->options);
    into->all_tuning = into->all_tuning && report->job->tuning;
    into->runs++;
    return into->wanted;
}

static ee_status choose(const grid_policy *policies, size_t count, uint64_t rounds, bool halving, notes *into,
                        grid_choice *choices, bool *stopped, ee_error *error)
{
    auto_dataset *data = open_data("synthetic:inner,dim=4");
    grid_plan plan = {&data, &rounds, 1, policies, count, seeds, 2, halving, {0}, 0};
    run_watch watch = {.ended = note_end, .context = into};
    into->all_tuning = true;
    experiment_site site = {.pool = run_pool_of_threads(1)};
    ee_status status = grid_choose(&plan, &site, &watch, choices, stopped, error);
    return status;
}

/* Any arm, or the best: the one is hopeless. */
#define SMALL "f1.width=10 f1.committee=1 recall=0"
static const grid_axis two_axes[] = {{"epsilon", "1,0,0.9"}, {"f1.rate", "0.01,0.02"}};
static const grid_policy epsilon = {"neural-epsilon", SMALL, two_axes, 2};

TEST(the_best_cell_is_chosen)
{
    const grid_policy policies[] = {epsilon, {"uniform", NULL, NULL, 0}};
    notes seen = {.wanted = true};
    grid_choice choices[2] = {{0}};
    bool stopped;
    ok(choose(policies, 2, 150, false, &seen, choices, &stopped, NULL));
    assert_false(stopped);
    assert_int_equal(seen.runs, 6 * 2);
    assert_true(seen.all_tuning);
    assert_string_equal(seen.options[0], SMALL " epsilon=1 f1.rate=0.01");
    assert_string_equal(seen.options[11], SMALL " epsilon=0.9 f1.rate=0.02");
    assert_non_null(strstr(choices[0].options, SMALL " epsilon=0 f1.rate=0.0"));
    assert_int_equal(choices[0].cells, 6);
    assert_true(choices[0].regret > 0.0);
    assert_string_equal(choices[1].options, ""); /* one cell: it is chosen without a run */
    assert_int_equal(choices[1].cells, 1);
    assert_true(isnan(choices[1].regret));
    memory_free(choices[0].options);
    memory_free(choices[1].options);
}

TEST(halving_drops_two_thirds_a_stage)
{
    notes whole = {.wanted = true}, halved = {.wanted = true};
    grid_choice all = {0}, chosen = {0};
    bool stopped;
    ok(choose(&epsilon, 1, 900, false, &whole, &all, &stopped, NULL));
    ok(choose(&epsilon, 1, 900, true, &halved, &chosen, &stopped, NULL));
    /* Six cells play 100 rounds, two 300; the one that is left has won. */
    assert_int_equal(halved.runs, (6 + 2) * 2);
    for (size_t i = 0; i < halved.runs; i++) assert_int_equal(halved.rounds[i], i < 12 ? 100 : 300);
    for (size_t i = 12; i < 16; i++) assert_non_null(strstr(halved.options[i], "epsilon=0 "));
    assert_non_null(strstr(all.options, "epsilon=0 "));
    assert_non_null(strstr(chosen.options, "epsilon=0 "));
    memory_free(all.options);
    memory_free(chosen.options);
}

/* The number of jobs of each call of the pool. */
static size_t stages[GRID_STAGES + 1], stage_count;

static ee_status count_stage(const run_pool *self, const run_job *jobs, size_t count, bool curves,
                             const run_watch *watch, run_result *results, ee_error *error)
{
    (void)self;
    assert_true(stage_count < GRID_STAGES);
    stages[stage_count++] = count;
    run_pool threads = run_pool_of_threads(2);
    return threads.play(&threads, jobs, count, curves, watch, results, error);
}

/* One is too short for the first stages: its six cells wait for the last. */
TEST(all_data_sets_share_a_stage)
{
    const grid_policy policies[] = {epsilon, {"uniform", NULL, NULL, 0}};
    const uint64_t rounds[] = {900, 125, 300};
    auto_dataset *data = open_data("synthetic:inner,dim=4");
    dataset *datasets[] = {data, data, data};
    grid_plan plan = {datasets, rounds, 3, policies, 2, seeds, 2, true, {0}, 0};
    experiment_site site = {.pool = {.workers = 2, .play = count_stage}};
    grid_choice choices[6] = {{0}};
    bool stopped;
    stage_count = 0;
    ok(grid_choose(&plan, &site, NULL, choices, &stopped, NULL));
    assert_false(stopped);
    assert_int_equal(stage_count, 3);
    const size_t expected[GRID_STAGES] = {6 * 2, (2 + 6) * 2, (6 + 2) * 2};
    for (size_t stage = 0; stage < GRID_STAGES; stage++) assert_int_equal(stages[stage], expected[stage]);
    for (size_t i = 0; i < 3; i++) {
        grid_plan alone = {&datasets[i], &rounds[i], 1, policies, 2, seeds, 2, true, {0}, 0};
        experiment_site here = {.pool = run_pool_of_threads(1)};
        grid_choice own[2] = {{0}};
        ok(grid_choose(&alone, &here, NULL, own, &stopped, NULL));
        for (size_t k = 0; k < 2; k++) {
            assert_string_equal(own[k].options, choices[2 * i + k].options);
            assert_true(k || own[k].regret == choices[2 * i + k].regret);
            memory_free(own[k].options);
            memory_free(choices[2 * i + k].options);
        }
    }
}

/* Such steps end in numbers that are not finite. */
TEST(a_cell_that_fails_is_out)
{
    const grid_axis axes[] = {{"f1.rate", "1000,0.01"}}, hopeless[] = {{"f1.rate", "1000,900"}};
    const grid_policy some = {"greedy", "f1.optimizer=sgd", axes, 1};
    const grid_policy none = {"greedy", "f1.optimizer=sgd", hopeless, 1};
    notes seen = {.wanted = true};
    grid_choice choice = {0};
    bool stopped;
    ok(choose(&some, 1, 100, false, &seen, &choice, &stopped, &last_error));
    assert_string_equal(choice.options, "f1.optimizer=sgd f1.rate=0.01");
    memory_free(choice.options);
    choice.options = NULL;
    ok(choose(&none, 1, 100, false, &seen, &choice, &stopped, &last_error));
    assert_false(stopped);
    assert_null(choice.options);
    assert_int_equal(choice.cells, 2);
    assert_true(isnan(choice.regret));
}

TEST(a_cell_that_cannot_start_is_an_error)
{
    const grid_axis axes[] = {{"alpha", "1,-1"}};
    const grid_policy policy = {"linucb", NULL, axes, 1};
    notes seen = {.wanted = true};
    grid_choice choice = {0};
    bool stopped;
    fails_saying(choose(&policy, 1, 100, false, &seen, &choice, &stopped, &last_error), EE_BAD_OPTION, "alpha");
    assert_int_equal(seen.runs, 0);
}

TEST(nothing_is_chosen_when_it_was_stopped)
{
    notes seen = {.wanted = false};
    grid_choice choice = {0};
    bool stopped;
    ok(choose(&epsilon, 1, 50, false, &seen, &choice, &stopped, NULL));
    assert_true(stopped);
    assert_int_equal(seen.runs, 1);
    assert_null(choice.options);
}

/* Every value of the paper's grids is one that the policy takes. */
TEST(the_papers_grids_can_be_played)
{
    ee_policy policy;
    size_t grids = 0;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++) {
        size_t count;
        const grid_axis *axes = grid_of_paper(policy.name, &count);
        grids += count > 0;
        for (size_t k = 0; k < count; k++) {
            const char *value = axes[k].values;
            for (size_t length; length = strcspn(value, ","), *value; value += length + (value[length] == ',')) {
                const char *options = formatted("%s=%.*s", axes[k].option, (int)length, value);
                ee_settings settings = {.policy = policy.name, .dim = 4, .options = options};
                auto_bandit *bandit;
                ok(ee_bandit_create(&settings, &bandit, NULL));
            }
        }
    }
    assert_int_equal(grids, 8); /* all that the paper has but EE-Net and uniform */
    size_t count;
    grid_of_paper("neural-ucb", &count);
    assert_int_equal(count, 3);
    assert_null(grid_of_paper("uniform", &count));
    assert_int_equal(count, 0);
}
