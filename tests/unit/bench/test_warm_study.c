#include "bench/studies/warm_study.h"

#include "data/support_sets.h"
#include "support.h"

enum { SEEDS = 1 };

static void play(const warm_plan *plan, size_t threads, warm_result *results)
{
    ok(warm_run(plan, threads, results, &last_error));
}

static double mean_of(const warm_result *results, warm_player who)
{
    double sum = 0;
    for (size_t i = 0; i < SEEDS; i++) sum += results[i].regret[who] / SEEDS;
    return sum;
}

/* After 400 logged rounds the learner is where one is that has played them: nearer to it than to one that knows
 * nothing. Its log was uniform's, whose regret is what chance costs. */
TEST(a_log_is_worth_its_rounds)
{
    auto_dataset *data = open_data("synthetic:cosine,noise=0.05");
    warm_plan plan = {.data = data,
                      .policies = {"eenet", "eenet", "eenet", "uniform"},
                      .first_seed = 1,
                      .seed_count = SEEDS,
                      .events = 400,
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
}

TEST(an_unknown_policy_is_reported)
{
    auto_dataset *data = open_data("synthetic:inner");
    warm_plan plan = {
        .data = data, .policies = {"eenet", "eenet", "eenet", "nobody"}, .seed_count = 1, .events = 1, .rounds = 1};
    warm_result result;
    assert_int_equal(warm_run(&plan, 1, &result, NULL), EE_BAD_OPTION);
}
