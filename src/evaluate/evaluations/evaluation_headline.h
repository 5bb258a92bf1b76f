/* The estimator that decides, and the conclusion in words. */
#ifndef EENET_EVALUATION_HEADLINE_H
#define EENET_EVALUATION_HEADLINE_H

#include "evaluation_result.h"

/* The place of the estimator that decides for all candidates: the first of a fixed order (evaluation_headline.c) that
 * was requested. estimator_count: none, because only dm was. */
size_t evaluation_headline_estimator(const evaluation_request *request);

/* Sets the diagnosis, the headline and its estimator from the facts, the log and the estimates. */
void evaluation_explain(const evaluation_request *request, evaluation_result *result);
#endif
