/* The Open Bandit Dataset (Saito, Aihara, Matsutani, Narita: "Open Bandit Dataset and Pipeline", 2021): what a shop
 * showed in three places of a page, and the clicks. A folder has NAME.csv, a row for each item that was shown, and
 * item_context.csv, the features of the items.
 *
 * The context that is made of a row: the user's features and the place, each an indicator; for each item its own
 * features and the user's affinity to it. Only the probability of the item that was shown is known. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "data/files/byte_sink.h"
#include "data/values/log_time.h"
#include "data/values/text.h"
#include "log_rows.h"

static const char items_name[] = "item_context.csv";

enum { TIMESTAMP, ITEM, POSITION, CLICK, PROPENSITY, NAMED };

static const char *const column_names[NAMED] = {"timestamp", "item_id", "position", "click", "propensity_score"};

typedef struct bandit_log {
    log_reader head;
    log_rows rows;
    size_t columns[NAMED];
    bool *of_user;      /* (rows.width) the column is a feature of the user */
    size_t count;       /* items */
    size_t *affinities; /* (count) their columns; SIZE_MAX: none */
    text *items;        /* (count) what does not change of each item's JSON */
    text context;
} bandit_log;

/* ---- the items ---- */

/* {"i":{"id":"3","item_feature_0":-0.7, ...} without its end. */
static void describe_item(text *into, const log_rows *rows, size_t id_column)
{
    text_add(into, "{\"i\":{\"id\":\"%s\"", rows->rows.fields[id_column].text);
    for (size_t i = 0; i < rows->width; i++) {
        if (i == id_column || !rows->columns[i].length || !rows->rows.fields[i].length) continue;
        text_add(into, ",");
        log_rows_add_member(rows, i, into);
    }
}

static ee_status read_item(bandit_log *log, const log_rows *rows, size_t id_column, size_t *capacity, ee_error *error)
{
    enum { ITEMS_MOST = 1 << 20 };
    double number;
    const field *id = &rows->rows.fields[id_column];
    bool whole = field_number(id, &number) && number >= 0 && number < ITEMS_MOST && number == floor(number);
    if (!whole || number != (double)log->count)
        return log_rows_fail(rows, error, "line %zu: item_id must be %zu, counting from 0", rows->rows.line,
                             log->count);
    ee_status status = memory_grow(&log->head.owner, &log->items, capacity, log->count + 1, sizeof *log->items, error);
    if (status) return status;
    text *item = &log->items[log->count++];
    *item = (text){.owner = &log->head.owner, .error = error};
    describe_item(item, rows, id_column);
    return item->status;
}

static ee_status read_items(bandit_log *log, log_rows *rows, ee_error *error)
{
    size_t capacity = 0, id_column = log_rows_find(rows, "item_id");
    if (id_column == SIZE_MAX) return log_rows_fail(rows, error, "there is no column 'item_id'");
    for (;;) {
        bool found;
        log_note note = {LOG_EVENT, ""};
        ee_status status = log_rows_next(rows, &note, &found, error);
        if (status || !found) return status;
        if (note.verdict == LOG_BLANK) continue;
        if (note.verdict != LOG_EVENT)
            return log_rows_fail(rows, error, "line %zu: %.60s", rows->rows.line, note.reason);
        status = read_item(log, rows, id_column, &capacity, error);
        if (status) return status;
    }
}

static ee_status open_items(bandit_log *log, const char *folder, ee_error *error)
{
    char *path;
    byte_stream *stream = NULL;
    log_rows rows;
    ee_status status = file_join(folder, items_name, &path, error);
    if (status) return status;
    status = byte_stream_open(path, &stream, error);
    memory_free(path);
    if (status) return status;
    log->head.fingerprint = byte_stream_fingerprint(stream);
    status = log_rows_start(&log->head.owner, stream, &rows, error);
    if (!status) status = read_items(log, &rows, error);
    if (!status && !log->count) status = log_rows_fail(&rows, error, "expected at least one item");
    byte_stream_close(stream);
    return status;
}

/* ---- the rows ---- */

/* The only file of the folder besides the items that ends in .csv, compressed or not. */
static ee_status find_file(const char *folder, char **path, ee_error *error)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return status_fail(error, EE_FILE_ERROR, "file: could not open %s: %s", file_tail(folder), strerror(errno));
    char name[256] = "";
    size_t found = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (!byte_sink_is_named(entry->d_name, ".csv")) continue;
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, items_name, sizeof items_name - 1) == 0) continue;
        snprintf(name, sizeof name, "%s", entry->d_name);
        found++;
    }
    closedir(entries);
    if (found == 1) return file_join(folder, name, path, error);
    return status_fail(error, EE_BAD_INPUT, "%s: expected one .csv file next to %s, got %zu", file_tail(folder),
                       items_name, found);
}

static ee_status find_columns(bandit_log *log, ee_error *error)
{
    memory *owner = &log->head.owner;
    for (size_t i = 0; i < NAMED; i++) {
        log->columns[i] = log_rows_find(&log->rows, column_names[i]);
        if (log->columns[i] == SIZE_MAX)
            return log_rows_fail(&log->rows, error, "there is no column '%s'", column_names[i]);
    }
    ee_status status = memory_create(owner, &log->affinities, log->count, sizeof *log->affinities, error);
    if (!status) status = memory_create(owner, &log->of_user, log->rows.width, sizeof *log->of_user, error);
    if (status) return status;
    for (size_t i = 0; i < log->rows.width; i++)
        log->of_user[i] = strncmp(log->rows.columns[i].text, "user_feature_", strlen("user_feature_")) == 0;
    for (size_t i = 0; i < log->count; i++) {
        char name[48];
        snprintf(name, sizeof name, "user-item_affinity_%zu", i);
        log->affinities[i] = log_rows_find(&log->rows, name);
    }
    return EE_OK;
}

static void add_pair(text *into, const field *name, const field *value)
{
    text_json(into, (json_text){name->text, name->length});
    text_bytes(into, ":", 1);
    text_json(into, (json_text){value->text, value->length});
    text_bytes(into, ",", 1);
}

static ee_status make_context(bandit_log *log, log_event *event, ee_error *error)
{
    text *into = &log->context;
    const field *fields = log->rows.rows.fields, *position = &fields[log->columns[POSITION]];
    into->error = error;
    into->length = 0;
    text_add(into, "{\"u\":{");
    for (size_t i = 0; i < log->rows.width; i++)
        if (log->of_user[i] && fields[i].length) add_pair(into, &log->rows.columns[i], &fields[i]);
    text_add(into, "\"position\":");
    text_json(into, (json_text){position->text, position->length});
    text_add(into, "},\"_multi\":[");
    for (size_t i = 0; i < log->count; i++) {
        const field *affinity = log->affinities[i] == SIZE_MAX ? NULL : &fields[log->affinities[i]];
        double number = 0;
        if (i) text_bytes(into, ",", 1);
        text_bytes(into, log->items[i].bytes, log->items[i].length);
        if (affinity && field_number(affinity, &number) && number != 0) {
            text_add(into, ",\"affinity\":");
            text_double(into, number);
        }
        text_bytes(into, "}}", 2);
    }
    text_add(into, "]}");
    event->context = (json_text){into->bytes, into->length};
    return into->status;
}

static void take_row(const bandit_log *log, log_event *event, log_note *note)
{
    const field *fields = log->rows.rows.fields, *time = &fields[log->columns[TIMESTAMP]];
    double item;
    event->count = log->count;
    if (!log_time_parse((json_text){time->text, time->length}, &event->time)) event->time = (double)NAN;
    if (!field_number(&fields[log->columns[ITEM]], &item) || !(item >= 0 && item < (double)log->count) ||
        item != floor(item))
        log_skip(note, LOG_INVALID, "item_id '%.20s' is not one of the %zu items", fields[log->columns[ITEM]].text,
                 log->count);
    else if (!field_number(&fields[log->columns[PROPENSITY]], &event->probability))
        log_skip(note, LOG_INVALID, "propensity_score must be a number");
    else if (!field_number(&fields[log->columns[CLICK]], &event->reward))
        log_skip(note, LOG_INVALID, "click must be a number");
    else
        event->action = (size_t)item;
}

static ee_status next(log_reader *head, log_event *event, log_note *note, bool *found, ee_error *error)
{
    bandit_log *log = (bandit_log *)head;
    *event = (log_event){.time = (double)NAN, .copies = 1};
    ee_status status = log_rows_next(&log->rows, note, found, error);
    if (status || !*found) return status;
    head->counts.lines = log_rows_lines(&log->rows);
    event->line = log->rows.rows.line;
    if (note->verdict == LOG_EVENT) take_row(log, event, note);
    return note->verdict == LOG_EVENT && !head->options.bare ? make_context(log, event, error) : EE_OK;
}

ee_status log_open_bandit(const char *folder, log_reader **out, ee_error *error)
{
    char *path = NULL;
    ee_status status = memory_create_owner(NULL, out, sizeof(bandit_log), error);
    if (status) return status;
    bandit_log *log = (bandit_log *)*out;
    log->head.next = next;
    log->context.owner = &log->head.owner;
    status = open_items(log, folder, error);
    if (!status) status = find_file(folder, &path, error);
    if (!status) status = byte_stream_open(path, &log->head.stream, error);
    if (!status) status = log_rows_start(&log->head.owner, log->head.stream, &log->rows, error);
    if (!status) status = find_columns(log, error);
    memory_free(path);
    return status;
}
