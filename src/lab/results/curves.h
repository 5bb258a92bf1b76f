/* Files of curves: .npy, float64, (runs, rounds), that grow by rows. NumPy can load one at any time: its header
 * counts a row only after the row is complete and synced. */
#ifndef EENET_CURVES_H
#define EENET_CURVES_H

#include <stdbool.h>

#include "base/status.h"

/* Writes count rows from number row on, and removes all later rows. Creates the file if it is missing; missing earlier
 * rows are zeros. The rows are durable on return. curves is (count, rounds). */
ee_status curves_write(const char *path, size_t row, const double *curves, size_t count, uint64_t rounds,
                       ee_error *error);

/* Truncates the file to at most `rows` rows. A file with fewer rows, or without curves of `rounds` rounds, is
 * unchanged. */
ee_status curves_cut(const char *path, size_t rows, uint64_t rounds, ee_error *error);

/* Whether the file exists, has the row, and the row ends with this number. */
ee_status curves_has(const char *path, size_t row, uint64_t rounds, double last, bool *there, ee_error *error);

/* out is (rounds). EE_BAD_INPUT if the file is not such a file, or lacks the row. */
ee_status curves_read(const char *path, size_t row, uint64_t rounds, double *out, ee_error *error);

#endif
