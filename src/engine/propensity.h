/* From scores to a decision: the probability of each arm, and one draw. */
#ifndef EENET_PROPENSITY_H
#define EENET_PROPENSITY_H

#include "base/random.h"
#include "eenet.h"

/* The best score wins; equal ones share the probability. Returns the arm and sets its probability. scores is (count).
 */
size_t propensity_argmax(const ee_score *scores, size_t count, random_stream *stream, double *probability);

#endif
