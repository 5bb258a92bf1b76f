#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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
        into->status = memory_grow(into->owner, &into->bytes, &into->capacity, into->length + more + 1, 1, into->error);
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

/* Length of the UTF-8 character at the start of the string; 0 if it is not one. Does not read beyond a zero byte. */
static size_t character_size(const unsigned char *string)
{
    size_t size = string[0] < 0x80 ? 1 : string[0] < 0xc2 ? 0 : string[0] < 0xe0 ? 2 : string[0] < 0xf0 ? 3 : 4;
    if (string[0] > 0xf4) return 0;
    for (size_t i = 1; i < size; i++)
        if ((string[i] & 0xc0) != 0x80) return 0;
    return size;
}

void text_html(text *into, const char *string)
{
    while (*string) {
        size_t size = character_size((const unsigned char *)string);
        if (*string == '&')
            text_add(into, "&amp;");
        else if (*string == '<')
            text_add(into, "&lt;");
        else if (*string == '>')
            text_add(into, "&gt;");
        else if (*string == '"')
            text_add(into, "&quot;");
        else if (*string == '\'')
            text_add(into, "&#39;");
        else if (!size || (unsigned char)*string < ' ' || *string == 127)
            text_add(into, "?");
        else
            text_bytes(into, string, size);
        string += size ? size : 1;
    }
}

void text_shell(text *into, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:=/+@%";
    bool quoted = !*word || word[strspn(word, plain)];
    if (quoted) text_add(into, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(into, "'\\''");
        else
            text_bytes(into, word, 1);
    }
    if (quoted) text_add(into, "'");
}

void text_csv(text *into, const char *string)
{
    bool quoted = strpbrk(string, ",\"\r\n") != NULL;
    if (quoted) text_add(into, "\"");
    for (; *string; string++) {
        if (*string == '"') text_add(into, "\"");
        text_bytes(into, string, 1);
    }
    if (quoted) text_add(into, "\"");
}

void text_json(text *into, json_text string)
{
    if (!make_room(into, 6 * string.length + 2)) return; /* a control character takes six */
    into->length += json_quote(string, into->bytes + into->length, 6 * string.length + 2);
    into->bytes[into->length] = '\0';
}

void text_one_line(text *into, json_text json)
{
    size_t first = into->length;
    text_bytes(into, json.bytes, json.length);
    for (size_t i = first; i < into->length; i++)
        if (into->bytes[i] == '\n' || into->bytes[i] == '\r') into->bytes[i] = ' ';
}

/* Digits below 2^53 and powers of ten up to 10^22 are exact doubles, and their quotient is the nearest double to the
 * decimal. So the digits found here read back as the same number, and twenty times faster than by snprintf and strtod.
 */
static const double powers[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static void add_decimal(text *into, bool negative, uint64_t digits, int places)
{
    char string[48], *at = string + sizeof string;
    for (; places && digits % 10 == 0; places--) digits /= 10;
    for (int left = places; digits || left >= 0; left--) {
        *--at = (char)('0' + digits % 10);
        digits /= 10;
        if (left == 1) *--at = '.';
    }
    if (negative) *--at = '-';
    text_bytes(into, at, (size_t)(string + sizeof string - at));
}

/* Uses at least `few` and at most `most` digits, if that is enough. single: it must read back as a float. */
static bool add_short(text *into, double number, int few, int most, bool single)
{
    double size = fabs(number);
    int whole = 0; /* digits before the point */
    if (size != 0 && !(size >= 1e-5 && size < 1e15)) return false;
    while (size >= powers[whole]) whole++;
    for (int count = few; count <= most; count++) {
        int places = count > whole ? count - whole : 0;
        if (!whole)
            for (double small = size; small != 0 && small < 0.1; small *= 10) places++; /* zeros after the point */
        if (places > 22) return false;
        double digits = nearbyint(size * powers[places]), back = digits / powers[places];
        if (digits >= 0x1p53) return false;
        if (single ? (float)back != (float)size : back != size) continue;
        add_decimal(into, signbit(number), (uint64_t)digits, places);
        return true;
    }
    return false;
}

void text_double(text *into, double number)
{
    if (!add_short(into, number, 15, 16, false)) text_add(into, "%.17g", number);
}

void text_number(text *into, double number)
{
    if (isfinite(number))
        text_double(into, number);
    else
        text_add(into, "null");
}

void text_float(text *into, float number)
{
    if (!add_short(into, (double)number, 7, 9, true)) text_add(into, "%.9g", (double)number);
}

ee_status text_save(text *from, const char *path)
{
    ee_status status = from->status;
    if (!status) status = file_write(path, from->bytes ? from->bytes : "", from->length, from->error);
    memory_free(from->bytes);
    *from = text_start(from->error);
    return status;
}
