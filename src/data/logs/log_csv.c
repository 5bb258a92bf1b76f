/* Logs as CSV: a row for each event, columns for the action, its probability, the reward, and what else there is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/archive.h"
#include "base/file.h"
#include "csv_actions.h"
#include "csv_columns.h"
#include "data/values/log_time.h"
#include "log_guard.h"

typedef struct csv_log {
    log_reader head;
    log_rows rows;
    csv_columns columns;
    csv_actions actions;
    char actions_note[64]; /* describes the log's actions */
    text multi;            /* the part of the context with the actions, for multi_count of them */
    size_t multi_count;
    text context;
    text rules, rule;
    log_metric *metrics;
    size_t metric_capacity;
    bool time_noted; /* a time that cannot be read is among the remarks */
} csv_log;

/* ---- a row ---- */

static const field *field_of(const csv_log *log, csv_role which)
{
    size_t column = log->columns.roles[which];
    return column == SIZE_MAX ? NULL : &log->rows.rows.fields[column];
}

/* Advice on what to write instead of a text that is not a number; "" if it is not clear. */
static const char *number_hint(csv_role which, const field *from)
{
    static const char *const words[] = {"true", "false", "yes", "no", "t", "f", "y", "n"};
    if (which == CSV_REWARD && !from->length) return "; if empty means no reward, write 0";
    for (size_t i = 0; which == CSV_REWARD && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(from->text, words[i]) == 0) return "; write 1 or 0";
    bool digit = strpbrk(from->text, "0123456789") != NULL;
    return digit && strchr(from->text, ',') ? "; write it with a decimal point and no thousands separator" : "";
}

/* False, with a note, if the column exists but its value is not a number. Without the column, the value is
 * unchanged. */
static bool take_number(const csv_log *log, csv_role which, double *value, log_note *note)
{
    const field *from = field_of(log, which);
    if (!from || (which > CSV_REWARD && !from->length) || field_number(from, value)) return true;
    log_skip(note, LOG_INVALID, "expected a number for the %s, got '%.30s'%s", csv_role_name(which), from->text,
             number_hint(which, from));
    return false;
}

static bool take_action(const csv_log *log, log_event *event, log_note *note)
{
    const field *from = field_of(log, CSV_ACTION);
    event->action = csv_actions_find(&log->actions, from, event->count);
    if (event->action != SIZE_MAX) return true;
    if (!csv_action_name(from).length)
        log_skip(note, LOG_INVALID, "the action is empty");
    else if (log->actions.collected)
        return true; /* no event has it, so log_next has another reason to leave it out */
    else if (log->actions.names)
        log_skip(note, LOG_INVALID, "the action '%.30s' is not one of the %zu actions", from->text, event->count);
    else
        log_skip(note, LOG_INVALID, "the action '%.30s' is not one of the %zu actions, numbered from 0%s", from->text,
                 event->count, log->actions.count ? "" : " (column count)");
    return false;
}

/* Seconds since 1970. A value beyond the year 5000 has a smaller unit: milliseconds, microseconds or nanoseconds. */
static double read_time(const field *from)
{
    double seconds;
    if (log_time_parse((json_text){from->text, from->length}, &seconds)) return seconds;
    if (!from->length || !field_number(from, &seconds)) return (double)NAN;
    for (int i = 0; i < 3 && seconds > 1e11; i++) seconds /= 1000;
    return seconds;
}

static bool take_event(const csv_log *log, log_event *event, log_note *note)
{
    double count = (double)log->actions.count, skipped = 0;
    if (!take_number(log, CSV_PROBABILITY, &event->probability, note) ||
        !take_number(log, CSV_REWARD, &event->reward, note) || !take_number(log, CSV_COPIES, &event->copies, note) ||
        !take_number(log, CSV_SKIPPED, &skipped, note) || (count == 0 && !take_number(log, CSV_COUNT, &count, note)))
        return false;
    if (!(event->copies >= 1 && event->copies <= 1e9)) {
        log_skip(note, LOG_INVALID, "copies must be 1 to 1e9, got %.6g", event->copies);
        return false;
    }
    bool whole = count == floor(count);
    event->count = whole && count >= 1 && count <= CSV_ACTIONS_NUMBERED ? (size_t)count : 0;
    event->skipped = skipped != 0;
    event->actions = log->actions.names;
    if (field_of(log, CSV_TIME_COLUMN)) event->time = read_time(field_of(log, CSV_TIME_COLUMN));
    if (field_of(log, CSV_ID)) event->id = (json_text){field_of(log, CSV_ID)->text, field_of(log, CSV_ID)->length};
    return take_action(log, event, note);
}

/* ---- guardrails and metrics ---- */

static json_text text_of(const csv_log *log, csv_role which)
{
    const field *from = field_of(log, which);
    return from ? (json_text){from->text, from->length} : (json_text){0};
}

static bool take_group(const csv_log *log, log_group *group, log_note *note)
{
    const field *from = field_of(log, CSV_GROUP);
    if (!from || log_group_find((json_text){from->text, from->length}, group)) return true;
    log_skip(note, LOG_INVALID, "expected treated, control, waiting or fallback, got '%.30s'; a feature? group=none",
             from->text);
    return false;
}

static ee_status take_guard(csv_log *log, log_guard *guard, log_note *note, ee_error *error)
{
    double uniform = 0;
    if (!take_group(log, &guard->group, note) || !take_number(log, CSV_TREATED_SHARE, &guard->treated_share, note) ||
        !take_number(log, CSV_BASELINE_UNIFORM, &uniform, note))
        return EE_OK;
    guard->uniform = uniform != 0;
    guard->key = text_of(log, CSV_PERSON);
    guard->segment = text_of(log, CSV_SEGMENT);
    guard->repeats = text_of(log, CSV_REPEATS);
    json_text joined = text_of(log, CSV_RULES);
    if (!joined.length) return EE_OK;
    log->rules.length = 0;
    log->rules.error = log->rule.error = error;
    log_rules_split(joined, &log->rule, &log->rules);
    if (log->rules.status || log->rule.status) return EE_NO_MEMORY;
    if (log->rules.length > 2) guard->rules = (json_text){log->rules.bytes, log->rules.length};
    return EE_OK;
}

/* An empty field: the event does not have this metric. */
static ee_status take_metrics(csv_log *log, log_event *event, log_note *note, ee_error *error)
{
    const csv_columns *columns = &log->columns;
    size_t start = strlen(csv_metric_start);
    ee_status status = memory_grow(&log->head.owner, &log->metrics, &log->metric_capacity, columns->metric_count,
                                   sizeof *log->metrics, error);
    for (size_t i = 0; i < columns->metric_count && !status; i++) {
        size_t column = columns->metrics[i];
        const field *from = &log->rows.rows.fields[column], *name = &log->rows.columns[column];
        double value;
        if (!from->length) continue;
        if (field_number(from, &value))
            log->metrics[event->metric_count++] = (log_metric){{name->text + start, name->length - start}, value};
        else
            log_skip(note, LOG_INVALID, "expected a number for the %.40s, got '%.30s'", name->text, from->text);
    }
    event->metrics = log->metrics;
    return status;
}

/* ---- features ---- */

/* The actions: {"_tag":"red","i":{"constant":1,"id":"red"}}, as in Personalizer. */
static void make_multi(csv_log *log, size_t count)
{
    text *into = &log->multi;
    if (into->length && log->multi_count == count) return;
    into->length = 0;
    text_add(into, "\"_multi\":[");
    for (size_t i = 0; i < count; i++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%zu", i);
        json_text name = log->actions.names ? log->actions.names[i] : (json_text){digits, strlen(digits)};
        text_add(into, i ? ",{" : "{");
        if (log->actions.names) {
            text_add(into, "\"_tag\":");
            text_json(into, name);
            text_add(into, ",");
        }
        text_add(into, "\"i\":{\"constant\":1,\"id\":");
        text_json(into, name);
        text_add(into, "}}");
    }
    text_add(into, "]}");
    log->multi_count = count;
}

static ee_status make_context(csv_log *log, log_event *event, ee_error *error)
{
    text *into = &log->context;
    into->error = log->multi.error = error;
    into->length = 0;
    text_add(into, "{");
    for (size_t i = 0; i < log->columns.feature_count; i++) {
        size_t column = log->columns.features[i];
        if (!log->rows.rows.fields[column].length) continue;
        log_rows_add_member(&log->rows, column, into);
        text_add(into, ",");
    }
    make_multi(log, event->count);
    text_bytes(into, log->multi.bytes, log->multi.length);
    if (into->status || log->multi.status) return EE_NO_MEMORY;
    event->context = (json_text){into->bytes, into->length};
    return EE_OK;
}

/* Warns of the first time that cannot be read. */
static void check_time(csv_log *log, const log_event *event)
{
    const field *from = field_of(log, CSV_TIME_COLUMN);
    if (log->time_noted || !from || !from->length || !isnan(event->time)) return;
    if (!strpbrk(from->text, "0123456789")) return; /* NaT, null, ...: missing */
    log->time_noted = true;
    log_remark_add(&log->head,
                   "In line %zu the time '%.30s' cannot be read, so the order of such events is not checked. Expected "
                   "ISO 8601, or seconds since 1970.",
                   event->line, from->text);
}

static ee_status next(log_reader *head, log_event *event, log_note *note, bool *found, ee_error *error)
{
    csv_log *log = (csv_log *)head;
    *event = (log_event){.time = (double)NAN, .copies = 1};
    ee_status status = log_rows_next(&log->rows, note, found, error);
    if (status || !*found) return status;
    head->counts.lines = log_rows_lines(&log->rows);
    event->line = log->rows.rows.line;
    if (note->verdict != LOG_EVENT) return EE_OK;
    if (!take_event(log, event, note)) return EE_OK;
    check_time(log, event);
    status = take_guard(log, &event->guard, note, error);
    if (!status && log->columns.metric_count) status = take_metrics(log, event, note, error);
    if (status || note->verdict || head->options.bare) return status;
    return make_context(log, event, error);
}

/* Reads the header. On failure *out may be set. */
static ee_status create_log(byte_stream *stream, log_reader **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof(csv_log), error);
    if (status) return status;
    csv_log *log = (csv_log *)*out;
    memory *owner = &log->head.owner;
    log->head.next = next;
    log->head.stream = stream;
    log->head.seen.owner = log->actions.words.owner = log->multi.owner = log->context.owner = owner;
    log->rules.owner = log->rule.owner = owner;
    return log_rows_start(owner, stream, &log->rows, error);
}

/* ---- scanning the file ---- */

/* What a first pass over the file collects. */
typedef struct csv_scan {
    csv_actions *actions; /* NULL: they are known */
    csv_sample *sample;   /* NULL: nothing depends on it */
} csv_scan;

static ee_status scan_events(csv_log *log, const csv_scan *into, ee_error *error)
{
    log_event event;
    bool found, wanted = true;
    ee_status status = EE_OK;
    while (wanted && !(status = log_next(&log->head, &event, &found, error)) && found) {
        json_text name = csv_action_name(field_of(log, CSV_ACTION));
        if (into->actions) status = csv_actions_add(into->actions, name, error);
        if (!status && into->actions && into->actions->words.count > CSV_ACTIONS_NAMED)
            status = log_rows_fail(&log->rows, error, "more than %d different actions in column '%.20s'",
                                   CSV_ACTIONS_NAMED, log->columns.all[log->columns.roles[CSV_ACTION]].name);
        if (status) return status;
        if (into->sample && !event.skipped) csv_sample_add(into->sample, log->rows.rows.fields, name, event.reward);
        wanted = into->actions || (into->sample && !csv_sample_is_full(into->sample));
    }
    return status;
}

/* Reads the file with a second reader, so that exactly the events count that are read later. */
static ee_status scan_file(const csv_log *log, const char *path, const log_options *reading, const csv_scan *into,
                           ee_error *error)
{
    byte_stream *stream;
    log_reader *head = NULL;
    ee_status status = byte_stream_open(path, &stream, error);
    if (!status) status = create_log(stream, &head, error);
    if (status) {
        if (head)
            log_close(head);
        else
            byte_stream_close(stream);
        return status;
    }
    csv_log *again = (csv_log *)head;
    again->head.options = *reading;
    again->head.options.bare = true;
    again->columns = log->columns;
    again->actions = into->actions ? (csv_actions){.any = true, .count = 1} : log->actions; /* borrowed */
    status = scan_events(again, into, error);
    log_close(&again->head);
    return status;
}

/* ---- opening ---- */

/* "red+green+blue", or lines. */
static ee_status take_names(csv_log *log, const char *list, const char *separators, ee_error *error)
{
    if (!json_is_utf8((json_text){list, strlen(list)}))
        return log_rows_fail(&log->rows, error, "the names of the actions are not UTF-8");
    ee_status status = EE_OK;
    for (const char *at = list, *next; at && !status; at = next) {
        field name = {at, strcspn(at, separators)};
        next = at[name.length] ? at + name.length + 1 : NULL;
        json_text one = csv_action_name(&name);
        if (one.length) status = csv_actions_add(&log->actions, one, error);
    }
    if (!status && !log->actions.words.count)
        return log_rows_fail(&log->rows, error, "expected names of actions (option actions=), got none");
    return status ? status : csv_actions_order(&log->actions, error);
}

/* A file with a name in each line. Its content is part of the log's fingerprint. */
static ee_status take_listed(csv_log *log, const char *path, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    log->head.fingerprint = archive_checksum(bytes, size);
    if (memchr(bytes, '\0', size))
        status = log_rows_fail(&log->rows, error, "the names of the actions in %.60s contain a NUL byte", path);
    else
        status = take_names(log, (const char *)bytes, "\r\n", error);
    memory_free(bytes);
    return status;
}

/* The actions that the options or a column give; *collect: the names in the file. */
static ee_status take_actions(csv_log *log, const char *asked, bool *collect, ee_error *error)
{
    field whole = {asked, strlen(asked)};
    size_t number = csv_whole_number(&whole);
    *collect = false;
    if (number != SIZE_MAX) {
        if (number < 1 || number > CSV_ACTIONS_NUMBERED)
            return log_rows_fail(&log->rows, error, "actions must be 1 to %d", CSV_ACTIONS_NUMBERED);
        log->actions.count = number;
        return EE_OK;
    }
    if (asked[0] == '@') return take_listed(log, asked + 1, error);
    if (strcmp(asked, "auto") != 0) return take_names(log, asked, "+", error);
    *collect = log->actions.collected = log->columns.roles[CSV_COUNT] == SIZE_MAX;
    return EE_OK;
}

static bool differ_in_case(const json_text *a, const json_text *b)
{
    return a->length == b->length && strncasecmp(a->bytes, b->bytes, a->length) == 0;
}

/* By letters in any case, then by bytes. */
static int compare_folded(const void *left, const void *right)
{
    const json_text *a = left, *b = right;
    size_t common = a->length < b->length ? a->length : b->length;
    int order = strncasecmp(a->bytes, b->bytes, common);
    if (!order) order = (a->length > b->length) - (a->length < b->length);
    return order ? order : memcmp(a->bytes, b->bytes, common);
}

/* Warns of actions whose names differ only in case: they are probably the same. */
static ee_status remark_cases(csv_log *log, ee_error *error)
{
    json_text *sorted;
    size_t count = log->actions.count, pairs = 0, first = 0;
    if (count < 2) return EE_OK;
    ee_status status = memory_create(NULL, &sorted, count, sizeof *sorted, error);
    if (status) return status;
    memcpy(sorted, log->actions.names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_folded);
    for (size_t i = 0; i + 1 < count; i++)
        if (differ_in_case(&sorted[i], &sorted[i + 1]) && !pairs++) first = i;
    if (pairs) {
        const json_text *a = &sorted[first], *b = a + 1;
        log_remark_add(&log->head,
                       "Actions '%.*s' and '%.*s'%s differ only in case and count as different actions. If they are "
                       "the same, every number is wrong: write the names in one way.",
                       a->length < 40 ? (int)a->length : 40, a->bytes, b->length < 40 ? (int)b->length : 40, b->bytes,
                       pairs > 1 ? " (and others)" : "");
    }
    memory_free(sorted);
    return EE_OK;
}

/* Reads the file once for the names of its actions and for a sample that shows which columns are context. */
static ee_status scan_context_and_actions(csv_log *log, const char *path, const log_options *reading, bool collect,
                                          ee_error *error)
{
    csv_scan scan = {.actions = collect ? &log->actions : NULL};
    bool any = csv_columns_any(&log->columns), repeats = byte_stream_can_repeat(log->head.stream);
    if (collect && !repeats)
        return log_rows_fail(&log->rows, error,
                             "a stream cannot be read twice; add actions=NUMBER or actions=NAME+...");
    if (any && !log->columns.given && !repeats)
        return log_rows_fail(&log->rows, error,
                             "a stream cannot be read twice; add context=COLUMN+..., context=all or context=none");
    ee_status status = any && repeats ? csv_sample_create(log->rows.width, &scan.sample, error) : EE_OK;
    if (!status && (collect || scan.sample)) status = scan_file(log, path, reading, &scan, error);
    if (!status && collect) status = csv_actions_order(&log->actions, error);
    if (!status && collect) status = remark_cases(log, error);
    if (!status) status = csv_columns_judge(&log->columns, &log->head, scan.sample, error);
    csv_sample_free(scan.sample);
    return status;
}

/* For log_columns_used. */
static void note_actions(csv_log *log)
{
    size_t size = sizeof log->actions_note, count = log->actions.count;
    if (log->actions.names)
        snprintf(log->actions_note, size, "%zu name%s", count, count == 1 ? "" : "s");
    else if (count)
        snprintf(log->actions_note, size, "numbers from 0 to %zu", count - 1);
    else
        snprintf(log->actions_note, size, "numbers from 0, below the count");
    log->columns.all[log->columns.roles[CSV_ACTION]].reason = log->actions_note;
}

static ee_status prepare(csv_log *log, const char *path, const char *options, const log_options *reading,
                         ee_error *error)
{
    csv_options asked;
    bool collect;
    ee_status status = csv_options_read(options, &asked, error);
    if (!status) status = csv_columns_find(&log->head, &log->rows, &asked, &log->columns, error);
    if (!status) status = take_actions(log, asked.actions, &collect, error);
    if (!status) status = scan_context_and_actions(log, path, reading, collect, error);
    if (!status) note_actions(log);
    return status;
}

ee_status log_open_csv(byte_stream *stream, const char *path, const char *options, const log_options *reading,
                       log_reader **out, ee_error *error)
{
    ee_status status = create_log(stream, out, error);
    return status ? status : prepare((csv_log *)*out, path, options, reading, error);
}
