#include "rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Counts the semicolons of a line outside quotes and moves *line to the next. False if a comma is not a decimal comma
 * as in 3,14. */
static bool count_semicolons(const char **line, size_t *count)
{
    bool quoted = false, decimal = true;
    const char *at = *line;
    *count = 0;
    for (; *at && (*at != '\n' || quoted); at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted) continue;
        if (*at == ';') ++*count;
        if (*at == ',') decimal = decimal && at > *line && is_digit(at[-1]) && is_digit(at[1]);
    }
    *line = at + strspn(at, "\r\n");
    return decimal;
}

/* Whether the first lines all have the same number of semicolons, and commas only in numbers. */
static bool has_decimal_commas(const char *at)
{
    enum { LINES = 10 };
    size_t expected, count;
    if (!count_semicolons(&at, &expected) || !expected) return false;
    for (int i = 1; i < LINES && *at; i++)
        if (!count_semicolons(&at, &count) || count != expected) return false;
    return true;
}

/* Looks at the first line that is not blank, outside quotes. */
static const char *find_separator(const source *file)
{
    static const char *const usual[] = {"::", "\t", ",", ";"};
    enum { COMMA = 2, SEMICOLON, USUAL };
    const char *start = (const char *)file->bytes + strspn((const char *)file->bytes, "\r\n"), *at = start;
    size_t best = USUAL;
    bool quoted = false;
    for (; *at && *at != '\n'; at++) {
        if (*at == '"') quoted = !quoted;
        for (size_t i = 0; i < best && !quoted; i++)
            if (strncmp(at, usual[i], strlen(usual[i])) == 0) best = i;
    }
    if (best == COMMA && has_decimal_commas(start)) best = SEMICOLON;
    return best < USUAL ? usual[best] : " ";
}

void rows_fix_line_ends(source *file)
{
    if (memchr(file->bytes, '\n', file->size)) return;
    for (size_t i = 0; i < file->size; i++)
        if (file->bytes[i] == '\r') file->bytes[i] = '\n';
}

row_reader rows_start(source *file, const char *separator)
{
    static const char mark[] = "\xef\xbb\xbf"; /* some programs put it before UTF-8 */
    row_reader rows = {.file = file, .separator = separator ? separator : find_separator(file), .next_line = 1};
    if (file->size >= 3 && memcmp(file->bytes, mark, 3) == 0) rows.position = 3;
    return rows;
}

void rows_release(row_reader *rows)
{
    memory_free(rows->fields);
    rows->fields = NULL;
}

ee_status rows_fail(const row_reader *rows, ee_error *error, const char *format, ...)
{
    char sentence[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return status_fail(error, EE_BAD_INPUT, "%s, line %zu: %s", file_tail(rows->file->path), rows->line, sentence);
}

static bool at_line_end(const row_reader *rows)
{
    const uint8_t *at = rows->file->bytes + rows->position;
    return rows->position == rows->file->size || *at == '\n' || (*at == '\r' && at[1] == '\n');
}

/* Consumes a separator if it is next. */
static bool accept_separator(row_reader *rows)
{
    size_t length = strlen(rows->separator);
    const char *at = (const char *)rows->file->bytes + rows->position;
    if (rows->file->size - rows->position < length || memcmp(at, rows->separator, length) != 0) return false;
    rows->position += length;
    return true;
}

/* A quoted field, after its first quote. Doubled quotes become one: the text moves up behind them. */
static ee_status read_quoted(row_reader *rows, field *into, ee_error *error)
{
    uint8_t *bytes = rows->file->bytes;
    size_t size = rows->file->size, start = rows->position, end = start;
    for (;; rows->position++) {
        if (rows->position == size) return rows_fail(rows, error, "a quoted field is not closed");
        if (bytes[rows->position] == '\n') rows->next_line++;
        if (bytes[rows->position] == '"' && bytes[++rows->position] != '"') break;
        bytes[end++] = bytes[rows->position];
    }
    *into = (field){(const char *)bytes + start, end - start};
    return EE_OK;
}

static ee_status read_field(row_reader *rows, field *into, bool *last, ee_error *error)
{
    const char *text = (const char *)rows->file->bytes;
    size_t start = rows->position, size = rows->file->size, at = start;
    if (text[start] == '"') {
        rows->position++;
        ee_status status = read_quoted(rows, into, error);
        if (status) return status;
        *last = at_line_end(rows);
        if (*last || accept_separator(rows)) return EE_OK;
        return rows_fail(rows, error, "expected a separator after the closing quote of field %zu", rows->count + 1);
    }
    const char first = rows->separator[0];
    for (; at < size && text[at] != '\n'; at++) {
        if (text[at] != first) continue;
        rows->position = at;
        *into = (field){text + start, at - start};
        if (accept_separator(rows)) return EE_OK;
    }
    if (at < size && at > start && text[at - 1] == '\r') at--;
    rows->position = at;
    *into = (field){text + start, at - start};
    *last = true;
    return EE_OK;
}

static void skip_blanks(row_reader *rows)
{
    while (rows->position < rows->file->size && rows->file->bytes[rows->position] == ' ') rows->position++;
}

static void skip_line_end(row_reader *rows)
{
    if (rows->position == rows->file->size) return;
    rows->position += rows->file->bytes[rows->position] == '\r' ? 2 : 1;
    rows->next_line++;
}

ee_status rows_next(row_reader *rows, bool *found, ee_error *error)
{
    bool blanks = strcmp(rows->separator, " ") == 0, last = false;
    rows->count = 0;
    if (blanks) skip_blanks(rows);
    while (rows->position < rows->file->size && at_line_end(rows)) {
        skip_line_end(rows);
        if (blanks) skip_blanks(rows);
    }
    *found = rows->position < rows->file->size;
    rows->line = rows->next_line;
    while (*found && !last) {
        ee_status status =
            memory_grow(rows->owner, &rows->fields, &rows->capacity, rows->count + 1, sizeof *rows->fields, error);
        if (!status) status = read_field(rows, &rows->fields[rows->count], &last, error);
        if (status) return status;
        rows->count++;
        if (!blanks) continue;
        skip_blanks(rows);
        last = at_line_end(rows);
    }
    if (*found) skip_line_end(rows);
    /* Only now: a zero in the place of a line end would hide it. */
    for (size_t i = 0; i < rows->count; i++) {
        if (memchr(rows->fields[i].text, 0, rows->fields[i].length))
            return rows_fail(rows, error,
                             "expected UTF-8 text (export a spreadsheet as CSV first), got a zero byte in field %zu",
                             i + 1);
        size_t start = (size_t)(rows->fields[i].text - (const char *)rows->file->bytes);
        rows->file->bytes[start + rows->fields[i].length] = 0;
    }
    return EE_OK;
}

/* Up to 15 digits, digits and power of ten are exact doubles, so their quotient is the double nearest to the decimal,
 * as with strtod, and ten times faster. */
static bool read_short_decimal(const field *from, double *number)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = from->text, *end = at + from->length;
    bool negative = at < end && *at == '-', point = false;
    int64_t digits = 0;
    size_t count = 0, places = 0;
    for (at += negative; at < end; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (*at < '0' || *at > '9' || count == 15) return false;
        digits = 10 * digits + (*at - '0');
        count++;
        places += point;
    }
    *number = (negative ? -1.0 : 1.0) * (double)digits / powers[places];
    return count > 0;
}

bool field_number(const field *from, double *number)
{
    if (read_short_decimal(from, number)) return true;
    char *end;
    *number = strtod(from->text, &end);
    if (end == from->text) return false;
    end += strspn(end, " ");
    return end == from->text + from->length && isfinite(*number);
}
