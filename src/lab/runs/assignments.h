/* Options as text: "name=value name=value", as ee_settings takes them and as results keep them. */
#ifndef EENET_ASSIGNMENTS_H
#define EENET_ASSIGNMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* One of them. It lies in the text that it was found in: nothing is ended by a zero. */
typedef struct assignment {
    const char *name, *value;
    size_t name_length, value_length;
    size_t length; /* of name=value */
} assignment;

/* The one at *place, which moves on; false after the last. */
bool assignment_next(const char **place, assignment *out);

bool assignment_has_name(const assignment *one, const char *name);
bool assignment_has_value(const assignment *one, const char *value);

/* Whether options has the same name with another value. One that it does not have does not act there. */
bool assignment_differs(const assignment *one, const char *options);

/* Whether options has the same name with the same value. */
bool assignment_is_in(const assignment *one, const char *options);

/* Whether options has the name. */
bool assignments_set(const char *options, const char *name);

#endif
