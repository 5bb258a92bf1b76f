/* Whether limits of two settings are the same. The state of a limit is a function of the decisions, so the same limit
 * has the same state. */
#ifndef EENET_SAME_LIMITS_H
#define EENET_SAME_LIMITS_H

#include "serve/settings/guard_settings.h"

/* Caps and budgets by their places in the settings. */
bool same_cap(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b);
bool same_budget(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b);

/* The share in this place of both. An action belongs to the first share that it matches, so the actions of those before
 * it are the same too. */
bool same_share(const guard_settings *a, const guard_settings *b, size_t share);

#endif
