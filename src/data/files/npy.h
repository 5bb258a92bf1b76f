/* Arrays in NumPy's .npy files: versions 1 to 3, of floats, integers and bool (npy_type.h). Reads C and Fortran
 * order and both byte orders; writes C order and little-endian. The data must have exactly the length that the
 * header gives. */
#ifndef EENET_NPY_H
#define EENET_NPY_H

#include "base/status.h"
#include "npy_type.h"

enum { NPY_MOST_DIMENSIONS = 8 };

typedef struct npy_array {
    npy_type type;
    size_t rank;
    size_t shape[NPY_MOST_DIMENSIONS]; /* (rank) */
    size_t count;                      /* entries: the product of the shape; 1 if the rank is 0 */
    void *data;                        /* (shape) always in C order; npy_type.h defines the types */
} npy_array;

/* Reads a file. EE_BAD_INPUT, with the byte and what was expected, if it is malformed. Release the array with
 * npy_release; on failure it is empty, and releasing it does nothing. */
ee_status npy_read(const char *path, npy_array *out, ee_error *error);

/* The same from memory; messages call it name. */
ee_status npy_parse(const uint8_t *bytes, size_t size, const char *name, npy_array *out, ee_error *error);

void npy_release(npy_array *array);

/* EE_BAD_INPUT unless the array has two dimensions, at least one row, the given number of columns (0: any number above
 * 0), and integers if whole is set. Messages call it name. */
ee_status npy_expect_table(const npy_array *array, size_t columns, bool whole, const char *name, ee_error *error);

/* Entry number index, in C order, whatever the type. */
double npy_real(const npy_array *array, size_t index);

/* The same for an array of whole numbers. */
int64_t npy_whole(const npy_array *array, size_t index);

/* Writes a file, as file_write does. shape is (rank); data is (shape), in the types of npy_type.h. */
ee_status npy_write(const char *path, npy_type type, const size_t *shape, size_t rank, const void *data,
                    ee_error *error);

/* For files that grow: a header always takes NPY_HEADER_SIZE bytes, so it can be overwritten when the shape is known;
 * the entries follow it. The nonzero numbers of the shape must multiply to less than 2^61. */
enum { NPY_HEADER_SIZE = 128 };
void npy_header(npy_type type, const size_t *shape, size_t rank, uint8_t bytes[NPY_HEADER_SIZE]);

#endif
