#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "evaluation_file.h"
#include "evaluation_members.h"

/* ---- what was asked, as words ---- */

static const char *const model_names[] = {[REWARD_MODEL_F1] = "f1", [REWARD_MODEL_RIDGE] = "ridge"};

static void format_mode(const evaluation_request *request, char *text, size_t capacity)
{
    if (request->mode == EVALUATION_PROGRESSIVE) snprintf(text, capacity, "progressive");
    if (request->mode == EVALUATION_PROGRESSIVE && !isnan(request->judged_from))
        snprintf(text, capacity, "progressive=%.17g", request->judged_from);
    if (request->mode == EVALUATION_SPLIT) snprintf(text, capacity, "split=%.17g", request->split);
    if (request->mode == EVALUATION_CROSS) snprintf(text, capacity, "cross=%zu", request->folds);
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
    size_t capacity = 512 + strlen(features) + request->estimator_count * 16;
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
    snprintf(*asked + used, capacity - (size_t)used, " features=%s", features);
    return EE_OK;
}

/* ---- writing a line ---- */

/* Unknown or not finite numbers are null. */
static json_t *number_of(double value)
{
    return isfinite(value) ? json_real(value + 0.0) : json_null();
}

static json_t *numbers_of(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, number_of(values[i]));
    return list;
}

static void set_real(json_t *into, const char *name, double value)
{
    json_object_set_new(into, name, number_of(value));
}

static void set_whole(json_t *into, const char *name, uint64_t value)
{
    json_object_set_new(into, name, json_integer((json_int_t)value));
}

/* Names of files may be in any encoding; JSON is UTF-8, and jansson refuses what is not. */
static void set_text(json_t *into, const char *name, const char *text)
{
    char *plain = NULL;
    json_t *value = json_string(text);
    if (!value && !memory_create(NULL, &plain, strlen(text) + 1, 1, NULL)) {
        for (size_t i = 0; text[i]; i++) plain[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
        value = json_string(plain);
    }
    memory_free(plain);
    json_object_set_new(into, name, value);
}

static void set_members(json_t *into, const void *from, const real_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        double value;
        memcpy(&value, (const char *)from + members->list[i].offset, sizeof value);
        set_real(into, members->list[i].name, value);
    }
}

static json_t *estimates_of(const evaluation_request *request, const estimate *estimates)
{
    json_t *list = json_array();
    for (size_t i = 0; i < request->estimator_count; i++) {
        json_t *one = json_object();
        set_text(one, "name", estimator_request_name(request->estimators[i]));
        set_members(one, &estimates[i], &estimate_members);
        json_array_append_new(list, one);
    }
    return list;
}

static void set_slots(json_t *line, const evaluation_request *request, const evaluation_result *result)
{
    if (!result->slot_count) return;
    json_t *list = json_array();
    for (size_t k = 0; k < result->slot_count; k++) {
        const slot_result *slot = &result->slots[k];
        json_t *one = json_object();
        set_text(one, "id", slot->id);
        set_whole(one, "events", slot->events);
        set_members(one, slot, &slot_members);
        json_object_set_new(one, "estimators", estimates_of(request, slot->estimates));
        json_array_append_new(list, one);
    }
    set_whole(line, "slot_rounds", result->log.slot_rounds);
    json_object_set_new(line, "slots", list);
}

static json_t *marks_of(const evaluation_result *result, size_t estimators)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->mark_count; i++) {
        const evaluation_mark *mark = &result->marks[i];
        json_t *one = json_pack("[I,o,o]", (json_int_t)mark->events, number_of(mark->time), number_of(mark->logged));
        for (size_t k = 0; k < estimators; k++) {
            const double triple[] = {mark->values[k], mark->intervals[k].low, mark->intervals[k].high};
            json_array_append_new(one, numbers_of(triple, 3));
        }
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *sentences_of(const diagnosis_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "grave", json_boolean(report->sentences[i].grave));
        json_object_set_new(one, "log", json_boolean(report->sentences[i].log));
        set_text(one, "text", report->sentences[i].text);
        json_array_append_new(list, one);
    }
    return list;
}

/* null: none, because only dm was requested. */
static void set_headline_estimator(json_t *line, const evaluation_request *request, const evaluation_result *result)
{
    size_t place = result->headline_estimator;
    if (place < request->estimator_count)
        set_text(line, "headline_estimator", estimator_request_name(request->estimators[place]));
    else
        json_object_set_new(line, "headline_estimator", json_null());
}

static void set_log(json_t *line, const evaluated_log *log)
{
    set_whole(line, "events", log->events);
    set_whole(line, "learned", log->learned);
    set_whole(line, "skipped", log->skipped);
    set_whole(line, "passed", log->passed);
    json_object_set_new(line, "features", json_boolean(log->features));
    if (log->columns[0]) set_text(line, "columns", log->columns);
    set_members(line, log, &log_members);
}

static void set_request(json_t *line, const evaluation_request *request)
{
    char mode[48];
    format_mode(request, mode, sizeof mode);
    set_text(line, "mode", mode);
    set_text(line, "model", model_names[request->model]);
    set_text(line, "interval", interval_name(request->interval));
    set_real(line, "confidence", 1.0 - request->alpha);
}

static void set_facts(json_t *line, const diagnosis *facts)
{
    json_t *into = json_object();
    set_members(into, facts, &fact_members);
    json_object_set_new(line, "facts", into);
}

/* "18446744073709551615" as text if a JSON reader could not hold the number. */
static void set_seed(json_t *line, uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, seed);
    json_object_set_new(line, "seed", seed > INT64_MAX ? json_string(text) : json_integer((json_int_t)seed));
}

static json_t *line_of(const evaluation_request *request, const evaluation_result *result, const char *asked)
{
    json_t *line = json_object();
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, result->log.fingerprint);
    set_text(line, "log", request->log);
    set_text(line, "fingerprint", fingerprint);
    set_text(line, "asked", asked);
    set_text(line, "candidate", result->candidate);
    set_text(line, "options", result->options ? result->options : "");
    set_seed(line, result->seed);
    set_request(line, request);
    set_log(line, &result->log);
    json_object_set_new(line, "estimators", estimates_of(request, result->estimates));
    set_slots(line, request, result);
    set_facts(line, &result->facts);
    json_object_set_new(line, "trusted", json_boolean(result->diagnosis.trusted));
    json_object_set_new(line, "sentences", sentences_of(&result->diagnosis));
    set_text(line, "headline", result->headline);
    set_headline_estimator(line, request, result);
    json_object_set_new(line, "marks", marks_of(result, request->estimator_count));
    json_object_set_new(line, "weights", numbers_of(result->weights, EVALUATION_WEIGHT_BINS));
    json_object_set_new(line, "overlap", numbers_of(result->overlap, EVALUATION_OVERLAP_BINS));
    set_real(line, "seconds", result->seconds);
    set_text(line, "version", ee_version());
    set_text(line, "kernels", ee_kernels());
    return line;
}

ee_status evaluations_format(const evaluation_request *request, const evaluation_result *result, char **line,
                             size_t *length, ee_error *error)
{
    char *asked = NULL;
    ee_status status = evaluations_asked(request, &asked, error);
    if (status) return status;
    json_t *members = line_of(request, result, asked);
    const size_t flags = JSON_COMPACT;
    size_t size = json_dumpb(members, NULL, 0, flags);
    if (!size) status = status_no_memory(error, 0);
    if (!status) status = memory_create(NULL, line, size + 2, 1, error);
    if (!status) {
        json_dumpb(members, *line, size, flags);
        (*line)[size] = '\n';
        *length = size + 1;
    }
    json_decref(members);
    memory_free(asked);
    return status;
}
