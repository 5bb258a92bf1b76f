/* Bytes that nobody meant as JSON: reading them ends, and jansson reads the same of them or refuses them too. Three
 * things differ: ours bounds how deep values nest; jansson takes no key with a zero byte (\u0000); and jansson does not
 * see a zero byte that follows a number or a word. */
#include <jansson.h>

#include "base/json.h"
#include "fuzz.h"

/* A text, quoted, reads as itself. */
static void check_quote(json_text text)
{
    size_t size = json_quote(text, NULL, 0);
    char *quoted = malloc(size);
    json_room room = {0};
    json_token token = {.kind = JSON_KIND_END};
    require(quoted && json_quote(text, quoted, size) == size, "a quote of two lengths");
    json_reader reader = json_start(quoted, size, &room);
    require(json_next(&reader, &token, NULL) == EE_OK && token.kind == JSON_KIND_TEXT, "a quote is no text");
    require(token.text.length == text.length && memcmp(token.text.bytes, text.bytes, text.length) == 0,
            "a quote of something else");
    memory_free(room.text);
    free(quoted);
}

/* ---- what our reader reads, as jansson keeps it ---- */

typedef struct tree {
    json_t *nested[JSON_DEPTH], *root; /* nested ones are borrowed from the root */
    size_t depth;
    bool has_zero_key;
} tree;

static json_t *value_of(const json_token *token)
{
    switch (token->kind) {
    case JSON_KIND_NULL:
        return json_null();
    case JSON_KIND_FALSE:
    case JSON_KIND_TRUE:
        return json_boolean(token->kind == JSON_KIND_TRUE);
    case JSON_KIND_NUMBER:
        return json_real(token->number);
    case JSON_KIND_TEXT:
        return json_stringn(token->text.bytes, token->text.length);
    case JSON_KIND_OBJECT:
        return json_object();
    case JSON_KIND_ARRAY:
        return json_array();
    default:
        return NULL;
    }
}

static void add_member(tree *to, json_t *object, json_text name, json_t *value)
{
    char *key = calloc(1, name.length + 1);
    require(key && name.bytes, "a member without a key");
    memcpy(key, name.bytes, name.length);
    to->has_zero_key = to->has_zero_key || strlen(key) < name.length;
    require(json_object_set_new(object, key, value) == 0, "a key that is no UTF-8");
    free(key);
    check_quote(name);
}

static void add_token(tree *to, const json_token *token)
{
    if (token->kind == JSON_KIND_OBJECT_END || token->kind == JSON_KIND_ARRAY_END) {
        require(to->depth-- > 0, "an end without a beginning");
        require(json_is_object(to->nested[to->depth]) == (token->kind == JSON_KIND_OBJECT_END), "the wrong end");
        return;
    }
    json_t *value = value_of(token), *outer = to->depth > 0 ? to->nested[to->depth - 1] : NULL;
    require(value != NULL, "no value, or a text that is no UTF-8");
    if (token->kind == JSON_KIND_TEXT) check_quote(token->text);
    if (json_is_object(outer)) {
        add_member(to, outer, token->key, value);
    } else {
        require(token->key.bytes == NULL, "a key out of an object");
        if (outer)
            json_array_append_new(outer, value);
        else
            to->root = value;
    }
    if (json_is_object(value) || json_is_array(value)) to->nested[to->depth++] = value;
}

static ee_status read_tree(const char *bytes, size_t size, json_room *room, tree *into, ee_error *error)
{
    json_reader reader = json_start(bytes, size, room);
    json_token token;
    for (;;) {
        ee_status status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_END) return status;
        require(reader.depth <= JSON_DEPTH && reader.next <= reader.end, "the reader is beside itself");
        add_token(into, &token);
    }
}

/* Skipping the outermost value accepts what reading it does, and gives all but the white space around it. */
static void check_skip(const char *bytes, size_t size, json_room *room, ee_status expected)
{
    json_reader reader = json_start(bytes, size, room);
    json_token token;
    json_text span = {NULL, 0};
    ee_status status = json_next(&reader, &token, NULL);
    if (!status) status = json_skip(&reader, &token, &span, NULL);
    if (!status) status = json_next(&reader, &token, NULL);
    require(status == expected, "skipping and reading do not agree");
    if (status) return;
    size_t before = strspn(bytes, " \t\r\n");
    require(span.bytes == bytes + before, "a span that starts elsewhere");
    for (size_t i = before + span.length; i < size; i++) require(strchr(" \t\r\n", bytes[i]), "a span that is cut");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    json_room room = {0};
    tree ours = {.depth = 0};
    ee_error error = {EE_OK, ""};
    ee_status status = read_tree(text, size, &room, &ours, &error);
    require_status(status, &error, EE_BAD_INPUT);
    check_skip(text, size, &room, status);
    json_t *theirs = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    if (!status && !ours.has_zero_key) require(theirs && json_equal(ours.root, theirs), "jansson reads something else");
    if (status && theirs && memchr(text, 0, size) == NULL)
        require(strstr(error.message, "nested too deep"), "only jansson accepts it");
    json_decref(theirs);
    json_decref(ours.root);
    memory_free(room.key);
    memory_free(room.text);
    return 0;
}
