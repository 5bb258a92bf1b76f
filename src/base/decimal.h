/* Numbers as JSON writes them, -12.5e-3, read as the nearest double, whatever the locale. */
#ifndef EENET_DECIMAL_H
#define EENET_DECIMAL_H

typedef enum decimal_fault { DECIMAL_FINE, DECIMAL_NO_DIGIT, DECIMAL_TOO_LARGE } decimal_fault;

typedef struct decimal_end {
    const char *at; /* the byte behind the number, or the one where a digit should stand */
    decimal_fault fault;
} decimal_end;

/* Reads the number that starts at `at` and goes as far as it can, to `end` at most. *value is set where all is fine. */
decimal_end decimal_read(const char *at, const char *end, double *value);

#endif
