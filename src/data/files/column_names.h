/* Finds columns named in options: by their name in the first row, or by their number from 1. */
#ifndef EENET_COLUMN_NAMES_H
#define EENET_COLUMN_NAMES_H

#include "rows.h"

/* The first row of a file; owner is the kind of data set in messages about its options. */
typedef struct column_names {
    const char *owner, *path;
    const field *names; /* (count) one of length 0 names nothing */
    size_t count;
    bool header; /* they are names; otherwise columns have only numbers */
} column_names;

enum { COLUMN_LIST_SIZE = 100 };

/* The field without the blanks around it. */
field field_trim(field from);

/* Whether word can be the number of a column. */
bool column_is_number(const char *word);

/* The column with this name, else one that differs only in case, else SIZE_MAX. Ignores whether there is a header. */
size_t column_by_name(const column_names *in, const char *word);

/* ": age, sex", shortened if it is long. */
const char *column_list(const column_names *in, char list[COLUMN_LIST_SIZE]);

/* The column with this name or number. EE_BAD_OPTION, with the existing names, if there is none. word is the value of
 * an option. */
ee_status column_find(const column_names *in, const char *option, const char *word, size_t *column, ee_error *error);

/* The same, or a range such as 3-7. */
ee_status column_find_range(const column_names *in, const char *option, const char *word, size_t *first, size_t *last,
                            ee_error *error);

#endif
