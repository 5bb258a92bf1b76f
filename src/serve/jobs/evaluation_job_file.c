#include "evaluation_job_file.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "data/logs/log_time.h"

const char *const job_state_names[] = {"waiting", "running", "done", "failed"};
enum { STATES = sizeof job_state_names / sizeof *job_state_names };

/* ---- writing ---- */

static void add_words(text *into, const char *key, const char *words)
{
    text_add(into, "\"%s\":", key);
    text_json(into, (json_text){words, strlen(words)});
}

static void add_named(text *into, const char *key, double number)
{
    text_add(into, ",\"%s\":", key);
    text_number(into, number);
}

/* A time as text; null for those that stand for none. */
static void add_time(text *into, const char *key, int64_t time)
{
    char words[LOG_TIME_SIZE];
    bool known = time != INT64_MIN && time != INT64_MAX && time != 0;
    if (known) log_time_format((double)time / 1e6, words);
    text_add(into, known ? ",\"%s\":\"%s\"" : ",\"%s\":null", key, known ? words : "");
}

static void add_candidate(text *into, const job_candidate *one)
{
    text_add(into, "{");
    add_words(into, "name", one->name);
    text_add(into, ",");
    add_words(into, "policy", one->policy);
    text_add(into, ",");
    add_words(into, "options", one->options);
    text_add(into, ",");
    add_words(into, "propensity", one->propensity);
    text_add(into, "}");
}

void job_about_write(const job_about *from, text *into)
{
    const job_request *asked = &from->request;
    text_add(into, "{");
    add_words(into, "id", from->id);
    text_add(into, ",\"bandit\":%u,", from->bandit);
    add_words(into, "name", asked->name);
    text_add(into, ",\"state\":\"%s\"", job_state_names[from->state]);
    add_named(into, "progress", from->progress);
    text_add(into, ",");
    add_words(into, "trouble", from->trouble);
    add_time(into, "created", from->created);
    add_time(into, "ended", from->ended);
    add_time(into, "from", asked->from);
    add_time(into, "until", asked->until);
    add_named(into, "confidence", asked->confidence);
    text_add(into, ",\"estimators\":[");
    for (size_t i = 0; i < asked->estimator_count; i++) text_add(into, i ? ",\"%s\"" : "\"%s\"", asked->estimators[i]);
    text_add(into, "],\"candidates\":[");
    for (size_t i = 0; i < asked->candidate_count; i++) {
        if (i) text_add(into, ",");
        add_candidate(into, &asked->candidates[i]);
    }
    text_add(into, "]}");
}

static void add_estimate(text *into, const char *name, const job_estimate *one)
{
    text_add(into, "{");
    add_words(into, "estimator", name);
    add_named(into, "value", one->value);
    add_named(into, "low", one->low);
    add_named(into, "high", one->high);
    add_named(into, "gain", one->gain);
    add_named(into, "gain_low", one->gain_low);
    add_named(into, "gain_high", one->gain_high);
    text_add(into, "}");
}

static void add_mark(text *into, const job_mark *mark, size_t estimators)
{
    text_add(into, "{\"events\":");
    text_number(into, mark->events);
    add_named(into, "time", mark->time);
    add_named(into, "rounds", mark->sums.rounds);
    add_named(into, "weights", mark->sums.weights);
    add_named(into, "rewards", mark->sums.rewards);
    add_named(into, "squares", mark->sums.squares);
    add_named(into, "same", mark->sums.same);
    text_add(into, ",\"values\":[");
    for (size_t i = 0; i < estimators; i++) {
        const double triple[] = {mark->values[i], mark->lows[i], mark->highs[i]};
        for (size_t k = 0; k < 3; k++) {
            text_add(into, k ? "," : i ? ",[" : "[");
            text_number(into, triple[k]);
        }
        text_add(into, "]");
    }
    text_add(into, "]}");
}

static void add_sentences(text *into, const char *sentences)
{
    text_add(into, ",\"sentences\":[");
    for (const char *at = sentences, *end; at && (end = strchr(at, '\n')); at = end + 1) {
        if (at != sentences) text_add(into, ",");
        text_json(into, (json_text){at, (size_t)(end - at)});
    }
    text_add(into, "]");
}

static void add_result(text *into, const job_request *asked, const char *name, const job_result *one)
{
    text_add(into, "{");
    add_words(into, "name", name);
    text_add(into, ",");
    add_words(into, "trouble", one->trouble);
    text_add(into, ",");
    add_words(into, "headline", one->headline);
    if (one->headline_estimator < asked->estimator_count)
        text_add(into, ",\"headline_estimator\":\"%s\"", asked->estimators[one->headline_estimator]);
    else
        text_add(into, ",\"headline_estimator\":null");
    text_add(into, ",\"trusted\":%s", one->trusted ? "true" : "false");
    add_sentences(into, one->sentences);
    text_add(into, ",\"estimates\":[");
    for (size_t i = 0; i < asked->estimator_count; i++) {
        if (i) text_add(into, ",");
        add_estimate(into, asked->estimators[i], &one->estimates[i]);
    }
    text_add(into, "],\"marks\":[");
    for (size_t i = 0; i < one->mark_count; i++) {
        if (i) text_add(into, ",");
        add_mark(into, &one->marks[i], asked->estimator_count);
    }
    text_add(into, "]}");
}

void job_results_write(const evaluation_job *from, text *into)
{
    const job_request *asked = &from->about.request;
    text_add(into, "{\"events\":");
    text_number(into, from->events);
    add_named(into, "skipped", from->skipped);
    add_named(into, "first_time", from->first_time);
    add_named(into, "last_time", from->last_time);
    add_named(into, "reward", from->reward);
    add_named(into, "reward_low", from->reward_low);
    add_named(into, "reward_high", from->reward_high);
    text_add(into, ",\"results\":[");
    for (size_t i = 0; i < asked->candidate_count; i++) {
        if (i) text_add(into, ",");
        add_result(into, asked, asked->candidates[i].name, &from->results[i]);
    }
    text_add(into, "]}");
}

/* ---- reading: what is missing or of another kind is as if it were empty, or not known ---- */

static void read_words(const json_t *of, const char *key, char *into, size_t size)
{
    const char *words = json_string_value(json_object_get(of, key));
    snprintf(into, size, "%s", words ? words : "");
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double read_number(const json_t *of, const char *key)
{
    return number_of(json_object_get(of, key));
}

static int64_t read_time(const json_t *of, const char *key, int64_t otherwise)
{
    const char *words = json_string_value(json_object_get(of, key));
    double seconds;
    if (!words || !log_time_parse((json_text){words, strlen(words)}, &seconds)) return otherwise;
    return (int64_t)llround(seconds * 1e6);
}

static ee_status load(const void *bytes, size_t size, json_t **out, ee_error *error)
{
    json_error_t problem;
    *out = json_loadb(bytes, size, 0, &problem);
    if (json_is_object(*out)) return EE_OK;
    json_decref(*out);
    return status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged");
}

static void read_request(job_request *into, const json_t *of)
{
    const json_t *estimators = json_object_get(of, "estimators"), *candidates = json_object_get(of, "candidates");
    read_words(of, "name", into->name, sizeof into->name);
    into->from = read_time(of, "from", INT64_MIN);
    into->until = read_time(of, "until", INT64_MAX);
    into->confidence = read_number(of, "confidence");
    for (size_t i = 0; i < json_array_size(estimators) && i < JOB_ESTIMATORS; i++) {
        const char *name = json_string_value(json_array_get(estimators, i));
        snprintf(into->estimators[into->estimator_count++], sizeof into->estimators[0], "%s", name ? name : "");
    }
    for (size_t i = 0; i < json_array_size(candidates) && i < JOB_CANDIDATES; i++) {
        const json_t *one = json_array_get(candidates, i);
        job_candidate *to = &into->candidates[into->candidate_count++];
        read_words(one, "name", to->name, sizeof to->name);
        read_words(one, "policy", to->policy, sizeof to->policy);
        read_words(one, "options", to->options, sizeof to->options);
        read_words(one, "propensity", to->propensity, sizeof to->propensity);
    }
}

ee_status job_about_read(job_about *into, const void *bytes, size_t size, ee_error *error)
{
    json_t *of;
    char state[16];
    *into = (job_about){.progress = NAN};
    ee_status status = load(bytes, size, &of, error);
    if (status) return status;
    read_words(of, "id", into->id, sizeof into->id);
    read_words(of, "state", state, sizeof state);
    read_words(of, "trouble", into->trouble, sizeof into->trouble);
    into->bandit = (uint32_t)json_integer_value(json_object_get(of, "bandit"));
    into->created = read_time(of, "created", 0);
    into->ended = read_time(of, "ended", 0);
    size_t known = 0;
    while (known < STATES && strcmp(job_state_names[known], state) != 0) known++;
    into->state = (job_state)known;
    read_request(&into->request, of);
    json_decref(of);
    if (known < STATES && into->request.candidate_count && into->request.estimator_count) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged");
}

static void read_mark(job_mark *into, const json_t *of, size_t estimators)
{
    const json_t *values = json_object_get(of, "values");
    into->events = read_number(of, "events");
    into->time = read_number(of, "time");
    into->sums = (job_sums){read_number(of, "rounds"), read_number(of, "weights"), read_number(of, "rewards"),
                            read_number(of, "squares"), read_number(of, "same")};
    for (size_t i = 0; i < estimators; i++) {
        const json_t *triple = json_array_get(values, i);
        into->values[i] = number_of(json_array_get(triple, 0));
        into->lows[i] = number_of(json_array_get(triple, 1));
        into->highs[i] = number_of(json_array_get(triple, 2));
    }
}

static ee_status read_sentences(job_result *into, const json_t *list, ee_error *error)
{
    text all = text_start(error);
    text_add(&all, "%s", "");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *words = json_string_value(json_array_get(list, i));
        text_add(&all, "%s\n", words ? words : "");
    }
    into->sentences = all.bytes;
    return all.status;
}

/* Older results do not have it: their headline is by the first estimator. */
static size_t read_headline_estimator(const json_t *of, const json_t *estimates, size_t estimators)
{
    const json_t *value = json_object_get(of, "headline_estimator");
    size_t place = 0;
    while (value && place < estimators &&
           !json_equal(value, json_object_get(json_array_get(estimates, place), "estimator")))
        place++;
    return place;
}

static ee_status read_result(job_result *into, const json_t *of, size_t estimators, ee_error *error)
{
    const json_t *estimates = json_object_get(of, "estimates"), *marks = json_object_get(of, "marks");
    read_words(of, "trouble", into->trouble, sizeof into->trouble);
    read_words(of, "headline", into->headline, sizeof into->headline);
    into->headline_estimator = read_headline_estimator(of, estimates, estimators);
    into->trusted = json_is_true(json_object_get(of, "trusted"));
    for (size_t i = 0; i < estimators; i++) {
        const json_t *one = json_array_get(estimates, i);
        into->estimates[i] =
            (job_estimate){read_number(one, "value"), read_number(one, "low"),      read_number(one, "high"),
                           read_number(one, "gain"),  read_number(one, "gain_low"), read_number(one, "gain_high")};
    }
    ee_status status = read_sentences(into, json_object_get(of, "sentences"), error);
    if (!status) status = memory_create(NULL, &into->marks, json_array_size(marks), sizeof *into->marks, error);
    if (status) return status;
    into->mark_count = json_array_size(marks);
    for (size_t i = 0; i < into->mark_count; i++) read_mark(&into->marks[i], json_array_get(marks, i), estimators);
    return EE_OK;
}

ee_status job_results_read(evaluation_job *into, const void *bytes, size_t size, ee_error *error)
{
    json_t *of;
    size_t count = into->about.request.candidate_count;
    ee_status status = load(bytes, size, &of, error);
    if (status) return status;
    into->events = read_number(of, "events");
    into->skipped = read_number(of, "skipped");
    into->first_time = read_number(of, "first_time");
    into->last_time = read_number(of, "last_time");
    into->reward = read_number(of, "reward");
    into->reward_low = read_number(of, "reward_low");
    into->reward_high = read_number(of, "reward_high");
    const json_t *results = json_object_get(of, "results");
    if (json_array_size(results) != count) status = status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged");
    if (!status) status = memory_create(NULL, &into->results, count, sizeof *into->results, error);
    for (size_t i = 0; i < count && !status; i++)
        status = read_result(&into->results[i], json_array_get(results, i), into->about.request.estimator_count, error);
    json_decref(of);
    return status;
}

void evaluation_job_release(evaluation_job *self)
{
    for (size_t i = 0; self->results && i < self->about.request.candidate_count; i++) {
        memory_free(self->results[i].sentences);
        memory_free(self->results[i].marks);
    }
    memory_free(self->results);
    self->results = NULL;
}
