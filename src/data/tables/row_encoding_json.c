/* A row that comes as an object of JSON. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/options.h"
#include "row_encoding.h"

/* One object while it is read. */
typedef struct json_row {
    const row_encoding *encoding;
    const row_unknown *unknown;
    memory owner; /* of all that the row takes */
    cell *cells;  /* (width) */
    bool *given;  /* (width) */
    json_room room;
} json_row;

/* A text with a zero behind it. */
static ee_status copy_text(json_row *row, json_text from, char **out, ee_error *error)
{
    ee_status status = memory_create(&row->owner, out, from.length + 1, 1, error);
    if (!status && from.length) memcpy(*out, from.bytes, from.length);
    return status;
}

/* The nearest name as "; did you mean 'x'?"; "" if none is near. */
static const char *suggest(const char *given, const char *const *names, size_t count, char hint[64])
{
    const char *nearest = options_nearest(given, names, count);
    hint[0] = '\0';
    if (nearest) snprintf(hint, 64, "; did you mean '%.40s'?", nearest);
    return hint;
}

static ee_status fail_column(json_row *row, json_text name, ee_error *error)
{
    const row_encoding *encoding = row->encoding;
    const char **names;
    char *given, hint[64];
    ee_status status = memory_create(&row->owner, &names, encoding->width, sizeof *names, error);
    if (!status) status = copy_text(row, name, &given, error);
    if (status) return status;
    for (size_t i = 0; i < encoding->width; i++) names[i] = encoding->columns[i].name;
    return status_fail(error, EE_BAD_INPUT, "unknown column '%.60s'%s", given,
                       suggest(given, names, encoding->width, hint));
}

static ee_status report_unknown(json_row *row, const row_column *column, const cell *value, ee_error *error)
{
    const category_list *list = &column->categories;
    const char **names;
    char hint[64];
    if (!row->unknown) return EE_OK;
    ee_status status = memory_create(&row->owner, &names, list->count, sizeof *names, error);
    if (status) return status;
    for (size_t i = 0; i < list->count; i++) names[i] = list->sorted[i].text;
    suggest(value->text, names, list->count, hint);
    row->unknown->report(row->unknown->context, (size_t)(column - row->encoding->columns), value->text, hint);
    return EE_OK;
}

static ee_status check_number(const row_encoding *encoding, const row_column *column, const cell *value,
                              ee_error *error)
{
    if (cell_is_beyond(value))
        return status_fail(error, EE_BAD_INPUT, "column '%.40s': expected a number of at most %.3g, got '%.40s'",
                           column->name, (double)FLT_MAX, value->text);
    if (isnan(value->number))
        return status_fail(error, EE_BAD_INPUT, "column '%.40s': expected a number, got '%.40s'", column->name,
                           value->text);
    double centre = encoding->normalize == NORMALIZE_NONE ? 0.0 : column->mean;
    if (column->scale == 0.0 || fabs((value->number - centre) / column->scale) <= (double)FLT_MAX) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "column '%.40s': '%.40s' is too far outside the table's range",
                       column->name, value->text);
}

static ee_status check_value(json_row *row, const row_column *column, const cell *value, ee_error *error)
{
    if (value->text && column->kind == SURVEY_NUMERIC) return check_number(row->encoding, column, value, error);
    if (!value->text || column->kind != SURVEY_CATEGORICAL) return EE_OK;
    bool known = categories_place(&column->categories, value) < column->categories.count;
    return known ? EE_OK : report_unknown(row, column, value, error);
}

/* The text a table would have for the value: numbers, true and false as written. */
static ee_status read_value(json_row *row, json_reader *reader, const json_token *token, cell *value, ee_error *error)
{
    json_text written = token->text;
    char *copy;
    *value = (cell){NULL, NAN};
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (token->kind == JSON_KIND_OBJECT || token->kind == JSON_KIND_ARRAY)
        return status_fail(error, EE_BAD_INPUT, "expected a number, a string or null");
    ee_status status = token->kind == JSON_KIND_TEXT ? EE_OK : json_skip(reader, token, &written, error);
    if (!status && memchr(written.bytes, 0, written.length))
        status = status_fail(error, EE_BAD_INPUT, "expected a string without zero bytes");
    if (!status) status = copy_text(row, written, &copy, error);
    if (!status) *value = cell_read(copy, written.length);
    return status;
}

static ee_status read_member(json_row *row, json_reader *reader, const json_token *token, ee_error *error)
{
    const row_encoding *encoding = row->encoding;
    size_t index = vocabulary_find(&encoding->names, token->key.bytes, token->key.length);
    if (index == encoding->width) return fail_column(row, token->key, error);
    const row_column *column = &encoding->columns[index];
    if (row->given[index]) return status_fail(error, EE_BAD_INPUT, "column '%.60s' is given twice", column->name);
    row->given[index] = true;
    ee_error inner = {EE_OK, ""};
    ee_status status = read_value(row, reader, token, &row->cells[index], &inner);
    if (status) return status_fail(error, status, "column '%.60s': %.160s", column->name, inner.message);
    missing_words_apply(encoding->words, &row->cells[index], column->kind == SURVEY_NUMERIC);
    return check_value(row, column, &row->cells[index], error);
}

static ee_status read_object(json_row *row, json_text object, ee_error *error)
{
    json_reader reader = json_start(object.bytes, object.length, &row->room);
    json_token token;
    ee_status status = json_next(&reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        status = status_fail(error, EE_BAD_INPUT, "expected an object of columns and values, such as {\"age\": 38}");
    while (!status) {
        status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        status = read_member(row, &reader, &token, error);
    }
    return status ? status : json_next(&reader, &token, error); /* nothing may follow */
}

ee_status row_encoding_json(const row_encoding *self, json_text object, const row_unknown *unknown, uint32_t *indices,
                            float *values, size_t *count, ee_error *error)
{
    json_row row = {.encoding = self, .unknown = unknown};
    row.room.owner = &row.owner;
    *count = 0;
    ee_status status = memory_create(&row.owner, &row.cells, self->width, sizeof *row.cells, error);
    if (!status) status = memory_create(&row.owner, &row.given, self->width, sizeof *row.given, error);
    if (!status) status = read_object(&row, object, error);
    if (!status) *count = row_encoding_cells(self, row.cells, indices, values);
    memory_release(&row.owner);
    return status;
}
