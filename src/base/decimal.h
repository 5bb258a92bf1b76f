/* Numbers as JSON writes them, -12.5e-3, read as the nearest double, whatever the locale. */
#ifndef EENET_DECIMAL_H
#define EENET_DECIMAL_H

/* Reads the number that starts at `at` and goes as far as it can, to `end` at most. Returns the byte behind it.
 * *value is infinite where the number is beyond the doubles, and NaN where a digit should stand at the byte returned.
 */
const char *decimal_read(const char *at, const char *end, double *value);

#endif
