#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "math/statistics.h"

/* A run uses one thread. The time that it had on a processor is the same whatever else the machine does meanwhile. */
static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ee_status create_bandit(const run_job *job, ee_bandit **bandit, ee_error *error)
{
    ee_settings settings = {job->policy, dataset_dim(job->data), job->seed, job->options};
    return ee_bandit_create(&settings, bandit, error);
}

ee_status runner_check(const run_job *job, ee_error *error)
{
    ee_bandit *bandit;
    ee_status status = create_bandit(job, &bandit, error);
    if (!status) ee_bandit_free(bandit);
    return status;
}

static ee_status play_round(ee_bandit *bandit, environment *world, run_result *result, ee_error *error)
{
    environment_round round;
    ee_status status = environment_next(world, &round, error);
    if (status) return status;
    ee_decision decision;
    status = ee_bandit_decide(bandit, &round.arms, &decision, NULL, error);
    if (status) return status;
    status = ee_bandit_learn(bandit, decision.id, round.rewards[decision.arm], error);
    if (status) return status;

    double best = round.expected[0];
    for (size_t i = 1; i < round.arms.count; i++)
        if (round.expected[i] > best) best = round.expected[i];
    double loss = best - round.expected[decision.arm];
    result->regret += loss;
    result->reward += round.rewards[decision.arm];
    result->optimal += loss == 0.0;
    result->rounds++;
    return EE_OK;
}

static ee_status play(const run_job *job, const run_watch *watch, ee_bandit *bandit, run_result *result,
                      ee_error *error)
{
    environment *world;
    ee_status status = environment_create(job->data, job->seed, &world, error);
    if (status) return status;
    bool wanted = true;
    while (wanted && !status && result->rounds < job->rounds) {
        status = play_round(bandit, world, result, error);
        if (!status && watch && watch->round) wanted = watch->round(watch->context, job, result);
    }
    result->finished = !status && result->rounds == job->rounds;
    environment_free(world);
    return status;
}

/* *wanted tells whether the watch wants more to be played. */
static ee_status run(const run_job *job, const run_watch *watch, run_result *result, bool *wanted, ee_error *error)
{
    memset(result, 0, sizeof *result);
    ee_error own = {EE_OK, ""};
    double start = thread_seconds();
    ee_bandit *bandit = NULL;
    ee_status status = create_bandit(job, &bandit, &own);
    if (!status) status = play(job, watch, bandit, result, &own);
    result->status = status;
    result->seconds = thread_seconds() - start;
    *wanted = result->finished || status;
    if (watch && watch->ended) {
        run_report report = {job, result, bandit ? ee_bandit_info(bandit).options : "", &own};
        bool more = watch->ended(watch->context, &report);
        *wanted = *wanted && more;
    }
    ee_bandit_free(bandit);
    if (status && error) *error = own;
    return status;
}

ee_status runner_run(const run_job *job, const run_watch *watch, run_result *result, ee_error *error)
{
    bool wanted;
    return run(job, watch, result, &wanted, error);
}

ee_status runner_run_all(const run_job *jobs, size_t count, const run_watch *watch, run_result *results,
                         ee_error *error)
{
    ee_status first = EE_OK;
    bool wanted = true;
    memset(results, 0, count * sizeof *results);
    for (size_t i = 0; i < count && wanted; i++) {
        ee_error own;
        ee_status status = run(&jobs[i], watch, &results[i], &wanted, &own);
        if (!status || first) continue;
        first = status;
        if (error) *error = own;
    }
    return first;
}

ee_status runner_summarize(const run_result *results, size_t count, run_summary *summary, ee_error *error)
{
    double *values; /* (3, count): regret, optimal, seconds */
    ee_status status = memory_create(&values, 3 * count, sizeof *values, error);
    if (status) return status;
    double *optimal = values + count, *seconds = values + 2 * count;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        if (!results[i].finished) continue;
        values[runs] = results[i].regret;
        optimal[runs] = (double)results[i].optimal / (double)results[i].rounds;
        seconds[runs] = results[i].seconds;
        runs++;
    }
    *summary = (run_summary){runs, statistics_mean(values, runs), statistics_deviation(values, runs),
                             statistics_mean(optimal, runs), statistics_mean(seconds, runs)};
    memory_free(values);
    return EE_OK;
}
