/* Numbers as JSON writes them, -12.5e-3, read as the nearest double, whatever the locale. */
#ifndef EENET_DECIMAL_H
#define EENET_DECIMAL_H

#include <stdint.h>

typedef enum decimal_fault { DECIMAL_FINE, DECIMAL_NO_DIGIT, DECIMAL_TOO_LARGE } decimal_fault;

typedef struct decimal_end {
    const char *at; /* the byte behind the number, or the one where a digit should stand */
    decimal_fault fault;
} decimal_end;

/* Reads the number that starts at `at` and goes as far as it can, to `end` at most. *value is set where all is fine. */
decimal_end decimal_read(const char *at, const char *end, double *value);

/* Reads a whole number as people write it, 10000, 1e4 or 2.5e3, without a sign: exactly, whatever its size. Returns
 * what follows it; NULL where there is none, it is not whole, or it does not fit. */
const char *decimal_whole(const char *at, uint64_t *value);

#endif
