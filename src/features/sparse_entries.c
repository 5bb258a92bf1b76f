#include "sparse_entries.h"

/* Fewer entries are sorted by insertion, which is faster than counting bytes. */
enum { FEW = 48, BYTES = 256 };

static void sort_few(uint64_t *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t entry = entries[i];
        size_t at = i;
        for (; at && entries[at - 1] >> 32 > entry >> 32; at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

/* Sorts by one byte of the index, keeping the order of equal ones. */
static void sort_byte(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
    size_t starts[BYTES + 1] = {0};
    for (size_t i = 0; i < count; i++) starts[(from[i] >> shift & 0xff) + 1]++;
    for (size_t i = 0; i < BYTES; i++) starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++) to[starts[from[i] >> shift & 0xff]++] = from[i];
}

/* Returns the sorted entries: entries or room. Equal indices keep their order, so that their sum is always the same. */
static uint64_t *sort(uint64_t *entries, uint64_t *room, size_t count, size_t dim)
{
    if (count <= FEW) {
        sort_few(entries, count);
        return entries;
    }
    for (unsigned shift = 0; shift < 32 && (dim - 1) >> shift; shift += 8) {
        sort_byte(entries, room, count, 32 + shift);
        uint64_t *sorted = room;
        room = entries;
        entries = sorted;
    }
    return entries;
}

static double value_of(uint64_t entry)
{
    uint32_t bits = (uint32_t)entry;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

size_t entries_gather(uint64_t *entries, uint64_t *room, size_t count, size_t dim, uint32_t *indices, float *values)
{
    const uint64_t *sorted = sort(entries, room, count, dim);
    size_t written = 0;
    for (size_t i = 0; i < count;) {
        uint32_t index = (uint32_t)(sorted[i] >> 32);
        double sum = 0;
        for (; i < count && sorted[i] >> 32 == index; i++) sum += value_of(sorted[i]);
        float value = entry_bounded(sum);
        if (value == 0) continue;
        indices[written] = index;
        values[written++] = value;
    }
    return written;
}
