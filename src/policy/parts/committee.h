/* Combines the predictions of a committee. The paper's f1 is one network; here it may be several of different depth
 * (net/learner.h), and f1 is a weighted mean of their outputs:
 *
 *   f1 = sum w_k f_k,   w_k = b_k / sum b,   all b_k >= 0,
 *   (a, b) = argmin sum over samples g (y - a - sum b_k f_k)^2 + PRIOR sum (b_k - 1/K)^2
 *
 * f_k is the prediction of network k for the chosen arm before any network learns its reward; y is the reward; both are
 * in units of the rewards' spread. The weight g of a sample is 1 at first, and loses one part in WINDOW with each later
 * sample.
 *
 * This is a regression of rewards on predictions, so a network counts by what it adds to the others, not by its error:
 * a + c f ranks arms as f does, so a cautious network, whose predictions are too close to their mean, is not penalised.
 * The prior, worth PRIOR samples that are one spread apart, keeps the weights equal until more is known. */
#ifndef EENET_COMMITTEE_H
#define EENET_COMMITTEE_H

#include "base/archive.h"
#include "net/learner.h"

typedef struct committee {
    size_t count;                                    /* K */
    double samples;                                  /* sum g */
    double mean[COMMITTEE_MOST + 1];                 /* of each f_k, then of y */
    double sums[COMMITTEE_MOST][COMMITTEE_MOST + 1]; /* of g times the product of deviations from the means */
} committee;

/* Adds a sample: predictions (count) and the reward. */
void committee_take(committee *self, const double *predictions, double reward);

/* weights (count); their sum is 1. */
void committee_weigh(const committee *self, float *weights);

void committee_archive(committee *self, archive *a);

#endif
