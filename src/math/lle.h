/* Locally linear embedding: Roweis and Saul, "Nonlinear dimensionality reduction by locally linear embedding",
 * Science 290, 2000. Points enter through their inner products alone, so whoever has a cheap inner product (the
 * gradient of a network, from its factors) never forms the points. */
#ifndef EENET_LLE_H
#define EENET_LLE_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct lle {
    size_t points, neighbors, components;
    double regularization; /* of the local Gram matrices, times their trace; 1e-3 is customary */
    double *work;          /* all below lies in it */
    double *matrix;        /* (points, points) */
    double *weights;       /* (points, neighbors) */
    double *distances;     /* (points) */
    double *local;         /* (neighbors, neighbors) */
    double *vectors;       /* (components + 1, points) */
    double *eigen;         /* work of eigen_smallest */
    int *nearest;          /* (points, neighbors) */
} lle;

/* Room for fitting points points. 1 <= components < neighbors < points. */
ee_status lle_create(lle *self, memory *owner, size_t points, size_t neighbors, size_t components, ee_error *error);

/* gram is (points, points); embedding becomes (points, components), each column of length 1, sign such that its
 * largest entry is positive. Returns false, and leaves embedding alone, where gram is not finite. */
bool lle_fit(lle *self, const double *gram, double *embedding);

/* Finds the places of the count smallest distances, nearest first; equal ones by their place. distances is (n), 1 <=
 * count <= n. */
void lle_nearest(const double *distances, size_t n, size_t count, int *nearest);

/* Weights (count), with sum 1, that rebuild a point best from its neighbours. local is (count, count): the inner
 * products of the neighbours' differences from the point; it is overwritten. */
void lle_weights(double *local, size_t count, double regularization, double *weights);

#endif
