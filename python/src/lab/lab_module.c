/* The extension eenet._lab: data sets, runs and their results, and estimates on arrays. */
#include <Python.h>

#include "dataset_object.h"
#include "evaluate/evaluations/evaluation.h"
#include "lab_functions.h"
#include "shared/objects.h"

/* (name, default, range, meaning) of each option of a kind. */
static PyObject *list_options(size_t kind)
{
    PyObject *list = PyList_New(0);
    ee_option entry;
    for (size_t i = 0; list && !dataset_option_describe(kind, i, &entry, NULL); i++)
        list_append(&list, Py_BuildValue("(ssss)", entry.name, entry.value, entry.range, entry.meaning));
    return list;
}

static PyObject *list_datasets(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    dataset_info info;
    for (size_t kind = 0; list && !dataset_describe(kind, &info, NULL); kind++)
        list_append(&list, Py_BuildValue("(sssN)", info.name, info.form, info.summary, list_options(kind)));
    return list;
}

static PyObject *list_estimators(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < ESTIMATOR_KINDS && list; i++) {
        const estimator_info *info = estimator_describe((estimator_kind)i);
        list_append(&list, Py_BuildValue("ssNN", info->name, info->summary, PyBool_FromLong(info->models),
                                         PyBool_FromLong(info->tuned)));
    }
    return list;
}

static PyObject *list_intervals(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < INTERVAL_KINDS && list; i++)
        list_append(&list, PyUnicode_FromString(interval_name((interval_kind)i)));
    return list;
}

static PyMethodDef functions[] = {
    {"datasets", list_datasets, METH_NOARGS, PyDoc_STR("Every kind: (name, form, summary, options).")},
    {"check", play_jobs_check, METH_VARARGS,
     PyDoc_STR("check(job, delay, slots): (every option in effect, the delay), as strings.")},
    {"play", play_jobs_play, METH_VARARGS,
     PyDoc_STR("play(folder, jobs, delay, slots, threads, listener): the runs that failed.")},
    {"usual_rounds", play_jobs_usual_rounds, METH_O, PyDoc_STR("The default number of rounds.")},
    {"repeats", play_jobs_repeats, METH_VARARGS, PyDoc_STR("How often rows repeat, as a sentence.")},
    {"report", runs_object_report, METH_VARARGS, PyDoc_STR("report(folder, reference, path): writes the report.")},
    {"array_estimate", array_estimate, METH_VARARGS, PyDoc_STR("An evaluation of arrays, as a line of JSON.")},
    {"log_evaluate", log_evaluate, METH_VARARGS, PyDoc_STR("Evaluations of a log, as lines of JSON.")},
    {"log_events", log_events, METH_VARARGS, PyDoc_STR("The events of a log, as columns.")},
    {"log_columns", log_describe, METH_VARARGS, PyDoc_STR("The columns of a CSV log, and how they are used.")},
    {"estimators", list_estimators, METH_NOARGS,
     PyDoc_STR("(name, summary, needs a model, has a lambda) of each estimator.")},
    {"intervals", list_intervals, METH_NOARGS, PyDoc_STR("The names of the intervals.")},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "eenet._lab", .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__lab(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (dataset_object_register(module) || runs_object_register(module)) Py_CLEAR(module);
    return module;
}
