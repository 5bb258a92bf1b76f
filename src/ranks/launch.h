/* Whether a launcher of MPI started this program, by what it leaves in the environment: who is started plainly never
 * touches MPI. */
#ifndef EENET_LAUNCH_H
#define EENET_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct launch {
    bool by_mpi;  /* mpirun, srun --mpi=pmix or their like */
    bool first;   /* rank 0, or alone: who says what all of them would say */
    size_t ranks; /* that were started together; 0: not known */
} launch;

launch launch_find(void);

#endif
