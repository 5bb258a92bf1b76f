/* A sentence about rows that repeat. A policy may memorise a repeated row, so its regret says less about new rows. */
#ifndef EENET_REPEATS_H
#define EENET_REPEATS_H

#include <stddef.h>
#include <stdint.h>

/* "5000 rounds from 500 rows: each row appears ten times"; "" if no row repeats, or rows is 0.
 * Like snprintf, writes at most capacity bytes and returns the length that the whole line has. */
size_t repeats_format(uint64_t rows, uint64_t rounds, char *line, size_t capacity);

#endif
