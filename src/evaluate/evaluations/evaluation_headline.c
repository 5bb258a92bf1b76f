/* The estimator that decides: for the headline, the best candidate and --warm. */
#include "evaluation_headline.h"

#include <math.h>

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

/* Whether the log's choices are not uniform: by the deviation of the weights of random choices. */
static bool is_uneven(const diagnosis *facts)
{
    return !isnan(facts->spread_weight) && facts->spread_weight_error * sqrt(facts->rounds) > 0.05;
}

/* Notes in the facts if an interval excludes the estimate beyond its standard error: its own, or that of the
 * difference added to that of the logging policy. An estimate beyond the possible
 * rewards counts as the nearest possible one. */
static void find_outside(const estimate *by, const char *name, interval logged, diagnosis *facts)
{
    const double errors = 4.0;
    double value = fmin(fmax(by->value, facts->range_low), facts->range_high), room = errors * facts->headline_error;
    const double lows[] = {by->low, logged.low + by->gain_low}, highs[] = {by->high, logged.high + by->gain_high};
    facts->outside = NULL;
    for (size_t i = 0; i < 2 && !facts->outside; i++) {
        if (!(value < lows[i] - room || value > highs[i] + room)) continue;
        facts->outside = name;
        facts->outside_value = value;
        facts->outside_low = lows[i];
        facts->outside_high = highs[i];
    }
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
    bool replay = any && request->estimators[place].kind == ESTIMATOR_REPLAY;
    result->facts.replay_uneven = replay && is_uneven(&result->facts);
    result->facts.replay_draws = replay && isnan(by->value) && result->facts.mean_weight > 0;
    if (any) find_outside(by, gain.estimator, result->log.rewards, &result->facts);
    result->diagnosis = diagnosis_explain(&result->facts);
    diagnosis_headline(&result->facts, result->diagnosis.trusted, gain, result->headline);
}
