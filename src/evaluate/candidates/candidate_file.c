/* file:FILE: probabilities from another program, one row per shown event, one column per action.
 *
 * The header of a CSV file names the columns, and each action takes the column with its name; an action without a name
 * is called by its number. Without a header (.npy never has one) the columns are the actions in the order of each
 * event. That is refused if the log's actions have names: their order would be a guess. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "candidate.h"
#include "data/files/npy.h"
#include "data/files/rows.h"

typedef struct file_column {
    json_text name;
    size_t place;
    uint64_t event; /* the last event with an action of this name */
} file_column;

/* How actions find their columns; decided at the first event. */
typedef enum column_order { ORDER_UNKNOWN, ORDER_BY_NAME, ORDER_OF_EVENT } column_order;

typedef struct file_candidate {
    candidate base;
    memory memory; /* of what follows */
    char *path;
    char *header;         /* bytes of the first row of a CSV file */
    file_column *columns; /* (column_count) its fields, sorted by name; NULL: .npy */
    size_t column_count;
    bool readable;  /* the first row of a CSV file could be probabilities too: then it is row 0 of the values */
    double *values; /* row i has those from starts[i] to starts[i + 1] */
    size_t *starts; /* (rows + 1) */
    size_t rows, value_capacity, start_capacity;

    column_order order;
    size_t *found; /* (found_capacity) each action's place in columns in the last event, and usually in the next */
    size_t found_capacity;
    uint64_t event; /* of this candidate, from 1 */
    char remark[240];
} file_candidate;

static void free_file(candidate *base)
{
    memory_release(&((file_candidate *)base)->memory);
    memory_free(base);
}

__attribute__((format(printf, 4, 5))) static ee_status fail_row(const file_candidate *self, uint64_t row,
                                                                ee_error *error, const char *format, ...)
{
    char problem[300];
    va_list list;
    va_start(list, format);
    vsnprintf(problem, sizeof problem, format, list);
    va_end(list);
    return status_fail(error, EE_BAD_INPUT, "%s, row %llu: %s", file_tail(self->path), (unsigned long long)row + 1,
                       problem);
}

/* ---- reading ---- */

/* Makes room for one more row. */
static ee_status reserve_row(file_candidate *self, size_t columns, ee_error *error)
{
    memory *owner = &self->memory;
    size_t used = self->starts ? self->starts[self->rows] : 0;
    ee_status status =
        memory_grow(owner, &self->starts, &self->start_capacity, self->rows + 2, sizeof *self->starts, error);
    if (!status)
        status = memory_grow(owner, &self->values, &self->value_capacity, used + columns, sizeof *self->values, error);
    if (!status) self->starts[self->rows + 1] = used + columns;
    return status;
}

/* Ends the row and checks its probabilities. */
static ee_status end_row(file_candidate *self, uint64_t number, ee_error *error)
{
    const double tolerance = 1e-3; /* probabilities may be rounded */
    size_t start = self->starts[self->rows], end = self->starts[self->rows + 1];
    double sum = 0.0;
    for (size_t i = start; i < end; i++) {
        double value = self->values[i];
        if (!(value >= 0.0 && value <= 1.0))
            return fail_row(self, number, error, "column %zu: a probability must be 0 to 1", i - start + 1);
        sum += value;
    }
    if (fabs(sum - 1.0) > tolerance)
        return fail_row(self, number, error, "the probabilities must sum to 1, got %.6g", sum);
    self->rows++;
    return EE_OK;
}

static ee_status read_npy(file_candidate *self, ee_error *error)
{
    npy_array array;
    ee_status status = npy_read(self->path, &array, error);
    if (!status) status = npy_expect_table(&array, 0, false, file_tail(self->path), error);
    for (size_t i = 0; !status && i < array.shape[0]; i++) {
        size_t columns = array.shape[1];
        status = reserve_row(self, columns, error);
        for (size_t k = 0; !status && k < columns; k++)
            self->values[self->starts[i] + k] = npy_real(&array, i * columns + k);
        if (!status) status = end_row(self, i, error);
    }
    npy_release(&array);
    return status;
}

/* Row `number` of the probabilities. */
static ee_status take_fields(file_candidate *self, const row_reader *rows, uint64_t number, ee_error *error)
{
    ee_status status = reserve_row(self, rows->count, error);
    if (status) return status;
    double *into = self->values + self->starts[self->rows];
    for (size_t k = 0; k < rows->count; k++)
        if (!field_number(&rows->fields[k], &into[k])) into[k] = NAN;
    return end_row(self, number, error);
}

/* ---- the header ---- */

static int compare_columns(const void *left, const void *right)
{
    return json_compare(((const file_column *)left)->name, ((const file_column *)right)->name);
}

static ee_status check_header(const file_candidate *self, ee_error *error)
{
    for (size_t k = 0; k < self->column_count; k++) {
        const file_column *one = &self->columns[k];
        if (!one->name.length)
            return status_fail(error, EE_BAD_INPUT,
                               "%s: column %zu has no name; remove it if it is a row number (in pandas: index=False)",
                               file_tail(self->path), one->place + 1);
        if (k && !json_compare(one->name, one[-1].name))
            return status_fail(error, EE_BAD_INPUT, "%s: two columns are named '%.*s'", file_tail(self->path),
                               json_shown(one->name), one->name.bytes);
    }
    return EE_OK;
}

static ee_status keep_header(file_candidate *self, const row_reader *rows, ee_error *error)
{
    size_t bytes = 1;
    for (size_t k = 0; k < rows->count; k++) bytes += rows->fields[k].length;
    ee_status status = memory_create(&self->memory, &self->header, bytes, 1, error);
    if (!status) status = memory_create(&self->memory, &self->columns, rows->count, sizeof *self->columns, error);
    if (status) return status;
    char *to = self->header;
    for (size_t k = 0; k < rows->count; k++) {
        const field *from = &rows->fields[k];
        memcpy(to, from->text, from->length);
        self->columns[k] = (file_column){.name = {to, from->length}, .place = k};
        to += from->length;
    }
    self->column_count = rows->count;
    qsort(self->columns, self->column_count, sizeof *self->columns, compare_columns);
    return EE_OK;
}

/* Whether the first row is meant as probabilities: only numbers, and not all of them whole. */
static bool has_fractions(const row_reader *rows)
{
    double number;
    bool whole = true;
    for (size_t k = 0; k < rows->count; k++) {
        if (!field_number(&rows->fields[k], &number)) return false;
        whole = whole && number == floor(number);
    }
    return !whole;
}

/* The first row of a CSV file is a header or probabilities. "0,1" can be either: the log decides. */
static ee_status take_first(file_candidate *self, const row_reader *rows, ee_error *error)
{
    ee_status status = keep_header(self, rows, error);
    if (status) return status;
    ee_error why;
    status = take_fields(self, rows, 0, &why);
    self->readable = !status;
    if (status == EE_BAD_INPUT && !has_fractions(rows)) return check_header(self, error);
    if (status && error) *error = why;
    return status;
}

static ee_status read_csv(file_candidate *self, ee_error *error)
{
    uint64_t fingerprint = 0;
    source text;
    bool found = true;
    ee_status status = source_load(NULL, self->path, &fingerprint, &text, error);
    if (status) return status;
    row_reader rows = {0};
    status = source_unpack(&text, error);
    if (!status) rows = rows_start(&text, NULL);
    for (bool first = true; !status; first = false) {
        status = rows_next(&rows, &found, error);
        if (status || !found) break;
        status = first ? take_first(self, &rows, error) : take_fields(self, &rows, self->rows, error);
    }
    rows_release(&rows);
    source_release(&text);
    return status;
}

static ee_status create_file(const candidate_class *class, const candidate_setup *setup, candidate **out,
                             ee_error *error)
{
    const char *path = candidate_place(setup->text);
    size_t length = strlen(path);
    file_candidate *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = class;
    status = memory_create(&self->memory, &self->path, length + 1, 1, error);
    if (!status) {
        strcpy(self->path, path);
        bool binary = length > 4 && strcmp(path + length - 4, ".npy") == 0;
        status = binary ? read_npy(self, error) : read_csv(self, error);
    }
    if (status)
        free_file(&self->base);
    else
        *out = &self->base;
    return status;
}

/* ---- which column is which action ---- */

static ee_status fail_nameless(const file_candidate *self, const log_event *event, ee_error *error)
{
    json_text name = event->actions[event->action];
    return status_fail(error, EE_BAD_INPUT,
                       "%s has no column names, but the log's actions do (such as '%.*s'); write CSV with a header of "
                       "action names",
                       file_tail(self->path), json_shown(name), name.length ? name.bytes : "");
}

/* A header is required if the log's actions have names; otherwise it may number the actions. */
static ee_status choose_order(file_candidate *self, const log_event *event, ee_error *error)
{
    if (event->actions && (!self->columns || self->order == ORDER_OF_EVENT)) return fail_nameless(self, event, error);
    if (self->order) return EE_OK;
    bool by_name = self->columns && (event->actions || !self->readable);
    self->order = by_name ? ORDER_BY_NAME : ORDER_OF_EVENT;
    if (by_name && self->readable && check_header(self, NULL)) return fail_nameless(self, event, error);
    if (by_name) return EE_OK;
    snprintf(self->remark, sizeof self->remark,
             "%s has no column names: its columns are taken as actions 0, 1, 2, ... in the order of each event.",
             file_tail(self->path));
    return EE_OK;
}

/* The rows of the values before the first event's. */
static size_t header_rows(const file_candidate *self)
{
    return self->order == ORDER_BY_NAME && self->readable ? 1 : 0;
}

enum { DIGITS = 24 }; /* of a number */

/* An action without a name is called by its number. */
static json_text name_of(const log_event *event, size_t action, char digits[DIGITS])
{
    if (event->actions && event->actions[action].length) return event->actions[action];
    return (json_text){digits, (size_t)snprintf(digits, DIGITS, "%zu", action)};
}

/* The column of an action; NULL if there is none. */
static file_column *find_column(file_candidate *self, const log_event *event, size_t action)
{
    char digits[DIGITS];
    file_column wanted = {.name = name_of(event, action, digits)};
    size_t last = self->found[action];
    if (last < self->column_count && !compare_columns(&wanted, &self->columns[last])) return &self->columns[last];
    file_column *found = bsearch(&wanted, self->columns, self->column_count, sizeof *self->columns, compare_columns);
    if (found) self->found[action] = (size_t)(found - self->columns);
    return found;
}

static ee_status fail_missing(const file_candidate *self, const log_event *event, size_t action, ee_error *error)
{
    char digits[DIGITS];
    json_text name = name_of(event, action, digits), first = self->columns[0].name;
    if (self->readable && event->actions) return fail_nameless(self, event, error);
    return status_fail(
        error, EE_BAD_INPUT, "%s has no column for action '%.*s' (line %zu of the log); its columns include '%.*s'",
        file_tail(self->path), json_shown(name), name.bytes, event->line, json_shown(first), first.bytes);
}

/* Sets pi to the columns with the actions' names. Probability of an action that the event does not have is an error. */
static ee_status take_by_name(file_candidate *self, const candidate_round *round, const double *values, double *pi,
                              ee_error *error)
{
    const log_event *event = round->event;
    ee_status status =
        memory_grow(&self->memory, &self->found, &self->found_capacity, event->count, sizeof *self->found, error);
    if (status) return status;
    self->event++;
    for (size_t i = 0; i < event->count; i++) {
        file_column *column = find_column(self, event, i);
        if (!column) return fail_missing(self, event, i, error);
        if (column->event == self->event)
            return fail_row(self, round->number, error,
                            "two actions of the event in line %zu of the log are named '%.*s'", event->line,
                            json_shown(column->name), column->name.bytes);
        column->event = self->event;
        if (pi) pi[i] = values[column->place];
    }
    for (size_t k = 0; k < self->column_count; k++) {
        const file_column *column = &self->columns[k];
        if (values[column->place] > 0.0 && column->event != self->event)
            return fail_row(
                self, round->number, error,
                "column '%.*s' has probability %.6g, but the event in line %zu of the log has no such action",
                json_shown(column->name), column->name.bytes, values[column->place], event->line);
    }
    return EE_OK;
}

/* Columns beyond the actions of an event must be 0. */
static ee_status take_in_order(const file_candidate *self, const candidate_round *round, const double *values,
                               size_t columns, double *pi, ee_error *error)
{
    size_t count = round->event->count;
    if (columns < count)
        return fail_row(self, round->number, error, "%zu columns, but the event in line %zu of the log has %zu actions",
                        columns, round->event->line, count);
    for (size_t i = count; i < columns; i++)
        if (values[i] != 0.0)
            return fail_row(self, round->number, error,
                            "column %zu has probability %.6g, but the event in line %zu of the log has %zu actions",
                            i + 1, values[i], round->event->line, count);
    if (pi) memcpy(pi, values, count * sizeof *pi);
    return EE_OK;
}

static ee_status play_file(candidate *base, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)learn;
    file_candidate *self = (file_candidate *)base;
    if (round->numbers)
        return status_fail(error, EE_BAD_INPUT,
                           "%s: a file of probabilities cannot describe slots; "
                           "evaluate only the first slot of each event with --slots first",
                           file_tail(self->path));
    ee_status status = choose_order(self, round->event, error);
    if (status) return status;
    uint64_t row = round->number + header_rows(self);
    if (row >= self->rows)
        return fail_row(self, round->number, error, "missing; the log has more events than the file has rows");
    const double *values = self->values + self->starts[row];
    size_t columns = self->starts[row + 1] - self->starts[row];
    if (self->order == ORDER_OF_EVENT) return take_in_order(self, round, values, columns, pi, error);
    if (columns != self->column_count)
        return fail_row(self, round->number, error, "expected %zu fields, as in the header, got %zu",
                        self->column_count, columns);
    return take_by_name(self, round, values, pi, error);
}

static ee_status finish_file(candidate *base, uint64_t events, ee_error *error)
{
    const file_candidate *self = (const file_candidate *)base;
    size_t rows = self->rows - header_rows(self);
    if (rows == events) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "%s has %zu rows of probabilities; expected %llu, one per shown event",
                       file_tail(self->path), rows, (unsigned long long)events);
}

static const char *file_remark(const candidate *base)
{
    return ((const file_candidate *)base)->remark;
}

/* Results from before columns were matched by name are not used again. */
static const char *file_options(const candidate *base)
{
    (void)base;
    return "columns=name";
}

const candidate_class candidate_from_file = {
    .form = "file:FILE",
    .summary = "action probabilities from a CSV file with a header, or .npy; one row per shown event",
    .file = true,
    .name = "file",
    .create = create_file,
    .free = free_file,
    .play = play_file,
    .options = file_options,
    .finish = finish_file,
    .remark = file_remark,
};
