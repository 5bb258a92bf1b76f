/* Rewards of each arm, by its id: a table of a limited number of ids in floats of the caller, so that it can be part of
 * a policy's parameters. When it is full, a new id replaces one that was not chosen recently: the clock algorithm,
 * whose cursor skips places that were chosen again since it last passed. */
#ifndef EENET_ID_TALLIES_H
#define EENET_ID_TALLIES_H

#include "base/archive.h"

/* Rewards: their number, mean, and sum of squared deviations. */
typedef struct tally {
    double count, mean, squares;
} tally;

bool tally_is_sound(const tally *self);

/* Floats of a table for this many ids, an even number; zeroed at first. The table must be aligned for doubles. */
size_t id_tallies_count(size_t ids);

/* The tally of an id; NULL if it has no place. */
const tally *id_tallies_find(const float *table, size_t ids, uint64_t id);

/* The same for an id that was chosen, to be changed: it gets a place if it has none. */
tally *id_tallies_play(float *table, size_t ids, uint64_t id);

/* Copies what was written since the last copy to `to`, which only this function writes. Returns the number of
 * floats. */
size_t id_tallies_copy(const float *table, size_t ids, float *to);

void id_tallies_archive(float *table, size_t ids, archive *a);

#endif
