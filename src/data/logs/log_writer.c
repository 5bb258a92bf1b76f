/* Logs that are written: the event in the format of the file's name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "csv_columns.h"
#include "data/files/byte_sink.h"
#include "data/values/log_time.h"
#include "data/values/vocabulary.h"
#include "dsjson.h"
#include "log_compact.h"
#include "log_guard.h"

struct log_writer {
    memory owner;
    log_format format;
    size_t dim;
    byte_sink *sink;
    text line;      /* of the event, for the formats that are text */
    archive record; /* of the event, for the one that is not */

    /* CSV only */
    bool named;         /* the header is written */
    bool guard;         /* there are columns for guardrails */
    vocabulary metrics; /* that have a column */
    text joined;        /* rules of the event */
    json_room room;
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
    text_add(into, ",%d", event->skipped);
}

static ee_status format_guard(log_writer *log, const log_guard *guard, ee_error *error)
{
    text *into = &log->line;
    log->joined.length = 0;
    ee_status status = guard->rules.length ? log_rules_join(guard->rules, &log->room, &log->joined, error) : EE_OK;
    text_add(into, ",%s,", log_group_name(guard->group));
    if (guard->group) text_double(into, guard->treated_share);
    text_add(into, ",%d,", guard->uniform);
    add_field(into, guard->key);
    text_add(into, ",");
    add_field(into, guard->segment);
    text_add(into, ",");
    add_field(into, (json_text){log->joined.bytes, log->joined.length});
    text_add(into, ",");
    add_field(into, guard->repeats);
    return status;
}

static void format_metrics(log_writer *log, const log_event *event)
{
    for (size_t i = 0; i < log->metrics.count; i++) {
        text_add(&log->line, ",");
        for (size_t k = 0; k < event->metric_count; k++) {
            json_text name = event->metrics[k].name;
            if (vocabulary_find(&log->metrics, name.bytes, name.length) == i)
                text_double(&log->line, event->metrics[k].value);
        }
    }
}

static void format_names(log_writer *log)
{
    text *into = &log->line;
    log->named = true;
    text_add(into, "id,time,count,action,name,probability,reward,copies,skipped");
    if (log->guard) text_add(into, ",group,treated_share,baseline_uniform,key,segment,rules,repeats");
    for (size_t i = 0; i < log->metrics.count; i++) {
        const vocabulary_word *word = &log->metrics.words[i];
        char name[sizeof "metric." + LOG_METRIC_NAME];
        int length = snprintf(name, sizeof name, "%s%.*s", csv_metric_start, (int)word->length,
                              log->metrics.letters + word->start);
        text_add(into, ",");
        add_field(into, (json_text){name, (size_t)length});
    }
    text_add(into, "\n");
}

bool log_names_columns(const log_writer *log)
{
    return log->format == LOG_CSV;
}

ee_status log_expect(log_writer *log, const log_event *event, ee_error *error)
{
    size_t number;
    ee_status status = EE_OK;
    log->guard = log->guard || log_guard_is_used(&event->guard);
    for (size_t i = 0; i < event->metric_count && !status; i++) {
        json_text name = event->metrics[i].name;
        status = vocabulary_add(&log->metrics, name.bytes, name.length, &number, error);
    }
    return status;
}

/* Whether all that the event has fits into the columns. */
static ee_status check_columns(const log_writer *log, const log_event *event, ee_error *error)
{
    static const char advice[] = "write .dsjson or .eelog, or read the log from a file";
    if (log_guard_is_used(&event->guard) && !log->guard)
        return status_fail(error, EE_BAD_INPUT,
                           "log: line %zu has a group, key, segment, rules or repeats, which %s; %s", event->line,
                           "the first event did not have", advice);
    for (size_t i = 0; i < event->metric_count; i++) {
        json_text name = event->metrics[i].name;
        if (vocabulary_find(&log->metrics, name.bytes, name.length) == log->metrics.count)
            return status_fail(error, EE_BAD_INPUT, "log: line %zu has the metric '%.*s', which %s; %s", event->line,
                               (int)name.length, name.bytes, "the first event did not have", advice);
    }
    return EE_OK;
}

static ee_status write_csv(log_writer *log, const log_event *event, ee_error *error)
{
    bool expected = log->guard || log->metrics.count;
    ee_status status = log->named || expected ? EE_OK : log_expect(log, event, error);
    if (!status) status = check_columns(log, event, error);
    if (status) return status;
    if (!log->named) format_names(log);
    format_csv(&log->line, event);
    if (log->guard) status = format_guard(log, &event->guard, error);
    format_metrics(log, event);
    text_add(&log->line, "\n");
    return status;
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
    log->metrics.owner = log->joined.owner = log->room.owner = &log->owner;
    status = byte_sink_open(path, &log->sink, error);
    if (!status && format == LOG_COMPACT) compact_write_header(&log->record, dim);
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
    log->line.error = log->record.error = log->joined.error = error;
    ee_status status = EE_OK;
    if (log->format == LOG_COMPACT)
        compact_write(&log->record, event);
    else if (log->format == LOG_CSV)
        status = write_csv(log, event, error);
    else
        dsjson_format(&log->line, event);
    return status ? status : write_out(log, error);
}

ee_status log_end(log_writer *log, bool keep, ee_error *error)
{
    if (!log) return EE_OK;
    ee_status status = EE_OK;
    if (keep && log->format == LOG_CSV && !log->named) {
        format_names(log); /* of a log without events */
        status = write_out(log, error);
    }
    ee_status ended = byte_sink_end(log->sink, keep && !status, status ? NULL : error);
    if (!status) status = ended;
    memory_free(log->line.bytes);
    memory_free(log->record.bytes);
    memory_release(&log->owner);
    return status;
}
