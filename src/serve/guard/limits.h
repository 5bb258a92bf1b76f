/* What decisions may not exceed: caps, budgets, and shares over a window. The state is a function of the decisions, in
 * their order: after a restart the same calls with the decisions of the log rebuild it. Without a clock and without
 * locks: the caller gives the time, and lets one thread in at a time.
 *
 *     status = limits_apply(limits, &round, excluded, boosts, &any_boost, shares, low, high, &any_share, &error);
 *     // decide with them
 *     status = limits_decided(limits, &round, action, probabilities, &error);
 *     // write the decision to the log; if this fails:
 *     limits_undo(limits, &round, action, probabilities);
 *
 * Caps and budgets are strict as long as at most one decision is between apply and decided. Shares hold on average. See
 * docs/limits.md. */
#ifndef EENET_GUARD_LIMITS_H
#define EENET_GUARD_LIMITS_H

#include "serve/settings/guard_settings.h"
#include "serve/store/event.h"

typedef struct limit_state limit_state;

/* Borrows the settings. A limit that `before` has too (NULL: none has) gets its state from there: until
 * limits_take_over, decisions only count for the other limits, and nothing else may be called. */
ee_status limits_create(const guard_settings *of, const limit_state *before, limit_state **out, ee_error *error);
void limits_free(limit_state *self);

/* Takes the state of the same limits from `before`, which can only be freed then. */
void limits_take_over(limit_state *self, limit_state *before);

/* A decision for which limits are asked. */
typedef struct limits_round {
    int64_t now; /* microseconds; if it goes back, the latest one counts */
    bool has_key;
    uint64_t key;            /* hash of the person */
    size_t count;            /* actions */
    const uint64_t *matches; /* (count) the terms that hold for each action, context terms included */
    const double *costs;     /* (budget_count, count) cost of each action for each budget; 0 if it has none. NULL: no
                                budgets */

    /* For limits_decided and limits_undo. */
    bool is_baseline;             /* the baseline decided: shares neither hold for it nor count it */
    const uint8_t *excluded;      /* (count) not 0: it could not be chosen; NULL: none */
    const decision_price *prices; /* (price_count) that a decision of the log had: they replace those that are known */
    size_t price_count;
} limits_round;

/* Excludes actions whose cap is reached or whose cost is above the rest of a budget: sets entries of excluded (count)
 * that are 0 to EXCLUDED_BY_CAP or EXCLUDED_BY_BUDGET. Subtracts prices of budgets from boosts (count). Fills the share
 * of each action (count; share_count: none) and the bounds of the shares in this decision, low and high (share_count).
 * *any_boost becomes true if a boost was changed, *any_share whether an action that is not excluded has a share.
 *
 * EE_BAD_INPUT if caps and budgets leave no action, with a sentence that names one of them. Nothing was decided then,
 * and the state is as before; excluded says why. */
ee_status limits_apply(limit_state *self, const limits_round *round, uint8_t *excluded, float *boosts, bool *any_boost,
                       uint32_t *shares, double *low, double *high, bool *any_share, ee_error *error);

/* The prices that limits_apply subtracted, of at most GUARD_BUDGETS budgets. Returns how many there are. */
size_t limits_prices(const limit_state *self, decision_price *into);

/* Counts a decision; probabilities is (count). Only fails for lack of memory, and changes nothing then. */
ee_status limits_decided(limit_state *self, const limits_round *round, size_t action, const double *probabilities,
                         ee_error *error);

/* The decision could not be written: as if it had never been, except that a price may keep one step. */
void limits_undo(limit_state *self, const limits_round *round, size_t action, const double *probabilities);

/* Decisions before now minus this (microseconds) need not be replayed. 0: none needs to be. */
int64_t limits_span(const limit_state *self);

/* The state as members of a JSON object: "caps": the decisions that count now, or the persons of a cap of each person;
 * "budgets": spent and price; "shares": the mean of the window. null: not known. */
void limits_write(const limit_state *self, int64_t now, text *into);

#endif
