/* How much a prediction is worth: the least-squares slope through pairs (prediction, outcome), over about the last
 * `span` pairs. */
#ifndef EENET_SLOPE_H
#define EENET_SLOPE_H

#include "base/archive.h"

typedef struct slope {
    double count, x, y, xx, xy; /* sums with exponentially decaying weights */
} slope;

/* Adds a pair; older ones lose one part in `span`. A pair that would make the sums overflow is left out. */
void slope_add(slope *self, double x, double y, double span);

/* The slope, 0 to 1, with a prior of 0 that is worth a pair whose x is `doubt` from the mean. */
double slope_weight(const slope *self, double doubt);

void slope_archive(slope *self, archive *a);

#endif
