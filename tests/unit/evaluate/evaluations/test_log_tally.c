/* What is added up of a log: how sure the change of its reward is. */
#include "evaluate/evaluations/log_tally.h"

#include "support.h"

/* 1000 events, each of which stands for so many; every third has a reward, in the last third every second. */
static diagnosis facts_of(double copies)
{
    log_tally sums;
    diagnosis facts = {0};
    log_tally_start(&sums, (value_range){0.0, 1.0, 2.0});
    for (size_t i = 0; i < 1000; i++) {
        log_event event = {.count = 2, .probability = 0.5, .copies = copies};
        event.reward = i % (i < 667 ? 3 : 2) == 0 ? 1.0 : 0.0;
        log_tally_add(&sums, &event);
    }
    log_tally_facts(&sums, &facts);
    return facts;
}

TEST(test_change)
{
    diagnosis facts = facts_of(1.0);
    assert_close(facts.reward_first, 1.0 / 3.0, 0.01);
    assert_close(facts.reward_last, 0.5, 0.01);
    assert_close(facts.reward_error, 0.038, 0.001); /* sqrt((1/3 2/3 + 1/4) / 330) */
}

/* Events that stand for fifty, as where 98% were dropped on purpose, tell no more than as many that stand for one. */
TEST(test_change_of_dropped)
{
    diagnosis all = facts_of(1.0), some = facts_of(50.0);
    assert_close(some.reward_first, all.reward_first, 1e-12);
    assert_close(some.reward_error, all.reward_error, 1e-12);
}
