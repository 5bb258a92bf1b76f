/* Guardrails: from JSON into tables, every mistake with its sentence, and the stages of a rollout. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "serve/settings/bandit_settings.h"

static const int64_t HOUR = (int64_t)3600 * 1000000;

static guard_settings good(const char *json)
{
    guard_settings tables;
    ee_error error = {0};
    if (guard_settings_read(&tables, json, strlen(json), &error)) fail_msg("%s: %s", json, error.message);
    return tables;
}

static void assert_refused(const char *json, const char *message)
{
    guard_settings tables;
    ee_error error = {0};
    assert_int_equal(guard_settings_read(&tables, json, strlen(json), &error), EE_BAD_INPUT);
    assert_string_equal(error.message, message);
    guard_settings_release(&tables);
}

TEST(nothing_is_limited_by_an_empty_object)
{
    guard_settings tables = good("{}");
    assert_false(tables.has_groups);
    assert_true(guard_settings_treated(&tables, 0) == 1);
    assert_int_equal(tables.rule_count + tables.cap_count + tables.budget_count + tables.share_count, 0);
    assert_int_equal(tables.sticky, 0);
    guard_settings_release(&tables);
}

TEST(every_member_becomes_a_table)
{
    guard_settings tables = good(
        "{\"control\": {\"share\": 0.05, \"baseline\": {\"action\": \"a\"}}, \"rollout\": {\"share\": 0.25},"
        " \"segment\": \"user.country\", \"error\": 0.01,"
        " \"bounds\": [{\"metric\": \"reward\", \"most_below\": 0.1, \"then\": \"fallback\"}],"
        " \"rules\": [{\"name\": \"r\", \"context\": {\"user.country\": [\"DE\", \"AT\"]}, \"action\": {\"price\": "
        "{\"from\": 10, \"below\": 20}}, \"exclude\": true}, {\"name\": \"b\", \"boost\": 0.1, \"until\": "
        "\"1970-01-02\"}],"
        " \"shares\": [{\"name\": \"s\", \"action\": {\"new\": true}, \"low\": 0.1, \"window\": \"1d\"}],"
        " \"caps\": [{\"name\": \"c\", \"action\": {\"_id\": \"a\"}, \"most\": 3, \"per\": \"1h\", \"each\": \"key\"}],"
        " \"budgets\": [{\"name\": \"g\", \"cost\": \"cost\", \"limit\": 500, \"pace\": \"first\"}],"
        " \"sticky\": {\"for\": 60, \"change\": 0.5}}");
    assert_true(tables.has_groups && tables.control == 0.05 && tables.baseline == BASELINE_ACTION);
    assert_string_equal(tables.baseline_action, "a");
    assert_true(fabs(guard_settings_treated(&tables, 0) - 0.95 * 0.25) < 1e-15);
    assert_string_equal(tables.segment, "user.country");
    assert_true(tables.error == 0.01 && tables.bounds[0].below && tables.bounds[0].factor == 0.9);
    assert_int_equal(tables.bounds[0].then, GUARD_FALLBACK);
    assert_int_equal(tables.rule_count, 2);
    assert_int_equal(tables.rules[0].terms, 3);
    assert_int_equal(tables.terms[0].value_count, 2);
    assert_true(tables.terms[1].of_action && tables.terms[1].values[0].low == 10);
    assert_true(tables.rules[0].excludes && tables.rules[1].boost == 0.1 && tables.rules[1].until == 24 * HOUR);
    assert_true(tables.shares[0].low == 0.1 && tables.shares[0].high == 1 && tables.shares[0].window == 24 * HOUR);
    assert_string_equal(tables.terms[2].values[0].words, "true");
    assert_true(tables.caps[0].most == 3 && tables.caps[0].per == HOUR && tables.caps[0].each_key);
    assert_true(tables.budgets[0].limit == 500 && !tables.budgets[0].even);
    assert_string_equal(tables.budgets[0].cost_path, "cost");
    assert_true(tables.sticky == 60 * (int64_t)1000000 && tables.sticky_change == 0.5);
    guard_settings_release(&tables);
}

TEST(mistakes)
{
    assert_refused("[]", "guardrails: settings: expected an object");
    assert_refused("{\"control\": {\"share\": 2}}", "guardrails: control: share must be a number from 0 to 1");
    assert_refused("{\"contol\": {}}", "guardrails: settings: unknown member 'contol'; did you mean 'control'?");
    assert_refused("{\"control\": {\"baseline\": \"best\"}}",
                   "guardrails: control: baseline must be \"first\", \"uniform\" or {\"action\": ID}");
    assert_refused("{\"rollout\": {}}", "guardrails: rollout: expected share or schedule, one of both");
    assert_refused("{\"rollout\": {\"schedule\": [{\"share\": 0.1}, {\"share\": 1}]}}",
                   "guardrails: rollout.schedule[0]: for is missing: only the last stage has no end");
    assert_refused("{\"bounds\": [{\"metric\": \"reward\", \"most_above\": 0.1}]}",
                   "guardrails: bounds: they compare with a control group: set control.share");
    assert_refused("{\"rules\": [{\"name\": \"x\", \"exclude\": true}]}",
                   "guardrails: rules[0]: it would exclude every action: add a condition");
    assert_refused("{\"rules\": [{\"exclude\": true}]}",
                   "guardrails: rules[0]: name must be a string of 1 to 64 bytes");
    assert_refused("{\"rules\": [{\"name\": \"x\", \"exclude\": true, \"boost\": 1}]}",
                   "guardrails: rules[0]: expected exclude or boost, one of both");
    assert_refused("{\"rules\": [{\"name\": \"x\", \"boost\": 1, \"until\": \"soon\"}]}",
                   "guardrails: rules[0]: until must be a time such as \"2026-12-01T00:00:00Z\"");
    assert_refused("{\"shares\": [{\"name\": \"x\", \"action\": {\"a\": 1}, \"low\": 0.5, \"high\": 0.4}]}",
                   "guardrails: shares[0]: low must not be above high");
    assert_refused("{\"caps\": [{\"name\": \"x\", \"action\": {\"a\": 1}, \"most\": 1.5}]}",
                   "guardrails: caps[0]: most must be an integer from 1 to 1e12");
    assert_refused("{\"caps\": [{\"name\": \"x\", \"most\": 1}]}",
                   "guardrails: caps[0]: it would cap every action: add a condition");
    assert_refused("{\"budgets\": [{\"name\": \"x\", \"cost\": \"c\"}]}", "guardrails: budgets[0]: limit is missing");
    assert_refused("{\"budgets\": [{\"name\": \"x\", \"cost\": 1, \"default_cost\": 1, \"limit\": 1}]}",
                   "guardrails: budgets[0]: default_cost is for a cost that is a path");
    assert_refused("{\"sticky\": {}}", "guardrails: sticky: for is missing");
    assert_refused("{\"rules\": [{\"name\": \"x\", \"action\": {\"a\": null}, \"exclude\": true}]}",
                   "guardrails: rules[0]: a: expected a string, a number, true, false, {\"from\": 1, \"below\": 2}, or "
                   "an array of them");
    assert_refused("{\"caps\": [{\"name\": \"a\", \"action\": {\"k\": 1}, \"most\": 1}, {\"name\": \"a\", \"action\": "
                   "{\"k\": 2}, \"most\": 1}]}",
                   "guardrails: caps[1]: there is another with the name 'a'");
    assert_refused(
        "{\"sticky\": {\"for\": \"400d\"}}",
        "guardrails: sticky: for must be seconds, or a string such as \"10m\", \"4h\" or \"2d\"; above 0, at "
        "most 366d");
}

TEST(bounds_name_metrics_that_exist)
{
    bandit_settings settings = bandit_settings_usual();
    ee_error error = {0};
    const char *missing = "{\"guardrails\": {\"control\": {\"share\": 0.1}, \"bounds\": [{\"metric\": \"refund\", "
                          "\"most_above\": 0.1}]}}";
    assert_int_equal(bandit_settings_read(&settings, missing, strlen(missing), SETTINGS_NEW, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "guardrails: bounds[0]: there is no metric 'refund' in metrics");
    const char *there = "{\"metrics\": [{\"name\": \"refund\"}], \"guardrails\": {\"control\": {\"share\": 0.1}, "
                        "\"bounds\": [{\"metric\": \"refund\", \"most_above\": 0.1}]}}";
    ok(bandit_settings_read(&settings, there, strlen(there), SETTINGS_NEW, &error));
    assert_int_equal(settings.joining.metric_count, 1);
}

TEST(a_schedule_moves_on)
{
    guard_settings tables = good(
        "{\"control\": {\"share\": 0.5}, \"rollout\": {\"since\": \"1970-01-01T00:00:00Z\", \"schedule\": [{\"share\": "
        "0.1, \"for\": \"1h\"}, {\"share\": 0.5, \"for\": \"2h\"}, {\"share\": 1}]}}");
    assert_true(guard_settings_treated(&tables, 0) == 0.05);
    assert_true(guard_settings_treated(&tables, HOUR - 1) == 0.05);
    assert_true(guard_settings_treated(&tables, HOUR) == 0.25);
    assert_true(guard_settings_treated(&tables, 3 * HOUR - 1) == 0.25);
    assert_true(guard_settings_treated(&tables, 3 * HOUR) == 0.5);
    guard_settings_release(&tables);
}

static void assert_begun(const char *json, const char *expected)
{
    ee_error error = {0};
    text made = text_start(&error);
    ok(guard_settings_begin(words(json), HOUR, &made, &error));
    assert_string_equal(made.bytes, expected);
    memory_free(made.bytes);
}

TEST(a_schedule_without_a_beginning_begins_now)
{
    assert_begun("{\"sticky\": {\"for\": 1}}", "{\"sticky\": {\"for\": 1}}");
    assert_begun("{\"rollout\": {\"share\": 1}}", "{\"rollout\": {\"share\": 1}}");
    assert_begun("{\"rollout\": {\"schedule\": [{\"share\": 1}], \"since\": \"1970-01-01\"}}",
                 "{\"rollout\": {\"schedule\": [{\"share\": 1}], \"since\": \"1970-01-01\"}}");
    assert_begun(
        "{\"rollout\": {\"schedule\": [{\"share\": 1}]}, \"error\": 0.1}",
        "{\"rollout\": {\"schedule\": [{\"share\": 1}],\"since\":\"1970-01-01T01:00:00.0000000Z\"}, \"error\": "
        "0.1}");
}

TEST(metrics_make_an_objective)
{
    bandit_settings settings = bandit_settings_usual();
    const char *json = "{\"metrics\": [{\"name\": \"margin\", \"weight\": 0.5}, {\"name\": \"refund\", \"weight\": -2, "
                       "\"missing\": null}]}";
    ok(bandit_settings_read(&settings, json, strlen(json), SETTINGS_NEW, NULL));
    assert_true(metric_objective(&settings.joining, 1, (double[]){4, 1}) == 1);
    assert_true(metric_objective(&settings.joining, 1, (double[]){NAN, NAN}) == 1);
    assert_int_equal(metric_find(&settings.joining, (json_text){"refund", 6}), 1);
    assert_int_equal(metric_find(&settings.joining, (json_text){"x", 1}), 2);
}
