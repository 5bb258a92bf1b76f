/* The arms of a round, as they come from outside. */
#ifndef EENET_ARMS_H
#define EENET_ARMS_H

#include "base/status.h"
#include "math/vector.h"

/* Features and rewards are -LARGEST_INPUT to LARGEST_INPUT: squares of squares of larger numbers, which a gradient's
 * second moment has, overflow. */
static const float LARGEST_INPUT = 1e9f;

/* Checks that the arms have this dimension, that nothing is missing, and that all numbers are within bounds. */
ee_status arms_check(const ee_arms *arms, size_t dim, ee_error *error);

/* Numbers in arms->values. */
size_t arms_value_count(const ee_arms *arms);

/* The mean length of the arms. */
double arms_mean_length(const ee_arms *arms);

#endif
