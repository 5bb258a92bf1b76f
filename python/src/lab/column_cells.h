/* Columns in Python's memory as cells of a table. */
#ifndef EENET_COLUMN_CELLS_H
#define EENET_COLUMN_CELLS_H

#include <Python.h>

#include "data/tables/table.h"

typedef struct column_cells {
    table_cells table;
    source texts; /* the cells that are strings */
    size_t used;  /* bytes of texts */
} column_cells;

/* names: bytes with the null-terminated names of the columns. columns: a tuple of equally long columns, each an
 * array of numbers (NaN: missing) or bytes of null-terminated strings. codes: bytes, 1 for a column whose numbers
 * are codes, otherwise 0; borrowed. out must be zeros; release it in any case. 0, or -1 with an exception set. */
int column_cells_read(column_cells *out, PyObject *names, PyObject *columns, PyObject *codes);
void column_cells_release(column_cells *cells);

#endif
