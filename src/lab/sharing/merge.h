/* Copies the runs of several folders into one. */
#ifndef EENET_MERGE_H
#define EENET_MERGE_H

#include "lab/results/results.h"

typedef struct merge_counts {
    size_t added;          /* runs that the folder has got */
    size_t there;          /* runs of the others that it had already */
    size_t lost;           /* left out: their curves are lost */
    size_t asked, missing; /* requested runs of the shards, and those of them that are missing */
    size_t failed;         /* of the requested runs: those that diverge, and never finish */
    bool only_tuning;      /* all requested runs that are there are tuning runs */
} merge_counts;

/* Receives messages about contradictions and skipped runs. */
typedef struct merge_watch {
    void (*report)(void *context, const char *sentence);
    void *context;
} merge_watch;

/* Copies the runs of the folders into another, and creates it if needed. Lines keep the order of the original command
 * if the folders have it (their file `order`), otherwise they come folder by folder. Writes nothing and returns
 * EE_BAD_INPUT if the folders contradict each other:
 *
 * - A run has different results in two folders; seconds, bytes and machine do not matter.
 * - A run has a version or kernels that the target folder lacks, and other than the first run: the last digits differ.
 * - A data set has different fingerprints in two folders. If one of them has both, they are two data sets.
 *
 * The source folders are only read, and may be written meanwhile: incomplete runs come with the next merge. If it is
 * killed, call it again. */
ee_status merge_folders(const char *into, const char *const *folders, size_t count, const merge_watch *watch,
                        merge_counts *out, ee_error *error);

#endif
