#include "scores_object.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "result_docs.h"
#include "shared/array_view.h"
#include "shared/objects.h"

static PyTypeObject *type;

const size_t COLUMN_SCORE = offsetof(ee_score, score), COLUMN_EXPLOITATION = offsetof(ee_score, exploitation),
             COLUMN_EXPLORATION = offsetof(ee_score, exploration);

PyObject *score_column(const ee_score *scores, Py_ssize_t count, size_t column)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(float));
    if (!bytes) return NULL;
    char *to = PyBytes_AsString(bytes);
    for (Py_ssize_t i = 0; i < count; i++)
        memcpy(to + i * (Py_ssize_t)sizeof(float), (const char *)(scores + i) + column, sizeof(float));
    PyObject *array = array_from_bytes(bytes, "f4", 1, &count);
    Py_DECREF(bytes);
    return array;
}

scores_object *scores_new(size_t arms)
{
    if (arms > PY_SSIZE_T_MAX / (2 * sizeof(ee_score))) return (void *)PyErr_NoMemory();
    return PyObject_NewVar(scores_object, type, (Py_ssize_t)arms);
}

static void dealloc(PyObject *self)
{
    PyTypeObject *heap_type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(heap_type);
}

/* Scores(bytes): restores pickled scores. */
static PyObject *restore(PyTypeObject *of, PyObject *args, PyObject *keywords)
{
    (void)of;
    PyObject *bytes = NULL;
    if (PyTuple_Size(args) == 1 && !keywords) bytes = PyTuple_GetItem(args, 0);
    if (!bytes || !PyBytes_Check(bytes) || PyBytes_Size(bytes) % (Py_ssize_t)sizeof(ee_score)) {
        PyErr_SetString(PyExc_TypeError, "cannot create Scores directly; call Bandit.score");
        return NULL;
    }
    scores_object *self = scores_new((size_t)PyBytes_Size(bytes) / sizeof(ee_score));
    if (self) memcpy(self->values, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    return (PyObject *)self;
}

static PyObject *reduce(PyObject *object, PyObject *none)
{
    (void)none;
    const scores_object *self = (const scores_object *)object;
    Py_ssize_t size = Py_SIZE(self) * (Py_ssize_t)sizeof(ee_score);
    return Py_BuildValue("O(N)", (PyObject *)type, PyBytes_FromStringAndSize((const char *)self->values, size));
}

static PyObject *get_column(PyObject *self, void *column)
{
    return score_column(((scores_object *)self)->values, Py_SIZE(self), *(const size_t *)column);
}

static PyObject *repr(PyObject *self)
{
    PyObject *column = score_column(((scores_object *)self)->values, Py_SIZE(self), COLUMN_SCORE);
    PyObject *list = column ? PyObject_CallMethod(column, "round", "i", 4) : NULL;
    PyObject *text = list ? PyUnicode_FromFormat("Scores(scores=%R)", list) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(column);
    return text;
}

static PyObject *compare(PyObject *one, PyObject *other, int operation)
{
    if (Py_TYPE(other) != type || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool equal =
        Py_SIZE(one) == Py_SIZE(other) && !memcmp(((scores_object *)one)->values, ((scores_object *)other)->values,
                                                  (size_t)Py_SIZE(one) * sizeof(ee_score));
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_ssize_t length(PyObject *self)
{
    return Py_SIZE(self);
}

static PyGetSetDef properties[] = {
    {"scores", get_column, NULL, SCORES_SCORES_DOC, (void *)&COLUMN_SCORE},
    {"exploitation", get_column, NULL, SCORES_EXPLOITATION_DOC, (void *)&COLUMN_EXPLOITATION},
    {"exploration", get_column, NULL, SCORES_EXPLORATION_DOC, (void *)&COLUMN_EXPLORATION},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, SCORES_DOC},      {Py_tp_new, restore},
    {Py_tp_dealloc, dealloc},     {Py_tp_repr, repr},
    {Py_tp_richcompare, compare}, {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_getset, properties},   {Py_tp_methods, methods},
    {Py_sq_length, length},       {0, NULL},
};

static PyType_Spec spec = {
    .name = "eenet.Scores",
    .basicsize = sizeof(scores_object),
    .itemsize = sizeof(ee_score),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int scores_add(PyObject *module)
{
    return type_add(module, &spec, &type);
}
