/* Shares of groups: the nearest distribution within bounds, against known results, the conditions for an optimum, a
 * search, and a simulation. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "engine/propensity.h"
#include "engine/shares.h"

enum { ARMS = 12, GROUPS = 4, TRIALS = SANITIZED ? 20000 : 200000 };
static const double ROUNDING = 1e-12;

/* A round with its limits. */
typedef struct problem {
    size_t arms, groups;
    uint32_t group[ARMS];
    double low[GROUPS], high[GROUPS];
    double before[ARMS], after[ARMS];
} problem;

static ee_limits limits_of(const problem *self)
{
    return (ee_limits){.groups = self->group, .low = self->low, .high = self->high, .group_count = self->groups};
}

static void project(problem *self)
{
    group_share room[GROUPS + 1];
    ee_limits limits = limits_of(self);
    memcpy(self->after, self->before, sizeof self->after);
    shares_project(&limits, NULL, self->arms, room, self->after);
}

/* The probability of a group; number `groups` has the arms outside all groups. */
static double mass(const problem *self, const double *probabilities, size_t group)
{
    double sum = 0;
    for (size_t i = 0; i < self->arms; i++)
        if (self->group[i] == group || (group == self->groups && self->group[i] >= group)) sum += probabilities[i];
    return sum;
}

static size_t size_of(const problem *self, size_t group)
{
    double ones[ARMS];
    for (size_t i = 0; i < self->arms; i++) ones[i] = 1;
    return (size_t)mass(self, ones, group);
}

/* The sums of the bounds of the groups that have arms. */
static void sum_bounds(const problem *self, double *lows, double *highs)
{
    *lows = *highs = 0;
    for (size_t g = 0; g < self->groups; g++) {
        if (!size_of(self, g)) continue;
        *lows += self->low[g];
        *highs += self->high[g];
    }
    if (size_of(self, self->groups)) *highs += 1;
}

/* Bounds that a distribution satisfies, half of them with groups whose arms have no probability. */
static problem draw_problem(random_stream *stream, bool zeros)
{
    problem self;
    double lows, highs;
    do {
        double sum = 0;
        self = (problem){.arms = 1 + random_below(stream, ARMS), .groups = 1 + random_below(stream, GROUPS)};
        for (size_t i = 0; i < self.arms; i++) {
            self.group[i] = (uint32_t)random_below(stream, self.groups + 1);
            if (self.group[i] == self.groups && random_below(stream, 2)) self.group[i] = EE_NO_GROUP;
            double weight = pow(random_unit(stream), 4);
            if (zeros && random_below(stream, 2)) weight = 0;
            sum += self.before[i] = weight;
        }
        if (sum <= 0) sum = self.before[0] = 1;
        for (size_t i = 0; i < self.arms; i++) self.before[i] /= sum;
        for (size_t g = 0; g < self.groups; g++) {
            double a = random_unit(stream), b = random_unit(stream);
            if (!random_below(stream, 4)) a = b; /* an exact share */
            if (!random_below(stream, 4)) a = 0;
            if (!random_below(stream, 4)) b = 1;
            self.low[g] = fmin(a, b);
            self.high[g] = fmax(a, b);
        }
        sum_bounds(&self, &lows, &highs);
    } while (lows > 1 || highs < 1);
    return self;
}

static void assert_probabilities(const problem *self, const double *expected)
{
    for (size_t i = 0; i < self->arms; i++) assert_close(self->after[i], expected[i], ROUNDING);
}

/* ---- known results ---- */

TEST(a_low_takes_from_all_others_in_proportion)
{
    problem p = {3, 1, {0, 9, 9}, {0.5}, {1}, {0.2, 0.6, 0.2}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.5, 0.375, 0.125});
}

TEST(a_high_gives_to_all_others_in_proportion)
{
    problem p = {4, 1, {0, 0, 1, EE_NO_GROUP}, {0}, {0.4}, {0.6, 0.2, 0.15, 0.05}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.3, 0.1, 0.45, 0.15});
}

/* The first group must rise to its low, which takes the second below its own low: both end at their lows. */
TEST(a_bound_that_binds_may_make_another_one_bind)
{
    problem p = {3, 2, {0, 1, 2}, {0.5, 0.3}, {1, 1}, {0.1, 0.32, 0.58}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.5, 0.3, 0.2});
}

/* The second group is below its low before, but what the first gives up lifts it above. */
TEST(a_low_that_a_high_makes_slack_does_not_bind)
{
    problem p = {3, 2, {0, 1, 2}, {0, 0.12}, {0.5, 1}, {0.9, 0.05, 0.05}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.5, 0.25, 0.25});
}

TEST(a_group_without_probability_is_spread_evenly)
{
    problem p = {4, 1, {0, 0, 1, 1}, {0.3}, {1}, {0, 0, 1, 0}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.15, 0.15, 0.7, 0});
}

/* Nothing else may take what the best arm must give up. */
TEST(what_a_high_frees_goes_to_arms_without_probability_if_there_are_no_others)
{
    problem p = {4, 2, {0, 1, 1, 5}, {0, 0.1}, {0.25, 1}, {1, 0, 0, 0}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.25, 0.25, 0.25, 0.25});
    p.high[1] = 0.2;
    project(&p);
    assert_probabilities(&p, (double[]){0.25, 0.1, 0.1, 0.55});
}

TEST(a_high_of_zero_excludes_a_group)
{
    problem p = {3, 1, {0, 1, 1}, {0}, {0}, {0.8, 0.15, 0.05}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0, 0.75, 0.25});
}

TEST(a_group_without_arms_is_ignored)
{
    problem p = {2, 3, {0, 7}, {0.5, 0.9, 0.4}, {1, 1, 1}, {0.25, 0.75}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.5, 0.5});
}

TEST(bounds_that_cannot_hold_are_scaled)
{
    problem lows = {3, 2, {0, 1, 2}, {0.9, 0.6}, {1, 0.7}, {0.2, 0.3, 0.5}, {0}};
    project(&lows);
    assert_probabilities(&lows, (double[]){0.6, 0.4, 0});
    problem highs = {2, 2, {0, 1}, {0, 0.1}, {0.1, 0.3}, {0.6, 0.4}, {0}};
    project(&highs);
    assert_probabilities(&highs, (double[]){0.25, 0.75});
    problem none = {2, 2, {0, 1}, {0, 0}, {0, 0}, {0.6, 0.4}, {0}};
    project(&none);
    assert_probabilities(&none, (double[]){0.6, 0.4});
}

/* A factor of more than 1e308. */
TEST(the_smallest_probabilities_do_not_overflow)
{
    problem p = {3, 1, {0, 0, 1}, {0.5}, {1}, {5e-324, 5e-324, 1}, {0}};
    project(&p);
    assert_probabilities(&p, (double[]){0.25, 0.25, 0.5});
    problem free_rest = {2, 1, {0, 1}, {0}, {0.25}, {1, 5e-324}, {0}};
    project(&free_rest);
    assert_probabilities(&free_rest, (double[]){0.25, 0.75});
}

/* ---- what holds for all rounds ---- */

static void assert_distribution(const problem *self)
{
    double sum = 0;
    for (size_t i = 0; i < self->arms; i++) {
        assert_true(self->after[i] >= 0);
        sum += self->after[i];
    }
    assert_close(sum, 1, ROUNDING);
}

static bool is_within(const problem *self, const double *probabilities, double tolerance)
{
    for (size_t g = 0; g < self->groups; g++) {
        double now = mass(self, probabilities, g);
        if (size_of(self, g) && !(now >= self->low[g] - tolerance && now <= self->high[g] + tolerance)) return false;
    }
    return true;
}

TEST(the_result_is_a_distribution_within_the_bounds)
{
    random_stream stream = random_named(1, "test");
    for (int trial = 0; trial < TRIALS; trial++) {
        problem p = draw_problem(&stream, trial % 2);
        project(&p);
        assert_distribution(&p);
        assert_true(is_within(&p, p.after, ROUNDING));
    }
}

TEST(bounds_that_hold_change_no_bit)
{
    random_stream stream = random_named(2, "test");
    int held = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        problem p = draw_problem(&stream, trial % 2);
        if (!is_within(&p, p.before, -1e-9)) continue;
        project(&p);
        assert_memory_equal(p.after, p.before, p.arms * sizeof *p.after);
        held++;
    }
    assert_true(held > TRIALS / 100);
}

TEST(a_second_projection_changes_nothing)
{
    random_stream stream = random_named(3, "test");
    for (int trial = 0; trial < TRIALS; trial++) {
        problem p = draw_problem(&stream, trial % 2);
        project(&p);
        problem again = p;
        memcpy(again.before, p.after, sizeof p.after);
        project(&again);
        assert_probabilities(&again, p.after);
    }
}

TEST(arms_of_a_group_keep_their_proportions)
{
    random_stream stream = random_named(4, "test");
    for (int trial = 0; trial < TRIALS; trial++) {
        problem p = draw_problem(&stream, trial % 2);
        project(&p);
        for (size_t i = 0; i < p.arms; i++) {
            size_t group = p.group[i] < p.groups ? p.group[i] : p.groups;
            double before = mass(&p, p.before, group), after = mass(&p, p.after, group);
            double expected = before > 0 ? after * p.before[i] / before : after / (double)size_of(&p, group);
            assert_close(p.after[i], expected, ROUNDING);
        }
    }
}

/* The conditions of Karush, Kuhn and Tucker, which are sufficient here: one factor for all groups that are strictly
 * within their bounds, at least that for a group at its low, at most that for a group at its high. */
TEST(the_factors_satisfy_the_conditions_for_an_optimum)
{
    random_stream stream = random_named(5, "test");
    for (int trial = 0; trial < TRIALS; trial++) {
        problem p = draw_problem(&stream, false);
        double least = 0, greatest = INFINITY; /* bounds of the common factor */
        project(&p);
        for (size_t g = 0; g <= p.groups; g++) {
            double before = mass(&p, p.before, g), after = mass(&p, p.after, g);
            double low = g < p.groups ? p.low[g] : 0, high = g < p.groups ? p.high[g] : 1;
            if (before < 1e-9) continue; /* its factor is rounded too much */
            if (after > low + ROUNDING) least = fmax(least, after / before);
            if (after < high - ROUNDING) greatest = fmin(greatest, after / before);
        }
        assert_true(least <= greatest * (1 + 1e-6));
    }
}

static double divergence(const problem *self, const double *masses)
{
    double sum = 0;
    for (size_t g = 0; g <= self->groups; g++)
        if (masses[g] > 0) sum += masses[g] * log(masses[g] / mass(self, self->before, g));
    return sum;
}

/* Two groups and the rest: every third probability follows from the first two. */
TEST(a_search_over_a_grid_finds_nothing_nearer)
{
    enum { STEPS = 150, SEARCHES = SANITIZED ? 20 : 200 };
    random_stream stream = random_named(6, "test");
    for (int search = 0; search < SEARCHES; search++) {
        problem p = draw_problem(&stream, false);
        if (p.groups != 2 || !size_of(&p, 0) || !size_of(&p, 1) || !size_of(&p, 2)) continue;
        project(&p);
        double found[3] = {mass(&p, p.after, 0), mass(&p, p.after, 1), mass(&p, p.after, 2)};
        double own = divergence(&p, found);
        for (int a = 0; a <= STEPS; a++)
            for (int b = 0; a + b <= STEPS; b++) {
                double tried[3] = {(double)a / STEPS, (double)b / STEPS, (double)(STEPS - a - b) / STEPS};
                if (tried[0] < p.low[0] || tried[0] > p.high[0] || tried[1] < p.low[1] || tried[1] > p.high[1])
                    continue;
                assert_true(own <= divergence(&p, tried) + 1e-9);
            }
    }
}

/* Some of the arms of a round: the same as a round of only these arms. */
TEST(arms_that_are_left_out_do_not_count)
{
    random_stream stream = random_named(7, "test");
    for (int trial = 0; trial < TRIALS / 10; trial++) {
        problem p = draw_problem(&stream, trial % 2);
        uint32_t all[3 * ARMS];
        size_t left[ARMS];
        group_share room[GROUPS + 1];
        for (size_t i = 0; i < 3 * ARMS; i++) all[i] = (uint32_t)random_below(&stream, 5);
        for (size_t i = 0; i < p.arms; i++) {
            left[i] = 3 * i + random_below(&stream, 3);
            all[left[i]] = p.group[i];
        }
        ee_limits limits = {.groups = all, .low = p.low, .high = p.high, .group_count = p.groups};
        double probabilities[ARMS];
        memcpy(probabilities, p.before, sizeof probabilities);
        shares_project(&limits, left, p.arms, room, probabilities);
        project(&p);
        assert_memory_equal(probabilities, p.after, p.arms * sizeof *probabilities);
    }
}

/* ---- simulation ---- */

TEST(a_million_draws_have_these_frequencies)
{
    enum { DRAWS = SANITIZED ? 100000 : 1000000 };
    problem p = {6, 2, {0, 0, 1, 1, 2, 2}, {0.3, 0}, {0.5, 0.2}, {0.05, 0.05, 0.5, 0.1, 0.2, 0.1}, {0}};
    random_stream stream = random_named(8, "test");
    double counts[6] = {0};
    project(&p);
    /* The first group rises to 0.3, the second falls to 0.2, and the rest gets the rest. */
    assert_probabilities(&p, (double[]){0.15, 0.15, 1. / 6, 1. / 30, 1. / 3, 1. / 6});
    for (int i = 0; i < DRAWS; i++) counts[propensity_draw(p.after, 6, &stream)]++;
    for (size_t i = 0; i < 6; i++) {
        double deviation = sqrt(p.after[i] * (1 - p.after[i]) / DRAWS);
        assert_true(fabs(counts[i] / DRAWS - p.after[i]) < 4.5 * deviation);
    }
}
