#include "data_kinds.h"

#include "data/sets/environment.h"

/* Adds what a call made, which may be NULL, to a list; false with an exception set. */
static bool append_new(PyObject *list, PyObject *item)
{
    bool added = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return added;
}

static PyObject *list_options(size_t kind)
{
    PyObject *list = PyList_New(0);
    ee_option entry;
    for (size_t i = 0; list && !dataset_option_describe(kind, i, &entry, NULL); i++)
        if (!append_new(list, Py_BuildValue("(ssss)", entry.name, entry.value, entry.range, entry.meaning)))
            Py_CLEAR(list);
    return list;
}

PyObject *data_kinds_list(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    dataset_info info;
    for (size_t kind = 0; list && !dataset_describe(kind, &info, NULL); kind++)
        if (!append_new(list, Py_BuildValue("(sssN)", info.name, info.form, info.summary, list_options(kind))))
            Py_CLEAR(list);
    return list;
}
