#include "lab_functions.h"

#include <stdio.h>

#include "base/memory.h"
#include "lab/report/report_folder.h"
#include "shared/array_view.h"
#include "shared/call_arguments.h"
#include "shared/objects.h"
#include "shared/raising.h"

/* The runs are read once and never change, so calls need no lock. */
typedef struct runs_object {
    PyObject head;
    PyObject *folder; /* bytes */
    stored_runs list;
} runs_object;

/* Some of the runs, and their summary. */
typedef struct selection {
    stored_runs runs; /* copies; the object owns their strings */
    size_t *places;   /* (runs.count) their positions in the object */
    summary computed;
} selection;

/* ---- opening ---- */

static PyObject *runs_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *folder;
    if (!PyArg_ParseTuple(arguments, "O&:Runs", PyUnicode_FSConverter, &folder)) return NULL;
    runs_object *self = (runs_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        Py_DECREF(folder);
        return NULL;
    }
    self->folder = folder;
    const char *path = PyBytes_AsString(folder);
    stored_runs list = {0};
    ee_error error;
    ee_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = results_read(path, &list, &error);
    Py_END_ALLOW_THREADS;
    self->list = list;
    if (!status) return (PyObject *)self;
    Py_DECREF(self);
    return raise_status(status, &error);
}

static void runs_dealloc(PyObject *object)
{
    runs_object *self = (runs_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    results_release(&self->list);
    Py_XDECREF(self->folder);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- rows ---- */

static const char *format_fingerprint(uint64_t fingerprint, char digits[17])
{
    snprintf(digits, 17, "%016llx", (unsigned long long)fingerprint);
    return digits;
}

static size_t slots_of(const stored_run *run)
{
    return run->slots ? run->slots : 1;
}

static PyObject *make_row(const stored_run *run)
{
    char digits[17], late[DELAY_TEXT];
    delay_format(&run->late, late);
    const run_result *result = &run->result;
    return Py_BuildValue("{ss,ss,ss,sK,sK,ss,sn,sd,sd,sd,sd,sn,sn,sn,sK,sO,ss,sN}", "dataset", run->dataset, "policy",
                         run->policy, "options", run->options, "seed", (unsigned long long)run->seed, "rounds",
                         (unsigned long long)run->rounds, "delay", late, "slots", (Py_ssize_t)slots_of(run), "regret",
                         result->regret, "reward", result->reward, "optimal",
                         run->rounds ? (double)result->optimal / (double)run->rounds : Py_NAN, "seconds",
                         result->seconds, "bytes", (Py_ssize_t)result->bytes, "dim", (Py_ssize_t)run->dim, "arms",
                         (Py_ssize_t)run->arms, "rows", (unsigned long long)run->rows, "tuning",
                         run->tuning ? Py_True : Py_False, "fingerprint", format_fingerprint(run->fingerprint, digits),
                         "version", PyUnicode_FromFormat("%s %s", run->version, run->kernels));
}

static PyObject *runs_rows(PyObject *object, PyObject *none)
{
    (void)none;
    const stored_runs *list = &((runs_object *)object)->list;
    PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows && i < list->count; i++) list_append(&rows, make_row(&list->runs[i]));
    return rows;
}

static const stored_run *find_run(const runs_object *self, PyObject *place)
{
    uint64_t number;
    if (read_whole(place, "run", UINT64_MAX, &number)) return NULL;
    if (number < self->list.count) return &self->list.runs[number];
    PyErr_Format(PyExc_IndexError, "expected a run number below %zu, got %R", self->list.count, place);
    return NULL;
}

static PyObject *runs_curve(PyObject *object, PyObject *place)
{
    const runs_object *self = (runs_object *)object;
    const stored_run *run = find_run(self, place);
    if (!run) return NULL;
    if (!run->curve) return raise_bad_input("this run has no stored curve"), NULL;
    const char *folder = PyBytes_AsString(self->folder);
    const Py_ssize_t rounds = (Py_ssize_t)run->rounds;
    double *curve;
    ee_error error;
    ee_status status = memory_create(NULL, &curve, run->rounds, sizeof *curve, &error);
    if (status) return raise_status(status, &error);
    Py_BEGIN_ALLOW_THREADS;
    status = results_curve(folder, run, curve, &error);
    Py_END_ALLOW_THREADS;
    PyObject *array =
        status ? raise_status(status, &error) : array_from_copy(curve, "float64", sizeof *curve, 1, &rounds);
    memory_free(curve);
    return array;
}

/* ---- what they say together ---- */

static void release_selection(selection *self)
{
    summary_release(&self->computed);
    memory_free(self->runs.runs);
    memory_free(self->places);
}

static bool select_runs(const runs_object *self, PyObject *places, selection *out)
{
    ee_error error;
    const size_t count = (size_t)PyList_Size(places);
    ee_status status = memory_create(NULL, &out->runs.runs, count, sizeof *out->runs.runs, &error);
    if (!status) status = memory_create(NULL, &out->places, count, sizeof *out->places, &error);
    if (status) return raise_status(status, &error) != NULL;
    for (size_t i = 0; i < count; i++) {
        const stored_run *run = find_run(self, PyList_GetItem(places, (Py_ssize_t)i));
        if (!run) return false;
        out->runs.runs[i] = *run;
        out->places[i] = (size_t)(run - self->list.runs);
    }
    out->runs.count = count;
    return true;
}

/* The positions of a cell's runs. */
static PyObject *list_places(const selection *of, const summary_cell *cell)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < cell->count; i++)
        list_append(&list, PyLong_FromSize_t(of->places[cell->runs[i] - of->runs.runs]));
    return list;
}

/* (points, 3): round, mean and deviation. */
static PyObject *make_curve(const summary_cell *cell)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)cell->points, 3};
    return array_from_copy(cell->curve, "float64", sizeof(double), 2, shape);
}

static PyObject *make_comparison(const summary_cell *cell)
{
    const comparison *against = &cell->against;
    return Py_BuildValue("{sn,sd,sd,sd,sd,sd}", "pairs", (Py_ssize_t)against->pairs, "difference", against->difference,
                         "difference_low", against->low, "difference_high", against->high, "p", against->p, "p_holm",
                         cell->p_holm);
}

/* (row, comparison, group, places, curve); row has the columns of `eenet report`'s table. */
static PyObject *make_cell(const selection *of, size_t group_number, const summary_cell *cell)
{
    static const char *const parts[SUMMARY_PARTS] = {"main", "label", "decision", "weight"};
    const summary_group *group = &of->computed.results.groups[group_number];
    const stored_run *first = cell->runs[0];
    summary_part part = SUMMARY_MAIN; /* a cell in several parts is the reference of the ablations */
    while (!cell->labels[part]) part++;
    const bool reference = (size_t)(cell - group->cells) == group->references[part];
    char digits[17], late[DELAY_TEXT];
    delay_format(&first->late, late);
    PyObject *row = Py_BuildValue(
        "{ss,ss,ss,ss,sK,ss,sn,ss,sn,sd,sd,sd,sd,sO,sO,sd,sd,sd,sd,ss}", "dataset", first->dataset, "label",
        cell->labels[part], "policy", first->policy, "options", first->options, "rounds",
        (unsigned long long)first->rounds, "delay", late, "slots", (Py_ssize_t)slots_of(first), "part", parts[part],
        "seeds", (Py_ssize_t)cell->count, "mean", cell->mean, "deviation", cell->deviation, "low",
        cell->mean - cell->margin, "high", cell->mean + cell->margin, "best", cell->best ? Py_True : Py_False,
        "reference", reference ? Py_True : Py_False, "growth", cell->growth, "optimal", cell->optimal, "seconds",
        cell->seconds, "bytes", cell->bytes, "fingerprint", format_fingerprint(first->fingerprint, digits));
    return Py_BuildValue("(NNsNN)", row, make_comparison(cell), group->label, list_places(of, cell), make_curve(cell));
}

static PyObject *list_cells(const selection *of)
{
    PyObject *list = PyList_New(0);
    for (size_t g = 0; list && g < of->computed.results.count; g++) {
        const summary_group *group = &of->computed.results.groups[g];
        for (size_t i = 0; list && i < group->count; i++) list_append(&list, make_cell(of, g, &group->cells[i]));
    }
    return list;
}

static PyObject *runs_summary(PyObject *object, PyObject *arguments)
{
    const runs_object *self = (runs_object *)object;
    PyObject *places, *list = NULL;
    const char *reference;
    selection of = {0};
    ee_error error;
    ee_status status;
    if (!PyArg_ParseTuple(arguments, "O!z:summary", &PyList_Type, &places, &reference)) return NULL;
    if (select_runs(self, places, &of)) {
        const char *folder = PyBytes_AsString(self->folder);
        Py_BEGIN_ALLOW_THREADS;
        status = summary_create(&of.runs, folder, reference, &of.computed, &error);
        Py_END_ALLOW_THREADS;
        list = status ? raise_status(status, &error) : list_cells(&of);
    }
    release_selection(&of);
    return list;
}

/* ---- the report ---- */

PyObject *runs_object_report(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *folder, *path;
    const char *reference;
    if (!PyArg_ParseTuple(arguments, "O&zO&:report", PyUnicode_FSConverter, &folder, &reference, PyUnicode_FSConverter,
                          &path))
        return NULL;
    const char *place = PyBytes_AsString(folder), *page = PyBytes_AsString(path);
    report_folder all = {0};
    ee_error error;
    ee_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = report_folder_read(place, reference, &all, &error);
    if (!status) status = report_folder_write(&all, place, page, NULL, &error);
    report_folder_release(&all);
    Py_END_ALLOW_THREADS;
    Py_DECREF(folder);
    Py_DECREF(path);
    if (status) return raise_status(status, &error);
    Py_RETURN_NONE;
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"rows", runs_rows, METH_NOARGS, PyDoc_STR("One dict per run, in the order of the lines.")},
    {"curve", runs_curve, METH_O, PyDoc_STR("The regret after each round of run i.")},
    {"summary", runs_summary, METH_VARARGS,
     PyDoc_STR("summary(places, reference): (row, comparison, group, places, curve) of each policy of a group.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_new, (void *)runs_new},
    {Py_tp_dealloc, (void *)runs_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Runs(folder): the runs stored in a folder of results."},
    {0, NULL},
};

static PyType_Spec type_spec = {"eenet._lab.Runs", sizeof(runs_object), 0, Py_TPFLAGS_DEFAULT, type_slots};

int runs_object_register(PyObject *module)
{
    PyTypeObject *type;
    return type_add(module, &type_spec, &type);
}
