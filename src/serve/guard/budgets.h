/* Budgets: the actions chosen in a span (a UTC day, for instance) cost at most `limit` together.
 *
 * First come, first served: an action is excluded once the rest of the budget is below its cost.
 *
 * Evenly: in addition, cost has a price in units of reward, which is subtracted from the score of an action. The best
 * way to spend a budget is a constant price at which it is used up exactly when the span ends (Agrawal and Devanur,
 * "Bandits with concave rewards and convex knapsacks", 2014). The price is found by feedback:
 *
 * - The target for a decision is the rest of the budget divided by the decisions that are expected in the rest of the
 *   span. Past spans show how traffic is distributed over a span, and the decisions of this one scale it. The first
 *   span only knows the present rate.
 * - The spending that is compared with it is the expected one, probability times cost: it varies less than what was
 *   spent, and a draw does not move the price.
 * - Whenever the target has grown by a few costs, the price is multiplied by exp(step * (spending / target - 1)). Steps
 *   grow while they go in the same direction and halve when they do not (as in Rprop; Riedmiller and Braun, 1993), so
 *   rewards and costs may have any scale. */
#ifndef EENET_BUDGETS_H
#define EENET_BUDGETS_H

#include "serve/settings/guard_settings.h"

enum { BUDGET_SLICES = 48 }; /* of a span, for its traffic */

typedef struct budget_state {
    const guard_budget *of;
    uint64_t identity; /* of its price: budgets of the same name and cost have the same one. Stored */
    int64_t span;      /* number of the current one since 1970 */
    double spent;

    /* The rest is only for an even pace. */
    double traffic[BUDGET_SLICES]; /* decisions of this span that could cost something */
    double usual[BUDGET_SLICES];   /* of past spans, recent ones weighted most */
    bool has_usual;
    int64_t last;    /* when the last decision came */
    double arrivals; /* all decisions, and */
    double gap;      /* the mean time between them, lately: all that the first span knows of its traffic */
    int64_t since;   /* when the first decision came: before that there was no traffic to count */
    double cost;     /* mean cost of an action that costs something: the unit of everything here */
    double price;    /* reward per cost */
    double peak;     /* the highest price lately: it does not fall far below */
    double step;     /* of the logarithm of the price */
    bool was_above;  /* the last step raised the price */
    double spending; /* expected, since the last step */
    double target;   /* since the last step */
} budget_state;

void budget_create(budget_state *self, const guard_budget *of);

/* Begins the span of this time if it is a later one. */
void budget_move(budget_state *self, int64_t now);

/* Whether the rest is too small for this cost. */
bool budget_spent(const budget_state *self, double cost);

/* One decision: the cost of what was chosen, the expected cost, and the mean of the costs that are not 0. */
typedef struct budget_costs {
    double chosen, expected, mean;
} budget_costs;

void budget_count(budget_state *self, int64_t now, budget_costs costs);

/* The price that the log has of the next decision. */
void budget_restore_price(budget_state *self, double price);

/* The price keeps what a step since then has learned. */
void budget_undo(budget_state *self, int64_t decided, budget_costs costs);

#endif
