/* Kernel ridge regression, which is the posterior of a Gaussian process, one sample at a time, exactly. With the
 * contexts x_1 .. x_t, their rewards y, K_ij = k(x_i, x_j) and k_x the vector of k(x_i, x):
 *
 *     mean        k_x^T (K + lambda I)^-1 y
 *     covariance  k(a, b) - k_a^T (K + lambda I)^-1 k_b
 *
 * The Cholesky factor L of K + lambda I grows by a row a sample, and so does z = L^-1 y. With V = L^-1 (k_a, k_b, ...)
 * the mean is V^T z and the covariance k(a, b) - V_a . V_b: one triangular solve for all arms gives both.
 *
 * What predictions read, `state`, is flat memory that the caller holds. Sample i has a record of its own, and the
 * records follow each other, so the state of t samples is the beginning of that of t + 1:
 *
 *     x.x, z_i, the form of x, x in `stride` floats, row i of L (i + 1)
 */
#ifndef EENET_KERNEL_RIDGE_H
#define EENET_KERNEL_RIDGE_H

#include "vector.h"

/* k(a, b) from three inner products. A kernel is added to the list at the head of kernel_ridge.c and nowhere else. */
typedef double (*kernel_function)(double gamma, double ab, double aa, double bb);

/* The derivatives of k(a, b) by a.b and by b.b: that by b itself is the first times a, and the second times 2 b. */
typedef struct kernel_slopes {
    double product, square;
} kernel_slopes;
typedef kernel_slopes (*kernel_slope_function)(double gamma, double ab, double aa, double bb);

/* Their names, as the choices of an option: "rbf". */
extern const char kernel_ridge_choices[];

/* The shapes; they never change. */
typedef struct kernel_ridge {
    kernel_function kernel;
    kernel_slope_function slopes;
    double gamma, lambda;
    size_t dim;
    size_t stride; /* floats that a context has room for: dim of them, or its indices and values */
} kernel_ridge;

/* kernel: place in the choices. nonzeros: entries that a sparse context has room for, at least. lambda > 0. */
kernel_ridge kernel_ridge_make(int kernel, double gamma, double lambda, size_t dim, size_t nonzeros);

/* Doubles of a state of so many samples. */
size_t kernel_ridge_state_count(const kernel_ridge *self, size_t samples);

/* Whether a context has room for x. Where dim is at most 2048 it always has. */
bool kernel_ridge_fits(const kernel_ridge *self, vector x);

/* Takes in sample number count, the first being 0. x must fit. */
void kernel_ridge_append(const kernel_ridge *self, double *state, size_t count, vector x, double y);

/* Doubles of a panel for so many samples and arms. */
size_t kernel_ridge_panel_count(size_t samples, size_t arms);

/* The mean and the variance of n arms from number first on, by the first count samples. The panel becomes V. mean and
 * variance are (n). */
void kernel_ridge_predict(const kernel_ridge *self, const double *state, size_t count, const ee_arms *arms,
                          size_t first, size_t n, double *panel, double *mean, double *variance);

/* gradient (x.count) = the derivative of the mean at x by each of its entries. room has kernel_ridge_gradient_room
 * doubles for so many samples and entries. */
size_t kernel_ridge_gradient_room(size_t samples, size_t entries);
void kernel_ridge_gradient(const kernel_ridge *self, const double *state, size_t count, vector x, double *room,
                           float *gradient);

/* The covariance of all arms after kernel_ridge_predict of all of them, by the panel that it left. covariance is
 * (arms->count, arms->count); its lower half is written. */
void kernel_ridge_covariance(const kernel_ridge *self, size_t count, const ee_arms *arms, const double *panel,
                             double *covariance);

/* The lower half of matrix (n, n) becomes its Cholesky factor. The matrix may be singular, as a covariance is where an
 * arm comes twice: a pivot that is nothing but rounding counts as zero. */
void kernel_ridge_factor(double *matrix, size_t n);

/* Whether a state that came from outside can be used: every context is finite and lies within its room and dim.
 * Whatever its other numbers are, they lead to no place outside the state. */
bool kernel_ridge_is_sound(const kernel_ridge *self, const double *state, size_t count);

#endif
