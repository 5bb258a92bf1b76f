#include "clock_periods.h"

void clock_periods_clear(clock_periods *self)
{
    self->count = 0;
}

ee_status clock_periods_add(clock_periods *self, int64_t time, int64_t ahead, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &self->periods, &self->capacity, self->count + 1, sizeof *self->periods, error);
    if (!status) self->periods[self->count++] = (stored_clock){.time = time, .ahead = ahead};
    return status;
}

int64_t clock_periods_wall_time(const clock_periods *self, int64_t time)
{
    size_t after = self->count;
    while (after && self->periods[after - 1].time > time) after--;
    return after ? time - self->periods[after - 1].ahead : time;
}

/* Log time of a wall time. The ends of the range mean "all". */
static int64_t log_time_of(int64_t wall, int64_t ahead)
{
    if (ahead > 0 && wall > INT64_MAX - ahead) return INT64_MAX;
    if (ahead < 0 && wall < INT64_MIN - ahead) return INT64_MIN;
    return wall + ahead;
}

/* Between two changes of the clock, wall times never go back: looks at each such period. */
ee_status clock_periods_search(const clock_periods *self, uint32_t bandit, const store_ends *ends, int64_t time,
                               find_log_time *find, void *context, uint64_t *first, uint64_t *past, ee_error *error)
{
    uint64_t low = ends->first ? ends->first : 1, over = ends->last + 1;
    bool found = false;
    int64_t ahead = 0;
    ee_status status = EE_OK;
    *first = over;
    *past = low;
    for (size_t i = 0; !status && i <= self->count; i++) {
        const stored_clock *next = i < self->count ? &self->periods[i] : NULL;
        uint64_t high = over, split = low;
        if (next) status = find(context, bandit, low, over, next->time, &high, error);
        if (!status) status = find(context, bandit, low, high, log_time_of(time, ahead), &split, error);
        if (!found && split < high) *first = split;
        found |= split < high;
        if (split > low) *past = split;
        if (next) ahead = next->ahead;
        low = high;
    }
    return status;
}
