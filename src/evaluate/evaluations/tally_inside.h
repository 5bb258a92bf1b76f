/* What the files of a tally share. */
#ifndef EENET_TALLY_INSIDE_H
#define EENET_TALLY_INSIDE_H

#include "tally.h"

/* The reward model of an estimator. */
tally_view_kind tally_view_of(estimator_request estimator);

/* Whether the estimator of this number needs no rounds in memory. */
bool tally_streams(const evaluation_request *request, size_t index);

#endif
