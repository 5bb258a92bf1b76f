/* Room for rows of 32-bit words, one in each slot. Rows of up to `stride` words, which are the usual ones, lie side by
 * side in one block; a longer one has a block of its own for as long as it is there. So one row of a million words
 * takes that much, and not a million for every slot. The block is reserved at the start, or its rows start short and
 * double in length, up to `most` words, as longer ones come. */
#ifndef EENET_SLOTS_H
#define EENET_SLOTS_H

#include <stdbool.h>

#include "memory.h"

/* A block for a row that is longer than usual. */
typedef struct long_row {
    struct long_row *next; /* of the spare ones */
    size_t capacity;       /* words */
    uint32_t words[];
} long_row;

typedef struct slots {
    memory *memory;
    size_t count, stride, most;
    uint32_t *block; /* (block_capacity), at least (count, stride) */
    size_t block_capacity;
    long_row **long_rows; /* (long_capacity) of each slot, or NULL; none before the first long row comes */
    size_t long_capacity;
    long_row *spare; /* blocks of equal capacity that no slot has */
    size_t spare_count;
} slots;

/* most is at least 1. grows: rows start short; else all have room for `most` words. */
ee_status slots_create(slots *self, memory *owner, size_t count, size_t most, bool grows, ee_error *error);

/* Grows to so many slots. */
ee_status slots_grow(slots *self, size_t count, ee_error *error);

/* After this slots_take of so many rows, of up to so many words each, cannot fail. */
ee_status slots_reserve(slots *self, size_t rows, size_t words, ee_error *error);

/* Makes room for a row of so many words in a slot, and returns it. What the slot held is lost. */
uint32_t *slots_take(slots *self, size_t slot, size_t words);

/* Moves a row of up to so many words to a slot of `to`, which has the same owner and `most`. After slots_follow this
 * cannot fail. What that slot held is lost. */
void slots_move(slots *self, size_t slot, slots *to, size_t to_slot, size_t words);

/* Makes room so that every row of `other` can be moved here. */
ee_status slots_follow(slots *self, const slots *other, ee_error *error);

/* The row of the slot is no longer needed. */
void slots_give_back(slots *self, size_t slot);

/* The row of a slot. */
static inline uint32_t *slots_at(const slots *self, size_t slot)
{
    if (self->long_rows && self->long_rows[slot]) return self->long_rows[slot]->words;
    return self->block + slot * self->stride;
}

#endif
