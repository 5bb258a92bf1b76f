#include "decision_object.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "result_docs.h"
#include "scores_object.h"
#include "shared/array_view.h"
#include "shared/objects.h"

enum { ARM_BYTES = sizeof(double) + sizeof(ee_score) };

/* More arms would not fit into memory, and their size in bytes would overflow. */
static const size_t MOST_ARMS = PY_SSIZE_T_MAX / (2 * ARM_BYTES);

static PyTypeObject *type;

decision_object *decision_new(size_t arms)
{
    if (arms > MOST_ARMS) return (void *)PyErr_NoMemory();
    decision_object *self = PyObject_GC_NewVar(decision_object, type, (Py_ssize_t)arms);
    if (!self) return NULL;
    self->record = self->action = NULL;
    self->bandit = 0;
    return self;
}

void decision_set(decision_object *self, const ee_decision *made, PyObject *action)
{
    self->action = action;
    /* A string or a number cannot refer back to the decision, so the garbage collector need not track it. */
    if (action && !PyUnicode_CheckExact(action) && !PyLong_CheckExact(action)) PyObject_GC_Track(self);
    self->id = made->id;
    self->arm = (Py_ssize_t)made->arm;
    self->probability = made->probability;
}

ee_score *decision_scores(decision_object *self)
{
    return (ee_score *)(self->probabilities + Py_SIZE(self));
}

bool decision_is(PyObject *object)
{
    return Py_TYPE(object) == type;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *heap_type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((decision_object *)self)->record);
    Py_XDECREF(((decision_object *)self)->action);
    PyObject_GC_Del(self);
    Py_DECREF(heap_type);
}

/* No tp_clear: a cycle through a decision contains another object that can be cleared, such as a dict. */
static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((decision_object *)self)->action);
    return 0;
}

static PyObject *refuse(PyTypeObject *of, PyObject *args, PyObject *keywords)
{
    (void)of, (void)args, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "cannot create a Decision directly; call Bandit.decide");
    return NULL;
}

static PyObject *get_column(PyObject *self, void *column)
{
    return score_column(decision_scores((decision_object *)self), Py_SIZE(self), *(const size_t *)column);
}

static PyObject *get_probabilities(PyObject *self, void *closure)
{
    (void)closure;
    const Py_ssize_t arms = Py_SIZE(self);
    return array_from_copy(((decision_object *)self)->probabilities, "f8", sizeof(double), 1, &arms);
}

static PyObject *get_action(PyObject *object, void *closure)
{
    (void)closure;
    const decision_object *self = (const decision_object *)object;
    if (!self->action) return PyLong_FromSsize_t(self->arm);
    Py_INCREF(self->action);
    return self->action;
}

static PyObject *repr(PyObject *object)
{
    const decision_object *self = (const decision_object *)object;
    PyObject *probability = PyFloat_FromDouble(self->probability);
    if (!probability) return NULL;
    PyObject *text =
        PyUnicode_FromFormat("Decision(arm=%zd, id=%llu, probability=%R)", self->arm, self->id, probability);
    Py_DECREF(probability);
    return text;
}

static bool same_record(PyObject *one, PyObject *other)
{
    if (!one || !other) return one == other;
    Py_ssize_t size = PyBytes_Size(one);
    return size == PyBytes_Size(other) && !memcmp(PyBytes_AsString(one), PyBytes_AsString(other), (size_t)size);
}

/* Compares bits, so that NaN equals NaN. */
static bool same(const decision_object *one, const decision_object *other)
{
    return Py_SIZE(one) == Py_SIZE(other) && one->id == other->id && one->arm == other->arm &&
           !memcmp(&one->probability, &other->probability, sizeof one->probability) &&
           !memcmp(one->probabilities, other->probabilities, (size_t)Py_SIZE(one) * ARM_BYTES) &&
           same_record(one->record, other->record);
}

static PyObject *compare(PyObject *one, PyObject *other, int operation)
{
    if (!decision_is(other) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool equal = same((const decision_object *)one, (const decision_object *)other);
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t hash(PyObject *object)
{
    const decision_object *self = (const decision_object *)object;
    uint64_t bits;
    memcpy(&bits, &self->probability, sizeof bits);
    uint64_t mixed = (self->id * 0x9e3779b97f4a7c15u ^ (uint64_t)self->arm) * 0xff51afd7ed558ccdu ^ bits;
    mixed ^= mixed >> 32;
    Py_hash_t result = (Py_hash_t)mixed;
    return result == -1 ? -2 : result;
}

static PyObject *reduce(PyObject *object, PyObject *none)
{
    (void)none;
    const decision_object *self = (const decision_object *)object;
    PyObject *core = PyImport_ImportModule("eenet._core");
    if (!core) return NULL;
    PyObject *maker = PyObject_GetAttrString(core, "_decision");
    Py_DECREF(core);
    if (!maker) return NULL;
    PyObject *columns = PyBytes_FromStringAndSize((const char *)self->probabilities, Py_SIZE(self) * ARM_BYTES);
    return Py_BuildValue("N(nKdNON)", maker, self->arm, self->id, self->probability, columns,
                         self->record ? self->record : Py_None, get_action(object, NULL));
}

PyObject *decision_restore(PyObject *module, PyObject *args)
{
    (void)module;
    Py_ssize_t arm;
    unsigned long long id;
    double probability;
    PyObject *columns, *record, *action = NULL;
    if (!PyArg_ParseTuple(args, "nKdO!O|O:_decision", &arm, &id, &probability, &PyBytes_Type, &columns, &record,
                          &action))
        return NULL;
    Py_ssize_t bytes = PyBytes_Size(columns), arms = bytes / ARM_BYTES;
    if (bytes % ARM_BYTES || arm < 0 || arm >= arms || (record != Py_None && !PyBytes_Check(record))) {
        PyErr_SetString(PyExc_ValueError, "not a pickled Decision of eenet");
        return NULL;
    }
    decision_object *self = decision_new((size_t)arms);
    if (!self) return NULL;
    ee_decision made = {.id = id, .arm = (size_t)arm, .probability = probability};
    Py_XINCREF(action);
    decision_set(self, &made, action);
    memcpy(self->probabilities, PyBytes_AsString(columns), (size_t)bytes);
    if (record != Py_None) {
        Py_INCREF(record);
        self->record = record;
    }
    return (PyObject *)self;
}

static PyMemberDef members[] = {
    {"arm", T_PYSSIZET, offsetof(decision_object, arm), READONLY, DECISION_ARM_DOC},
    {"id", T_ULONGLONG, offsetof(decision_object, id), READONLY, DECISION_ID_DOC},
    {"probability", T_DOUBLE, offsetof(decision_object, probability), READONLY, DECISION_PROBABILITY_DOC},
    {"record", T_OBJECT, offsetof(decision_object, record), READONLY, DECISION_RECORD_DOC},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"action", get_action, NULL, DECISION_ACTION_DOC, NULL},
    {"probabilities", get_probabilities, NULL, DECISION_PROBABILITIES_DOC, NULL},
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
    {Py_tp_doc, DECISION_DOC},
    {Py_tp_new, refuse},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_tp_richcompare, compare},
    {Py_tp_hash, hash},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {Py_tp_traverse, traverse},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "eenet.Decision",
    .basicsize = sizeof(decision_object),
    .itemsize = ARM_BYTES,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int decision_add(PyObject *module)
{
    return type_add(module, &spec, &type);
}
