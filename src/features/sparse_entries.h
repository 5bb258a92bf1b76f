/* The entries of a sparse arm while it is encoded: index and value in one word, sorted and merged at the end. */
#ifndef EENET_SPARSE_ENTRIES_H
#define EENET_SPARSE_ENTRIES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Values are limited to this, the largest valid in arms. */
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

/* Sorts entries (count), with indices below dim, by index, sums those with the same index, and writes non-zero ones to
 * indices and values, which have room for count. room is (count). Returns the number written. */
size_t entries_gather(uint64_t *entries, uint64_t *room, size_t count, size_t dim, uint32_t *indices, float *values);

#endif
