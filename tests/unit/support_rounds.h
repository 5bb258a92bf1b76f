/* Logged rounds of the stored numbers for off-policy evaluation, golden/ope and the Open Bandit Dataset's. */
#ifndef EENET_TEST_SUPPORT_ROUNDS_H
#define EENET_TEST_SUPPORT_ROUNDS_H

#include "evaluate/intervals/interval.h"
#include "support.h"

typedef struct logged_rounds {
    evaluated_rounds rounds; /* of the arrays below */
    double *weights, *rewards, *direct, *predicted;
} logged_rounds;

/* Of a log with its actions, rewards and probabilities. pi and q are (rounds, actions); q may be NULL. */
logged_rounds logged_make(const json_t *log, const double *pi, const double *q, size_t actions);

/* Of a log with the policies soft, hard, uniform and behaviour. */
logged_rounds logged_of_policy(const json_t *log, const char *policy);

/* Checks each file of the Open Bandit Dataset's numbers with what is expected there; skips without EENET_DATA. */
void logged_each_open_bandit(void (*check)(json_t *expect, const evaluated_rounds *rounds));

void logged_free(logged_rounds *self);

/* A number, or what a text says: "nan", "inf"; NaN for null. */
double golden_number(const json_t *number);

/* |got - expected| <= tolerance |expected|, with a little for what is 0 in exact numbers; NaN only where NaN is
 * expected. Macro for the place that a failure names. */
#define assert_relative(got, expected, tolerance) relative_assert(got, expected, tolerance, __FILE__, __LINE__)
void relative_assert(double got, double expected, double tolerance, const char *file, int line);

/* expected is an array of two. */
#define assert_interval(got, expected, tolerance) interval_assert(got, expected, tolerance, __FILE__, __LINE__)
void interval_assert(interval got, const json_t *expected, double tolerance, const char *file, int line);

#endif
