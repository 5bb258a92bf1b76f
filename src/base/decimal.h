/* Reads numbers in JSON syntax, such as -12.5e-3, as the nearest double in any locale. */
#ifndef EENET_DECIMAL_H
#define EENET_DECIMAL_H

#include <stdint.h>

typedef enum decimal_fault { DECIMAL_FINE, DECIMAL_NO_DIGIT, DECIMAL_TOO_LARGE } decimal_fault;

typedef struct decimal_end {
    const char *at; /* the byte after the number, or where a digit is missing */
    decimal_fault fault;
} decimal_end;

/* Reads the longest number that starts at `at`, up to `end`. *value is set only if there is no fault. */
decimal_end decimal_read(const char *at, const char *end, double *value);

/* Reads a whole number without a sign, such as 10000, 1e4 or 2.5e3, exactly. Returns the text after it; NULL if there
 * is none, it is not whole, or it does not fit. */
const char *decimal_whole(const char *at, uint64_t *value);

#endif
