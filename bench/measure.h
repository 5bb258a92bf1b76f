/* How long something took, again and again. */
#ifndef EENET_MEASURE_H
#define EENET_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct stretch {
    double wall;         /* seconds by the clock on the wall */
    double cpu;          /* of processor time, of all threads */
    double instructions; /* of this thread and of threads that it started and that ended; NaN where nobody counts */
} stretch;

/* Now, and what passed since. */
stretch measure_start(void);
stretch measure_since(stretch start);

/* Repeated measurements of the same thing. */
enum { MEASURE_REPEATS = 25 };

typedef struct measurement {
    stretch taken[MEASURE_REPEATS]; /* each for doing it once */
    size_t count;
    double spent; /* seconds that all took */
} measurement;

/* Whether to measure once more: until there are enough, or these seconds are spent. At least once. */
bool measure_more(const measurement *so_far, double seconds);

/* Adds what passed since start, divided by how often the thing was done. */
void measure_add(measurement *to, stretch start, double times);

/* Of the wall times: the share of them that lies below, 0.5 for the median. NaN where there is none. */
double measure_quantile(const measurement *of, double share);

double measure_cpu(const measurement *of);          /* the median */
double measure_instructions(const measurement *of); /* the median; NaN where nobody counts */

#endif
