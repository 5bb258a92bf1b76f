/* The inner loops. Each is written twice: kernels_reference.c defines what it computes, kernels.c computes it fast and
 * is compiled once per instruction set. kernels_best() picks the table for this machine.
 *
 * Weights are (in, out) row by row: the weights of one input are adjacent, so a sparse input touches only its rows.
 * Kernels cannot fail. An argument that is written must not overlap another one unless stated. */
#ifndef EENET_KERNELS_H
#define EENET_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct adam_step {
    float beta1, beta2; /* decay of the first and second moment */
    float l2;           /* times theta, added to the gradient */
    float rate;         /* times first */
    float epsilon;      /* well above sqrt(FLT_MIN) */
} adam_step;

/* Entry (r, c) is values[r * row + c * column]. */
typedef struct matrix {
    float *values;
    size_t row, column;
} matrix;

typedef struct const_matrix {
    const float *values;
    size_t row, column;
} const_matrix;

typedef struct kernel_table {
    const char *name;

    /* sum of a[i] b[i] */
    float (*dot)(const float *a, const float *b, size_t n);

    /* y += a x */
    void (*add_scaled)(float *y, float a, const float *x, size_t n);

    /* y = start + x W, then y = max(y, 0) if relu is set. w is (in, out), x is (in), y is (out). start is
     * (out), such as biases, or y itself, or NULL for zeros. The rows of w are `stride` floats apart, and may overlap.
     */
    void (*forward)(float *y, const float *start, const float *w, const float *x, size_t in, size_t out, size_t stride,
                    bool relu);

    /* The same for a sparse x: index and x are (count), w has a row for each index. They are followed by `behind` more
     * indices: of rows that the next calls take, which are fetched meanwhile. It changes no result. */
    void (*forward_sparse)(float *y, const float *start, const float *w, const uint32_t *index, const float *x,
                           size_t count, size_t behind, size_t out, size_t stride, bool relu);

    /* The same for two sparse inputs with the same indices: y is (2, out), start is (2, out) and may be y, x is
     * (count, 2), of which either may be zero. The columns of y and start are 1 apart, and out is at least 16. Rounds
     * as forward_sparse. */
    void (*forward_pair)(matrix y, const_matrix start, const float *w, const uint32_t *index, const float *x,
                         size_t count, size_t out, size_t stride, bool relu);

    /* The same for many dense inputs with the same start: y is (rows, out) and x is (rows, in), their columns 1 apart,
     * and w is (in, out). start is not y. */
    void (*forward_many)(matrix y, const float *start, const float *w, const_matrix x, size_t rows, size_t in,
                         size_t out, bool relu);

    /* C += A B. c is (rows, out), a is (rows, in), b is (in, out). The columns of b and c are 1 apart. */
    void (*multiply)(matrix c, const_matrix a, const_matrix b, size_t rows, size_t in, size_t out);

    /* dx += W delta. dx is (in), delta is (out), w as in forward. */
    void (*backward)(float *dx, const float *w, const float *delta, size_t in, size_t out, size_t stride);

    /* The same for many: dx is (rows, in) and delta is (rows, out), their columns 1 apart; w is (in, out). */
    void (*backward_many)(matrix dx, const float *w, const_matrix delta, size_t rows, size_t in, size_t out);

    /* W += x delta^T, and biases += delta, which are (out), or NULL for none. */
    void (*update)(float *w, float *biases, const float *x, const float *delta, size_t in, size_t out);
    void (*update_sparse)(float *w, float *biases, const uint32_t *index, const float *x, const float *delta,
                          size_t count, size_t out);

    /* y = max(y, 0) */
    void (*relu)(float *y, size_t n);

    /* delta = a w, but 0 for units whose output y is 0. w may be delta. */
    void (*relu_backward)(float *delta, float a, const float *w, const float *y, size_t n);

    /* One step of Adam on theta (in, out) whose gradient is x delta^T, without forming it; if bias is set, also on a
     * last row of theta whose gradient is delta:
     * g = x delta^T + l2 theta, first = beta1 first + g, second = beta2 second + g^2,
     * theta -= rate first / (sqrt(second) + epsilon). */
    void (*adam)(float *theta, float *first, float *second, const float *x, const float *delta, size_t in, size_t out,
                 bool bias, const adam_step *step);
} kernel_table;

/* The table for networks: the fastest for this machine, or the one set by kernels_use. */
const kernel_table *kernels_best(void);

/* Selects a table by name, so that different machines give the same results. Returns false, and does nothing, if this
 * machine does not have it. Call it before any network is created, in one thread. */
bool kernels_use(const char *name);

/* Every table for this machine, the reference first; NULL after the last. For tests and benchmarks. */
const kernel_table *kernels_at(size_t index);

#endif
