/* Drift detectors: their level holds whatever the scores are, and they find what they are for. */
#include "evaluate/intervals/drift.h"

#include "support.h"

static const double alpha = 0.05;

static bool alarms(double log_wealth)
{
    return log_wealth >= -log(alpha);
}

/* A normal score; or one with a heavy tail; or mostly 0. */
static double draw(random_stream *random, size_t kind)
{
    double normal = random_normal(random);
    return kind == 0 ? normal : kind == 1 ? exp(3.0 * normal) : (double)(random_unit(random) < 0.1);
}

TEST(alarms_are_rare_if_nothing_changes)
{
    enum { STREAMS = SANITIZED ? 60 : 600, BLOCKS = 500 };
    for (size_t kind = 0; kind < 3; kind++) {
        size_t count = 0;
        for (uint64_t s = 0; s < STREAMS; s++) {
            random_stream random = random_named(s, "drift scores");
            drift_ranks ranks = drift_ranks_start(s % 2, s);
            bool alarm = false;
            for (size_t i = 0; i < BLOCKS && !alarm; i++) {
                drift_ranks_add(&ranks, draw(&random, kind));
                alarm = alarms(drift_ranks_log_wealth(&ranks));
            }
            count += alarm;
        }
        /* Three standard deviations above the level. */
        double most = alpha * STREAMS + 3.0 * sqrt(alpha * STREAMS);
        if ((double)count > most) fail_msg("kind %zu: %zu alarms in %d streams", kind, count, STREAMS);
    }
}

/* The wealth is a fair bet: its mean over many streams is 1. */
TEST(the_mean_wealth_is_one)
{
    enum { STREAMS = 20000, BLOCKS = 24 };
    double sum = 0.0;
    for (uint64_t s = 0; s < STREAMS; s++) {
        random_stream random = random_named(s, "fair");
        drift_ranks ranks = drift_ranks_start(false, s);
        for (size_t i = 0; i < BLOCKS; i++) drift_ranks_add(&ranks, random_normal(&random));
        sum += exp(drift_ranks_log_wealth(&ranks)) / STREAMS;
    }
    assert_close(sum, 1.0, 0.02);
}

/* Blocks until an alarm after a shift of the mean by this many deviations of a block; 0: none within 200. */
static size_t delay_after(size_t before, double shift)
{
    random_stream random = random_named(before, "shift");
    drift_mean self = drift_mean_start(1, 1);
    for (size_t i = 0; i < before; i++) drift_mean_add(&self, random_normal(&random));
    for (size_t i = 1; i <= 200; i++) {
        drift_mean_add(&self, random_normal(&random) + shift);
        if (alarms(drift_mean_log_wealth(&self))) return i;
    }
    return 0;
}

TEST(changes_are_found_early_and_late)
{
    for (size_t before = 50; before <= 5000; before *= 10) {
        size_t up = delay_after(before, 3.0), down = delay_after(before, -3.0), none = delay_after(before, 0.0);
        if (!up || up > 20 || !down || down > 20 || none)
            fail_msg("after %zu blocks: up %zu, down %zu, none %zu", before, up, down, none);
    }
}

TEST(a_constant_never_alarms_and_any_other_value_does)
{
    drift_mean self = drift_mean_start(10, 1);
    for (size_t i = 0; i < 20000; i++) {
        drift_mean_add(&self, 0.1);
        drift_mean_add(&self, NAN);
        assert_false(alarms(drift_mean_log_wealth(&self)));
    }
    for (size_t i = 0; i < 200; i++) drift_mean_add(&self, 0.1001);
    assert_true(alarms(drift_mean_log_wealth(&self)));
}

/* Names 0 to 9, and some that are new: each of them never seen before, or the same one. */
static void add_names(drift_shares *self, random_stream *random, size_t count, double new_share, bool always_new)
{
    static uint64_t next = 1000000;
    for (size_t i = 0; i < count; i++) {
        uint64_t name = random_below(random, 10);
        if (random_unit(random) < new_share) name = always_new ? next++ : 77;
        drift_shares_add(self, name);
    }
}

TEST(new_names_are_found_unless_they_always_came)
{
    random_stream random = random_named(1, "names");
    drift_shares self = drift_shares_start(100, 1);
    add_names(&self, &random, 10000, 0.0, false);
    assert_false(alarms(drift_shares_log_wealth(&self)));
    add_names(&self, &random, 2000, 0.03, false);
    assert_true(alarms(drift_shares_log_wealth(&self)));
    self = drift_shares_start(100, 1);
    for (size_t i = 0; i < 200; i++) {
        add_names(&self, &random, 100, 0.03, true);
        assert_false(alarms(drift_shares_log_wealth(&self)));
    }
}

TEST(changed_shares_are_found)
{
    random_stream random = random_named(2, "shares");
    drift_shares self = drift_shares_start(200, 1);
    add_names(&self, &random, 20000, 0.0, false);
    assert_false(alarms(drift_shares_log_wealth(&self)));
    for (size_t i = 0; i < 6000; i++) drift_shares_add(&self, random_below(&random, i % 4 ? 10 : 2));
    assert_true(alarms(drift_shares_log_wealth(&self)));
}

TEST(numbers_out_of_range_are_found)
{
    for (int invalid = 0; invalid < 2; invalid++) {
        random_stream random = random_named(3, "range");
        drift_range self = drift_range_start(0, 1);
        for (size_t i = 0; i < 130; i++) {
            for (size_t k = 0; k < 50; k++)
                drift_range_add(&self, i > 100 && k % 10 == 0 ? (invalid ? NAN : 40.0) : random_normal(&random));
            drift_range_end_block(&self);
            drift_range_end_block(&self); /* an empty block is none */
            if (i < 100) assert_false(alarms(drift_range_log_wealth(&self)));
        }
        assert_int_equal(self.ranks.count, 130 - DRIFT_REFERENCE);
        assert_true(alarms(drift_range_log_wealth(&self)));
    }
}

/* Less than half of a mean block of the reference is not enough. */
TEST(small_blocks_go_on)
{
    random_stream random = random_named(5, "small");
    drift_mean self = drift_mean_start(0, 1);
    for (size_t i = 0; i < 30; i++) {
        for (size_t k = 0; k < 100; k++) drift_mean_add(&self, random_unit(&random));
        drift_mean_end_block(&self);
    }
    for (size_t i = 0; i < 50; i++) {
        for (size_t k = 0; k < 10; k++) drift_mean_add(&self, random_unit(&random));
        drift_mean_end_block(&self);
        assert_int_equal(self.ranks.count, 30 + (i + 1) / 5);
    }
    for (size_t k = 0; k < 50; k++) drift_mean_add(&self, random_unit(&random));
    drift_mean_end_block(&self);
    assert_int_equal(self.ranks.count, 41); /* later blocks change nothing in what is half */
}

/* A copy by way of the archive goes on as the original does. */
TEST(they_are_archived)
{
    random_stream random = random_named(4, "archive");
    drift_mean mean = drift_mean_start(7, 1), mean_copy = {0};
    drift_shares shares = drift_shares_start(7, 2), shares_copy = {0};
    drift_range range = drift_range_start(7, 3), range_copy = {0};
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < 1000; i++) {
            double value = random_normal(&random);
            uint64_t name = random_below(&random, 30);
            drift_mean_add(&mean, value);
            drift_shares_add(&shares, name);
            drift_range_add(&range, value);
            if (part == 1) {
                drift_mean_add(&mean_copy, value);
                drift_shares_add(&shares_copy, name);
                drift_range_add(&range_copy, value);
            } else if (i == 999) {
                archive writer = archive_writer(NULL);
                drift_mean_archive(&writer, &mean);
                drift_shares_archive(&writer, &shares);
                drift_range_archive(&writer, &range);
                archive reader = archive_reader(writer.bytes, writer.size, NULL);
                drift_mean_archive(&reader, &mean_copy);
                drift_shares_archive(&reader, &shares_copy);
                drift_range_archive(&reader, &range_copy);
                ok(writer.status);
                ok(reader.status);
                assert_int_equal(archive_remaining(&reader), 0);
                memory_free(writer.bytes);
            }
        }
    assert_true(mean.ranks.count > 200 && shares.distances.count > 200 && range.ranks.count > 200);
    assert_true(drift_mean_log_wealth(&mean) == drift_mean_log_wealth(&mean_copy));
    assert_true(drift_shares_log_wealth(&shares) == drift_shares_log_wealth(&shares_copy));
    assert_true(drift_range_log_wealth(&range) == drift_range_log_wealth(&range_copy));
}
