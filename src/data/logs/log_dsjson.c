/* A log whose lines are dsjson. */
#include <string.h>

#include "dsjson.h"

typedef struct dsjson_log {
    log_reader head;
    dsjson *room;
} dsjson_log;

/* Size of the byte order mark that some programs write before UTF-8. */
static size_t mark_size(const char *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static ee_status next(log_reader *head, log_event *event, log_note *note, bool *found, ee_error *error)
{
    dsjson_log *log = (dsjson_log *)head;
    byte_line line;
    ee_status status = byte_stream_line(head->stream, false, &line, found, error);
    if (status || !*found) return status;
    size_t mark = head->counts.lines++ ? 0 : mark_size(line.bytes, line.size);
    status = dsjson_parse(log->room, line.bytes + mark, line.size - mark, &head->options, event, note, error);
    if (status) return status;
    if (note->verdict == LOG_BROKEN && !line.ended) log_skip(note, LOG_BROKEN, "the log ends inside this line");
    if (note->verdict == LOG_EVENT && event->arms.dim != head->dim)
        log_skip(note, LOG_INVALID, "got vectors of %zu numbers, expected %zu as in the first line", event->arms.dim,
                 head->dim);
    event->line = head->counts.lines;
    return EE_OK;
}

/* Looks ahead for the dimension of the vectors in the first event; 0 if there are none. Lines before it may be foreign
 * or truncated. */
static ee_status find_dim(dsjson_log *log, ee_error *error)
{
    enum { LOOKED_AT = 1 << 16 }; /* lines that begin in the first bytes */
    log_options usual = log_options_usual();
    size_t wanted = LOOKED_AT, from = 0;
    while (from < LOOKED_AT) {
        char *bytes;
        size_t size;
        ee_status status = byte_stream_peek(log->head.stream, wanted, &bytes, &size, error);
        if (status) return status;
        const char *end = memchr(bytes + from, '\n', size - from);
        if (!end && size >= wanted && wanted < BYTE_STREAM_MOST) {
            wanted *= 2;
            continue;
        }
        log_event event;
        log_note note;
        size_t length = end ? (size_t)(end - bytes) - from : size - from, mark = from ? 0 : mark_size(bytes, length);
        status = dsjson_parse(log->room, bytes + from + mark, length - mark, &usual, &event, &note, error);
        if (!status && note.verdict == LOG_EVENT) log->head.dim = event.arms.dim;
        if (status || note.verdict == LOG_EVENT || !end) return status;
        from += length + 1;
    }
    return EE_OK;
}

ee_status log_open_dsjson(byte_stream *stream, log_reader **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof(dsjson_log), error);
    if (status) return status;
    dsjson_log *log = (dsjson_log *)*out;
    log->head.next = next;
    log->head.stream = stream;
    status = dsjson_create(&log->head.owner, &log->room, error);
    return status ? status : find_dim(log, error);
}
