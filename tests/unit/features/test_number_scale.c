/* The scale of a number: one value cannot hide the others, a change of scale is followed, ordinary values are met as
 * mean and deviation say, and what is saved goes on as if it had never stopped. */
#include "support.h"

#include "features/number_scale.h"

/* A number that comes once in each of `rounds` rounds. */
typedef struct series {
    number_scale scale;
    random_stream stream;
    uint64_t rounds;
} series;

static series start(void)
{
    return (series){.stream = random_named(1, "series")};
}

static void come(series *self, double x)
{
    number_scale_learn(&self->scale, x, ++self->rounds);
}

/* Values around 40, 12 apart, times a factor. */
static void come_ages(series *self, size_t count, double factor)
{
    for (size_t i = 0; i < count; i++) come(self, factor * (40 + 12 * random_normal(&self->stream)));
}

static double deviation_of(const series *self)
{
    double mean, deviation;
    number_scale_standard(&self->scale, self->rounds, &mean, &deviation);
    return deviation;
}

static double mean_of(const series *self)
{
    double mean, deviation;
    number_scale_standard(&self->scale, self->rounds, &mean, &deviation);
    return mean;
}

static double standardised(const series *self, double x)
{
    return number_scale_standardised(&self->scale, x, self->rounds);
}

/* Where ages of 28 and 52 lie, one deviation below and above the mean. */
static void assert_ages_are_seen(const series *self, double tolerance)
{
    assert_close(standardised(self, 28), -1, tolerance);
    assert_close(standardised(self, 52), 1, tolerance);
}

TEST(one_value_does_not_hide_the_others_but_what_recurs_is_admitted)
{
    static const double wrong[] = {1e30, -1e100, 1e12, 4000};
    for (size_t i = 0; i < 4; i++) {
        series self = start();
        come_ages(&self, 300, 1);
        come(&self, wrong[i]);
        assert_int_equal(self.scale.limited, 1);
        assert_close(standardised(&self, wrong[i]), wrong[i] > 0 ? 5 : -5, 0);
        assert_ages_are_seen(&self, 0.3);
        come_ages(&self, 300, 1);
        assert_ages_are_seen(&self, 0.25);
        come_ages(&self, 5000, 1);
        assert_ages_are_seen(&self, 0.1);
        assert_int_equal(self.scale.limited, 1);
    }
    /* A few in a thousand stay what they are, unusual; a few in a hundred are a part of the data. */
    series rare = start(), often = start();
    for (size_t i = 0; i < 20000; i++) {
        double age = 40 + 12 * random_normal(&rare.stream);
        come(&rare, i % 300 == 299 ? 1e6 : age);
        come(&often, i % 30 == 29 ? 1e6 : age);
    }
    assert_true(deviation_of(&rare) < 36);
    assert_int_equal(rare.scale.limited, 20000 / 300);
    assert_close(deviation_of(&often), 1e6 * sqrt(1.0 / 30 - 1.0 / 900), 0.05);
    assert_true(often.scale.limited < 200);
}

/* Nobody can say of the first values that they are wrong. After 72 values nothing is left of them. */
TEST(the_first_values_may_be_wrong)
{
    static const double wrong[] = {1e30, 1e-30, 4000, 300};
    for (size_t i = 0; i < 4; i++) {
        series self = start(), usual = start();
        for (size_t k = 0; k < 3; k++) {
            come(&self, k == 1 ? -wrong[i] : wrong[i]);
            come(&usual, 30 + 10.0 * (double)k);
        }
        come_ages(&self, 69, 1);
        come_ages(&usual, 69, 1);
        assert_close(mean_of(&self), mean_of(&usual), 0);
        assert_close(deviation_of(&self), deviation_of(&usual), 0);
        assert_ages_are_seen(&self, 0.3);
    }
}

TEST(a_change_of_scale_is_followed)
{
    static const double factors[] = {1e-90, 1e-6, 0.01, 100, 1000, 1e6, 1e90};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        series self = start();
        come_ages(&self, 10000, 1);
        come_ages(&self, i ? 400 : 1000, factors[i]);
        double low = standardised(&self, 28 * factors[i]), high = standardised(&self, 52 * factors[i]);
        if (!(low > -1.3 && high < 1.3 && high - low > 1.2)) fail_msg("%g: %g to %g", factors[i], low, high);
    }
    /* Whatever it is, it is followed after the two blocks. */
    series self = start();
    come_ages(&self, 10000, 1);
    come_ages(&self, 2 * 4096, 0.5);
    assert_close(deviation_of(&self), 6, 0.05);
}

static double draw(random_stream *stream, size_t kind)
{
    double unit = random_unit(stream);
    switch (kind) {
    case 0:
        return 1e6 + 1e3 * random_normal(stream);
    case 1:
        return -3 + 2 * unit;
    case 2:
        return -1e-5 * log1p(-unit);
    default:
        return unit < 0.1; /* mostly zero */
    }
}

TEST(ordinary_values_hardly_meet_the_limit)
{
    static const double means[] = {1e6, -2, 1e-5, 0.1}, deviations[] = {1e3, 1 / 1.7320508, 1e-5, 0.3};
    for (size_t kind = 0; kind < 4; kind++) {
        series self = start();
        for (size_t i = 1; i <= 30000; i++) {
            come(&self, draw(&self.stream, kind));
            if (i < 200) continue;
            assert_true(fabs(mean_of(&self) - means[kind]) < 0.3 * deviations[kind]);
            assert_true(fabs(deviation_of(&self) - deviations[kind]) < 0.35 * deviations[kind]);
        }
        assert_true(self.scale.limited <= (kind == 2 ? 3 : 0)); /* one in 60,000 of the exponential ones */
        assert_true(fabs(mean_of(&self) - means[kind]) < 0.05 * deviations[kind]);
        assert_true(fabs(deviation_of(&self) - deviations[kind]) < 0.05 * deviations[kind]);
    }
}

/* All equal: no feature, until another comes. */
TEST(equal_values_have_no_deviation)
{
    static const double values[] = {0, 5, -1e100, 0.1};
    for (size_t i = 0; i < 4; i++) {
        series self = start();
        for (size_t k = 0; k < 10000; k++) come(&self, values[i]);
        assert_close(deviation_of(&self), 0, 0);
        assert_close(standardised(&self, values[i]), 0, 0);
        assert_close(standardised(&self, 7), 0, 0);
        come(&self, values[i] ? 2 * values[i] : 1e-50);
        assert_true(deviation_of(&self) > 0);
        assert_close(standardised(&self, values[i] ? 2 * values[i] : 1e-50), values[i] < 0 ? -5 : 5, 0);
        assert_int_equal(self.scale.limited, 0);
    }
    /* A number that clients begin to send late is, in the end, one that always comes. */
    series self = start();
    self.rounds = 100000;
    come(&self, 2020);
    assert_close(standardised(&self, 2020), 1, 1e-3); /* as an indicator */
    for (size_t i = 0; i < 1000; i++) come(&self, 2010 + (double)(i % 20));
    assert_close(mean_of(&self), 2019.5, 1e-3);
    assert_close(deviation_of(&self), 5.77, 0.05);
    for (size_t i = 0; i < 20000; i++)
        if (i % 2)
            come(&self, 2010 + (double)(i / 2 % 20));
        else
            self.rounds++;
    assert_close(mean_of(&self), 2019.5 / 2, 1e-2);
}

/* ---- keeping ---- */

TEST(what_is_saved_goes_on)
{
    series self = start();
    come_ages(&self, 700, 1);
    for (size_t i = 0; i < 3; i++) {
        static const double factors[] = {1, 1e5, 1e-3};
        auto_archive writer = archive_writer(&last_error);
        series copy = self;
        number_scale_archive(&self.scale, self.rounds, 0, &writer);
        ok(writer.status);
        assert_int_equal(writer.size, number_scale_bytes(&writer));
        archive reader = archive_reader(writer.bytes, writer.size, &last_error);
        number_scale_archive(&self.scale, self.rounds, 0, &reader);
        ok(reader.status);
        come(&self, 1e9);
        come(&copy, 1e9);
        come_ages(&self, 140, factors[i]);
        come_ages(&copy, 140, factors[i]);
        assert_memory_equal(&self, &copy, sizeof self);
    }
}

TEST(a_scale_that_no_values_make_is_refused)
{
    series self = start();
    come_ages(&self, 100, 1);
    for (size_t i = 0; i < 12; i++) {
        number_scale wrong = self.scale;
        double *const places[] = {&wrong.older.weight, &wrong.older.since,   &wrong.older.mean, &wrong.older.squares,
                                  &wrong.newer.weight, &wrong.newer.since,   &wrong.newer.mean, &wrong.newer.squares,
                                  &wrong.older.weight, &wrong.older.squares, &wrong.older.mean, &wrong.older.since};
        auto_archive writer = archive_writer(&last_error);
        *places[i] = i < 8 ? NAN : i == 8 ? 4098 : i == 9 ? -1 : 1e101;
        number_scale_archive(&wrong, self.rounds, 0, &writer);
        archive reader = archive_reader(writer.bytes, writer.size, &last_error);
        number_scale_archive(&wrong, self.rounds, 0, &reader);
        assert_int_equal(reader.status, EE_BAD_MODEL);
    }
}
