#include "block_arms.h"

ee_arms block_arms_make(const block_context *context, size_t blocks, const uint8_t *excluded, const block_room *room)
{
    size_t used = 0, arms = 0;
    for (size_t block = 0; block < blocks; block++) {
        if (excluded && excluded[block]) continue;
        uint32_t *indices = room->indices + used, shift = (uint32_t)(block * context->features);
        float *values = room->values + used;
        for (size_t i = 0; i < context->count; i++) {
            indices[i] = context->indices[i] + shift;
            values[i] = context->values[i];
        }
        used += context->count;
        room->starts[++arms] = used;
    }
    return ee_arms_sparse(room->starts, room->indices, room->values, arms, blocks * context->features);
}
