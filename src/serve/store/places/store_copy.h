/* Copies a whole store, row by row, between a folder (SQLite) and a database (PostgreSQL), in either direction, or
 * between two of a kind. Rows keep their checksums, right or wrong, so that damage can be found in the copy.
 *
 * Servers may be writing to the original: the copy is a snapshot. It appears when it is complete and was read again:
 * a folder gets its name, a database its only commit. What fails or is stopped leaves nothing behind. */
#ifndef EENET_STORE_COPY_H
#define EENET_STORE_COPY_H

#include "serve/store/place_name.h"
#include "serve/store/store.h"

typedef struct copy_request {
    const char *from, *to; /* a folder, or "postgresql://...". to: a new folder, or a database without bandits */
    bool alone;            /* refuse if a process may be writing to the original */
    bool intact;           /* refuse if the original is damaged */
    backup_verify *verify; /* as in store_backup; only of a folder. May be NULL */
    bool (*progress)(void *context, double share); /* as in store_backup; may be NULL */
    void *context;
} copy_request;

typedef struct copy_result {
    uint64_t bandits, events, blobs; /* that were copied; of the bandits, those that are not removed */
    uint64_t bytes;                  /* of all values */
    uint64_t audit_entries;
    uint64_t skipped; /* lines of the audit log that a crash had cut off */
    uint64_t damages; /* events whose checksum is wrong, and logs that do not end as log_ends says */
    char first[200];  /* of the damages; "": none */
} copy_result;

ee_status store_copy(const copy_request *request, copy_result *out, ee_error *error);

#endif
