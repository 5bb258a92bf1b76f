/* Writes nine digits, which distinguish any two float32. This takes a tenth of the time of Python's formatting,
 * which would be most of a decision's cost for the client. */
#include "vectors_json.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "json_writing.h"
#include "shared/array_view.h"
#include "shared/raising.h"

/* Writes nine digits times a power of ten; false if size is too large or too small. The product is rounded twice, a
 * relative error of 1e-16; neighbouring float32 differ by 6e-8. */
static bool put_nine_digits(json_writing *self, double size)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    static const double smallest = 1e-9, largest = 1e8;
    enum { DIGITS = 8 };
    if (!(size >= smallest && size < largest)) return false;
    int power = DIGITS;
    for (double bound = 1; size < bound; bound /= 10) power++;
    for (double bound = 10; size >= bound; bound *= 10) power--;
    json_put_integer(self, (int64_t)llrint(size * powers[power]));
    json_put_bytes(self, "e-", 2);
    json_put_integer(self, power);
    return true;
}

/* For the rare very large and very small numbers. */
static bool put_by_python(json_writing *self, double value)
{
    enum { DIGITS = 9 };
    char *digits = PyOS_double_to_string(value, 'g', DIGITS, 0, NULL);
    if (!digits) return false;
    for (const char *next = digits; *next; next++) json_put(self, *next);
    PyMem_Free(digits);
    return true;
}

static bool put_number(json_writing *self, float number)
{
    static const double most_whole = 1e9;
    double size = fabs((double)number);
    if (!isfinite(number)) {
        raise_bad_input("actions: expected finite float32 numbers, got NaN, infinity or a larger number");
        return false;
    }
    if (signbit(number)) json_put(self, '-');
    if (size < most_whole && size == floor(size)) {
        json_put_integer(self, (int64_t)size);
        return true;
    }
    return put_nine_digits(self, size) || put_by_python(self, size);
}

static bool put_rows(json_writing *self, const float *numbers, size_t rows, size_t columns)
{
    if (!json_writing_reserve(self, 2 + rows * 3)) return PyErr_NoMemory(), false;
    json_put(self, '[');
    for (size_t row = 0; row < rows; row++) {
        if (!json_writing_reserve(self, 4 + columns * (JSON_NUMBER_BYTES + 1))) return PyErr_NoMemory(), false;
        if (row) json_put(self, ',');
        json_put(self, '[');
        for (size_t column = 0; column < columns; column++) {
            if (column) json_put(self, ',');
            if (!put_number(self, numbers[row * columns + column])) return false;
        }
        json_put(self, ']');
    }
    json_put(self, ']');
    return true;
}

PyObject *vectors_json(PyObject *module, PyObject *array)
{
    (void)module;
    array_view view;
    json_writing text = {0};
    PyObject *made = NULL;
    if (array_view_floats(array, 2, "actions", &view)) return NULL;
    if (put_rows(&text, view.data, (size_t)view.shape[0], (size_t)view.shape[1]))
        made = PyBytes_FromStringAndSize(text.bytes, (Py_ssize_t)text.used);
    json_writing_release(&text);
    array_view_release(&view);
    return made;
}
