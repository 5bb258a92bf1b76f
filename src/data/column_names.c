#define _POSIX_C_SOURCE 200809L
#include "column_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"

field field_trim(field from)
{
    while (from.length && *from.text == ' ') from.text++, from.length--;
    while (from.length && from.text[from.length - 1] == ' ') from.length--;
    return from;
}

bool column_is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

size_t column_by_name(const row_reader *rows, const char *word)
{
    for (size_t i = 0; i < rows->count; i++) {
        field name = field_trim(rows->fields[i]);
        if (name.length == strlen(word) && strncasecmp(name.text, word, name.length) == 0) return i;
    }
    return SIZE_MAX;
}

static ee_status fail_no_column(const row_reader *rows, bool header, const char *owner, const char *option,
                                const char *word, ee_error *error)
{
    char list[100] = "";
    size_t length = 0;
    for (size_t i = 0; header && i < rows->count && length < sizeof list; i++) {
        field name = field_trim(rows->fields[i]);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.*s", i ? ", " : ": ", (int)name.length,
                                   name.text);
    }
    return status_fail(error, EE_BAD_OPTION, "%s: %s has no column '%.40s' for %s=; it has %zu%s%s", owner,
                       file_tail(rows->file->path), word, option, rows->count, list, length < sizeof list ? "" : "...");
}

ee_status column_find(const row_reader *rows, bool header, const char *owner, const char *option, const char *word,
                      size_t *column, ee_error *error)
{
    *column = header ? column_by_name(rows, word) : SIZE_MAX;
    if (*column != SIZE_MAX) return EE_OK;
    unsigned long long number = column_is_number(word) ? strtoull(word, NULL, 10) : 0;
    if (number == 0 || number > rows->count) return fail_no_column(rows, header, owner, option, word, error);
    *column = (size_t)number - 1;
    return EE_OK;
}
