/* The short version of 'make guardrails'. On the same bandits the lift keeps its level, and tests that ignore that
 * people return or that shares change do not. */
#include "bench/studies/guardrail_study.h"

#include <string.h>

#include "bench/studies/drift_study.h"
#include "support.h"

enum { MOST_BANDITS = 100 };

static guardrail_result results[MOST_BANDITS], again[MOST_BANDITS];

static size_t alarms(const guardrail_plan *plan, guardrail_method method)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->bandits; i++) count += results[i].alarm[method] > 0;
    return count;
}

static size_t bandits(void)
{
    return test_long(40, MOST_BANDITS);
}

/* With a true rate of 5%, more than 10 of 100 alarms have probability 0.01, more than 4 of 40 0.05. Seeds are fixed. */
static size_t most(void)
{
    return bandits() / 10;
}

TEST(people_who_return_cause_no_false_alarms)
{
    guardrail_plan plan = {.bandits = bandits(), .decisions = 10000, .rate = 0.2, .loyal = true};
    plan.look = 0.001;
    plan.intervals = true;
    ok(guardrail_run(&plan, 2, results, NULL));
    assert_true(alarms(&plan, GUARDRAIL_LIFT) <= most());
    assert_true(alarms(&plan, GUARDRAIL_FIRST) <= most());
    assert_true(alarms(&plan, GUARDRAIL_DECISIONS) > 2 * most());
    size_t missed = 0;
    for (size_t i = 0; i < bandits(); i++) missed += !results[i].covered || !results[i].relative_covered;
    assert_true(missed <= most());
}

TEST(a_trend_causes_no_false_alarms)
{
    guardrail_plan plan = {.bandits = bandits(), .decisions = 20000, .rate = 0.2, .trend = 1.0, .look = 0.001};
    ok(guardrail_run(&plan, 2, results, NULL));
    assert_true(alarms(&plan, GUARDRAIL_LIFT) <= most());
    assert_true(alarms(&plan, GUARDRAIL_UNWEIGHTED) > 2 * most());
}

TEST(harm_is_found_and_the_allowed_harm_is_not)
{
    guardrail_plan plan = {.bandits = bandits() / 2, .decisions = 40000, .rate = 0.2, .harm = 0.5, .share = 0.25};
    plan.look = 0.01;
    plan.bound = 0.1;
    ok(guardrail_run(&plan, 2, results, NULL));
    assert_true(alarms(&plan, GUARDRAIL_LIFT) >= plan.bandits * 9 / 10);
    plan.bound = 0.5;
    ok(guardrail_run(&plan, 2, results, NULL));
    assert_true(alarms(&plan, GUARDRAIL_LIFT) <= most());
}

TEST(the_number_of_threads_does_not_matter)
{
    guardrail_plan plan = {.bandits = 6, .decisions = 3000, .rate = 0.2, .harm = 0.6, .share = 0.25};
    ok(guardrail_run(&plan, 1, results, NULL));
    ok(guardrail_run(&plan, 3, again, NULL));
    for (size_t i = 0; i < plan.bandits; i++)
        assert_memory_equal(results[i].alarm, again[i].alarm, sizeof again[i].alarm);
}

/* Blocks of other sizes alone are no change. If sizes were ignored, most streams would have an alarm of countries. */
TEST(traffic_may_change)
{
    static const double traffic[] = {0.1, 0.6, 10};
    static drift_result found[MOST_BANDITS];
    for (size_t t = 0; t < sizeof traffic / sizeof *traffic; t++) {
        drift_plan plan = {.streams = bandits(), .blocks = 300, .block = t < 2 ? 200 : 50, .change = 80, .seed = 1};
        plan.traffic = traffic[t];
        ok(drift_run(&plan, 2, found, NULL));
        for (size_t k = 0; k < DRIFT_KINDS; k++) {
            size_t count = 0;
            for (size_t i = 0; i < bandits(); i++) count += found[i].alarm[k] > 0;
            if (count > most()) fail_msg("traffic %g, %s: %zu alarms", traffic[t], drift_names[k], count);
        }
    }
}

TEST(drift_is_found_and_rarely_where_there_is_none)
{
    static drift_result found[MOST_BANDITS];
    drift_plan plan = {.streams = bandits(), .blocks = 120, .block = 200, .change = 120, .seed = 1};
    size_t early = 0, late = 0;
    ok(drift_run(&plan, 2, found, NULL));
    for (size_t i = 0; i < bandits(); i++)
        for (size_t k = 0; k < DRIFT_KINDS; k++) early += found[i].alarm[k] > 0;
    assert_true(early <= most() * DRIFT_KINDS);
    plan.change = 80;
    plan.delay = 0.5;
    plan.unseen = plan.older = 0.1;
    plan.reward = 2.0;
    ok(drift_run(&plan, 2, found, NULL));
    for (size_t i = 0; i < bandits(); i++)
        for (size_t k = 0; k < DRIFT_KINDS; k++) late += found[i].alarm[k] > 0;
    assert_true(late >= bandits() * DRIFT_KINDS * 95 / 100);
}
