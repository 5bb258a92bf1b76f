/* Rows of 32-bit words, one per slot. Rows of up to `stride` words, the usual case, are adjacent in one block. A longer
 * row has a separate block, so that one row of a million words does not make all slots as long. The block is reserved
 * at the start; or its rows start short and double in length, up to `most` words, as longer ones come. */
#ifndef EENET_SLOTS_H
#define EENET_SLOTS_H

#include <stdbool.h>

#include "memory.h"

/* The block of a row longer than the stride. */
typedef struct long_row {
    struct long_row *next; /* in the list of spare blocks */
    size_t capacity;       /* words */
    uint32_t words[];
} long_row;

typedef struct slots {
    memory *memory;
    size_t count, stride, most;
    uint32_t *block; /* (block_capacity), at least (count, stride) */
    size_t block_capacity;
    long_row **long_rows; /* (long_capacity) of each slot, or NULL; nothing is allocated before the first long row */
    size_t long_capacity;
    long_row *spare; /* unused blocks of equal capacity */
    size_t spare_count;
} slots;

/* most is at least 1. With grows, rows start short; otherwise all have room for `most` words. */
ee_status slots_create(slots *self, memory *owner, size_t count, size_t most, bool grows, ee_error *error);

/* Grows to this number of slots. */
ee_status slots_grow(slots *self, size_t count, ee_error *error);

/* After this, slots_take of `rows` rows of up to `words` words cannot fail. */
ee_status slots_reserve(slots *self, size_t rows, size_t words, ee_error *error);

/* Returns room for a row of `words` words in a slot. The previous row of the slot is lost. */
uint32_t *slots_take(slots *self, size_t slot, size_t words);

/* Moves a row of up to `words` words to a slot of `to`, which has the same owner and `most`. Cannot fail after
 * slots_follow. The previous row of that slot is lost. */
void slots_move(slots *self, size_t slot, slots *to, size_t to_slot, size_t words);

/* Makes room to move every row of `other` here. */
ee_status slots_follow(slots *self, const slots *other, ee_error *error);

/* Frees the row of a slot. */
void slots_free(slots *self, size_t slot);

/* The row of a slot. */
static inline uint32_t *slots_at(const slots *self, size_t slot)
{
    if (self->long_rows && self->long_rows[slot]) return self->long_rows[slot]->words;
    return self->block + slot * self->stride;
}

#endif
