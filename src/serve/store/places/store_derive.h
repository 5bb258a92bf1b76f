/* What the tables of joining (decisions, ids, reward_ids, unclaimed) must hold, computed from the log. The rules are
 * the journal's, in joining.h. */
#ifndef EENET_STORE_DERIVE_H
#define EENET_STORE_DERIVE_H

#include "serve/store/sqlite/store_sqlite.h"

/* Gets the rows of the tables, in no particular order. A failure ends the derivation. */
typedef struct derived_rows {
    ee_status (*decision)(void *context, uint32_t bandit, const stored_decision *row, ee_error *error);
    ee_status (*id)(void *context, uint32_t bandit, json_text id, uint64_t number, ee_error *error);
    ee_status (*reward_id)(void *context, uint32_t bandit, const event *reward, ee_error *error);
    ee_status (*unclaimed)(void *context, uint32_t bandit, json_text id, uint64_t number, ee_error *error);
    void *context;
} derived_rows;

typedef struct derivation derivation;

/* database: of the log. */
ee_status derivation_create(sqlite3 *database, const derived_rows *rows, derivation **out, ee_error *error);
void derivation_free(derivation *self);

/* Starts the log of a bandit, with the number of its first event and the settings in force before it (empty: not
 * known). */
ee_status derivation_begin(derivation *self, uint32_t bandit, uint64_t first, json_text settings, ee_error *error);

/* The next event. EE_BAD_INPUT: its body cannot be read; what follows from it is missing. */
ee_status derivation_add(derivation *self, const event *next, ee_error *error);

/* Gives the rows that are left. */
ee_status derivation_end(derivation *self, ee_error *error);

/* After the end: the settings in force, and the number of the first pending decision; UINT64_MAX: there is none. */
json_text derivation_settings(const derivation *self);
uint64_t derivation_first_pending(const derivation *self);

#endif
