/* The part of the runs that one of several programs does, each in a separate folder. */
#ifndef EENET_SHARD_H
#define EENET_SHARD_H

#include <stdbool.h>

#include "lab/runs/runner.h"

/* Number index of count parts, from 0. A count of 0 or 1: all. */
typedef struct run_shard {
    size_t index, count;
} run_shard;

/* Whether there are others. */
static inline bool shard_is_part(run_shard shard)
{
    return shard.count > 1;
}

/* Which of the jobs are the shard's; mine is (count). Each job is of one shard, and the shards take about the same
 * time. Every program of a version that has the same jobs comes to the same, whatever it has played and wherever. */
ee_status shard_choose(run_shard shard, const run_job *jobs, size_t count, bool *mine, ee_error *error);

#endif
