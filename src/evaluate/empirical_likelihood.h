/* The value of a policy by empirical likelihood: of all ways to reweigh the rounds under which weights have a mean of
 * 1, the most likely one (Karampatziakis, Langford, Mineiro, "Empirical likelihood for contextual bandits", 2020). Mass
 * that no round can take, as the weights seen do not reach across 1, earns the mean reward. */
#ifndef EENET_EMPIRICAL_LIKELIHOOD_H
#define EENET_EMPIRICAL_LIKELIHOOD_H

#include "estimator.h"

/* weight_high: the largest weight that is possible; INFINITY: unknown. NaN without rounds. */
double empirical_likelihood_value(const evaluated_rounds *rounds, double weight_high);

#endif
