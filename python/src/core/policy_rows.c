#include "policy_rows.h"

#include "eenet.h"
#include "shared/raising.h"

/* A number past the last is no mistake: that is how one sees where the table ends. */
static PyObject *no_row(ee_status status, const ee_error *error)
{
    if (status != EE_BAD_INPUT) return raise_status(status, error);
    Py_RETURN_NONE;
}

PyObject *policy_row(PyObject *module, PyObject *args)
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

PyObject *option_row(PyObject *module, PyObject *args)
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
