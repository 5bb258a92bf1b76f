/* Events as rows of a database: their key and their checksum, the same in all implementations of the store.
 *
 * An event's key is its place: the bandit's number and, in the lower 40 bits, its own. So the events of a bandit lie
 * beside each other, in their order. */
#ifndef EENET_EVENT_ROW_H
#define EENET_EVENT_ROW_H

#include "event.h"

enum { STORE_NUMBER_BITS = 40 };

static inline int64_t store_place(uint32_t bandit, uint64_t number)
{
    return (int64_t)((uint64_t)bandit << STORE_NUMBER_BITS | number);
}

static inline uint64_t store_number_at(int64_t place)
{
    return (uint64_t)place & (((uint64_t)1 << STORE_NUMBER_BITS) - 1);
}

/* The first and the last event of a bandit's log. */
typedef struct store_ends {
    uint64_t first, last; /* numbers; 0: there are no events */
    int64_t time;         /* of the last */
} store_ends;

/* Which columns a kind has. */
static inline bool event_has_value(const event *of)
{
    return of->kind == EVENT_REWARD || of->kind == EVENT_SETTLED;
}

static inline bool event_has_outcome(const event *of)
{
    return event_has_value(of) || of->kind == EVENT_ACTIVATED;
}

/* Of a new event: of its columns in order, place first. Columns that a kind does not have, and empty texts and bodies,
 * are NULL. */
int64_t store_event_checksum(uint32_t bandit, const event *of);

/* EE_FILE_ERROR: the checksum of the event at this place does not match. */
ee_status store_event_damaged(int64_t place, ee_error *error);

#endif
