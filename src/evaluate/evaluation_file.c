#include "evaluation_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/line_file.h"

const char evaluations_name[] = "evaluations.jsonl";

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
    if (slots_word(request)) /* the usual one is not named, so that what was asked before is asked still */
        used += snprintf(*asked + used, capacity - (size_t)used, " slots=%s", slots_word(request));
    snprintf(*asked + used, capacity - (size_t)used, " features=%s", features);
    return EE_OK;
}

/* ---- writing a line ---- */

/* What is not known, or not finite, is null. */
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

/* The members of a struct that are all double, by name. Writing and reading go by the same table. */
typedef struct real_member {
    const char *name;
    size_t offset;
} real_member;

static const real_member estimate_members[] = {
    {"value", offsetof(estimate, value)},       {"low", offsetof(estimate, low)},
    {"high", offsetof(estimate, high)},         {"gain", offsetof(estimate, gain)},
    {"gain_low", offsetof(estimate, gain_low)}, {"gain_high", offsetof(estimate, gain_high)},
    {"lambda", offsetof(estimate, lambda)},
};

static const real_member fact_members[] = {
    {"rounds", offsetof(diagnosis, rounds)},
    {"effective", offsetof(diagnosis, effective)},
    {"largest_weight", offsetof(diagnosis, largest_weight)},
    {"largest_share", offsetof(diagnosis, largest_share)},
    {"mean_weight", offsetof(diagnosis, mean_weight)},
    {"mean_weight_error", offsetof(diagnosis, mean_weight_error)},
    {"unsupported", offsetof(diagnosis, unsupported)},
    {"spread_weight", offsetof(diagnosis, spread_weight)},
    {"spread_weight_error", offsetof(diagnosis, spread_weight_error)},
    {"spread_unsupported", offsetof(diagnosis, spread_unsupported)},
    {"probability_sum", offsetof(diagnosis, probability_sum)},
    {"sum_off", offsetof(diagnosis, sum_off)},
    {"reward_first", offsetof(diagnosis, reward_first)},
    {"reward_last", offsetof(diagnosis, reward_last)},
    {"reward_error", offsetof(diagnosis, reward_error)},
    {"direct", offsetof(diagnosis, direct)},
    {"robust", offsetof(diagnosis, robust)},
    {"robust_error", offsetof(diagnosis, robust_error)},
};

static const real_member log_members[] = {
    {"rounds", offsetof(evaluated_log, rounds)},
    {"reward", offsetof(evaluated_log, reward)},
    {"reward_low", offsetof(evaluated_log, rewards.low)},
    {"reward_high", offsetof(evaluated_log, rewards.high)},
    {"range_low", offsetof(evaluated_log, range.reward_low)},
    {"range_high", offsetof(evaluated_log, range.reward_high)},
    {"range_weight", offsetof(evaluated_log, range.weight_high)},
    {"first_time", offsetof(evaluated_log, first_time)},
    {"last_time", offsetof(evaluated_log, last_time)},
};

static const real_member slot_members[] = {
    {"reward", offsetof(slot_result, reward)},
    {"effective", offsetof(slot_result, effective)},
};

enum {
    SLOT_MEMBERS = sizeof slot_members / sizeof *slot_members,
    ESTIMATE_MEMBERS = sizeof estimate_members / sizeof *estimate_members,
    FACT_MEMBERS = sizeof fact_members / sizeof *fact_members,
    LOG_MEMBERS = sizeof log_members / sizeof *log_members
};

static void set_members(json_t *into, const void *from, const real_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)from + members[i].offset, sizeof value);
        set_real(into, members[i].name, value);
    }
}

static json_t *estimates_of(const evaluation_request *request, const estimate *estimates)
{
    json_t *list = json_array();
    for (size_t i = 0; i < request->estimator_count; i++) {
        json_t *one = json_object();
        set_text(one, "name", estimator_request_name(request->estimators[i]));
        set_members(one, &estimates[i], estimate_members, ESTIMATE_MEMBERS);
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
        set_members(one, slot, slot_members, SLOT_MEMBERS);
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

static void set_log(json_t *line, const evaluated_log *log)
{
    set_whole(line, "events", log->events);
    set_whole(line, "learned", log->learned);
    set_whole(line, "skipped", log->skipped);
    set_whole(line, "passed", log->passed);
    json_object_set_new(line, "features", json_boolean(log->features));
    set_members(line, log, log_members, LOG_MEMBERS);
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
    set_members(into, facts, fact_members, FACT_MEMBERS);
    json_object_set_new(line, "facts", into);
}

/* "18446744073709551615" as text where JSON's readers have no room for the number. */
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

/* ---- reading a line ---- */

/* The first error stays: after it every visit does nothing. */
typedef struct line_reader {
    const json_t *members;
    size_t number; /* of the line */
    ee_status status;
    ee_error *error;
} line_reader;

static const json_t *expect(line_reader *from, const char *name, bool right, const char *type, const json_t *value)
{
    if (from->status) return NULL;
    if (right) return value;
    from->status = status_fail(from->error, EE_BAD_INPUT, "line %zu: expected %s in '%s'", from->number, type, name);
    return NULL;
}

static ee_status copy_text(const char *text, char **copy, ee_error *error)
{
    ee_status status = memory_create(NULL, copy, strlen(text) + 1, 1, error);
    if (!status) strcpy(*copy, text);
    return status;
}

static const char *text_in(line_reader *from, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    value = expect(from, name, json_is_string(value), "text", value);
    return value ? json_string_value(value) : "";
}

static char *read_text(line_reader *from, const json_t *object, const char *name)
{
    char *copy = NULL;
    const char *text = text_in(from, object, name);
    if (!from->status) from->status = copy_text(text, &copy, from->error);
    return copy;
}

static void read_short(line_reader *from, const json_t *object, const char *name, char *into, size_t capacity)
{
    snprintf(into, capacity, "%s", text_in(from, object, name));
}

static double real_of(line_reader *from, const char *name, const json_t *value)
{
    value = expect(from, name, json_is_number(value) || json_is_null(value), "a number", value);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static uint64_t whole_in(line_reader *from, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    value = expect(from, name, json_is_integer(value) && json_integer_value(value) >= 0, "a whole number", value);
    return value ? (uint64_t)json_integer_value(value) : 0;
}

static uint64_t read_whole(line_reader *from, const char *name)
{
    return whole_in(from, from->members, name);
}

static bool read_flag(line_reader *from, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    value = expect(from, name, json_is_boolean(value), "true or false", value);
    return json_is_true(value);
}

static const json_t *read_list(line_reader *from, const json_t *value, const char *name, size_t low, size_t high)
{
    size_t count = json_array_size(value);
    return expect(from, name, json_is_array(value) && count >= low && count <= high, "a list of the right length",
                  value);
}

static void read_numbers(line_reader *from, const json_t *value, const char *name, double *into, size_t count)
{
    const json_t *list = read_list(from, value, name, count, count);
    for (size_t i = 0; i < count; i++) into[i] = real_of(from, name, json_array_get(list, i));
}

static void read_members(line_reader *from, const json_t *object, const real_member *members, size_t count, void *into)
{
    for (size_t i = 0; i < count; i++) {
        double value = real_of(from, members[i].name, json_object_get(object, members[i].name));
        memcpy((char *)into + members[i].offset, &value, sizeof value);
    }
}

static void read_estimates(line_reader *from, stored_evaluation *out)
{
    const json_t *list = json_object_get(from->members, "estimators");
    list = read_list(from, list, "estimators", 1, EVALUATION_ESTIMATORS);
    for (size_t i = 0; i < json_array_size(list) && !from->status; i++) {
        const json_t *one = json_array_get(list, i);
        out->estimators[i] = read_text(from, one, "name");
        out->estimator_count = i + 1;
        read_members(from, one, estimate_members, ESTIMATE_MEMBERS, &out->result.estimates[i]);
    }
}

static void read_slot(line_reader *from, const json_t *one, size_t estimators, slot_result *out)
{
    read_short(from, one, "id", out->id, sizeof out->id);
    out->events = whole_in(from, one, "events");
    read_members(from, one, slot_members, SLOT_MEMBERS, out);
    const json_t *list = read_list(from, json_object_get(one, "estimators"), "slots", estimators, estimators);
    for (size_t i = 0; i < estimators && !from->status; i++)
        read_members(from, json_array_get(list, i), estimate_members, ESTIMATE_MEMBERS, &out->estimates[i]);
}

/* Where the log has them. */
static void read_slots(line_reader *from, stored_evaluation *out)
{
    enum { MOST = 65536 };
    evaluation_result *result = &out->result;
    const json_t *list = json_object_get(from->members, "slots");
    if (!list) return;
    list = read_list(from, list, "slots", 1, MOST);
    size_t count = json_array_size(list);
    result->log.slot_rounds = read_whole(from, "slot_rounds");
    if (!from->status) from->status = memory_create(NULL, &result->slots, count, sizeof *result->slots, from->error);
    for (size_t k = 0; k < count && !from->status; k++)
        read_slot(from, json_array_get(list, k), out->estimator_count, &result->slots[k]);
    if (!from->status) result->slot_count = count;
}

static void read_mark(line_reader *from, const json_t *list, size_t estimators, evaluation_mark *mark)
{
    list = read_list(from, list, "marks", 3 + estimators, 3 + estimators);
    double events = real_of(from, "marks", json_array_get(list, 0));
    expect(from, "marks", events >= 0.0 && events < 1e18, "events", list);
    if (from->status) return;
    mark->events = (uint64_t)events;
    mark->time = real_of(from, "marks", json_array_get(list, 1));
    mark->logged = real_of(from, "marks", json_array_get(list, 2));
    mark->sums = (evaluation_sums){NAN, NAN, NAN, NAN, NAN};
    for (size_t k = 0; k < estimators; k++) {
        double triple[3];
        read_numbers(from, json_array_get(list, 3 + k), "marks", triple, 3);
        mark->values[k] = triple[0];
        mark->intervals[k] = (interval){triple[1], triple[2]};
    }
}

static void read_marks(line_reader *from, stored_evaluation *out)
{
    const json_t *list = read_list(from, json_object_get(from->members, "marks"), "marks", 0, EVALUATION_MARKS);
    size_t count = json_array_size(list);
    evaluation_result *result = &out->result;
    if (!from->status) from->status = memory_create(NULL, &result->marks, count, sizeof *result->marks, from->error);
    for (size_t i = 0; i < count && !from->status; i++)
        read_mark(from, json_array_get(list, i), out->estimator_count, &result->marks[i]);
    if (!from->status) result->mark_count = count;
}

static void read_sentences(line_reader *from, diagnosis_report *out)
{
    const json_t *list = json_object_get(from->members, "sentences");
    list = read_list(from, list, "sentences", 0, DIAGNOSIS_MOST);
    for (size_t i = 0; i < json_array_size(list) && !from->status; i++) {
        diagnosis_sentence *one = &out->sentences[out->count++];
        one->grave = read_flag(from, json_array_get(list, i), "grave");
        one->log = read_flag(from, json_array_get(list, i), "log");
        read_short(from, json_array_get(list, i), "text", one->text, sizeof one->text);
    }
    out->trusted = read_flag(from, from->members, "trusted");
}

static void read_log(line_reader *from, evaluated_log *log)
{
    log->fingerprint = strtoull(text_in(from, from->members, "fingerprint"), NULL, 16);
    log->events = read_whole(from, "events");
    log->learned = read_whole(from, "learned");
    log->skipped = read_whole(from, "skipped");
    log->passed = read_whole(from, "passed");
    log->features = read_flag(from, from->members, "features");
    read_members(from, from->members, log_members, LOG_MEMBERS, log);
}

static uint64_t read_seed(line_reader *from)
{
    const json_t *value = json_object_get(from->members, "seed");
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : read_whole(from, "seed");
}

/* "0.1.0 neon" */
static char *read_version(line_reader *from)
{
    char both[96];
    snprintf(both, sizeof both, "%.40s %.40s", text_in(from, from->members, "version"),
             text_in(from, from->members, "kernels"));
    char *copy = NULL;
    if (!from->status) from->status = copy_text(both, &copy, from->error);
    return copy;
}

static void read_line(line_reader *from, stored_evaluation *out)
{
    evaluation_result *result = &out->result;
    out->log = read_text(from, from->members, "log");
    out->asked = read_text(from, from->members, "asked");
    out->mode = read_text(from, from->members, "mode");
    out->model = read_text(from, from->members, "model");
    out->interval = read_text(from, from->members, "interval");
    out->confidence = real_of(from, "confidence", json_object_get(from->members, "confidence"));
    read_short(from, from->members, "candidate", result->candidate, sizeof result->candidate);
    result->options = read_text(from, from->members, "options");
    result->seed = read_seed(from);
    read_log(from, &result->log);
    read_estimates(from, out);
    read_slots(from, out);
    const json_t *facts = json_object_get(from->members, "facts");
    read_members(from, facts, fact_members, FACT_MEMBERS, &result->facts);
    result->facts.events = result->log.events;
    read_sentences(from, &result->diagnosis);
    read_short(from, from->members, "headline", result->headline, sizeof result->headline);
    read_marks(from, out);
    read_numbers(from, json_object_get(from->members, "weights"), "weights", result->weights, EVALUATION_WEIGHT_BINS);
    read_numbers(from, json_object_get(from->members, "overlap"), "overlap", result->overlap, EVALUATION_OVERLAP_BINS);
    result->seconds = real_of(from, "seconds", json_object_get(from->members, "seconds"));
    out->version = read_version(from);
    result->finished = result->read = !from->status;
}

/* One line, whole; number is its place in the file, for the message. */
static ee_status parse_line(const char *line, size_t length, size_t number, stored_evaluation *out, ee_error *error)
{
    json_error_t problem;
    json_t *members = json_loadb(line, length, 0, &problem);
    line_reader from = {members, number, EE_OK, error};
    if (json_is_object(members))
        read_line(&from, out);
    else
        from.status = status_fail(error, EE_BAD_INPUT, "line %zu, byte %d: %s", number,
                                  members ? 1 : problem.position + 1, members ? "expected {" : problem.text);
    json_decref(members);
    return from.status;
}

static void release_row(stored_evaluation *row)
{
    memory_free(row->log);
    memory_free(row->asked);
    memory_free(row->mode);
    memory_free(row->model);
    memory_free(row->interval);
    for (size_t i = 0; i < row->estimator_count; i++) memory_free(row->estimators[i]);
    evaluation_release(&row->result, 1);
    memory_free(row->version);
}

void evaluations_release(stored_evaluations *list)
{
    for (size_t i = 0; i < list->count; i++) release_row(&list->rows[i]);
    memory_free(list->rows);
    *list = (stored_evaluations){0};
}

static ee_status take_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    stored_evaluations *into = context;
    ee_status status = memory_grow(NULL, &into->rows, &into->capacity, into->count + 1, sizeof *into->rows, error);
    return status ? status : parse_line(line, length, number, &into->rows[into->count++], error);
}

ee_status evaluations_read(const char *folder, stored_evaluations *out, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_join(folder, evaluations_name, &path, error);
    if (!status && file_is_missing(path))
        status = status_fail(error, EE_NO_FILE, "%s has no evaluations: there is no %s", folder, evaluations_name);
    memory_free(path);
    return status ? status : line_file_each(folder, evaluations_name, take_line, out, error);
}
