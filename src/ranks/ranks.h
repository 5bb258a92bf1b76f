/* Programs that MPI has started together, on many machines. Rank 0 does what the user asked for and workers out runs;
 * the others play what they are given. Without MPI, or started plainly, a program is alone, and leads.
 *
 *     if (ranks_start(&error)) ...
 *     if (!ranks_lead()) return ranks_serve(NULL);
 *     ... the verb, with run_pool_of_ranks where ranks_count() > 1 ...
 *     ranks_end();
 */
#ifndef EENET_RANKS_H
#define EENET_RANKS_H

#include "lab/runs/run_pool.h"

/* Joins the others, where a launcher of MPI started this program. EE_BAD_INPUT where it started several and they cannot
 * find each other: each would do all the work. */
ee_status ranks_start(ee_error *error);

size_t ranks_count(void); /* 1: alone */
bool ranks_lead(void);    /* rank 0 */

/* For those that do not lead: plays what it is given until rank 0 ends. Returns the exit status. If unusable is not
 * NULL it says why this rank must not play: rank 0 gets it as the answer to its first call, reports it and plays
 * nothing. */
int ranks_serve(const ee_error *unusable);

/* For rank 0, on its way out: the others leave too. Alone, nothing happens. */
void ranks_end(void);

/* Ends all ranks at once, whatever they do. Returns only where this program is alone. */
void ranks_abort(int code);

/* Of `eenet --version`: "Open MPI 4.1.4", or "without MPI". */
const char *ranks_library(void);

/* All workers of all ranks. Before the first run each rank opens the data sets of the
 * jobs; where one cannot, or has other files, another version or other kernels, nothing is played. Only
 * where ranks_count() > 1. workers: of each rank, runs that it plays at a time. cache: of the data sets, as
 * dataset_open got it, or NULL; borrowed. */
run_pool run_pool_of_ranks(size_t workers, const char *cache);

#endif
