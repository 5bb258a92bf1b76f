/* The memory of an array-like, without numpy's headers: one wheel works with numpy 1 and 2.
 *
 * A numpy array shows its memory by __array_struct__, a C struct that never changed. Whatever is no plain numpy array
 * (lists, subclasses, data frames, tensors) is made one by numpy.asarray first, which is also the one to deal with
 * objects that claim wrong things about themselves. */
#ifndef EENET_PYTHON_ARRAY_VIEW_H
#define EENET_PYTHON_ARRAY_VIEW_H

#include <Python.h>

typedef struct array_view { /* borrowed until array_view_release */
    PyObject *owner;        /* keeps the memory: numpy's capsule, or what was converted; NULL: nothing to release */
    int dimensions;         /* may be more than 3; then shape and strides hold the first three */
    Py_ssize_t shape[3], strides[3]; /* strides in bytes */
    const void *data;
    char kind; /* 'f' 4, 'f' 8, 'i' 8, 'u' 1, 'b' 1 ...: numbers in native byte order, aligned */
    int size;  /* bytes of a number */
    int contiguous;
} array_view;

/* Whether this is a numpy array and no subclass: what is looked at without further questions. */
int array_is_plain(PyObject *object);

/* Each returns 0, or -1 with an exception set; out needs no release then. `what` names the argument in messages, as in
 * "arms: expected an array of 2 dimensions, one row per arm, got 1". */
int array_view_take(PyObject *object, array_view *out);

/* The same as C-contiguous numbers of one type; no copy where it is that already. */
int array_view_floats(PyObject *object, int dimensions, const char *what, array_view *out);
int array_view_doubles(PyObject *object, int dimensions, const char *what, array_view *out);

/* Whole numbers, C-contiguous, 'i' of 4 or 8 bytes, as they come; others become 8. One dimension. */
int array_view_integers(PyObject *object, const char *what, array_view *out);

void array_view_release(array_view *view);

/* A numpy array over bytes: read-only. A new reference, or NULL with an exception set. */
PyObject *array_from_bytes(PyObject *bytes, const char *dtype, int dimensions, const Py_ssize_t *shape);

/* The same over a copy of numbers of this size in bytes. */
PyObject *array_from_copy(const void *data, const char *dtype, size_t size, int dimensions, const Py_ssize_t *shape);

#endif
