/* Columns as options name them: by the name that the first row gives them, or by their number from 1. */
#ifndef EENET_COLUMN_NAMES_H
#define EENET_COLUMN_NAMES_H

#include "rows.h"

/* The field without the blanks around it. */
field field_trim(field from);

/* Whether word can be the number of a column. */
bool column_is_number(const char *word);

/* The column of the row that was read last which word names, capitals or small; SIZE_MAX where none is called so. */
size_t column_by_name(const row_reader *rows, const char *word);

/* The same, or by its number; a name counts only where the row is a header. EE_BAD_OPTION, with the names that there
 * are, where there is no such column. word is the value of an owner's option. */
ee_status column_find(const row_reader *rows, bool header, const char *owner, const char *option, const char *word,
                      size_t *column, ee_error *error);

#endif
