#define _POSIX_C_SOURCE 200809L
#include "request_members.h"

#include <stdio.h>
#include <strings.h>

#include "base/options.h"

int request_shown(json_text text)
{
    size_t most = text.length < 60 ? text.length : 60;
    if (most < text.length)
        while (most && ((unsigned char)text.bytes[most] & 0xc0) == 0x80) most--;
    return (int)most;
}

/* "id", "value" or "slot" */
static void list_keys(const member_reader *known, char *into, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < known->count && length < size; i++) {
        const char *before = i == 0 ? "" : i + 1 < known->count ? ", " : " or ";
        length += (size_t)snprintf(into + length, size - length, "%s\"%s\"", before, known->names[i]);
    }
}

static ee_status refuse_unknown(const member_reader *self, ee_error *error)
{
    json_text key = self->token.key;
    char word[64] = "", expected[128];
    memcpy(word, key.bytes, (size_t)request_shown(key));
    const char *nearest = options_nearest(word, self->names, self->count);
    const char *where = self->where ? self->where : "", *colon = self->where ? ": " : "";
    if (nearest)
        return status_fail(error, EE_BAD_INPUT, "%s%sunknown key \"%s\"; did you mean \"%s\"?", where, colon, word,
                           nearest);
    list_keys(self, expected, sizeof expected);
    return status_fail(error, EE_BAD_INPUT, "%s%sunknown key \"%s\"; expected %s", where, colon, word, expected);
}

static bool is_named(const member_reader *self, const char *name)
{
    json_text key = self->token.key;
    if (!self->lenient) return json_is(key, name);
    return strlen(name) == key.length && strncasecmp(name, key.bytes, key.length) == 0;
}

static ee_status take_member(member_reader *self, ee_error *error)
{
    for (self->which = 0; self->which < self->count; self->which++)
        if (is_named(self, self->names[self->which])) break;
    if (self->which == self->count)
        return self->lenient ? json_skip(self->reader, &self->token, NULL, error) : refuse_unknown(self, error);
    bool again = self->seen & 1u << self->which && !self->lenient;
    self->seen |= 1u << self->which;
    if (!again) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "%s%sduplicate key \"%s\"", self->where ? self->where : "",
                       self->where ? ": " : "", self->names[self->which]);
}

bool member_next(member_reader *self, ee_error *error)
{
    while (!self->status) {
        self->status = json_next(self->reader, &self->token, error);
        if (self->status || self->token.kind == JSON_KIND_OBJECT_END) break;
        self->status = take_member(self, error);
        if (!self->status && self->which < self->count) return true;
    }
    return false;
}

ee_status member_begin_body(member_reader *self, ee_error *error)
{
    self->status = json_next(self->reader, &self->token, error);
    if (!self->status && self->token.kind != JSON_KIND_OBJECT)
        self->status = status_fail(error, EE_BAD_INPUT, "the body must be a JSON object");
    return self->status;
}

ee_status member_end_body(member_reader *self, ee_error *error)
{
    return self->status ? self->status : json_next(self->reader, &self->token, error);
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
