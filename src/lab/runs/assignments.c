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

static bool same(const char *left, size_t left_length, const char *right, size_t right_length)
{
    return left_length == right_length && memcmp(left, right, left_length) == 0;
}

bool assignment_has_name(const assignment *one, const char *name)
{
    return same(one->name, one->name_length, name, strlen(name));
}

bool assignment_has_value(const assignment *one, const char *value)
{
    return same(one->value, one->value_length, value, strlen(value));
}

/* The one of options with that name; false where there is none. */
static bool find_name(const char *options, const char *name, size_t length, assignment *out)
{
    while (assignment_next(&options, out))
        if (same(out->name, out->name_length, name, length)) return true;
    return false;
}

bool assignment_differs(const assignment *one, const char *options)
{
    assignment other;
    return find_name(options, one->name, one->name_length, &other) &&
           !same(other.value, other.value_length, one->value, one->value_length);
}

bool assignment_is_in(const assignment *one, const char *options)
{
    assignment other;
    return find_name(options, one->name, one->name_length, &other) &&
           same(other.value, other.value_length, one->value, one->value_length);
}

bool assignments_set(const char *options, const char *name)
{
    assignment one;
    return find_name(options, name, strlen(name), &one);
}
