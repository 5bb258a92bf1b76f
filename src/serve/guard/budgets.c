#include "budgets.h"

#include <math.h>
#include <stdio.h>

#include "base/checksum.h"

/* In units of the mean cost. Rewards are usually about 1; the price moves by factors, so a wrong start is corrected
 * within a few steps. */
static const double FIRST_PRICE = 0.01, LEAST_PRICE = 1e-12, HIGHEST_PRICE = 1e9;
static const double LEAST_OF_PEAK = 0.001; /* low enough to be no price, near enough to return from in a few steps */
static const double LEAST_STEP = 0.1, FIRST_STEP = 0.5, MOST_STEP = 1;
static const double GAP_MEMORY = 50; /* decisions */
static const double MOST_EXCESS = 2; /* of spending over the target that counts in one step */

/* A price is in rewards per cost, so another cost has another price. */
static uint64_t identify(const guard_budget *of)
{
    const char *path = of->cost_path ? of->cost_path : "";
    char words[GUARD_NAME_SIZE + GUARD_TEXT_SIZE + 32];
    int size = snprintf(words, sizeof words, "%s%c%s%c%.17g", of->name, 0, path, 0, of->cost);
    return checksum_64(words, (size_t)size);
}

void budget_create(budget_state *self, const guard_budget *of)
{
    *self = (budget_state){.of = of, .identity = identify(of), .span = INT64_MIN, .step = FIRST_STEP};
}

static size_t slice_at(const budget_state *self, int64_t now)
{
    double passed = (double)(now - self->span * self->of->per) / (double)self->of->per;
    size_t slice = (size_t)(passed * BUDGET_SLICES);
    return slice < BUDGET_SLICES ? slice : BUDGET_SLICES - 1;
}

/* A span that began before the first decision says too little about its traffic. */
static void remember_traffic(budget_state *self)
{
    bool whole = self->since <= self->span * self->of->per + self->of->per / BUDGET_SLICES;
    for (size_t i = 0; i < BUDGET_SLICES; i++) {
        if (whole) self->usual[i] = self->has_usual ? (self->usual[i] + self->traffic[i]) / 2 : self->traffic[i];
        self->traffic[i] = 0;
    }
    self->has_usual |= whole;
}

void budget_move(budget_state *self, int64_t now)
{
    int64_t span = now / self->of->per;
    if (span <= self->span) return;
    if (self->span == INT64_MIN)
        self->since = now;
    else if (self->of->even)
        remember_traffic(self);
    self->span = span;
    self->spent = self->spending = self->target = 0;
    self->peak = fmax(self->price, self->peak / 10);
}

bool budget_spent(const budget_state *self, double cost)
{
    /* Ten times 0.1 is not quite 1: the last one has to fit. */
    return cost > 0 && !(self->spent + cost <= self->of->limit * (1 + 1e-9));
}

/* ---- the price ---- */

/* Decisions that are expected in the rest of the span, the current one included. */
static double expected_rest(const budget_state *self, int64_t now)
{
    int64_t begin = self->span * self->of->per, end = begin + self->of->per;
    size_t slice = slice_at(self, now);
    double part = (double)(now - begin) / (double)self->of->per * BUDGET_SLICES - (double)slice;
    double came = 0, usual = 0, rest = 0; /* decisions */
    for (size_t i = 0; i < BUDGET_SLICES; i++) {
        double passed = i < slice ? 1 : i > slice ? 0 : part;
        came += self->traffic[i];
        usual += passed * self->usual[i];
        rest += (1 - passed) * self->usual[i];
    }
    if (self->has_usual) {
        double prior = 0.02 * (usual + rest) + 1; /* a day is believed to differ once a few percent of it came */
        return fmax(1, rest * (came + prior) / (usual + prior));
    }
    return fmax(1, (double)(end - now) / fmax(1, self->gap));
}

/* How much target makes a step: ten costs, or less if the budget has few. */
static double step_target(const budget_state *self)
{
    double costs = self->of->limit / self->cost;
    return self->cost * fmin(10, fmax(1, costs / 50));
}

static void take_step(budget_state *self)
{
    double excess = fmin(MOST_EXCESS, self->spending / self->target - 1);
    bool above = excess > 0;
    if (self->price == 0) self->price = above ? FIRST_PRICE / self->cost : 0;
    self->step = above == self->was_above ? fmin(MOST_STEP, 1.2 * self->step) : fmax(LEAST_STEP, self->step / 2);
    self->was_above = above;
    double least = fmax(LEAST_PRICE / self->cost, LEAST_OF_PEAK * self->peak);
    double price = self->price * exp(self->step * excess);
    if (self->price > 0) self->price = fmin(fmax(price, least), HIGHEST_PRICE / self->cost);
    self->peak = fmax(self->peak, self->price);
    self->spending = self->target = 0;
}

void budget_restore_price(budget_state *self, double price)
{
    if (!self->of->even) return;
    if (fabs(price - self->price) > 1e-6 * price) self->step = LEAST_STEP; /* it was not the same traffic */
    self->price = price;
    self->peak = fmax(self->peak, price);
}

/* ---- decisions ---- */

static void note_arrival(budget_state *self, int64_t now)
{
    self->traffic[slice_at(self, now)]++;
    self->arrivals++;
    double gap = (double)(now - self->last);
    if (self->arrivals > 1) self->gap += (gap - self->gap) / fmin(GAP_MEMORY, self->arrivals - 1);
    self->last = now;
}

void budget_count(budget_state *self, int64_t now, budget_costs costs)
{
    budget_move(self, now);
    double rest = fmax(0, self->of->limit - self->spent);
    self->spent += costs.chosen;
    if (!self->of->even || !(costs.mean > 0)) return;
    self->cost += (self->cost > 0 ? 0.01 : 1) * (costs.mean - self->cost);
    note_arrival(self, now);
    if (rest < self->cost) return; /* it is used up: what was not spent says nothing about the price */
    self->spending += costs.expected;
    self->target += rest / expected_rest(self, now);
    if (self->target >= step_target(self)) take_step(self);
}

void budget_undo(budget_state *self, int64_t decided, budget_costs costs)
{
    if (decided / self->of->per != self->span) return;
    self->spent = fmax(0, self->spent - costs.chosen);
    if (!self->of->even || !(costs.mean > 0)) return;
    double *traffic = &self->traffic[slice_at(self, decided)];
    *traffic = fmax(0, *traffic - 1);
    self->spending = fmax(0, self->spending - costs.expected);
}
