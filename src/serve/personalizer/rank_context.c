/* The stored context of a decision that Personalizer's API asked for. */
#include "personalizer.h"
#include "serve/requests/context_writer.h"

ee_status rank_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size, size_t *capacity,
                               ee_error *error)
{
    size_t most = self->context.length + 32;
    for (size_t i = 0; i < self->count; i++)
        most += self->features[i].length + 2 * context_quoted_most(self->names[i]) + 48;
    ee_status status = memory_grow(owner, bytes, capacity, *size + most, 1, error);
    if (status) return status;
    char *out = context_add(*bytes + *size, "{");
    if (self->context.bytes) {
        out = context_add_json(context_add(out, "\"FromUrl\":"), self->context);
        *out++ = ',';
    }
    out = context_add(out, "\"_multi\":[");
    for (size_t i = 0; i < self->count; i++) {
        if (i) *out++ = ',';
        out = context_add(out, "{\"_tag\":");
        out += json_quote(self->names[i], out, context_quoted_most(self->names[i]));
        out = context_add(out, ",\"i\":{\"constant\":1,\"id\":");
        out += json_quote(self->names[i], out, context_quoted_most(self->names[i]));
        out = context_add(out, "}");
        if (self->features[i].bytes) out = context_add_json(context_add(out, ",\"j\":"), self->features[i]);
        *out++ = '}';
    }
    out = context_add(out, "]}");
    *size = (size_t)(out - *bytes);
    return EE_OK;
}
