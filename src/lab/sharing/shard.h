/* The part of the runs that one of several programs does, each into its own folder. */
#ifndef EENET_SHARD_H
#define EENET_SHARD_H

#include <stdbool.h>
#include <stddef.h>

/* Number index of count parts, from 0. A count of 0 or 1: all. */
typedef struct run_shard {
    size_t index, count;
} run_shard;

/* Whether there are other shards. */
static inline bool shard_is_part(run_shard shard)
{
    return shard.count > 1;
}

/* Whether the job at this place of the list is the shard's. The shards take turns, so each gets a share of the seeds of
 * every policy. */
static inline bool shard_has(run_shard shard, size_t place)
{
    return !shard_is_part(shard) || place % shard.count == shard.index;
}

#endif
