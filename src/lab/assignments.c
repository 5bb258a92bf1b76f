#include "assignments.h"

#include <string.h>

bool assignment_next(const char **place, assignment *out)
{
    const char *name = *place + strspn(*place, " ");
    if (!*name) return false;
    size_t length = strcspn(name, " "), equals = strcspn(name, "= ");
    size_t value = equals < length ? equals + 1 : length;
    *out = (assignment){name, name + value, equals, length - value, length};
    *place = name + length;
    return true;
}

bool assignment_has_name(const assignment *one, const char *name)
{
    return strlen(name) == one->name_length && memcmp(name, one->name, one->name_length) == 0;
}

bool assignment_has_value(const assignment *one, const char *value)
{
    return strlen(value) == one->value_length && memcmp(value, one->value, one->value_length) == 0;
}

bool assignment_differs(const assignment *one, const char *options)
{
    assignment other;
    while (assignment_next(&options, &other)) {
        if (other.name_length != one->name_length || memcmp(other.name, one->name, one->name_length) != 0) continue;
        return other.value_length != one->value_length || memcmp(other.value, one->value, one->value_length) != 0;
    }
    return false;
}

bool assignments_set(const char *options, const char *name)
{
    assignment one;
    while (assignment_next(&options, &one))
        if (assignment_has_name(&one, name)) return true;
    return false;
}
