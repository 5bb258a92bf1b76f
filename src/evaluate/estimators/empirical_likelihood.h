/* The value of a policy by empirical likelihood: the most likely reweighting of the rounds with mean weight 1
 * (Karampatziakis, Langford, Mineiro, "Empirical likelihood for contextual bandits", 2020). If the seen weights are all
 * on one side of 1, the remaining mass earns the mean reward. */
#ifndef EENET_EMPIRICAL_LIKELIHOOD_H
#define EENET_EMPIRICAL_LIKELIHOOD_H

#include "estimator.h"

/* weight_high: the largest possible weight; INFINITY: unknown. NaN without rounds. */
double empirical_likelihood_value(const evaluated_rounds *rounds, double weight_high);

#endif
