#include "slots.h"

#include <string.h>

ee_status slots_create(slots *self, memory *owner, size_t count, size_t most, bool grows, ee_error *error)
{
    enum { SHORT = 16 }; /* words at first */
    *self = (slots){.memory = owner, .stride = grows && most > SHORT ? SHORT : most, .most = most};
    return slots_grow(self, count, error);
}

/* Lays the rows out again with more words each. */
static ee_status lengthen(slots *self, size_t words, ee_error *error)
{
    size_t stride = self->stride;
    while (stride < words) stride *= 2;
    if (stride > self->most) stride = self->most;
    if (self->count > SIZE_MAX / stride) return status_no_memory(error, SIZE_MAX);
    uint32_t *block;
    ee_status status = memory_create(self->memory, &block, self->count * stride, sizeof *block, error);
    if (status) return status;
    for (size_t i = 0; i < self->count; i++)
        memcpy(block + i * stride, self->block + i * self->stride, self->stride * sizeof *block);
    memory_free(self->block);
    self->block = block;
    self->block_capacity = self->count * stride;
    self->stride = stride;
    return EE_OK;
}

static ee_status grow_long(slots *self, size_t count, ee_error *error)
{
    return memory_grow(self->memory, &self->long_rows, &self->long_capacity, count, sizeof *self->long_rows, error);
}

ee_status slots_grow(slots *self, size_t count, ee_error *error)
{
    if (count > SIZE_MAX / self->stride) return status_no_memory(error, SIZE_MAX);
    ee_status status = self->long_rows ? grow_long(self, count, error) : EE_OK;
    if (status) return status;
    size_t words = count * self->stride;
    status = memory_grow(self->memory, &self->block, &self->block_capacity, words, sizeof *self->block, error);
    if (!status) self->count = count;
    return status;
}

static void free_spare(slots *self)
{
    for (long_row *row = self->spare, *next; row; row = next) {
        next = row->next;
        memory_free(row);
    }
    self->spare = NULL;
    self->spare_count = 0;
}

static void add_spare(slots *self, long_row *row)
{
    row->next = self->spare;
    self->spare = row;
    self->spare_count++;
}

/* Only spare blocks of exactly this capacity are used: a short row must not hold a much larger block. */
ee_status slots_reserve(slots *self, size_t rows, size_t words, ee_error *error)
{
    if (self->spare && self->spare->capacity != words) free_spare(self);
    if (words <= self->stride) return EE_OK;
    if (words <= self->most) return lengthen(self, words, error);
    if (words > (SIZE_MAX - sizeof(long_row)) / sizeof(uint32_t)) return status_no_memory(error, SIZE_MAX);
    ee_status status = grow_long(self, self->count, error);
    while (!status && self->spare_count < rows) {
        long_row *row;
        status = memory_create(self->memory, &row, 1, sizeof *row + words * sizeof *row->words, error);
        if (status) break;
        row->capacity = words;
        add_spare(self, row);
    }
    return status;
}

uint32_t *slots_take(slots *self, size_t slot, size_t words)
{
    slots_free(self, slot);
    if (words <= self->stride) return self->block + slot * self->stride;
    long_row *row = self->spare;
    self->spare = row->next;
    self->spare_count--;
    self->long_rows[slot] = row;
    return row->words;
}

void slots_free(slots *self, size_t slot)
{
    long_row *row = self->long_rows ? self->long_rows[slot] : NULL;
    if (!row) return;
    self->long_rows[slot] = NULL;
    /* Long rows often have one length, as dense ones do: the next one takes this block. */
    if (self->spare && (self->spare_count > 1 || self->spare->capacity != row->capacity))
        memory_free(row);
    else
        add_spare(self, row);
}

ee_status slots_follow(slots *self, const slots *other, ee_error *error)
{
    free_spare(self);
    ee_status status = other->stride > self->stride ? lengthen(self, other->stride, error) : EE_OK;
    return !status && other->long_rows ? grow_long(self, self->count, error) : status;
}

void slots_move(slots *self, size_t slot, slots *to, size_t to_slot, size_t words)
{
    slots_free(to, to_slot);
    if (words <= self->stride) {
        memcpy(to->block + to_slot * to->stride, self->block + slot * self->stride, words * sizeof *self->block);
        return;
    }
    to->long_rows[to_slot] = self->long_rows[slot];
    self->long_rows[slot] = NULL;
}
