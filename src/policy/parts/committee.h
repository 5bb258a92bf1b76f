/* How the networks of a committee predict together. The paper's f1 is one network; here it may be several that differ
 * in depth (net/learner.h), and f1 is a weighted mean of their outputs:
 *
 *   f1 = sum w_k f_k,   w_k = b_k / sum b,   all b_k >= 0,
 *   (a, b) = argmin sum over samples g (y - a - sum b_k f_k)^2 + PRIOR sum (b_k - 1/K)^2
 *
 * f_k is what network k says of the arm that was played before any network has learned from its reward; y is the
 * reward; both are in units of the rewards' spread. A sample's share g is 1 when it comes, and loses one part in WINDOW
 * with each sample after it.
 *
 * This is a regression of rewards on predictions, so a network counts by what it adds to the others, and not by how
 * exact it is: a + c f ranks arms as f does, and a careful network, whose predictions are all too near their mean, is
 * not taken for a bad one. The prior, worth PRIOR samples that are one spread apart, holds the weights equal until
 * more is known. */
#ifndef EENET_COMMITTEE_H
#define EENET_COMMITTEE_H

#include "base/archive.h"
#include "net/learner.h"

typedef struct committee {
    size_t count;                                    /* K */
    double samples;                                  /* sum g */
    double mean[COMMITTEE_MOST + 1];                 /* of each f_k, and behind them of y */
    double sums[COMMITTEE_MOST][COMMITTEE_MOST + 1]; /* of g times the product of deviations from the means */
} committee;

/* Takes in a sample: predictions (count), and what came. */
void committee_take(committee *self, const double *predictions, double reward);

/* weights (count). Their sum is 1. */
void committee_weigh(const committee *self, float *weights);

void committee_archive(committee *self, archive *a);

#endif
