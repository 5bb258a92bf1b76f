/* The ids of the last million events, as 64-bit hashes, in constant memory. */
#ifndef EENET_ID_SET_H
#define EENET_ID_SET_H

#include <stdbool.h>

#include "base/memory.h"

enum { ID_SET_LEAST = 1 << 20 }; /* ids that are known, at least; twice as many at most */

typedef struct id_set id_set;

ee_status id_set_create(memory *owner, id_set **out, ee_error *error);

/* Adds the id; returns whether it was there. Over ten million events one is taken for another with a chance of one in a
 * million. */
bool id_set_add(id_set *set, uint64_t hash);

/* Of bytes (size): every bit depends on all of them. */
uint64_t id_hash(const char *bytes, size_t size);

#endif
