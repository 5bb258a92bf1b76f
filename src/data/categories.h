/* The values of a column, and the different ones among them, numbered in their order. */
#ifndef EENET_CATEGORIES_H
#define EENET_CATEGORIES_H

#include <stdbool.h>

#include "base/memory.h"
#include "rows.h"

typedef struct cell {
    const char *text; /* without blanks around it, in the file's bytes; NULL where the value is missing */
    double number;    /* NaN where it is none, or larger than a float can be */
} cell;

/* A field that was read by rows_next, for as long as the file's bytes are there. One that is empty is missing; which
 * words are too, missing_words.h says. */
cell cell_of(source *file, const field *from);

/* The same of any text (length), whose bytes are changed; one more byte must be there for the zero at its end. */
cell cell_read(char *text, size_t length);

/* Whether it would be a number, but is larger than a float can be. */
bool cell_is_beyond(const cell *value);

/* The number of a text with a comma in place of the point, as "3,14"; NaN where it is none. */
double cell_with_comma(const cell *value);

/* Far more are texts or names of the rows, not categories. */
enum { CATEGORIES_MOST = 10000 };

typedef struct category_list {
    memory *owner; /* of the list; NULL: it is released by itself */
    cell *sorted;  /* (count) as numbers where all are, else as text */
    size_t count, capacity;
    bool by_number;
} category_list;

/* Adds every value of a column that is not missing; EE_BAD_INPUT, with where for the file and the column, and advice on
 * what to do, where more than CATEGORIES_MOST differ. cells is (rows, stride), the column its first. list starts as
 * zeros but for its owner, and is to be released where it has none, on failure too. */
ee_status categories_collect(const cell *cells, size_t rows, size_t stride, const char *where, const char *advice,
                             category_list *list, ee_error *error);

/* The number of a value that the list has; of another one, that of the first behind it, or the count. */
size_t categories_find(const category_list *list, const cell *value);

/* The number of a value that is not missing; the count where the list does not have it. */
size_t categories_place(const category_list *list, const cell *value);

/* The order of two values: as numbers where all of the list are, else as text. */
int categories_compare(const category_list *list, const cell *a, const cell *b);

void categories_release(category_list *list);

#endif
