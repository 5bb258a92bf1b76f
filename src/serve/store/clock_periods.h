/* Changes of the clock, by which readers convert log time to wall time (system/server_clock.h): from the time of a
 * change on, wall time is log time minus `ahead`. A change is committed before or with the first event at or after its
 * time. */
#ifndef EENET_CLOCK_PERIODS_H
#define EENET_CLOCK_PERIODS_H

#include "event_row.h"
#include "store.h"

/* {.owner = ...} starts it. */
typedef struct clock_periods {
    memory *owner;
    stored_clock *periods; /* (count) in the order of their times */
    size_t count, capacity;
} clock_periods;

void clock_periods_clear(clock_periods *self);
ee_status clock_periods_add(clock_periods *self, int64_t time, int64_t ahead, ee_error *error);

/* The wall time of a log time. */
int64_t clock_periods_wall_time(const clock_periods *self, int64_t time);

/* Finds the first of a bandit's events from `low` to before `high` at or after a log time; `high` if there is none. */
typedef ee_status find_log_time(void *context, uint32_t bandit, uint64_t low, uint64_t high, int64_t time,
                                uint64_t *number, ee_error *error);

/* As find_time of reader_methods, with `find` for the searches. ends: of the bandit's log. */
ee_status clock_periods_search(const clock_periods *self, uint32_t bandit, const store_ends *ends, int64_t time,
                               find_log_time *find, void *context, uint64_t *first, uint64_t *past, ee_error *error);

#endif
