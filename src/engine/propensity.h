/* From scores to a decision: the probability of each arm, and a draw. */
#ifndef EENET_PROPENSITY_H
#define EENET_PROPENSITY_H

#include "policy/policy.h"

/* The probability of each arm; they sum to one. scores and probabilities are (count). NaN counts as the lowest
 * score. */
void propensity_fill(propensity_rule rule, const ee_score *scores, size_t count, double *probabilities);

/* Draws an arm with these probabilities. */
size_t propensity_draw(const double *probabilities, size_t count, random_stream *stream);

#endif
