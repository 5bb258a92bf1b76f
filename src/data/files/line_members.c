#include "line_members.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

line_members line_members_open(const char *line, size_t length, size_t number, ee_error *error)
{
    json_error_t problem;
    line_members self = {json_loadb(line, length, 0, &problem), number, EE_OK, error};
    if (!self.line)
        self.status =
            status_fail(error, EE_BAD_INPUT, "line %zu, byte %d: %s", number, problem.position + 1, problem.text);
    else if (!json_is_object(self.line))
        self.status = status_fail(error, EE_BAD_INPUT, "line %zu, byte 1: expected {", number);
    return self;
}

void line_members_close(line_members *self)
{
    json_decref(self->line);
    self->line = NULL;
}

const json_t *members_expect(line_members *from, const char *name, bool right, const char *expected,
                             const json_t *value)
{
    if (from->status) return NULL;
    if (right) return value;
    from->status =
        status_fail(from->error, EE_BAD_INPUT, "line %zu: expected %s in '%s'", from->number, expected, name);
    return NULL;
}

uint64_t members_whole_of(line_members *from, const char *name, const json_t *value)
{
    bool right = json_is_integer(value) && json_integer_value(value) >= 0;
    value = members_expect(from, name, right, "a whole number", value);
    return value ? (uint64_t)json_integer_value(value) : 0;
}

double members_real_of(line_members *from, const char *name, const json_t *value)
{
    value = members_expect(from, name, json_is_number(value), "a number", value);
    return value ? json_number_value(value) : 0.0;
}

const char *members_text(line_members *from, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    value = members_expect(from, name, json_is_string(value), "text", value);
    return value ? json_string_value(value) : "";
}

char *members_copy(line_members *from, const json_t *object, const char *name)
{
    char *copy = NULL;
    const char *text = members_text(from, object, name);
    if (from->status) return NULL;
    from->status = memory_create(NULL, &copy, strlen(text) + 1, 1, from->error);
    return copy ? strcpy(copy, text) : NULL;
}

uint64_t members_whole(line_members *from, const json_t *object, const char *name)
{
    return members_whole_of(from, name, json_object_get(object, name));
}

double members_real(line_members *from, const json_t *object, const char *name)
{
    return members_real_of(from, name, json_object_get(object, name));
}

bool members_flag(line_members *from, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_true(members_expect(from, name, json_is_boolean(value), "true or false", value));
}

uint64_t members_seed(line_members *from)
{
    const json_t *value = json_object_get(from->line, "seed");
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : members_whole_of(from, "seed", value);
}

uint64_t members_fingerprint(line_members *from)
{
    return strtoull(members_text(from, from->line, "fingerprint"), NULL, 16);
}
