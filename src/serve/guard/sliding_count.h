/* How many decisions were made in the last `per` microseconds, in a fixed number of groups. A group leaves the window
 * as a whole, when its newest decision does. So the count is never too low: as long as it is below a limit, every
 * window of that length has fewer decisions than the limit. With one decision per group it is exact; otherwise it is
 * too high by less than one group. */
#ifndef EENET_SLIDING_COUNT_H
#define EENET_SLIDING_COUNT_H

#include <stddef.h>
#include <stdint.h>

typedef struct sliding_shape {
    int64_t per;
    uint64_t most;  /* the limit: more are counted too, in coarser groups */
    uint64_t group; /* decisions of a full group */
    uint32_t capacity;
} sliding_shape;

typedef struct sliding_group {
    int64_t newest;
    uint64_t count;
} sliding_group;

/* All of {0}: empty. A ring. */
typedef struct sliding_count {
    uint64_t total;
    uint32_t first, used;
    sliding_group groups[]; /* (capacity) */
} sliding_count;

/* At most `groups` groups of the limit, and one more. */
sliding_shape sliding_shape_of(uint64_t most, int64_t per, uint32_t groups);
size_t sliding_size(const sliding_shape *shape);

/* Removes what has left the window. */
void sliding_expire(sliding_count *self, const sliding_shape *shape, int64_t now);
void sliding_add(sliding_count *self, const sliding_shape *shape, int64_t now);

/* Removes one that was added at a time, unless it has left the window. */
void sliding_remove(sliding_count *self, const sliding_shape *shape, int64_t added, int64_t now);

#endif
