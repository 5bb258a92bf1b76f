#include "dataset_object.h"

#include <string.h>

#include "column_cells.h"
#include "data/kind/survey.h"
#include "shared/array_view.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

/* A data set is only read once it is open: no call needs a lock. */
typedef struct dataset_object {
    PyObject head;
    dataset *data;
} dataset_object;

typedef struct rounds_object {
    PyObject head;
    PyObject *of; /* the Dataset */
    environment *world;
    uint64_t dealt;
} rounds_object;

static PyObject *dataset_type, *rounds_type;
static PyObject *sparse_arms; /* eenet.SparseArms, once a round needs it */

/* ---- the rounds ---- */

static PyObject *array_of(const void *data, size_t size, const char *dtype, int dimensions, const Py_ssize_t *shape)
{
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    PyObject *array = bytes ? array_from_bytes(bytes, dtype, dimensions, shape) : NULL;
    Py_XDECREF(bytes);
    return array;
}

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
    size_t entries = arms->starts[arms->count];
    const Py_ssize_t places = (Py_ssize_t)arms->count + 1, count = (Py_ssize_t)entries;
    const char *index = arms->dim <= INT32_MAX ? "int32" : "uint32"; /* scipy has the first alone */
    PyObject *starts = array_of(arms->starts, (size_t)places * sizeof *arms->starts, "int64", 1, &places);
    PyObject *indices = starts ? array_of(arms->indices, entries * sizeof *arms->indices, index, 1, &count) : NULL;
    PyObject *values = indices ? array_of(arms->values, entries * sizeof *arms->values, "float32", 1, &count) : NULL;
    PyObject *made = NULL;
    if (values)
        made = PyObject_CallFunction(type, "OOO(nn)", starts, indices, values, (Py_ssize_t)arms->count,
                                     (Py_ssize_t)arms->dim);
    Py_XDECREF(starts);
    Py_XDECREF(indices);
    Py_XDECREF(values);
    return made;
}

static PyObject *make_arms(const ee_arms *arms)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)arms->count, (Py_ssize_t)arms->dim};
    if (arms->starts) return make_sparse(arms);
    return array_of(arms->values, arms->count * arms->dim * sizeof *arms->values, "float32", 2, shape);
}

/* (arms, rewards, expected), each a copy: a round may be kept for as long as one likes. */
static PyObject *make_round(const environment_round *round)
{
    const Py_ssize_t count = (Py_ssize_t)round->arms.count;
    const size_t size = round->arms.count * sizeof(double);
    PyObject *arms = make_arms(&round->arms);
    PyObject *rewards = arms ? array_of(round->rewards, size, "float64", 1, &count) : NULL;
    PyObject *expected = rewards;
    if (rewards && round->expected != round->rewards)
        expected = array_of(round->expected, size, "float64", 1, &count);
    else
        Py_XINCREF(expected);
    if (expected) return Py_BuildValue("(NNN)", arms, rewards, expected);
    Py_XDECREF(arms);
    Py_XDECREF(rewards);
    return NULL;
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
    rounds_object *rounds = PyObject_New(rounds_object, (PyTypeObject *)rounds_type);
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

/* Takes the data set over. */
static PyObject *dataset_wrap(PyTypeObject *type, dataset *data)
{
    PyObject *object = ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (object)
        ((dataset_object *)object)->data = data;
    else
        dataset_free(data);
    return object;
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
    const char *words = PyBytes_AsString(text), *kept = folder ? PyBytes_AsString(folder) : NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = dataset_open(words, kept, &data, &error);
    Py_END_ALLOW_THREADS;
    object = status ? raise_status(status, &error) : dataset_wrap(type, data);
done:
    Py_DECREF(text);
    Py_XDECREF(folder);
    return object;
}

/* Of columns in memory, as the first of them says: the classes. */
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
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* 0 is how C says that there is none. */
static PyObject *count_or_none(uint64_t count)
{
    if (!count) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *dataset_text_get(PyObject *self, void *none)
{
    (void)none;
    return PyUnicode_DecodeFSDefault(dataset_text(((dataset_object *)self)->data));
}

static PyObject *dataset_name_get(PyObject *self, void *none)
{
    (void)none;
    return PyUnicode_FromString(dataset_name(((dataset_object *)self)->data));
}

static PyObject *dataset_fingerprint_get(PyObject *self, void *none)
{
    (void)none;
    char digits[17];
    PyOS_snprintf(digits, sizeof digits, "%016llx",
                  (unsigned long long)dataset_fingerprint(((dataset_object *)self)->data));
    return PyUnicode_FromString(digits);
}

static PyObject *dataset_dim_get(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromSize_t(dataset_dim(((dataset_object *)self)->data));
}

static PyObject *dataset_arms_get(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromSize_t(dataset_arms(((dataset_object *)self)->data));
}

static PyObject *dataset_blocks_get(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromSize_t(dataset_blocks(((dataset_object *)self)->data));
}

static PyObject *dataset_exclusive_get(PyObject *self, void *none)
{
    (void)none;
    return PyBool_FromLong(dataset_exclusive(((dataset_object *)self)->data));
}

static PyObject *dataset_length_get(PyObject *self, void *none)
{
    (void)none;
    return count_or_none(dataset_rounds(((dataset_object *)self)->data));
}

static PyObject *dataset_rows_get(PyObject *self, void *none)
{
    (void)none;
    return count_or_none(dataset_rows(((dataset_object *)self)->data));
}

/* A file may be anything: what is not UTF-8 is shown as such. */
static PyObject *dataset_remarks_get(PyObject *self, void *none)
{
    (void)none;
    const survey *seen = dataset_survey(((dataset_object *)self)->data);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < seen->remark_count; i++) {
        const char *remark = seen->remarks[i];
        PyObject *text = PyUnicode_DecodeUTF8(remark, (Py_ssize_t)strlen(remark), "backslashreplace");
        if (!text || PyList_Append(list, text)) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyGetSetDef dataset_properties[] = {
    {"text", dataset_text_get, NULL, "The string it was opened with.", NULL},
    {"name", dataset_name_get, NULL, "Its name in results: the string without folders.", NULL},
    {"fingerprint", dataset_fingerprint_get, NULL, "A checksum of its files; zeros if it has none.", NULL},
    {"dim", dataset_dim_get, NULL, "Features per arm.", NULL},
    {"arms", dataset_arms_get, NULL, "Arms per round.", NULL},
    {"blocks", dataset_blocks_get, NULL, "Number of blocks, if each arm is the context in one block; otherwise 1.",
     NULL},
    {"exclusive", dataset_exclusive_get, NULL, "True if at most one arm per round earns more than the least reward.",
     NULL},
    {"length", dataset_length_get, NULL, "Number of rounds; None if unlimited.", NULL},
    {"rows", dataset_rows_get, NULL,
     "Number of rows, which repeat after the last; None if every round is drawn at random.", NULL},
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
    dataset_type = PyType_FromSpec(&dataset_spec);
    rounds_type = PyType_FromSpec(&rounds_spec);
    if (!dataset_type || !rounds_type) return -1;
    Py_INCREF(dataset_type); /* the module takes one */
    return PyModule_AddObject(module, "Dataset", dataset_type);
}

const dataset *dataset_object_data(PyObject *object)
{
    /* By the type itself: what an object says of its class may be anything. */
    if (PyObject_TypeCheck(object, (PyTypeObject *)dataset_type)) return ((dataset_object *)object)->data;
    PyErr_Format(PyExc_TypeError, "expected a data set, got %R", object);
    return NULL;
}
