/* Ranks in a build without MPI: there is only rank 0. */
#include <stdio.h>

#include "launch.h"
#include "ranks.h"

ee_status ranks_start(ee_error *error)
{
    launch by = launch_find();
    if (!by.by_mpi || by.ranks == 1) return EE_OK;
    char many[32] = "several";
    if (by.ranks) snprintf(many, sizeof many, "%zu", by.ranks);
    return status_fail(
        error, EE_BAD_INPUT,
        "this eenet is built without MPI, but %s processes were started together, so each would do all runs: "
        "build it with MPI (libopenmpi-dev), or use srun --mpi=none, which makes each task a shard",
        many);
}

size_t ranks_count(void)
{
    return 1;
}

bool ranks_lead(void)
{
    return true;
}

int ranks_serve(const ee_error *unusable)
{
    (void)unusable;
    return 0;
}

void ranks_end(void)
{
}

void ranks_abort(int code)
{
    (void)code;
}

const char *ranks_library(void)
{
    return "without MPI";
}

run_pool run_pool_of_ranks(size_t workers, const char *cache)
{
    (void)cache;
    return run_pool_of_threads(workers);
}
