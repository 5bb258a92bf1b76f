#include "list_reading.h"

#include <stdbool.h>

/* Runs no code of Python's but its own numbers': the list cannot change meanwhile. */
static bool read_number(PyObject *object, float *out)
{
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object)) return false;
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) { /* an int beyond any float */
        PyErr_Clear();
        return false;
    }
    *out = (float)value;
    return true;
}

static bool read_row(PyObject *row, Py_ssize_t length, float *out)
{
    if (!PyList_CheckExact(row) || PyList_Size(row) != length) return false;
    for (Py_ssize_t i = 0; i < length; i++)
        if (!read_number(PyList_GetItem(row, i), &out[i])) return false;
    return true;
}

int list_read(PyObject *arms, array_view *out)
{
    if (!PyList_CheckExact(arms) || !PyList_Size(arms) || !PyList_CheckExact(PyList_GetItem(arms, 0))) return 1;
    const Py_ssize_t rows = PyList_Size(arms), length = PyList_Size(PyList_GetItem(arms, 0));
    const Py_ssize_t row_bytes = length * (Py_ssize_t)sizeof(float);
    if (!length || rows > PY_SSIZE_T_MAX / row_bytes) return 1;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, rows * row_bytes);
    if (!bytes) return -1;
    float *values = (void *)PyBytes_AsString(bytes);
    for (Py_ssize_t i = 0; i < rows; i++) {
        if (read_row(PyList_GetItem(arms, i), length, values + i * length)) continue;
        Py_DECREF(bytes);
        return 1;
    }
    *out = (array_view){.owner = bytes,
                        .dimensions = 2,
                        .shape = {rows, length},
                        .strides = {row_bytes, sizeof(float)},
                        .data = values,
                        .kind = 'f',
                        .size = sizeof(float),
                        .contiguous = 1};
    return 0;
}
