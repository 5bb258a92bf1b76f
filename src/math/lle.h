/* Locally linear embedding: Roweis and Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science
 * 290, 2000. It needs only inner products of the points, so that points with a cheap inner product (a network's
 * gradient, from its factors) need not be formed. */
#ifndef EENET_LLE_H
#define EENET_LLE_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct lle {
    size_t points, neighbors, components;
    double regularization; /* of the local Gram matrices, times their trace; 1e-3 is customary */
    double *work;          /* holds all arrays below */
    double *matrix;        /* (points, points) */
    double *weights;       /* (points, neighbors) */
    double *distances;     /* (points) */
    double *local;         /* (neighbors, neighbors) */
    double *vectors;       /* (components + 1, points) */
    double *eigen;         /* workspace of eigen_smallest */
    int *nearest;          /* (points, neighbors) */
} lle;

/* Memory to fit this many points. 1 <= components < neighbors < points. */
ee_status lle_create(lle *self, memory *owner, size_t points, size_t neighbors, size_t components, ee_error *error);

/* gram is (points, points); embedding becomes (points, components), each column of length 1 with its largest entry
 * positive. Returns false, and does not change embedding, if gram is not finite. */
bool lle_fit(lle *self, const double *gram, double *embedding);

/* The indices of the count smallest distances, nearest first, ties by index. distances is (n), 1 <= count <= n. */
void lle_nearest(const double *distances, size_t n, size_t count, int *nearest);

/* The weights (count), with sum 1, that best reconstruct a point from its neighbours. local is (count, count): the
 * inner products of the neighbours' differences from the point; it is overwritten. */
void lle_weights(double *local, size_t count, double regularization, double *weights);

#endif
