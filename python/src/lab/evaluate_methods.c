#include "evaluate_methods.h"

#include "evaluate/evaluations/evaluation.h"

static PyObject *list_estimators(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < ESTIMATOR_KINDS && list; i++) {
        const estimator_info *info = estimator_describe((estimator_kind)i);
        PyObject *one = Py_BuildValue("ssOO", info->name, info->summary, info->models ? Py_True : Py_False,
                                      info->tuned ? Py_True : Py_False);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *list_intervals(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < INTERVAL_KINDS && list; i++) {
        PyObject *one = PyUnicode_FromString(interval_name((interval_kind)i));
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

PyMethodDef evaluate_methods[] = {
    {"array_estimate", array_estimate, METH_VARARGS, PyDoc_STR("An evaluation of arrays, as a line of JSON.")},
    {"log_evaluate", log_evaluate, METH_VARARGS, PyDoc_STR("Evaluations of a log, as lines of JSON.")},
    {"log_events", log_events, METH_VARARGS, PyDoc_STR("The events of a log, as columns.")},
    {"log_columns", log_describe, METH_VARARGS, PyDoc_STR("The columns of a CSV log, and how they are used.")},
    {"estimators", list_estimators, METH_NOARGS,
     PyDoc_STR("(name, summary, needs a model, has a lambda) of each estimator.")},
    {"intervals", list_intervals, METH_NOARGS, PyDoc_STR("The names of the intervals.")},
    {NULL, NULL, 0, NULL},
};
