#include "dataset_object.h"

#include <string.h>

#include "column_cells.h"
#include "data/kind/survey.h"
#include "shared/array_view.h"
#include "shared/call_arguments.h"
#include "shared/objects.h"
#include "shared/raising.h"

/* An open data set never changes, so calls need no lock. */
typedef struct dataset_object {
    PyObject head;
    dataset *data;
    PyObject *about; /* a dict: the properties */
} dataset_object;

typedef struct rounds_object {
    PyObject head;
    PyObject *of; /* the Dataset */
    environment *world;
    uint64_t dealt;
} rounds_object;

static PyTypeObject *dataset_type, *rounds_type;
static PyObject *sparse_arms; /* eenet.SparseArms, once a round needs it */

/* ---- the rounds ---- */

static PyObject *find_sparse_arms(void)
{
    if (sparse_arms) return sparse_arms;
    PyObject *package = PyImport_ImportModule("eenet");
    if (package) sparse_arms = PyObject_GetAttrString(package, "SparseArms");
    Py_XDECREF(package);
    return sparse_arms;
}

static PyObject *make_sparse(const ee_arms *arms)
{
    PyObject *type = find_sparse_arms();
    if (!type) return NULL;
    const Py_ssize_t places = (Py_ssize_t)arms->count + 1, count = (Py_ssize_t)arms->starts[arms->count];
    const char *index = arms->dim <= INT32_MAX ? "int32" : "uint32"; /* scipy supports only int32 */
    return PyObject_CallFunction(type, "NNN(nn)",
                                 array_from_copy(arms->starts, "int64", sizeof *arms->starts, 1, &places),
                                 array_from_copy(arms->indices, index, sizeof *arms->indices, 1, &count),
                                 array_from_copy(arms->values, "float32", sizeof *arms->values, 1, &count),
                                 (Py_ssize_t)arms->count, (Py_ssize_t)arms->dim);
}

static PyObject *make_arms(const ee_arms *arms)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)arms->count, (Py_ssize_t)arms->dim};
    if (arms->starts) return make_sparse(arms);
    return array_from_copy(arms->values, "float32", sizeof *arms->values, 2, shape);
}

/* (arms, rewards, expected), each a copy, so that a round may be kept. */
static PyObject *make_round(const environment_round *round)
{
    const Py_ssize_t count = (Py_ssize_t)round->arms.count;
    PyObject *rewards = array_from_copy(round->rewards, "float64", sizeof(double), 1, &count), *expected = rewards;
    if (round->expected != round->rewards)
        expected = array_from_copy(round->expected, "float64", sizeof(double), 1, &count);
    else
        Py_XINCREF(expected);
    return Py_BuildValue("(NNN)", make_arms(&round->arms), rewards, expected);
}

static PyObject *rounds_next(PyObject *object)
{
    rounds_object *self = (rounds_object *)object;
    const dataset *data = ((dataset_object *)self->of)->data;
    if (dataset_rounds(data) && self->dealt == dataset_rounds(data)) return NULL;
    environment_round round;
    ee_error error;
    ee_status status = environment_next(self->world, &round, &error);
    if (status) return raise_status(status, &error);
    self->dealt++;
    return make_round(&round);
}

static void rounds_dealloc(PyObject *object)
{
    rounds_object *self = (rounds_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    environment_free(self->world);
    Py_XDECREF(self->of);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *dataset_deal(PyObject *object, PyObject *argument)
{
    dataset_object *self = (dataset_object *)object;
    uint64_t seed;
    if (read_whole(argument, "seed", UINT64_MAX, &seed)) return NULL;
    environment *world;
    ee_error error;
    ee_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = environment_create(self->data, seed, &world, &error);
    Py_END_ALLOW_THREADS;
    if (status) return raise_status(status, &error);
    rounds_object *rounds = PyObject_New(rounds_object, rounds_type);
    if (!rounds) {
        environment_free(world);
        return NULL;
    }
    Py_INCREF(object);
    rounds->of = object;
    rounds->world = world;
    rounds->dealt = 0;
    return (PyObject *)rounds;
}

/* ---- the data set ---- */

/* In C, 0 means that there is none. */
static PyObject *count_or_none(uint64_t count)
{
    if (!count) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *describe(const dataset *data)
{
    char digits[17];
    PyOS_snprintf(digits, sizeof digits, "%016llx", (unsigned long long)dataset_fingerprint(data));
    return Py_BuildValue("{sN,sN,ss,sn,sn,sn,sN,sN,sN}", "text", PyUnicode_DecodeFSDefault(dataset_text(data)), "name",
                         PyUnicode_DecodeFSDefault(dataset_name(data)), "fingerprint", digits, "dim",
                         (Py_ssize_t)dataset_dim(data), "arms", (Py_ssize_t)dataset_arms(data), "blocks",
                         (Py_ssize_t)dataset_blocks(data), "exclusive", PyBool_FromLong(dataset_exclusive(data)),
                         "length", count_or_none(dataset_rounds(data)), "rows", count_or_none(dataset_rows(data)));
}

/* Takes the data set over. */
static PyObject *dataset_wrap(PyTypeObject *type, dataset *data)
{
    dataset_object *self = (dataset_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        dataset_free(data);
        return NULL;
    }
    self->data = data;
    self->about = describe(data);
    if (!self->about) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *dataset_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"text", "cache", NULL};
    PyObject *text, *cache = Py_None, *folder = NULL, *object = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|O:Dataset", names, PyUnicode_FSConverter, &text, &cache))
        return NULL;
    dataset *data = NULL;
    ee_error error;
    ee_status status;
    if (cache != Py_None && !PyUnicode_FSConverter(cache, &folder)) goto done;
    const char *path = PyBytes_AsString(text), *cache_path = folder ? PyBytes_AsString(folder) : NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = dataset_open(path, cache_path, &data, &error);
    Py_END_ALLOW_THREADS;
    object = status ? raise_status(status, &error) : dataset_wrap(type, data);
done:
    Py_DECREF(text);
    Py_XDECREF(folder);
    return object;
}

/* A classification problem from columns in memory; the first column holds the classes. */
static PyObject *dataset_of_columns(PyObject *class, PyObject *arguments)
{
    PyObject *names, *columns, *codes, *object = NULL;
    const char *text;
    if (!PyArg_ParseTuple(arguments, "sO!O!O!:of_columns", &text, &PyBytes_Type, &names, &PyTuple_Type, &columns,
                          &PyBytes_Type, &codes))
        return NULL;
    column_cells cells = {0};
    dataset *data = NULL;
    ee_error error;
    ee_status status;
    if (!column_cells_read(&cells, names, columns, codes)) {
        Py_BEGIN_ALLOW_THREADS;
        status = dataset_open_cells(text, &cells.table, &data, &error);
        Py_END_ALLOW_THREADS;
        object = status ? raise_status(status, &error) : dataset_wrap((PyTypeObject *)class, data);
    }
    column_cells_release(&cells);
    return object;
}

static void dataset_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    dataset_free(((dataset_object *)object)->data);
    Py_XDECREF(((dataset_object *)object)->about);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *dataset_get(PyObject *self, void *name)
{
    PyObject *value = PyDict_GetItemString(((dataset_object *)self)->about, name);
    Py_XINCREF(value);
    return value;
}

/* A remark may quote a file that is not UTF-8. */
static PyObject *dataset_remarks_get(PyObject *self, void *none)
{
    (void)none;
    const survey *seen = dataset_survey(((dataset_object *)self)->data);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < seen->remark_count; i++) {
        const char *remark = seen->remarks[i];
        list_append(&list, PyUnicode_DecodeUTF8(remark, (Py_ssize_t)strlen(remark), "backslashreplace"));
    }
    return list;
}

static PyGetSetDef dataset_properties[] = {
    {"text", dataset_get, NULL, "The string it was opened with.", "text"},
    {"name", dataset_get, NULL, "Its name in results: the string without folders.", "name"},
    {"fingerprint", dataset_get, NULL, "A checksum of its files; zeros if it has none.", "fingerprint"},
    {"dim", dataset_get, NULL, "Features per arm.", "dim"},
    {"arms", dataset_get, NULL, "Arms per round.", "arms"},
    {"blocks", dataset_get, NULL, "Number of blocks, if each arm is the context in one block; otherwise 1.", "blocks"},
    {"exclusive", dataset_get, NULL, "True if at most one arm per round earns more than the least reward.",
     "exclusive"},
    {"length", dataset_get, NULL, "Number of rounds; None if unlimited.", "length"},
    {"rows", dataset_get, NULL, "Number of rows, which repeat after the last; None if every round is drawn at random.",
     "rows"},
    {"remarks", dataset_remarks_get, NULL, "Likely mistakes in the data, one sentence each.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef dataset_methods[] = {
    {"deal", dataset_deal, METH_O, PyDoc_STR("An iterator over the (arms, rewards, expected) of a seed.")},
    {"of_columns", dataset_of_columns, METH_VARARGS | METH_CLASS,
     PyDoc_STR("of_columns(text, names, columns, codes): a table; a column is an array, or null-terminated strings.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot dataset_slots[] = {
    {Py_tp_new, (void *)dataset_new},
    {Py_tp_dealloc, (void *)dataset_dealloc},
    {Py_tp_getset, dataset_properties},
    {Py_tp_methods, dataset_methods},
    {Py_tp_doc, "Dataset(text, cache=None): opens a data set."},
    {0, NULL},
};

static PyType_Spec dataset_spec = {"eenet._lab.Dataset", sizeof(dataset_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, dataset_slots};

static PyObject *rounds_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)type, (void)arguments, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "cannot create rounds directly; call data.rounds(seed)");
    return NULL;
}

static PyType_Slot rounds_slots[] = {
    {Py_tp_new, (void *)rounds_new},         {Py_tp_dealloc, (void *)rounds_dealloc},
    {Py_tp_iter, (void *)PyObject_SelfIter}, {Py_tp_iternext, (void *)rounds_next},
    {Py_tp_doc, "The rounds of one seed."},  {0, NULL},
};

static PyType_Spec rounds_spec = {"eenet._lab.Rounds", sizeof(rounds_object), 0, Py_TPFLAGS_DEFAULT, rounds_slots};

int dataset_object_register(PyObject *module)
{
    rounds_type = (PyTypeObject *)PyType_FromSpec(&rounds_spec);
    return rounds_type ? type_add(module, &dataset_spec, &dataset_type) : -1;
}

const dataset *dataset_object_data(PyObject *object)
{
    /* Checks the type itself: __class__ of an object may be anything. */
    if (PyObject_TypeCheck(object, dataset_type)) return ((dataset_object *)object)->data;
    PyErr_Format(PyExc_TypeError, "expected a data set, got %R", object);
    return NULL;
}
