#include "bench/studies/coverage_study.h"

#include <math.h>
#include <string.h>

#include "support.h"

static const known_policy candidates[] = {{KNOWN_SOFTMAX, 0.2}, {KNOWN_GREEDY, 0}};

enum { CANDIDATES = sizeof candidates / sizeof *candidates };

static dataset *data;
static known_pool pool;

static int make_pool(void **state)
{
    (void)state;
    if (dataset_open("synthetic:clicks,arms=4,rate=0.4", NULL, &data, NULL)) return -1;
    known_plan plan = {data, 1, 1000, 300};
    return known_pool_create(&plan, &pool, NULL) ? -1 : 0;
}

static int free_pool(void **state)
{
    (void)state;
    known_pool_release(&pool);
    dataset_free(data);
    return 0;
}

static coverage_plan plan_of(known_kind kind, double amount, size_t replications)
{
    return (coverage_plan){.pool = &pool,
                           .logging = {kind, amount},
                           .candidates = candidates,
                           .candidate_count = CANDIDATES,
                           .rounds = 500,
                           .replications = replications,
                           .resamples = 60,
                           .seed = 1};
}

static void study(const coverage_plan *plan, size_t threads, coverage_result *out)
{
    *out = (coverage_result){0};
    ok(coverage_run(plan, threads, out, &last_error));
}

/* Of few replications shares are less sure. */
static double slack(void)
{
    return (double)test_long(6, 0) / 100;
}

static size_t replications(void)
{
    return test_long(80, 400);
}

static void check_interval(const coverage_interval *which, const coverage_of_interval *of)
{
    const char *name = interval_name(which->interval), *estimator = coverage_interval_of(which);
    bool few = which->interval == INTERVAL_BOOTSTRAP; /* resamples: their percentiles lie too far inside */
    double most = which->interval == INTERVAL_CRESSIE_READ ? 0.99 : 0.98; /* which is careful */
    bool good = which->guarantee == GUARANTEE_ASYMPTOTIC
                    ? of->covers >= (few ? 0.88 : 0.91) - slack() && of->covers <= most + slack()
                    : of->covers >= 0.95 - slack() / 2;
    if (which->guarantee == GUARANTEE_ALWAYS)
        good = good && of->always >= 0.95 - slack() / 2 && of->always <= of->covers;
    if (which->watched && which->guarantee == GUARANTEE_ASYMPTOTIC) good = good && of->always < 0.9;
    if (!good || !(of->width > 0))
        fail_msg("%s of %s: covers in %g of the logs, always %g, width %g", name, estimator, of->covers, of->always,
                 of->width);
}

static size_t place_of(estimator_kind kind)
{
    size_t k = 0;
    while (coverage_estimators[k] != kind) k++;
    return k;
}

/* An interval that is narrower by a fifth covers in 88% of the logs, one that is broader by a fifth in 98%. */
static void check_mean(const coverage_result *found, interval_kind kind, double low, double high)
{
    double sum = 0, count = 0;
    for (size_t c = 0; c < CANDIDATES; c++)
        for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
            if (coverage_intervals[k].interval != kind) continue;
            sum += found->candidates[c].intervals[k].covers;
            count++;
        }
    if (sum < (low - slack() / 2) * count || sum > (high + slack() / 2) * count)
        fail_msg("%s covers in %g", interval_name(kind), sum / count);
}

TEST(intervals_hold_what_they_promise)
{
    coverage_plan plan = plan_of(KNOWN_UNIFORM, 0, replications());
    RELEASED_BY(coverage_release) coverage_result found;
    study(&plan, 2, &found);
    for (size_t c = 0; c < CANDIDATES; c++) {
        const coverage_candidate *of = &found.candidates[c];
        for (size_t k = 0; k < COVERAGE_INTERVALS; k++) check_interval(&coverage_intervals[k], &of->intervals[k]);
        const coverage_of_estimator *ips = &of->estimators[place_of(ESTIMATOR_IPS)];
        const coverage_of_estimator *robust = &of->estimators[place_of(ESTIMATOR_DR)];
        assert_true(fabs(ips->bias) < 4 * ips->error / sqrt((double)replications())); /* both have none */
        assert_true(fabs(robust->bias) < 4 * robust->error / sqrt((double)replications()));
        assert_true(robust->error < ips->error);
    }
    check_mean(&found, INTERVAL_NORMAL, 0.93, 0.97);
    check_mean(&found, INTERVAL_STUDENT, 0.93, 0.97);
    check_mean(&found, INTERVAL_BOOTSTRAP, 0.89, 0.96); /* of few resamples: a fifth less would be 84% */
    assert_true(found.ordered[place_of(ESTIMATOR_DR)] > 0.99 - slack()); /* they lie far apart */
}

TEST(the_truth_is_that_of_the_pool)
{
    coverage_plan plan = plan_of(KNOWN_FLOOR, 0.5, 2);
    RELEASED_BY(coverage_release) coverage_result found;
    study(&plan, 1, &found);
    double probabilities[300 * 4];
    known_pool_probabilities(&pool, plan.logging, probabilities);
    assert_true(found.logging == known_pool_value(&pool, probabilities));
    assert_true(found.least_probability == 0.125);
    known_pool_probabilities(&pool, candidates[1], probabilities);
    assert_true(found.candidates[1].truth == known_pool_value(&pool, probabilities));
}

TEST(threads_change_nothing)
{
    coverage_plan plan = plan_of(KNOWN_SOFTMAX, 0.5, 12);
    RELEASED_BY(coverage_release) coverage_result one, three, other;
    study(&plan, 1, &one);
    study(&plan, 3, &three);
    size_t size = CANDIDATES * sizeof *one.candidates;
    assert_memory_equal(one.candidates, three.candidates, size);
    assert_memory_equal(one.ordered, three.ordered, sizeof one.ordered);
    plan.seed++;
    study(&plan, 1, &other);
    assert_memory_not_equal(one.candidates, other.candidates, size);
}

TEST_GROUP(make_pool, free_pool)
