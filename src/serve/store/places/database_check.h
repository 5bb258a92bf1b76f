/* Finds damage in a database: that its tables are there with their columns and keys, and then, in a snapshot of it that
 * is copied into a temporary folder, what store_check.h finds in a folder. */
#ifndef EENET_DATABASE_CHECK_H
#define EENET_DATABASE_CHECK_H

#include "store_check.h"

/* As store_check_folder, with a database as request->folder. Servers may be using it. If tables are missing, only
 * `structure` of the result is filled in. */
ee_status database_check(const check_request *request, check_result *out, ee_error *error);

/* A snapshot of a database in a temporary folder, in $TMPDIR (default: /tmp). */
typedef struct database_snapshot {
    char *parent, *folder; /* NULL: none; the folder is in the parent */
} database_snapshot;

/* progress: as in store_backup. */
ee_status database_snapshot_create(const char *where, bool (*progress)(void *context, double share), void *context,
                                   database_snapshot *out, ee_error *error);
/* Removes it; {0} is allowed. */
void database_snapshot_remove(database_snapshot *self);

#endif
