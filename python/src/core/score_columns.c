#include "score_columns.h"

#include <stddef.h>
#include <string.h>

#include "shared/array_view.h"

const size_t COLUMN_SCORE = offsetof(ee_score, score), COLUMN_EXPLOITATION = offsetof(ee_score, exploitation),
             COLUMN_EXPLORATION = offsetof(ee_score, exploration);

PyObject *score_column(const ee_score *scores, Py_ssize_t count, size_t column)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(float));
    if (!bytes) return NULL;
    char *to = PyBytes_AsString(bytes);
    for (Py_ssize_t i = 0; i < count; i++)
        memcpy(to + i * (Py_ssize_t)sizeof(float), (const char *)(scores + i) + column, sizeof(float));
    PyObject *array = array_from_bytes(bytes, "f4", 1, &count);
    Py_DECREF(bytes);
    return array;
}

PyObject *array_of_doubles(const double *values, Py_ssize_t count)
{
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)values, count * (Py_ssize_t)sizeof(double));
    if (!bytes) return NULL;
    PyObject *array = array_from_bytes(bytes, "f8", 1, &count);
    Py_DECREF(bytes);
    return array;
}
