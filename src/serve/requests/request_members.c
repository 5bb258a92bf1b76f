#include "request_members.h"

#include <stdio.h>

#include "base/options.h"

int request_shown(json_text text)
{
    size_t most = text.length < 60 ? text.length : 60;
    if (most < text.length)
        while (most && ((unsigned char)text.bytes[most] & 0xc0) == 0x80) most--;
    return (int)most;
}

/* "id", "value" or "slot" */
static void list_keys(const member_names *known, char *into, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < known->count && length < size; i++) {
        const char *before = i == 0 ? "" : i + 1 < known->count ? ", " : " or ";
        length += (size_t)snprintf(into + length, size - length, "%s\"%s\"", before, known->names[i]);
    }
}

static ee_status refuse_unknown(json_text key, const member_names *known, const char *where, ee_error *error)
{
    char word[64] = "", expected[128];
    int shown = request_shown(key);
    memcpy(word, key.bytes, (size_t)shown);
    const char *nearest = options_nearest(word, known->names, known->count), *colon = where[0] ? ": " : "";
    if (nearest)
        return status_fail(error, EE_BAD_INPUT, "%s%sunknown key \"%s\"; did you mean \"%s\"?", where, colon, word,
                           nearest);
    list_keys(known, expected, sizeof expected);
    return status_fail(error, EE_BAD_INPUT, "%s%sunknown key \"%s\"; expected %s", where, colon, word, expected);
}

ee_status request_member(json_text key, const member_names *known, const char *where, unsigned *seen, size_t *which,
                         ee_error *error)
{
    for (size_t i = 0; i < known->count; i++) {
        if (!json_is(key, known->names[i])) continue;
        if (*seen & 1u << i)
            return status_fail(error, EE_BAD_INPUT, "%s%sduplicate key \"%s\"", where, where[0] ? ": " : "",
                               known->names[i]);
        *seen |= 1u << i;
        *which = i;
        return EE_OK;
    }
    return refuse_unknown(key, known, where, error);
}

ee_status request_check_id(const json_token *token, const char *what, ee_error *error)
{
    if (token->kind != JSON_KIND_TEXT) return status_fail(error, EE_BAD_INPUT, "%s must be a string", what);
    json_text id = token->text;
    if (id.length == 0 || id.length > REQUEST_ID_MOST)
        return status_fail(error, EE_BAD_INPUT, "%s must have 1 to %d bytes, got %zu", what, REQUEST_ID_MOST,
                           id.length);
    for (size_t i = 0; i < id.length; i++)
        if ((unsigned char)id.bytes[i] < ' ' || id.bytes[i] == 127)
            return status_fail(error, EE_BAD_INPUT, "%s has a control character at byte %zu", what, i + 1);
    return EE_OK;
}

ee_status kept_texts_keep(kept_texts *self, const json_reader *reader, json_text *text, ee_error *error)
{
    if (text->bytes >= reader->start && text->bytes < reader->end) return EE_OK;
    /* What escapes mean is shorter than they: all texts of an input fit into as much, and none ever moves. */
    size_t whole = (size_t)(reader->end - reader->start);
    ee_status status = EE_OK;
    if (!self->size) status = memory_grow(self->owner, &self->bytes, &self->capacity, whole, 1, error);
    if (status) return status;
    char *copy = self->bytes + self->size;
    memcpy(copy, text->bytes, text->length);
    self->size += text->length;
    text->bytes = copy;
    return EE_OK;
}
