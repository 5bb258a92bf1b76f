/* The columns of a CSV log, and how they are used. */
#include "data/logs/log.h"
#include "evaluate_methods.h"
#include "shared/raising.h"

static PyObject *text_of(const char *text)
{
    if (!text) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *row_of(const log_column *column)
{
    PyObject *name = text_of(column->name), *role = text_of(column->role), *reason = text_of(column->reason);
    PyObject *row = NULL;
    if (name && role && reason) row = Py_BuildValue("OOOO", name, role, column->context ? Py_True : Py_False, reason);
    Py_XDECREF(name);
    Py_XDECREF(role);
    Py_XDECREF(reason);
    return row;
}

PyObject *log_describe(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    if (!PyArg_ParseTuple(args, "y:log_describe", &path)) return NULL;
    log_options reading = log_options_usual();
    log_reader *log;
    ee_error error;
    ee_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = log_open(path, &reading, &log, &error);
    Py_END_ALLOW_THREADS;
    if (status) return raise_status(status, &error);
    size_t count;
    const log_column *columns = log_columns_used(log, &count);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *row = row_of(&columns[i]);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    log_close(log);
    return list;
}
