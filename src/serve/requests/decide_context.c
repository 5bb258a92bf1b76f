/* The stored context of a decision with named features, from our requests and Personalizer's. */
#include "decide_request.h"
#include "serve/personalizer/personalizer.h"

static char *add(char *out, const char *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

static char *add_words(char *out, const char *words)
{
    return add(out, words, strlen(words));
}

/* In JSON, line ends occur only between values, where a blank is equivalent. */
static char *add_json(char *out, json_text value)
{
    char *end = value.length ? add(out, value.bytes, value.length) : out;
    for (; out < end; out++)
        if (*out == '\n' || *out == '\r') *out = ' ';
    return end;
}

static json_text members_of(json_text object)
{
    return object.bytes ? json_members(object) : (json_text){"", 0};
}

static size_t quoted_most(json_text name)
{
    return 6 * name.length + 2;
}

ee_status decide_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size,
                                 size_t *capacity, ee_error *error)
{
    json_text context = members_of(self->context);
    size_t most = context.length + 16;
    for (size_t i = 0; i < self->count; i++) most += self->features[i].length + quoted_most(self->names[i]) + 14;
    ee_status status = memory_grow(owner, bytes, capacity, *size + most, 1, error);
    if (status) return status;
    char *out = add(*bytes + *size, "{", 1);
    out = add_json(out, context);
    if (context.length) *out++ = ',';
    out = add(out, "\"_multi\":[", 10);
    for (size_t i = 0; i < self->count; i++) {
        json_text members = members_of(self->features[i]);
        if (i) *out++ = ',';
        out = add(out, "{\"_tag\":", 8);
        out += json_quote(self->names[i], out, quoted_most(self->names[i]));
        if (members.length) *out++ = ',';
        out = add_json(out, members);
        *out++ = '}';
    }
    out = add(out, "]}", 2);
    *size = (size_t)(out - *bytes);
    return EE_OK;
}

ee_status rank_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size, size_t *capacity,
                               ee_error *error)
{
    size_t most = self->context.length + 32;
    for (size_t i = 0; i < self->count; i++) most += self->features[i].length + 2 * quoted_most(self->names[i]) + 48;
    ee_status status = memory_grow(owner, bytes, capacity, *size + most, 1, error);
    if (status) return status;
    char *out = add_words(*bytes + *size, "{");
    if (self->context.bytes) {
        out = add_json(add_words(out, "\"FromUrl\":"), self->context);
        *out++ = ',';
    }
    out = add_words(out, "\"_multi\":[");
    for (size_t i = 0; i < self->count; i++) {
        if (i) *out++ = ',';
        out = add_words(out, "{\"_tag\":");
        out += json_quote(self->names[i], out, quoted_most(self->names[i]));
        out = add_words(out, ",\"i\":{\"constant\":1,\"id\":");
        out += json_quote(self->names[i], out, quoted_most(self->names[i]));
        out = add_words(out, "}");
        if (self->features[i].bytes) out = add_json(add_words(out, ",\"j\":"), self->features[i]);
        *out++ = '}';
    }
    out = add_words(out, "]}");
    *size = (size_t)(out - *bytes);
    return EE_OK;
}
