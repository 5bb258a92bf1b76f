/* Off-policy estimators: what another policy would have earned in the rounds of a log.
 *
 * In round i: w = pi(a) / p, the candidate's probability of the logged action divided by its propensity; r the reward;
 * q(.) the prediction of a reward model; d = sum over actions of pi q; e = r - q(a). An estimate is the mean over
 * rounds of the terms that the table of estimators gives.
 *
 * If a log kept only some rounds at random, each kept one represents `copies` rounds: a mean is the sum of copies times
 * the term divided by the sum of the copies. It estimates the mean over all rounds, and its variance (interval.c)
 * includes the chance of being kept. */
#ifndef EENET_ESTIMATOR_H
#define EENET_ESTIMATOR_H

#include <stdbool.h>

#include "base/status.h"

/* Rounds in memory; each array is (count). */
typedef struct evaluated_rounds {
    size_t count;
    const double *weights;   /* w */
    const double *rewards;   /* r */
    const double *direct;    /* d; NULL: 0 everywhere */
    const double *predicted; /* q(a); NULL: 0 everywhere */
    const double *copies;    /* rounds that each represents, 1 / (1 - pdrop); NULL: 1 each */
} evaluated_rounds;

typedef enum estimator_kind {
    ESTIMATOR_IPS,        /* w r */
    ESTIMATOR_CLIPPED,    /* min(w, lambda) r */
    ESTIMATOR_SNIPS,      /* w r / mean(w) */
    ESTIMATOR_DM,         /* d */
    ESTIMATOR_DR,         /* d + w e */
    ESTIMATOR_CLIPPED_DR, /* d + min(w, lambda) e */
    ESTIMATOR_SNDR,       /* d + w e / mean(w) */
    ESTIMATOR_SWITCH_DR,  /* d + w e if w <= lambda, else d */
    ESTIMATOR_DROS,       /* d + lambda w / (w^2 + lambda) e */
    ESTIMATOR_SG_IPS,     /* w / (1 - lambda + lambda w) r */
    ESTIMATOR_SG_DR,      /* d + w / (1 - lambda + lambda w) e */
    ESTIMATOR_REPLAY, /* the mean of r over the rounds in which a deterministic policy takes the same action: w > 0 */
    ESTIMATOR_EL,     /* empirical likelihood: weights of the rounds, most likely among those with which E[w] = 1 */
    ESTIMATOR_CRESSIE_READ, /* the same by Cressie and Read's divergence, of power -2, which needs only sums */
    ESTIMATOR_KINDS
} estimator_kind;

typedef struct estimator_info {
    const char *name;    /* "switch-dr" */
    const char *summary; /* one line: what it is, what it assumes */
    bool models;         /* needs a reward model */
    bool tuned;          /* has a lambda */
    bool streams;        /* can be computed from sums (rounds_sums), without the rounds in memory */
} estimator_info;

const estimator_info *estimator_describe(estimator_kind kind);

/* ESTIMATOR_KINDS for an unknown name. */
estimator_kind estimator_find(const char *name);

/* NaN where it is 0/0: SNIPS, SNDR and REPLAY without overlap, DROS of lambda 0 and SG of lambda 1 where a weight is 0,
 * and all of no rounds. For EL and CRESSIE_READ lambda is the largest possible weight, INFINITY if unknown. Other kinds
 * without lambda ignore it. */
double estimator_value(estimator_kind kind, double lambda, const evaluated_rounds *rounds);

/* terms (count) = what each round adds; their mean is the value. Those of the self-normalised kinds are v + w (r - v) /
 * mean(w), v the value (of SNDR: d + v + w (e - v) / mean(w), v of e): the same mean, and a variance that is correct
 * for the ratio by the delta method, unlike the variance of w r / mean(w). NaN for EL and CRESSIE_READ. */
void estimator_terms(estimator_kind kind, double lambda, const evaluated_rounds *rounds, double *terms);

/* How a lambda is chosen from the kind's grid: 0 to 0.5 for SG, 1 to INFINITY for the others.
 * MSE: the least variance + bias^2, the bias bounded from above with probability 0.9 (Su, Dimakopoulou, Krishnamurthy,
 * Dudik, "Doubly robust off-policy evaluation with shrinkage", 2020).
 * SLOPE: from the widest 90% interval to the narrowest, the last that overlaps with all before it (Su, Srinath,
 * Krishnamurthy, "Adaptive estimator selection for off-policy evaluation", 2020). */
typedef enum estimator_tuning { TUNING_MSE, TUNING_SLOPE } estimator_tuning;

/* EE_BAD_OPTION for a kind without lambda, EE_BAD_INPUT for fewer than two rounds. */
ee_status estimator_tune(estimator_kind kind, estimator_tuning by, const evaluated_rounds *rounds, double *lambda,
                         ee_error *error);

/* What estimator_tune minimises for TUNING_MSE. */
double estimator_mse(estimator_kind kind, double lambda, const evaluated_rounds *rounds);

#endif
