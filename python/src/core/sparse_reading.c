#include "sparse_reading.h"

#include <stdint.h>

#include "shared/call_arguments.h"
#include "shared/objects.h"
#include "shared/raising.h"

int sparse_is(PyObject *arms)
{
    if (PyList_Check(arms) || PyTuple_Check(arms) || PyDict_CheckExact(arms) || PyUnicode_Check(arms)) return 0;
    int result = object_has(arms, "indptr");
    return result ? result : object_has(arms, "tocsr");
}

/* A new reference to arms in CSR form; tidy: a copy with sorted indices and without duplicates. Only scipy's
 * matrices need either. arms itself does not change. */
static PyObject *in_rows(PyObject *arms, bool tidy)
{
    PyObject *format;
    if (object_attribute(arms, "format", &format) < 0) return NULL;
    bool other = format && PyUnicode_Check(format) && PyUnicode_CompareWithASCIIString(format, "csr");
    Py_XDECREF(format);
    PyObject *rows = NULL;
    if (other) {
        rows = PyObject_CallMethod(arms, "tocsr", NULL);
    } else if (tidy) {
        rows = PyObject_CallMethod(arms, "copy", NULL);
    } else {
        Py_INCREF(arms);
        return arms;
    }
    PyObject *done = rows && tidy ? PyObject_CallMethod(rows, "sum_duplicates", NULL) : NULL;
    if (tidy && !done) Py_CLEAR(rows);
    Py_XDECREF(done);
    return rows;
}

/* The arrays of a CSR matrix while they are copied. */
typedef struct csr_parts {
    array_view starts, indices;
    size_t rows, dim;
} csr_parts;

static int read_shape(PyObject *arms, csr_parts *parts)
{
    PyObject *shape = PyObject_GetAttrString(arms, "shape");
    if (!shape) return -1;
    PyObject *pair = PySequence_Tuple(shape);
    Py_DECREF(shape);
    if (!pair) return -1;
    uint64_t sizes[2] = {0, 0};
    int failed = 0;
    if (PyTuple_Size(pair) != 2) failed = raise_bad_input("arms: expected 2 dimensions, got %zd", PyTuple_Size(pair));
    for (int i = 0; i < 2 && !failed; i++)
        failed = read_whole(PyTuple_GetItem(pair, i), "arms: shape", PY_SSIZE_T_MAX, &sizes[i]);
    Py_DECREF(pair);
    parts->rows = (size_t)sizes[0];
    parts->dim = (size_t)sizes[1];
    return failed;
}

static int read_part(PyObject *arms, const char *name, const char *what, array_view *out)
{
    PyObject *part = PyObject_GetAttrString(arms, name);
    if (!part) return -1;
    int failed = array_view_integers(part, what, out);
    Py_DECREF(part);
    return failed;
}

static int64_t whole_at(const array_view *view, size_t i)
{
    return view->size == 8 ? ((const int64_t *)view->data)[i] : ((const int32_t *)view->data)[i];
}

/* starts is (rows + 1). Checks that they ascend from 0 and stay within the entries, which the library cannot check. */
static int copy_starts(const csr_parts *parts, size_t entries, size_t *starts)
{
    int64_t last = 0;
    for (size_t i = 0; i <= parts->rows; i++) {
        int64_t start = whole_at(&parts->starts, i);
        if (start < last || (i == 0 && start))
            return raise_bad_input("arms: indptr must start at 0 and never decrease, but entry %zu is %lld", i,
                                   (long long)start);
        starts[i] = (size_t)start;
        last = start;
    }
    if (starts[parts->rows] <= entries) return 0;
    return raise_bad_input("arms: indptr implies %zu entries, but indices and data have %zu", starts[parts->rows],
                           entries);
}

/* indices is (starts[rows]). A copy, because the library reads them without the GIL and nothing may change them
 * after the check. Returns 1 if the indices of a row do not ascend, or -1 with an exception set. */
static int copy_indices(const csr_parts *parts, const size_t *starts, uint32_t *indices)
{
    int unsorted = 0;
    for (size_t row = 0; row < parts->rows; row++) {
        int64_t last = -1;
        for (size_t i = starts[row]; i < starts[row + 1]; i++) {
            int64_t index = whole_at(&parts->indices, i);
            if (index < 0 || index > UINT32_MAX)
                return raise_bad_input("arms: arm %zu has index %lld; expected indices below %zu, the dimension", row,
                                       (long long)index, parts->dim);
            unsorted |= index <= last;
            last = index;
            indices[i] = (uint32_t)index;
        }
    }
    return unsorted;
}

/* 0; 1 if indices do not ascend, or -1 with an exception set, with nothing to release. */
static int copy_parts(const csr_parts *parts, arms_reading *out)
{
    size_t entries = (size_t)parts->indices.shape[0];
    if ((size_t)out->values.shape[0] < entries) entries = (size_t)out->values.shape[0];
    if ((size_t)parts->starts.shape[0] != parts->rows + 1)
        return raise_bad_input("arms: expected one more entry in indptr than arms (%zu), got %zd", parts->rows,
                               parts->starts.shape[0]);
    size_t *starts = PyMem_Malloc((parts->rows + 1) * sizeof *starts + entries * sizeof *out->arms.indices);
    if (!starts) return PyErr_NoMemory(), -1;
    uint32_t *indices = (uint32_t *)(starts + parts->rows + 1);
    int failed = copy_starts(parts, entries, starts);
    if (!failed) failed = copy_indices(parts, starts, indices);
    if (failed) {
        PyMem_Free(starts);
        return failed;
    }
    out->buffer = starts;
    out->arms = ee_arms_sparse(starts, indices, out->values.data, parts->rows, parts->dim);
    return 0;
}

/* Like sparse_read, for CSR; 1 if indices do not ascend. */
static int read_rows(PyObject *arms, arms_reading *out)
{
    csr_parts parts = {.starts.owner = NULL, .indices.owner = NULL};
    int failed = read_shape(arms, &parts);
    if (!failed) failed = read_part(arms, "indptr", "arms: indptr", &parts.starts);
    if (!failed) failed = read_part(arms, "indices", "arms: indices", &parts.indices);
    PyObject *data = failed ? NULL : PyObject_GetAttrString(arms, "data");
    if (!data) failed = -1;
    if (!failed) failed = array_view_floats(data, 1, "arms: data", &out->values);
    Py_XDECREF(data);
    if (!failed) failed = copy_parts(&parts, out);
    array_view_release(&parts.starts);
    array_view_release(&parts.indices);
    if (failed) array_view_release(&out->values);
    return failed;
}

int sparse_read(PyObject *arms, arms_reading *out)
{
    for (int tidy = 0; tidy < 2; tidy++) {
        PyObject *rows = in_rows(arms, tidy);
        if (!rows) return -1;
        int result = read_rows(rows, out);
        Py_DECREF(rows);
        if (result <= 0) return result;
        result = object_has(arms, "sum_duplicates");
        if (result < 0) return -1;
        if (!result) break;
    }
    return raise_bad_input("arms: the indices of an arm must be in ascending order");
}
