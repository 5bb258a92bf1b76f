/* Evaluates rounds in arrays like those of a log: with the same sums, estimators, intervals and diagnosis. */
#ifndef EENET_ARRAY_ROUNDS_H
#define EENET_ARRAY_ROUNDS_H

#include "evaluate/evaluations/evaluation.h"

/* Row-major arrays: (n) for the action taken, (n, k) for each of k actions. They may change while they are read: the
 * numbers are then arbitrary, but nothing else goes wrong. */
typedef struct array_rounds {
    size_t count;              /* n */
    size_t actions;            /* k; 0: unknown, and no array is (n, k) */
    const double *rewards;     /* (n) */
    const int64_t *taken;      /* (n) actions from 0; NULL: unknown, and no array is (n, k) */
    const double *logged;      /* probabilities of the logging policy */
    bool logged_all;           /* they are (n, k) */
    const double *candidate;   /* probabilities of the candidate; NULL: a candidate of candidate.h, by name */
    bool candidate_all;        /* they are (n, k) */
    const double *predictions; /* (n, k) of a reward model (optional) */
    const double *copies;      /* (n) rounds that each row represents (optional; default: 1) */
} array_rounds;

/* Release result in any case. The request's settings for logs, modes and models are ignored. EE_BAD_INPUT for an
 * invalid number; the message says its array and row. */
ee_status array_rounds_evaluate(const array_rounds *rounds, const evaluation_request *request, const char *name,
                                evaluation_result *result, ee_error *error);

#endif
