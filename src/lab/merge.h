/* Runs of several folders, put together in one. */
#ifndef EENET_MERGE_H
#define EENET_MERGE_H

#include "merge_check.h"

typedef struct merge_counts {
    size_t added;          /* runs that the folder has got */
    size_t there;          /* runs of the others that it had already */
    size_t lost;           /* left out: their curves are lost */
    size_t asked, missing; /* runs that the shards were asked for, and those of them that are still to come */
    size_t failed;         /* of those asked for: they diverge, and never will */
    bool only_tuning;      /* those that were asked for, as far as they are there, are such as settings are chosen by */
} merge_counts;

/* Puts the runs of the folders into another, which is made where it is missing. First it looks at all: where
 * merge_check finds a contradiction, nothing is written and the status is EE_BAD_INPUT. watch is told that, and which
 * runs are left out. Lines come in the order in which the runs were asked for, where the folders tell it (their file
 * order), else folder by folder.
 *
 * The folders are only read, and may be written to meanwhile: what is not whole yet comes the next time. Killed at any
 * moment and called again, it goes on. */
ee_status merge_folders(const char *into, const char *const *folders, size_t count, const merge_watch *watch,
                        merge_counts *out, ee_error *error);

#endif
