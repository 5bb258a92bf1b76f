#include "array_view.h"

#include <stdint.h>
#include <string.h>

#include "raising.h"

/* numpy's PyArrayInterface, version 2. */
typedef struct array_interface {
    int two; /* is 2, or this is something else */
    int dimensions;
    char kind;
    int size;
    int flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} array_interface;

enum { C_CONTIGUOUS = 0x1, ALIGNED = 0x100, NOT_SWAPPED = 0x200 };

/* Looked up once; they live as long as the process. */
static PyObject *ndarray, *asarray, *copying, *struct_name;

static int find_numpy(void)
{
    if (struct_name) return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) return -1;
    if (!ndarray) ndarray = PyObject_GetAttrString(numpy, "ndarray");
    if (!asarray) asarray = PyObject_GetAttrString(numpy, "asarray");
    if (!copying) copying = PyObject_GetAttrString(numpy, "array");
    Py_DECREF(numpy);
    if (!ndarray || !asarray || !copying) return -1;
    struct_name = PyUnicode_InternFromString("__array_struct__");
    return struct_name ? 0 : -1;
}

int array_is_plain(PyObject *object)
{
    return (PyObject *)Py_TYPE(object) == ndarray;
}

/* A plain numpy array of what object holds, by numpy's asarray or array; dtype NULL: of the type that fits. */
static PyObject *plain_array(PyObject *object, PyObject *maker, const char *dtype)
{
    PyObject *array =
        dtype ? PyObject_CallFunction(maker, "Os", object, dtype) : PyObject_CallFunctionObjArgs(maker, object, NULL);
    if (array && !array_is_plain(array)) {
        raise_wrong_type("numpy.asarray", "a plain array", array);
        Py_CLEAR(array);
    }
    return array;
}

/* The view of a plain numpy array, whatever it holds. */
static const array_interface *look(PyObject *array, array_view *out)
{
    PyObject *capsule = PyObject_GetAttr(array, struct_name);
    if (!capsule) return NULL;
    const array_interface *shown = PyCapsule_GetPointer(capsule, NULL);
    if (shown && shown->two != 2) {
        PyErr_SetString(PyExc_ValueError, "numpy shows its arrays in a way that is not known here");
        shown = NULL;
    }
    if (!shown) {
        Py_DECREF(capsule);
        return NULL;
    }
    out->owner = capsule;
    out->dimensions = shown->dimensions;
    for (int i = 0; i < shown->dimensions && i < 3; i++) {
        out->shape[i] = shown->shape[i];
        out->strides[i] = shown->strides[i];
    }
    out->data = shown->data;
    out->kind = shown->kind;
    out->size = shown->size;
    out->contiguous = (shown->flags & C_CONTIGUOUS) != 0;
    return shown;
}

static int is_number(char kind)
{
    return kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b';
}

/* As look, of object's numbers as dtype. What numpy says where that fails is right, but does not name the argument. */
static int convert(PyObject *object, PyObject *maker, const char *dtype, const char *what, array_view *out)
{
    PyObject *array = plain_array(object, maker, dtype);
    if (!array) {
        PyObject *type, *value, *trace;
        PyObject *kind = PyErr_ExceptionMatches(PyExc_TypeError) ? PyExc_TypeError : PyExc_ValueError;
        if (!PyErr_ExceptionMatches(kind)) return -1;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_Format(kind, "%s: numbers are needed: %S", what, value ? value : type);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return -1;
    }
    const array_interface *shown = look(array, out);
    Py_DECREF(array);
    return shown ? 0 : -1;
}

/* numpy.asarray drops the mask of a masked array, and shows what lies below it. */
static int refuse_masked(PyObject *object, const char *what)
{
    if (!PyObject_TypeCheck(object, (PyTypeObject *)ndarray) || array_is_plain(object)) return 0;
    PyObject *mask = PyObject_GetAttrString(object, "mask");
    if (!mask) {
        PyErr_Clear();
        return 0;
    }
    PyObject *any = PyObject_CallMethod(mask, "any", NULL);
    Py_DECREF(mask);
    int masked = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(any);
    if (masked > 0) raise_bad_input("%s: some of the numbers are masked", what);
    return masked ? -1 : 0;
}

/* The numbers of object as they are, but native and aligned. */
static int take_numbers(PyObject *object, const char *what, array_view *out)
{
    if (find_numpy()) return -1;
    if (!array_is_plain(object)) {
        if (refuse_masked(object, what) || convert(object, asarray, NULL, what, out)) return -1;
    } else if (!look(object, out)) {
        return -1;
    }
    const array_interface *shown = PyCapsule_GetPointer(out->owner, NULL);
    int ready = (shown->flags & (ALIGNED | NOT_SWAPPED)) == (ALIGNED | NOT_SWAPPED);
    if (is_number(out->kind) && ready) return 0;
    char dtype[] = {out->kind, 0, 0, 0};
    if (is_number(out->kind))
        PyOS_snprintf(dtype, sizeof dtype, "%c%d", out->kind, out->size);
    else if (out->kind == 'O') /* Python's own numbers, or none at all: numpy will see */
        memcpy(dtype, "f8", 3);
    array_view_release(out);
    if (dtype[1]) return convert(object, copying, dtype, what, out); /* asarray may leave it unaligned */
    PyErr_Format(PyExc_TypeError, "%s: numbers are needed, this holds %s", what,
                 dtype[0] == 'c'                      ? "complex ones"
                 : dtype[0] == 'U' || dtype[0] == 'S' ? "texts"
                                                      : "something else");
    return -1;
}

int array_view_take(PyObject *object, array_view *out)
{
    return take_numbers(object, "array", out);
}

static int check_dimensions(array_view *view, int dimensions, const char *what)
{
    if (view->dimensions == dimensions) return 0;
    raise_bad_input("%s: an array of %d dimension%s is needed, this one has %d", what, dimensions,
                    dimensions == 1 ? "" : "s", view->dimensions);
    array_view_release(view);
    return -1;
}

size_t array_view_count(const array_view *view)
{
    size_t count = 1;
    for (int i = 0; i < view->dimensions && i < 3; i++) count *= (size_t)view->shape[i];
    return count;
}

/* Bytes of a contiguous copy, or -1: an array that repeats itself by strides of 0 may claim any shape. */
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

/* A view of one or two dimensions, float32 or float64, strided as it may be, as floats in bytes of our own. numpy would
 * do it too, and take three times as long for the few numbers of a round. */
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
    for (Py_ssize_t i = 0; i < rows; i++)
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

/* Whatever numpy can make of object. */
static int numbers_by_numpy(PyObject *object, const char *dtype, const char *what, array_view *out)
{
    PyObject *order = PyObject_CallFunction(asarray, "Oss", object, dtype, "C");
    if (!order) return convert(object, asarray, dtype, what, out); /* says why */
    int result = convert(order, asarray, dtype, what, out);
    Py_DECREF(order);
    return result;
}

int array_view_floats(PyObject *object, int dimensions, const char *what, array_view *out)
{
    if (take_numbers(object, what, out)) return -1;
    if (check_dimensions(out, dimensions, what)) return -1;
    int is_float = out->kind == 'f' && (out->size == 4 || out->size == 8);
    if (is_float && out->size == 4 && out->contiguous) return 0;
    if (is_float && (dimensions == 1 || dimensions == 2)) return floats_of_strided(out);
    array_view_release(out);
    return numbers_by_numpy(object, "f4", what, out);
}

int array_view_doubles(PyObject *object, int dimensions, const char *what, array_view *out)
{
    if (take_numbers(object, what, out)) return -1;
    if (check_dimensions(out, dimensions, what)) return -1;
    if (out->kind == 'f' && out->size == 8 && out->contiguous) return 0;
    array_view_release(out);
    return numbers_by_numpy(object, "f8", what, out);
}

int array_view_integers(PyObject *object, const char *what, array_view *out)
{
    if (take_numbers(object, what, out)) return -1;
    if (check_dimensions(out, 1, what)) return -1;
    if (out->kind == 'i' && out->contiguous && (out->size == 4 || out->size == 8)) return 0;
    char kind = out->kind;
    int empty = !out->shape[0];
    array_view_release(out);
    if (kind == 'f' && !empty) { /* an empty list is one of floats, by numpy */
        PyErr_Format(PyExc_TypeError, "%s: whole numbers are needed", what);
        return -1;
    }
    return numbers_by_numpy(object, "i8", what, out);
}

void array_view_release(array_view *view)
{
    Py_CLEAR(view->owner);
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
