/* Finds damage in a folder: bits that flipped, sectors that were zeroed, files and events that are gone.
 *
 *   structure  SQLite's integrity check, and the definitions of the tables
 *   log        the checksum of every event, numbers without gaps, and the end of each log (log_ends)
 *   tables     decisions, ids, reward_ids, unclaimed and bandits, computed from the log again and compared
 *   files      models against the checksums in their events, all others against their own
 *
 * Bytes that hold no data (free pages, unused space within a page) are not looked at: nothing reads them. */
#ifndef EENET_STORE_CHECK_H
#define EENET_STORE_CHECK_H

#include "serve/store/store.h"

typedef struct check_request {
    const char *folder;
    bool database_only; /* no files */
    /* Gets each damage as a sentence, 50 at most. May be NULL. */
    void (*found)(void *context, const char *sentence);
    /* What is checked and the share of it that is done, negative if it is not known; false stops the check, which then
     * fails. May be NULL. */
    bool (*progress)(void *context, const char *what, double share);
    void *context;
} check_request;

typedef struct check_result {
    uint64_t bandits, events, files;        /* that were checked */
    uint64_t structure, log, tables, blobs; /* damages found, by the parts above */
    bool partial;                           /* an older version without checksums: only the structure was checked */
    char first[400];                        /* damage; "": none */
} check_result;

/* EE_OK whether or not there is damage; it fails if the folder cannot be checked, as when eenet.db is not a database.
 * Another process may be writing to the folder. */
ee_status store_check_folder(const check_request *request, check_result *out, ee_error *error);

uint64_t check_damages(const check_result *of);

#endif
