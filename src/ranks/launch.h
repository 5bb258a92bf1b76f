/* Detects from the environment whether an MPI launcher started this program. Without one, MPI is never initialised. */
#ifndef EENET_LAUNCH_H
#define EENET_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct launch {
    bool by_mpi;  /* mpirun, srun --mpi=pmix or similar */
    bool first;   /* rank 0 or the only process: prints messages */
    size_t ranks; /* that were started together; 0: not known */
} launch;

launch launch_find(void);

#endif
