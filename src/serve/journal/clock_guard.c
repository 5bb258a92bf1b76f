#include "clock_guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/values/log_time.h"

#define DAY (INT64_C(86400) * 1000000)

ee_status clock_guard_add(clock_guard *self, store_reader *reader, const stored_bandit *bandit, int64_t retention_days,
                          uint64_t waiting, ee_error *error)
{
    int64_t days = retention_days ? retention_days : self->retention_days;
    uint64_t count = 0;
    ee_status status = EE_OK;
    if (bandit->time > self->last) self->last = bandit->time;
    self->waiting += waiting;
    if (days > 0)
        status =
            store_count_before(reader, bandit->number, self->wall + self->before.ahead - days * DAY, &count, error);
    self->removed += count;
    return status;
}

/* "3 minutes", "5 hours", "400 days". */
static void write_span(int64_t microseconds, char *out, size_t size)
{
    int64_t seconds = llabs(microseconds) / 1000000;
    if (seconds >= 2 * 86400)
        snprintf(out, size, "%" PRId64 " days", (seconds + 43200) / 86400);
    else if (seconds >= 2 * 3600)
        snprintf(out, size, "%" PRId64 " hours", (seconds + 1800) / 3600);
    else
        snprintf(out, size, "%" PRId64 " minutes", seconds / 60);
}

/* To the minute: an error has 251 characters. */
static ee_status refuse(const clock_guard *self, int64_t gap, ee_error *error)
{
    char now[LOG_TIME_SIZE], last[LOG_TIME_SIZE], span[40];
    log_time_format((double)self->wall / 1e6, now);
    log_time_format((double)(self->last - self->before.ahead) / 1e6, last);
    write_span(gap, span, sizeof span);
    if (gap < 0)
        return status_fail(
            error, EE_BAD_INPUT,
            "clock: it is %.16sZ, %s before the last event (%.16sZ). Set it if it is wrong. If it is right "
            "and was wrong before, start with --accept-clock corrected: later events get the right time",
            now, span, last);
    return status_fail(error, EE_BAD_INPUT,
                       "clock: it is %.16sZ, %s after the last event (%.16sZ). Set it if it is wrong; else start with "
                       "--accept-clock elapsed (settles %" PRIu64 " decisions, removes %" PRIu64
                       " events) or --accept-clock corrected (it was wrong before; keeps them)",
                       now, span, last, self->waiting, self->removed);
}

ee_status clock_guard_start(const clock_guard *self, clock_acceptance as, int64_t real, server_clock *out, bool *write,
                            ee_error *error)
{
    int64_t ahead = self->before.ahead, gap = self->wall + ahead - self->last;
    bool loses = self->waiting || self->removed;
    bool far = self->most_days_off > 0 && gap > self->most_days_off * DAY && loses;
    *write = false;
    if (!self->last || !(self->before.in_doubt || far || gap < -CLOCK_TOLERANCE)) {
        *out = server_clock_start(self->last, ahead, self->wall, real);
        return EE_OK;
    }
    *out = server_clock_start_in_doubt(self->last, ahead, self->wall, real);
    *write = true;
    if (server_clock_accept(out, as) || self->before.in_doubt) return EE_OK;
    return refuse(self, gap, error);
}
