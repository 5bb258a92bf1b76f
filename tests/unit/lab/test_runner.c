#include "lab/runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static dataset *open_data(const char *text)
{
    dataset *data;
    assert_int_equal(dataset_open(text, &data, NULL), EE_OK);
    return data;
}

/* Plays the same rounds beside the run and looks for an arm that explains what the run added to its sums. */
typedef struct shadow {
    environment *world;
    run_result before;
    uint64_t stop_after; /* 0: never */
    int ended;
    char options[64];
    ee_status ended_with;
    char message[sizeof((ee_error *)0)->message];
} shadow;

static bool follow_round(void *context, const run_job *job, const run_result *so_far)
{
    shadow *self = context;
    environment_round round;
    assert_int_equal(environment_next(self->world, &round, NULL), EE_OK);
    assert_true(so_far->rounds == self->before.rounds + 1);
    assert_true(so_far->rounds <= job->rounds);
    double best = round.expected[0];
    for (size_t i = 1; i < round.arms.count; i++) best = fmax(best, round.expected[i]);
    bool explained = false;
    for (size_t i = 0; i < round.arms.count; i++) {
        double loss = best - round.expected[i];
        explained = explained || (fabs(so_far->regret - self->before.regret - loss) < 1e-9 &&
                                  fabs(so_far->reward - self->before.reward - round.rewards[i]) < 1e-9 &&
                                  so_far->optimal - self->before.optimal == (loss == 0.0));
    }
    assert_true(explained);
    self->before = *so_far;
    return so_far->rounds != self->stop_after;
}

static bool note_end(void *context, const run_report *report)
{
    shadow *self = context;
    self->ended++;
    self->ended_with = report->result->status;
    snprintf(self->options, sizeof self->options, "%.60s", report->options);
    if (report->result->status) snprintf(self->message, sizeof self->message, "%s", report->error->message);
    return true;
}

static void sums_are_those_of_the_rounds(void **state)
{
    (void)state;
    dataset *data = open_data("synthetic:cosine");
    run_job job = {data, "uniform", NULL, 3, 500};
    shadow beside = {0};
    run_watch watch = {follow_round, note_end, &beside};
    run_result result;
    assert_int_equal(environment_create(data, 3, &beside.world, NULL), EE_OK);
    assert_int_equal(runner_run(&job, &watch, &result, NULL), EE_OK);
    assert_true(result.finished);
    assert_int_equal(result.rounds, 500);
    assert_true(result.regret == beside.before.regret && result.regret > 0.0);
    assert_true(result.seconds > 0.0);
    assert_true(result.optimal > 20 && result.optimal < 90); /* of 500 rounds of ten arms, 50 by chance */
    assert_int_equal(beside.ended, 1);
    assert_true(beside.options[0] != '\0');
    environment_free(beside.world);
    dataset_free(data);
}

static void same_job_same_result(void **state)
{
    (void)state;
    dataset *data = open_data("synthetic:quadratic");
    run_job job = {data, "eenet", NULL, 1, 100};
    run_result one, two;
    assert_int_equal(runner_run(&job, NULL, &one, NULL), EE_OK);
    assert_int_equal(runner_run(&job, NULL, &two, NULL), EE_OK);
    assert_true(one.regret == two.regret && one.reward == two.reward && one.optimal == two.optimal);
    dataset_free(data);
}

static void the_watch_stops_it(void **state)
{
    (void)state;
    dataset *data = open_data("synthetic:inner");
    run_job jobs[2] = {{data, "uniform", NULL, 0, 100}, {data, "uniform", NULL, 1, 100}};
    shadow beside = {.stop_after = 7};
    run_watch watch = {follow_round, note_end, &beside};
    run_result results[2];
    assert_int_equal(environment_create(data, 0, &beside.world, NULL), EE_OK);
    assert_int_equal(runner_run_all(jobs, 2, &watch, results, NULL), EE_OK);
    assert_int_equal(results[0].rounds, 7);
    assert_false(results[0].finished);
    assert_int_equal(results[1].rounds, 0); /* never started */
    assert_false(results[1].finished);
    assert_int_equal(beside.ended, 1);
    environment_free(beside.world);
    dataset_free(data);
}

/* A run that ends in its last round by the watch's word has finished; the next is not started all the same. */
static bool refuse_more(void *context, const run_report *report)
{
    (void)context;
    (void)report;
    return false;
}

static void no_run_after_the_watch_has_enough(void **state)
{
    (void)state;
    dataset *data = open_data("synthetic:inner");
    run_job jobs[2] = {{data, "uniform", NULL, 0, 5}, {data, "uniform", NULL, 1, 5}};
    run_watch watch = {.ended = refuse_more};
    run_result results[2];
    assert_int_equal(runner_run_all(jobs, 2, &watch, results, NULL), EE_OK);
    assert_true(results[0].finished);
    assert_false(results[1].finished);
    dataset_free(data);
}

static void one_failure_does_not_stop_the_others(void **state)
{
    (void)state;
    dataset *data = open_data("synthetic:inner");
    run_job jobs[3] = {
        {data, "uniform", NULL, 0, 5}, {data, "uniform", "no-such-option=1", 0, 5}, {data, "uniform", NULL, 1, 5}};
    shadow beside = {0};
    run_watch watch = {.ended = note_end, .context = &beside};
    run_result results[3];
    ee_error error = {EE_OK, ""};
    assert_int_equal(runner_run_all(jobs, 3, &watch, results, &error), EE_BAD_OPTION);
    assert_non_null(strstr(error.message, "no-such-option"));
    assert_string_equal(error.message, beside.message);
    assert_int_equal(beside.ended, 3);
    assert_true(results[0].finished && results[2].finished);
    assert_false(results[1].finished);
    assert_int_equal(results[1].status, EE_BAD_OPTION);
    dataset_free(data);
}

static void check_finds_what_would_fail(void **state)
{
    (void)state;
    dataset *data = open_data("synthetic:inner");
    run_job job = {data, "uniform", NULL, 0, 5};
    ee_error error;
    assert_int_equal(runner_check(&job, &error), EE_OK);
    job.policy = "unifrom";
    assert_int_equal(runner_check(&job, &error), EE_BAD_OPTION);
    dataset_free(data);
}

static void summary_of_the_finished(void **state)
{
    (void)state;
    const run_result results[4] = {
        {.finished = true, .rounds = 10, .optimal = 5, .regret = 2, .seconds = 1},
        {.finished = false, .rounds = 3, .optimal = 3, .regret = 1000, .seconds = 1000},
        {.finished = true, .rounds = 10, .optimal = 7, .regret = 4, .seconds = 2},
        {.status = EE_NO_MEMORY},
    };
    run_summary summary;
    assert_int_equal(runner_summarize(results, 4, &summary, NULL), EE_OK);
    assert_int_equal(summary.runs, 2);
    assert_close(summary.regret, 3.0, 1e-15);
    assert_close(summary.regret_deviation, sqrt(2.0), 1e-15);
    assert_close(summary.optimal, 0.6, 1e-15);
    assert_close(summary.seconds, 1.5, 1e-15);
    assert_int_equal(runner_summarize(results + 1, 1, &summary, NULL), EE_OK);
    assert_int_equal(summary.runs, 0);
    assert_true(isnan(summary.regret));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_rounds),
        cmocka_unit_test(same_job_same_result),
        cmocka_unit_test(the_watch_stops_it),
        cmocka_unit_test(no_run_after_the_watch_has_enough),
        cmocka_unit_test(one_failure_does_not_stop_the_others),
        cmocka_unit_test(check_finds_what_would_fail),
        cmocka_unit_test(summary_of_the_finished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
