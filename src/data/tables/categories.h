/* The values of a column, and its different values numbered in sorted order. */
#ifndef EENET_CATEGORIES_H
#define EENET_CATEGORIES_H

#include <stdbool.h>

#include "base/memory.h"
#include "data/files/rows.h"

typedef struct cell {
    const char *text; /* trimmed, inside the file's bytes; NULL if the value is missing */
    double number;    /* NaN if the text is not a number or exceeds the range of a float */
} cell;

/* A field returned by rows_next; valid as long as the file's bytes. An empty field is missing; missing_words.h defines
 * the other missing values. */
cell cell_of(source *file, const field *from);

/* The same for any text (length). Changes its bytes; there must be room for one more, the final zero. */
cell cell_read(char *text, size_t length);

/* Whether the text is a number beyond the range of a float. */
bool cell_is_beyond(const cell *value);

/* The number of a text with a decimal comma, such as "3,14"; NaN if it is not one. */
double cell_with_comma(const cell *value);

/* A column with more different values holds names or free text, not categories. */
enum { CATEGORIES_MOST = 10000 };

typedef struct category_list {
    memory *owner; /* of the list; NULL: the caller releases it */
    cell *sorted;  /* (count) sorted as numbers if all are numbers, else as text */
    size_t count, capacity;
    bool by_number;
} category_list;

/* Adds every value of a column that is not missing. cells is (rows, stride); the column is its first. EE_BAD_INPUT if
 * more than CATEGORIES_MOST differ; the message begins with where (file and column) and ends with advice. list starts
 * as zeros, except its owner; without an owner, release it, on failure too. */
ee_status categories_collect(const cell *cells, size_t rows, size_t stride, const char *where, const char *advice,
                             category_list *list, ee_error *error);

/* The number of a value in the list; of another value, the number of the first greater one, or the count. */
size_t categories_find(const category_list *list, const cell *value);

/* The number of a value that is not missing; the count if the list does not have it. */
size_t categories_place(const category_list *list, const cell *value);

/* Compares two values: as numbers if all of the list are numbers, else as text. */
int categories_compare(const category_list *list, const cell *a, const cell *b);

void categories_release(category_list *list);

#endif
