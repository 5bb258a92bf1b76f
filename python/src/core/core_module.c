/* eenet._core: the library for Python. What people import is eenet; see python/eenet/__init__.py. */
#include <Python.h>

#include "bandit_object.h"
#include "decision_object.h"
#include "forking.h"
#include "info_objects.h"
#include "policy_rows.h"
#include "scores_object.h"
#include "snapshot_object.h"
#include "vectors_json.h"

static PyObject *kernels(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyUnicode_FromString(ee_kernels());
}

static PyMethodDef functions[] = {
    {"kernels", kernels, METH_NOARGS,
     "kernels()\n--\n\nThe instruction set in use on this machine, for example 'avx2' or 'neon'.\n\n"
     ">>> eenet.kernels() in ('baseline', 'avx2', 'avx512', 'neon')\nTrue\n"},
    {"_decision", decision_restore, METH_VARARGS, NULL},
    {"_policy_row", policy_row, METH_VARARGS, NULL},
    {"_option_row", option_row, METH_VARARGS, NULL},
    {"_vectors_json", vectors_json, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "eenet._core", "The C library behind eenet.", -1, functions, NULL, NULL, NULL, NULL,
};

/* Each adds a type. */
static int (*const PARTS[])(PyObject *module) = {info_add, scores_add, decision_add, bandit_add, snapshot_add};

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    int failed = forking_watch();
    if (!failed) failed = PyModule_AddStringConstant(module, "version", ee_version());
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS && !failed; i++) failed = PARTS[i](module);
    if (failed) Py_CLEAR(module);
    return module;
}
