/* The diagnosis: each fault by itself, found where it is and not where it is not; and the sentence at the top. */
#include "evaluate/diagnosis.h"

#include <math.h>
#include <string.h>

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

static void expect(const diagnosis *facts, bool trusted, const char *words)
{
    diagnosis_report report = diagnosis_explain(facts);
    assert_int_equal(report.trusted, trusted);
    assert_int_equal(report.count, 1);
    assert_int_equal(report.sentences[0].grave, !trusted);
    assert_message_has(report.sentences[0].text, words);
}

static const char nothing[] = "Nothing speaks against these numbers.";

static void test_sound(void **state)
{
    (void)state;
    diagnosis facts = sound();
    expect(&facts, true, nothing);
    facts.direct = facts.robust = facts.robust_error = NAN;
    facts.unsupported = facts.spread_unsupported = facts.probability_sum = facts.sum_off = NAN;
    facts.reward_first = facts.reward_last = facts.reward_error = NAN;
    expect(&facts, true, nothing);
}

static void test_empty(void **state)
{
    (void)state;
    diagnosis facts = sound();
    facts.events = 0;
    expect(&facts, false, "no event");
}

/* Probabilities that are too small by 0.7 make weights too large by 1 / 0.7. */
static void test_wrong_probabilities(void **state)
{
    (void)state;
    diagnosis facts = sound();
    facts.spread_weight = facts.mean_weight = 1.43;
    expect(&facts, false,
           "The log's probabilities look wrong: choices at random should weigh 1.00 on average and weigh 1.43");
    facts.weighs = false; /* the log's own policy does not need them */
    expect(&facts, true, nothing);
    facts = sound();
    facts.mean_weight = 1.43;
    expect(&facts, false, "the choices of eenet should weigh 1.00 on average and weigh 1.43");
    facts.mean_weight_error = 0.2; /* as chance may have it */
    expect(&facts, true, nothing);
    facts = sound();
    facts.mean_weight = 1.04; /* beyond chance, and too little to matter */
    facts.mean_weight_error = 0.001;
    expect(&facts, true, nothing);
    facts = sound();
    facts.sum_off = 1.0;
    facts.probability_sum = 0.3;
    expect(&facts, false, "In 100% of the events the probabilities do not sum to 1: they are off by up to 0.3.");
}

/* Where the log tells the taken action's probability alone, weights below 1 may be choices that it never makes. */
static void test_missing_support(void **state)
{
    (void)state;
    diagnosis facts = sound();
    facts.spread_unsupported = NAN;
    facts.spread_weight = 0.5;
    expect(&facts, true, nothing);
    facts.unsupported = NAN;
    facts.mean_weight = 0.6;
    expect(&facts, false, "The log covers only part of what eenet does: its choices weigh 0.60");
    facts = sound();
    facts.unsupported = 0.2;
    facts.mean_weight = 0.8;
    expect(&facts, false, "20% of what eenet does is never done in this log");
    facts.unsupported = 0.02;
    facts.mean_weight = 0.98;
    expect(&facts, true, "2% of what eenet does is never done in this log");
}

static void test_little_data(void **state)
{
    (void)state;
    diagnosis facts = sound();
    facts.events = 50;
    facts.rounds = 50;
    expect(&facts, true, "There are only 50 events");
    facts.direct = 0.0; /* of a model that has seen as little, it need not be said */
    expect(&facts, true, "There are only 50 events");
    facts = sound();
    facts.effective = 12;
    expect(&facts, true, "10000 events tell as much about it as 12 of its own would");
    facts = sound();
    facts.largest_share = 0.25;
    facts.largest_weight = 812;
    expect(&facts, true, "One event alone makes up 25% of the estimate: its weight is 812.");
}

static void test_changes(void **state)
{
    (void)state;
    diagnosis facts = sound();
    facts.reward_last = 0.15;
    expect(&facts, true, "went from 0.1 in its first third to 0.15 in the last");
    facts = sound();
    facts.direct = 0.3;
    expect(&facts, true, "it says 0.3, and corrected by the rewards of the log 0.152");
    facts = sound();
    facts.seen_range = true;
    facts.range_low = -1;
    facts.range_high = 7;
    expect(&facts, true, "between -1 and 7");
    facts = sound();
    facts.slots = true;
    expect(&facts, true, "several slots");
    facts = sound();
    facts.taken_alone = true;
    expect(&facts, true, "is that of IPS");
}

static void expect_headline(bool trusted, diagnosis_gain gain, const char *expected)
{
    diagnosis facts = sound();
    char text[DIAGNOSIS_TEXT];
    diagnosis_headline(&facts, trusted, gain, text);
    assert_string_equal(text, expected);
}

static void test_headline(void **state)
{
    (void)state;
    expect_headline(true, (diagnosis_gain){0.012, 0.008, 0.016, 0.1},
                    "eenet would have earned 12% \302\261 4.0% more than the log's policy.");
    expect_headline(true, (diagnosis_gain){-0.03, -0.04, -0.02, 0.1},
                    "eenet would have earned 30% \302\261 10% less than the log's policy.");
    expect_headline(true, (diagnosis_gain){0.01, 0.005, 0.03, 0.1},
                    "eenet would have earned 10% more than the log's policy, between 5.0% and 30%.");
    expect_headline(true, (diagnosis_gain){0.0121, 0.008, 0.016, 0.1}, /* sides that are nearly alike */
                    "eenet would have earned 12% \302\261 4.1% more than the log's policy.");
    expect_headline(true, (diagnosis_gain){0.1508, 0.0955, 0.2633, 0.1053}, /* sides that are not */
                    "eenet would have earned 143% more than the log's policy, between 91% and 250%.");
    expect_headline(true, (diagnosis_gain){0.01, 0.001, 0.0205, 0.1}, /* with as much below, it could be less */
                    "eenet would have earned 10% more than the log's policy, between 1.0% and 20%.");
    expect_headline(
        true, (diagnosis_gain){0.01, -0.003, 0.025, 0.1},
        "No difference between eenet and the log's policy is shown: it lies between 3.0% less and 25% more.");
    expect_headline(
        true, (diagnosis_gain){-0.09, -0.13, 0.025, 0.1},
        "No difference between eenet and the log's policy is shown: it lies between 100% less and 25% more.");
    expect_headline(true, (diagnosis_gain){0.5, 0.25, 0.75, -2.0},
                    "eenet would have earned 0.5 an event \302\261 0.25 an event more than the log's policy.");
    expect_headline(false, (diagnosis_gain){0.012, 0.008, 0.016, 0.1},
                    "What eenet would have earned cannot be told from this log.");
    expect_headline(true, (diagnosis_gain){NAN, NAN, NAN, 0.1},
                    "What eenet would have earned cannot be told from this log.");
    expect_headline(true, (diagnosis_gain){0.01, NAN, NAN, 0.1},
                    "eenet would have earned some 10% more than the log's policy; how sure that is, is not known.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_wrong_probabilities),
        cmocka_unit_test(test_missing_support),
        cmocka_unit_test(test_little_data),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_headline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
