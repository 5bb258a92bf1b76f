#include "info_objects.h"

#include "result_docs.h"
#include "shared/objects.h"

static PyTypeObject *info_type, *feature_type;

static PyStructSequence_Field info_fields[] = {
    {"policy", "the policy's name as given, for example 'eenet:paper'"},
    {"options", "every option in effect, with its value, in the form that Bandit(options=...) accepts"},
    {"dim", "features per arm"},
    {"seed", "the seed of all randomness"},
    {"decisions", "decisions made"},
    {"rewards", "rewards learned, including those from records and logs"},
    {"pending", "decisions waiting for their reward"},
    {"expired", "decisions dropped because no reward arrived in time"},
    {"defaulted", "decisions learned with the default reward because none arrived in time"},
    {"features", "every option of the named features in effect; None if arms are vectors"},
    {"limited", "rewards that were clipped or pulled in as outliers before learning"},
    {NULL, NULL},
};

static PyStructSequence_Desc info_description = {"eenet.Info", INFO_DOC, info_fields, 11};

static PyStructSequence_Field feature_fields[] = {
    {"name", "for example 'user.age' or 'user.age*item.id=a7'; '' if no name has this position"},
    {"count", "how often it occurred"},
    {"mean", "mean of a numeric feature; otherwise 0"},
    {"deviation", "standard deviation of a numeric feature; otherwise 1"},
    {"limited", "values clipped because they were more than ten standard deviations from the mean"},
    {NULL, NULL},
};

static PyStructSequence_Desc feature_description = {"eenet.Feature", FEATURE_DOC, feature_fields, 5};

/* A named tuple of values, whose reference it takes over. NULL with an exception set; values may be NULL then. */
static PyObject *make(PyTypeObject *type, PyObject *values)
{
    PyObject *tuple = values ? PyObject_CallFunctionObjArgs((PyObject *)type, values, NULL) : NULL;
    Py_XDECREF(values);
    return tuple;
}

PyObject *info_new(const ee_info *info)
{
    typedef unsigned long long whole;
    return make(info_type,
                Py_BuildValue("ssnKKKKKKzK", info->policy, info->options, (Py_ssize_t)info->dim, (whole)info->seed,
                              (whole)info->decisions, (whole)info->rewards, (whole)info->pending, (whole)info->expired,
                              (whole)info->defaulted, info->features, (whole)info->limited));
}

PyObject *feature_new(const char *name, const ee_feature *feature)
{
    return make(feature_type, Py_BuildValue("NKddK", text_from_bytes(name), (unsigned long long)feature->count,
                                            feature->mean, feature->deviation, (unsigned long long)feature->limited));
}

static int add(PyObject *module, const char *name, PyStructSequence_Desc *description, PyTypeObject **type)
{
    *type = PyStructSequence_NewType(description);
    if (!*type) return -1;
    Py_INCREF(*type);
    return PyModule_AddObject(module, name, (PyObject *)*type);
}

int info_add(PyObject *module)
{
    if (add(module, "Info", &info_description, &info_type)) return -1;
    return add(module, "Feature", &feature_description, &feature_type);
}
