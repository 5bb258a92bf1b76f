/* One row of an option table: finding it in a schema, and its value as text. For the files of options.h. */
#ifndef EENET_OPTION_ROW_H
#define EENET_OPTION_ROW_H

#include "options.h"

enum { OPTION_WORD_SIZE = 128 }; /* of "name=value", and of a value */

/* Row number index of all groups, in order, and its group; NULL past the last. */
const option *option_at(const option_schema *schema, size_t index, const option_group **owner);

/* The row of a full name such as "f1.width", and its group; NULL if there is none. */
const option *option_find(const option_schema *schema, const char *name, const option_group **owner);

/* The field of a row in target, a struct of schema->size bytes. */
void *option_field(const option_group *group, const option *entry, const void *target);

/* Writes the value of a text to the field `into`. Returns false, and writes nothing, if it is invalid. */
bool option_parse(const option *entry, const char *text, void *into);

/* Numbers are read and written with a point, whatever the locale is. */
bool option_parse_real(const char *text, double *value);

void option_format(const option *entry, const void *from, char *text, size_t capacity);
void option_format_range(const option *entry, char *text, size_t capacity);

#endif
