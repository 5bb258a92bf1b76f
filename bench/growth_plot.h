/* Cost over size, on two logarithmic scales: the slope of the line nearest to the points, and a figure. */
#ifndef EENET_GROWTH_PLOT_H
#define EENET_GROWTH_PLOT_H

#include "base/status.h"
#include "measure.h"

enum { SERIES_MOST = 6, SERIES_POINTS = 24 };

typedef struct series {
    char name[64];
    double sizes[SERIES_POINTS];
    double costs[SERIES_POINTS]; /* seconds */
    size_t count;
    double spread; /* the widest between quartiles, as a share of the median */
} series;

/* The median of the processor time is the cost, and the spread is of the wall times, where others on the machine show.
 */
void series_add(series *to, double size, const measurement *taken);

/* The exponent a of cost = b size^a, by least squares of the logarithms; *factor, unless NULL, is b. */
double series_slope(const series *of, double *factor);

/* Writes FOLDER/growth_AXIS.svg and its numbers, growth_AXIS.dat. count: 1 to SERIES_MOST. */
ee_status growth_plot(const char *folder, const char *axis, const series *list, size_t count, ee_error *error);

#endif
