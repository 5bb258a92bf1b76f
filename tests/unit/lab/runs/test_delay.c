#include "lab/runs/delay.h"

#include "data/support_sets.h"
#include "support.h"

static delay parse(const char *text)
{
    delay rule;
    if (delay_parse(text, &rule, &last_error)) fail_msg("%s: %s", text, last_error.message);
    return rule;
}

TEST(a_delay_is_written_in_one_way)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"007", "7"},
        {"10000000", "10000000"},
        {"geometric:20", "geometric:20"},
        {"geometric:2.50e1", "geometric:25"},
        {"geometric:.1", "geometric:0.1"},
        {"geometric:0.3333333333333333", "geometric:0.3333333333333333"},
        {"geometric:400000", "geometric:400000"},
        {"clicks:10,60", "clicks:10,60"},
        {"clicks:1e9,010", "clicks:1e+09,10"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[DELAY_TEXT];
        delay rule = parse(cases[i][0]), again;
        delay_format(&rule, text);
        assert_string_equal(text, cases[i][1]);
        again = parse(text);
        assert_true(delay_same(&rule, &again));
        assert_true(delay_is_none(&rule) == (i == 0));
    }
    delay none = {0}, zero = parse("0"), one = parse("1"), geometric = parse("geometric:1"),
          other = parse("geometric:2");
    assert_true(delay_same(&none, &zero) && !delay_same(&none, &one));
    assert_true(!delay_same(&one, &geometric) && !delay_same(&geometric, &other));
}

TEST(no_delays)
{
    static const char *const bad[] = {"",    "ten",       "clicks:,5",   "Geometric:5",  "geometric:nan",
                                      " 1",  "clicks:5",  "geometric:",  "clicks:5,6,7", "geometric:0x5",
                                      "-1",  "geometric", "clicks:5,0",  "geometric:5 ", "99999999999999999999999",
                                      "1.5", "clicks:5,", "geometric:0", "geometric:-5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char expected[200];
        delay rule;
        snprintf(expected, sizeof expected,
                 "expected a number of rounds, geometric:MEAN or clicks:MEAN,TIMEOUT, got '%s'", bad[i]);
        fails_with(delay_parse(bad[i], &rule, &last_error), EE_BAD_OPTION, expected);
    }
    static const char *const long_ones[] = {"10000001", "geometric:500000", "geometric:1e300", "clicks:5,10000001"};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        delay rule;
        fails_saying(delay_parse(long_ones[i], &rule, &last_error), EE_BAD_OPTION,
                     "expected delays of at most 10000000 rounds");
    }
}

/* The quantile 1 - 10^-9: so many rounds are not enough once in 10^9, and one less would not be enough more often. */
TEST(the_longest)
{
    const double means[] = {0.01, 1, 20, 1000, 400000};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        delay rule = {.kind = DELAY_GEOMETRIC, .mean = means[i]};
        double later = means[i] / (1.0 + means[i]), longest = (double)delay_longest(&rule);
        assert_true(pow(later, longest) <= 1e-9 && pow(later, longest - 1.0) > 1e-9);
    }
    delay fixed = parse("12"), clicks = parse("clicks:5,60");
    assert_int_equal(delay_longest(&fixed), 12);
    assert_int_equal(delay_longest(&clicks), 60);
}

/* By adding up the probabilities until the draw is passed. */
static uint64_t count_up(const delay *rule, double draw)
{
    double p = 1.0 / (1.0 + rule->mean), chance = p, sum = p;
    uint64_t rounds = 0;
    if (rule->kind == DELAY_CLICKS) draw *= 1.0 - pow(1.0 - p, (double)rule->rounds);
    for (; sum <= draw; sum += chance, rounds++) chance *= 1.0 - p;
    return rounds;
}

static late_reward expect(const delay *rule, random_stream *stream, uint64_t round, double reward)
{
    late_reward made = {round, round, 100 + round, reward};
    made.due += rule->kind == DELAY_ROUNDS ? rule->rounds : count_up(rule, random_unit(stream));
    if (rule->kind == DELAY_CLICKS && reward <= 0.0) {
        made.due = round + rule->rounds;
        made.reward = 0.0;
    }
    return made;
}

static int by_due_round(const void *left, const void *right)
{
    const late_reward *a = left, *b = right;
    if (a->due != b->due) return a->due < b->due ? -1 : 1;
    return a->round < b->round ? -1 : a->round > b->round;
}

enum { ROUNDS = 1200, SEED = 5 };

/* Asks after every so many rounds: what is due comes once, and all of it, by due round and then by decision. */
static void check_against_list(const char *text, uint64_t every)
{
    delay rule = parse(text);
    RELEASED_BY(delay_release) delay_queue queue = delay_start(&rule, SEED);
    random_stream stream = random_named(SEED, "delays"), rewards = random_named(SEED, "rewards of a test");
    auto_free late_reward *list = calloc(ROUNDS, sizeof *list);
    late_reward got;
    size_t told = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double reward = (double)random_below(&rewards, 5) - 2.0; /* -2 to 2 */
        list[round] = expect(&rule, &stream, round, reward);
        ok(delay_add(&queue, round, 100 + round, reward, NULL));
        if (round % every) continue;
        qsort(list, (size_t)round + 1, sizeof *list, by_due_round); /* what was told stands in front */
        for (; told <= round && list[told].due <= round; told++) {
            assert_true(delay_next(&queue, round, &got));
            assert_memory_equal(&got, &list[told], sizeof got);
        }
        assert_false(delay_next(&queue, round, &got));
        assert_int_equal(queue.count, round + 1 - told);
    }
    assert_true(told > ROUNDS / 2);
}

TEST(what_is_due_comes_once_and_in_order)
{
    static const char *const rules[] = {"0",   "clicks:4,30",   "1",           "clicks:300,1",  "17", "geometric:0.3",
                                        "500", "geometric:100", "geometric:5", "clicks:400,300"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) check_against_list(rules[i], 1);
    /* Asked once at the end: all that is due then has to be sorted. */
    check_against_list("500", ROUNDS - 1);
    check_against_list("geometric:100", ROUNDS - 1);
}

/* The delays of so many rewards. */
static void draw(const char *text, uint64_t seed, double reward, uint64_t *delays, size_t count)
{
    delay rule = parse(text);
    RELEASED_BY(delay_release) delay_queue queue = delay_start(&rule, seed);
    late_reward got;
    for (uint64_t round = 0; round < count; round++) ok(delay_add(&queue, round, round, reward, NULL));
    while (delay_next(&queue, UINT64_MAX, &got)) delays[got.round] = got.due - got.round;
}

static double mean_of(const uint64_t *delays, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += (double)delays[i];
    return sum / (double)count;
}

TEST(geometric_delays_have_their_mean)
{
    enum { COUNT = 20000 };
    auto_free uint64_t *delays = malloc(COUNT * sizeof *delays);
    const double means[] = {0.25, 1, 20, 500};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        double mean = means[i], at_once = 0.0, p = 1.0 / (1.0 + mean);
        draw(formatted("geometric:%g", mean), 1, 1.0, delays, COUNT);
        for (size_t k = 0; k < COUNT; k++) at_once += delays[k] == 0;
        /* Four standard deviations of a mean, and of a count. */
        assert_close(mean_of(delays, COUNT), mean, 4.0 * sqrt(mean * (mean + 1.0) / COUNT));
        assert_close(at_once / COUNT, p, 4.0 * sqrt(p * (1.0 - p) / COUNT));
    }
}

/* The same seed gives the same delays, whatever is played; another seed gives others. */
TEST(delays_are_those_of_the_seed)
{
    enum { COUNT = 1000 };
    uint64_t first[COUNT], same[COUNT], other[COUNT];
    draw("geometric:30", 7, 1.0, first, COUNT);
    draw("geometric:30", 7, 0.0, same, COUNT);
    draw("geometric:30", 8, 1.0, other, COUNT);
    assert_memory_equal(first, same, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
}

TEST(clicks_come_before_the_timeout_and_the_rest_at_it)
{
    enum { COUNT = 20000, TIMEOUT = 30 };
    auto_free uint64_t *clicked = malloc(COUNT * sizeof *clicked);
    double weight = 0.0, expected = 0.0, chance = 1.0;
    for (int k = 0; k < TIMEOUT; k++, chance *= 20.0 / 21.0) {
        weight += chance;
        expected += k * chance;
    }
    draw("clicks:20,30", 3, 0.5, clicked, COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_true(clicked[i] < TIMEOUT);
    assert_close(mean_of(clicked, COUNT), expected / weight, 4.0 * 10.0 / sqrt(COUNT)); /* no deviation is above 10 */

    /* Of every other decision: what the rest are worth does not move the clicks. */
    delay rule = parse("clicks:20,30");
    RELEASED_BY(delay_release) delay_queue queue = delay_start(&rule, 3);
    late_reward got;
    size_t told = 0;
    for (uint64_t round = 0; round < 100; round++) ok(delay_add(&queue, round, round, round % 2 ? 0.5 : -1.0, NULL));
    for (; delay_next(&queue, UINT64_MAX, &got); told++) {
        assert_true(got.reward == (got.round % 2 ? 0.5 : 0.0));
        assert_int_equal(got.due - got.round, got.round % 2 ? clicked[got.round] : TIMEOUT);
    }
    assert_int_equal(told, 100);
}
