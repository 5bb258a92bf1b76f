#include "json_tree.h"

#include "base/decimal.h"

static ee_status copy_text(json_tree *into, json_text from, const char **out, ee_error *error)
{
    char *copy;
    if (memchr(from.bytes, 0, from.length)) return status_fail(error, EE_BAD_INPUT, "a string contains a zero byte");
    ee_status status = memory_create(&into->owner, &copy, from.length + 1, 1, error);
    if (status) return status;
    memcpy(copy, from.bytes, from.length);
    *out = copy;
    return EE_OK;
}

static ee_status make_value(json_tree *into, const json_reader *reader, const json_token *token, json_value **out,
                            ee_error *error)
{
    ee_status status = memory_create(&into->owner, out, 1, sizeof **out, error);
    if (status) return status;
    (*out)->kind = token->kind;
    if (token->key.bytes) status = copy_text(into, token->key, &(*out)->key, error);
    if (!status && token->kind == JSON_KIND_TEXT) status = copy_text(into, token->text, &(*out)->text, error);
    if (token->kind != JSON_KIND_NUMBER || status) return status;
    (*out)->number = token->number;
    return copy_text(into, (json_text){reader->value, (size_t)(reader->next - reader->value)}, &(*out)->text, error);
}

/* Reads the children of a value that has just begun. */
static ee_status read_children(json_tree *into, json_reader *reader, json_value *parent, ee_error *error)
{
    const json_value **place = &parent->first;
    json_kind end = parent->kind == JSON_KIND_OBJECT ? JSON_KIND_OBJECT_END : JSON_KIND_ARRAY_END;
    json_token token;
    ee_status status;
    while (!(status = json_next(reader, &token, error)) && token.kind != end) {
        json_value *child;
        status = make_value(into, reader, &token, &child, error);
        if (!status && child->key && json_member(parent, child->key))
            status = status_fail(error, EE_BAD_INPUT, "the key \"%.40s\" occurs twice", child->key);
        if (!status && (child->kind == JSON_KIND_OBJECT || child->kind == JSON_KIND_ARRAY))
            status = read_children(into, reader, child, error);
        if (status) return status;
        *place = child;
        place = &child->next;
        parent->count++;
    }
    return status;
}

ee_status json_tree_read(json_tree *out, const char *bytes, size_t size, ee_error *error)
{
    *out = (json_tree){0};
    json_room room = {.owner = &out->owner};
    json_reader reader = json_start(bytes, size, &room);
    json_token token;
    json_value *root;
    ee_status status = json_next(&reader, &token, error);
    if (!status) status = make_value(out, &reader, &token, &root, error);
    if (!status && (token.kind == JSON_KIND_OBJECT || token.kind == JSON_KIND_ARRAY))
        status = read_children(out, &reader, root, error);
    if (!status) status = json_next(&reader, &token, error); /* nothing follows it */
    if (!status) out->root = root;
    return status;
}

void json_tree_release(json_tree *self)
{
    memory_release(&self->owner);
    self->root = NULL;
}

const json_value *json_member(const json_value *object, const char *key)
{
    const json_value *found = object ? object->first : NULL;
    while (found && !(found->key && strcmp(found->key, key) == 0)) found = found->next;
    return found;
}

const json_value *json_element(const json_value *array, size_t place)
{
    const json_value *found = array ? array->first : NULL;
    while (found && place--) found = found->next;
    return found;
}

const char *json_text_of(const json_value *value)
{
    return json_has_kind(value, JSON_KIND_TEXT) ? value->text : NULL;
}

bool json_whole(const json_value *value, uint64_t *out)
{
    if (!json_has_kind(value, JSON_KIND_NUMBER) || value->text[strspn(value->text, "0123456789")]) return false;
    return decimal_whole(value->text, out) && *out <= INT64_MAX;
}
