/* Checks of the arms that a caller gives. */
#ifndef EENET_ARMS_H
#define EENET_ARMS_H

#include "base/status.h"
#include "math/vector.h"

/* Features and rewards are within -LARGEST_INPUT to LARGEST_INPUT: the second moment of a gradient has fourth powers of
 * them, which must not overflow. */
static const float LARGEST_INPUT = 1e9f;

/* Checks that the arms have this dimension, that nothing is missing, and that all numbers are within bounds; and their
 * limits. */
ee_status arms_check(const ee_arms *arms, size_t dim, ee_error *error);

/* The number of entries in arms->values. */
size_t arms_value_count(const ee_arms *arms);

/* The mean length of the arms. */
double arms_mean_length(const ee_arms *arms);

#endif
