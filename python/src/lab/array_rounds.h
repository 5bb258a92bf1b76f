/* Rounds in arrays, evaluated as those of a log are: the same sums, estimators, intervals and diagnosis. */
#ifndef EENET_ARRAY_ROUNDS_H
#define EENET_ARRAY_ROUNDS_H

#include "evaluate/evaluations/evaluation.h"

/* Row-major arrays; (n) has a number for the action that was taken alone, (n, k) one for each of k actions. They may
 * change while they are read: the numbers are then anything, and nothing else is. */
typedef struct array_rounds {
    size_t count;              /* n */
    size_t actions;            /* k; 0: not known, and no array is (n, k) */
    const double *rewards;     /* (n) */
    const int64_t *taken;      /* (n) actions from 0; NULL: not known, and no array is (n, k) */
    const double *logged;      /* probabilities of the logging policy */
    bool logged_all;           /* they are (n, k) */
    const double *candidate;   /* probabilities of the candidate; NULL: it is one of candidate.h, by name */
    bool candidate_all;        /* they are (n, k) */
    const double *predictions; /* (n, k) of a reward model; NULL: there is none */
    const double *copies;      /* (n) rounds that each row represents; NULL: 1 */
} array_rounds;

/* result is to be released, on failure too. Of the request, whatever is about logs, modes and models is not looked at.
 * EE_BAD_INPUT where a number cannot be, by its array and row. */
ee_status array_rounds_evaluate(const array_rounds *rounds, const evaluation_request *request, const char *name,
                                evaluation_result *result, ee_error *error);

#endif
