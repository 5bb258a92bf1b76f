#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/values/json_members.h"
#include "evaluation_file.h"
#include "evaluation_members.h"

/* ---- what was asked, as words ---- */

static const char *const model_names[] = {[REWARD_MODEL_F1] = "f1", [REWARD_MODEL_RIDGE] = "ridge"};

static void format_mode(const evaluation_request *request, char *out, size_t capacity)
{
    if (request->mode == EVALUATION_PROGRESSIVE) snprintf(out, capacity, "progressive");
    if (request->mode == EVALUATION_PROGRESSIVE && !isnan(request->judged_from))
        snprintf(out, capacity, "progressive=%.17g", request->judged_from);
    if (request->mode == EVALUATION_SPLIT) snprintf(out, capacity, "split=%.17g", request->split);
    if (request->mode == EVALUATION_CROSS) snprintf(out, capacity, "cross=%zu", request->folds);
}

/* NULL: the usual. */
static const char *slots_word(const evaluation_request *request)
{
    if (request->first_slot) return "first";
    return request->slots == SLOT_CASCADE ? NULL : slot_weighting_names[request->slots];
}

ee_status evaluations_asked(const evaluation_request *request, char **asked, ee_error *error)
{
    char mode[48];
    format_mode(request, mode, sizeof mode);
    const char *features = request->features ? request->features : "";
    const log_options *reading = &request->reading;
    size_t capacity = 512 + strlen(features) + request->estimator_count * 16 + request->metric_count * 160;
    ee_status status = memory_create(NULL, asked, capacity, 1, error);
    if (status) return status;
    int used = snprintf(*asked, capacity,
                        "%s %s %s alpha=%.17g rewards=%.17g:%.17g least=%.17g tuning=%s seed=%" PRIu64
                        " aggregation=%d default=%.17g from=%.17g until=%.17g%s estimators=",
                        mode, model_names[request->model], interval_name(request->interval), request->alpha,
                        request->reward_low, request->reward_high, request->least_probability,
                        request->tuning == TUNING_SLOPE ? "slope" : "mse", request->seed, (int)reading->aggregation,
                        reading->default_reward, reading->from, reading->until, reading->strict ? " strict" : "");
    for (size_t i = 0; i < request->estimator_count; i++)
        used += snprintf(*asked + used, capacity - (size_t)used, "%s%s", i ? "," : "",
                         estimator_request_name(request->estimators[i]));
    if (slots_word(request)) /* the default is not named, so that older requests stay equal */
        used += snprintf(*asked + used, capacity - (size_t)used, " slots=%s", slots_word(request));
    if (request->metrics_given) used += snprintf(*asked + used, capacity - (size_t)used, " metrics=");
    for (size_t i = 0; i < request->metric_count; i++) {
        const evaluation_metric *one = &request->metrics[i];
        used += snprintf(*asked + used, capacity - (size_t)used, "%s%c%s=%.17g:%.17g", i ? "," : "",
                         one->smaller_better ? '-' : '+', one->name, one->low, one->high);
    }
    snprintf(*asked + used, capacity - (size_t)used, " features=%s", features);
    return EE_OK;
}

/* ---- writing a line ---- */

/* File names may be in any encoding, but JSON is UTF-8: other bytes become question marks. */
static void add_text(text *into, const char *key, const char *value)
{
    text_key(into, key);
    size_t start = into->length;
    text_string(into, value);
    if (into->status || json_is_utf8((json_text){value, strlen(value)})) return;
    for (size_t i = start; i < into->length; i++)
        if ((unsigned char)into->bytes[i] >= 128) into->bytes[i] = '?';
}

/* Unknown or not finite numbers are null; a zero has no sign. */
static void add_number(text *into, double value)
{
    text_comma(into);
    text_number(into, value + 0.0);
}

static void add_numbers(text *into, const double *values, size_t count)
{
    text_add(into, "[");
    for (size_t i = 0; i < count; i++) add_number(into, values[i]);
    text_add(into, "]");
}

static void add_members(text *into, const void *from, const real_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        double value;
        memcpy(&value, (const char *)from + members->list[i].offset, sizeof value);
        text_member_number(into, members->list[i].name, value + 0.0);
    }
}

static void add_estimates(text *into, const evaluation_request *request, const estimate *estimates)
{
    text_key(into, "estimators");
    text_add(into, "[");
    for (size_t i = 0; i < request->estimator_count; i++) {
        text_comma(into);
        text_add(into, "{");
        add_text(into, "name", estimator_request_name(request->estimators[i]));
        add_members(into, &estimates[i], &estimate_members);
        text_add(into, "}");
    }
    text_add(into, "]");
}

static void add_slots(text *line, const evaluation_request *request, const evaluation_result *result)
{
    if (!result->slot_count) return;
    text_member_count(line, "slot_rounds", result->log.slot_rounds);
    text_key(line, "slots");
    text_add(line, "[");
    for (size_t k = 0; k < result->slot_count; k++) {
        const slot_result *slot = &result->slots[k];
        text_comma(line);
        text_add(line, "{");
        add_text(line, "id", slot->id);
        text_member_count(line, "events", slot->events);
        add_members(line, slot, &slot_members);
        add_estimates(line, request, slot->estimates);
        text_add(line, "}");
    }
    text_add(line, "]");
}

static void add_metrics(text *line, const evaluation_request *request, const evaluation_result *result)
{
    if (!result->metric_count) return;
    text_key(line, "metrics");
    text_add(line, "[");
    for (size_t i = 0; i < result->metric_count; i++) {
        const metric_result *metric = &result->metrics[i];
        text_comma(line);
        text_add(line, "{");
        add_text(line, "name", metric->name);
        add_text(line, "better", metric->smaller_better ? "smaller" : "larger");
        text_member_count(line, "events", metric->events);
        add_members(line, metric, &metric_members);
        add_estimates(line, request, metric->estimates);
        text_add(line, "}");
    }
    text_add(line, "]");
}

static void add_front(text *line, const evaluation_request *request, const pareto_place *front)
{
    if (!front) return;
    text_key(line, "pareto");
    if (!front->compared) {
        text_add(line, "null");
        return;
    }
    text_add(line, "{");
    text_member_flag(line, "front", front->front);
    if (!front->front) {
        add_text(line, "beaten_by", request->candidates[front->dominator].text);
        text_member_flag(line, "separated", front->separated);
    }
    text_add(line, "}");
}

static void add_left_out(text *line, const log_left_out *left_out)
{
    if (!log_left_out_sum(left_out)) return;
    text_key(line, "left_out");
    text_add(line, "{");
    text_member_count(line, "control", left_out->control);
    text_member_count(line, "waiting", left_out->waiting);
    text_member_count(line, "fallback", left_out->fallback);
    text_member_count(line, "repeats", left_out->repeats);
    text_add(line, "}");
}

static void add_marks(text *line, const evaluation_result *result, size_t estimators)
{
    text_key(line, "marks");
    text_add(line, "[");
    for (size_t i = 0; i < result->mark_count; i++) {
        const evaluation_mark *mark = &result->marks[i];
        text_comma(line);
        text_add(line, "[%" PRIu64, mark->events);
        add_number(line, mark->time);
        add_number(line, mark->logged);
        for (size_t k = 0; k < estimators; k++) {
            text_comma(line);
            add_numbers(line, (double[]){mark->values[k], mark->intervals[k].low, mark->intervals[k].high}, 3);
        }
        text_add(line, "]");
    }
    text_add(line, "]");
}

static void add_diagnosis(text *line, const diagnosis_report *report)
{
    text_member_flag(line, "trusted", report->trusted);
    text_key(line, "sentences");
    text_add(line, "[");
    for (size_t i = 0; i < report->count; i++) {
        text_comma(line);
        text_add(line, "{");
        text_member_flag(line, "grave", report->sentences[i].grave);
        text_member_flag(line, "log", report->sentences[i].log);
        add_text(line, "text", report->sentences[i].text);
        text_add(line, "}");
    }
    text_add(line, "]");
}

/* null: none, because only dm was requested. */
static void add_headline(text *line, const evaluation_request *request, const evaluation_result *result)
{
    size_t place = result->headline_estimator;
    add_text(line, "headline", result->headline);
    text_key(line, "headline_estimator");
    if (place < request->estimator_count)
        text_string(line, estimator_request_name(request->estimators[place]));
    else
        text_add(line, "null");
}

static void add_log(text *line, const evaluated_log *log)
{
    text_member_count(line, "events", log->events);
    text_member_count(line, "learned", log->learned);
    text_member_count(line, "skipped", log->skipped);
    text_member_count(line, "passed", log->passed);
    add_left_out(line, &log->left_out);
    if (log->metrics_left) text_member_count(line, "metrics_left", log->metrics_left);
    text_member_flag(line, "features", log->features);
    if (log->columns[0]) add_text(line, "columns", log->columns);
    add_members(line, log, &log_members);
}

static void add_request(text *line, const evaluation_request *request)
{
    char mode[48];
    format_mode(request, mode, sizeof mode);
    add_text(line, "mode", mode);
    add_text(line, "model", model_names[request->model]);
    add_text(line, "interval", interval_name(request->interval));
    text_member_number(line, "confidence", 1.0 - request->alpha);
}

/* "18446744073709551615" as text if a JSON reader could not hold the number. */
static void add_seed(text *line, uint64_t seed)
{
    text_key(line, "seed");
    text_add(line, seed > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, seed);
}

static void add_line(text *line, const evaluation_request *request, const evaluation_result *result,
                     const pareto_place *front, const char *asked)
{
    text_add(line, "{");
    add_text(line, "log", request->log);
    text_add(line, ",\"fingerprint\":\"%016" PRIx64 "\"", result->log.fingerprint);
    add_text(line, "asked", asked);
    add_text(line, "candidate", result->candidate);
    add_text(line, "options", result->options ? result->options : "");
    add_seed(line, result->seed);
    add_request(line, request);
    add_log(line, &result->log);
    add_estimates(line, request, result->estimates);
    add_slots(line, request, result);
    add_metrics(line, request, result);
    add_front(line, request, front);
    text_key(line, "facts");
    text_add(line, "{");
    add_members(line, &result->facts, &fact_members);
    text_add(line, "}");
    add_diagnosis(line, &result->diagnosis);
    add_headline(line, request, result);
    add_marks(line, result, request->estimator_count);
    text_key(line, "weights");
    add_numbers(line, result->weights, EVALUATION_WEIGHT_BINS);
    text_key(line, "overlap");
    add_numbers(line, result->overlap, EVALUATION_OVERLAP_BINS);
    text_member_number(line, "seconds", result->seconds);
    text_member(line, "version", ee_version());
    text_member(line, "kernels", ee_kernels());
    text_add(line, "}\n");
}

ee_status evaluations_format(const evaluation_request *request, const evaluation_result *result,
                             const pareto_place *front, char **line, size_t *length, ee_error *error)
{
    char *asked = NULL;
    ee_status status = evaluations_asked(request, &asked, error);
    if (status) return status;
    text out = text_start(error);
    add_line(&out, request, result, front, asked);
    *line = out.bytes;
    *length = out.length;
    memory_free(asked);
    return out.status;
}
