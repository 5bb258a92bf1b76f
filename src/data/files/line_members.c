#include "line_members.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

line_members line_members_open(const char *line, size_t length, size_t number, ee_error *error)
{
    ee_error reason;
    line_members self = {.number = number, .error = error};
    self.status = json_tree_read(&self.tree, line, length, &reason);
    if (self.status)
        status_fail(error, self.status, "line %zu: %s", number, reason.message);
    else if (json_has_kind(self.tree.root, JSON_KIND_OBJECT))
        self.line = self.tree.root;
    else
        self.status = status_fail(error, EE_BAD_INPUT, "line %zu, byte 1: expected {", number);
    return self;
}

void line_members_close(line_members *self)
{
    json_tree_release(&self->tree);
    self->line = NULL;
}

const json_value *members_expect(line_members *from, const char *name, bool right, const char *expected,
                                 const json_value *value)
{
    if (from->status) return NULL;
    if (right) return value;
    from->status =
        status_fail(from->error, EE_BAD_INPUT, "line %zu: expected %s in '%s'", from->number, expected, name);
    return NULL;
}

uint64_t members_whole_of(line_members *from, const char *name, const json_value *value)
{
    uint64_t whole = 0;
    return members_expect(from, name, json_whole(value, &whole), "a whole number", value) ? whole : 0;
}

double members_real_of(line_members *from, const char *name, const json_value *value)
{
    value = members_expect(from, name, json_has_kind(value, JSON_KIND_NUMBER), "a number", value);
    return value ? value->number : 0.0;
}

const char *members_text(line_members *from, const json_value *object, const char *name)
{
    const json_value *value = json_member(object, name);
    value = members_expect(from, name, json_has_kind(value, JSON_KIND_TEXT), "text", value);
    return value ? json_text_of(value) : "";
}

char *members_copy(line_members *from, const json_value *object, const char *name)
{
    char *copy = NULL;
    const char *text = members_text(from, object, name);
    if (from->status) return NULL;
    from->status = memory_create(NULL, &copy, strlen(text) + 1, 1, from->error);
    return copy ? strcpy(copy, text) : NULL;
}

uint64_t members_whole(line_members *from, const json_value *object, const char *name)
{
    return members_whole_of(from, name, json_member(object, name));
}

double members_real(line_members *from, const json_value *object, const char *name)
{
    return members_real_of(from, name, json_member(object, name));
}

bool members_flag(line_members *from, const json_value *object, const char *name)
{
    const json_value *value = json_member(object, name);
    return json_has_kind(members_expect(from, name, json_is_flag(value), "true or false", value), JSON_KIND_TRUE);
}

uint64_t members_seed(line_members *from)
{
    const json_value *value = json_member(from->line, "seed");
    const char *digits = json_text_of(value);
    return digits ? strtoull(digits, NULL, 10) : members_whole_of(from, "seed", value);
}

uint64_t members_fingerprint(line_members *from)
{
    return strtoull(members_text(from, from->line, "fingerprint"), NULL, 16);
}
