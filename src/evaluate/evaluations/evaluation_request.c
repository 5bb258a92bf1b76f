#include "evaluation_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

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

/* ---- metrics ---- */

/* "LOW:HIGH", up to the comma or the end. */
static bool parse_range(const char *from, const char *end, evaluation_metric *out)
{
    char *rest;
    out->low = strtod(from, &rest);
    if (rest == from || *rest != ':') return false;
    from = rest + 1;
    out->high = strtod(from, &rest);
    return rest != from && rest == end && fabs(out->low) <= 1e9 && fabs(out->high) <= 1e9 && out->low < out->high;
}

static ee_status parse_metric(const char *from, size_t size, evaluation_request *request, ee_error *error)
{
    const char *end = from + size, *start = from + (*from == '-' || *from == '+');
    const char *equals = memchr(start, '=', (size_t)(end - start));
    size_t length = (size_t)((equals ? equals : end) - start);
    if (!length || length > LOG_METRIC_NAME)
        return status_fail(error, EE_BAD_OPTION, "metrics: expected a name of 1 to %d bytes, got '%.*s'",
                           LOG_METRIC_NAME, size < 80 ? (int)size : 80, from);
    if (request->metric_count == EVALUATION_METRICS)
        return status_fail(error, EE_BAD_OPTION, "metrics: expected at most %d", EVALUATION_METRICS);
    evaluation_metric one = {.smaller_better = *from == '-', .low = NAN, .high = NAN};
    memcpy(one.name, start, length);
    for (size_t i = 0; i < request->metric_count; i++)
        if (strcmp(request->metrics[i].name, one.name) == 0)
            return status_fail(error, EE_BAD_OPTION, "metrics: '%s' is given twice", one.name);
    if (equals && !parse_range(equals + 1, end, &one))
        return status_fail(error, EE_BAD_OPTION, "metrics: expected %s=LOW:HIGH with LOW below HIGH, got '%.*s'",
                           one.name, size < 80 ? (int)size : 80, from);
    request->metrics[request->metric_count++] = one;
    return EE_OK;
}

ee_status evaluation_metrics_parse(const char *list, evaluation_request *request, ee_error *error)
{
    ee_status status = EE_OK;
    request->metric_count = 0;
    request->metrics_given = list != NULL;
    if (!list || strcmp(list, "none") == 0) return EE_OK;
    for (bool more = true; more && !status;) {
        size_t size = strcspn(list, ",");
        status = parse_metric(list, size, request, error);
        more = list[size] == ',';
        list += size + 1;
    }
    return status;
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
