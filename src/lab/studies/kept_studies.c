#include "kept_studies.h"

#include <inttypes.h>
#include <math.h>

#include "base/file.h"

static const char file_name[] = "coverage.jsonl";

/* ---- writing ---- */

text kept_asked(const dataset *data, uint64_t seed, ee_error *error)
{
    text asked = text_start(error);
    text_add(&asked, "{\"dataset\":");
    text_json(&asked, (json_text){dataset_name(data), strlen(dataset_name(data))});
    text_add(&asked, ",\"fingerprint\":\"%016" PRIx64 "\",\"version\":\"%s\",\"kernels\":\"%s\",\"seed\":%" PRIu64 ",",
             dataset_fingerprint(data), ee_version(), ee_kernels(), seed);
    return asked;
}

void kept_add(text *into, const char *name, double value)
{
    text_add(into, "\"%s\":", name);
    if (isfinite(value))
        text_double(into, value);
    else
        text_add(into, "null");
}

static ee_status take_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    kept_studies *self = context;
    ee_status status =
        memory_grow(&self->owner, &self->lines, &self->capacity, self->count + 1, sizeof *self->lines, error);
    kept_line copy = {NULL, length, number};
    if (!status) status = memory_create(&self->owner, &copy.bytes, length, 1, error);
    if (status) return status;
    memcpy(copy.bytes, line, length);
    self->lines[self->count++] = copy;
    return EE_OK;
}

ee_status kept_studies_append(kept_studies *self, const text *line, ee_error *error)
{
    ee_status status = line->status;
    if (!status && self->file.path) status = line_file_append(&self->file, line->bytes, line->length, error);
    return status ? status : take_line(self, line->bytes, line->length - 1, self->count + 1, error);
}

/* ---- reading ---- */

static ee_status check_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    kept_studies *self = context;
    json_reader json = json_start(line, length, &self->room);
    json_token token;
    ee_error problem;
    ee_status status = json_next(&json, &token, &problem);
    if (!status && token.kind != JSON_KIND_OBJECT) status = status_fail(&problem, EE_BAD_INPUT, "byte 1: expected {");
    if (!status) status = json_skip(&json, &token, NULL, &problem);
    if (!status) status = json_next(&json, &token, &problem);
    if (status) return status_fail(error, status, "line %zu: %s", number, problem.message);
    return take_line(self, line, length, number, error);
}

ee_status kept_studies_open(const char *folder, kept_studies *out, ee_error *error)
{
    *out = (kept_studies){.file = {NULL, -1, -1}, .room = {.owner = &out->owner}};
    if (!folder) return EE_OK;
    ee_status status = line_file_open(folder, file_name, &out->file, error);
    return status ? status : line_file_each(folder, file_name, check_line, out, error);
}

void kept_studies_close(kept_studies *self)
{
    line_file_close(&self->file);
    memory_release(&self->owner);
}

kept_reader kept_studies_find(kept_studies *self, const text *asked, ee_error *error)
{
    kept_reader from = {.path = self->file.path, .asked = asked->length, .status = asked->status, .error = error};
    for (size_t i = 0; i < self->count && !from.line && !from.status; i++) {
        const kept_line *line = &self->lines[i];
        if (line->length < asked->length || memcmp(line->bytes, asked->bytes, asked->length) != 0) continue;
        from.line = line;
        from.json = json_start(line->bytes, line->length, &self->room);
    }
    return from;
}

double kept_number(kept_reader *from, const char *name)
{
    json_token token = {.kind = JSON_KIND_NULL};
    while (!from->status && token.kind != JSON_KIND_END) {
        from->status = json_next(&from->json, &token, from->error);
        bool number = token.kind == JSON_KIND_NUMBER || token.kind == JSON_KIND_NULL;
        if (from->status || !number || from->json.value < from->json.start + from->asked) continue;
        if (json_is(token.key, name)) return token.kind == JSON_KIND_NUMBER ? token.number : (double)NAN;
        break;
    }
    if (!from->status)
        from->status = status_fail(from->error, EE_BAD_INPUT,
                                   "%s: line %zu: expected a number in '%s'; delete that line to continue",
                                   from->path ? file_tail(from->path) : file_name, from->line->number, name);
    return (double)NAN;
}
