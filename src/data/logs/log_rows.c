#include "log_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* Wraps one row of the stream as a source for rows_next, which splits it in place. */
static ee_status read_record(log_rows *self, bool *found, ee_error *error)
{
    byte_line line;
    ee_status status = byte_stream_line(self->stream, true, &line, found, error);
    if (status || !*found) return status;
    self->record = (source){"", (uint8_t *)line.bytes, line.size};
    self->rows.position = 0;
    self->utf8 = json_is_utf8((json_text){line.bytes, line.size}); /* now: rows_next moves the bytes */
    return EE_OK;
}

ee_status log_rows_start(memory *owner, byte_stream *stream, log_rows *out, ee_error *error)
{
    *out = (log_rows){.stream = stream};
    bool found, row = false;
    ee_error reason;
    ee_status status = read_record(out, &found, error);
    if (status) return status;
    if (found) status = memory_create(owner, &out->header, out->record.size + 1, 1, error);
    if (found && !status) {
        memcpy(out->header, out->record.bytes, out->record.size);
        out->record.bytes = (uint8_t *)out->header;
        out->rows = rows_start(&out->record, NULL);
        out->rows.owner = owner;
        status = rows_next(&out->rows, &row, &reason);
        if (status) status = status_fail(error, status, "%s%s", byte_stream_name(stream), reason.message);
    }
    if (!status && (!row || !out->utf8))
        status = status_fail(error, EE_BAD_INPUT, "%s: expected a header with column names in the first line%s",
                             byte_stream_name(stream), row ? ": it is not UTF-8" : "");
    if (!status) status = memory_create(owner, &out->columns, out->rows.count, sizeof *out->columns, error);
    if (status) return status;
    out->width = out->rows.count;
    memcpy(out->columns, out->rows.fields, out->width * sizeof *out->columns);
    out->rows.next_line++;
    out->rows.position = out->record.size; /* a row is not among the names */
    return EE_OK;
}

/* With a quote inside a field, the stream may have joined several rows. */
ee_status log_rows_next(log_rows *self, log_note *note, bool *found, ee_error *error)
{
    bool row;
    ee_error reason;
    ee_status status = EE_OK;
    *found = true;
    if (self->rows.position == self->record.size) status = read_record(self, found, error);
    if (status || !*found) return status;
    self->rows.file = &self->record;
    self->rows.line = self->rows.next_line;
    status = rows_next(&self->rows, &row, &reason);
    if (status && status != EE_BAD_INPUT) {
        if (error) *error = reason;
        return status;
    }
    if (status) {
        const char *sentence = strstr(reason.message, ": "); /* after the line's number */
        log_skip(note, LOG_BROKEN, "%s", sentence ? sentence + 2 : reason.message);
        self->rows.position = self->record.size;
    } else if (!row) {
        note->verdict = LOG_BLANK;
    } else if (!self->utf8) {
        log_skip(note, LOG_BROKEN, "not UTF-8");
    } else if (self->rows.count != self->width) {
        log_skip(note, LOG_BROKEN, "got %zu fields, expected %zu as in the header", self->rows.count, self->width);
    }
    if (self->rows.position == self->record.size) self->rows.next_line++; /* the last line's end is not in the record */
    return EE_OK;
}

size_t log_rows_lines(const log_rows *self)
{
    return self->rows.next_line - 1;
}

size_t log_rows_find(const log_rows *self, const char *name)
{
    for (size_t i = 0; i < self->width; i++)
        if (strcmp(self->columns[i].text, name) == 0) return i;
    for (size_t i = 0; i < self->width; i++)
        if (strcasecmp(self->columns[i].text, name) == 0) return i;
    return SIZE_MAX;
}

void log_rows_add_member(const log_rows *self, size_t column, text *into)
{
    const field *from = &self->rows.fields[column], *name = &self->columns[column];
    double number;
    text_json(into, (json_text){name->text, name->length});
    text_add(into, ":");
    if (field_number(from, &number))
        text_double(into, number);
    else
        text_json(into, (json_text){from->text, from->length});
}

ee_status log_rows_fail(const log_rows *self, ee_error *error, const char *format, ...)
{
    char sentence[100], list[110] = "";
    size_t length = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < self->width && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", self->columns[i].text);
    return status_fail(error, EE_BAD_OPTION, "%s: %s; the columns are: %s%s", byte_stream_name(self->stream), sentence,
                       list, length < sizeof list ? "" : "...");
}
