/* The entries of a sparse arm while it is made: index and value in one word, sorted and gathered at the end. */
#ifndef EENET_SPARSE_ENTRIES_H
#define EENET_SPARSE_ENTRIES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Values are cut to this: the largest that arms may have. */
static const float LARGEST_VALUE = 1e9f;

static inline float entry_bounded(double value)
{
    if (value > (double)LARGEST_VALUE) return LARGEST_VALUE;
    return value < -(double)LARGEST_VALUE ? -LARGEST_VALUE : (float)value;
}

static inline uint64_t entry_make(uint32_t index, double value)
{
    float small = entry_bounded(value);
    uint32_t bits;
    memcpy(&bits, &small, sizeof bits);
    return (uint64_t)index << 32 | bits;
}

/* Sorts entries (count), all of indices below dim, by their index, sums those that share one, and writes what is not 0
 * to indices and values, which have room for count. room is (count). Returns how many were written. */
size_t entries_gather(uint64_t *entries, uint64_t *room, size_t count, size_t dim, uint32_t *indices, float *values);

#endif
