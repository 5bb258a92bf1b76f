#include "evaluation_job_file.h"

#include <math.h>
#include <stdio.h>

#include "data/values/json_members.h"
#include "data/values/json_tree.h"
#include "data/values/log_time.h"
#include "serve/live/live_report.h"

const char *const job_state_names[] = {"waiting", "running", "done", "failed"};
enum { STATES = sizeof job_state_names / sizeof *job_state_names };

/* ---- writing ---- */

/* A time as text; null for those that stand for none. */
static void add_time(text *into, const char *key, int64_t time)
{
    bool known = time != INT64_MIN && time != INT64_MAX && time != 0;
    text_member_time(into, key, known ? (double)time / 1e6 : (double)NAN);
}

void job_about_write(const job_about *from, text *into)
{
    const job_request *asked = &from->request;
    text_add(into, "{");
    text_member(into, "id", from->id);
    text_member_count(into, "bandit", from->bandit);
    text_member(into, "name", asked->name);
    text_member(into, "state", job_state_names[from->state]);
    text_member_number(into, "progress", from->progress);
    text_member(into, "trouble", from->trouble);
    add_time(into, "created", from->created);
    add_time(into, "ended", from->ended);
    add_time(into, "from", asked->from);
    add_time(into, "until", asked->until);
    text_member_number(into, "confidence", asked->confidence);
    text_add(into, ",\"estimators\":[");
    for (size_t i = 0; i < asked->estimator_count; i++) {
        text_comma(into);
        text_string(into, asked->estimators[i]);
    }
    text_add(into, "],\"candidates\":[");
    for (size_t i = 0; i < asked->candidate_count; i++) {
        const job_candidate *one = &asked->candidates[i];
        text_add(into, i ? ",{" : "{");
        text_member(into, "name", one->name);
        text_member(into, "policy", one->policy);
        text_member(into, "options", one->options);
        text_member(into, "propensity", one->propensity);
        text_add(into, "}");
    }
    text_add(into, "]}");
}

static void add_mark(text *into, const evaluation_mark *mark, size_t estimators)
{
    text_add(into, "{");
    text_member_count(into, "events", mark->events);
    text_member_number(into, "time", mark->time);
    text_member_number(into, "rounds", mark->sums.rounds);
    text_member_number(into, "weights", mark->sums.w);
    text_member_number(into, "rewards", mark->sums.wr);
    text_member_number(into, "squares", mark->sums.wwrr);
    text_member_number(into, "same", mark->sums.same);
    text_add(into, ",\"values\":[");
    for (size_t i = 0; i < estimators; i++) {
        const double triple[] = {mark->values[i], mark->intervals[i].low, mark->intervals[i].high};
        for (size_t k = 0; k < 3; k++) {
            text_add(into, k ? "," : i ? ",[" : "[");
            text_number(into, triple[k]);
        }
        text_add(into, "]");
    }
    text_add(into, "]}");
}

static void add_result(text *into, const job_request *asked, const char *name, const evaluation_result *one)
{
    size_t by = one->headline_estimator;
    text_add(into, "{");
    text_member(into, "name", name);
    text_member(into, "trouble", one->failure.message);
    text_member(into, "headline", one->headline);
    text_key(into, "headline_estimator");
    text_add(into, by < asked->estimator_count ? "\"%s\"" : "null",
             by < asked->estimator_count ? asked->estimators[by] : "");
    text_member_flag(into, "trusted", one->diagnosis.trusted);
    text_add(into, ",\"sentences\":[");
    for (size_t i = 0; i < one->diagnosis.count; i++) {
        text_comma(into);
        text_string(into, one->diagnosis.sentences[i].text);
    }
    text_add(into, "],\"estimates\":[");
    for (size_t i = 0; i < asked->estimator_count; i++) {
        text_add(into, i ? ",{" : "{");
        text_member(into, "estimator", asked->estimators[i]);
        estimate_write(into, &one->estimates[i]);
        text_add(into, "}");
    }
    text_add(into, "],\"marks\":[");
    for (size_t i = 0; i < one->mark_count; i++) {
        text_comma(into);
        add_mark(into, &one->marks[i], asked->estimator_count);
    }
    text_add(into, "]}");
}

void job_results_write(const evaluation_job *from, text *into)
{
    const job_request *asked = &from->about.request;
    text_add(into, "{");
    text_member_count(into, "events", from->log.events);
    text_member_count(into, "skipped", from->log.skipped);
    text_member_number(into, "first_time", from->log.first_time);
    text_member_number(into, "last_time", from->log.last_time);
    text_member_number(into, "reward", from->log.reward);
    text_member_number(into, "reward_low", from->log.rewards.low);
    text_member_number(into, "reward_high", from->log.rewards.high);
    text_add(into, ",\"results\":[");
    for (size_t i = 0; i < asked->candidate_count; i++) {
        text_comma(into);
        add_result(into, asked, asked->candidates[i].name, &from->results[i]);
    }
    text_add(into, "]}");
}

/* ---- reading: what is missing or of another kind is as if it were empty, or not known ---- */

static void read_string(const json_value *of, const char *key, char *into, size_t size)
{
    const char *string = json_text_of(json_member(of, key));
    snprintf(into, size, "%s", string ? string : "");
}

static double number_of(const json_value *value)
{
    return json_has_kind(value, JSON_KIND_NUMBER) ? value->number : NAN;
}

static double read_number(const json_value *of, const char *key)
{
    return number_of(json_member(of, key));
}

static uint64_t read_count(const json_value *of, const char *key)
{
    uint64_t count = 0;
    return json_whole(json_member(of, key), &count) ? count : 0;
}

static int64_t read_time(const json_value *of, const char *key, int64_t otherwise)
{
    const char *string = json_text_of(json_member(of, key));
    double seconds;
    if (!string || !log_time_parse((json_text){string, strlen(string)}, &seconds)) return otherwise;
    return (int64_t)llround(seconds * 1e6);
}

/* Release the tree, on failure too. */
static ee_status load(const void *bytes, size_t size, json_tree *out, ee_error *error)
{
    ee_status status = json_tree_read(out, bytes, size, error);
    if (status == EE_NO_MEMORY || json_has_kind(out->root, JSON_KIND_OBJECT)) return status;
    return status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged");
}

static void read_request(job_request *into, const json_value *of)
{
    const json_value *estimators = json_member(of, "estimators"), *candidates = json_member(of, "candidates");
    read_string(of, "name", into->name, sizeof into->name);
    into->from = read_time(of, "from", INT64_MIN);
    into->until = read_time(of, "until", INT64_MAX);
    into->confidence = read_number(of, "confidence");
    for (size_t i = 0; i < json_count(estimators) && i < JOB_ESTIMATORS; i++) {
        const char *name = json_text_of(json_element(estimators, i));
        snprintf(into->estimators[into->estimator_count++], sizeof into->estimators[0], "%s", name ? name : "");
    }
    for (size_t i = 0; i < json_count(candidates) && i < JOB_CANDIDATES; i++) {
        const json_value *one = json_element(candidates, i);
        job_candidate *to = &into->candidates[into->candidate_count++];
        read_string(one, "name", to->name, sizeof to->name);
        read_string(one, "policy", to->policy, sizeof to->policy);
        read_string(one, "options", to->options, sizeof to->options);
        read_string(one, "propensity", to->propensity, sizeof to->propensity);
    }
}

ee_status job_about_read(job_about *into, const void *bytes, size_t size, ee_error *error)
{
    json_tree tree;
    char state[16];
    *into = (job_about){.progress = NAN};
    ee_status status = load(bytes, size, &tree, error);
    const json_value *of = tree.root;
    read_string(of, "id", into->id, sizeof into->id);
    read_string(of, "state", state, sizeof state);
    read_string(of, "trouble", into->trouble, sizeof into->trouble);
    into->bandit = (uint32_t)read_count(of, "bandit");
    into->created = read_time(of, "created", 0);
    into->ended = read_time(of, "ended", 0);
    size_t known = 0;
    while (known < STATES && strcmp(job_state_names[known], state) != 0) known++;
    into->state = (job_state)known;
    read_request(&into->request, of);
    json_tree_release(&tree);
    if (status) return status;
    if (known < STATES && into->request.candidate_count && into->request.estimator_count) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged");
}

static void read_mark(evaluation_mark *into, const json_value *of, size_t estimators)
{
    const json_value *values = json_member(of, "values");
    into->events = read_count(of, "events");
    into->time = read_number(of, "time");
    into->sums = (evaluation_sums){read_number(of, "rounds"), read_number(of, "weights"), read_number(of, "rewards"),
                                   read_number(of, "squares"), read_number(of, "same")};
    for (size_t i = 0; i < estimators; i++) {
        const json_value *triple = json_element(values, i);
        into->values[i] = number_of(json_element(triple, 0));
        into->intervals[i] = (interval){number_of(json_element(triple, 1)), number_of(json_element(triple, 2))};
    }
}

static void read_sentences(diagnosis_report *into, const json_value *list)
{
    for (size_t i = 0; i < json_count(list) && into->count < DIAGNOSIS_MOST; i++) {
        const char *string = json_text_of(json_element(list, i));
        snprintf(into->sentences[into->count++].text, DIAGNOSIS_TEXT, "%s", string ? string : "");
    }
}

static bool is_same_text(const json_value *left, const json_value *right)
{
    const char *a = json_text_of(left), *b = json_text_of(right);
    return a && b && strcmp(a, b) == 0;
}

/* Older results do not have it: their headline is by the first estimator. */
static size_t read_headline_estimator(const json_value *of, const json_value *estimates, size_t estimators)
{
    const json_value *value = json_member(of, "headline_estimator");
    size_t place = 0;
    while (value && place < estimators &&
           !is_same_text(value, json_member(json_element(estimates, place), "estimator")))
        place++;
    return place;
}

static ee_status read_result(evaluation_result *into, const json_value *of, size_t estimators, ee_error *error)
{
    const json_value *estimates = json_member(of, "estimates"), *marks = json_member(of, "marks");
    read_string(of, "trouble", into->failure.message, sizeof into->failure.message);
    if (into->failure.message[0]) into->failure.status = EE_BAD_INPUT;
    read_string(of, "headline", into->headline, sizeof into->headline);
    into->headline_estimator = read_headline_estimator(of, estimates, estimators);
    into->diagnosis.trusted = json_has_kind(json_member(of, "trusted"), JSON_KIND_TRUE);
    read_sentences(&into->diagnosis, json_member(of, "sentences"));
    for (size_t i = 0; i < estimators; i++) {
        const json_value *one = json_element(estimates, i);
        into->estimates[i] = (estimate){read_number(one, "value"),
                                        read_number(one, "low"),
                                        read_number(one, "high"),
                                        read_number(one, "gain"),
                                        read_number(one, "gain_low"),
                                        read_number(one, "gain_high"),
                                        NAN};
    }
    ee_status status = memory_create(NULL, &into->marks, json_count(marks), sizeof *into->marks, error);
    if (status) return status;
    into->mark_count = json_count(marks);
    for (size_t i = 0; i < into->mark_count; i++) read_mark(&into->marks[i], json_element(marks, i), estimators);
    return EE_OK;
}

ee_status job_results_read(evaluation_job *into, const void *bytes, size_t size, ee_error *error)
{
    json_tree tree;
    size_t count = into->about.request.candidate_count;
    ee_status status = load(bytes, size, &tree, error);
    const json_value *of = tree.root;
    into->log = (evaluated_log){.events = read_count(of, "events"),
                                .skipped = read_count(of, "skipped"),
                                .first_time = read_number(of, "first_time"),
                                .last_time = read_number(of, "last_time"),
                                .reward = read_number(of, "reward"),
                                .rewards = {read_number(of, "reward_low"), read_number(of, "reward_high")}};
    const json_value *results = json_member(of, "results");
    if (!status && json_count(results) != count)
        status = status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged");
    if (!status) status = memory_create(NULL, &into->results, count, sizeof *into->results, error);
    for (size_t i = 0; i < count && !status; i++)
        status = read_result(&into->results[i], json_element(results, i), into->about.request.estimator_count, error);
    json_tree_release(&tree);
    return status;
}

void evaluation_job_release(evaluation_job *self)
{
    if (self->results) evaluation_release(self->results, self->about.request.candidate_count);
    memory_free(self->results);
    self->results = NULL;
}
