/* The extension eenet._lab: data sets, runs and their results, and estimates on arrays. */
#include <Python.h>

#include "data_kinds.h"
#include "evaluate_methods.h"

static PyMethodDef functions[] = {
    {"datasets", data_kinds_list, METH_NOARGS, PyDoc_STR("Every kind: (name, form, summary, options).")},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "eenet._lab", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__lab(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddFunctions(module, evaluate_methods)) Py_CLEAR(module);
    return module;
}
