#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/monitoring/activity.h"
#include "support.h"

static activity *all;
static activity_report report;

static int set_up(void **state)
{
    (void)state;
    all = activity_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    activity_free(all);
    return 0;
}

/* A decision between actions of these names and probabilities. */
static activity_choice choose(const char *const *names, const double *probabilities, size_t count, size_t action)
{
    json_text texts[8];
    for (size_t i = 0; names && i < count; i++) texts[i] = (json_text){names[i], strlen(names[i])};
    decision_body body = {
        .count = count, .action = action, .probabilities = probabilities, .names = names ? texts : NULL};
    return activity_choice_of(&body);
}

static activity_choice chosen(const char *name)
{
    const double certain = 1;
    return choose(&name, &certain, 1, 0);
}

TEST(choices_say_what_chance_did)
{
    const char *names[] = {"a", "b", "c"};
    activity_choice even = choose(names, (double[]){0.5, 0.5, 0}, 3, 1);
    assert_string_equal(even.name, "b");
    assert_true(fabsf(even.entropy - 1) < 1e-6f && !even.explored && even.probability == 0.5f);
    activity_choice rare = choose(names, (double[]){0.9, 0.05, 0.05}, 3, 2);
    double entropy = -(0.9 * log(0.9) + 0.1 * log(0.05)) / log(3);
    assert_true(rare.explored && fabs((double)rare.entropy - entropy) < 1e-6);
    activity_choice alone = choose(NULL, (double[]){0, 1}, 2, 1);
    assert_string_equal(alone.name, "1");
    assert_true(alone.entropy == 0 && !alone.explored);
}

TEST(long_names_are_cut_between_letters)
{
    for (size_t length = 50; length < 80; length++) {
        char name[200] = "";
        for (size_t i = 0; i < length; i++) strcat(name, "ä");
        strcat(name, "x");
        activity_choice cut = chosen(name);
        size_t size = strlen(cut.name);
        assert_true(size < ACTIVITY_NAME_SIZE && size > ACTIVITY_NAME_SIZE - 8);
        assert_true(json_is_utf8((json_text){cut.name, size}));
        assert_string_equal(cut.name + size - 3, "…");
    }
    char fits[ACTIVITY_NAME_SIZE];
    memset(fits, 'f', sizeof fits);
    fits[sizeof fits - 1] = '\0';
    assert_string_equal(chosen(fits).name, fits);
    assert_true(chosen("a").action != chosen("b").action);
}

TEST_WITH(seconds_go_by, set_up, tear_down)
{
    activity_choice choice = choose(NULL, (double[]){0.7, 0.3}, 2, 1);
    for (int64_t second = 1000; second < 1010; second++)
        for (int64_t i = 0; i < second - 999; i++) activity_decided(all, 3, second, &choice);
    activity_rewarded(all, 3, 1009);
    activity_decided(all, 3, 1008, &choice); /* what comes late is of the newest */
    activity_read(all, 3, 1010, &report);
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 1].decisions, 11);
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 1].explored, 11);
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 1].rewards, 1);
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 2].decisions, 9);
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 10].decisions, 1);
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 11].decisions, 0);
    assert_int_equal(report.seconds[0].decisions, 0);
    assert_true(fabs(report.decisions - 56) < 1e-9 && fabs(report.explored - 1) < 1e-9);
    assert_true(fabs(report.probability - 0.3) < 1e-6);
    activity_read(all, 3, 1009, &report); /* the second that runs is not shown */
    assert_int_equal(report.seconds[ACTIVITY_SECONDS - 1].decisions, 9);
    activity_read(all, 3, 1000 + ACTIVITY_SECONDS, &report); /* the oldest is at the beginning */
    assert_int_equal(report.seconds[0].decisions, 1);
    activity_read(all, 3, 1100 + ACTIVITY_SECONDS, &report);
    for (size_t i = 0; i < ACTIVITY_SECONDS; i++) assert_int_equal(report.seconds[i].decisions, 0);
    activity_decided(all, 3, 5000, &choice); /* long after: the ring is clean */
    activity_read(all, 3, 5001, &report);
    uint64_t sum = 0;
    for (size_t i = 0; i < ACTIVITY_SECONDS; i++) sum += report.seconds[i].decisions;
    assert_int_equal(sum, 1);
}

TEST_WITH(a_quiet_bandit_has_nothing, set_up, tear_down)
{
    activity_read(all, 77, 1000, &report);
    assert_int_equal(report.count, 0);
    assert_true(isnan(report.explored) && isnan(report.entropy) && report.decisions == 0 && report.others == 0);
    activity_free(NULL);
}

TEST_WITH(shares_are_those_of_the_decisions, set_up, tear_down)
{
    const char *names[] = {"a", "b", "c"};
    activity_choice a = chosen(names[0]), b = chosen(names[1]), c = chosen(names[2]);
    for (int i = 0; i < 60; i++) {
        activity_decided(all, 1, 1000, i % 6 < 3 ? &b : i % 6 < 5 ? &a : &c);
        activity_decided(all, 2, 1000, &c); /* another bandit's are its own */
    }
    activity_read(all, 1, 1001, &report);
    assert_int_equal(report.count, 3);
    assert_string_equal(report.actions[0].name, "b");
    assert_string_equal(report.actions[1].name, "a");
    assert_string_equal(report.actions[2].name, "c");
    assert_true(fabs(report.actions[0].share - 0.5) < 1e-12 && fabs(report.actions[2].share - 1. / 6) < 1e-12);
    assert_true(report.others == 0 && fabs(report.actions[0].probability - 1) < 1e-12);
}

/* Ten actions have half of the decisions, ten thousand the other half: the ten are found, and what is said of them is
 * never more than is true. */
TEST_WITH(frequent_actions_are_found_among_many, set_up, tear_down)
{
    size_t true_count[10] = {0}, total = ACTIVITY_DECISIONS - 1;
    srand(5);
    for (size_t i = 0; i < total; i++) {
        char name[32];
        size_t often = i / 2 % 10;
        if (i % 2) true_count[often]++;
        if (i % 2)
            snprintf(name, sizeof name, "often%zu", often);
        else
            snprintf(name, sizeof name, "rare%d", rand() % 10000);
        activity_choice choice = chosen(name);
        activity_decided(all, 9, 1000, &choice);
    }
    activity_read(all, 9, 1001, &report);
    double sum = report.others;
    for (size_t i = 0; i < report.count; i++) sum += report.actions[i].share;
    assert_true(fabs(sum - 1) < 1e-9);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(strncmp(report.actions[i].name, "often", 5), 0);
        double truth = (double)true_count[report.actions[i].name[5] - '0'] / (double)total;
        assert_true(report.actions[i].share <= truth + 1e-12 && report.actions[i].share > 0.9 * truth);
    }
}

TEST_WITH(what_was_long_ago_fades, set_up, tear_down)
{
    activity_choice before = chosen("before"), now = chosen("now");
    for (int i = 0; i < 10 * ACTIVITY_DECISIONS; i++) activity_decided(all, 1, 1000, &before);
    for (int i = 0; i < 2 * ACTIVITY_DECISIONS; i++) activity_decided(all, 1, 1000, &now);
    activity_read(all, 1, 1001, &report);
    assert_string_equal(report.actions[0].name, "now");
    assert_true(report.actions[0].share > 0.9 && report.actions[1].share < 0.1);
    assert_true(report.decisions < ACTIVITY_DECISIONS && report.decisions >= ACTIVITY_DECISIONS / 2);
}

/* More bandits than are remembered: the last one is, and those that are still asked are not forgotten for quiet ones.
 */
TEST_WITH(memory_is_bounded, set_up, tear_down)
{
    activity_choice choice = chosen("x");
    for (uint32_t i = 1; i <= ACTIVITY_BANDITS; i++) activity_decided(all, i, 1000, &choice);
    for (uint32_t i = 1; i <= 100; i++) activity_decided(all, i, 2000, &choice);
    for (uint32_t i = 1; i <= 2000; i++) activity_decided(all, ACTIVITY_BANDITS + i, 2001, &choice);
    activity_read(all, ACTIVITY_BANDITS + 2000, 2002, &report);
    assert_true(report.decisions > 0);
    for (uint32_t i = 1; i <= 50; i++) {
        activity_read(all, i, 2002, &report);
        assert_true(report.decisions > 0);
    }
    size_t forgotten = 0;
    for (uint32_t i = 101; i <= ACTIVITY_BANDITS; i++) {
        activity_read(all, i, 2002, &report);
        forgotten += !(report.decisions > 0);
    }
    assert_true(forgotten >= 1900 && forgotten <= 2000);
}

/* A fixed number of slots has counters; the decisions of further ones are counted together. */
TEST_WITH(slots_are_counted, set_up, tear_down)
{
    activity_slot_decided(all, 1, words("top"), true);
    activity_slot_decided(all, 1, words("side"), false);
    activity_slot_decided(all, 1, words("top"), false);
    activity_slot_rewarded(all, 1, words("top"), 0.5);
    activity_slot_decided(all, 2, words("other bandit"), false);
    activity_read(all, 1, 1000, &report);
    assert_int_equal(report.slot_count, 2);
    assert_string_equal(report.slots[0].name, "top");
    assert_int_equal(report.slots[0].decisions, 2);
    assert_int_equal(report.slots[0].explored, 1);
    assert_int_equal(report.slots[0].rewards, 1);
    assert_float_equal(report.slots[0].reward_sum, 0.5, 0);
    assert_int_equal(report.slots[1].decisions, 1);
    assert_int_equal(report.slots[1].rewards, 0);
    for (int i = 0; i < ACTIVITY_SLOTS + 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        activity_slot_decided(all, 1, words(name), false);
    }
    activity_read(all, 1, 1000, &report);
    assert_int_equal(report.slot_count, ACTIVITY_SLOTS);
    assert_int_equal(report.other_slots, 7);
}
