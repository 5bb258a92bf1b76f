/* The members of a line of JSON, for files of such lines (line_file.h). The first error stays, and names the line and
 * the member: after it every visit does nothing, and gives zero, "" or NULL. */
#ifndef EENET_LINE_MEMBERS_H
#define EENET_LINE_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

typedef struct line_members {
    json_t *line;  /* an object, unless that is the error */
    size_t number; /* of the line */
    ee_status status;
    ee_error *error;
} line_members;

/* To be closed, on failure too. */
line_members line_members_open(const char *line, size_t length, size_t number, ee_error *error);
void line_members_close(line_members *self);

/* The value where it is right; else an error that says what was expected in the member of that name. */
const json_t *members_expect(line_members *from, const char *name, bool right, const char *expected,
                             const json_t *value);

/* A value of the member of that name, which may be one of several in a list. */
uint64_t members_whole_of(line_members *from, const char *name, const json_t *value);
double members_real_of(line_members *from, const char *name, const json_t *value);

/* The member of an object: of the line itself, or of one in it. The text is borrowed; the copy is to be freed with
 * memory_free. */
const char *members_text(line_members *from, const json_t *object, const char *name);
char *members_copy(line_members *from, const json_t *object, const char *name);
uint64_t members_whole(line_members *from, const json_t *object, const char *name);
double members_real(line_members *from, const json_t *object, const char *name);
bool members_flag(line_members *from, const json_t *object, const char *name);

/* "seed", a number, or text where JSON's readers have no room for it; and "fingerprint", 16 digits as text. */
uint64_t members_seed(line_members *from);
uint64_t members_fingerprint(line_members *from);

#endif
