/* Columns as options name them: by the name that the first row gives them, or by their number from 1. */
#ifndef EENET_COLUMN_NAMES_H
#define EENET_COLUMN_NAMES_H

#include "rows.h"

/* The first row of a file, and whose options name its columns. */
typedef struct column_names {
    const char *owner, *path;
    const field *names; /* (count) one of length 0 names nothing */
    size_t count;
    bool header; /* they are names; else numbers alone count */
} column_names;

enum { COLUMN_LIST_SIZE = 100 };

/* The field without the blanks around it. */
field field_trim(field from);

/* Whether word can be the number of a column. */
bool column_is_number(const char *word);

/* The column that is called so, header or not; where there is none, one that differs in capitals alone; else
 * SIZE_MAX. */
size_t column_by_name(const column_names *in, const char *word);

/* ": age, sex", cut where it is long. */
const char *column_list(const column_names *in, char list[COLUMN_LIST_SIZE]);

/* The column of that name or number. EE_BAD_OPTION, with the names that there are, where there is none. word is the
 * value of an option. */
ee_status column_find(const column_names *in, const char *option, const char *word, size_t *column, ee_error *error);

/* The same, or several by two numbers, as 3-7. */
ee_status column_find_range(const column_names *in, const char *option, const char *word, size_t *first, size_t *last,
                            ee_error *error);

#endif
