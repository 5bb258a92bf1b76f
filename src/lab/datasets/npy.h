/* Arrays in NumPy's .npy files: versions 1 to 3, little-endian float64, float32, int64 and int32, either order. The
 * header is not trusted: the bytes that follow it must be exactly those that it promises. */
#ifndef EENET_NPY_H
#define EENET_NPY_H

#include <stdbool.h>

#include "base/status.h"

typedef enum npy_type { NPY_FLOAT64, NPY_FLOAT32, NPY_INT64, NPY_INT32 } npy_type;

enum { NPY_MOST_DIMENSIONS = 8 };

typedef struct npy_array {
    npy_type type;
    size_t rank;
    size_t shape[NPY_MOST_DIMENSIONS]; /* (rank) */
    size_t count;                      /* entries: the product of the shape; 1 where the rank is 0 */
    void *data; /* (shape) in C order, whatever the file's, as double, float, int64_t or int32_t */
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

#endif
