/* Decisions that a reader goes through in order, read a page at a time with their events, because a round trip for each
 * would take most of the time. Only settled decisions are taken from a page, and only for a second: they no longer
 * change, but retention and erasing remove them. */
#ifndef EENET_PG_READ_AHEAD_H
#define EENET_PG_READ_AHEAD_H

#include "pg_connection.h"

enum { READ_AHEAD_ROWS = 128 };

/* Columns that the pages have at least. */
enum { AHEAD_PLACE = 0, AHEAD_SETTLED = 5, AHEAD_OWNER = 10 };

/* {0} is empty. */
typedef struct pg_read_ahead {
    PGresult *decisions; /* in order: AHEAD_PLACE, AHEAD_SETTLED; NULL: none */
    PGresult *events;    /* in the order of their decisions, AHEAD_OWNER, with AHEAD_PLACE; may be NULL */
    int row, event_row;  /* of the decision that was taken last; the first event of it or of a later one */
    int64_t read_at;
    bool in_order; /* the last decision asked for was the one after the one taken before */
} pg_read_ahead;

void pg_read_ahead_clear(pg_read_ahead *self);

/* Takes the first decision above a place. false: the page does not have it. */
bool pg_read_ahead_take(pg_read_ahead *self, int64_t after);

/* Replaces the page, and takes its first decision. */
void pg_read_ahead_fill(pg_read_ahead *self, PGresult *decisions, PGresult *events);

/* The row of an event of the decision that was taken last; -1: the page does not have it. */
int pg_read_ahead_event(pg_read_ahead *self, int64_t place);

#endif
