/* Events copied out of the store. No transaction is open while you work on them, so a slow reader never keeps the
 * store from reclaiming its write-ahead log.
 *
 * {0} is an empty batch. Each read replaces its events; event_batch_free releases it. */
#ifndef EENET_EVENT_BATCH_H
#define EENET_EVENT_BATCH_H

#include "event.h"

/* A read stops at this size, but returns at least one event if there is one. */
enum { EVENT_BATCH_BYTES = 1 << 20 };

typedef struct event_batch {
    event *events; /* (count) in order; their texts and bodies are valid until the next use of the batch */
    size_t count;
    uint64_t last; /* all events up to this number were examined: `after` of the next read */

    /* Private. */
    uint8_t *bytes; /* (size) of each event in turn: id, reward id, body */
    size_t event_capacity, size, capacity;
} event_batch;

/* Empties the batch and keeps its memory. */
void event_batch_clear(event_batch *self);

/* Adds a copy. */
ee_status event_batch_add(event_batch *self, const event *from, ee_error *error);

void event_batch_free(event_batch *self);

#endif
