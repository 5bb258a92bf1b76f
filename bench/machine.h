/* What this machine can do at best, measured: the floor that times are compared with. */
#ifndef EENET_MACHINE_H
#define EENET_MACHINE_H

#include "base/status.h"

enum { MACHINE_LEVELS = 4 };

typedef struct machine {
    double flops;                 /* float operations a second, from registers */
    size_t spans[MACHINE_LEVELS]; /* bytes of memory that were passed over again and again, ascending */
    double rates[MACHINE_LEVELS]; /* bytes a second at each */
} machine;

/* What some work needs at least. */
typedef struct work {
    double flops; /* operations on floats; one on doubles counts as two. 0: not known */
    double bytes; /* read and written */
    double span;  /* bytes of memory in which those lie: decides which cache can hold them */
} work;

/* Takes half a second. */
ee_status machine_measure(machine *out, ee_error *error);

/* Bytes a second of work with this span. */
double machine_rate(const machine *self, double span);

/* The seconds below which this machine cannot do the work. */
double machine_floor(const machine *self, const work *needed);

#endif
