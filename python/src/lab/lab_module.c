/* The extension eenet._lab: data sets, runs and their results, and estimates on arrays. */
#include <Python.h>

#include "data_kinds.h"
#include "dataset_object.h"
#include "evaluate_methods.h"
#include "play_jobs.h"
#include "runs_object.h"

static PyMethodDef functions[] = {
    {"datasets", data_kinds_list, METH_NOARGS, PyDoc_STR("Every kind: (name, form, summary, options).")},
    {"check", play_jobs_check, METH_VARARGS,
     PyDoc_STR("check(job, delay, slots): (every option in effect, the delay), as strings.")},
    {"play", play_jobs_play, METH_VARARGS,
     PyDoc_STR("play(folder, jobs, delay, slots, threads, listener): the runs that failed.")},
    {"usual_rounds", play_jobs_usual_rounds, METH_O, PyDoc_STR("The default number of rounds.")},
    {"repeats", play_jobs_repeats, METH_VARARGS, PyDoc_STR("How often rows repeat, as a sentence.")},
    {"report", runs_object_report, METH_VARARGS, PyDoc_STR("report(folder, reference, path): writes the report.")},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "eenet._lab", .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__lab(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (!dataset_object_register(module) && !runs_object_register(module) &&
        !PyModule_AddFunctions(module, evaluate_methods))
        return module;
    Py_DECREF(module);
    return NULL;
}
