/* The columns of a CSV log, and how they are used. */
#include "data/logs/log.h"
#include "evaluate_methods.h"
#include "shared/objects.h"
#include "shared/raising.h"

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
        const log_column *one = &columns[i];
        list_append(&list, Py_BuildValue("NNNN", text_from_bytes(one->name), text_from_bytes(one->role),
                                         PyBool_FromLong(one->context), text_from_bytes(one->reason)));
    }
    log_close(log);
    return list;
}
