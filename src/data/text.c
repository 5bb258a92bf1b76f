#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

text text_start(ee_error *error)
{
    return (text){.error = error};
}

static bool make_room(text *into, size_t more)
{
    if (!into->status)
        into->status = memory_grow(NULL, &into->bytes, &into->capacity, into->length + more + 1, 1, into->error);
    return !into->status;
}

void text_bytes(text *into, const char *bytes, size_t size)
{
    if (!make_room(into, size)) return;
    memcpy(into->bytes + into->length, bytes, size);
    into->length += size;
    into->bytes[into->length] = '\0';
}

void text_add(text *into, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    size_t size = (size_t)vsnprintf(NULL, 0, format, list);
    if (make_room(into, size)) {
        vsnprintf(into->bytes + into->length, size + 1, format, again);
        into->length += size;
    }
    va_end(again);
    va_end(list);
}

/* Bytes of the UTF-8 character at words; 0 where it is none. What follows a zero byte is not looked at. */
static size_t character_size(const unsigned char *words)
{
    size_t size = words[0] < 0x80 ? 1 : words[0] < 0xc2 ? 0 : words[0] < 0xe0 ? 2 : words[0] < 0xf0 ? 3 : 4;
    if (words[0] > 0xf4) return 0;
    for (size_t i = 1; i < size; i++)
        if ((words[i] & 0xc0) != 0x80) return 0;
    return size;
}

void text_html(text *into, const char *words)
{
    while (*words) {
        size_t size = character_size((const unsigned char *)words);
        if (*words == '&')
            text_add(into, "&amp;");
        else if (*words == '<')
            text_add(into, "&lt;");
        else if (*words == '>')
            text_add(into, "&gt;");
        else if (*words == '"')
            text_add(into, "&quot;");
        else if (*words == '\'')
            text_add(into, "&#39;");
        else if (!size || (unsigned char)*words < ' ' || *words == 127)
            text_add(into, "?");
        else
            text_bytes(into, words, size);
        words += size ? size : 1;
    }
}

void text_csv(text *into, const char *words)
{
    bool quoted = strpbrk(words, ",\"\r\n") != NULL;
    if (quoted) text_add(into, "\"");
    for (; *words; words++) {
        if (*words == '"') text_add(into, "\"");
        text_bytes(into, words, 1);
    }
    if (quoted) text_add(into, "\"");
}

void text_json(text *into, json_text words)
{
    if (!make_room(into, 6 * words.length + 2)) return; /* a control character takes six */
    into->length += json_quote(words, into->bytes + into->length, 6 * words.length + 2);
    into->bytes[into->length] = '\0';
}

void text_double(text *into, double number)
{
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) { /* 17 always do */
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) break;
    }
    text_bytes(into, digits, strlen(digits));
}

void text_float(text *into, float number)
{
    char digits[32];
    for (int precision = 6; precision <= 9; precision++) { /* 9 always do */
        snprintf(digits, sizeof digits, "%.*g", precision, (double)number);
        if ((float)strtod(digits, NULL) == number) break;
    }
    text_bytes(into, digits, strlen(digits));
}

ee_status text_save(text *from, const char *path)
{
    ee_status status = from->status;
    if (!status) status = file_write(path, from->bytes ? from->bytes : "", from->length, from->error);
    memory_free(from->bytes);
    *from = text_start(from->error);
    return status;
}
