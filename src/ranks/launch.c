#include "launch.h"

#include <stdlib.h>

/* 0 where it is not set, or no number. */
static size_t read_count(const char *name)
{
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return 0;
    unsigned long long count = strtoull(text, &end, 10);
    return *end ? 0 : (size_t)count;
}

launch launch_find(void)
{
    /* What each launcher gives a rank: its number, and where it tells how many there are. Slurm has PMIx tell the
     * program and not the environment, but its own variables do. */
    static const char *const marks[][2] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI's mpirun */
        {"PMI_RANK", "PMI_SIZE"},                         /* MPICH's and Intel's mpiexec, srun --mpi=pmi2 */
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH's mpirun_rsh */
        {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},            /* srun --mpi=pmix */
    };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (getenv(marks[i][0])) return (launch){true, read_count(marks[i][0]) == 0, read_count(marks[i][1])};
    return (launch){false, true, 1};
}
