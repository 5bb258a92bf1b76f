#include "lab_arguments.h"

#include <string.h>

int argument_whole(PyObject *object, const char *name, uint64_t *out)
{
    PyObject *whole = PyNumber_Index(object);
    if (!whole) {
        PyErr_Format(PyExc_TypeError, "%s: a whole number is needed, got %R", name, object);
        return -1;
    }
    *out = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    if (!PyErr_Occurred()) return 0;
    PyErr_Format(PyExc_ValueError, "%s: a whole number from 0 to 2**64 - 1 is needed, got %R", name, object);
    return -1;
}

int argument_text(PyObject *object, const char *name, PyObject **out)
{
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s: text is needed, got %R", name, object);
        return -1;
    }
    char *text;
    Py_ssize_t length;
    *out = PyUnicode_AsUTF8String(object);
    if (!*out || PyBytes_AsStringAndSize(*out, &text, &length)) return -1;
    if (!memchr(text, 0, (size_t)length)) return 0;
    PyErr_Format(PyExc_ValueError, "%s: text with a zero character in it", name);
    Py_CLEAR(*out);
    return -1;
}
