/* Caps: an action is chosen at most `most` times in any span of length `per`, by all persons together or by each.
 *
 * Persons are remembered until their last decision has left the span, and as many as fit into CAP_BYTES. If more are
 * needed, the cap counts as reached for every person that is not remembered: it never lets too many through. */
#ifndef EENET_CAPS_H
#define EENET_CAPS_H

#include "key_table.h"
#include "serve/settings/guard_settings.h"
#include "sliding_count.h"

enum {
    CAP_GROUPS = 1024,     /* caps up to this are exact; larger ones free places in steps of 1/1024 */
    CAP_PERSON_GROUPS = 32 /* the same for each person */
};
static const size_t CAP_BYTES = (size_t)256 << 20; /* of the persons of a cap */

typedef struct cap_state {
    memory owner; /* first: of everything here */
    const guard_cap *of;
    sliding_shape shape;
    sliding_count *all; /* NULL: each person has one */
    key_table *persons; /* NULL: they are counted together */
    int64_t full_until; /* before this time, a person that is not remembered may have been forgotten */
} cap_state;

/* A person: none if the caller gave no key. Caps of each person do not apply to it. */
typedef struct cap_person {
    bool known;
    uint64_t key;
} cap_person;

/* Borrows the settings. */
ee_status cap_create(const guard_cap *of, cap_state **out, ee_error *error);
void cap_free(cap_state *self);

bool cap_reached(cap_state *self, int64_t now, cap_person person);

/* After this, cap_count cannot fail. */
ee_status cap_reserve(cap_state *self, int64_t now, cap_person person, ee_error *error);
void cap_count(cap_state *self, int64_t now, cap_person person);
void cap_undo(cap_state *self, int64_t decided, int64_t now, cap_person person);

/* Decisions in the span that ends now. Of each person: NaN. */
double cap_total(const cap_state *self, int64_t now);

#endif
