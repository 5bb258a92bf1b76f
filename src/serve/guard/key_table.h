/* A table of keys in the order of their last use, so that those that were not used for a time are found at once. It has
 * at most a given number of keys. */
#ifndef EENET_KEY_TABLE_H
#define EENET_KEY_TABLE_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct key_table key_table;

/* payload: bytes of each entry. Its blocks are the owner's. */
ee_status key_table_create(memory *owner, size_t payload, size_t most, key_table **out, ee_error *error);

/* Bytes of an entry with this payload. */
size_t key_table_entry_size(size_t payload);

/* The payload of a key, aligned to 8 bytes; NULL: it has none. Keys are hashes. */
void *key_table_find(const key_table *self, uint64_t key, uint64_t part);

/* The same; adds the key, with a payload of zeros, if it is missing. *out is NULL if the table is full. */
ee_status key_table_take(key_table *self, uint64_t key, uint64_t part, void **out, ee_error *error);

/* Sets the time of its last use, which makes it the newest. Times never go back. */
void key_table_touch(key_table *self, void *payload, int64_t now);

/* The key that was not used for longest, and when it was used last; NULL: the table is empty. */
void *key_table_oldest(const key_table *self, int64_t *used);

void key_table_remove(key_table *self, void *payload);

size_t key_table_count(const key_table *self);

#endif
