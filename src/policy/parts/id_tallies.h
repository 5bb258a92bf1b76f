/* What came of each arm, by its id: a table of at most so many ids, in floats that are the caller's, so that it can be
 * part of a policy's parameters. When it is full, a new id takes the place of one that was not played lately: the clock
 * algorithm, where a hand goes round and passes over each place that was played again since it last came by. */
#ifndef EENET_ID_TALLIES_H
#define EENET_ID_TALLIES_H

#include "base/archive.h"

/* Rewards: how many, their mean, and the sum of their squared distances from it. */
typedef struct tally {
    double count, mean, squares;
} tally;

bool tally_is_sound(const tally *self);

/* Floats that a table of so many ids needs, an even number; zeros to begin with. The table must be aligned for
 * doubles. */
size_t id_tallies_count(size_t ids);

/* What came of an id; NULL where it has no place. */
const tally *id_tallies_find(const float *table, size_t ids, uint64_t id);

/* The same, to be changed because the id was played: it gets a place where it has none. */
tally *id_tallies_play(float *table, size_t ids, uint64_t id);

/* Copies what was ever written since `to`, which only this function writes, was copied last. Returns how many floats.
 */
size_t id_tallies_copy(const float *table, size_t ids, float *to);

void id_tallies_archive(float *table, size_t ids, archive *a);

#endif
