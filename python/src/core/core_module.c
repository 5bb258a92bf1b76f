/* eenet._core: the library for Python. Users import eenet; see python/eenet/__init__.py. */
#include <Python.h>

#include "bandit_methods.h"
#include "bandit_object.h"
#include "decision_object.h"
#include "forking.h"
#include "info_objects.h"
#include "scores_object.h"
#include "shared/raising.h"
#include "vectors_json.h"

static PyObject *kernels(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyUnicode_FromString(ee_kernels());
}

/* An index past the last row is not an error: callers read rows until they get None. */
static PyObject *no_row(ee_status status, const ee_error *error)
{
    if (status != EE_BAD_INPUT) return raise_status(status, error);
    Py_RETURN_NONE;
}

/* _policy_row(index): name, summary, paper, preset; None past the last. */
static PyObject *policy_row(PyObject *module, PyObject *args)
{
    (void)module;
    Py_ssize_t index;
    ee_policy policy;
    ee_error error;
    if (!PyArg_ParseTuple(args, "n:_policy_row", &index)) return NULL;
    ee_status status = ee_policy_describe((size_t)index, &policy, &error);
    if (status) return no_row(status, &error);
    return Py_BuildValue("ssss", policy.name, policy.summary, policy.paper, policy.preset);
}

/* _option_row(policy, index): name, range, value, meaning, part, needs, acts, first; None past the last. */
static PyObject *option_row(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    Py_ssize_t index;
    ee_option option;
    ee_error error;
    if (!PyArg_ParseTuple(args, "sn:_option_row", &name, &index)) return NULL;
    ee_status status = ee_option_describe(name, (size_t)index, &option, &error);
    if (status) return no_row(status, &error);
    return Py_BuildValue("ssssssNN", option.name, option.range, option.value, option.meaning, option.part, option.needs,
                         PyBool_FromLong(option.acts), PyBool_FromLong(option.first));
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

/* Each adds its types to the module. */
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
