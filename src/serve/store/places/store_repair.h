/* Rebuilds the database of a folder from its log, when the log is intact and something else in eenet.db is not. Events
 * are never changed. */
#ifndef EENET_STORE_REPAIR_H
#define EENET_STORE_REPAIR_H

#include "store_check.h"

typedef struct repair_result {
    check_result before; /* what was damaged */
    bool rebuilt;        /* eenet.db is a new file */
    char kept[32];       /* the name of the damaged one, beside it */
    bool ids_lost;       /* reward ids of removed events could not be read: a retry of such a reward counts again */
} repair_result;

/* Checks the folder, which no server may be using, and rebuilds eenet.db if it is damaged. The new file is written
 * beside it, checked, synced and renamed, so a crash leaves one or the other. It fails if the log itself is damaged:
 * only a backup has what is missing. */
ee_status store_repair(const check_request *request, repair_result *out, ee_error *error);

#endif
