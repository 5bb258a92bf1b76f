/* A JSON document as a tree, for small files. base/json.h reads without one, many times faster.
 *
 * Every function takes NULL for a value that is not there. */
#ifndef EENET_JSON_TREE_H
#define EENET_JSON_TREE_H

#include "base/json.h"

typedef struct json_value {
    json_kind kind;   /* JSON_KIND_OBJECT and JSON_KIND_ARRAY for whole ones */
    const char *key;  /* of a member; else NULL */
    const char *text; /* of a string, and the digits of a number; else NULL */
    double number;
    const struct json_value *first, *next; /* the first child; the next one of the same parent */
    size_t count;                          /* children */
} json_value;

typedef struct json_tree {
    memory owner;
    const json_value *root;
} json_tree;

/* EE_BAD_INPUT for invalid JSON, for a key that an object has twice, and for a zero byte in a string. Release it, on
 * failure too. */
ee_status json_tree_read(json_tree *out, const char *bytes, size_t size, ee_error *error);
void json_tree_release(json_tree *self);

/* A member of an object, an element of an array; NULL if there is none. */
const json_value *json_member(const json_value *object, const char *key);
const json_value *json_element(const json_value *array, size_t place);

/* The text of a string; NULL for anything else. */
const char *json_text_of(const json_value *value);

/* Whether it is a whole number of 0 or more below 2^63, spelled without point and exponent. */
bool json_whole(const json_value *value, uint64_t *out);

static inline bool json_has_kind(const json_value *value, json_kind kind)
{
    return value && value->kind == kind;
}

/* The elements of an array; 0 for anything else. */
static inline size_t json_count(const json_value *value)
{
    return json_has_kind(value, JSON_KIND_ARRAY) ? value->count : 0;
}

static inline bool json_is_flag(const json_value *value)
{
    return json_has_kind(value, JSON_KIND_TRUE) || json_has_kind(value, JSON_KIND_FALSE);
}

#endif
