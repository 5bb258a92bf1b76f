/* Arrays of bytes in IDX files, the format of MNIST: two zeros, 8 for bytes, the rank, the shape as big-endian numbers
 * of four bytes, and the entries. The file must have exactly the length that the header gives. */
#ifndef EENET_IDX_H
#define EENET_IDX_H

#include "source.h"

enum { IDX_MOST_DIMENSIONS = 3 };

typedef struct idx_array {
    size_t shape[IDX_MOST_DIMENSIONS]; /* (rank) */
    size_t offset;                     /* of the data in the file */
    const uint8_t *data;               /* (shape) borrowed from the source */
} idx_array;

/* EE_BAD_INPUT, with the file, the byte and what was expected, if it is not an array of this rank. */
ee_status idx_parse(const source *file, size_t rank, idx_array *out, ee_error *error);

#endif
