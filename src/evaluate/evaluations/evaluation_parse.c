#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/files/line_members.h"
#include "evaluation_file.h"
#include "evaluation_members.h"

static void read_short(line_members *from, const json_value *object, const char *name, char *into, size_t capacity)
{
    snprintf(into, capacity, "%s", members_text(from, object, name));
}

/* null is an unknown number. */
static double real_of(line_members *from, const char *name, const json_value *value)
{
    return json_has_kind(value, JSON_KIND_NULL) ? (double)NAN : members_real_of(from, name, value);
}

static const json_value *read_list(line_members *from, const json_value *value, const char *name, size_t low,
                                   size_t high)
{
    size_t count = json_count(value);
    return members_expect(from, name, json_has_kind(value, JSON_KIND_ARRAY) && count >= low && count <= high,
                          "a list of the right length", value);
}

static void read_numbers(line_members *from, const json_value *value, const char *name, double *into, size_t count)
{
    const json_value *list = read_list(from, value, name, count, count);
    for (size_t i = 0; i < count; i++) into[i] = real_of(from, name, json_element(list, i));
}

static void read_members(line_members *from, const json_value *object, const real_members *members, void *into)
{
    for (size_t i = 0; i < members->count; i++) {
        const real_member *one = &members->list[i];
        double value = real_of(from, one->name, json_member(object, one->name));
        memcpy((char *)into + one->offset, &value, sizeof value);
    }
}

static void read_estimates(line_members *from, stored_evaluation *out)
{
    const json_value *list = json_member(from->line, "estimators");
    list = read_list(from, list, "estimators", 1, EVALUATION_ESTIMATORS);
    for (size_t i = 0; i < json_count(list) && !from->status; i++) {
        const json_value *one = json_element(list, i);
        out->estimators[i] = members_copy(from, one, "name");
        out->estimator_count = i + 1;
        read_members(from, one, &estimate_members, &out->result.estimates[i]);
    }
}

static void read_slot(line_members *from, const json_value *one, size_t estimators, slot_result *out)
{
    read_short(from, one, "id", out->id, sizeof out->id);
    out->events = members_whole(from, one, "events");
    read_members(from, one, &slot_members, out);
    const json_value *list = read_list(from, json_member(one, "estimators"), "slots", estimators, estimators);
    for (size_t i = 0; i < estimators && !from->status; i++)
        read_members(from, json_element(list, i), &estimate_members, &out->estimates[i]);
}

/* If the log has slots. */
static void read_slots(line_members *from, stored_evaluation *out)
{
    enum { MOST = 65536 };
    evaluation_result *result = &out->result;
    const json_value *list = json_member(from->line, "slots");
    if (!list) return;
    list = read_list(from, list, "slots", 1, MOST);
    size_t count = json_count(list);
    result->log.slot_rounds = members_whole(from, from->line, "slot_rounds");
    if (!from->status) from->status = memory_create(NULL, &result->slots, count, sizeof *result->slots, from->error);
    const json_value *one = list ? list->first : NULL;
    for (size_t k = 0; one && !from->status; k++, one = one->next)
        read_slot(from, one, out->estimator_count, &result->slots[k]);
    if (!from->status) result->slot_count = count;
}

static void read_metric(line_members *from, const json_value *one, size_t estimators, metric_result *out)
{
    read_short(from, one, "name", out->name, sizeof out->name);
    out->smaller_better = strcmp(members_text(from, one, "better"), "smaller") == 0;
    out->events = members_whole(from, one, "events");
    read_members(from, one, &metric_members, out);
    const json_value *list = read_list(from, json_member(one, "estimators"), "metrics", estimators, estimators);
    for (size_t i = 0; i < estimators && !from->status; i++)
        read_members(from, json_element(list, i), &estimate_members, &out->estimates[i]);
}

/* If the log has metrics. */
static void read_metrics(line_members *from, stored_evaluation *out)
{
    evaluation_result *result = &out->result;
    const json_value *list = json_member(from->line, "metrics");
    if (!list) return;
    list = read_list(from, list, "metrics", 1, EVALUATION_METRICS);
    size_t count = json_count(list);
    if (!from->status)
        from->status = memory_create(NULL, &result->metrics, count, sizeof *result->metrics, from->error);
    for (size_t i = 0; i < count && !from->status; i++)
        read_metric(from, json_element(list, i), out->estimator_count, &result->metrics[i]);
    if (!from->status) result->metric_count = count;
}

static void read_left_out(line_members *from, log_left_out *out)
{
    const json_value *counts = json_member(from->line, "left_out");
    if (!counts) return;
    out->control = members_whole(from, counts, "control");
    out->waiting = members_whole(from, counts, "waiting");
    out->fallback = members_whole(from, counts, "fallback");
    out->repeats = members_whole(from, counts, "repeats");
}

static void read_mark(line_members *from, const json_value *list, size_t estimators, evaluation_mark *mark)
{
    list = read_list(from, list, "marks", 3 + estimators, 3 + estimators);
    double events = real_of(from, "marks", json_element(list, 0));
    members_expect(from, "marks", events >= 0.0 && events < 1e18, "events", list);
    if (from->status) return;
    mark->events = (uint64_t)events;
    mark->time = real_of(from, "marks", json_element(list, 1));
    mark->logged = real_of(from, "marks", json_element(list, 2));
    mark->sums = (evaluation_sums){NAN, NAN, NAN, NAN, NAN};
    for (size_t k = 0; k < estimators; k++) {
        double triple[3];
        read_numbers(from, json_element(list, 3 + k), "marks", triple, 3);
        mark->values[k] = triple[0];
        mark->intervals[k] = (interval){triple[1], triple[2]};
    }
}

static void read_marks(line_members *from, stored_evaluation *out)
{
    const json_value *list = read_list(from, json_member(from->line, "marks"), "marks", 0, EVALUATION_MARKS);
    size_t count = json_count(list);
    evaluation_result *result = &out->result;
    if (!from->status) from->status = memory_create(NULL, &result->marks, count, sizeof *result->marks, from->error);
    for (size_t i = 0; i < count && !from->status; i++)
        read_mark(from, json_element(list, i), out->estimator_count, &result->marks[i]);
    if (!from->status) result->mark_count = count;
}

static void read_sentences(line_members *from, diagnosis_report *out)
{
    const json_value *list = json_member(from->line, "sentences");
    list = read_list(from, list, "sentences", 0, DIAGNOSIS_MOST);
    for (size_t i = 0; i < json_count(list) && !from->status; i++) {
        diagnosis_sentence *one = &out->sentences[out->count++];
        one->grave = members_flag(from, json_element(list, i), "grave");
        one->log = members_flag(from, json_element(list, i), "log");
        read_short(from, json_element(list, i), "text", one->text, sizeof one->text);
    }
    out->trusted = members_flag(from, from->line, "trusted");
}

/* Older lines do not have it: their headline is by the first estimator. */
static void read_headline_estimator(line_members *from, stored_evaluation *out)
{
    const json_value *value = json_member(from->line, "headline_estimator");
    const char *name = json_text_of(value);
    size_t *place = &out->result.headline_estimator;
    *place = 0;
    if (!value || from->status) return;
    while (*place < out->estimator_count && (!name || strcmp(out->estimators[*place], name))) ++*place;
    members_expect(from, "headline_estimator", json_has_kind(value, JSON_KIND_NULL) || *place < out->estimator_count,
                   "one of the estimators, or null", value);
}

static void read_log(line_members *from, evaluated_log *log)
{
    log->fingerprint = members_fingerprint(from);
    log->events = members_whole(from, from->line, "events");
    log->learned = members_whole(from, from->line, "learned");
    log->skipped = members_whole(from, from->line, "skipped");
    log->passed = members_whole(from, from->line, "passed");
    read_left_out(from, &log->left_out);
    if (json_member(from->line, "metrics_left")) log->metrics_left = members_whole(from, from->line, "metrics_left");
    log->features = members_flag(from, from->line, "features");
    if (json_member(from->line, "columns")) read_short(from, from->line, "columns", log->columns, sizeof log->columns);
    read_members(from, from->line, &log_members, log);
}

/* "0.1.0 neon" */
static char *read_version(line_members *from)
{
    const char *version = members_text(from, from->line, "version"),
               *kernels = members_text(from, from->line, "kernels");
    char *both = NULL;
    size_t size = strlen(version) + strlen(kernels) + 2;
    if (!from->status) from->status = memory_create(NULL, &both, size, 1, from->error);
    if (both) snprintf(both, size, "%s %s", version, kernels);
    return both;
}

static void read_line(line_members *from, stored_evaluation *out)
{
    evaluation_result *result = &out->result;
    out->log = members_copy(from, from->line, "log");
    out->asked = members_copy(from, from->line, "asked");
    out->mode = members_copy(from, from->line, "mode");
    out->model = members_copy(from, from->line, "model");
    out->interval = members_copy(from, from->line, "interval");
    out->confidence = real_of(from, "confidence", json_member(from->line, "confidence"));
    read_short(from, from->line, "candidate", result->candidate, sizeof result->candidate);
    result->options = members_copy(from, from->line, "options");
    result->seed = members_seed(from);
    read_log(from, &result->log);
    read_estimates(from, out);
    read_slots(from, out);
    read_metrics(from, out);
    const json_value *facts = json_member(from->line, "facts");
    read_members(from, facts, &fact_members, &result->facts);
    result->facts.events = result->log.events;
    read_sentences(from, &result->diagnosis);
    read_short(from, from->line, "headline", result->headline, sizeof result->headline);
    read_headline_estimator(from, out);
    read_marks(from, out);
    read_numbers(from, json_member(from->line, "weights"), "weights", result->weights, EVALUATION_WEIGHT_BINS);
    read_numbers(from, json_member(from->line, "overlap"), "overlap", result->overlap, EVALUATION_OVERLAP_BINS);
    result->seconds = real_of(from, "seconds", json_member(from->line, "seconds"));
    out->version = read_version(from);
    result->finished = result->read = !from->status;
}

ee_status evaluations_parse(const char *line, size_t length, size_t number, stored_evaluation *out, ee_error *error)
{
    line_members from = line_members_open(line, length, number, error);
    if (!from.status) read_line(&from, out);
    line_members_close(&from);
    return from.status;
}
