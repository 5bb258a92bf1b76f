/* Arms that share one context: arm i has the context's features in block i of a vector that is zero elsewhere. So a
 * linear policy learns separate weights for each arm. */
#ifndef EENET_BLOCK_ARMS_H
#define EENET_BLOCK_ARMS_H

#include "base/status.h"

/* The context: its entries, ascending, below features. */
typedef struct block_context {
    const uint32_t *indices; /* (count) */
    const float *values;     /* (count) */
    size_t count;
    size_t features; /* of a block */
} block_context;

/* Room for the arms. */
typedef struct block_room {
    size_t *starts;    /* (blocks + 1) the first is 0 */
    uint32_t *indices; /* (blocks, the context's count) */
    float *values;     /* the same */
} block_room;

/* Makes the arms, stored in the room. excluded is NULL or (blocks): blocks to leave out. */
ee_arms block_arms_make(const block_context *context, size_t blocks, const uint8_t *excluded, const block_room *room);

#endif
