/* Arrays in NumPy's .npy files: versions 1 to 3, of floats, whole numbers and bool (npy_type.h). Either order of the
 * entries and of their bytes is read; C order and little-endian are written. The header is not trusted: the bytes that
 * follow it must be exactly those that it promises. */
#ifndef EENET_NPY_H
#define EENET_NPY_H

#include "base/status.h"
#include "npy_type.h"

enum { NPY_MOST_DIMENSIONS = 8 };

typedef struct npy_array {
    npy_type type;
    size_t rank;
    size_t shape[NPY_MOST_DIMENSIONS]; /* (rank) */
    size_t count;                      /* entries: the product of the shape; 1 where the rank is 0 */
    void *data;                        /* (shape) in C order, whatever the file's, as npy_type.h has it */
} npy_array;

/* Reads a file. EE_BAD_INPUT, with the byte and what was expected there, where it is malformed. On success the array is
 * to be released with npy_release; on failure it is empty, and releasing it does nothing. */
ee_status npy_read(const char *path, npy_array *out, ee_error *error);

/* The same from memory; name stands for the file in messages. */
ee_status npy_parse(const uint8_t *bytes, size_t size, const char *name, npy_array *out, ee_error *error);

void npy_release(npy_array *array);

/* EE_BAD_INPUT unless the array has rows and columns, columns as many as given (0: any number but none), at least one
 * row, and whole numbers where whole says so. name stands for the file in the message. */
ee_status npy_expect_table(const npy_array *array, size_t columns, bool whole, const char *name, ee_error *error);

/* Entry number index, in C order, whatever the type. */
double npy_real(const npy_array *array, size_t index);

/* The same of an array of whole numbers. */
int64_t npy_whole(const npy_array *array, size_t index);

/* Writes a whole file, as file_write does. shape is (rank); data is (shape), as npy_type.h has it. */
ee_status npy_write(const char *path, npy_type type, const size_t *shape, size_t rank, const void *data,
                    ee_error *error);

/* For files that grow: a header always takes NPY_HEADER_SIZE bytes, so that it can be written again over the old one
 * when the shape is known; the entries follow it. The shape must be that of an array that could be: what is not zero in
 * it multiplies to less than 2^61. */
enum { NPY_HEADER_SIZE = 128 };
void npy_header(npy_type type, const size_t *shape, size_t rank, uint8_t bytes[NPY_HEADER_SIZE]);

#endif
