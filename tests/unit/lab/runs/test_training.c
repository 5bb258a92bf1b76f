/* Which policy did best, and the bandit of its run as a file. */
#include "lab/runs/training.h"

#include "data/support_sets.h"
#include "support_files.h"

static dataset *data;

static int set_up(void **state)
{
    (void)state;
    return dataset_open("synthetic:cosine,dim=4,arms=3", NULL, &data, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    dataset_free(data);
    return 0;
}

static run_result result_of(double regret)
{
    return (run_result){.finished = true, .rounds = 10, .regret = regret};
}

static size_t best_of(const training_candidate *candidates, size_t count)
{
    size_t best;
    ok(training_best(candidates, count, 2, &best, NULL));
    return best;
}

TEST(the_least_mean_regret_wins_and_the_first_of_equals)
{
    const run_result even[] = {result_of(5), result_of(5)}, wide[] = {result_of(1), result_of(8)},
                     equal[] = {result_of(9), result_of(0)};
    const training_candidate candidates[] = {{.results = even}, {.results = wide}, {.results = equal}};
    assert_int_equal(best_of(candidates, 1), 0);
    assert_int_equal(best_of(candidates, 2), 1);
    assert_int_equal(best_of(candidates, 3), 1);
}

TEST(who_has_not_finished_is_not_compared)
{
    const run_result whole[] = {result_of(5), result_of(5)}, half[] = {result_of(1), {.rounds = 3, .regret = 0}};
    const training_candidate candidates[] = {{.results = half}, {.results = whole}};
    assert_int_equal(best_of(candidates, 2), 1);
    assert_int_equal(best_of(candidates, 1), 1); /* none */
}

/* The bandit of a job by the library's own calls, as bytes. */
static void play_beside(const run_job *job, void **bytes, size_t *size)
{
    auto_bandit *bandit;
    ok(runner_create_bandit(job, &bandit, NULL));
    auto_environment *world = start_rounds(job->data, job->seed);
    for (uint64_t i = 0; i < job->rounds; i++) {
        ee_decision decision;
        environment_round round = next_round(world);
        ok(ee_bandit_decide(bandit, &round.arms, &decision, NULL, NULL, NULL));
        ok(ee_bandit_learn(bandit, decision.id, round.rewards[decision.arm], NULL));
    }
    ok(ee_bandit_save_bytes(bandit, bytes, size, NULL));
}

TEST_IN_FOLDER(the_file_is_the_bandit_of_the_run)
{
    const char *path = folder_path(&here, "model");
    run_job job = {.data = data, .policy = "eenet", .options = "f1.width=20", .seed = 3, .rounds = 120};
    run_result result, alone;
    auto_memory uint8_t *saved;
    void *expected;
    size_t saved_size, expected_size;
    ok(training_save(&job, path, NULL, &result, NULL));
    assert_true(result.finished);
    ok(runner_run(&job, NULL, &alone, NULL));
    assert_true(result.regret == alone.regret);
    play_beside(&job, &expected, &expected_size);
    ok(file_read(path, &saved, &saved_size, NULL));
    assert_int_equal(saved_size, expected_size);
    assert_memory_equal(saved, expected, saved_size);
    auto_bandit *loaded;
    ok(ee_bandit_load(path, NULL, &loaded, NULL));
    assert_int_equal(ee_bandit_info(loaded).rewards, 120);
    ee_bytes_free(expected);
}

typedef struct onlooker {
    int asked, ended;
} onlooker;

static bool ask_until_ten(void *context)
{
    return ++((onlooker *)context)->asked < 10;
}

static bool note_end(void *context, const run_report *report)
{
    ((onlooker *)context)->ended += !report->result->finished;
    return true;
}

TEST_IN_FOLDER(a_run_that_is_stopped_saves_nothing)
{
    const char *path = folder_path(&here, "model");
    onlooker seen = {0};
    run_watch watch = {.wanted = ask_until_ten, .ended = note_end, .context = &seen};
    run_job job = {.data = data, .policy = "linucb", .rounds = 1000000};
    run_result result;
    ok(training_save(&job, path, &watch, &result, NULL));
    assert_false(result.finished);
    assert_int_equal(seen.asked, 10);
    assert_int_equal(seen.ended, 1);
    assert_true(file_is_missing(path));
}

TEST(a_file_that_cannot_be_written_is_an_error)
{
    run_job job = {.data = data, .policy = "uniform", .rounds = 5};
    run_result result;
    fails_saying(training_save(&job, "no such folder/model", NULL, &result, &last_error), EE_FILE_ERROR,
                 "no such folder/model");
}

TEST_GROUP(set_up, tear_down)
