#include "request_log.h"

#include "serve/http/router.h"

/* Whether request number n is in the sample: a share of the requests, without a period. */
static bool is_drawn(uint64_t n, double share)
{
    uint64_t mixed = n * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 31;
    return (double)(mixed >> 11) * 0x1p-53 < share;
}

/* Takes one of this second's lines about errors; false: there are none left. */
static bool take_error_line(request_log *self, double now)
{
    int_least64_t second = (int_least64_t)now, before = atomic_load(&self->second);
    if (before != second && atomic_compare_exchange_strong(&self->second, &before, second))
        atomic_store(&self->errors, 0);
    if (atomic_fetch_add(&self->errors, 1) < REQUEST_LOG_ERRORS) return true;
    atomic_fetch_add(&self->left_out, 1);
    return false;
}

/* false: no line. */
static bool choose_level(request_log *self, const server_log *log, double share, double now, int status, log_level *out)
{
    *out = status == 500 ? LOG_LEVEL_ERROR : status > 500 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
    if (status == 500) return true;
    if (share > 0 && server_log_wants(log, *out)) {
        if (status >= 400 ? take_error_line(self, now) : is_drawn(atomic_fetch_add(&self->requests, 1), share))
            return true;
    }
    *out = LOG_LEVEL_DEBUG;
    return server_log_wants(log, LOG_LEVEL_DEBUG);
}

void request_log_write(request_log *self, const server_log *log, double share, double now, const request_line *line)
{
    enum { FIELDS = 14 };
    const http_exchange *exchange = line->exchange;
    log_level level;
    if (!choose_level(self, log, share, now, exchange->status, &level) || !server_log_wants(log, level)) return;
    char path[500];
    server_log_plain(exchange->path, path, sizeof path);
    log_field fields[FIELDS] = {{"method", router_method_name(exchange->method), 0},
                                {"path", path, 0},
                                {"status", NULL, exchange->status},
                                {"seconds", NULL, line->seconds},
                                {"bytes", NULL, (double)exchange->answer.length},
                                {"peer", exchange->peer, 0},
                                {"key", line->key, 0},
                                {"id", line->id, 0}};
    size_t count = 8;
    if (line->trace) {
        fields[count++] = (log_field){"trace_id", line->trace->trace, 0};
        fields[count++] = (log_field){"span_id", line->trace->span, 0};
        fields[count++] = (log_field){"parent_id", line->trace->parent, 0};
    }
    uint64_t left_out = exchange->status >= 400 ? atomic_exchange(&self->left_out, 0) : 0;
    if (left_out) fields[count] = (log_field){"left_out", NULL, (double)left_out};
    server_log_write(log, level, fields, "request");
}
