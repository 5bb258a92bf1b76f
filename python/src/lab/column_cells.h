/* Columns in Python's memory as the cells of a table. */
#ifndef EENET_COLUMN_CELLS_H
#define EENET_COLUMN_CELLS_H

#include <Python.h>

#include "data/tables/table.h"

typedef struct column_cells {
    table_cells table;
    source texts; /* of the cells that are texts */
    size_t used;  /* bytes of it */
} column_cells;

/* names is bytes: the names of the columns, each ended by a zero. columns is a tuple; each is a vector of numbers (not
 * a number: missing) or, as the names, texts. All have as many rows. codes is bytes, a 1 for each column whose numbers
 * are codes, else 0, and borrowed. 0, or -1 with an exception set. out starts as zeros, and is to be released, on
 * failure too. */
int column_cells_read(column_cells *out, PyObject *names, PyObject *columns, PyObject *codes);
void column_cells_release(column_cells *cells);

#endif
