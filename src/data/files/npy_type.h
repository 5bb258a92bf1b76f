/* The types of the entries of NumPy's arrays, and entries as bytes of a file. */
#ifndef EENET_NPY_TYPE_H
#define EENET_NPY_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In memory as double, float, its 16 bits, and the whole numbers of <stdint.h>; a bool is a byte, 0 or 1. */
typedef enum npy_type {
    NPY_FLOAT64,
    NPY_FLOAT32,
    NPY_FLOAT16,
    NPY_INT64,
    NPY_INT32,
    NPY_INT16,
    NPY_INT8,
    NPY_UINT64,
    NPY_UINT32,
    NPY_UINT16,
    NPY_UINT8,
    NPY_BOOL,
    NPY_TYPES
} npy_type;

/* Size of the text that npy_describe_type writes. */
enum { NPY_DESCR_SIZE = 4 };

const char *npy_type_name(npy_type type); /* "float64", as NumPy calls it */
size_t npy_size(npy_type type);           /* bytes of an entry */
bool npy_is_whole(npy_type type);         /* whole numbers; bool is not */

/* Converts between a type and its text in a file, such as "<f8" (little-endian). text is (length); false if the type is
 * not supported. */
bool npy_find_type(const char *text, size_t length, npy_type *type, bool *big_endian);
void npy_describe_type(npy_type type, char text[NPY_DESCR_SIZE]);

/* Stores the file's bytes of one entry as entry number index of data. */
void npy_decode(npy_type type, bool big_endian, const uint8_t *bytes, void *data, size_t index);

/* Converts entries to the bytes of a file, little-endian. data is (count); bytes has room for count * npy_size(type).
 */
void npy_encode(npy_type type, const void *data, size_t count, uint8_t *bytes);

/* Entry number index as a number, whatever the type. */
double npy_entry_real(npy_type type, const void *data, size_t index);

/* The same for a type of whole numbers; INT64_MAX for larger ones. */
int64_t npy_entry_whole(npy_type type, const void *data, size_t index);

#endif
