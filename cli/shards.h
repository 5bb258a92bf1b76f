/* Runs that several programs share: which part this one plays, where it keeps it, and what to do when it is done. */
#ifndef EENET_SHARDS_H
#define EENET_SHARDS_H

#include <time.h>

#include "lab/grids/experiment.h"
#include "run_request.h"

#define SHARDS_FOLDER "shards" /* folder in the output folder, with one folder per shard, such as 3-of-16 */

/* A folder of runs: of a shard, or, if its count is 0, another. */
typedef struct shard_folder {
    char *path;
    run_shard shard;
    struct timespec added; /* when the last run was added; zeros: never */
} shard_folder;

/* Starts as zeros. */
typedef struct shard_folders {
    shard_folder *list; /* (count) */
    size_t count, capacity;
} shard_folders;

/* Adds the folder itself, if it has results.jsonl, or always. */
ee_status shards_add(shard_folders *into, const char *folder, run_shard shard, bool always, ee_error *error);

/* Adds those of its shards that have results.jsonl, in order. */
ee_status shards_list(shard_folders *into, const char *folder, ee_error *error);
void shards_release(shard_folders *all);

/* Orders by number of shards, then by shard. */
int shards_compare(const void *left, const void *right);

/* Reads --shard, or what Slurm says, into the request, and names its folder. Returns an exit status, after saying on
 * stderr what is wrong. A second call does nothing. */
int shards_read(const command *self, run_request *request);

/* EXIT_USAGE, after saying so, where one that plays a part alone is to do what takes all runs. save: NULL for none. */
int shards_refuse_save(const command *self, const run_request *request, const char *save);
int shards_refuse_halving(const command *self, const run_request *request, bool halving);

/* Before anything is played. Of a shard: the others are of the same version, with the same kernels. Of one that plays
 * all: a word on stderr where shards have runs that are not merged. Returns an exit status, after saying on stderr what
 * is wrong. */
int shards_join(const command *self, const run_request *request);

/* Where shards have runs that the folder lacks, says so on stderr, and what comes of it: "may be played again". */
void shards_remark_unmerged(const command *self, const char *folder, const char *so);

/* Where the runs are kept, and the workers: all MPI ranks if there are several, otherwise threads of this program. It
 * borrows from the request. */
experiment_site shards_site(const run_request *request);

/* What a shard has done. */
typedef struct shard_end {
    size_t played; /* runs */
    bool tuning;   /* settings are still to be chosen: other shards have runs that this one does not know yet */
    bool complete; /* all runs are known: its own, and those of the others */
} shard_end;

/* Says it on stdout, and what comes next. */
void shards_print_end(const run_request *request, const shard_end *end);

#endif
