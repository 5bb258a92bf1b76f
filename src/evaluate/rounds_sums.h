/* What the estimators need of a log, as sums: constant memory, one round at a time. */
#ifndef EENET_ROUNDS_SUMS_H
#define EENET_ROUNDS_SUMS_H

#include "estimator.h"

/* {0} is a log without rounds. Sums are over rounds, each counted copies times. */
typedef struct rounds_sums {
    double count;    /* copies */
    uint64_t events; /* rounds that were added */
    double w, ww, wmin, wmax;
    double r, rr, wr, wwr, wwrr, wrmax;
    double d, dd, we, wwe, wwee, dwe, dw; /* we: w (r - q(a)) */
} rounds_sums;

void rounds_sums_add(rounds_sums *self, double weight, double reward, double direct, double predicted, double copies);

/* The same for all of them, vectorised. */
void rounds_sums_add_all(rounds_sums *self, const evaluated_rounds *rounds);

/* Of those kinds that stream; NaN for the others. */
double rounds_sums_value(const rounds_sums *self, estimator_kind kind);

/* (sum w)^2 / sum w^2: as many rounds of the evaluated policy itself would tell as much. */
double rounds_sums_effective(const rounds_sums *self);

#endif
