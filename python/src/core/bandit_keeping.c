/* Methods of Bandit that save and load it, and show what it knows about a feature. */
#include "bandit_object.h" /* first: Python.h decides which functions <string.h> declares */

#include <stdlib.h>
#include <string.h>

#include "bandit_methods.h"
#include "info_objects.h"
#include "shared/raising.h"

PyObject *bandit_save(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"save", 1, 1, 1, {"path"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *value, *holder;
    const char *path;
    if (bandit_arguments(object, &SHAPE, args, count, names, &value) || read_path(value, &holder, &path)) return NULL;
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_save(self->bandit, path, &error);
    bandit_leave(self, state);
    Py_DECREF(holder);
    if (status) return raise_status(status, &error);
    Py_RETURN_NONE;
}

/* What the caller expects of a model. */
typedef struct expectation {
    ee_settings settings;
    PyObject *policy; /* owns the text of settings.policy */
} expectation;

/* policy: a string or a Policy; dim: a number. Either may be NULL or None. */
static int read_expectation(PyObject *policy, PyObject *dim, expectation *out)
{
    uint64_t size = 0;
    *out = (expectation){.policy = NULL};
    if (dim && dim != Py_None && read_whole(dim, "dim", UINT32_MAX, &size)) return -1;
    out->settings.dim = (size_t)size;
    if (!policy || policy == Py_None) return 0;
    if (PyUnicode_Check(policy)) return read_text(policy, "policy", &out->policy, &out->settings.policy);
    PyObject *name = PyObject_GetAttrString(policy, "name");
    if (!name) PyErr_Clear();
    int failed = read_text(name ? name : policy, "policy", &out->policy, &out->settings.policy);
    Py_XDECREF(name);
    return failed;
}

/* values: a path or bytes, policy, dim. */
static PyObject *load(PyObject *type, PyObject *const *values, bool from_file)
{
    PyObject *holder = NULL;
    expectation expected;
    if (read_expectation(values[1], values[2], &expected)) return NULL;
    if (from_file)
        PyUnicode_FSConverter(values[0], &holder);
    else
        holder = PyBytes_FromObject(values[0]); /* the same object if it is bytes */
    ee_bandit *bandit = NULL;
    if (holder) {
        const char *start = PyBytes_AsString(holder);
        size_t size = (size_t)PyBytes_Size(holder);
        ee_error error;
        PyThreadState *state = PyEval_SaveThread();
        ee_status status = from_file ? ee_bandit_load(start, &expected.settings, &bandit, &error)
                                     : ee_bandit_load_bytes(start, size, &expected.settings, &bandit, &error);
        PyEval_RestoreThread(state);
        if (status) raise_status(status, &error);
        Py_DECREF(holder);
    }
    Py_XDECREF(expected.policy);
    return bandit ? bandit_wrap((PyTypeObject *)type, bandit) : NULL;
}

PyObject *bandit_load(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"load", 1, 3, 3, {"path", "policy", "dim"}};
    PyObject *values[3];
    return call_arguments(&SHAPE, args, count, names, values) ? NULL : load(type, values, true);
}

PyObject *bandit_from_bytes(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"from_bytes", 1, 3, 3, {"data", "policy", "dim"}};
    PyObject *values[3];
    return call_arguments(&SHAPE, args, count, names, values) ? NULL : load(type, values, false);
}

PyObject *bandit_to_bytes(PyObject *object, PyObject *none)
{
    (void)none;
    bandit_object *self = (bandit_object *)object;
    if (bandit_check(self)) return NULL;
    void *bytes = NULL;
    size_t size = 0;
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_save_bytes(self->bandit, &bytes, &size, &error);
    bandit_leave(self, state);
    if (status) return raise_status(status, &error);
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    ee_bytes_free(bytes);
    return result;
}

/* (type.from_bytes, (bytes,), attributes of a subclass or None); copy and deepcopy use it too. */
PyObject *bandit_reduce(PyObject *self, PyObject *none)
{
    PyObject *attributes = PyObject_GetAttrString(self, "__dict__");
    if (!attributes) {
        PyErr_Clear();
        Py_INCREF(Py_None);
        attributes = Py_None;
    }
    PyObject *maker = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "from_bytes");
    PyObject *bytes = maker ? bandit_to_bytes(self, none) : NULL;
    PyObject *result = bytes ? Py_BuildValue("O(O)O", maker, bytes, attributes) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(maker);
    Py_DECREF(attributes);
    return result;
}

PyObject *bandit_sizeof(PyObject *object, PyObject *none)
{
    (void)none;
    bandit_object *self = (bandit_object *)object;
    return bandit_check(self) ? NULL : PyLong_FromSize_t(sizeof *self + bandit_memory(self));
}

PyObject *bandit_feature(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"feature", 1, 1, 1, {"place"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *value;
    uint64_t place;
    if (bandit_arguments(object, &SHAPE, args, count, names, &value) || read_whole(value, "place", SIZE_MAX, &place))
        return NULL;
    ee_feature feature;
    ee_error error;
    char *name = NULL;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_feature(self->bandit, (size_t)place, &feature, &error);
    if (!status) name = strdup(feature.name); /* valid only until the next call, which another thread may make */
    bandit_leave(self, state);
    if (status) return raise_status(status, &error);
    PyObject *result = name ? feature_new(name, &feature) : PyErr_NoMemory();
    free(name);
    return result;
}
