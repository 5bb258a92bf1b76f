#include "lab/studies/warm_study.h"

#include <stdio.h>

#include "base/file.h"
#include "support_files.h"

enum { SEEDS = 2 };

/* folder may be NULL. */
static void play_kept(const char *folder, const warm_plan *plan, size_t threads, warm_result *results)
{
    bool finished = false;
    ee_error error = {EE_OK, ""};
    kept_studies kept;
    if (kept_studies_open(folder, &kept, &error)) fail_msg("%s", error.message);
    if (warm_run(plan, threads, NULL, &kept, results, &finished, &error)) fail_msg("%s", error.message);
    assert_true(finished);
    kept_studies_close(&kept);
}

static void play(const warm_plan *plan, size_t threads, warm_result *results)
{
    play_kept(NULL, plan, threads, results);
}

static double mean_of(const warm_result *results, warm_player who)
{
    double sum = 0;
    for (size_t i = 0; i < SEEDS; i++) sum += results[i].regret[who] / SEEDS;
    return sum;
}

/* After 500 logged rounds the learner is where one is that has played them: nearer to it than to one that knows
 * nothing. Its log was uniform's, whose regret is what chance costs. */
TEST(a_log_is_worth_its_rounds)
{
    dataset *data;
    ok(dataset_open("synthetic:cosine,noise=0.05", NULL, &data, NULL));
    warm_plan plan = {.data = data,
                      .policies = {"eenet", "eenet", "eenet", "uniform"},
                      .first_seed = 1,
                      .seed_count = SEEDS,
                      .events = 500,
                      .rounds = 100};
    warm_result results[SEEDS], again[SEEDS];
    play(&plan, 1, results);
    double cold = mean_of(results, WARM_COLD), learned = mean_of(results, WARM_LEARNED);
    double trained = mean_of(results, WARM_TRAINED), logger = mean_of(results, WARM_LOGGER);
    assert_true(cold < logger);
    assert_true(learned < 0.5 * cold);
    assert_true(learned < trained + 0.25 * (cold - trained));
    play(&plan, 2, again);
    assert_memory_equal(results, again, sizeof results);

    plan.events = 0; /* then all three know nothing */
    play(&plan, 2, results);
    for (size_t i = 0; i < SEEDS; i++) {
        assert_true(results[i].regret[WARM_COLD] == results[i].regret[WARM_LEARNED]);
        assert_true(results[i].regret[WARM_COLD] == results[i].regret[WARM_TRAINED]);
    }
    dataset_free(data);
}

TEST(who_cannot_play_is_told)
{
    dataset *data;
    ok(dataset_open("synthetic:inner", NULL, &data, NULL));
    warm_plan plan = {
        .data = data, .policies = {"eenet", "eenet", "eenet", "nobody"}, .seed_count = 1, .events = 1, .rounds = 1};
    warm_result result;
    bool finished = true;
    ee_error error = {EE_OK, ""};
    kept_studies kept;
    ok(kept_studies_open(NULL, &kept, NULL));
    assert_int_equal(warm_run(&plan, 1, NULL, &kept, &result, &finished, &error), EE_BAD_OPTION);
    assert_false(finished);
    assert_int_equal(kept.count, 0);
    kept_studies_close(&kept);
    dataset_free(data);
}

/* The line of a seed says something else than what would be played: so it is seen to be read. */
TEST(a_kept_seed_is_not_played)
{
    test_folder folder = folder_make();
    dataset *data;
    ok(dataset_open("synthetic:cosine,arms=3", NULL, &data, NULL));
    warm_plan plan = {.data = data,
                      .policies = {"linucb", "linucb", "linucb", "uniform"},
                      .options = {[WARM_LOGGER] = "pending=9"},
                      .first_seed = 7,
                      .seed_count = 1,
                      .events = 20,
                      .rounds = 30};
    warm_result one, both[SEEDS], again[SEEDS];
    play_kept(folder.path, &plan, 1, &one);
    uint8_t *bytes;
    size_t size;
    char line[1024];
    ok(file_read(folder_path(&folder, "coverage.jsonl"), &bytes, &size, NULL));
    char *found = strstr((char *)bytes, "\"cold\":");
    assert_non_null(found);
    *found = '\0';
    snprintf(line, sizeof line, "%s\"cold\":0.1,\"warmed\":0.2,\"trained\":0.3,\"logger\":0.4}\n", (char *)bytes);
    folder_write_text(&folder, "coverage.jsonl", line);
    memory_free(bytes);

    plan.seed_count = SEEDS;
    play_kept(folder.path, &plan, 2, both);
    assert_true(both[0].regret[WARM_COLD] == 0.1 && both[0].regret[WARM_LOGGER] == 0.4);
    plan.first_seed++;
    plan.seed_count--;
    play(&plan, 1, &one);
    assert_memory_equal(&one, &both[1], sizeof one);
    plan.first_seed--;
    plan.seed_count++;
    play_kept(folder.path, &plan, 2, again);
    assert_memory_equal(both, again, sizeof both);

    plan.options[WARM_LOGGER] = NULL; /* another study */
    play_kept(folder.path, &plan, 1, again);
    assert_true(again[0].regret[WARM_COLD] != 0.1);
    dataset_free(data);
    folder_remove(&folder);
}
