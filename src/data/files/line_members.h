/* Reads the members of a line of JSON, for files of such lines (line_file.h). The first error sticks and names the line
 * and the member; after it every call returns zero, "" or NULL. */
#ifndef EENET_LINE_MEMBERS_H
#define EENET_LINE_MEMBERS_H

#include "data/values/json_tree.h"

typedef struct line_members {
    json_tree tree;
    const json_value *line; /* the object; NULL if that is the error */
    size_t number;          /* of the line */
    ee_status status;
    ee_error *error;
} line_members;

/* Close it, on failure too. */
line_members line_members_open(const char *line, size_t length, size_t number, ee_error *error);
void line_members_close(line_members *self);

/* Returns the value if it is right; else sets an error that says what was expected in this member. */
const json_value *members_expect(line_members *from, const char *name, bool right, const char *expected,
                                 const json_value *value);

/* Converts a value of the member, which may be one of several in a list. */
uint64_t members_whole_of(line_members *from, const char *name, const json_value *value);
double members_real_of(line_members *from, const char *name, const json_value *value);

/* A member of an object: the line or an object inside it. The text is borrowed; free the copy with memory_free. */
const char *members_text(line_members *from, const json_value *object, const char *name);
char *members_copy(line_members *from, const json_value *object, const char *name);
uint64_t members_whole(line_members *from, const json_value *object, const char *name);
double members_real(line_members *from, const json_value *object, const char *name);
bool members_flag(line_members *from, const json_value *object, const char *name);

/* "seed", a number, or a string if it exceeds the integers of JSON readers; and "fingerprint", 16 digits as a
 * string. */
uint64_t members_seed(line_members *from);
uint64_t members_fingerprint(line_members *from);

#endif
