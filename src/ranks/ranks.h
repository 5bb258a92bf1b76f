/* Processes that MPI started together, on many machines. Rank 0 runs the command and distributes the runs; the other
 * ranks do them. Without MPI there is one process, which is rank 0.
 *
 *     if (ranks_start(&error)) ...
 *     if (!ranks_lead()) return ranks_serve(NULL);
 *     ... the command, with run_pool_of_ranks if ranks_count() > 1 ...
 *     ranks_end();
 */
#ifndef EENET_RANKS_H
#define EENET_RANKS_H

#include "lab/runs/run_pool.h"

/* Connects the ranks, if an MPI launcher started this program. EE_BAD_INPUT if it started several and they cannot
 * connect: each would do all runs. */
ee_status ranks_start(ee_error *error);

size_t ranks_count(void); /* 1 without MPI */
bool ranks_lead(void);    /* whether this is rank 0 */

/* For the other ranks: does runs until rank 0 ends. Returns the exit status. unusable, if not NULL, is the reason why
 * this rank must not do any: rank 0 then reports it and runs nothing. */
int ranks_serve(const ee_error *unusable);

/* For rank 0, at its end: the other ranks end too. Does nothing without MPI. */
void ranks_end(void);

/* Ends all ranks immediately. Returns only without MPI. */
void ranks_abort(int code);

/* For `eenet --version`: "Open MPI 4.1.4", or "without MPI". */
const char *ranks_library(void);

/* The workers of all ranks; only if ranks_count() > 1. Before the first run, each rank opens the data sets of the jobs.
 * Nothing runs if one of them cannot, or has different files, version or kernels. workers: runs at a time on each rank.
 * cache: folder of prepared data sets as in dataset_open, or NULL; borrowed. */
run_pool run_pool_of_ranks(size_t workers, const char *cache);

#endif
