/* Intervals against the numbers of Open Bandit Pipeline, SciPy and Vowpal Wabbit, and against what they promise. */
#include "evaluate/intervals/interval.h"

#include "data/support_sets.h"
#include "evaluate/estimators/quantile.h"
#include "evaluate/intervals/confidence_sequence.h"
#include "support_rounds.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const alphas[] = {"0.01", "0.05", "0.1"};
static const value_range unit = {0, 1, INFINITY};

static rounds_sums sums_of(const evaluated_rounds *rounds)
{
    rounds_sums sums = {0};
    rounds_sums_add_all(&sums, rounds);
    return sums;
}

/* Theirs take the range from 0 to the largest w r that was seen. A range of which no weight is above 1 and no reward
 * above that would say the same, so the sums are those of rounds with weight 1 and reward w r. */
static void check_bounds(const json_t *stored, const evaluated_rounds *rounds)
{
    auto_free double *terms = malloc(rounds->count * sizeof *terms), *ones = malloc(rounds->count * sizeof *ones);
    assert_non_null(terms);
    assert_non_null(ones);
    estimator_terms(ESTIMATOR_IPS, NAN, rounds, terms);
    for (size_t i = 0; i < rounds->count; i++) ones[i] = 1.0;
    rounds_sums sums = sums_of(rounds);
    rounds_sums flat = sums_of(&(evaluated_rounds){.count = rounds->count, .weights = ones, .rewards = terms});
    value_range seen = {0, golden_number(golden_member(stored, "max")), 1};
    for (size_t k = 0; k < COUNT(alphas); k++) {
        double alpha = strtod(alphas[k], NULL);
        const json_t *at = golden_member(stored, alphas[k]), *lower = golden_member(at, "obp_lower");
        const json_t *normal = golden_member(at, "normal"), *student = golden_member(at, "student_t");
        assert_interval(interval_of_sums(INTERVAL_NORMAL, ESTIMATOR_IPS, &sums, unit, alpha), normal, 1e-9);
        assert_interval(interval_of_sums(INTERVAL_STUDENT, ESTIMATOR_IPS, &sums, unit, alpha), student, 1e-7);
        assert_interval(interval_of_terms(INTERVAL_NORMAL, terms, NULL, rounds->count, alpha), normal, 1e-9);
        assert_interval(interval_of_terms(INTERVAL_STUDENT, terms, NULL, rounds->count, alpha), student, 1e-7);
        assert_interval(interval_of_sums(INTERVAL_NORMAL, ESTIMATOR_SNIPS, &sums, unit, alpha),
                        golden_member(at, "snipw_delta_normal"), 1e-9);
        assert_interval(interval_of_sums(INTERVAL_HOEFFDING, ESTIMATOR_IPS, &flat, seen, alpha),
                        golden_member(at, "hoeffding_range_0_max"), 1e-9);
        /* Theirs has one end at alpha, and so both ends at 1.5 alpha: the variance's share is in both. */
        interval bernstein = interval_of_sums(INTERVAL_BERNSTEIN, ESTIMATOR_IPS, &flat, seen, 1.5 * alpha);
        assert_interval(bernstein, golden_member(at, "empirical_bernstein_range_0_max"), 1e-9);
        /* Other one-sided bounds are ends of an interval of twice the alpha. */
        assert_relative(interval_of_sums(INTERVAL_HOEFFDING, ESTIMATOR_IPS, &flat, seen, 2 * alpha).low,
                        golden_number(golden_member(lower, "hoeffding")), 1e-9);
        assert_relative(bernstein.low, golden_number(golden_member(lower, "bernstein")), 1e-9);
        assert_relative(interval_of_sums(INTERVAL_STUDENT, ESTIMATOR_IPS, &sums, unit, 2 * alpha).low,
                        golden_number(golden_member(lower, "student_t")), 1e-7);
    }
}

TEST(bounds_on_synthetic_logs)
{
    static const char *const names[] = {"ope/synthetic_binary.json", "ope/synthetic_continuous.json"};
    for (size_t i = 0; i < COUNT(names); i++) {
        json_auto_t *log = golden_load(names[i]);
        json_t *expect;
        const char *policy;
        json_object_foreach(golden_member(log, "expect"), policy, expect)
        {
            RELEASED_BY(logged_free) logged_rounds rounds = logged_of_policy(log, policy);
            check_bounds(golden_member(expect, "bounds_ipw"), &rounds.rounds);
        }
    }
}

static void check_stored_bounds(json_t *expect, const evaluated_rounds *rounds)
{
    check_bounds(golden_member(expect, "bounds_ipw"), rounds);
}

TEST(bounds_on_open_bandit)
{
    logged_each_open_bandit(check_stored_bounds);
}

static void check_points(const json_t *points, const evaluated_rounds *rounds, double weight_high)
{
    rounds_sums sums = sums_of(rounds);
    assert_relative(rounds_sums_value(&sums, ESTIMATOR_IPS), golden_number(golden_member(points, "ips")), 1e-9);
    assert_relative(rounds_sums_value(&sums, ESTIMATOR_SNIPS), golden_number(golden_member(points, "snips")), 1e-9);
    assert_relative(estimator_value(ESTIMATOR_EL, INFINITY, rounds), golden_number(golden_member(points, "mle")), 1e-7);
    assert_relative(estimator_value(ESTIMATOR_EL, weight_high, rounds),
                    golden_number(golden_member(points, "mle_wmax")), 1e-7);
    double free_value = golden_number(golden_member(points, "cressieread"));
    assert_relative(estimator_value(ESTIMATOR_CRESSIE_READ, INFINITY, rounds), free_value, 1e-9);
    assert_relative(rounds_sums_value(&sums, ESTIMATOR_CRESSIE_READ), free_value, 1e-9);
    assert_relative(estimator_value(ESTIMATOR_CRESSIE_READ, weight_high, rounds),
                    golden_number(golden_member(points, "cressieread_wmax")), 1e-9);
}

static void check_sequence(const json_t *stored, const evaluated_rounds *rounds, value_range range)
{
    confidence_sequence sequence = confidence_sequence_of_ips(range);
    sequence.below.loose = sequence.above.loose = true;
    for (size_t i = 0; i < rounds->count; i++)
        confidence_sequence_add_ips(&sequence, rounds->weights[i], rounds->rewards[i], rounds->copies[i]);
    for (size_t k = 0; k < COUNT(alphas); k++)
        assert_interval(confidence_sequence_interval(&sequence, strtod(alphas[k], NULL)),
                        golden_member(stored, alphas[k]), 1e-6);
}

/* Theirs takes the number of dropped rounds as known, and so agrees with ours only without drops. */
static void check_normal(const json_t *stored, const rounds_sums *sums, value_range range, double alpha)
{
    double n = sums->count, mean = sums->wr / n;
    double half = quantile_normal(1.0 - 0.5 * alpha) * sqrt((sums->wwrr - sums->wr * mean) / (n - 1.0) / n);
    assert_interval(((interval){mean - half, mean + half}), stored, 1e-9);
    if (sums->copies_max == 1.0)
        assert_interval(interval_of_sums(INTERVAL_NORMAL, ESTIMATOR_IPS, sums, range, alpha), stored, 1e-9);
}

/* Theirs does not limit the successes to the trials, as ours does: a quantile of less than one failure more than that,
 * or none. */
static interval proportion_of_theirs(double successes, double trials, double alpha)
{
    interval theirs = interval_of_proportion(successes, trials, alpha);
    double failures = trials - successes;
    if (failures < 0.0)
        theirs.low = failures > -1.0 ? quantile_beta(0.5 * alpha, successes, failures + 1.0) : (double)NAN;
    return theirs;
}

/* Theirs has n / wmax trials; ours, of n, has the same successes and is about the value / wmax. */
static void check_proportion(const json_t *stored, const rounds_sums *sums, value_range range, double alpha)
{
    double highest = sums->wmax * sums->copies_max, span = range.reward_high - range.reward_low;
    double successes = (sums->wr - range.reward_low * sums->w) / span / highest;
    interval theirs = proportion_of_theirs(successes, sums->count / highest, alpha);
    theirs.low = range.reward_low + span * theirs.low;
    theirs.high = range.reward_low + span * theirs.high;
    interval own = interval_of_proportion(successes, sums->count, alpha);
    range.weight_high = sums->wmax;
    interval got = interval_of_sums(INTERVAL_CLOPPER_PEARSON, ESTIMATOR_IPS, sums, range, alpha);
    assert_interval(theirs, stored, 1e-7);
    assert_relative(got.low, range.reward_low + span * fmin(1, highest * own.low), 1e-12);
    assert_relative(got.high, range.reward_low + span * fmin(1, highest * own.high), 1e-12);
}

static void check_intervals(const json_t *stored, const evaluated_rounds *rounds, value_range range, double weight_high)
{
    rounds_sums sums = sums_of(rounds);
    for (size_t k = 0; k < COUNT(alphas); k++) {
        double alpha = strtod(alphas[k], NULL);
        value_range known = range;
        known.weight_high = weight_high / sums.copies_max; /* theirs has the copies in it */
        check_normal(golden_member(golden_member(stored, "gaussian"), alphas[k]), &sums, range, alpha);
        check_proportion(golden_member(golden_member(stored, "clopper_pearson"), alphas[k]), &sums, range, alpha);
        assert_interval(interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_IPS, &sums, range, alpha),
                        golden_member(golden_member(stored, "cressieread"), alphas[k]), 1e-7);
        assert_interval(interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_IPS, &sums, known, alpha),
                        golden_member(golden_member(stored, "cressieread_wmax"), alphas[k]), 1e-7);
    }
    check_sequence(golden_member(stored, "cs"), rounds, range);
}

TEST(equal_to_vowpal_wabbit)
{
    json_auto_t *root = golden_load("ope/vw_estimators.json");
    json_t *stream, *expect;
    size_t i;
    json_array_foreach(golden_member(root, "streams"), i, stream)
    {
        json_auto_t *log = golden_load(formatted("ope/%s", json_string_value(golden_member(stream, "log"))));
        RELEASED_BY(logged_free)
        logged_rounds rounds = logged_of_policy(log, json_string_value(golden_member(stream, "policy")));
        double *own = json_is_null(golden_member(stream, "reward"))
                          ? NULL
                          : golden_doubles(golden_member(stream, "reward"), NULL);
        double dropped = golden_number(golden_member(stream, "p_drop"));
        auto_free double *copies = malloc(rounds.rounds.count * sizeof *copies);
        assert_non_null(copies);
        for (size_t k = 0; k < rounds.rounds.count; k++) copies[k] = 1.0 / (1.0 - dropped);
        value_range range = {golden_number(golden_member(stream, "rmin")), golden_number(golden_member(stream, "rmax")),
                             INFINITY};
        double weight_high = golden_number(golden_member(stream, "wmax"));
        const char *key;
        json_object_foreach(golden_member(stream, "expect"), key, expect)
        {
            evaluated_rounds first = rounds.rounds;
            first.count = strtoul(key, NULL, 10);
            first.copies = copies;
            if (own) first.rewards = own;
            const json_t *points = golden_member(expect, "points");
            if (!json_is_null(points)) check_points(points, &first, weight_high);
            check_intervals(golden_member(expect, "intervals"), &first, range, weight_high);
        }
        free(own);
    }
}

TEST(equal_with_stored_resamples)
{
    static const struct {
        const char *name;
        estimator_kind kind;
    } of[] = {{"ipw", ESTIMATOR_IPS},
              {"dm", ESTIMATOR_DM},
              {"dr", ESTIMATOR_DR},
              {"switch_dr_10", ESTIMATOR_SWITCH_DR},
              {"dr_os_10", ESTIMATOR_DROS},
              {"snipw_renormalised", ESTIMATOR_SNIPS}}; /* theirs of SNIPS keep the normaliser of the whole log */
    json_auto_t *log = golden_load("ope/synthetic_binary.json"), *stored = golden_load("ope/bootstrap.json");
    RELEASED_BY(logged_free) logged_rounds rounds = logged_of_policy(log, "soft");
    size_t n = (size_t)json_integer_value(golden_member(stored, "n_rounds"));
    size_t resamples = (size_t)json_integer_value(golden_member(stored, "resamples"));
    auto_free double *places = golden_doubles(golden_member(stored, "index"), NULL); /* (resamples, n) */
    auto_free double *drawn = malloc(n * sizeof *drawn), *values = malloc(resamples * sizeof *values);
    auto_free size_t *index = malloc(n * sizeof *index);
    assert_true(drawn && values && index);
    rounds.rounds.count = n;
    evaluated_rounds resample = rounds.rounds;
    resample.copies = drawn;
    for (size_t k = 0; k < COUNT(of); k++) {
        const json_t *intervals =
            golden_member(golden_member(golden_member(stored, "expect"), of[k].name), "intervals");
        for (size_t b = 0; b < resamples; b++) {
            for (size_t i = 0; i < n; i++) index[i] = (size_t)places[b * n + i];
            interval_resample(&rounds.rounds, index, drawn);
            values[b] = estimator_value(of[k].kind, 10.0, &resample);
        }
        for (size_t a = 0; a < COUNT(alphas); a++)
            assert_interval(interval_of_resamples(values, resamples, strtod(alphas[a], NULL)),
                            golden_member(intervals, alphas[a]), 1e-9);
    }
}

static bool nests(interval inner, interval outer)
{
    return outer.low <= inner.low && inner.low <= inner.high && inner.high <= outer.high;
}

TEST(less_doubt_is_wider)
{
    json_auto_t *log = golden_load("ope/synthetic_binary.json");
    RELEASED_BY(logged_free) logged_rounds rounds = logged_of_policy(log, "soft");
    rounds_sums sums = sums_of(&rounds.rounds);
    const value_range range = {0, 1, 40};
    for (size_t kind = 0; kind < INTERVAL_KINDS; kind++) {
        for (size_t of = 0; of < ESTIMATOR_KINDS; of++) {
            interval wide = interval_of_sums((interval_kind)kind, (estimator_kind)of, &sums, range, 0.01);
            interval slim = interval_of_sums((interval_kind)kind, (estimator_kind)of, &sums, range, 0.2);
            assert_true(isnan(wide.low) ? isnan(slim.low) && isnan(slim.high) : nests(slim, wide));
            if (isnan(wide.low)) continue;
            double value = rounds_sums_value(&sums, (estimator_kind)of);
            assert_true(slim.low <= value && value <= slim.high);
        }
    }
}

/* What is possible is more than what was seen, and without it there is no promise. */
TEST(bounds_by_what_is_possible)
{
    static const interval_kind kinds[] = {INTERVAL_CLOPPER_PEARSON, INTERVAL_HOEFFDING, INTERVAL_BERNSTEIN};
    const double weights[] = {0.5, 2, 1, 0.25, 1.5}, rewards[] = {1, 0, 1, 0, 1};
    rounds_sums sums = sums_of(&(evaluated_rounds){.count = 5, .weights = weights, .rewards = rewards});
    for (size_t k = 0; k < COUNT(kinds); k++) {
        interval seen = interval_of_sums(kinds[k], ESTIMATOR_IPS, &sums, (value_range){0, 1, 2}, 0.05);
        interval possible = interval_of_sums(kinds[k], ESTIMATOR_IPS, &sums, (value_range){0, 1, 8}, 0.05);
        interval understated = interval_of_sums(kinds[k], ESTIMATOR_IPS, &sums, (value_range){0, 1, 1}, 0.05);
        interval unknown = interval_of_sums(kinds[k], ESTIMATOR_IPS, &sums, unit, 0.05);
        assert_true(nests(seen, possible) && (possible.high > seen.high || seen.high == 1));
        assert_true(understated.low == seen.low && understated.high == seen.high);
        assert_true(isnan(unknown.low) && isnan(unknown.high));
    }
}

/* The delta method of the self-normalised kinds divides the squares by the rounds from sums, and by one less from
 * terms.
 */
TEST(sums_and_terms_agree)
{
    json_auto_t *log = golden_load("ope/synthetic_continuous.json");
    RELEASED_BY(logged_free) logged_rounds rounds = logged_of_policy(log, "hard");
    size_t count = rounds.rounds.count;
    auto_free double *copies = malloc(count * sizeof *copies), *terms = malloc(count * sizeof *terms);
    assert_true(copies && terms);
    for (size_t i = 0; i < count; i++) copies[i] = i % 7 ? 1.0 : 2.5;
    for (int dropped = 0; dropped < 2; dropped++) {
        rounds.rounds.copies = dropped ? copies : NULL;
        rounds_sums sums = sums_of(&rounds.rounds);
        for (size_t kind = 0; kind < ESTIMATOR_CRESSIE_READ; kind++) {
            if (!estimator_describe((estimator_kind)kind)->streams) continue;
            bool ratio = kind == ESTIMATOR_SNIPS || kind == ESTIMATOR_REPLAY || kind == ESTIMATOR_SNDR;
            estimator_terms((estimator_kind)kind, 0, &rounds.rounds, terms);
            interval of_terms = interval_of_terms(INTERVAL_STUDENT, terms, rounds.rounds.copies, count, 0.05);
            interval of_sums = interval_of_sums(INTERVAL_STUDENT, (estimator_kind)kind, &sums, unit, 0.05);
            double width = of_terms.high - of_terms.low, expected = of_sums.high - of_sums.low;
            assert_relative(of_terms.low + of_terms.high, of_sums.low + of_sums.high, 1e-12);
            if (ratio) expected *= sqrt((double)count / ((double)count - 1.0));
            assert_relative(width, expected, 1e-9);
        }
    }
}

/* A log of `all` rounds, some of which were dropped: all alike, or mostly those without a reward. */
static rounds_sums dropped_log(random_stream *stream, bool by_reward, size_t all)
{
    rounds_sums sums = {0};
    for (size_t i = 0; i < all; i++) {
        double weight = random_unit(stream) < 0.5 ? 0.5 : 1.5;
        double reward = by_reward ? random_unit(stream) < 0.5 : 0.9 + 0.1 * random_unit(stream);
        double dropped = !by_reward ? 0.8 : reward > 0.0 ? 0.0 : 0.9;
        if (random_unit(stream) < dropped) continue;
        rounds_sums_add(&sums, weight, reward, reward - 0.1 * weight, 0.8 * reward, 1.0 / (1.0 - dropped));
    }
    return sums;
}

/* How many rounds were dropped is an estimate: an interval that takes it as known holds the value always, or by far not
 * as often as it says. */
TEST(covers_with_dropped_rounds)
{
    enum { LOGS = 1000, ROUNDS = 300 };
    static const estimator_kind kinds[] = {ESTIMATOR_IPS, ESTIMATOR_SNIPS, ESTIMATOR_DM, ESTIMATOR_DR, ESTIMATOR_SNDR};
    for (int by_reward = 0; by_reward < 2; by_reward++) {
        random_stream stream = random_named(7, "dropped");
        double value = by_reward ? 0.5 : 0.95; /* E[r], which is E[w r]: w and r are independent, and E[w] = 1 */
        double values[] = {value, value, value - 0.1, 1.2 * value - 0.1, 1.2 * value - 0.1};
        size_t held[COUNT(kinds)] = {0};
        for (size_t log = 0; log < LOGS; log++) {
            rounds_sums sums = dropped_log(&stream, by_reward, ROUNDS);
            for (size_t k = 0; k < COUNT(kinds); k++) {
                interval found = interval_of_sums(INTERVAL_STUDENT, kinds[k], &sums, unit, 0.05);
                held[k] += found.low <= values[k] && values[k] <= found.high;
            }
        }
        for (size_t k = 0; k < COUNT(kinds); k++) assert_in_range(held[k], LOGS * 92 / 100, LOGS * 98 / 100);
    }
}

TEST(bootstrap_repeats_and_comes_near_the_normal)
{
    json_auto_t *log = golden_load("ope/synthetic_binary.json");
    RELEASED_BY(logged_free) logged_rounds rounds = logged_of_policy(log, "soft");
    resampled_estimate both[2] = {{.estimator = ESTIMATOR_SNIPS}, {.estimator = ESTIMATOR_DR}};
    random_stream stream = random_named(5, "bootstrap"), again = stream;
    ok(interval_bootstrap_all(both, 2, &rounds.rounds, 2000, 0.05, &stream, NULL));
    rounds_sums sums = sums_of(&rounds.rounds);
    for (size_t k = 0; k < 2; k++) {
        random_stream own = again;
        interval alone;
        ok(interval_bootstrap(both[k].estimator, 0, &rounds.rounds, 2000, 0.05, &own, &alone, NULL));
        assert_true(alone.low == both[k].interval.low && alone.high == both[k].interval.high);
        interval normal = interval_of_sums(INTERVAL_NORMAL, both[k].estimator, &sums, unit, 0.05);
        /* Chance moves an end by 1.5% of the width, and a skewed log by a few more. */
        assert_true(fabs(alone.low - normal.low) < 0.1 * (normal.high - normal.low));
        assert_true(fabs(alone.high - normal.high) < 0.1 * (normal.high - normal.low));
    }
    both[0].estimator = ESTIMATOR_EL;
    fails_with(interval_bootstrap_all(both, 2, &rounds.rounds, 10, 0.05, &stream, &last_error), EE_BAD_OPTION,
               "estimator el has no bootstrap interval; use cressie-read");
}

TEST(nothing_of_too_few_rounds)
{
    const double one = 1.0;
    rounds_sums none = {0}, single = sums_of(&(evaluated_rounds){.count = 1, .weights = &one, .rewards = &one});
    for (size_t kind = 0; kind < INTERVAL_KINDS; kind++) {
        interval of_none = interval_of_sums((interval_kind)kind, ESTIMATOR_IPS, &none, (value_range){0, 1, 5}, 0.05);
        interval of_one = interval_of_sums((interval_kind)kind, ESTIMATOR_IPS, &single, (value_range){0, 1, 5}, 0.05);
        assert_true(isnan(of_none.low) && isnan(of_none.high));
        assert_true(isnan(of_one.low) || kind == INTERVAL_CLOPPER_PEARSON);
    }
    assert_true(isnan(interval_of_terms(INTERVAL_NORMAL, &one, NULL, 1, 0.05).low));
    double values[] = {1, NAN, 2};
    assert_true(isnan(interval_of_resamples(values, 3, 0.05).low));
}

/* Of weights whose squares no double holds nothing is known for sure. */
TEST(nothing_of_endless_weights)
{
    const double weights[] = {1, 1e200, 0.5, 1}, rewards[] = {1, 0.5, 0, 1}, direct[] = {0.5, 1, 0, 1};
    evaluated_rounds rounds = {.count = 4, .weights = weights, .rewards = rewards, .direct = direct};
    rounds_sums sums = sums_of(&rounds);
    static const estimator_kind kinds[] = {ESTIMATOR_IPS, ESTIMATOR_SNIPS, ESTIMATOR_DR, ESTIMATOR_SNDR};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        interval normal = interval_of_sums(INTERVAL_NORMAL, kinds[k], &sums, unit, 0.05);
        assert_true(isnan(normal.low) && isnan(normal.high));
    }
    interval possible = interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_IPS, &sums, unit, 0.05);
    assert_true(possible.low == 0.0 && possible.high == 1.0);
}

/* Where the largest possible weight is huge, the interval is nearly that of one without a bound, wherever the rewards
 * lie; and ends that rounding has turned around are no interval. */
TEST(huge_possible_weights_take_no_digits)
{
    double weights[100], rewards[100];
    for (double low = -1; low < 200; low += 100) {
        for (size_t i = 0; i < COUNT(weights); i++) {
            weights[i] = 0.1 * (double)(i % 17);
            rewards[i] = low + (i % 3 ? 0 : 1);
        }
        rounds_sums sums =
            sums_of(&(evaluated_rounds){.count = COUNT(weights), .weights = weights, .rewards = rewards});
        for (double huge = 1e8; huge < 1e14; huge *= 100) {
            interval free = interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_IPS, &sums,
                                             (value_range){low, low + 1, INFINITY}, 0.05);
            interval bound =
                interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_IPS, &sums, (value_range){low, low + 1, huge}, 0.05);
            assert_true(fabs(bound.low - free.low) < 1e-5 && fabs(bound.high - free.high) < 1e-5);
            assert_true(free.high - free.low > 0.1);
        }
        weights[0] = 6e18;
        sums = sums_of(&(evaluated_rounds){.count = COUNT(weights), .weights = weights, .rewards = rewards});
        interval lost =
            interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_IPS, &sums, (value_range){low, low + 1, INFINITY}, 0.999);
        assert_true(lost.low <= lost.high);
    }
}

TEST(names_lead_back)
{
    for (size_t kind = 0; kind < INTERVAL_KINDS; kind++)
        assert_int_equal(interval_find(interval_name((interval_kind)kind)), kind);
    assert_int_equal(interval_find("nonsense"), INTERVAL_KINDS);
}
