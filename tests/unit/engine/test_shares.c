/* Shares of groups: the nearest distribution within bounds, against known results, the conditions for an optimum, and a
 * search. */
#include "support.h"

#include "engine/shares.h"

enum { ARMS = 12, GROUPS = 4 };
static const double ROUNDING = 1e-12;

/* A round with its limits. */
typedef struct problem {
    size_t arms, groups;
    uint32_t group[ARMS];
    double low[GROUPS], high[GROUPS];
    double before[ARMS], after[ARMS];
} problem;

static void project(problem *self)
{
    group_share room[GROUPS + 1];
    ee_limits limits = {.groups = self->group, .low = self->low, .high = self->high, .group_count = self->groups};
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

static const struct {
    problem p;
    double expected[4];
} known[] = {
    /* a low takes from all others in proportion, a high gives to them */
    {{3, 1, {0, 9, 9}, {0.5}, {1}, {0.2, 0.6, 0.2}, {0}}, {0.5, 0.375, 0.125}},
    {{4, 1, {0, 0, 1, EE_NO_GROUP}, {0}, {0.4}, {0.6, 0.2, 0.15, 0.05}, {0}}, {0.3, 0.1, 0.45, 0.15}},
    /* the first group must rise to its low, which takes the second below its own low: both end at their lows */
    {{3, 2, {0, 1, 2}, {0.5, 0.3}, {1, 1}, {0.1, 0.32, 0.58}, {0}}, {0.5, 0.3, 0.2}},
    /* the second group is below its low before, but what the first gives up lifts it above */
    {{3, 2, {0, 1, 2}, {0, 0.12}, {0.5, 1}, {0.9, 0.05, 0.05}, {0}}, {0.5, 0.25, 0.25}},
    /* a group without probability is spread evenly */
    {{4, 1, {0, 0, 1, 1}, {0.3}, {1}, {0, 0, 1, 0}, {0}}, {0.15, 0.15, 0.7, 0}},
    /* nothing else may take what the best arm must give up */
    {{4, 2, {0, 1, 1, 5}, {0, 0.1}, {0.25, 1}, {1, 0, 0, 0}, {0}}, {0.25, 0.25, 0.25, 0.25}},
    {{4, 2, {0, 1, 1, 5}, {0, 0.1}, {0.25, 0.2}, {1, 0, 0, 0}, {0}}, {0.25, 0.1, 0.1, 0.55}},
    /* a high of zero excludes a group; a group without arms is ignored */
    {{3, 1, {0, 1, 1}, {0}, {0}, {0.8, 0.15, 0.05}, {0}}, {0, 0.75, 0.25}},
    {{2, 3, {0, 7}, {0.5, 0.9, 0.4}, {1, 1, 1}, {0.25, 0.75}, {0}}, {0.5, 0.5}},
    /* bounds that cannot hold are scaled */
    {{3, 2, {0, 1, 2}, {0.9, 0.6}, {1, 0.7}, {0.2, 0.3, 0.5}, {0}}, {0.6, 0.4, 0}},
    {{2, 2, {0, 1}, {0, 0.1}, {0.1, 0.3}, {0.6, 0.4}, {0}}, {0.25, 0.75}},
    {{2, 2, {0, 1}, {0, 0}, {0, 0}, {0.6, 0.4}, {0}}, {0.6, 0.4}},
    /* a factor of more than 1e308 does not overflow */
    {{3, 1, {0, 0, 1}, {0.5}, {1}, {5e-324, 5e-324, 1}, {0}}, {0.25, 0.25, 0.5}},
    {{2, 1, {0, 1}, {0}, {0.25}, {1, 5e-324}, {0}}, {0.25, 0.75}},
};

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

static void assert_proportions(const problem *self)
{
    for (size_t i = 0; i < self->arms; i++) {
        size_t group = self->group[i] < self->groups ? self->group[i] : self->groups;
        double before = mass(self, self->before, group), after = mass(self, self->after, group);
        double expected = before > 0 ? after * self->before[i] / before : after / (double)size_of(self, group);
        assert_close(self->after[i], expected, ROUNDING);
    }
}

/* The conditions of Karush, Kuhn and Tucker, which are sufficient here: one factor for all groups that are strictly
 * within their bounds, at least that for a group at its low, at most that for a group at its high. */
static void assert_optimum(const problem *self)
{
    double least = 0, greatest = INFINITY; /* bounds of the common factor */
    for (size_t g = 0; g <= self->groups; g++) {
        double before = mass(self, self->before, g), after = mass(self, self->after, g);
        double low = g < self->groups ? self->low[g] : 0, high = g < self->groups ? self->high[g] : 1;
        if (before < 1e-9) continue; /* its factor is rounded too much */
        if (after > low + ROUNDING) least = fmax(least, after / before);
        if (after < high - ROUNDING) greatest = fmin(greatest, after / before);
    }
    assert_true(least <= greatest * (1 + 1e-6));
}

/* A distribution within the bounds, in which the arms of a group keep their proportions; the nearest one; a second
 * projection changes nothing, and bounds that hold change no bit. */
TEST(the_nearest_distribution_within_the_bounds)
{
    const size_t trials = test_long(20000, 200000);
    random_stream stream = random_named(1, "test");
    size_t held = 0;
    for (size_t trial = 0; trial < trials; trial++) {
        problem p = draw_problem(&stream, trial % 2);
        project(&p);
        assert_distribution(&p);
        assert_true(is_within(&p, p.after, ROUNDING));
        assert_proportions(&p);
        if (trial % 2 == 0) assert_optimum(&p);
        problem again = p;
        memcpy(again.before, p.after, sizeof p.after);
        project(&again);
        assert_probabilities(&again, p.after);
        if (!is_within(&p, p.before, -1e-9)) continue;
        assert_memory_equal(p.after, p.before, p.arms * sizeof *p.after);
        held++;
    }
    assert_true(held > trials / 100);
    /* Known results. */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        problem p = known[i].p;
        project(&p);
        assert_probabilities(&p, known[i].expected);
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
    enum { STEPS = 60, SEARCHES = 100 };
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
    for (int trial = 0; trial < 2000; trial++) {
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
