/* Logs as CSV: a row for each event, columns for the action, its probability, the reward, and what else there is. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_rows.h"
#include "log_time.h"
#include "text.h"

/* The roles of columns, with their usual names. */
typedef enum role { ACTION, PROBABILITY, REWARD, TIME, ID, COUNT, COPIES, SKIPPED, ROLES } role;

typedef struct csv_options {
    option_text columns[ROLES];
    option_text context;
    option_text actions;
} csv_options;

#define ROLE_ROW(role_, name_, meaning_)                                                                               \
    OPTION_ROW_TEXT(csv_options, columns[role_], name_, "auto", "auto|COLUMN", meaning_)

static const option entries[] = {
    ROLE_ROW(ACTION, "action", "the column with the chosen action"),
    ROLE_ROW(PROBABILITY, "probability", "the column with its probability"),
    ROLE_ROW(REWARD, "reward", "the column with the reward"),
    ROLE_ROW(TIME, "time", "the column with the time (ISO 8601, or seconds since 1970)"),
    ROLE_ROW(ID, "id", "the column with the event's id"),
    ROLE_ROW(COUNT, "count", "the column with the number of available actions"),
    ROLE_ROW(COPIES, "copies", "the column with the number of events that a row represents"),
    ROLE_ROW(SKIPPED, "skipped", "the column with 1 for decisions that were never shown"),
    OPTION_ROW_TEXT(csv_options, context, "context", "none", "none|all|COLUMN+...",
                    "columns with context features; all: every column without another role"),
    OPTION_ROW_TEXT(csv_options, actions, "actions", "auto", "auto|NUMBER|NAME+...",
                    "number of actions (numbered from 0) or their names; auto: the ones in the file"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("csv", groups, csv_options, NULL);

static const char *const usual_names[ROLES][9] = {
    [ACTION] = {"action", "action_id", "arm", "arm_id", "item_id", "item", "a"},
    [PROBABILITY] = {"probability", "propensity", "propensity_score", "pscore", "action_prob", "prob", "p"},
    [REWARD] = {"reward", "click", "rewards", "outcome", "y", "r"},
    [TIME] = {"time", "timestamp", "datetime", "date"},
    [ID] = {"id", "event_id", "eventid"},
    [COUNT] = {"count", "n_actions"},
    [COPIES] = {"copies"},
    [SKIPPED] = {"skipped"},
};

/* Actions that are looked for in a file: far more are no actions, but ids of something. And that can be said to be
 * there. */
enum { ACTIONS_MOST = 10000, COUNT_MOST = 100000 };

typedef struct csv_log {
    log_reader head;
    log_rows rows;
    size_t columns[ROLES]; /* SIZE_MAX: none */
    bool *in_context;      /* (rows.width) */
    size_t count;          /* of the actions; 0: given by each row */
    json_text *names;      /* (count) sorted; NULL if they are numbers */
    text multi;            /* the actions' part of the context, for so many of them: */
    size_t multi_count;
    text context;
} csv_log;

/* ---- columns ---- */

static ee_status find_column(csv_log *log, role which, const char *wanted, ee_error *error)
{
    const char *name = entries[which].name;
    size_t *column = &log->columns[which];
    *column = SIZE_MAX;
    if (strcmp(wanted, "auto") == 0) {
        for (size_t i = 0; usual_names[which][i] && *column == SIZE_MAX; i++)
            *column = log_rows_find(&log->rows, usual_names[which][i]);
        if (*column != SIZE_MAX || which > REWARD) return EE_OK;
        return log_rows_fail(&log->rows, error, "found no column for the %s; name it: csv:FILE,%s=COLUMN", name, name);
    }
    *column = log_rows_find(&log->rows, wanted);
    if (*column != SIZE_MAX) return EE_OK;
    return log_rows_fail(&log->rows, error, "there is no column '%.30s' (option %s=)", wanted, name);
}

static ee_status find_context(csv_log *log, const char *list, ee_error *error)
{
    ee_status status =
        memory_create(&log->head.owner, &log->in_context, log->rows.width, sizeof *log->in_context, error);
    if (status || strcmp(list, "none") == 0) return status;
    if (strcmp(list, "all") == 0) {
        for (size_t i = 0; i < log->rows.width; i++) log->in_context[i] = log->rows.columns[i].length > 0;
        for (role i = 0; i < ROLES; i++)
            if (log->columns[i] != SIZE_MAX) log->in_context[log->columns[i]] = false;
        return EE_OK;
    }
    option_text copy;
    memcpy(copy, list, sizeof copy);
    for (char *word = copy, *plus; word; word = plus) {
        plus = strchr(word, '+');
        if (plus) *plus++ = '\0';
        size_t column = log_rows_find(&log->rows, word);
        if (column == SIZE_MAX)
            return log_rows_fail(&log->rows, error, "there is no column '%.30s' (option context=)", word);
        log->in_context[column] = true;
    }
    return EE_OK;
}

/* Names the columns that could be context, if the options do not say which are. */
static void remark_context(csv_log *log, const char *options)
{
    char *into = log->head.remark, list[80] = "", joined[80] = "";
    size_t unused = 0, shown = 0;
    if (strstr(options, "context=")) return;
    for (size_t i = 0; i < log->rows.width; i++) {
        const field *name = &log->rows.columns[i];
        bool used = !name->length || i == log_rows_find(&log->rows, "name"); /* of the action, in CSV from eenet */
        for (role k = 0; k < ROLES; k++) used = used || log->columns[k] == i;
        if (used) continue;
        size_t room = sizeof list - strlen(list);
        unused++;
        if (shown + 1 < unused || name->length + 3 > room || !json_is_utf8((json_text){name->text, name->length}))
            continue;
        shown++;
        snprintf(list + strlen(list), room, "%s%.*s", shown > 1 ? ", " : "", (int)name->length, name->text);
        snprintf(joined + strlen(joined), room, "%s%.*s", shown > 1 ? "+" : "", (int)name->length, name->text);
    }
    if (!unused) return;
    if (shown < unused)
        snprintf(into, sizeof log->head.remark,
                 "No context columns are used (%zu columns are unused); add context=all, or context=COLUMN+COLUMN.",
                 unused);
    else
        snprintf(into, sizeof log->head.remark, "No context columns are used (unused columns: %s); add context=%s.",
                 list, joined);
}

/* ---- the actions ---- */

static int compare_names(const void *a, const void *b)
{
    const json_text *one = a, *other = b;
    size_t shorter = one->length < other->length ? one->length : other->length;
    int order = shorter ? memcmp(one->bytes, other->bytes, shorter) : 0;
    return order ? order : (one->length > other->length) - (one->length < other->length);
}

/* Parses a whole number from 0; SIZE_MAX if it is not one. Some programs write 3 as 3.0. */
static size_t read_whole(const field *from)
{
    double number;
    if (!from->length || !isdigit((unsigned char)from->text[0]) || !field_number(from, &number)) return SIZE_MAX;
    return number < 0x1p32 && number == floor(number) ? (size_t)number : SIZE_MAX;
}

enum { PLACES = 1 << 15 }; /* at most a third of them taken */

typedef struct found_actions {
    memory *owner;
    json_text *names; /* (count) in the order in which they came */
    size_t count, capacity;
    size_t *places; /* (PLACES) 1 + the number of a name, by its hash; 0: none */
    bool whole;     /* all are whole numbers, of which this is the largest: */
    size_t largest;
} found_actions;

/* Adds the name if it is new. */
static ee_status add_found(found_actions *all, const field *from, ee_error *error)
{
    json_text name = {from->text, from->length};
    size_t place = (size_t)id_hash(name.bytes, name.length) % PLACES;
    for (; all->places[place]; place = (place + 1) % PLACES)
        if (compare_names(&all->names[all->places[place] - 1], &name) == 0) return EE_OK;
    ee_status status = memory_grow(all->owner, &all->names, &all->capacity, all->count + 1, sizeof *all->names, error);
    char *copy;
    if (!status) status = memory_create(all->owner, &copy, name.length + 1, 1, error);
    if (status) return status;
    memcpy(copy, name.bytes, name.length);
    all->names[all->count++] = (json_text){copy, name.length};
    all->places[place] = all->count;
    size_t number = read_whole(from);
    all->whole = all->whole && number != SIZE_MAX;
    if (all->whole && number > all->largest) all->largest = number;
    return EE_OK;
}

/* Of the rows that are left. */
static ee_status collect(log_rows *rows, size_t column, found_actions *all, ee_error *error)
{
    for (;;) {
        bool found;
        log_note note = {LOG_EVENT, ""};
        ee_status status = log_rows_next(rows, &note, &found, error);
        if (status || !found) return status;
        if (note.verdict != LOG_EVENT || !rows->rows.fields[column].length) continue;
        status = add_found(all, &rows->rows.fields[column], error);
        if (!status && all->count > ACTIONS_MOST)
            status = log_rows_fail(rows, error, "more than %d different actions in column '%.20s'", ACTIONS_MOST,
                                   rows->columns[column].text);
        if (status) return status;
    }
}

/* Reads the file once, for the actions that it has. */
static ee_status look_through(csv_log *log, const char *path, found_actions *all, ee_error *error)
{
    if (!byte_stream_can_repeat(log->head.stream))
        return log_rows_fail(&log->rows, error,
                             "a stream cannot be read twice; add actions=NUMBER or actions=NAME+...");
    byte_stream *stream;
    log_rows rows;
    ee_status status = byte_stream_open(path, &stream, error);
    if (status) return status;
    status = log_rows_start(stream, &rows, error);
    if (!status) {
        status = collect(&rows, log->columns[ACTION], all, error);
        log_rows_release(&rows);
    }
    byte_stream_close(stream);
    return status;
}

/* "red+green+blue". */
static ee_status take_names(csv_log *log, const char *list, found_actions *all, ee_error *error)
{
    if (!json_is_utf8((json_text){list, strlen(list)}))
        return log_rows_fail(&log->rows, error, "the names of the actions are not UTF-8");
    ee_status status = EE_OK;
    for (const char *word = list, *plus; word && !status; word = plus) {
        field name = {word, strcspn(word, "+")};
        plus = word[name.length] ? word + name.length + 1 : NULL;
        status = add_found(all, &name, error);
    }
    all->whole = false;
    return status;
}

/* How many there are, or which. */
static ee_status find_actions(csv_log *log, const char *asked, const char *path, ee_error *error)
{
    bool given = strcmp(asked, "auto") != 0;
    field whole = {asked, strlen(asked)};
    size_t number = read_whole(&whole);
    if (number != SIZE_MAX) {
        if (number < 1 || number > COUNT_MOST)
            return log_rows_fail(&log->rows, error, "actions must be 1 to %d", COUNT_MOST);
        log->count = number;
        return EE_OK;
    }
    if (!given && log->columns[COUNT] != SIZE_MAX) return EE_OK;
    found_actions all = {.owner = &log->head.owner, .whole = true};
    ee_status status = memory_create(all.owner, &all.places, PLACES, sizeof *all.places, error);
    if (!status) status = given ? take_names(log, asked, &all, error) : look_through(log, path, &all, error);
    memory_free(all.places);
    if (status) return status;
    if (all.whole && all.largest < ACTIONS_MOST) {
        log->count = all.largest + 1;
        return EE_OK;
    }
    log->count = all.count;
    log->names = all.names;
    qsort(log->names, log->count, sizeof *log->names, compare_names);
    return EE_OK;
}

/* ---- a row ---- */

static const field *field_of(const csv_log *log, role which)
{
    size_t column = log->columns[which];
    return column == SIZE_MAX ? NULL : &log->rows.rows.fields[column];
}

/* False, with a note, if the column exists but its value is not a number. Without the column, the value is
 * unchanged. */
static bool take_number(const csv_log *log, role which, double *value, log_note *note)
{
    const field *from = field_of(log, which);
    if (!from || (which > REWARD && !from->length) || field_number(from, value)) return true;
    log_pass_over(note, LOG_INVALID, "expected a number for the %s, got '%.30s'%s", entries[which].name, from->text,
                  which == REWARD && !from->length ? "; if empty means no reward, write 0" : "");
    return false;
}

static bool take_action(const csv_log *log, log_event *event, log_note *note)
{
    const field *from = field_of(log, ACTION);
    if (log->names) {
        json_text name = {from->text, from->length};
        json_text *place = bsearch(&name, log->names, log->count, sizeof name, compare_names);
        event->action = place ? (size_t)(place - log->names) : SIZE_MAX;
    } else {
        event->action = read_whole(from);
    }
    if (event->action < event->count) return true;
    log_pass_over(note, LOG_INVALID, "the action '%.30s' is not one of the %zu actions", from->text, event->count);
    return false;
}

/* Seconds since 1970; values beyond the year 5000 are milliseconds. */
static double read_time(const field *from)
{
    double seconds;
    if (log_time_parse((json_text){from->text, from->length}, &seconds)) return seconds;
    if (!from->length || !field_number(from, &seconds)) return (double)NAN;
    return seconds > 1e11 ? seconds / 1000 : seconds;
}

static bool take_event(const csv_log *log, log_event *event, log_note *note)
{
    double count = (double)log->count, skipped = 0;
    if (!take_number(log, PROBABILITY, &event->probability, note) || !take_number(log, REWARD, &event->reward, note) ||
        !take_number(log, COPIES, &event->copies, note) || !take_number(log, SKIPPED, &skipped, note) ||
        (!log->count && !take_number(log, COUNT, &count, note)))
        return false;
    if (!(event->copies >= 1 && event->copies <= 1e9)) {
        log_pass_over(note, LOG_INVALID, "copies must be 1 to 1e9, got %.6g", event->copies);
        return false;
    }
    event->count = count >= 1 && count <= COUNT_MOST ? (size_t)count : 0;
    event->skipped = skipped != 0;
    event->actions = log->names;
    if (field_of(log, TIME)) event->time = read_time(field_of(log, TIME));
    if (field_of(log, ID)) event->id = (json_text){field_of(log, ID)->text, field_of(log, ID)->length};
    return take_action(log, event, note);
}

/* ---- features ---- */

/* The actions: {"_tag":"red","i":{"constant":1,"id":"red"}}, as Personalizer has them. */
static void make_multi(csv_log *log, size_t count)
{
    if (log->multi_count == count) return;
    text *into = &log->multi;
    into->length = 0;
    text_add(into, "\"_multi\":[");
    for (size_t i = 0; i < count; i++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%zu", i);
        json_text name = log->names ? log->names[i] : (json_text){digits, strlen(digits)};
        text_add(into, i ? ",{" : "{");
        if (log->names) {
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
    for (size_t i = 0; i < log->rows.width; i++) {
        const field *from = &log->rows.rows.fields[i], *name = &log->rows.columns[i];
        double number;
        if (!log->in_context[i] || !from->length) continue;
        text_json(into, (json_text){name->text, name->length});
        text_add(into, ":");
        if (field_number(from, &number))
            text_double(into, number);
        else
            text_json(into, (json_text){from->text, from->length});
        text_add(into, ",");
    }
    make_multi(log, event->count);
    text_bytes(into, log->multi.bytes, log->multi.length);
    if (into->status || log->multi.status) return EE_NO_MEMORY;
    event->context = (json_text){into->bytes, into->length};
    return EE_OK;
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
    if (!take_event(log, event, note) || head->options.bare) return EE_OK;
    return make_context(log, event, error);
}

static void close_log(log_reader *head)
{
    csv_log *log = (csv_log *)head;
    log_rows_release(&log->rows);
    memory_free(log->multi.bytes);
    memory_free(log->context.bytes);
}

/* ---- opening ---- */

static ee_status prepare(csv_log *log, const char *path, const char *options, ee_error *error)
{
    csv_options asked;
    options_set_defaults(&schema, &asked);
    ee_status status = options_parse_once(&schema, options, &asked, error);
    if (!status) status = log_rows_start(log->head.stream, &log->rows, error);
    for (role i = 0; i < ROLES && !status; i++) status = find_column(log, i, asked.columns[i], error);
    if (!status) status = find_context(log, asked.context, error);
    if (!status) remark_context(log, options);
    return status ? status : find_actions(log, asked.actions, path, error);
}

ee_status log_open_csv(byte_stream *stream, const char *path, const char *options, log_reader **out, ee_error *error)
{
    static const log_kind kind = {next, close_log};
    csv_log *log;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &log, sizeof *log, error);
    if (status) return status;
    log->head.kind = &kind;
    log->head.stream = stream;
    status = prepare(log, path, options, error);
    if (status) {
        close_log(&log->head);
        memory_release(&log->head.owner);
        return status;
    }
    *out = &log->head;
    return EE_OK;
}
