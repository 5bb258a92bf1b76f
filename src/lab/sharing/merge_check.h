/* Whether the runs of several folders can be merged. */
#ifndef EENET_MERGE_CHECK_H
#define EENET_MERGE_CHECK_H

#include "lab/results/results.h"

typedef struct merge_folder {
    const char *path;
    stored_runs runs; /* as results_read has them: number i is line i + 1 */
} merge_folder;

/* A run of one of the folders. */
typedef struct merge_run {
    uint64_t key; /* run_keys' */
    size_t folder, place;
} merge_run;

/* All runs, sorted by key, then folder and place: equal runs are adjacent. */
typedef struct merge_runs {
    merge_run *runs; /* (count) to be freed with memory_free */
    size_t count;
} merge_runs;

ee_status merge_runs_list(const merge_folder *folders, size_t count, merge_runs *out, ee_error *error);

/* Receives the messages. */
typedef struct merge_watch {
    void (*told)(void *context, const char *sentence);
    void *context;
} merge_watch;

/* Reports each contradiction, or after several of a kind how many more there are. folders[0] is the target folder.
 *
 * - A run has different results in two folders; seconds, bytes and machine do not matter. Curves are compared if both
 *   have them.
 * - A run has a different version or kernels than the runs of the target folder (or, if it has none, than the first
 *   run): the last digits differ.
 * - A data set has different fingerprints in two folders. If one folder has both, they are two data sets. */
ee_status merge_check(const merge_folder *folders, size_t count, const merge_runs *all, const merge_watch *watch,
                      size_t *contradictions, ee_error *error);

#endif
