/* JSON, read in one pass and without a tree (RFC 8259, strictly). The reader gives one value after the other:
 *
 *     {"a": [1, true], "b": "x"}
 *     OBJECT, ARRAY of key "a", NUMBER, TRUE, ARRAY_END, TEXT of key "b", OBJECT_END, END
 *
 * Text is UTF-8 and checked. Numbers become the nearest double; one beyond the doubles is an error. Nothing is trusted:
 * what nests deeper than JSON_DEPTH is refused, not followed. */
#ifndef EENET_JSON_H
#define EENET_JSON_H

#include <stdbool.h>
#include <string.h>

#include "memory.h"

enum { JSON_DEPTH = 64 };

/* The names are long because jansson, which the tests use, takes the short ones. */
typedef enum json_kind {
    JSON_KIND_END, /* of the input: what follows the one value is white space alone */
    JSON_KIND_NULL,
    JSON_KIND_FALSE,
    JSON_KIND_TRUE,
    JSON_KIND_NUMBER,
    JSON_KIND_TEXT,
    JSON_KIND_OBJECT,
    JSON_KIND_OBJECT_END,
    JSON_KIND_ARRAY,
    JSON_KIND_ARRAY_END
} json_kind;

/* Bytes of the input, or of the room where they had escapes; no zero follows them. */
typedef struct json_text {
    const char *bytes;
    size_t length;
} json_text;

typedef struct json_token {
    json_kind kind;
    json_text key;  /* of a member of an object; bytes is NULL for all others */
    double number;  /* of JSON_KIND_NUMBER, and set there alone */
    json_text text; /* of JSON_KIND_TEXT, and set there alone */
} json_token;       /* its texts are valid until the next token or skip, unless they lie in the input */

/* Room for texts with escapes; one serves any number of inputs, one at a time. {.owner = ...} starts it. */
typedef struct json_room {
    memory *owner;
    char *key, *text;
    size_t key_capacity, text_capacity;
} json_room;

typedef struct json_reader {
    const char *start, *next, *end;
    const char *value; /* where that of the last token begins */
    json_room *room;
    unsigned depth;
    uint64_t objects; /* the lowest bit: what is open is an object, else an array; the next: what is around it */
    bool after_value; /* a comma or an end must come */
} json_reader;

/* bytes (size) are borrowed until the last token; room may be NULL where a text with escapes is to be refused. */
json_reader json_start(const char *bytes, size_t size, json_room *room);

/* EE_BAD_INPUT for invalid JSON: "invalid JSON at byte 17: expected ',' or ']'". Bytes count from 1. After an error the
 * reader does not move. After the end, every call returns JSON_KIND_END. */
ee_status json_next(json_reader *reader, json_token *token, ee_error *error);

/* After a token: passes over the rest of what it begins (an object or array to its end; else nothing), checking it as
 * json_next does. span, where it is not NULL, becomes the bytes of the whole value. */
ee_status json_skip(json_reader *reader, const json_token *token, json_text *span, ee_error *error);

/* Whether a text from elsewhere is UTF-8, as all texts are that were read here. */
bool json_is_utf8(json_text text);

/* Whether a text is this word. */
static inline bool json_is(json_text text, const char *word)
{
    return text.bytes && strlen(word) == text.length && memcmp(text.bytes, word, text.length) == 0;
}

/* The order of two texts by their bytes; a text comes before its continuations. */
static inline int json_compare(json_text left, json_text right)
{
    size_t common = left.length < right.length ? left.length : right.length;
    int order = common ? memcmp(left.bytes, right.bytes, common) : 0;
    return order ? order : (left.length > right.length) - (left.length < right.length);
}

/* How much of a text a message shows: the precision of "%.*s". */
static inline int json_shown(json_text text)
{
    enum { MOST = 40 };
    return text.length < MOST ? (int)text.length : MOST;
}

/* The members of an object that was read, without its braces and the white space within them. */
json_text json_members(json_text object);

/* A text as a JSON string, quotes and escapes included, as snprintf does: writes at most capacity bytes and returns the
 * length of the whole. */
size_t json_quote(json_text text, char *out, size_t capacity);

#endif
