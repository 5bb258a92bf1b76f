#define _POSIX_C_SOURCE 200809L
#include "ranks/launch.h"

#include <stdlib.h>

#include "support.h"

static const char *const names[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",  "PMI_SIZE",
    "MV2_COMM_WORLD_RANK",  "MV2_COMM_WORLD_SIZE",  "PMIX_RANK", "SLURM_STEP_NUM_TASKS"};

static int forget_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
    return 0;
}

static void expect(bool by_mpi, bool first, size_t ranks)
{
    launch got = launch_find();
    assert_int_equal(got.by_mpi, by_mpi);
    assert_int_equal(got.first, first);
    assert_int_equal(got.ranks, ranks);
}

TEST_WITH(test_plain, forget_all, NULL)
{
    expect(false, true, 1);
    setenv("SLURM_STEP_NUM_TASKS", "4", 1); /* srun without MPI */
    expect(false, true, 1);
}

TEST_WITH(test_mpirun, forget_all, NULL)
{
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("PMIX_RANK", "3", 1);
    expect(true, false, 4);
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    expect(true, true, 1);
}

TEST_WITH(test_slurm, forget_all, NULL)
{
    setenv("PMIX_RANK", "0", 1);
    expect(true, true, 0);
    setenv("SLURM_STEP_NUM_TASKS", "12", 1);
    expect(true, true, 12);
    setenv("PMIX_RANK", "11", 1);
    expect(true, false, 12);
    setenv("SLURM_STEP_NUM_TASKS", "12 or so", 1);
    expect(true, false, 0);
    setenv("SLURM_STEP_NUM_TASKS", "-1", 1);
    expect(true, false, 0);
}

TEST_WITH(test_others, forget_all, NULL)
{
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "2", 1);
    expect(true, true, 2);
    forget_all(NULL);
    setenv("MV2_COMM_WORLD_RANK", "7", 1);
    setenv("MV2_COMM_WORLD_SIZE", "8", 1);
    expect(true, false, 8);
}
