/* Runs of several folders, put together in one. */
#ifndef EENET_MERGE_H
#define EENET_MERGE_H

#include "merge_check.h"

typedef struct merge_counts {
    size_t added;          /* runs that the folder has got */
    size_t there;          /* runs of the others that it had already */
    size_t lost;           /* left out: their curves are lost */
    size_t asked, missing; /* requested runs of the shards, and those of them that are missing */
    size_t failed;         /* of the requested runs: those that diverge, and never finish */
    bool only_tuning;      /* all requested runs that are there are tuning runs */
} merge_counts;

/* Copies the runs of the folders into another, and creates it if needed. If merge_check finds a contradiction, nothing
 * is written and the status is EE_BAD_INPUT. watch gets the contradictions and the skipped runs. Lines keep the order
 * of the original command if the folders have it (their file `order`), otherwise they come folder by folder.
 *
 * The source folders are only read, and may be written meanwhile: incomplete runs come with the next merge. If it is
 * killed, call it again. */
ee_status merge_folders(const char *into, const char *const *folders, size_t count, const merge_watch *watch,
                        merge_counts *out, ee_error *error);

#endif
