#include "json.h"

#include <math.h>
#include <string.h>

#include "decimal.h"
#include "octets.h"

static ee_status fail(const json_reader *reader, const char *at, const char *what, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "byte %zu: %s", (size_t)(at - reader->start) + 1, what);
}

static ee_status fail_cut(const json_reader *reader, ee_error *error)
{
    return fail(reader, reader->end, "the input ends before its value does", error);
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    return at;
}

/* ---- texts ---- */

/* The first byte that is a quote, a backslash, a control character or none of ASCII. */
static const char *skip_plain(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t octets = octets_load(at);
        /* Below 0x80 a difference has its highest bit where it is negative; what it borrows comes from a byte behind
         * the first. */
        uint64_t odd = (octets - octets_all(' ')) | ((octets ^ octets_all('"')) - octets_all(1)) |
                       ((octets ^ octets_all('\\')) - octets_all(1)) | octets;
        odd &= octets_all(0x80);
        if (odd) return at + octets_first(odd);
    }
    while (at < end && (unsigned char)*at >= ' ' && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\') at++;
    return at;
}

/* Bytes of the character of UTF-8 that starts here, of which there is more than one; 0 where it is none. */
static size_t character_length(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    unsigned char byte[4] = {0};
    memcpy(byte, at, left < 4 ? left : 4);
    if ((byte[1] & 0xc0) != 0x80) return 0;
    if (byte[0] >= 0xc2 && byte[0] < 0xe0) return 2;
    if ((byte[2] & 0xc0) != 0x80) return 0;
    unsigned first = (unsigned)byte[0] << 8 | byte[1]; /* says whether it is too long, a surrogate or above 10ffff */
    if (first >= 0xe0a0 && first < 0xf000 && (first < 0xeda0 || first >= 0xee00)) return 3;
    if ((byte[3] & 0xc0) != 0x80) return 0;
    return first >= 0xf090 && first < 0xf490 ? 4 : 0;
}

static int hexadecimal_of(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    digit |= 0x20; /* a small letter */
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The four digits of \uXXXX; -1 where they are not. */
static long read_hexadecimal(const char *at, const char *end)
{
    if (end - at < 4) return -1;
    long code = 0;
    for (int i = 0; i < 4; i++) {
        if (hexadecimal_of(at[i]) < 0) return -1;
        code = code * 16 + hexadecimal_of(at[i]);
    }
    return code;
}

static char *write_character(unsigned long code, char *out)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80) *out++ = (char)(0x80 | (code & 0x3f));
    return out;
}

/* *at stands behind \u and goes behind its digits, and those of the second half of a pair. */
static ee_status read_code(const json_reader *reader, const char **at, char **out, ee_error *error)
{
    long code = read_hexadecimal(*at, reader->end), low = -1;
    if (code < 0) return fail(reader, *at, "\\u wants four hexadecimal digits", error);
    if (code >= 0xd800 && code < 0xe000) {
        if (code < 0xdc00 && reader->end - *at >= 6 && (*at)[4] == '\\' && (*at)[5] == 'u')
            low = read_hexadecimal(*at + 6, reader->end);
        if (low < 0xdc00 || low >= 0xe000) return fail(reader, *at, "half of a surrogate pair", error);
        code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
        *at += 6;
    }
    *at += 4;
    *out = write_character((unsigned long)code, *out);
    return EE_OK;
}

/* *at stands at the backslash. */
static ee_status read_escape(const json_reader *reader, const char **at, char **out, ee_error *error)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (reader->end - *at < 2) return fail_cut(reader, error);
    char name = (*at)[1];
    *at += 2;
    if (name == 'u') return read_code(reader, at, out, error);
    const char *found = name ? strchr(names, name) : NULL;
    if (!found) return fail(reader, *at - 2, "no escape of JSON", error);
    *(*out)++ = meanings[found - names];
    return EE_OK;
}

/* The quote that ends a text; end where there is none. */
static const char *find_quote(const char *at, const char *end)
{
    for (at = skip_plain(at, end); at < end && *at != '"'; at = skip_plain(at, end))
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    return at;
}

typedef struct text_room {
    memory *owner;
    char **bytes;
    size_t *capacity;
} text_room;

/* A text with escapes, the first of them at `at`. What they mean never takes more bytes than they. */
static ee_status read_escaped(const json_reader *reader, const char *from, const char **at, const text_room *room,
                              json_text *text, ee_error *error)
{
    if (!room->bytes) return fail(reader, *at, "an escape, where none may be", error);
    size_t most = (size_t)(find_quote(*at, reader->end) - from);
    ee_status status = memory_grow(room->owner, room->bytes, room->capacity, most, 1, error);
    char *out = *room->bytes;
    const char *plain = from;
    while (!status) {
        size_t length = (size_t)(*at - plain);
        memcpy(out, plain, length);
        out += length;
        if (*at == reader->end) return fail_cut(reader, error);
        if (**at == '"') break;
        plain = *at;
        if ((unsigned char)**at < ' ') return fail(reader, *at, "a control character, which must be an escape", error);
        if (**at == '\\') {
            status = read_escape(reader, at, &out, error);
            plain = *at;
        } else {
            size_t character = character_length(*at, reader->end);
            if (!character) return fail(reader, *at, "no UTF-8", error);
            *at += character;
        }
        *at = skip_plain(*at, reader->end);
    }
    *text = (json_text){*room->bytes, (size_t)(out - *room->bytes)};
    return status;
}

/* *at stands at the opening quote and goes behind the closing one. */
static ee_status read_text(const json_reader *reader, const char **at, const text_room *room, json_text *text,
                           ee_error *error)
{
    const char *from = *at + 1, *end = reader->end, *next = skip_plain(from, end);
    while (next < end && (unsigned char)*next >= 0x80) {
        size_t character = character_length(next, end);
        if (!character) return fail(reader, next, "no UTF-8", error);
        next = skip_plain(next + character, end);
    }
    if (next == end) return fail_cut(reader, error);
    if ((unsigned char)*next < ' ') return fail(reader, next, "a control character, which must be an escape", error);
    *text = (json_text){from, (size_t)(next - from)};
    ee_status status = *next == '"' ? EE_OK : read_escaped(reader, from, &next, room, text, error);
    *at = next + 1;
    return status;
}

/* ---- values ---- */

json_reader json_start(const char *bytes, size_t size, json_room *room)
{
    return (json_reader){.start = bytes, .next = bytes, .end = bytes + size, .room = room};
}

static ee_status open(json_reader *reader, const char *at, json_token *token, bool object, ee_error *error)
{
    if (reader->depth == JSON_DEPTH) return fail(reader, at, "nested too deep", error);
    reader->depth++;
    reader->objects = reader->objects << 1 | object;
    reader->after_value = false;
    reader->next = at + 1;
    token->kind = object ? JSON_KIND_OBJECT : JSON_KIND_ARRAY;
    return EE_OK;
}

static ee_status close(json_reader *reader, const char *at, json_token *token)
{
    token->kind = reader->objects & 1 ? JSON_KIND_OBJECT_END : JSON_KIND_ARRAY_END;
    reader->depth--;
    reader->objects >>= 1;
    reader->after_value = true;
    reader->next = at + 1;
    return EE_OK;
}

static ee_status read_number(const json_reader *reader, const char **at, double *number, ee_error *error)
{
    const char *behind = decimal_read(*at, reader->end, number);
    if (isnan(*number)) return fail(reader, behind, "a digit must stand here", error);
    if (isinf(*number)) return fail(reader, *at, "a number beyond what a double holds", error);
    *at = behind;
    return EE_OK;
}

static bool read_word(const json_reader *reader, const char **at, const char *word, size_t length)
{
    if ((size_t)(reader->end - *at) < length || memcmp(*at, word, length) != 0) return false;
    *at += length;
    return true;
}

static ee_status read_value(json_reader *reader, const char *at, json_token *token, ee_error *error)
{
    ee_status status = EE_OK;
    if (at == reader->end) return fail_cut(reader, error);
    reader->value = at;
    if (*at == '{' || *at == '[') return open(reader, at, token, *at == '{', error);
    if (*at == '"') {
        json_room *room = reader->room;
        text_room into = {0};
        if (room) into = (text_room){room->owner, &room->text, &room->text_capacity};
        token->kind = JSON_KIND_TEXT;
        status = read_text(reader, &at, &into, &token->text, error);
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        token->kind = JSON_KIND_NUMBER;
        status = read_number(reader, &at, &token->number, error);
    } else if (read_word(reader, &at, "true", 4)) {
        token->kind = JSON_KIND_TRUE;
    } else if (read_word(reader, &at, "false", 5)) {
        token->kind = JSON_KIND_FALSE;
    } else if (read_word(reader, &at, "null", 4)) {
        token->kind = JSON_KIND_NULL;
    } else {
        return fail(reader, at, "a value must stand here", error);
    }
    if (status) return status;
    reader->after_value = true;
    reader->next = at;
    return EE_OK;
}

/* *at goes behind the colon. */
static ee_status read_key(json_reader *reader, const char **at, json_text *key, ee_error *error)
{
    if (*at == reader->end) return fail_cut(reader, error);
    if (**at != '"') return fail(reader, *at, "a key in quotes must stand here", error);
    json_room *room = reader->room;
    text_room into = {0};
    if (room) into = (text_room){room->owner, &room->key, &room->key_capacity};
    ee_status status = read_text(reader, at, &into, key, error);
    if (status) return status;
    *at = skip_space(*at, reader->end);
    if (*at == reader->end) return fail_cut(reader, error);
    if (**at != ':') return fail(reader, *at, "a colon must follow", error);
    ++*at;
    return EE_OK;
}

ee_status json_next(json_reader *reader, json_token *token, ee_error *error)
{
    const char *at = skip_space(reader->next, reader->end);
    token->key = (json_text){NULL, 0};
    if (reader->depth == 0) {
        if (!reader->after_value) return read_value(reader, at, token, error);
        if (at < reader->end) return fail(reader, at, "nothing may follow the value", error);
        token->kind = JSON_KIND_END;
        return EE_OK;
    }
    if (at == reader->end) return fail_cut(reader, error);
    bool in_object = reader->objects & 1;
    if (*at == (in_object ? '}' : ']')) return close(reader, at, token);
    if (reader->after_value) {
        if (*at != ',')
            return fail(reader, at, in_object ? "a comma or } must follow" : "a comma or ] must follow", error);
        at = skip_space(at + 1, reader->end);
    }
    if (in_object) {
        ee_status status = read_key(reader, &at, &token->key, error);
        if (status) return status;
        at = skip_space(at, reader->end);
    }
    return read_value(reader, at, token, error);
}

ee_status json_skip(json_reader *reader, const json_token *token, json_text *span, ee_error *error)
{
    const char *from = reader->value;
    if (token->kind == JSON_KIND_OBJECT || token->kind == JSON_KIND_ARRAY) {
        unsigned outside = reader->depth - 1;
        json_token inner;
        while (reader->depth > outside) {
            ee_status status = json_next(reader, &inner, error);
            if (status) return status;
        }
    }
    if (span) *span = (json_text){from, (size_t)(reader->next - from)};
    return EE_OK;
}

/* ---- words ---- */

bool json_is(json_text text, const char *word)
{
    return strlen(word) == text.length && memcmp(text.bytes, word, text.length) == 0;
}

/* The escape of a byte, and its length: 0 where it has none. */
static size_t escape_of(char byte, char escape[6])
{
    static const char names[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t", digits[] = "0123456789abcdef";
    const char *found = byte ? strchr(meanings, byte) : NULL;
    if (found) {
        escape[0] = '\\';
        escape[1] = names[found - meanings];
        return 2;
    }
    if ((unsigned char)byte >= ' ') return 0;
    memcpy(escape, "\\u00", 4);
    escape[4] = digits[byte >> 4];
    escape[5] = digits[byte & 15];
    return 6;
}

size_t json_quote(json_text text, char *out, size_t capacity)
{
    size_t length = 0;
    for (size_t i = 0; i <= text.length + 1; i++) {
        char piece[6] = "\"";
        size_t bytes = 1;
        if (i > 0 && i <= text.length) {
            bytes = escape_of(text.bytes[i - 1], piece);
            if (bytes == 0) piece[bytes++] = text.bytes[i - 1];
        }
        for (size_t b = 0; b < bytes; b++, length++)
            if (length < capacity) out[length] = piece[b];
    }
    return length;
}
