/* The memory of an array-like object, without numpy's headers, so that one wheel works with numpy 1 and 2.
 *
 * A numpy array exposes its memory as __array_struct__, a stable C struct. Everything else (lists, subclasses, data
 * frames, tensors) is converted with numpy.asarray first, which also handles objects that describe themselves
 * wrongly. */
#ifndef EENET_PYTHON_ARRAY_VIEW_H
#define EENET_PYTHON_ARRAY_VIEW_H

#include <Python.h>

typedef struct array_view { /* borrowed until array_view_release */
    PyObject *owner;        /* owns the memory: numpy's capsule or a converted copy; NULL: nothing to release */
    int dimensions;         /* may be more than 3; then shape and strides hold the first three */
    Py_ssize_t shape[3], strides[3]; /* strides in bytes */
    const void *data;
    char kind; /* numpy's: 'f', 'i', 'u' or 'b'; numbers are aligned and in native byte order */
    int size;  /* bytes of a number */
    int contiguous;
} array_view;

/* Whether this is a numpy array and not a subclass. */
int array_is_plain(PyObject *object);

/* Each returns 0, or -1 with an exception set and nothing to release. `what` names the argument in messages, such as
 * "arms: expected an array of 2 dimensions, one row per arm, got 1". */
int array_view_take(PyObject *object, array_view *out);

/* The same as C-contiguous numbers of one type; copies only if needed. */
int array_view_floats(PyObject *object, int dimensions, const char *what, array_view *out);
int array_view_doubles(PyObject *object, int dimensions, const char *what, array_view *out);

/* C-contiguous integers of one dimension: int32 and int64 unchanged, others as int64. */
int array_view_integers(PyObject *object, const char *what, array_view *out);

void array_view_release(array_view *view);

/* A numpy array over bytes: read-only. A new reference, or NULL with an exception set. */
PyObject *array_from_bytes(PyObject *bytes, const char *dtype, int dimensions, const Py_ssize_t *shape);

/* The same over a copy of numbers of this size in bytes. */
PyObject *array_from_copy(const void *data, const char *dtype, size_t size, int dimensions, const Py_ssize_t *shape);

#endif
