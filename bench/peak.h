/* Loops that do nothing but what the machine is best at, compiled like the kernels once for each instruction set. */
#ifndef EENET_PEAK_H
#define EENET_PEAK_H

#include <stddef.h>

typedef struct peak_table {
    const char *name; /* of the kernels that are built alike */

    /* Multiplies and adds in registers alone; returns how many operations it did, a multiply and an add being two. The
     * result goes to out, so that a compiler does the work. */
    double (*multiply_add)(size_t turns, float *out);

    /* Passes over arrays of n floats: the sum of a; and a = b + c. */
    float (*read)(const float *a, size_t n);
    void (*write)(float *a, const float *b, const float *c, size_t n);
} peak_table;

/* The one that goes with the kernels of this name; NULL where there is none. */
const peak_table *peak_of(const char *kernels);

#endif
