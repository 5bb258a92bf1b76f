/* A table while it is read. Included by table.c and its parts alone. */
#ifndef EENET_TABLE_INSIDE_H
#define EENET_TABLE_INSIDE_H

#include "column_names.h"
#include "table.h"

enum { HEADER_AUTO, HEADER_YES, HEADER_NO };

typedef enum column_type { TYPE_AUTO, TYPE_NUMERIC, TYPE_CATEGORICAL, TYPE_IGNORED } column_type;

typedef struct table_column {
    column_type type;
    size_t missing;
    bool commas;      /* most texts are numbers with a decimal comma */
    double low, high; /* of the numbers; low is above high where there are none */
} table_column;

typedef struct table {
    source *file;
    const table_options *options;
    size_t width, height;
    cell *cells; /* (height, width), the row with the names included */
    size_t capacity;
    size_t *lines; /* (height) */
    size_t lines_capacity;
    const char *codes; /* (width) as in table_cells; NULL: none */
    size_t header;     /* rows that hold names: 0 or 1 */
    field *names;      /* (width) what the first row holds, header or not */
    size_t label;
    table_column *columns; /* (width) */
    row_encoding *encoding;
} table;

static inline size_t table_rows(const table *t)
{
    return t->height - t->header;
}

static inline const cell *table_cell(const table *t, size_t row, size_t index)
{
    return &t->cells[(t->header + row) * t->width + index];
}

/* "" where it has none. */
const char *table_column_name(const table *t, size_t index);

/* "column 'age'", or "column 3" where it has no name. */
const char *table_column_title(const table *t, size_t index, char title[64]);

/* Whether there is a header, which column is the label, and what the options say of the columns. */
ee_status table_settle_columns(table *t, ee_error *error);

/* What the columns hold: makes the encoding of a row. */
ee_status table_measure_columns(table *t, ee_error *error);

/* Tells the columns, once they are measured, and what is likely a mistake. */
ee_status table_tell(const table *t, survey *into, ee_error *error);

/* Remarks on a label that is hardly one, in a table or a file of libsvm. label begins the sentence, advice ends it. */
ee_status table_remark_label(const category_list *classes, size_t rows, const char *label, const char *advice,
                             survey *into, ee_error *error);

#endif
