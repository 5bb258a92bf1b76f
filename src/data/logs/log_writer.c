/* Logs that are written: the event in the format of the file's name. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "data/files/byte_sink.h"
#include "data/values/log_time.h"
#include "dsjson.h"
#include "log_compact.h"

struct log_writer {
    memory owner;
    log_format format;
    size_t dim;
    byte_sink *sink;
    text line;      /* of the event, for the formats that are text */
    archive record; /* of the event, for the one that is not */
};

static const struct {
    const char *ending;
    log_format format;
} endings[] = {{".dsjson", LOG_DSJSON}, {".json", LOG_DSJSON}, {".eelog", LOG_COMPACT}, {".csv", LOG_CSV}};

static ee_status find_format(const char *path, log_format *format, ee_error *error)
{
    *format = LOG_DSJSON;
    if (strcmp(path, "-") == 0) return EE_OK;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        *format = endings[i].format;
        if (byte_sink_is_named(path, endings[i].ending)) return EE_OK;
    }
    return status_fail(
        error, EE_BAD_OPTION,
        "log: the file name must end in .dsjson, .json, .eelog or .csv (optional: .gz or .zst after it), got '%s'",
        file_tail(path));
}

/* ---- CSV ---- */

static void add_field(text *into, json_text value)
{
    bool quoted = false;
    for (size_t i = 0; i < value.length && !quoted; i++) quoted = memchr(",\"\r\n", value.bytes[i], 4) != NULL;
    if (quoted) text_add(into, "\"");
    for (size_t i = 0; i < value.length; i++) {
        if (value.bytes[i] == '"') text_add(into, "\"");
        text_bytes(into, value.bytes + i, 1);
    }
    if (quoted) text_add(into, "\"");
}

static void format_csv(text *into, const log_event *event)
{
    char time[LOG_TIME_SIZE] = "";
    if (!isnan(event->time)) log_time_format(event->time, time);
    add_field(into, event->id);
    text_add(into, ",%s,%zu,%zu,", time, event->count, event->action);
    if (event->actions) add_field(into, event->actions[event->action]);
    text_add(into, ",");
    text_double(into, event->probability);
    text_add(into, ",");
    text_double(into, event->reward);
    text_add(into, ",");
    text_double(into, event->copies);
    text_add(into, ",%d\n", event->skipped);
}

/* ---- any format ---- */

/* Writes the line or the record. */
static ee_status write_out(log_writer *log, ee_error *error)
{
    text *line = &log->line;
    archive *record = &log->record;
    ee_status status = line->status ? line->status : record->status;
    if (!status) status = byte_sink_write(log->sink, line->bytes, line->length, error);
    if (!status) status = byte_sink_write(log->sink, record->bytes, record->size, error);
    line->length = record->size = 0;
    return status;
}

ee_status log_create(const char *path, size_t dim, log_writer **out, ee_error *error)
{
    log_format format;
    log_writer *log;
    *out = NULL;
    ee_status status = find_format(path, &format, error);
    if (!status) status = memory_create_owner(NULL, &log, sizeof *log, error);
    if (status) return status;
    log->format = format;
    log->dim = dim;
    log->line = text_start(error);
    log->record = archive_writer(error);
    status = byte_sink_open(path, &log->sink, error);
    if (!status && format == LOG_COMPACT) compact_write_header(&log->record, dim);
    if (!status && format == LOG_CSV)
        text_add(&log->line, "id,time,count,action,name,probability,reward,copies,skipped\n");
    if (!status) status = write_out(log, error);
    if (status)
        log_end(log, false, NULL);
    else
        *out = log;
    return status;
}

ee_status log_write(log_writer *log, const log_event *event, ee_error *error)
{
    if (event->arms.count && event->arms.dim != log->dim)
        return status_fail(error, EE_BAD_INPUT, "log: an event has arms of %zu features, the others have %zu",
                           event->arms.dim, log->dim);
    log->line.error = log->record.error = error;
    if (log->format == LOG_COMPACT)
        compact_write(&log->record, event);
    else if (log->format == LOG_CSV)
        format_csv(&log->line, event);
    else
        dsjson_format(&log->line, event);
    return write_out(log, error);
}

ee_status log_end(log_writer *log, bool keep, ee_error *error)
{
    if (!log) return EE_OK;
    ee_status status = byte_sink_end(log->sink, keep, error);
    memory_free(log->line.bytes);
    memory_free(log->record.bytes);
    memory_release(&log->owner);
    return status;
}
