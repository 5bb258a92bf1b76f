/* Summaries of logs, samples, and the set of ids behind "repeated". */
#include "data/logs/log_summary.h"

#include "base/random.h"
#include "data/values/id_set.h"
#include "support.h"

static log_event event_of(double time, size_t action, double probability, double reward)
{
    return (log_event){
        .time = time, .count = 3, .action = action, .probability = probability, .reward = reward, .copies = 1};
}

static void add(log_summary *summary, const log_event *event)
{
    ok(log_summary_add(summary, event, NULL));
}

TEST(everything_is_counted_once)
{
    RELEASED_BY(log_summary_release) log_summary all;
    double sure[] = {0.5, 0.5, 0}, wide[] = {0.2, 0.3, 0.4};
    json_text names[] = {{"red", 3}, {"", 0}, {"blue", 4}};
    ok(log_summary_start(&all, NULL));
    log_event event = event_of(100, 0, 0.5, 1);
    event.probabilities = sure;
    event.actions = names;
    add(&all, &event);
    event = event_of(110, 2, 0.4, 0);
    event.probabilities = wide;
    event.actions = names;
    add(&all, &event);
    event = event_of(110, 0, 1, 99); /* the same time is not back */
    event.skipped = true;
    add(&all, &event);
    event = event_of(105, 1, 0.25, -3); /* back in time */
    event.actions = names;
    event.copies = 4;
    add(&all, &event);
    event = event_of((double)NAN, 0, 1, 0);
    event.count = 7;
    event.slot_count = 2;
    event.slate = true;
    add(&all, &event);
    event = event_of(500, 0, 1, 99); /* seen by nobody: its time counts */
    event.skipped = true;
    add(&all, &event);
    log_summary_end(&all);

    assert_true(all.times.count == 5 && all.times.least == 100 && all.times.largest == 500);
    assert_int_equal(all.backwards, 1);
    assert_true(all.gaps[0].seconds == 395 && all.gaps[0].start == 105);
    assert_true(all.gaps[1].seconds == 10 && all.gaps[2].seconds == 0);
    assert_true(all.rewards.count == 4 && all.rewards.least == -3 && all.rewards.largest == 1);
    assert_true(log_range_mean(&all.rewards) == -0.5);
    assert_int_equal(all.rewarded, 2);
    assert_true(all.probabilities.least == 0.25 && all.every_probability.least == 0);
    assert_true(all.known == 2 && all.supported == 1 && all.wrong_sums == 1);
    assert_true(all.counts.least == 3 && all.counts.largest == 7);
    assert_true(all.slots.count == 1 && all.slates == 1 && all.copies.sum == 7);
    assert_int_equal(all.action_count, 4); /* "0", "1", "blue", "red" */
    assert_true(all.actions[2].name.length == 4 && all.actions[2].taken == 1 && all.actions[2].probability == 0.4);
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

TEST(quantiles_are_near)
{
    enum { EVENTS = 20000 };
    static double drawn[EVENTS];
    RELEASED_BY(log_summary_release) log_summary all;
    random_stream stream = random_named(3, "quantiles");
    ok(log_summary_start(&all, NULL));
    assert_true(isnan(log_summary_quantile(&all, 0.5)) && isnan(log_range_mean(&all.rewards)));
    for (size_t i = 0; i < EVENTS; i++) {
        drawn[i] = exp(-12 * random_unit(&stream));
        log_event event = event_of((double)NAN, 0, drawn[i], 0);
        add(&all, &event);
    }
    qsort(drawn, EVENTS, sizeof drawn[0], ascending);
    for (double share = 0.01; share < 1; share += 0.07) {
        double got = log_summary_quantile(&all, share), expected = drawn[(size_t)(share * EVENTS)];
        assert_true(fabs(got / expected - 1) < 0.02);
    }
}

/* Many names: as numbers they would be one. */
TEST(actions_beyond_the_most_are_others)
{
    enum { NAMES = LOG_ACTIONS_MOST + 10 };
    RELEASED_BY(log_summary_release) log_summary all;
    ok(log_summary_start(&all, NULL));
    for (size_t i = 0; i < NAMES; i++) {
        char words[16];
        json_text name = {words, (size_t)snprintf(words, sizeof words, "n%zu", i)};
        log_event event = event_of((double)NAN, 0, 0.5, 1);
        event.count = 1;
        event.actions = &name;
        add(&all, &event);
    }
    assert_int_equal(all.action_count, LOG_ACTIONS_MOST);
    assert_int_equal(all.others, 10);
}

TEST(samples_are_by_id)
{
    size_t kept = 0, both = 0;
    for (size_t i = 0; i < 10000; i++) {
        char words[16];
        log_event event = {.line = i, .id = {words, (size_t)snprintf(words, sizeof words, "%zu", i)}};
        bool first = log_is_sampled(&event, 0.3, 1);
        kept += first;
        both += first && log_is_sampled(&event, 0.3, 2);
        event.line += 5; /* where it stands does not count */
        assert_true(log_is_sampled(&event, 0.3, 1) == first);
        if (first) assert_true(log_is_sampled(&event, 0.4, 1)); /* a larger share has the smaller one */
        event.id.length = 0;
        assert_true(log_is_sampled(&event, 1, 1) && !log_is_sampled(&event, 0, 1));
    }
    assert_in_range(kept, 2850, 3150);
    assert_in_range(both, 800, 1000);
}

static bool add_id(id_set *set, size_t number)
{
    char words[32];
    size_t length = (size_t)snprintf(words, sizeof words, "%zu", number);
    bool there;
    ok(id_set_add(set, id_hash(words, length), &there, NULL));
    return there;
}

TEST(the_last_million_ids_are_known)
{
    enum { MANY = 5 * ID_SET_LEAST / 2 };
    RELEASED_BY(memory_release) memory owner = {0};
    id_set set = {.owner = &owner};
    for (size_t i = 0; i < MANY; i++) assert_false(add_id(&set, i));
    assert_true(memory_bytes(&owner) < 40 << 20);
    for (size_t i = MANY - ID_SET_LEAST; i < MANY; i += 7) assert_true(add_id(&set, i));
    assert_false(add_id(&set, 0)); /* forgotten */
    assert_true(add_id(&set, 0));
}
