#include "pg_read_ahead.h"

#include "serve/system/server_clock.h"

enum { MOST_AGE = 1000000 }; /* microseconds */

void pg_read_ahead_clear(pg_read_ahead *self)
{
    PQclear(self->decisions);
    PQclear(self->events);
    *self = (pg_read_ahead){0};
}

static bool is_young(const pg_read_ahead *self)
{
    return server_clock_real() - self->read_at < MOST_AGE;
}

bool pg_read_ahead_take(pg_read_ahead *self, int64_t after)
{
    int count = self->decisions ? PQntuples(self->decisions) : 0, next = self->row + 1;
    self->in_order = self->row < count && pg_int8(self->decisions, self->row, AHEAD_PLACE) == after;
    if (!self->in_order || next >= count || !pg_int8(self->decisions, next, AHEAD_SETTLED) || !is_young(self))
        return false;
    self->row = next;
    return true;
}

void pg_read_ahead_fill(pg_read_ahead *self, PGresult *decisions, PGresult *events)
{
    pg_read_ahead_clear(self);
    self->decisions = decisions;
    self->events = events;
    self->read_at = server_clock_real();
}

int pg_read_ahead_event(pg_read_ahead *self, int64_t place)
{
    int count = self->events && is_young(self) ? PQntuples(self->events) : 0;
    if (!count) return -1;
    int64_t owner = pg_int8(self->decisions, self->row, AHEAD_PLACE);
    while (self->event_row < count && pg_int8(self->events, self->event_row, AHEAD_OWNER) < owner) self->event_row++;
    for (int i = self->event_row; i < count && pg_int8(self->events, i, AHEAD_OWNER) == owner; i++)
        if (pg_int8(self->events, i, AHEAD_PLACE) == place) return i;
    return -1;
}
