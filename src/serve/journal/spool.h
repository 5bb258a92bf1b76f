/* The spool: events that were acknowledged while the database was away, in a file of this machine, until the journal
 * delivers them. It keeps their order, and knows which decisions it has, so that a repeated request gets the same
 * response.
 *
 * Durability: what spool_append returned EE_OK for is there after a crash of the program or of the machine. If it
 * fails, nothing of the group is in the spool, and the next call may succeed.
 *
 * Exactly once: records are numbered from 1. The transaction that delivers some stores the number of the last one under
 * the name of the spool, which is never used again. After a crash that number says where to continue.
 *
 * Limits:
 * - An id that was acknowledged before the outage is not known to the spool. A request that repeats it meanwhile is
 *   decided again; on delivery the first decision stays, and the log does not have the second.
 * - Rewards are not compared with those before them: a reward id that came before, also with another value, is found on
 *   delivery, when the client has its response. The first reward stays.
 * - If other servers own the bandit meanwhile, they settle decisions at their deadlines without the rewards in the
 *   spool: those are late then. Events that are delivered after others of their bandit get the time of the last one.
 * - Events of a bandit that was archived or removed before they were delivered are dropped, and counted.
 * - Decisions cannot be erased while they are in the spool.
 *
 * FOLDER/spool/events, readable by its owner only. Numbers are little-endian:
 *
 *   head    "eespool1", the name (32 hexadecimal digits, the first are the owner's), checksum (8)
 *   groups  one for each spool_append, at a multiple of 8 bytes:
 *     mark (8), its place in the file (8), number of its first record (8), log time (8), records (8), their bytes with
 *     the padding (8), checksum of this and of the name (8)
 *     records: checksum of the rest (8), bytes of the record (8), bandit (4), kind (1), flags (1), 0 (2), place and
 *     count of slots (4 + 4), bytes of the id, the reward id (4 + 4) and the body (8), request (16), value (8); id,
 *     reward id, body; zeros up to a multiple of 8
 *
 * One thread uses a spool, and one process a folder. */
#ifndef EENET_SPOOL_H
#define EENET_SPOOL_H

#include "serve/store/store.h"

typedef struct spool spool;

enum { SPOOL_NAME_SIZE = 33 };

/* Opens the spool of a folder; creates FOLDER/spool, but no file before the first record. A group that was cut off at
 * the end was not acknowledged and is removed. Damage before the last group is an error. */
ee_status spool_open(const char *folder, spool **out, ee_error *error);
/* owner: up to 8 hexadecimal digits that stand for the database. EE_FILE_ERROR if the spool has records for another. */
enum { SPOOL_OWNER_SIZE = 9 };
ee_status spool_claim(spool *self, const char *owner, ee_error *error);
/* Whether an earlier process left a file there. */
bool spool_exists(const char *folder);
/* NULL is allowed. Records stay in the file. */
void spool_close(spool *self);

/* Whether it can have this kind: DECISION, REWARD, ACTIVATED. */
bool spool_takes(event_kind kind);

/* Writes entries, chained by next, with one sync. Verdicts: ENTRY_SPOOLED; decisions whose id is in the spool are not
 * written again, and get ENTRY_REPEATED, with the place for spool_earlier in event.number, or ENTRY_CONFLICT; a refused
 * one that is new gets ENTRY_REFUSED. Slots of a round follow each other. time: not before the last. On failure
 * verdicts are not set. */
ee_status spool_append(spool *self, store_entry *first, int64_t time, ee_error *error);

/* A decision of the spool, valid until the next call. */
ee_status spool_earlier(spool *self, uint64_t place, const event **out, ee_error *error);
/* *place: of the decision, or of the first slot of the round, that has an id; 0: there is none. */
ee_status spool_find(spool *self, uint32_t bandit, json_text id, uint64_t *place, ee_error *error);

/* Records that are not delivered; the log time of the last record, 0 if there was none. */
uint64_t spool_count(const spool *self);
int64_t spool_time(const spool *self);
/* The name under which the store knows it; "" if there is no file. */
const char *spool_name(const spool *self);

/* Records to deliver, all of one spool_append. */
typedef struct spool_batch {
    store_entry *first; /* (count) chained by next; valid until the next call */
    size_t count;
    int64_t time;
    uint64_t last; /* number of the last record */
} spool_batch;

/* The next records that are not delivered; at least one if spool_count is not 0. */
ee_status spool_read(spool *self, spool_batch *out, ee_error *error);

/* All records up to this number are delivered. After the last one the file is removed, and the next gets a new name. */
void spool_delivered(spool *self, uint64_t number);

#endif
