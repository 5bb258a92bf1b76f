/* Files of curves: .npy, float64, (runs, rounds), that grow by rows. NumPy can load one at every moment: its header
 * counts a row when the row is whole and synced, and not before. */
#ifndef EENET_CURVES_H
#define EENET_CURVES_H

#include <stdbool.h>

#include "base/status.h"

/* Writes count rows from number row on, and cuts off what stood there and after them. Makes the file where it is
 * missing; rows before that are missing are zeros. What is written is on the disk when it returns. curves is (count,
 * rounds). */
ee_status curves_write(const char *path, size_t row, const double *curves, size_t count, uint64_t rounds,
                       ee_error *error);

/* Truncates the file to at most `rows` rows. A file with fewer rows, or without curves of `rounds` rounds, is
 * unchanged. */
ee_status curves_cut(const char *path, size_t rows, uint64_t rounds, ee_error *error);

/* Whether there is such a file with such a row, and its last number is this. */
ee_status curves_has(const char *path, size_t row, uint64_t rounds, double last, bool *there, ee_error *error);

/* out is (rounds). EE_BAD_INPUT where the file is no such file, or has no such row. */
ee_status curves_read(const char *path, size_t row, uint64_t rounds, double *out, ee_error *error);

#endif
