/* A part of the runs: what one of several programs plays, each into a folder of its own. */
#ifndef EENET_SHARD_H
#define EENET_SHARD_H

#include <stddef.h>

/* Number index of count parts, from 0. A count of 0 or 1: all. */
typedef struct run_shard {
    size_t index, count;
} run_shard;

#endif
