/* Exact online kernel ridge regression: the posterior of a Gaussian process. With the contexts x_1 .. x_t, their
 * rewards y, K_ij = k(x_i, x_j) and k_x the vector of k(x_i, x):
 *
 *     mean        k_x^T (K + lambda I)^-1 y
 *     covariance  k(a, b) - k_a^T (K + lambda I)^-1 k_b
 *
 * The Cholesky factor L of K + lambda I grows by a row per sample, and so does z = L^-1 y. With V = L^-1 (k_a, k_b,
 * ...) the mean is V^T z and the covariance k(a, b) - V_a . V_b: one triangular solve for all arms gives both.
 *
 * Predictions read `state`, flat memory of the caller. It has a record for each sample, so the state of t samples is
 * the beginning of the state of t + 1:
 *
 *     x.x, z_i, the form of x, x in `stride` floats, row i of L (i + 1)
 */
#ifndef EENET_KERNEL_RIDGE_H
#define EENET_KERNEL_RIDGE_H

#include "vector.h"

/* k(a, b) from three inner products. To add a kernel, add it to the list at the top of kernel_ridge.c. */
typedef double (*kernel_function)(double gamma, double ab, double aa, double bb);

/* The derivatives of k(a, b) with respect to a.b and b.b. The derivative with respect to b is the first times a plus
 * the second times 2 b. */
typedef struct kernel_slopes {
    double product, square;
} kernel_slopes;
typedef kernel_slopes (*kernel_slope_function)(double gamma, double ab, double aa, double bb);

/* The names of the kernels as choices of an option: "rbf". */
extern const char kernel_ridge_choices[];

/* Shapes; they never change. */
typedef struct kernel_ridge {
    kernel_function kernel;
    kernel_slope_function slopes;
    double gamma, lambda;
    size_t dim;
    size_t stride; /* floats for a context: dim of them, or its indices and values */
} kernel_ridge;

/* kernel is the index of the choice. nonzeros is the least number of entries that a sparse context has room for. lambda
 * > 0. */
kernel_ridge kernel_ridge_make(int kernel, double gamma, double lambda, size_t dim, size_t nonzeros);

/* Doubles of a state of this many samples. */
size_t kernel_ridge_state_count(const kernel_ridge *self, size_t samples);

/* Whether a context has room for x. Always true if dim is at most 2048. */
bool kernel_ridge_fits(const kernel_ridge *self, vector x);

/* Adds sample number count, from 0. x must fit. */
void kernel_ridge_append(const kernel_ridge *self, double *state, size_t count, vector x, double y);

/* Doubles of a panel for this many samples and arms. */
size_t kernel_ridge_panel_count(size_t samples, size_t arms);

/* The mean and variance of n arms from number first on, given the first count samples. The panel becomes V. mean and
 * variance are (n). */
void kernel_ridge_predict(const kernel_ridge *self, const double *state, size_t count, const ee_arms *arms,
                          size_t first, size_t n, double *panel, double *mean, double *variance);

/* gradient (x.count) = the derivative of the mean at x with respect to each of its entries. room has
 * kernel_ridge_gradient_room doubles. */
size_t kernel_ridge_gradient_room(size_t samples, size_t entries);
void kernel_ridge_gradient(const kernel_ridge *self, const double *state, size_t count, vector x, double *room,
                           float *gradient);

/* The covariance of all arms, after kernel_ridge_predict of all of them, from the panel that it left. covariance is
 * (arms->count, arms->count); its lower half is written. */
void kernel_ridge_covariance(const kernel_ridge *self, size_t count, const ee_arms *arms, const double *panel,
                             double *covariance);

/* The lower half of matrix (n, n) becomes its Cholesky factor. The matrix may be singular, for example if an arm
 * repeats: a pivot that is only rounding error becomes zero. */
void kernel_ridge_factor(double *matrix, size_t n);

/* Whether a loaded state is safe to use: every context is finite and within its room and dim. Its other numbers cannot
 * lead outside the state. */
bool kernel_ridge_is_sound(const kernel_ridge *self, const double *state, size_t count);

#endif
