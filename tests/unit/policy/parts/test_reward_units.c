/* The unit and the zero of rewards: against plain sums, in other units, and when what rewards are like changes. */
#include "policy/parts/reward_units.h"

#include "support.h"

enum { MOST = 10000 };

static reward_units begin(bool from_least)
{
    return (reward_units){.on = true, .from_least = from_least};
}

/* Adds so many rewards around a mean. */
static void add_normal(reward_units *self, random_stream *draw, int count, double mean, double deviation)
{
    for (int i = 0; i < count; i++) (void)reward_units_take(self, mean + deviation * random_normal(draw));
}

TEST(are_the_mean_and_twice_the_deviation)
{
    enum { COUNT = 500 };
    double rewards[COUNT], widest = 0;
    random_stream draw = random_named(1, "rewards");
    reward_units mean_units = begin(false), least_units = begin(true);
    for (int n = 1; n <= COUNT; n++) {
        double mean = 0, variance = 0, least = INFINITY;
        /* Rewards that are less apart for a while: the spread falls slowly and rises at once. */
        double apart = n < 200 || n > 400 ? 3 : 0.1;
        rewards[n - 1] = -7 + apart * random_normal(&draw);
        (void)reward_units_take(&mean_units, rewards[n - 1]);
        (void)reward_units_take(&least_units, rewards[n - 1]);
        for (int i = 0; i < n; i++) mean += rewards[i] / n, least = fmin(least, rewards[i]);
        for (int i = 0; i < n; i++) variance += (rewards[i] - mean) * (rewards[i] - mean) / n;
        widest = fmax(variance, widest + (variance - widest) / (4.0 * n));
        assert_close(reward_units_centre(&mean_units), mean, 1e-10);
        assert_true(reward_units_centre(&least_units) == least);
        assert_close(reward_units_spread(&mean_units), 2 * sqrt(widest), 1e-10);
        assert_true(reward_units_spread(&least_units) == reward_units_spread(&mean_units));
        assert_true(reward_units_spread(&mean_units) >= 2 * sqrt(variance) * (1 - 1e-12));
    }
    /* What is long ago counts for less and less. */
    random_stream after = random_named(5, "change");
    reward_units changing = begin(false);
    add_normal(&changing, &after, 20 * MOST, 1, 0.1);
    add_normal(&changing, &after, MOST, 0, 0.1);
    assert_close(reward_units_centre(&changing), exp(-1), 0.01);
}

TEST(equal_rewards_have_no_spread_and_no_units_no_centre)
{
    reward_units self = begin(false);
    assert_true(reward_units_spread(&self) == 0);
    for (int i = 0; i < 100; i++) {
        (void)reward_units_take(&self, 0.1);
        assert_true(reward_units_centre(&self) == 0.1);
        assert_true(reward_units_spread(&self) == 0);
    }
    (void)reward_units_take(&self, 0.2);
    assert_true(reward_units_spread(&self) > 0);
    /* Switched off they say nothing. */
    reward_units off = {0};
    (void)reward_units_take(&off, 100);
    (void)reward_units_take(&off, 300);
    assert_true(reward_units_centre(&off) == 0 && reward_units_spread(&off) == 1);
    auto_archive written = archive_writer(&last_error);
    reward_units_archive(&off, &written);
    assert_int_equal(written.size, 0);
}

/* Of a r + b the centre is a times it and b, the spread a times it; to the bit where a is a power of two and b is 0. */
TEST(other_units_are_those_of_the_rewards)
{
    const double factors[] = {1e-3, 1e3, 0x1p-20, 0x1p20}, offsets[] = {3e-3, -5e3, 0, 0};
    for (int least = 0; least < 2; least++) {
        for (size_t k = 0; k < 4; k++) {
            random_stream draw = random_named(k, "units");
            reward_units one = begin(least), other = begin(least);
            for (int i = 0; i < 3000; i++) {
                double reward = 2 + random_normal(&draw) * (i > 1500 ? 0.1 : 1);
                (void)reward_units_take(&one, reward);
                (void)reward_units_take(&other, factors[k] * reward + offsets[k]);
                double centre = factors[k] * reward_units_centre(&one) + offsets[k];
                double spread = factors[k] * reward_units_spread(&one);
                if (offsets[k] == 0) {
                    assert_true(reward_units_centre(&other) == centre && reward_units_spread(&other) == spread);
                } else {
                    assert_true(fabs(reward_units_centre(&other) - centre) < 1e-9 * factors[k]);
                    assert_true(fabs(reward_units_spread(&other) - spread) <= 1e-9 * factors[k]);
                }
            }
        }
    }
}

TEST(what_is_damaged_is_refused)
{
    const struct {
        size_t place; /* mean, variance, least, widest */
        double wrong;
    } cases[] = {{0, NAN}, {1, -1}, {1, INFINITY}, {2, -INFINITY}, {3, -0.5}, {3, NAN}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        reward_units self = begin(false);
        (void)reward_units_take(&self, 1);
        (void)reward_units_take(&self, 2);
        auto_archive written = archive_writer(NULL);
        reward_units_archive(&self, &written);
        memcpy(written.bytes + sizeof(uint64_t) + cases[c].place * sizeof(double), &cases[c].wrong, sizeof(double));
        archive a = archive_reader(written.bytes, written.size, &last_error);
        reward_units_archive(&self, &a);
        fails_with(a.status, EE_BAD_MODEL, "model: invalid reward unit");
    }
}

/* ---- outliers ---- */

/* Takes in so many rewards within 1 of 0. */
static void take_usual(reward_units *self, random_stream *draw, int count)
{
    for (int i = 0; i < count; i++) {
        double reward = 2 * random_unit(draw) - 1;
        assert_true(reward_units_take(self, reward) == reward);
    }
}

TEST(one_outlier_counts_as_twice_the_furthest)
{
    const double outliers[] = {1e2, 1e4, 1e6, 1e9, -1e2, -1e9};
    for (size_t i = 0; i < sizeof outliers / sizeof *outliers; i++) {
        random_stream draw = random_named(i, "outliers");
        reward_units self = begin(false);
        take_usual(&self, &draw, 1000);
        double spread = reward_units_spread(&self), learned = reward_units_take(&self, outliers[i]);
        assert_true(fabs(learned) > 1.5 && fabs(learned) < 4 && learned * outliers[i] > 0);
        assert_close(reward_units_spread(&self), spread, 0.03);
        take_usual(&self, &draw, 1000);
        /* of another size, it is an outlier again */
        assert_true(fabs(reward_units_take(&self, outliers[i] / 10)) < 8);
    }
}

TEST(what_recurs_counts_in_full)
{
    random_stream draw = random_named(3, "outliers");
    reward_units self = begin(false);
    take_usual(&self, &draw, 1000);
    assert_true(reward_units_take(&self, 500) < 5);
    take_usual(&self, &draw, 5000);
    assert_true(reward_units_take(&self, -500) > -10); /* to the other side it is another */
    assert_true(reward_units_take(&self, 400) < 20);   /* the one before was the last */
    assert_true(reward_units_take(&self, 500) == 500);
    assert_true(reward_units_take(&self, 900) == 900);
    assert_true(reward_units_take(&self, 1) == 1);
    /* Clicks, of which the first comes late and the next ones long after it. */
    reward_units clicks = begin(false);
    const int until[] = {1000, 3000, 200000};
    for (int i = 0, next = 0; i <= 200000; i++) {
        double reward = i == until[next] ? ++next, 1 : 0;
        assert_true(reward_units_take(&clicks, reward) == reward);
    }
}

/* The second reward is never limited, and few of a sound sequence ever are. An outlier soon after is. */
TEST(the_first_rewards_have_room)
{
    enum { RUNS = 400 };
    size_t limited = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        random_stream draw = random_named(seed, "first");
        reward_units self = begin(false);
        for (int i = 0; i < 200; i++) {
            double reward = random_unit(&draw), learned = reward_units_take(&self, reward);
            assert_true(i > 1 || learned == reward);
            limited += learned != reward;
        }
        reward_units early = begin(false);
        for (int i = 0; i < 5; i++) (void)reward_units_take(&early, random_unit(&draw));
        assert_true(reward_units_take(&early, 1e6) < 20);
    }
    assert_true(limited < RUNS / 20);
    /* Where rewards grow for good, or came in a stated range, nothing is held back for long, or at all. */
    random_stream draw = random_named(5, "grown");
    reward_units self = begin(false), stated = begin(false);
    stated.bounded = true;
    take_usual(&self, &draw, 1000);
    take_usual(&stated, &draw, 1000);
    int held_back = 0;
    for (int i = 0; i < 1000; i++) {
        double reward = 1000 * (2 * random_unit(&draw) - 1);
        held_back += reward_units_take(&self, reward) != reward;
        assert_true(reward_units_take(&stated, reward) == reward);
    }
    assert_true(held_back >= 1 && held_back <= 15);
}
