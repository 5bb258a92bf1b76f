#include "limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budgets.h"
#include "caps.h"
#include "share_means.h"

static const size_t NOWHERE = SIZE_MAX;

/* Limits of the settings before that are the same: their places there, or NOWHERE. */
typedef struct limit_sources {
    size_t caps[GUARD_CAPS], budgets[GUARD_BUDGETS], shares[GUARD_SHARES];
} limit_sources;

struct limit_state {
    memory owner; /* first: of everything here, except the caps */
    const guard_settings *of;
    int64_t now; /* the latest time */
    limit_sources from;
    cap_state *caps[GUARD_CAPS]; /* NULL: it comes from another state */
    budget_state budgets[GUARD_BUDGETS];
    share_mean *shares; /* (share_count) */
};

/* ---- the same limits ---- */

static limit_sources no_sources(void)
{
    limit_sources none;
    for (size_t i = 0; i < GUARD_CAPS; i++) none.caps[i] = NOWHERE;
    for (size_t i = 0; i < GUARD_BUDGETS; i++) none.budgets[i] = NOWHERE;
    for (size_t i = 0; i < GUARD_SHARES; i++) none.shares[i] = NOWHERE;
    return none;
}

/* The name too: it is a part of what identifies the price in the log. */
static bool same_budget(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b)
{
    return strcmp(a->budgets[of_a].name, b->budgets[of_b].name) == 0 && guard_same_budget(a, of_a, b, of_b);
}

/* The share in this place of both. An action belongs to the first share that it matches, so the actions of those before
 * it are the same too. */
static bool same_share(const guard_settings *a, const guard_settings *b, size_t share)
{
    if (share >= a->share_count || share >= b->share_count) return false;
    for (size_t i = 0; i <= share; i++)
        if (!guard_same_terms(a, a->shares[i].terms, b, b->shares[i].terms)) return false;
    return a->shares[share].window == b->shares[share].window;
}

/* Each limit of before is taken once: two may be the same. */
static limit_sources find_sources(const guard_settings *of, const guard_settings *before)
{
    limit_sources found = no_sources();
    bool cap_taken[GUARD_CAPS] = {false}, budget_taken[GUARD_BUDGETS] = {false};
    for (size_t i = 0; i < of->cap_count; i++)
        for (size_t k = 0; k < before->cap_count && found.caps[i] == NOWHERE; k++) {
            if (cap_taken[k] || !guard_same_cap(of, i, before, k)) continue;
            found.caps[i] = k;
            cap_taken[k] = true;
        }
    for (size_t i = 0; i < of->budget_count; i++)
        for (size_t k = 0; k < before->budget_count && found.budgets[i] == NOWHERE; k++) {
            if (budget_taken[k] || !same_budget(of, i, before, k)) continue;
            found.budgets[i] = k;
            budget_taken[k] = true;
        }
    for (size_t i = 0; i < of->share_count; i++)
        if (same_share(of, before, i)) found.shares[i] = i;
    return found;
}

ee_status limits_create(const guard_settings *of, const limit_state *before, limit_state **out, ee_error *error)
{
    limit_state *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->of = of;
    self->now = INT64_MIN;
    self->from = before ? find_sources(of, before->of) : no_sources();
    for (size_t i = 0; i < of->cap_count && !status; i++)
        if (self->from.caps[i] == NOWHERE) status = cap_create(&of->caps[i], &self->caps[i], error);
    for (size_t i = 0; i < of->budget_count; i++) budget_create(&self->budgets[i], &of->budgets[i]);
    if (!status) status = memory_create(&self->owner, &self->shares, of->share_count, sizeof *self->shares, error);
    if (status)
        limits_free(self);
    else
        *out = self;
    return status;
}

void limits_take_over(limit_state *self, limit_state *before)
{
    const guard_settings *of = self->of;
    for (size_t i = 0; i < of->cap_count; i++) {
        if (self->from.caps[i] == NOWHERE) continue;
        self->caps[i] = before->caps[self->from.caps[i]];
        self->caps[i]->of = &of->caps[i];
        before->caps[self->from.caps[i]] = NULL;
    }
    for (size_t i = 0; i < of->budget_count; i++) {
        if (self->from.budgets[i] == NOWHERE) continue;
        self->budgets[i] = before->budgets[self->from.budgets[i]];
        self->budgets[i].of = &of->budgets[i];
    }
    for (size_t i = 0; i < of->share_count; i++)
        if (self->from.shares[i] != NOWHERE) self->shares[i] = before->shares[self->from.shares[i]];
    if (before->now > self->now) self->now = before->now;
    self->from = no_sources();
}

void limits_free(limit_state *self)
{
    if (!self) return;
    for (size_t i = 0; i < GUARD_CAPS; i++) cap_free(self->caps[i]);
    memory_release(&self->owner);
}

/* ---- rounds ---- */

/* The time of a round; time never goes back. */
static int64_t advance(limit_state *self, const limits_round *round)
{
    if (round->now > self->now) self->now = round->now;
    for (size_t i = 0; i < self->of->budget_count; i++) budget_move(&self->budgets[i], self->now);
    return self->now;
}

static cap_person person_of(const limits_round *round)
{
    return (cap_person){round->has_key, round->key};
}

static bool matches(const limits_round *round, size_t action, uint64_t terms)
{
    return (round->matches[action] & terms) == terms;
}

/* What an action costs a budget. Anything that is no amount is 0. */
static double cost_of(const limit_state *self, const limits_round *round, size_t budget, size_t action)
{
    if (!round->costs || !matches(round, action, self->of->budgets[budget].terms)) return 0;
    double cost = round->costs[budget * round->count + action];
    return cost > 0 ? cost : 0;
}

/* The share of an action: the first that it matches. */
static size_t share_of(const limit_state *self, const limits_round *round, size_t action)
{
    size_t share = 0;
    while (share < self->of->share_count && !matches(round, action, self->of->shares[share].terms)) share++;
    return share;
}

/* ---- what a decision may not do ---- */

static void exclude_capped(limit_state *self, const limits_round *round, uint8_t *excluded, const char **reached)
{
    for (size_t c = 0; c < self->of->cap_count; c++) {
        const guard_cap *cap = &self->of->caps[c];
        if (!cap_reached(self->caps[c], self->now, person_of(round))) continue;
        for (size_t i = 0; i < round->count; i++) {
            if (excluded[i] || !matches(round, i, cap->terms)) continue;
            excluded[i] = EXCLUDED_BY_CAP;
            if (!*reached) *reached = cap->name;
        }
    }
}

static void exclude_expensive(limit_state *self, const limits_round *round, uint8_t *excluded, const char **reached)
{
    for (size_t b = 0; b < self->of->budget_count; b++)
        for (size_t i = 0; i < round->count; i++) {
            if (excluded[i] || !budget_spent(&self->budgets[b], cost_of(self, round, b, i))) continue;
            excluded[i] = EXCLUDED_BY_BUDGET;
            if (!*reached) *reached = self->of->budgets[b].name;
        }
}

static ee_status exclude(limit_state *self, const limits_round *round, uint8_t *excluded, ee_error *error)
{
    const char *cap = NULL, *budget = NULL;
    exclude_capped(self, round, excluded, &cap);
    exclude_expensive(self, round, excluded, &budget);
    for (size_t i = 0; i < round->count; i++)
        if (!excluded[i]) return EE_OK;
    if (cap)
        return status_fail(error, EE_BAD_INPUT,
                           "every action has reached a limit, such as the cap '%s'; add one that has none", cap);
    if (budget)
        return status_fail(error, EE_BAD_INPUT,
                           "every action has reached a limit, such as the budget '%s'; add one that costs nothing",
                           budget);
    return EE_OK; /* they were excluded before */
}

/* An action that is excluded has no price: its cost may be any number. */
static bool add_prices(const limit_state *self, const limits_round *round, const uint8_t *excluded, float *boosts)
{
    bool any = false;
    for (size_t i = 0; i < round->count; i++) {
        double price = 0;
        if (excluded[i]) continue;
        for (size_t b = 0; b < self->of->budget_count; b++)
            price += self->budgets[b].price * cost_of(self, round, b, i);
        boosts[i] -= (float)price;
        any |= price > 0;
    }
    return any;
}

static bool fill_shares(limit_state *self, const limits_round *round, const uint8_t *excluded, uint32_t *shares,
                        double *low, double *high)
{
    size_t count = self->of->share_count;
    bool present[GUARD_SHARES + 1] = {false}; /* the last: actions without a share */
    bool any = false;
    for (size_t i = 0; i < round->count; i++) {
        shares[i] = (uint32_t)share_of(self, round, i);
        if (!excluded[i]) present[shares[i]] = true;
        any |= !excluded[i] && shares[i] < count;
    }
    for (size_t s = 0; s < count; s++)
        share_bounds(&self->shares[s], &self->of->shares[s], self->now, &low[s], &high[s]);
    shares_reconcile(self->of->shares, count, present, !present[count], low, high);
    return any;
}

ee_status limits_apply(limit_state *self, const limits_round *round, uint8_t *excluded, float *boosts, bool *any_boost,
                       uint32_t *shares, double *low, double *high, bool *any_share, ee_error *error)
{
    advance(self, round);
    ee_status status = exclude(self, round, excluded, error);
    if (status) return status;
    if (add_prices(self, round, excluded, boosts)) *any_boost = true;
    *any_share = fill_shares(self, round, excluded, shares, low, high);
    return EE_OK;
}

/* ---- what it did ---- */

static budget_costs costs_of(const limit_state *self, const limits_round *round, size_t budget, size_t action,
                             const double *probabilities)
{
    budget_costs costs = {.chosen = cost_of(self, round, budget, action)};
    size_t costly = 0;
    for (size_t i = 0; i < round->count; i++) {
        double cost = cost_of(self, round, budget, i);
        costs.expected += probabilities[i] * cost;
        costs.mean += cost;
        costly += cost > 0;
    }
    if (costly) costs.mean /= (double)costly;
    return costs;
}

/* The probability of a share; false: the decision does not count for it. */
static bool mass_of(const limit_state *self, const limits_round *round, size_t share, const double *probabilities,
                    double *mass)
{
    bool any = false;
    *mass = 0;
    for (size_t i = 0; !round->is_baseline && i < round->count; i++) {
        if (share_of(self, round, i) != share || (round->excluded && round->excluded[i])) continue;
        *mass += probabilities[i];
        any = true;
    }
    return any;
}

static void restore_prices(limit_state *self, const limits_round *round)
{
    for (size_t i = 0; i < round->price_count; i++)
        for (size_t b = 0; b < self->of->budget_count; b++)
            if (self->budgets[b].identity == round->prices[i].budget)
                budget_restore_price(&self->budgets[b], round->prices[i].price);
}

size_t limits_prices(const limit_state *self, decision_price *into)
{
    size_t count = 0;
    for (size_t b = 0; b < self->of->budget_count; b++)
        if (self->budgets[b].price > 0)
            into[count++] = (decision_price){self->budgets[b].identity, self->budgets[b].price};
    return count;
}
_Static_assert((int)GUARD_BUDGETS <= (int)MOST_PRICES, "every budget may have a price");

/* Whether a cap counts the action. One whose state comes from before has counted it there. */
static bool cap_counts(const limit_state *self, const limits_round *round, size_t cap, size_t action)
{
    return self->from.caps[cap] == NOWHERE && matches(round, action, self->of->caps[cap].terms);
}

ee_status limits_decided(limit_state *self, const limits_round *round, size_t action, const double *probabilities,
                         ee_error *error)
{
    int64_t now = advance(self, round);
    for (size_t c = 0; c < self->of->cap_count; c++) {
        if (!cap_counts(self, round, c, action)) continue;
        ee_status status = cap_reserve(self->caps[c], now, person_of(round), error);
        if (status) return status;
    }
    for (size_t c = 0; c < self->of->cap_count; c++)
        if (cap_counts(self, round, c, action)) cap_count(self->caps[c], now, person_of(round));
    restore_prices(self, round);
    for (size_t b = 0; b < self->of->budget_count; b++)
        if (self->from.budgets[b] == NOWHERE)
            budget_count(&self->budgets[b], now, costs_of(self, round, b, action, probabilities));
    for (size_t s = 0; s < self->of->share_count; s++) {
        double mass;
        if (self->from.shares[s] == NOWHERE && mass_of(self, round, s, probabilities, &mass))
            share_count(&self->shares[s], &self->of->shares[s], now, mass);
    }
    return EE_OK;
}

void limits_undo(limit_state *self, const limits_round *round, size_t action, const double *probabilities)
{
    int64_t now = advance(self, round);
    for (size_t c = 0; c < self->of->cap_count; c++)
        if (matches(round, action, self->of->caps[c].terms)) cap_undo(self->caps[c], round->now, now, person_of(round));
    for (size_t b = 0; b < self->of->budget_count; b++)
        budget_undo(&self->budgets[b], round->now, costs_of(self, round, b, action, probabilities));
    for (size_t s = 0; s < self->of->share_count; s++) {
        double mass;
        if (mass_of(self, round, s, probabilities, &mass))
            share_undo(&self->shares[s], &self->of->shares[s], round->now, mass);
    }
}

int64_t limits_span(const limit_state *self)
{
    const guard_settings *of = self->of;
    int64_t span = 0;
    for (size_t i = 0; i < of->cap_count; i++)
        if (self->from.caps[i] == NOWHERE && of->caps[i].per > span) span = of->caps[i].per;
    for (size_t i = 0; i < of->share_count; i++)
        if (self->from.shares[i] == NOWHERE && of->shares[i].window > span) span = of->shares[i].window;
    /* An even pace also needs the traffic of the span before the current one. */
    for (size_t i = 0; i < of->budget_count; i++) {
        int64_t per = of->budgets[i].per * (of->budgets[i].even ? 2 : 1);
        if (self->from.budgets[i] == NOWHERE && per > span) span = per;
    }
    return span;
}

/* ---- pages ---- */

static void write_name(text *into, bool first, const char *name)
{
    text_add(into, "%s{\"name\":", first ? "" : ",");
    text_json(into, (json_text){name, strlen(name)});
}

static void write_member(text *into, const char *name, double value)
{
    text_add(into, ",\"%s\":", name);
    text_number(into, value);
}

void limits_write(const limit_state *self, int64_t now, text *into)
{
    const guard_settings *of = self->of;
    text_add(into, "\"caps\":[");
    for (size_t i = 0; i < of->cap_count; i++) {
        const cap_state *cap = self->caps[i];
        write_name(into, !i, of->caps[i].name);
        write_member(into, "count", cap_total(cap, now));
        write_member(into, "most", (double)of->caps[i].most);
        if (cap->persons) write_member(into, "persons", (double)key_table_count(cap->persons));
        text_add(into, "}");
    }
    text_add(into, "],\"budgets\":[");
    for (size_t i = 0; i < of->budget_count; i++) {
        const budget_state *budget = &self->budgets[i];
        bool current = budget->span == now / of->budgets[i].per;
        write_name(into, !i, of->budgets[i].name);
        write_member(into, "spent", current ? budget->spent : 0);
        write_member(into, "limit", of->budgets[i].limit);
        write_member(into, "price", budget->price);
        text_add(into, "}");
    }
    text_add(into, "],\"shares\":[");
    for (size_t i = 0; i < of->share_count; i++) {
        write_name(into, !i, of->shares[i].name);
        write_member(into, "mean", share_now(&self->shares[i], &of->shares[i], now));
        text_add(into, "}");
    }
    text_add(into, "]");
}
