/* Off-policy estimators: what another policy would have earned in the rounds of a log.
 *
 * Of round i: w = pi(a) / p, the probability with which the evaluated policy takes the action that was taken, over that
 * with which it was taken; r the reward; q(.) what a reward model predicts; d = sum over actions of pi q; e = r - q(a).
 * An estimate is the mean over rounds of the terms that the table of estimators gives. */
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
    const double *copies;    /* rounds that each stands for, 1 / (1 - pdrop); NULL: 1 each */
} evaluated_rounds;

typedef enum estimator_kind {
    ESTIMATOR_IPS,        /* w r */
    ESTIMATOR_CLIPPED,    /* min(w, lambda) r */
    ESTIMATOR_SNIPS,      /* w r / mean(w) */
    ESTIMATOR_DM,         /* d */
    ESTIMATOR_DR,         /* d + w e */
    ESTIMATOR_CLIPPED_DR, /* d + min(w, lambda) e */
    ESTIMATOR_SNDR,       /* d + w e / mean(w) */
    ESTIMATOR_SWITCH_DR,  /* d + w e where w <= lambda, else d */
    ESTIMATOR_DROS,       /* d + lambda w / (w^2 + lambda) e */
    ESTIMATOR_SG_IPS,     /* w / (1 - lambda + lambda w) r */
    ESTIMATOR_SG_DR,      /* d + w / (1 - lambda + lambda w) e */
    ESTIMATOR_REPLAY,     /* the mean of r over the rounds in which a deterministic policy takes the same action */
    ESTIMATOR_EL,         /* empirical likelihood */
    ESTIMATOR_CRESSIE_READ,
    ESTIMATOR_KINDS
} estimator_kind;

typedef struct estimator_info {
    const char *name;    /* "switch-dr" */
    const char *summary; /* one line: what it is, what it assumes */
    bool models;         /* needs a reward model */
    bool tuned;          /* has a lambda */
    bool streams;        /* can be had from sums (rounds_sums), without the rounds in memory */
} estimator_info;

const estimator_info *estimator_describe(estimator_kind kind);

/* ESTIMATOR_KINDS where none has the name. */
estimator_kind estimator_find(const char *name);

/* NaN where it is 0/0, as SNIPS without overlap. lambda is not looked at where the kind has none. */
double estimator_value(estimator_kind kind, double lambda, const evaluated_rounds *rounds);

/* terms (count) = what each round adds; their mean is the value. Not of EL and CRESSIE_READ. */
void estimator_terms(estimator_kind kind, double lambda, const evaluated_rounds *rounds, double *terms);

/* How a lambda is chosen from the kind's grid. */
typedef enum estimator_tuning { TUNING_MSE, TUNING_SLOPE } estimator_tuning;

ee_status estimator_tune(estimator_kind kind, estimator_tuning by, const evaluated_rounds *rounds, double *lambda,
                         ee_error *error);

#endif
