/* A build without MPI, whatever this one has: the file itself takes the place of the other. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "ranks/without_mpi.c"
#include "support.h"

TEST(test_alone)
{
    ok(ranks_start(&last_error));
    assert_int_equal(ranks_count(), 1);
    assert_true(ranks_lead());
    assert_string_equal(ranks_library(), "without MPI");
    ranks_abort(3);
    ranks_end();
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    ok(ranks_start(&last_error));
}

TEST(test_one_of_several)
{
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    refuses(ranks_start(&last_error),
            "this eenet is built without MPI, but 4 processes were started together, so each would do all runs: "
            "build it with MPI (libopenmpi-dev), or use srun --mpi=none, which makes each task a shard");
    unsetenv("OMPI_COMM_WORLD_RANK");
    setenv("PMIX_RANK", "0", 1);
    unsetenv("SLURM_STEP_NUM_TASKS");
    assert_int_equal(ranks_start(&last_error), EE_BAD_INPUT);
    unsetenv("PMIX_RANK");
}
