#include "raising.h"

#include "objects.h"

/* In the order of ee_status. */
static const char *const NAMES[] = {
    "Error",     "BadInput", "BadOption", "NoMemory", "UnknownDecision", "ExpiredDecision", "RewardedDecision",
    "FileError", "BadModel", "Diverged",  "NoFile",   "BadRecord",
};

enum { COUNT = sizeof NAMES / sizeof *NAMES };

/* A new reference; NULL with an exception set if the import fails. */
static PyObject *exception_of(ee_status status)
{
    PyErr_Clear(); /* Python must not be called with an exception set */
    PyObject *errors = PyImport_ImportModule("eenet._errors");
    if (!errors) return NULL;
    size_t index = (size_t)status < COUNT ? (size_t)status : 0;
    PyObject *exception = PyObject_GetAttrString(errors, NAMES[index]);
    Py_DECREF(errors);
    return exception;
}

PyObject *raise_status(ee_status status, const ee_error *error)
{
    PyObject *exception = exception_of(status);
    if (!exception) return NULL;
    /* A message may quote an argument and cut it within a character. */
    PyObject *sentence = text_from_bytes(error->message);
    if (sentence) PyErr_SetObject(exception, sentence);
    Py_XDECREF(sentence);
    Py_DECREF(exception);
    return NULL;
}

int raise_bad_input(const char *format, ...)
{
    PyObject *exception = exception_of(EE_BAD_INPUT);
    if (!exception) return -1;
    va_list values;
    va_start(values, format);
    PyErr_FormatV(exception, format, values);
    va_end(values);
    Py_DECREF(exception);
    return -1;
}

int raise_wrong_type(const char *what, const char *needed, PyObject *object)
{
    PyErr_Clear(); /* Python may have raised its own */
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (name) PyErr_Format(PyExc_TypeError, "%s: expected %s, got %S", what, needed, name);
    Py_XDECREF(name);
    return -1;
}
