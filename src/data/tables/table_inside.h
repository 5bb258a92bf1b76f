/* A table while it is being read. Only for table.c and its parts. */
#ifndef EENET_TABLE_INSIDE_H
#define EENET_TABLE_INSIDE_H

#include "data/files/column_names.h"
#include "table.h"

enum { HEADER_AUTO, HEADER_YES, HEADER_NO };

typedef enum column_type { TYPE_AUTO, TYPE_NUMERIC, TYPE_CATEGORICAL, TYPE_IGNORED } column_type;

typedef struct table_column {
    column_type type;
    size_t missing;
    bool commas;      /* most texts are numbers with a decimal comma */
    double low, high; /* of the numbers; low > high if there are none */
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
    field *names;      /* (width) the fields of the first row, header or not */
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

/* "" if it has none. */
const char *table_column_name(const table *t, size_t index);

/* "column 'age'", or "column 3" if it has no name. */
const char *table_column_title(const table *t, size_t index, char title[64]);

/* Determines the header, the label and the types that the options set. */
ee_status table_settle_columns(table *t, ee_error *error);

/* Measures the columns and creates the row encoding. */
ee_status table_measure_columns(table *t, ee_error *error);

/* Adds the measured columns and likely mistakes to the survey. */
ee_status table_report(const table *t, survey *into, ee_error *error);

/* Warns about a label that is probably not a class. label begins the sentence, advice ends it. */
ee_status table_remark_label(const category_list *classes, size_t rows, const char *label, const char *advice,
                             survey *into, ee_error *error);

#endif
