#include "json.h"

#include <string.h>

#include "decimal.h"
#include "octets.h"

static ee_status fail(const json_reader *reader, const char *at, const char *what, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "invalid JSON at byte %zu: %s", (size_t)(at - reader->start) + 1, what);
}

static ee_status fail_cut(const json_reader *reader, ee_error *error)
{
    return fail(reader, reader->end, "unexpected end of input", error);
}

static const char *skip_space(const char *at, const char *end)
{
    if (at < end && (unsigned char)*at > ' ') return at;
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

/* *at stands at a byte of no ASCII, or at a control character, and goes behind the character. */
static ee_status pass_character(const json_reader *reader, const char **at, ee_error *error)
{
    if ((unsigned char)**at < ' ') return fail(reader, *at, "unescaped control character", error);
    size_t length = character_length(*at, reader->end);
    if (!length) return fail(reader, *at, "invalid UTF-8", error);
    *at += length;
    return EE_OK;
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
    if (code < 0) return fail(reader, *at, "expected four hexadecimal digits after \\u", error);
    if (code >= 0xd800 && code < 0xe000) {
        if (code < 0xdc00 && reader->end - *at >= 6 && (*at)[4] == '\\' && (*at)[5] == 'u')
            low = read_hexadecimal(*at + 6, reader->end);
        if (low < 0xdc00 || low >= 0xe000) return fail(reader, *at, "unpaired surrogate", error);
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
    if (!found) return fail(reader, *at - 2, "invalid escape", error);
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

/* A text with escapes, the first of them at `at`. What they mean never takes more bytes than they. */
static ee_status read_escaped(const json_reader *reader, const char *from, const char **at, bool is_key,
                              json_text *text, ee_error *error)
{
    json_room *room = reader->room;
    if (!room) return fail(reader, *at, "escapes are not allowed here", error);
    char **block = is_key ? &room->key : &room->text;
    size_t *capacity = is_key ? &room->key_capacity : &room->text_capacity;
    size_t most = (size_t)(find_quote(*at, reader->end) - from);
    ee_status status = memory_grow(room->owner, block, capacity, most, 1, error);
    char *out = *block;
    const char *plain = from;
    while (!status) {
        size_t length = (size_t)(*at - plain);
        memcpy(out, plain, length);
        out += length;
        if (*at == reader->end) return fail_cut(reader, error);
        if (**at == '"') break;
        plain = *at;
        if (**at == '\\') {
            status = read_escape(reader, at, &out, error);
            plain = *at;
        } else {
            status = pass_character(reader, at, error);
        }
        *at = skip_plain(*at, reader->end);
    }
    *text = (json_text){*block, (size_t)(out - *block)};
    return status;
}

/* The rest of a text in which something odd stands at `at`. Apart from read_text, which stays small and inline. */
static ee_status read_odd_text(const json_reader *reader, const char *from, const char **at, bool is_key,
                               json_text *text, ee_error *error)
{
    ee_status status = EE_OK;
    const char *end = reader->end;
    while (*at < end && **at != '"' && **at != '\\') {
        status = pass_character(reader, at, error);
        if (status) return status;
        *at = skip_plain(*at, end);
    }
    if (*at == end) return fail_cut(reader, error);
    *text = (json_text){from, (size_t)(*at - from)};
    return **at == '"' ? EE_OK : read_escaped(reader, from, at, is_key, text, error);
}

/* *at stands at the opening quote and goes behind the closing one. */
static inline ee_status read_text(const json_reader *reader, const char **at, bool is_key, json_text *text,
                                  ee_error *error)
{
    const char *from = *at + 1, *next = skip_plain(from, reader->end);
    ee_status status = EE_OK;
    if (next < reader->end && *next == '"')
        *text = (json_text){from, (size_t)(next - from)};
    else
        status = read_odd_text(reader, from, &next, is_key, text, error);
    *at = next + 1;
    return status;
}

/* ---- values ---- */

json_reader json_start(const char *bytes, size_t size, json_room *room)
{
    return (json_reader){.start = bytes, .next = bytes, .end = bytes + size, .room = room};
}

static ee_status open_nested(json_reader *reader, const char *at, json_token *token, bool object, ee_error *error)
{
    if (reader->depth == JSON_DEPTH) return fail(reader, at, "nested too deeply", error);
    reader->depth++;
    reader->objects = reader->objects << 1 | object;
    reader->after_value = false;
    reader->next = at + 1;
    token->kind = object ? JSON_KIND_OBJECT : JSON_KIND_ARRAY;
    return EE_OK;
}

static ee_status close_nested(json_reader *reader, const char *at, json_token *token)
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
    decimal_end end = decimal_read(*at, reader->end, number);
    if (end.fault == DECIMAL_NO_DIGIT) return fail(reader, end.at, "expected a digit", error);
    if (end.fault == DECIMAL_TOO_LARGE) return fail(reader, *at, "number beyond the range of a double", error);
    *at = end.at;
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
    if (*at == '"') {
        token->kind = JSON_KIND_TEXT;
        status = read_text(reader, &at, false, &token->text, error);
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        token->kind = JSON_KIND_NUMBER;
        status = read_number(reader, &at, &token->number, error);
    } else if (*at == '{' || *at == '[') {
        return open_nested(reader, at, token, *at == '{', error);
    } else if (read_word(reader, &at, "true", 4)) {
        token->kind = JSON_KIND_TRUE;
    } else if (read_word(reader, &at, "false", 5)) {
        token->kind = JSON_KIND_FALSE;
    } else if (read_word(reader, &at, "null", 4)) {
        token->kind = JSON_KIND_NULL;
    } else {
        return fail(reader, at, "expected a value", error);
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
    if (**at != '"') return fail(reader, *at, "expected a key in double quotes", error);
    ee_status status = read_text(reader, at, true, key, error);
    if (status) return status;
    *at = skip_space(*at, reader->end);
    if (*at == reader->end) return fail_cut(reader, error);
    if (**at != ':') return fail(reader, *at, "expected ':'", error);
    ++*at;
    return EE_OK;
}

/* The end of the input, where the value outside of all others is read. */
static ee_status read_end(const json_reader *reader, const char *at, json_token *token, ee_error *error)
{
    if (at < reader->end) return fail(reader, at, "unexpected text after the value", error);
    token->kind = JSON_KIND_END;
    return EE_OK;
}

ee_status json_next(json_reader *reader, json_token *token, ee_error *error)
{
    const char *at = skip_space(reader->next, reader->end);
    bool in_object = reader->objects & 1;
    token->key = (json_text){NULL, 0};
    if (reader->depth == 0 && reader->after_value) return read_end(reader, at, token, error);
    if (at == reader->end) return fail_cut(reader, error);
    if (reader->depth > 0 && *at == (in_object ? '}' : ']')) return close_nested(reader, at, token);
    if (reader->after_value) {
        const char *must = in_object ? "expected ',' or '}'" : "expected ',' or ']'";
        if (*at != ',') return fail(reader, at, must, error);
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

/* ---- texts of others ---- */

bool json_is_utf8(json_text text)
{
    const char *at = text.bytes, *end = at + text.length;
    while (at < end) {
        size_t length = (unsigned char)*at < 0x80 ? 1 : character_length(at, end);
        if (!length) return false;
        at += length;
    }
    return true;
}

/* ---- writing ---- */

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

json_text json_members(json_text object)
{
    const char *at = object.bytes + 1, *end = object.bytes + object.length - 1;
    while (at < end && (unsigned char)*at <= ' ') at++;
    while (at < end && (unsigned char)end[-1] <= ' ') end--;
    return (json_text){at, (size_t)(end - at)};
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
