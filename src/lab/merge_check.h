/* Whether runs of several folders may stand in one. */
#ifndef EENET_MERGE_CHECK_H
#define EENET_MERGE_CHECK_H

#include "results.h"

typedef struct merge_folder {
    const char *path;
    stored_runs runs; /* as results_read has them: number i is line i + 1 */
} merge_folder;

/* A run of one of the folders. */
typedef struct merge_run {
    uint64_t key; /* run_keys' */
    size_t folder, place;
} merge_run;

/* All runs, sorted by key, then by folder and place: those that are the same stand together. */
typedef struct merge_runs {
    merge_run *runs; /* (count) to be freed with memory_free */
    size_t count;
} merge_runs;

ee_status merge_runs_list(const merge_folder *folders, size_t count, merge_runs *out, ee_error *error);

/* Who gets the sentences. */
typedef struct merge_watch {
    void (*told)(void *context, const char *sentence);
    void *context;
} merge_watch;

/* Tells a sentence for each contradiction, and how many more there are after some of a kind. folders[0] is the folder
 * that the runs are to come into; others are told from it:
 *
 * - a run that has another result in another folder; seconds, bytes and machine aside. Where both have their curves,
 *   these are compared too;
 * - a run of another version or other kernels than that folder has runs of, or where it has none, than the first run
 *   of all: their numbers differ in the last digits;
 * - a data set that has another fingerprint in another folder: the name is of two data sets. Where one folder has both,
 *   somebody has played both. */
ee_status merge_check(const merge_folder *folders, size_t count, const merge_runs *all, const merge_watch *watch,
                      size_t *contradictions, ee_error *error);

#endif
