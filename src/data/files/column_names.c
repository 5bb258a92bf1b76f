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

static size_t find_name(const column_names *in, const char *word,
                        int (*compare)(const char *, const char *, size_t length))
{
    for (size_t i = 0; i < in->count; i++) {
        field name = field_trim(in->names[i]);
        if (name.length && name.length == strlen(word) && compare(name.text, word, name.length) == 0) return i;
    }
    return SIZE_MAX;
}

size_t column_by_name(const column_names *in, const char *word)
{
    size_t same = find_name(in, word, strncmp);
    return same != SIZE_MAX ? same : find_name(in, word, strncasecmp);
}

const char *column_list(const column_names *in, char list[COLUMN_LIST_SIZE])
{
    enum { MOST = COLUMN_LIST_SIZE - (int)sizeof "..." };
    size_t length = 0;
    list[0] = '\0';
    for (size_t i = 0; i < in->count && length <= MOST; i++) {
        field name = field_trim(in->names[i]);
        length += (size_t)snprintf(list + length, COLUMN_LIST_SIZE - length, "%s%.*s", i ? ", " : ": ",
                                   (int)name.length, name.text);
    }
    if (length > MOST) strcpy(list + MOST, "...");
    return list;
}

static ee_status fail_no_column(const column_names *in, const char *option, const char *word, ee_error *error)
{
    char list[COLUMN_LIST_SIZE];
    return status_fail(error, EE_BAD_OPTION, "%s: %s has no column '%.40s' (option %s=); it has %zu columns%s",
                       in->owner, file_tail(in->path), word, option, in->count,
                       in->header ? column_list(in, list) : "");
}

/* The column number at the start of text; 0 if there is none. */
static size_t column_number(const column_names *in, const char *text, char **end)
{
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, end, 10) : 0;
    return number <= in->count ? (size_t)number : 0;
}

ee_status column_find_range(const column_names *in, const char *option, const char *word, size_t *first, size_t *last,
                            ee_error *error)
{
    char *end = NULL;
    *first = *last = in->header ? column_by_name(in, word) : SIZE_MAX;
    if (*first != SIZE_MAX) return EE_OK;
    size_t low = column_number(in, word, &end), high = low;
    if (low && *end == '-') high = column_number(in, end + 1, &end);
    if (low == 0 || high < low || *end) return fail_no_column(in, option, word, error);
    *first = low - 1;
    *last = high - 1;
    return EE_OK;
}

ee_status column_find(const column_names *in, const char *option, const char *word, size_t *column, ee_error *error)
{
    size_t last;
    ee_status status = column_find_range(in, option, word, column, &last, error);
    return !status && last != *column ? fail_no_column(in, option, word, error) : status;
}
