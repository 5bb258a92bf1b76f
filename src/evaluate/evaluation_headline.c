/* The estimator that decides: for the headline, the best candidate and --warm. */
#include "evaluation_play.h"

/* The first of these that was requested. First those whose error shrinks to 0 with more events, the most accurate
 * first; then those that trade bias for variance, whose intervals ignore the bias; then those without an interval of
 * their own; replay, which needs a uniform log, last. Never dm: its interval ignores the error of the reward model. */
static const estimator_request preferred[] = {
    {ESTIMATOR_DR, false},           {ESTIMATOR_SNDR, false},       {ESTIMATOR_DR, true},
    {ESTIMATOR_SNIPS, false},        {ESTIMATOR_IPS, false},        {ESTIMATOR_DROS, false},
    {ESTIMATOR_SWITCH_DR, false},    {ESTIMATOR_CLIPPED_DR, false}, {ESTIMATOR_SG_DR, false},
    {ESTIMATOR_CLIPPED, false},      {ESTIMATOR_SG_IPS, false},     {ESTIMATOR_EL, false},
    {ESTIMATOR_CRESSIE_READ, false}, {ESTIMATOR_REPLAY, false},
};

size_t evaluation_headline_estimator(const evaluation_request *request)
{
    for (size_t k = 0; k < sizeof preferred / sizeof *preferred; k++)
        for (size_t i = 0; i < request->estimator_count; i++) {
            estimator_request one = request->estimators[i];
            if (one.kind == preferred[k].kind && one.least_variance == preferred[k].least_variance) return i;
        }
    return request->estimator_count;
}

void evaluation_explain(const evaluation_request *request, evaluation_result *result)
{
    size_t place = evaluation_headline_estimator(request);
    bool any = place < request->estimator_count;
    const estimate *by = &result->estimates[any ? place : 0];
    diagnosis_gain gain = {.value = by->gain,
                           .low = by->gain_low,
                           .high = by->gain_high,
                           .logged = result->log.reward,
                           .confidence = 1.0 - request->alpha,
                           .estimator = any ? estimator_request_name(request->estimators[place]) : ""};
    result->headline_estimator = place;
    result->facts.model_alone = !any;
    result->diagnosis = diagnosis_explain(&result->facts);
    diagnosis_headline(&result->facts, result->diagnosis.trusted, gain, result->headline);
}
