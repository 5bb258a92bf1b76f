/* Random streams: the published numbers of the two generators, and what is drawn from them. */
#include "support.h"

#include "base/random.h"

enum { DRAWS = 250000, BELOW_DRAWS = 50000 };

/* What Vigna's xoshiro256starstar.c gives from the state 1, 2, 3, 4. */
TEST(bits_are_those_of_xoshiro256)
{
    static const uint64_t expected[] = {11520u,
                                        0u,
                                        1509978240u,
                                        1215971899390074240u,
                                        1216172134540287360u,
                                        607988272756665600u,
                                        16172922978634559625u,
                                        8476171486693032832u,
                                        10595114339597558777u,
                                        2904607092377533576u};
    random_stream stream = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_true(random_bits(&stream) == expected[i]);
}

/* A stream's state is four draws of splitmix64 from splitmix64(seed) xor the name's FNV-1a hash. For the seeds below
 * that start is 0, so the state must be the first four draws that are published for splitmix64 from 0. */
TEST(streams_are_seeded_by_splitmix64)
{
    static const uint64_t expected[4] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u, 0x06c45d188009454fu,
                                         0xf88bb8a8724c81ecu};
    static const struct {
        const char *name;
        uint64_t seed; /* splitmix64 of it is the FNV-1a hash of the name */
    } cases[] = {{"", 0x0e7346cfd90bc8ffu},
                 {"a", 0x856ceed8b52d3bf1u},
                 {"foobar", 0x367a8219d06ec6eau},
                 {"\xff\x80", 0x721ecccfe3cf74a6u}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_memory_equal(random_named(cases[i].seed, cases[i].name).state, expected, sizeof expected);
    /* Saved results depend on these numbers: they never change. */
    random_stream stream = random_named(42, "rounds");
    assert_true(random_bits(&stream) == 0x73c575c178e5c247u);
    assert_true(random_bits(&stream) == 0x4081471e13cb9101u);
    assert_true(random_bits(&stream) == 0x1c7362a68829aea7u);
    stream = random_named(42, "rounds");
    assert_true(random_unit(&stream) == 0.45223175023502105);
    stream = random_named(42, "rounds");
    assert_close(random_normal(&stream), -0.01359850063797422, 1e-14); /* log and cos are the system's */
    stream = random_named(42, "rounds");
    assert_true(random_below(&stream, 1000) == 0x73c575c178e5c247u % 1000);
}

TEST(other_names_and_seeds_give_other_streams)
{
    static const char *const names[] = {"", "a", "b", "aa", "rounds", "initialisation", "sampling", "\xff"};
    enum { NAMES = sizeof names / sizeof *names, SEEDS = 16, STREAMS = NAMES * SEEDS, LENGTH = 4 };
    static uint64_t draws[STREAMS * LENGTH];
    size_t count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (size_t name = 0; name < NAMES; name++) {
            random_stream stream = random_named(seed, names[name]);
            for (size_t i = 0; i < LENGTH; i++) draws[count++] = random_bits(&stream);
        }
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) assert_true(draws[i] != draws[j]);
}

/* Neighbouring seeds: on average half of the bits of the first draw differ. */
TEST(neighbouring_seeds_are_unrelated)
{
    enum { SEEDS = 4096 };
    size_t differing = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_stream one = random_named(seed, "rounds"), other = random_named(seed + 1, "rounds");
        for (uint64_t bits = random_bits(&one) ^ random_bits(&other); bits; bits &= bits - 1) differing++;
    }
    assert_close((double)differing / SEEDS, 32, 0.01); /* 32 +- 0.32: five standard deviations of the mean */
}

static const uint64_t all_ones = 0x4fc71c71c71c71c7u; /* the second word of a state whose next draw is 2^64 - 1 */

TEST(unit_is_uniform_reaches_zero_and_stays_under_one)
{
    random_stream lowest = {{1, 0, 3, 4}}, highest = {{1, all_ones, 3, 4}};
    random_stream check = highest;
    assert_true(random_bits(&check) == UINT64_MAX);
    assert_true(random_unit(&lowest) == 0.0 && random_unit(&highest) == 1.0 - 0x1p-53);
    enum { BINS = 100 };
    size_t counts[BINS] = {0};
    random_stream stream = random_named(1, "unit");
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        double unit = random_unit(&stream);
        assert_true(unit >= 0 && unit < 1);
        counts[(size_t)(unit * BINS)]++;
        sum += unit;
        squares += unit * unit;
    }
    assert_close(sum / DRAWS, 0.5, 0.003); /* the standard deviation of the mean is 0.0006 */
    assert_close(squares / DRAWS, 1.0 / 3, 0.003);
    double statistic = 0, expected = (double)DRAWS / BINS;
    for (size_t i = 0; i < BINS; i++) statistic += pow((double)counts[i] - expected, 2) / expected;
    assert_true(statistic > 50 && statistic < 170); /* 99 degrees of freedom: 99 +- 5 x 14.1 */
}

/* Pearson's statistic of `bins` equal parts of 0 .. bound - 1; bins must divide bound. */
static double below_statistic(uint64_t seed, uint64_t bound, size_t bins)
{
    size_t counts[1000] = {0};
    random_stream stream = random_named(seed, "below");
    for (int i = 0; i < BELOW_DRAWS; i++) {
        uint64_t drawn = random_below(&stream, bound);
        assert_true(drawn < bound);
        counts[drawn / (bound / bins)]++;
    }
    double statistic = 0, expected = (double)BELOW_DRAWS / (double)bins;
    for (size_t i = 0; i < bins; i++) statistic += pow((double)counts[i] - expected, 2) / expected;
    return statistic;
}

/* The last three bounds are those where taking a remainder alone is far from uniform: 2^64 is no multiple of them and
 * not many times larger. */
TEST(below_is_uniform_and_reaches_both_ends)
{
    static const struct {
        uint64_t bound;
        size_t bins;
    } cases[] = {
        {2, 2},
        {3, 3},
        {10, 10},
        {1000, 1000},
        {(uint64_t)1 << 63, 64},
        {(uint64_t)3 << 62, 3},
        {(uint64_t)5 << 61, 5},
        {(uint64_t)7 << 61, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t seed = 0; seed < 2; seed++) {
            double freedom = (double)cases[i].bins - 1;
            assert_true(below_statistic(seed, cases[i].bound, cases[i].bins) < freedom + 6 * sqrt(2 * freedom));
        }
    }
    random_stream stream = random_named(2, "below");
    bool seen[7] = {false};
    for (int i = 0; i < 1000; i++) seen[random_below(&stream, 7)] = true;
    for (size_t i = 0; i < 7; i++) assert_true(seen[i]);
    for (int i = 0; i < 100; i++) assert_true(random_below(&stream, 1) == 0);
    random_stream same = stream; /* 0, which a counter that wrapped asks for, stands for 2^64 */
    for (int i = 0; i < 10; i++) assert_true(random_below(&stream, 0) == random_bits(&same));
    random_stream highest = {{1, all_ones, 3, 4}};
    assert_true(random_below(&highest, UINT64_MAX) == 0); /* 2^64 - 1 modulo itself */
    random_stream lowest = {{1, 0, 3, 4}};                /* draws 0, which that bound rejects, then another */
    random_stream next = lowest;
    random_bits(&next);
    assert_true(random_below(&lowest, UINT64_MAX) == random_bits(&next) % UINT64_MAX);
}

TEST(normal_has_the_moments_of_a_normal)
{
    random_stream stream = random_named(1, "normal");
    double first = 0, second = 0, third = 0, fourth = 0, last = 0, neighbours = 0;
    size_t within_one = 0, beyond_three = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = random_normal(&stream);
        first += z;
        second += z * z;
        third += z * z * z;
        fourth += z * z * z * z;
        neighbours += last * z;
        last = z;
        within_one += fabs(z) < 1;
        beyond_three += fabs(z) > 3;
    }
    /* Five standard deviations of each mean: sqrt(1, 2, 15, 96) / sqrt(DRAWS). */
    assert_close(first / DRAWS, 0, 0.01);
    assert_close(neighbours / DRAWS, 0, 0.01);
    assert_close(second / DRAWS, 1, 0.0142);
    assert_close(third / DRAWS, 0, 0.0388);
    assert_true(fabs(fourth / DRAWS - 3) < 0.098);
    assert_close((double)within_one / DRAWS, erf(sqrt(0.5)), 0.0047);
    assert_close((double)beyond_three / DRAWS, erfc(3 * sqrt(0.5)), 0.00052);
    /* At the ends of the unit interval it is finite. */
    random_stream lowest = {{1, 0, 3, 4}}, highest = {{1, all_ones, 3, 4}};
    assert_true(random_normal(&lowest) == 0);
    double furthest = random_normal(&highest);
    assert_true(isfinite(furthest) && fabs(furthest) < 8.6); /* sqrt(2 x 53 x log 2) is 8.57 */
}

/* The share of draws below quantiles that scipy.stats.gamma gives, within 4.5 standard errors. */
TEST(gamma_has_the_quantiles_of_a_gamma)
{
    enum { LEVELS = 5, GAMMA_DRAWS = 20000 };
    static const double levels[LEVELS] = {0.01, 0.1, 0.5, 0.9, 0.99};
    static const struct {
        double shape, quantiles[LEVELS];
    } cases[] = {
        {1, {0.01005033585, 0.1053605157, 0.6931471806, 2.302585093, 4.605170186}},
        {1.5, {0.05741590095, 0.2921871871, 1.182986942, 3.125694316, 5.672433365}},
        {3, {0.4360451651, 1.102065328, 2.674060314, 5.322320338, 8.405946915}},
        {40, {26.77003865, 32.13892223, 39.66716501, 48.28910181, 56.16439626}},
        {2500, {2385.155235, 2436.140359, 2499.666675, 2564.287887, 2617.785919}},
    };
    random_stream stream = random_named(4, "gamma");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t below[LEVELS] = {0};
        for (int t = 0; t < GAMMA_DRAWS; t++) {
            double drawn = random_gamma(&stream, cases[i].shape);
            for (size_t q = 0; q < LEVELS; q++) below[q] += drawn < cases[i].quantiles[q];
        }
        for (size_t q = 0; q < LEVELS; q++) {
            double error = sqrt(levels[q] * (1 - levels[q]) / GAMMA_DRAWS);
            assert_true(fabs((double)below[q] / GAMMA_DRAWS - levels[q]) <= 4.5 * error);
        }
    }
}
