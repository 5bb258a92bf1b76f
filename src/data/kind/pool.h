/* Rounds drawn from a pool: ten arms, nine ordinary entries and one wanted entry at a random position. The wanted one
 * has reward 1, the others 0. Used by Yelp, MovieLens and other ratings (wanted: rated badly) and Disin (wanted: fake).
 * An entry refers to a row of each of one or two tables; an arm is these rows concatenated. */
#ifndef EENET_POOL_H
#define EENET_POOL_H

#include "kind.h"

enum { POOL_TABLES = 2, POOL_ARMS = 10, POOL_ORDINARY = POOL_ARMS - 1 };

typedef struct pool_table {
    float *values; /* (rows, columns) */
    size_t rows, columns;
} pool_table;

typedef struct pool_entry {
    uint32_t row[POOL_TABLES]; /* of each table; 0 without a second table */
} pool_entry;

typedef struct pool_dataset {
    dataset head;
    pool_table tables[POOL_TABLES]; /* the second has no columns if there is only one */
    pool_entry *ordinary;           /* (ordinary_count), at least POOL_ORDINARY */
    pool_entry *wanted;             /* (wanted_count), at least one */
    size_t ordinary_count, wanted_count;
} pool_dataset;

/* Reserves room for all entries, ordinary and wanted together; then add them one by one. */
ee_status pool_reserve(pool_dataset *pool, size_t entries, ee_error *error);
void pool_add(pool_dataset *pool, pool_entry entry, bool wanted);

/* The functions of every kind with a pool. The loader creates the pool with memory_create_owner, and its tables and
 * entries from that owner. */
ee_status pool_start(const dataset *data, uint64_t seed, environment **out, ee_error *error);
ee_status pool_next(environment *world, environment_round *round, ee_error *error);

/* Sets dim and arms. EE_BAD_INPUT, with name for the file, if there are too few entries for a round. */
ee_status pool_finish(pool_dataset *pool, const char *name, ee_error *error);

/* Reads a pool and its survey from the cache (cache.h); NULL if there is none. seen must be empty. The fingerprint is
 * not set. */
pool_dataset *pool_read_cache(const char *cache, const char *kind, uint64_t key, survey *seen);
void pool_write_cache(const pool_dataset *pool, const survey *seen, const char *cache, const char *kind, uint64_t key);

/* Converts tables, entries and survey to bytes and back; free *out by its owner. */
ee_status pool_save(const pool_dataset *pool, const survey *seen, uint8_t **bytes, size_t *size, ee_error *error);
ee_status pool_load(const uint8_t *bytes, size_t size, survey *seen, pool_dataset **out, ee_error *error);

#endif
