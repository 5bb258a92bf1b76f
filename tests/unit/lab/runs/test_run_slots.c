/* Runs whose rounds fill several slots: against the library's own calls, against what can be had, and as logs. */

#include "data/support_sets.h"
#include "lab/results/results.h"
#include "support_files.h"

enum { ARMS = 10, SLOTS = 3 };

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* The same beside the runner. */
static void play_beside(const run_job *job, run_result *sums)
{
    ee_settings settings = {.policy = job->policy, .dim = dataset_dim(job->data), .seed = job->seed};
    auto_bandit *bandit;
    ok(ee_bandit_create(&settings, &bandit, NULL));
    auto_environment *world = start_rounds(job->data, job->seed);
    *sums = (run_result){0};
    for (uint64_t t = 0; t < job->rounds; t++) {
        ee_decision decisions[SLOTS];
        double sorted[ARMS], loss = 0;
        environment_round round = next_round(world);
        assert_int_equal(round.arms.count, ARMS);
        const ee_arms seen[SLOTS] = {round.arms, round.arms, round.arms};
        ok(ee_bandit_decide_slots(bandit, seen, SLOTS, NULL, decisions, NULL, NULL, NULL));
        memcpy(sorted, round.expected, sizeof sorted);
        qsort(sorted, ARMS, sizeof *sorted, by_size);
        for (size_t k = 0; k < SLOTS; k++) {
            double lost = sorted[k] - round.expected[decisions[k].arm];
            ok(ee_bandit_learn(bandit, decisions[k].id, round.rewards[decisions[k].arm], NULL));
            sums->reward += round.rewards[decisions[k].arm];
            sums->slot_regrets[k] += lost;
            loss += lost;
        }
        assert_true(loss > -1e-9);
        sums->regret += loss;
        sums->optimal += fabs(loss) < 1e-9;
    }
}

TEST(sums_are_those_of_the_rounds)
{
    static const char *const policies[] = {"uniform", "linucb", "greedy", "eenet", "lints"};
    auto_dataset *data = open_data("synthetic:clicks,dim=6,arms=10");
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        run_job job = {.data = data, .policy = policies[i], .seed = 3, .rounds = 200, .slots = SLOTS};
        run_result result, beside;
        ok(runner_run(&job, NULL, &result, NULL));
        play_beside(&job, &beside);
        assert_true(result.finished && result.slots == SLOTS);
        if (result.regret != beside.regret || result.reward != beside.reward)
            fail_msg("%s: %.17g %.17g, %g %g", policies[i], result.regret, beside.regret, result.reward, beside.reward);
        assert_int_equal(result.optimal, beside.optimal);
        double sum = 0;
        for (size_t k = 0; k < SLOTS; k++) {
            assert_true(result.slot_regrets[k] == beside.slot_regrets[k]);
            sum += result.slot_regrets[k];
        }
        assert_true(fabs(sum - result.regret) < 1e-9 * (1 + result.regret));
    }
}

/* All arms are played where there are as many slots: nothing is lost in all. One slot is what a run is without. */
TEST(the_ends_are_what_they_should_be)
{
    auto_dataset *data = open_data("synthetic:cosine,dim=5,arms=4");
    run_job all = {.data = data, .policy = "uniform", .seed = 3, .rounds = 100, .slots = 4};
    run_result result, one;
    ok(runner_run(&all, NULL, &result, NULL));
    assert_true(fabs(result.regret) < 1e-6 && result.optimal == 100);
    assert_true(result.slot_regrets[0] > 1 && result.slot_regrets[3] < -1);
    run_job plain = {.data = data, .policy = "eenet", .seed = 3, .rounds = 100}, single = plain;
    single.slots = 1;
    ok(runner_run(&plain, NULL, &result, NULL));
    ok(runner_run(&single, NULL, &one, NULL));
    assert_true(one.regret == result.regret && one.slots == 0 && one.bytes == result.bytes);
    all.slots = 5;
    fails_saying(runner_check(&all, NULL, &last_error), EE_BAD_INPUT, "has 4 arms: expected 1 to 4 slots, got 5");
}

TEST(slots_may_wait)
{
    auto_dataset *data = open_data("synthetic:clicks,dim=6,arms=10");
    run_result at_once, late;
    run_job job = {.data = data, .policy = "linucb", .seed = 1, .rounds = 300, .slots = SLOTS};
    ok(runner_run(&job, NULL, &at_once, NULL));
    job.late.rounds = 2000; /* of each slot: more decisions wait than a bandit keeps unless it is told */
    assert_int_equal(runner_pending("linucb", &job.late, SLOTS), 3 * 2001);
    job.rounds = 2100;
    ok(runner_run(&job, NULL, &late, NULL));
    assert_true(late.finished && at_once.finished);
}

TEST(lines_have_slots)
{
    char line[8192];
    auto_dataset *data = open_data("synthetic:clicks,dim=6,arms=10");
    run_job job = {.data = data, .policy = "linucb", .seed = 1, .rounds = 50, .slots = SLOTS};
    run_result result;
    ok(runner_run(&job, NULL, &result, NULL));
    run_report report = {.job = &job, .result = &result, .options = "a=1"};
    stored_run written = results_of_report(&report);
    size_t length = results_format(&written, line, sizeof line);
    assert_true(length < sizeof line);
    RELEASED_BY(results_release_run) stored_run read = {0};
    ok(results_parse(line, length, 1, &read, NULL));
    assert_int_equal(read.slots, SLOTS);
    assert_memory_equal(read.result.slot_regrets, result.slot_regrets, sizeof result.slot_regrets);
}

/* Whoever reads the log finds each slot, its probabilities among what was left, and its reward. */
TEST_IN_FOLDER(a_log_has_the_slots)
{
    const char *path = formatted("%s", folder_path(&here, "log.dsjson"));
    auto_dataset *data = open_data("synthetic:clicks,dim=6,arms=10");
    run_job job = {
        .data = data, .policy = "greedy", .options = "propensity=softmax", .seed = 1, .rounds = 40, .slots = SLOTS};
    run_result result;
    ok(log_create(path, dataset_dim(data), &job.log, NULL));
    ok(runner_run(&job, NULL, &result, NULL));
    ok(log_end(job.log, true, NULL));
    auto_log_reader *log;
    log_options usual = log_options_usual();
    log_event event;
    bool found;
    double reward = 0;
    size_t events = 0;
    ok(log_open(path, &usual, &log, NULL));
    while (!log_next(log, &event, &found, &last_error) && found) {
        assert_int_equal(event.slot_count, SLOTS);
        for (size_t k = 0; k < SLOTS; k++) {
            const log_slot *slot = &event.slots[k];
            double sum = 0;
            assert_int_equal(slot->count, ARMS - k);
            for (size_t i = 0; i < slot->count; i++) sum += slot->probabilities[i];
            assert_true(fabs(sum - 1) < 1e-6);
            for (size_t before = 0; before < k; before++)
                for (size_t i = 0; i < slot->count; i++)
                    assert_int_not_equal(slot->actions[i], event.slots[before].actions[0]);
            reward += slot->reward;
        }
        events++;
    }
    assert_int_equal(events, 40);
    assert_true(reward == result.reward);
}
