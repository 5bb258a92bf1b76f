/* How much a prediction is worth: the slope of the line of least squares through pairs (prediction, what came), over
 * about the last so many of them. */
#ifndef EENET_SLOPE_H
#define EENET_SLOPE_H

#include "base/archive.h"

typedef struct slope {
    double count, x, y, xx, xy; /* sums, of which older pairs have a smaller share */
} slope;

/* Adds a pair; those before it lose one part in `span`. One so large that the sums would overflow is left out. */
void slope_add(slope *self, double x, double y, double span);

/* The slope, with a prior that says 0 and is worth a pair whose x is `doubt` off the mean; kept within 0 to 1. */
double slope_weight(const slope *self, double doubt);

void slope_archive(slope *self, archive *a);

#endif
