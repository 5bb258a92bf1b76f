#include "array_view.h"

#include <stdint.h>
#include <string.h>

#include "raising.h"

/* numpy's PyArrayInterface, version 2. */
typedef struct array_interface {
    int version; /* must be 2 */
    int dimensions;
    char kind;
    int size;
    int flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} array_interface;

enum { C_CONTIGUOUS = 0x1, ALIGNED = 0x100, NOT_SWAPPED = 0x200 };

/* Looked up once, and never released. */
static PyObject *ndarray, *asarray, *struct_name;

static int find_numpy(void)
{
    if (struct_name) return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) return -1;
    if (!ndarray) ndarray = PyObject_GetAttrString(numpy, "ndarray");
    if (!asarray) asarray = PyObject_GetAttrString(numpy, "asarray");
    Py_DECREF(numpy);
    if (!ndarray || !asarray) return -1;
    struct_name = PyUnicode_InternFromString("__array_struct__");
    return struct_name ? 0 : -1;
}

int array_is_plain(PyObject *object)
{
    /* An array exists only if numpy is imported already; callers without arrays must not pay for importing it. */
    if (!ndarray && PyDict_GetItemString(PyImport_GetModuleDict(), "numpy") && find_numpy()) PyErr_Clear();
    return (PyObject *)Py_TYPE(object) == ndarray;
}

/* Fills the view of a plain numpy array of any type. */
static const array_interface *read_interface(PyObject *array, array_view *out)
{
    PyObject *capsule = PyObject_GetAttr(array, struct_name);
    if (!capsule) return NULL;
    const array_interface *interface = PyCapsule_GetPointer(capsule, NULL);
    if (interface && interface->version != 2) {
        PyErr_SetString(PyExc_ValueError, "this version of numpy describes its arrays in an unsupported way");
        interface = NULL;
    }
    if (!interface) {
        Py_DECREF(capsule);
        return NULL;
    }
    out->owner = capsule;
    out->dimensions = interface->dimensions;
    for (int i = 0; i < interface->dimensions && i < 3; i++) {
        out->shape[i] = interface->shape[i];
        out->strides[i] = interface->strides[i];
    }
    out->data = interface->data;
    out->kind = interface->kind;
    out->size = interface->size;
    out->contiguous = (interface->flags & C_CONTIGUOUS) != 0;
    return interface;
}

static int is_number(char kind)
{
    return kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b';
}

/* Adds the argument's name to numpy's message. */
static PyObject *name_argument(const char *what)
{
    PyObject *type, *value, *trace;
    PyObject *kind = PyErr_ExceptionMatches(PyExc_TypeError) ? PyExc_TypeError : PyExc_ValueError;
    if (!PyErr_ExceptionMatches(kind)) return NULL;
    PyErr_Fetch(&type, &value, &trace);
    if (kind == PyExc_ValueError)
        raise_bad_input("%s: expected numbers: %S", what, value ? value : type);
    else
        PyErr_Format(kind, "%s: expected numbers: %S", what, value ? value : type);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return NULL;
}

/* Refuses masked values, because numpy.asarray ignores the mask. */
static int refuse_masked(PyObject *object, const char *what)
{
    if (!PyObject_TypeCheck(object, (PyTypeObject *)ndarray)) return 0;
    PyObject *mask = PyObject_GetAttrString(object, "mask");
    if (!mask) return PyErr_Clear(), 0;
    PyObject *any = PyObject_CallMethod(mask, "any", NULL);
    Py_DECREF(mask);
    int masked = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(any);
    if (masked > 0) raise_bad_input("%s: expected no masked values, got some", what);
    return masked ? -1 : 0;
}

/* A new reference to object as a plain array. Converted only once, because an object may give another result each
 * time. */
static PyObject *plain_array(PyObject *object, const char *what)
{
    if (find_numpy()) return NULL;
    if (array_is_plain(object)) {
        Py_INCREF(object);
        return object;
    }
    if (refuse_masked(object, what)) return NULL;
    PyObject *array = PyObject_CallFunctionObjArgs(asarray, object, NULL);
    if (!array) return name_argument(what);
    if (array_is_plain(array)) return array;
    raise_wrong_type("numpy.asarray", "a plain array", array);
    Py_DECREF(array);
    return NULL;
}

/* The numbers of a plain array as dtype: a copy in C order, native and aligned. */
static int convert(PyObject *array, const char *dtype, const char *what, array_view *out)
{
    PyObject *copy = PyObject_CallMethod(array, "astype", "ss", dtype, "C");
    if (!copy) {
        name_argument(what);
        return -1;
    }
    const array_interface *interface = read_interface(copy, out);
    Py_DECREF(copy);
    return interface ? 0 : -1;
}

static int refuse_kind(char kind, const char *what)
{
    const char *held = kind == 'c' ? "complex numbers" : kind == 'U' || kind == 'S' ? "strings" : "other values";
    PyErr_Format(PyExc_TypeError, "%s: expected numbers, got %s", what, held);
    return -1;
}

/* The numbers of a plain array of any type and number of dimensions, native and aligned. */
static int take_numbers(PyObject *array, int dimensions, const char *what, array_view *out)
{
    (void)dimensions;
    const array_interface *interface = read_interface(array, out);
    if (!interface) return -1;
    int ready = (interface->flags & (ALIGNED | NOT_SWAPPED)) == (ALIGNED | NOT_SWAPPED);
    if (is_number(out->kind) && ready) return 0;
    char dtype[8] = "f8"; /* for objects, which may be Python's numbers: numpy checks */
    if (is_number(out->kind)) PyOS_snprintf(dtype, sizeof dtype, "%c%d", out->kind, out->size);
    char kind = out->kind;
    array_view_release(out);
    return is_number(kind) || kind == 'O' ? convert(array, dtype, what, out) : refuse_kind(kind, what);
}

static int check_dimensions(array_view *view, int dimensions, const char *what)
{
    if (view->dimensions == dimensions) return 0;
    const char *hint = dimensions == 2 && !strcmp(what, "arms") ? ", one row per arm" : "";
    raise_bad_input("%s: expected an array of %d dimension%s%s, got %d", what, dimensions, dimensions == 1 ? "" : "s",
                    hint, view->dimensions);
    array_view_release(view);
    return -1;
}

/* The bytes of a contiguous copy, or -1 if they overflow: an array with strides of 0 may have any shape. */
static Py_ssize_t bytes_needed(const array_view *view, Py_ssize_t size)
{
    Py_ssize_t bytes = size;
    for (int i = 0; i < view->dimensions; i++) {
        if (view->shape[i] && bytes > PY_SSIZE_T_MAX / view->shape[i]) return -1;
        bytes *= view->shape[i];
    }
    return bytes;
}

static void floats_of_row(const char *from, Py_ssize_t stride, Py_ssize_t count, int size, float *to)
{
    if (size == 8)
        for (Py_ssize_t i = 0; i < count; i++, from += stride) to[i] = (float)*(const double *)(const void *)from;
    else
        for (Py_ssize_t i = 0; i < count; i++, from += stride) to[i] = *(const float *)(const void *)from;
}

/* Converts a strided view of float32 or float64 in one or two dimensions to contiguous float32. numpy takes three
 * times as long for the few numbers of a round. */
static int floats_of_strided(array_view *view)
{
    Py_ssize_t bytes = bytes_needed(view, sizeof(float));
    PyObject *copy = bytes < 0 ? PyErr_NoMemory() : PyBytes_FromStringAndSize(NULL, bytes);
    if (!copy) {
        array_view_release(view);
        return -1;
    }
    int last = view->dimensions - 1;
    float *to = (void *)PyBytes_AsString(copy);
    Py_ssize_t rows = last ? view->shape[0] : 1, row = view->shape[last];
    for (Py_ssize_t i = 0; i < rows && row; i++) /* the number of empty rows is not limited by memory */
        floats_of_row((const char *)view->data + (last ? i * view->strides[0] : 0), view->strides[last], row,
                      view->size, to + i * row);
    Py_DECREF(view->owner);
    view->owner = copy;
    view->data = to;
    view->size = sizeof(float);
    view->contiguous = 1;
    view->strides[last] = sizeof(float);
    if (last) view->strides[0] = (Py_ssize_t)sizeof(float) * row;
    return 0;
}

/* Checks the dimensions again: an object in the array may change the array while it is converted. */
static int convert_checked(PyObject *array, const char *dtype, int dimensions, const char *what, array_view *view)
{
    array_view_release(view);
    return convert(array, dtype, what, view) || check_dimensions(view, dimensions, what) ? -1 : 0;
}

static int floats_of_array(PyObject *array, int dimensions, const char *what, array_view *out)
{
    if (take_numbers(array, dimensions, what, out) || check_dimensions(out, dimensions, what)) return -1;
    int is_float = out->kind == 'f' && (out->size == 4 || out->size == 8);
    if (is_float && out->size == 4 && out->contiguous) return 0;
    if (is_float && (dimensions == 1 || dimensions == 2)) return floats_of_strided(out);
    return convert_checked(array, "f4", dimensions, what, out);
}

static int doubles_of_array(PyObject *array, int dimensions, const char *what, array_view *out)
{
    if (take_numbers(array, dimensions, what, out) || check_dimensions(out, dimensions, what)) return -1;
    if (out->kind == 'f' && out->size == 8 && out->contiguous) return 0;
    return convert_checked(array, "f8", dimensions, what, out);
}

static int integers_of_array(PyObject *array, int dimensions, const char *what, array_view *out)
{
    if (take_numbers(array, dimensions, what, out) || check_dimensions(out, dimensions, what)) return -1;
    if (out->kind == 'i' && out->contiguous && (out->size == 4 || out->size == 8)) return 0;
    if (out->kind != 'f' || !out->shape[0]) /* numpy makes an empty list an array of floats */
        return convert_checked(array, "i8", dimensions, what, out);
    array_view_release(out);
    PyErr_Format(PyExc_TypeError, "%s: expected integers, got floats", what);
    return -1;
}

static int view_as(PyObject *object, int dimensions, const char *what,
                   int (*take)(PyObject *array, int dimensions, const char *what, array_view *out), array_view *out)
{
    PyObject *array = plain_array(object, what);
    int result = array ? take(array, dimensions, what, out) : -1;
    Py_XDECREF(array);
    return result;
}

int array_view_take(PyObject *object, array_view *out)
{
    return view_as(object, 0, "array", take_numbers, out);
}

int array_view_floats(PyObject *object, int dimensions, const char *what, array_view *out)
{
    return view_as(object, dimensions, what, floats_of_array, out);
}

int array_view_doubles(PyObject *object, int dimensions, const char *what, array_view *out)
{
    return view_as(object, dimensions, what, doubles_of_array, out);
}

int array_view_integers(PyObject *object, const char *what, array_view *out)
{
    return view_as(object, 1, what, integers_of_array, out);
}

void array_view_release(array_view *view)
{
    Py_CLEAR(view->owner);
}

PyObject *array_from_copy(const void *data, const char *dtype, size_t size, int dimensions, const Py_ssize_t *shape)
{
    if (PyErr_Occurred()) return NULL; /* raised by another argument of the same call */
    for (int i = 0; i < dimensions; i++) size *= (size_t)shape[i];
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    PyObject *array = bytes ? array_from_bytes(bytes, dtype, dimensions, shape) : NULL;
    Py_XDECREF(bytes);
    return array;
}

PyObject *array_from_bytes(PyObject *bytes, const char *dtype, int dimensions, const Py_ssize_t *shape)
{
    if (find_numpy()) return NULL;
    PyObject *size = PyTuple_New(dimensions), *array = NULL;
    for (int i = 0; size && i < dimensions; i++) {
        PyObject *length = PyLong_FromSsize_t(shape[i]);
        if (!length) goto done;
        PyTuple_SetItem(size, i, length);
    }
    if (size) array = PyObject_CallFunction(ndarray, "OsO", size, dtype, bytes);
done:
    Py_XDECREF(size);
    return array;
}
