/* The diagnosis: each fault by itself, found where it is and not where it is not; and the sentence at the top. */
#include "evaluate/checks/diagnosis.h"

#include "support_files.h"

/* A log of 10,000 events in which all is well. */
static diagnosis sound(void)
{
    return (diagnosis){.candidate = "eenet",
                       .weighs = true,
                       .events = 10000,
                       .rounds = 10000,
                       .effective = 4000,
                       .largest_weight = 9,
                       .largest_share = 0.001,
                       .mean_weight = 1.01,
                       .mean_weight_error = 0.01,
                       .unsupported = 0.0,
                       .spread_weight = 0.99,
                       .spread_weight_error = 0.01,
                       .spread_unsupported = 0.0,
                       .probability_sum = 1e-7,
                       .sum_off = 0.0,
                       .reward_first = 0.1,
                       .reward_last = 0.101,
                       .reward_error = 0.004,
                       .direct = 0.15,
                       .robust = 0.152,
                       .robust_error = 0.004};
}

static diagnosis facts;

static int set_up(void **state)
{
    (void)state;
    facts = sound();
    return 0;
}

#define TEST_OF_FACTS(name) TEST_WITH(name, set_up, NULL)

static void expect(bool trusted, const char *words)
{
    diagnosis_report report = diagnosis_explain(&facts);
    assert_int_equal(report.trusted, trusted);
    assert_int_equal(report.count, 1);
    assert_int_equal(report.sentences[0].grave, !trusted);
    assert_message_has(report.sentences[0].text, words);
}

static const char nothing[] = "No problems found.";

TEST_OF_FACTS(test_sound)
{
    expect(true, nothing);
    facts.direct = facts.robust = facts.robust_error = NAN;
    facts.unsupported = facts.spread_unsupported = facts.probability_sum = facts.sum_off = NAN;
    facts.reward_first = facts.reward_last = facts.reward_error = NAN;
    expect(true, nothing);
}

TEST_OF_FACTS(test_empty)
{
    facts.events = 0;
    expect(false, "no events");
}

/* Probabilities that are too small by 0.7 make weights too large by 1 / 0.7. */
TEST_OF_FACTS(test_wrong_probabilities)
{
    facts.spread_weight = facts.mean_weight = 1.43;
    expect(false, "The log's propensities look wrong: the weights of random choices average 1.43; expected 1.00.");
    facts.weighs = false; /* the log's own policy does not need them */
    expect(true, nothing);
    facts = sound();
    facts.mean_weight = 1.43;
    expect(false, "the weights of eenet average 1.43; expected 1.00");
    facts.mean_weight_error = 0.2; /* as chance may have it */
    expect(true, nothing);
    facts = sound();
    facts.mean_weight = 1.04; /* beyond chance, and too little to matter */
    facts.mean_weight_error = 0.001;
    expect(true, nothing);
    facts = sound();
    facts.sum_off = 1.0;
    facts.probability_sum = 0.3;
    expect(false, "In 100% of the events the action probabilities do not sum to 1; the largest error is 0.3.");
}

/* Where the log tells the taken action's probability alone, weights below 1 may be choices that it never makes. */
TEST_OF_FACTS(test_missing_support)
{
    facts.spread_unsupported = NAN;
    facts.spread_weight = 0.5;
    expect(true, nothing);
    facts.unsupported = NAN;
    facts.mean_weight = 0.6;
    expect(false, "The log covers only part of what eenet does: its weights average 0.60; expected 1.");
    facts = sound();
    facts.unsupported = 0.2;
    facts.mean_weight = 0.8;
    expect(false, "20% of the choices of eenet never occur in this log");
    facts.unsupported = 0.02;
    facts.mean_weight = 0.98;
    expect(true, "2% of the choices of eenet never occur in this log");
}

TEST_OF_FACTS(test_little_data)
{
    facts.events = 50;
    facts.rounds = 50;
    expect(true, "Only 50 events: too few");
    facts.direct = 0.0; /* of a model that has seen as little, it need not be said */
    expect(true, "Only 50 events: too few");
    facts = sound();
    facts.effective = 49;
    expect(true, "its effective sample size is 49 of 10000 events");
    facts.effective = 20;
    expect(true, "its effective sample size is 20 of 10000 events");
    facts.effective = 19.99;
    expect(false, "its effective sample size is 19.9 of 10000 events; at least 20 are needed.");
    facts.effective = 2.3;
    expect(false, "its effective sample size is 2.3 of 10000 events; at least 20 are needed.");
    facts.effective = NAN; /* it never agrees with the log */
    expect(false, "its effective sample size is 0 of 10000 events");
    facts.weighs = false;
    expect(true, nothing);
    facts = sound();
    facts.events = 19;
    facts.rounds = facts.effective = 19;
    expect(false, "Only 19 events: too few to compare policies; at least 20 are needed.");
    facts = sound();
    facts.largest_share = 0.25;
    facts.largest_weight = 812;
    expect(true, "One event has 25% of the total weight (its weight is 812)");
}

TEST_OF_FACTS(test_no_exploration)
{
    static const char words[] =
        "Every propensity is 1: this log has no exploration and cannot evaluate another policy.";
    facts.certain = true;
    facts.unsupported = 0.7;
    facts.mean_weight = 0.3;
    facts.spread_weight = 0.3;
    expect(false, words);
    facts.unsupported = 0.0;
    facts.mean_weight = 1.0; /* it agrees with the log throughout */
    expect(true, words);
    facts.weighs = false;
    expect(true, nothing);
}

/* What the checks found comes with the candidates' own sentences; the logging policy does not need propensities. */
TEST_OF_FACTS(test_found)
{
    facts.found = (log_findings){.count = 2, .list = {{true, true, "propensities"}, {false, false, "copies"}}};
    diagnosis_report report = diagnosis_explain(&facts);
    assert_int_equal(report.count, 2);
    assert_false(report.trusted);
    assert_true(report.sentences[0].grave && report.sentences[0].log && !report.sentences[1].grave);
    assert_string_equal(report.sentences[0].text, "propensities");
    report = diagnosis_explain_log(&facts);
    assert_int_equal(report.count, 2);
    facts.weighs = false;
    expect(true, "copies");
    facts = sound();
    assert_int_equal(diagnosis_explain_log(&facts).count, 0);
    facts.repeated = 500;
    expect(true, "4.8% of the lines have the id of an earlier event and were skipped.");
    facts.repeated = 9; /* too few to matter */
    expect(true, nothing);
}

/* A candidate that was computed from the log. */
TEST_OF_FACTS(test_future)
{
    facts.mean_weight = 1.43;
    facts.from_file = true;
    expect(false, "The probabilities of eenet depend on the logged actions or rewards");
    facts.mean_weight = 1.0;
    facts.fit_score = 1.1; /* right on average, and wrong for an action */
    expect(false, "The probabilities of eenet depend on the logged actions or rewards");
    facts.fit_score = 0.9;
    expect(true, nothing);
    facts.learned_as_many = 10000;
    expect(true, "eenet has learned as many rewards as this log has events (10000).");
}

TEST_OF_FACTS(test_lines)
{
    facts.bad_lines = 0.906;
    facts.first_bad_line = 2;
    facts.bad_reason = "expected a number for the reward, got ''";
    expect(false, "91% of the lines were skipped; first: line 2: expected a number for the reward, got ''.");
    facts.bad_lines = 0.01;
    expect(true, "1% of the lines were skipped; first: line 2: ");
    facts = sound();
    facts.remarks[0] = NULL;
    expect(true, nothing);
    facts.remarks[0] = "No column is used as context.";
    expect(true, "No column is used as context.");
}

TEST_OF_FACTS(test_changes)
{
    facts.reward_last = 0.15;
    expect(true, "changed from 0.1 in its first third to 0.15 in its last");
    facts = sound();
    facts.direct = 0.3;
    expect(true, "alone (DM) it estimates 0.3; corrected by the logged rewards (DR), 0.152");
    facts = sound();
    facts.seen_range = true;
    facts.range_low = -1;
    facts.range_high = 7;
    expect(true, "between -1 and 7");
    facts = sound();
    facts.slots = true;
    expect(true, "several slots");
    facts = sound();
    facts.taken_alone = true;
    expect(true, "show the interval of IPS");
}

/* Two estimators of the same value, further apart than chance allows. */
TEST_OF_FACTS(test_agreement)
{
    static const char words[] = "DR and SNIPS disagree beyond chance (0.2 and 0.15), though both estimate what eenet "
                                "would have earned: trust neither.";
    facts.pair[0] = "dr";
    facts.pair[1] = "snips";
    facts.pair_values[0] = 0.2;
    facts.pair_values[1] = 0.15;
    facts.pair_error = 0.012;
    expect(false, words);
    facts.pair_error = 0.013; /* below 4 standard errors */
    expect(true, nothing);
    facts.pair_apart = true;
    expect(false, words);
    facts.pair_apart = false;
    facts.pair_error = NAN;
    expect(true, nothing);
    facts.pair_error = 0.001;
    facts.pair_values[1] = 0.181; /* by less than a tenth */
    expect(true, nothing);
    facts.pair_values[1] = 0.179;
    facts.weighs = false;
    expect(true, nothing);
}

TEST_OF_FACTS(test_model_alone)
{
    char text[DIAGNOSIS_TEXT];
    facts.model_alone = true;
    expect(false, "Only dm was requested: its interval ignores the error of the reward model");
    diagnosis_headline(&facts, false, (diagnosis_gain){0.012, 0.008, 0.016, 0.1, 0.95, ""}, text);
    assert_string_equal(text, "dm alone cannot show what eenet would have earned; add dr or snips.");
    facts.weighs = false;
    expect(true, nothing);
    diagnosis_headline(&facts, true, (diagnosis_gain){0.0, 0.0, 0.0, 0.1, 0.95, ""}, text);
    assert_string_equal(text, "eenet is the logging policy; it earned 0.1 per event.");
}

static void expect_headline(bool trusted, diagnosis_gain gain, const char *expected)
{
    char text[DIAGNOSIS_TEXT];
    diagnosis_headline(&facts, trusted, gain, text);
    assert_string_equal(text, expected);
}

TEST_OF_FACTS(test_headline)
{
    expect_headline(true, (diagnosis_gain){0.012, 0.008, 0.016, 0.1, 0.95, "dr"},
                    "eenet would have earned 12% more than the logging policy (DR, 95% interval: 8.0% to 16%).");
    expect_headline(true, (diagnosis_gain){-0.03, -0.04, -0.02, 0.1, 0.9, "dr"},
                    "eenet would have earned 30% less than the logging policy (DR, 90% interval: 20% to 40%).");
    expect_headline(true, (diagnosis_gain){0.1508, 0.0955, 0.2633, 0.1053, 0.95, "dr"},
                    "eenet would have earned 143% more than the logging policy (DR, 95% interval: 91% to 250%).");
    expect_headline(true, (diagnosis_gain){0.05, 0.001, 0.02, 0.1, 0.95, "dr"}, /* an estimate outside the interval */
                    "eenet would have earned 20% more than the logging policy (DR, 95% interval: 1.0% to 20%).");
    expect_headline(
        true, (diagnosis_gain){0.01, -0.003, 0.025, 0.1, 0.95, "dr"},
        "Inconclusive: eenet would have earned between 3.0% less and 25% more than the logging policy (DR, 95% "
        "interval).");
    expect_headline(
        true, (diagnosis_gain){-0.09, -0.13, 0.025, 0.1, 0.95, "dr"}, /* at most everything is lost */
        "Inconclusive: eenet would have earned between 100% less and 25% more than the logging policy (DR, 95% "
        "interval).");
    expect_headline(
        true, (diagnosis_gain){0.5, 0.25, 0.75, -2.0, 0.95, "dr"},
        "eenet would have earned 0.5 more per event than the logging policy (DR, 95% interval: 0.25 to 0.75).");
    expect_headline(false, (diagnosis_gain){0.012, 0.008, 0.016, 0.1, 0.95, "dr"},
                    "This log cannot show what eenet would have earned.");
    expect_headline(true, (diagnosis_gain){NAN, NAN, NAN, 0.1, 0.95, "dr"},
                    "This log cannot show what eenet would have earned.");
    expect_headline(
        true, (diagnosis_gain){0.01, NAN, NAN, 0.1, 0.95, "dr"},
        "eenet would have earned about 10% more than the logging policy (DR); there is no interval, so this may "
        "be chance.");
}

/* Limits of time do not leave out an event without a time. */
TEST_OF_FACTS(test_times)
{
    facts.timeless = 1.0;
    expect(false, "100% of the events have no readable time, so --from, --until and --judge-from do not leave");
    facts.timeless = 0.04;
    expect(true, "4% of the events have no readable time");
}

TEST_OF_FACTS(test_outside)
{
    facts.outside = "dr";
    facts.outside_value = 0.31;
    facts.outside_low = 0.35;
    facts.outside_high = 0.48;
    expect(false, "The estimate of DR (0.31) is outside its interval (0.35 to 0.48): they contradict each other");
    facts.events = 99; /* too few for its standard error */
    facts.rounds = 99;
    expect(true, "Only 99 events");
}

TEST_OF_FACTS(test_replay_alone)
{
    facts.replay_uneven = true;
    expect(false, "Only replay was requested, but the log's choices are not uniform");
    facts.replay_draws = true;
    expect(false, "Only replay was requested, which needs a candidate that takes one action");
    facts.weighs = false;
    expect(true, nothing);
}
