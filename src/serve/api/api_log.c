/* log: a stream of lines, read in parts as fast as the client accepts them. */
#include <math.h>
#include <stdint.h>

#include "call.h"
#include "data/log_time.h"
#include "handlers.h"
#include "serve/log/log_export.h"

/* Streams at a time: each reads the disk in a thread that serves others too, a little at a time. */
enum { MOST_STREAMS = 8, PIECE = 64 << 10 };

typedef struct log_stream {
    service *owner;
    log_export *lines;
    text piece;
    size_t sent; /* of the piece */
    bool over;
} log_stream;

static void stream_release(void *context)
{
    log_stream *self = context;
    atomic_fetch_sub(&self->owner->log_streams, 1);
    log_export_free(self->lines);
    memory_free(self->piece.bytes);
    memory_free(self);
}

static long stream_read(void *context, char *bytes, size_t capacity)
{
    log_stream *self = context;
    ee_error error;
    while (self->sent == self->piece.length && !self->over) {
        self->piece.length = self->sent = 0;
        if (log_export_fill(self->lines, &self->piece, PIECE, &self->over, &error)) {
            server_log_write(&self->owner->log, LOG_LEVEL_ERROR, NULL, "log export failed before its end: %s",
                             error.message);
            return -1;
        }
    }
    size_t left = self->piece.length - self->sent, size = left < capacity ? left : capacity;
    if (size) memcpy(bytes, self->piece.bytes + self->sent, size);
    self->sent += size;
    return (long)size;
}

/* A moment of the query as microseconds; false, and answered, where it is none. */
static bool read_time(call *self, const char *name, int64_t *out)
{
    const char *words = http_query(self->exchange, name);
    double seconds;
    if (!words) return true;
    if (log_time_parse((json_text){words, strlen(words)}, &seconds)) {
        *out = (int64_t)llround(seconds * 1e6);
        return true;
    }
    http_refuse(self->exchange, 400, call_code(400), "%s must be a time such as 2026-11-16T10:00:00Z, got '%.60s'",
                name, words);
    return false;
}

static ee_status open_stream(call *self, const log_range *range, log_stream **out, ee_error *error)
{
    store_reader *reader = NULL;
    ee_status status = memory_create(NULL, out, 1, sizeof **out, error);
    if (status) return status;
    (*out)->owner = self->owner;
    status = store_reader_create(self->owner->store, &reader, error);
    if (!status) status = log_export_create(reader, served_bandit_number(self->bandit), range, &(*out)->lines, error);
    if (status) memory_free(*out);
    return status;
}

void api_log(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    log_range range = {.from = INT64_MIN, .until = INT64_MAX, .mode = served_bandit_settings(self->bandit).mode};
    log_stream *stream;
    ee_error error;
    static const char *const known[] = {"from", "until", "after", "limit"};
    if (!call_check_query(self, known, sizeof known / sizeof *known)) return;
    if (!call_query_number(self, "after", 0, &range.after) || !call_query_number(self, "limit", 1, &range.limit) ||
        !read_time(self, "from", &range.from) || !read_time(self, "until", &range.until))
        return;
    if (atomic_fetch_add(&self->owner->log_streams, 1) >= MOST_STREAMS) {
        atomic_fetch_sub(&self->owner->log_streams, 1);
        call_refuse_for(self->exchange, 503, 1, "%d logs are being read, the maximum; try again", MOST_STREAMS);
        return;
    }
    if (open_stream(self, &range, &stream, &error)) {
        atomic_fetch_sub(&self->owner->log_streams, 1);
        call_refuse(self, &error);
        return;
    }
    self->exchange->content_type = "application/x-ndjson";
    http_stream(self->exchange, 200, stream_read, stream_release, stream);
}
