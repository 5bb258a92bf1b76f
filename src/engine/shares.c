#include "shares.h"

#include <math.h>

/* ---- the groups of a round ---- */

/* The group of an arm; the last one has the arms outside all groups of the caller. */
static size_t group_of(const ee_limits *limits, const size_t *left, size_t i)
{
    uint32_t group = limits->groups[left ? left[i] : i];
    return group < limits->group_count ? group : limits->group_count;
}

static void collect(const ee_limits *limits, const size_t *left, size_t count, const double *probabilities,
                    group_share *shares)
{
    for (size_t g = 0; g <= limits->group_count; g++) shares[g] = (group_share){.high = INFINITY};
    for (size_t i = 0; i < count; i++) {
        group_share *own = &shares[group_of(limits, left, i)];
        own->before += probabilities[i];
        own->arms++;
    }
    for (size_t g = 0; g < limits->group_count; g++) {
        if (!shares[g].arms) continue;
        shares[g].low = limits->low[g];
        /* A group that may have everything is unbounded: by rounding, probabilities may sum to a little more than 1. */
        if (limits->high[g] < 1) shares[g].high = limits->high[g];
    }
}

static bool are_within(const group_share *shares, size_t groups)
{
    for (size_t g = 0; g < groups; g++)
        if (shares[g].arms && !(shares[g].before >= shares[g].low && shares[g].before <= shares[g].high)) return false;
    return true;
}

/* Scales bounds that no distribution satisfies. */
static void make_feasible(group_share *shares, size_t groups)
{
    double lows = 0, highs = 0;
    for (size_t g = 0; g < groups; g++) {
        if (!shares[g].arms) continue;
        lows += shares[g].low;
        highs += shares[g].high;
    }
    for (size_t g = 0; g < groups; g++) {
        if (lows > 1) shares[g].low /= lows;
        if (highs < 1) shares[g].high = highs > 0 ? shares[g].high / highs : INFINITY;
    }
}

/* ---- probabilities of the groups ---- */

/* Bitran and Hax, "Disaggregation and resource allocation using convex knapsack problems with bounded variables",
 * Management Science 1981. Without bounds, each free group would get a part of the total in proportion to its weight.
 * If the lows raise the sum more than the highs reduce it, the right factor is smaller, so the groups below their low
 * stay there; otherwise those above their high do. Each pass decides at least one group. */
static void fill(group_share *shares, size_t groups, double total)
{
    for (bool changed = true; changed;) {
        double weight = 0, below = 0, above = 0;
        for (size_t g = 0; g < groups; g++)
            if (shares[g].is_free) weight += shares[g].weight;
        for (size_t g = 0; g < groups; g++) {
            group_share *own = &shares[g];
            if (!own->is_free) continue;
            own->after = total * (own->weight / weight); /* in this order: a small weight must not overflow */
            below += fmax(own->low - own->after, 0);
            above += fmax(own->after - own->high, 0);
        }
        changed = below > 0 || above > 0;
        for (size_t g = 0; g < groups && changed; g++) {
            group_share *own = &shares[g];
            double bound = below >= above ? own->low : own->high;
            if (!own->is_free || !(below >= above ? own->after < bound : own->after > bound)) continue;
            own->after = bound;
            own->is_free = false;
            total -= bound;
        }
    }
}

/* Fills the groups that had a probability, and then the others. A group that had none would need an infinite factor: it
 * gets its low or, if the rest has reached its highs, a part of what is left, in proportion to its arms. This is the
 * limit for arms with equal probabilities that go to 0. */
static void fill_all(group_share *shares, size_t groups)
{
    double lows = 0, highs = 0; /* least of the groups without probability, greatest of the others */
    for (size_t g = 0; g < groups; g++) {
        if (!shares[g].arms) continue;
        if (shares[g].before > 0)
            highs += shares[g].high;
        else
            lows += shares[g].low;
    }
    bool spills = highs < 1 - lows;
    for (size_t g = 0; g < groups; g++) {
        group_share *own = &shares[g];
        bool had = own->before > 0;
        own->after = had ? own->high : own->low;
        own->weight = had ? own->before : (double)own->arms;
        own->is_free = own->arms && had != spills;
    }
    fill(shares, groups, spills ? 1 - highs : 1 - lows);
}

void shares_project(const ee_limits *limits, const size_t *left, size_t count, group_share *room, double *probabilities)
{
    size_t groups = limits->group_count + 1;
    collect(limits, left, count, probabilities, room);
    if (are_within(room, groups)) return;
    make_feasible(room, groups);
    fill_all(room, groups);
    for (size_t i = 0; i < count; i++) {
        const group_share *own = &room[group_of(limits, left, i)];
        /* in this order: the factor from before to after may overflow */
        probabilities[i] =
            own->before > 0 ? own->after * (probabilities[i] / own->before) : own->after / (double)own->arms;
    }
}
