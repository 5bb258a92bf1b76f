/* Blobs: whole values that the store keeps beside the events, found by bandit, kind and key. Models and checkpoints,
 * states of live evaluations, evaluation jobs and their results, feature importances. They are files of a folder, or
 * rows of a database (table blobs, in parts).
 *
 * Durability: when blob_put or blob_remove returns EE_OK, the change survives a crash; after a crash a key has the old
 * value or the new one, never a part. Values are verified: blob_get fails (EE_FILE_ERROR) if the bytes are not those
 * that were put. Any thread may call; two threads may not put the same key at the same time. Keys have digits, letters,
 * `-` and `_`.
 *
 * Files of a folder, readable by their owner only:
 *
 *   FOLDER/models/3/250.model               of bandit 3, version 250
 *   FOLDER/live/3.state
 *   FOLDER/evaluations/3/ID.json            with ID.results.json
 *   FOLDER/importances/3-ID.json
 *   FOLDER/temporary/...                    see blobs_scratch
 *
 * Text has a line with its checksum at the end, which blob_get removes; files without it, of older versions, are
 * accepted. Models and states end with their checksum anyway. */
#ifndef EENET_BLOBS_H
#define EENET_BLOBS_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct blobs blobs;

typedef enum blob_kind {
    BLOB_MODEL,
    BLOB_LIVE_STATE, /* one for each bandit: the key is empty */
    BLOB_EVALUATION,
    BLOB_EVALUATION_RESULTS,
    BLOB_IMPORTANCE,
    BLOB_KINDS
} blob_kind;

enum { BLOB_KEY_SIZE = 64 };

typedef struct blob_name {
    uint32_t bandit; /* 0: evaluations of older versions, which did not say */
    blob_kind kind;
    char key[BLOB_KEY_SIZE];
} blob_name;

blob_name blob_named(uint32_t bandit, blob_kind kind, const char *key);

/* The model of a version: the number that the body of the CHECKPOINT or MODEL event has. */
blob_name blob_model(uint32_t bandit, uint64_t version);

/* The file of a blob in a store's folder, "FOLDER/models/3/250.model", to be freed with memory_free. For copies, which
 * take the bytes without looking at them. */
ee_status blob_file(const char *folder, blob_name name, char **path, ee_error *error);

/* The blobs of a store's folder. Opening changes nothing; blobs_sweep, for the only writer, removes what a crash left.
 */
ee_status blobs_open(const char *folder, blobs **out, ee_error *error);
/* The blobs of a database. Connects when it is first used. */
ee_status pg_blobs_open(const char *where, blobs **out, ee_error *error);
void blobs_sweep(blobs *self);
/* NULL is allowed. */
void blobs_close(blobs *self);

/* Of a database that a fleet shares: only the owner of a bandit changes its blobs. owner: the number of this server in
 * the fleet. token returns the token of this process's lease, 0 if it has none; any thread calls it. A change by
 * another process than the owner fails (EE_FILE_ERROR). Blobs of bandit 0 belong to all. Call it before other threads
 * use the blobs. */
void blobs_fence(blobs *self, uint64_t owner, uint64_t (*token)(void *context, uint32_t bandit), void *context);

ee_status blob_put(blobs *self, blob_name name, const void *bytes, size_t size, ee_error *error);
/* *bytes is to be freed with memory_free; after the last is a zero, which is not counted. EE_NO_FILE: there is none. */
ee_status blob_get(const blobs *self, blob_name name, uint8_t **bytes, size_t *size, ee_error *error);
/* true also if the database does not say: the next call returns why. */
bool blob_exists(const blobs *self, blob_name name);
/* Also succeeds if there is none. */
ee_status blob_remove(blobs *self, blob_name name, ee_error *error);

/* The keys of a bandit's blobs of a kind, in any order; to be freed with memory_free. */
typedef char blob_key[BLOB_KEY_SIZE];
ee_status blob_list(const blobs *self, uint32_t bandit, blob_kind kind, blob_key **keys, size_t *count,
                    ee_error *error);

/* Bytes of all blobs; 0 if the database does not say. */
uint64_t blobs_bytes(const blobs *self);

/* *path = a new empty file for data that does not outlive the process; its name ends with `ending`. To be freed with
 * memory_free; the caller removes the file. With a database it is in $TMPDIR (default: /tmp). */
ee_status blobs_scratch(blobs *self, const char *ending, char **path, ee_error *error);

#endif
