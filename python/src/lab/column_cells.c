#include "column_cells.h"

#include <math.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "shared/array_view.h"
#include "shared/raising.h"

static void mix(uint64_t *fingerprint, const void *bytes, size_t size)
{
    uint64_t both[2] = {*fingerprint, archive_checksum(bytes, size)};
    *fingerprint = archive_checksum((const uint8_t *)both, sizeof both);
}

static size_t count_texts(PyObject *bytes)
{
    const char *text = PyBytes_AsString(bytes), *end = text + PyBytes_Size(bytes);
    size_t count = 0;
    for (; text < end; text++) count += *text == '\0';
    return count;
}

/* The number of rows of a column; -1 with an exception set. */
static Py_ssize_t count_rows(PyObject *column)
{
    return PyBytes_Check(column) ? (Py_ssize_t)count_texts(column) : PyObject_Size(column);
}

static int fail_rows(size_t expected)
{
    return raise_bad_input("table: expected %zu rows in every column, as in the first", expected);
}

/* Writes one column of cells; into is the first cell. */
static int read_texts(column_cells *out, PyObject *bytes, cell *into, size_t count)
{
    if (count_texts(bytes) != count) return fail_rows(count);
    size_t size = (size_t)PyBytes_Size(bytes);
    char *text = (char *)out->texts.bytes + out->used;
    memcpy(text, PyBytes_AsString(bytes), size);
    mix(&out->table.fingerprint, text, size);
    out->used += size;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(text);
        into[i * out->table.width] = cell_of(&out->texts, &(field){text, length});
        text += length + 1;
    }
    return 0;
}

static int read_numbers(column_cells *out, PyObject *column, cell *into, size_t count)
{
    array_view view;
    if (array_view_doubles(column, 1, "column", &view)) return -1;
    const double *numbers = view.data;
    bool whole = (size_t)view.shape[0] == count;
    for (size_t i = 0; i < count && whole; i++)
        into[i * out->table.width] = (cell){isnan(numbers[i]) ? NULL : "", numbers[i]};
    if (whole) mix(&out->table.fingerprint, numbers, count * sizeof *numbers);
    array_view_release(&view);
    return whole ? 0 : fail_rows(count);
}

/* Allocates all cells and strings. */
static int make_room(column_cells *out, PyObject *names, PyObject *columns)
{
    size_t width = (size_t)PyTuple_Size(columns), size = (size_t)PyBytes_Size(names);
    Py_ssize_t rows = width ? count_rows(PyTuple_GetItem(columns, 0)) : 0;
    if (rows < 0) return -1;
    for (size_t i = 0; i < width; i++) {
        PyObject *column = PyTuple_GetItem(columns, (Py_ssize_t)i);
        if (PyBytes_Check(column)) size += (size_t)PyBytes_Size(column);
    }
    ee_error error;
    out->table.width = width;
    out->table.height = (size_t)rows + 1;
    ee_status status = memory_create(NULL, &out->texts.bytes, size + 1, 1, &error);
    out->texts.size = size;
    if (!status)
        status = memory_create(NULL, &out->table.cells, out->table.height * width, sizeof *out->table.cells, &error);
    if (!status) return 0;
    raise_status(status, &error);
    return -1;
}

/* The names are cells of a row, not of a column. */
static int read_names(column_cells *out, PyObject *names)
{
    const size_t width = out->table.width;
    if (count_texts(names) != width)
        return raise_bad_input("table: got %zu names for %zu columns", count_texts(names), width);
    column_cells row = *out;
    row.table.width = 1;
    int code = read_texts(&row, names, out->table.cells, width);
    out->used = row.used;
    out->table.fingerprint = row.table.fingerprint;
    return code;
}

static int read_codes(column_cells *out, PyObject *codes)
{
    const size_t width = out->table.width;
    if ((size_t)PyBytes_Size(codes) != width)
        return raise_bad_input("table: got %zd codes for %zu columns", PyBytes_Size(codes), width);
    out->table.codes = PyBytes_AsString(codes);
    mix(&out->table.fingerprint, out->table.codes, width);
    return 0;
}

int column_cells_read(column_cells *out, PyObject *names, PyObject *columns, PyObject *codes)
{
    if (make_room(out, names, columns) || read_names(out, names) || read_codes(out, codes)) return -1;
    const size_t width = out->table.width, rows = out->table.height - 1;
    for (size_t i = 0; i < width; i++) {
        PyObject *column = PyTuple_GetItem(columns, (Py_ssize_t)i);
        cell *into = out->table.cells + width + i;
        int code = PyBytes_Check(column) ? read_texts(out, column, into, rows) : read_numbers(out, column, into, rows);
        if (code) return -1;
    }
    return 0;
}

void column_cells_release(column_cells *cells)
{
    memory_free(cells->table.cells);
    memory_free(cells->texts.bytes);
}
