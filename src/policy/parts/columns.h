/* Which places of the features a policy stores.
 *
 * Named features have many places (options `names` and `hashes`), of which few may occur. A policy that supports it has
 * a column for each place that has occurred, in order of first use, and room for `capacity` columns. Arms have places;
 * the functions of the policy see columns (policy_score and the other wrappers in policy.h translate). A place without
 * a column becomes capacity + place: a feature that no sample had. */
#ifndef EENET_COLUMNS_H
#define EENET_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* Places below `names` are given to names in order, so only the first are used; the places from there on are shared,
 * and any of them may occur. */
typedef struct columns {
    size_t places, names;
    size_t capacity, count;
    uint32_t *table; /* (columns_table_count) the column of each place plus 1, or 0; NULL: places are columns */
    uint32_t *order; /* (capacity) the places of the columns */
} columns;

/* Places below names in the table: the first `capacity`. */
static inline size_t columns_named(const columns *self)
{
    return self->names < self->capacity ? self->names : self->capacity;
}

static inline size_t columns_table_count(const columns *self)
{
    return columns_named(self) + self->places - self->names;
}

/* The index that a policy sees for a place. */
static inline uint32_t columns_find(const columns *self, uint32_t place)
{
    size_t named = columns_named(self), at = place < self->names ? place : named + place - self->names;
    uint32_t found = place < self->names && place >= named ? 0 : self->table[at];
    return found ? found - 1 : (uint32_t)self->capacity + place;
}

/* Whether there is room for a column of this place. */
static inline int columns_fit(const columns *self, uint32_t place)
{
    return self->count < self->capacity && (place >= self->names || place < self->capacity);
}

ee_status columns_create(columns *self, memory *owner, size_t places, size_t names, size_t capacity, ee_error *error);

/* Gives the next column to a place that has none. Requires columns_fit. */
void columns_add(columns *self, uint32_t place);

#endif
