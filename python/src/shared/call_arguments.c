#include "call_arguments.h"

#include <stdbool.h>
#include <string.h>

#include "raising.h"

static int place_of(const call_shape *shape, PyObject *name)
{
    for (int i = 0; i < shape->count; i++)
        if (!PyUnicode_CompareWithASCIIString(name, shape->names[i])) return i;
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected argument '%U'", shape->method, name);
    return -1;
}

static int take_named(const call_shape *shape, PyObject *const *args, PyObject *names, PyObject **values)
{
    Py_ssize_t count = PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        int place = place_of(shape, PyTuple_GetItem(names, i));
        if (place < 0) return -1;
        if (values[place]) {
            PyErr_Format(PyExc_TypeError, "%s() got '%s' twice", shape->method, shape->names[place]);
            return -1;
        }
        values[place] = args[i];
    }
    return 0;
}

int call_arguments(const call_shape *shape, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **values)
{
    if (count > shape->by_position) {
        bool named = shape->by_position < shape->count;
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional argument%s, got %zd%s%s%s", shape->method,
                     shape->by_position, shape->by_position == 1 ? "" : "s", count, named ? "; use " : "",
                     named ? shape->names[shape->by_position] : "", named ? "=" : "");
        return -1;
    }
    memset(values, 0, (size_t)shape->count * sizeof *values);
    for (Py_ssize_t i = 0; i < count; i++) values[i] = args[i];
    if (names && take_named(shape, args + count, names, values)) return -1;
    for (int i = 0; i < shape->required; i++) {
        if (values[i]) continue;
        PyErr_Format(PyExc_TypeError, "%s() is missing the argument '%s'", shape->method, shape->names[i]);
        return -1;
    }
    return 0;
}

/* Python's bool or numpy's. True would count as 1, but as an id or an index it is a mistake, as in learn(True, 1). */
static bool is_bool(PyObject *object)
{
    if (PyLong_Check(object)) return PyBool_Check(object);
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    bool found = name && PyUnicode_Check(name) &&
                 (!PyUnicode_CompareWithASCIIString(name, "bool_") || !PyUnicode_CompareWithASCIIString(name, "bool"));
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

int read_whole(PyObject *object, const char *what, uint64_t most, uint64_t *out)
{
    PyObject *number = is_bool(object) ? NULL : PyNumber_Index(object);
    if (!number) {
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        return raise_wrong_type(what, "an integer", object);
    }
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    int failed = PyErr_Occurred() != NULL;
    if (failed && PyErr_ExceptionMatches(PyExc_OverflowError)) PyErr_Clear();
    if (!PyErr_Occurred() && (failed || value > most)) {
        if (most == UINT64_MAX)
            raise_bad_input("%s: expected an integer from 0 to 2^64 - 1, got %.80R", what, object);
        else
            raise_bad_input("%s: expected an integer from 0 to %llu, got %.80R", what, (unsigned long long)most,
                            object);
    }
    Py_DECREF(number);
    if (PyErr_Occurred()) return -1;
    *out = value;
    return 0;
}

int read_number(PyObject *object, const char *what, double *out)
{
    *out = PyFloat_AsDouble(object);
    if (*out != -1 || !PyErr_Occurred()) return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) raise_wrong_type(what, "a number", object);
    return -1;
}

PyObject *read_sequence(PyObject *object, const char *what)
{
    PyObject *tuple = PySequence_Tuple(object);
    if (!tuple && PyErr_ExceptionMatches(PyExc_TypeError)) raise_wrong_type(what, "a sequence", object);
    return tuple;
}

int read_text(PyObject *object, const char *what, PyObject **holder, const char **text)
{
    *holder = NULL;
    *text = NULL;
    if (!object) return -1;
    if (object == Py_None) return 0;
    if (!PyUnicode_Check(object)) return raise_wrong_type(what, "a string", object);
    *holder = PyUnicode_AsUTF8String(object);
    if (!*holder) return -1;
    *text = PyBytes_AsString(*holder);
    if (strlen(*text) == (size_t)PyBytes_Size(*holder)) return 0;
    Py_CLEAR(*holder);
    return raise_bad_input("%s: the string contains a null character", what);
}

int read_path(PyObject *object, PyObject **holder, const char **path)
{
    *holder = NULL;
    if (!PyUnicode_FSConverter(object, holder)) return -1;
    *path = PyBytes_AsString(*holder);
    return 0;
}
