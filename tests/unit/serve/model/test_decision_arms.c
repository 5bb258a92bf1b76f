/* What a decision answers if some of its actions are excluded. */
#include "serve/model/decision_arms.h"

#include "support.h"

static void check(learning_mode mode, size_t action, double first, double last)
{
    uint8_t excluded[] = {0, 1, 0};
    double of_arms[] = {0.25, 0.75}, probabilities[3];
    decision_body body = {.count = 3, .excluded = excluded};
    decision_answer(&body, mode, 1, of_arms, probabilities);
    assert_int_equal(body.choice, 2);
    assert_int_equal(body.baseline, 0);
    assert_int_equal(body.action, action);
    assert_true(probabilities[0] == first && probabilities[1] == 0 && probabilities[2] == last);
}

TEST(excluded_actions_have_no_probability)
{
    check(MODE_ONLINE, 2, 0.25, 0.75);
    check(MODE_LOGGING, 0, 1, 0);
}
