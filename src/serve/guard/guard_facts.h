/* Which conditions of the guardrails a decision meets: its context and each of its actions, read once.
 *
 * Paths are those of named features: members of nested objects, joined by dots. An array passes its path on, as it
 * passes its namespace on to features. */
#ifndef EENET_GUARD_FACTS_H
#define EENET_GUARD_FACTS_H

#include "serve/settings/guard_settings.h"
#include "serve/store/event.h"

typedef struct guard_facts {
    memory memory;
    uint64_t *matches; /* (actions) a bit for each term that holds for the action; those of the context included */
    double *costs; /* (budgets, actions) what each action costs; 0 if the budget is not about it; negative: unknown */
    text segment;  /* its value, at most 256 bytes; length 0: none */
    size_t match_capacity, cost_capacity;
    json_room json;
} guard_facts;

/* Of body: names, count, and the context of named features. Vectors have no features: only the names of actions can
 * match. */
ee_status guard_facts_read(guard_facts *self, const guard_settings *of, const decision_body *body, ee_error *error);
/* EE_BAD_INPUT if a cost is unknown: what a budget needs is missing, or is no number from 0. */
ee_status guard_facts_check_costs(const guard_facts *self, const guard_settings *of, const decision_body *body,
                                  ee_error *error);
void guard_facts_release(guard_facts *self);

#endif
