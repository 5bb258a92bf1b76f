/* The sums that the estimators need: constant memory, one round at a time.
 *
 * Sums are compensated (Kahan), and those of many rounds taken in blocks, so that 10^7 rounds keep twelve digits. The
 * same calls give the same bits in every build. */
#ifndef EENET_ROUNDS_SUMS_H
#define EENET_ROUNDS_SUMS_H

#include "estimator.h"

enum { ROUNDS_SUMS = 24 };

/* {0} is a log without rounds. A round that represents several copies adds copies times its w, r and d, and the square
 * of that to sums of squares; see estimator.h. wmax ignores copies. Sums that begin with c are weighted by copies^2:
 * with copies of 1 they equal count, w, wr, d and we. */
typedef struct rounds_sums {
    uint64_t events;         /* rounds that were added */
    double wmax, copies_max; /* the largest of single rounds */
    /* The sums, ROUNDS_SUMS of them, one after the other. */
    double count; /* copies */
    double w, ww, r, wr, wwr, wwrr;
    double d, dd, we, wwe, wwee, dwe, dw;          /* we: w (r - q(a)) */
    double cc, cw, cwr, cd, cwe;                   /* copies^2 alone, and times w, w r, d and w (r - q(a)) */
    double same, same2, same_r, same2_r, same2_rr; /* 1, 1^2, r, 1^2 r, r^2 of the rounds with w > 0: for replay */
    double lost[ROUNDS_SUMS];                      /* by rounding, of each sum */
} rounds_sums;

void rounds_sums_add(rounds_sums *self, double weight, double reward, double direct, double predicted, double copies);

/* The same for all of them, vectorised. */
void rounds_sums_add_all(rounds_sums *self, const evaluated_rounds *rounds);

/* Adds the rounds of another. */
void rounds_sums_merge(rounds_sums *self, const rounds_sums *other);

/* For the kinds that stream (CRESSIE_READ without a bound of the weights); NaN for the others. */
double rounds_sums_value(const rounds_sums *self, estimator_kind kind);

/* The value by Cressie and Read's divergence for weights of at most weight_high, or the largest seen if that is more;
 * INFINITY: unknown (Karampatziakis, Langford, Mineiro, "Empirical likelihood for contextual bandits", 2020). */
double rounds_sums_cressie_read(const rounds_sums *self, double weight_high);

/* (sum w)^2 / sum w^2: the effective sample size. */
double rounds_sums_effective(const rounds_sums *self);

#endif
