/* The stored context of a decision with named features. */
#include "context_writer.h"
#include "decide_request.h"

static json_text members_of(json_text object)
{
    return object.bytes ? json_members(object) : (json_text){"", 0};
}

ee_status decide_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size,
                                 size_t *capacity, ee_error *error)
{
    json_text context = members_of(self->context);
    size_t most = context.length + 16;
    for (size_t i = 0; i < self->count; i++)
        most += self->features[i].length + context_quoted_most(self->names[i]) + 14;
    ee_status status = memory_grow(owner, bytes, capacity, *size + most, 1, error);
    if (status) return status;
    char *out = context_add(*bytes + *size, "{");
    out = context_add_json(out, context);
    if (context.length) *out++ = ',';
    out = context_add(out, "\"_multi\":[");
    for (size_t i = 0; i < self->count; i++) {
        json_text members = members_of(self->features[i]);
        if (i) *out++ = ',';
        out = context_add(out, "{\"_tag\":");
        out += json_quote(self->names[i], out, context_quoted_most(self->names[i]));
        if (members.length) *out++ = ',';
        out = context_add_json(out, members);
        *out++ = '}';
    }
    out = context_add(out, "]}");
    *size = (size_t)(out - *bytes);
    return EE_OK;
}
