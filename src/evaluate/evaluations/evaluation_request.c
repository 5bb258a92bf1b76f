#include "evaluation_request.h"

#include <math.h>
#include <string.h>

static const char least_variance_name[] = "mrdr";

bool estimator_request_parse(const char *name, estimator_request *out)
{
    bool least = strcmp(name, least_variance_name) == 0;
    *out = (estimator_request){least ? ESTIMATOR_DR : estimator_find(name), least};
    return out->kind != ESTIMATOR_KINDS;
}

const char *estimator_request_name(estimator_request self)
{
    return self.least_variance ? least_variance_name : estimator_describe(self.kind)->name;
}

evaluation_request evaluation_usual(void)
{
    return (evaluation_request){
        .reading = log_options_usual(),
        .estimators = {{ESTIMATOR_DR, false}, {ESTIMATOR_SNIPS, false}},
        .estimator_count = 2,
        .tuning = TUNING_SLOPE,
        .interval = INTERVAL_CS,
        .alpha = 0.05,
        .split = 0.5,
        .folds = 5,
        .judged_from = NAN,
        .reward_low = NAN,
        .reward_high = NAN,
        .least_probability = NAN,
        .threads = 1,
    };
}

const char *evaluation_features(const evaluation_request *request)
{
    return request->features ? request->features : "";
}

ee_status evaluation_usual_estimators(evaluation_request *request, ee_error *error)
{
    log_reader *log;
    log_event event;
    bool found;
    request->estimators[0] = (estimator_request){ESTIMATOR_DR, false};
    request->estimators[1] = (estimator_request){ESTIMATOR_SNIPS, false};
    request->estimator_count = 2;
    if (log_is_pipe(request->log)) return EE_OK;
    ee_status status = log_open(request->log, &request->reading, &log, error);
    if (status) return status;
    status = log_next(log, &event, &found, error);
    if (!status && found && !event.arms.count && !event.context.length) request->estimators[0].kind = ESTIMATOR_IPS;
    log_close(log);
    return status;
}

const char *const slot_weighting_names[SLOT_WEIGHTINGS] = {
    [SLOT_CASCADE] = "cascade", [SLOT_WHOLE] = "whole", [SLOT_OWN] = "own"};

bool slot_weighting_find(const char *name, slot_weighting *out)
{
    for (size_t i = 0; i < SLOT_WEIGHTINGS; i++) {
        if (strcmp(name, slot_weighting_names[i]) != 0) continue;
        *out = (slot_weighting)i;
        return true;
    }
    return false;
}
