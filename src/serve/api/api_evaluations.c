/* Evaluations of a part of the log: create, list, read and delete. All wait for the disk. */
#include <math.h>
#include <stdio.h>

#include "audit.h"
#include "call.h"
#include "data/values/log_time.h"
#include "handlers.h"
#include "serve/jobs/evaluation_job_file.h"
#include "serve/requests/request_members.h"

/* ---- reading the request ---- */

static ee_status take_string(const json_token *token, const char *what, char *into, size_t size, ee_error *error)
{
    if (token->kind != JSON_KIND_TEXT) return status_fail(error, EE_BAD_INPUT, "%s must be a string", what);
    if (token->text.length >= size || memchr(token->text.bytes, '\0', token->text.length))
        return status_fail(error, EE_BAD_INPUT, "%s has %zu bytes; the maximum is %zu", what, token->text.length,
                           size - 1);
    memcpy(into, token->text.bytes, token->text.length);
    into[token->text.length] = '\0';
    return EE_OK;
}

static ee_status take_time(const json_token *token, const char *what, int64_t *into, ee_error *error)
{
    double seconds;
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (token->kind != JSON_KIND_TEXT || !log_time_parse(token->text, &seconds))
        return status_fail(error, EE_BAD_INPUT, "%s must be a time such as \"2026-11-16T10:00:00Z\"", what);
    *into = (int64_t)llround(seconds * 1e6);
    return EE_OK;
}

/* Behind the { of a candidate. */
static ee_status take_candidate(json_reader *reader, job_candidate *into, ee_error *error)
{
    static const char *const names[] = {"name", "policy", "options", "propensity"};
    const struct {
        char *into;
        size_t size;
    } places[] = {{into->name, sizeof into->name},
                  {into->policy, sizeof into->policy},
                  {into->options, sizeof into->options},
                  {into->propensity, sizeof into->propensity}};
    member_reader at = {.reader = reader, .names = names, .count = 4, .where = "candidates"};
    while (member_next(&at, error))
        at.status = take_string(&at.token, names[at.which], places[at.which].into, places[at.which].size, error);
    if (at.status) return at.status;
    if (!into->policy[0]) return status_fail(error, EE_BAD_INPUT, "candidates: each needs a \"policy\"");
    if (!into->name[0]) memcpy(into->name, into->policy, sizeof into->policy);
    return EE_OK;
}

static ee_status take_candidates(json_reader *reader, const json_token *first, job_request *into, ee_error *error)
{
    json_token token;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "candidates must be an array");
    for (into->candidate_count = 0;; into->candidate_count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        if (token.kind != JSON_KIND_OBJECT)
            return status_fail(error, EE_BAD_INPUT, "candidates must be objects such as {\"policy\": \"linucb\"}");
        if (into->candidate_count == JOB_CANDIDATES)
            return status_fail(error, EE_BAD_INPUT, "candidates: expected at most %d", JOB_CANDIDATES);
        into->candidates[into->candidate_count] = (job_candidate){0};
        status = take_candidate(reader, &into->candidates[into->candidate_count], error);
        if (status) return status;
    }
}

static ee_status take_estimators(json_reader *reader, const json_token *first, job_request *into, ee_error *error)
{
    json_token token;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "estimators must be an array");
    for (into->estimator_count = 0;; into->estimator_count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        if (into->estimator_count == JOB_ESTIMATORS)
            return status_fail(error, EE_BAD_INPUT, "estimators: expected at most %d", JOB_ESTIMATORS);
        status = take_string(&token, "estimators", into->estimators[into->estimator_count], sizeof into->estimators[0],
                             error);
        if (status) return status;
    }
}

static ee_status take_request(json_reader *reader, job_request *into, ee_error *error)
{
    enum { NAME, FROM, UNTIL, CANDIDATES, ESTIMATORS, CONFIDENCE };
    static const char *const names[] = {"name", "from", "until", "candidates", "estimators", "confidence"};
    member_reader at = {.reader = reader, .names = names, .count = 6};
    const json_token *token = &at.token;
    member_begin_body(&at, error);
    while (member_next(&at, error)) {
        if (at.which == NAME) at.status = take_string(token, "name", into->name, sizeof into->name, error);
        if (at.which == FROM) at.status = take_time(token, "from", &into->from, error);
        if (at.which == UNTIL) at.status = take_time(token, "until", &into->until, error);
        if (at.which == CANDIDATES) at.status = take_candidates(reader, token, into, error);
        if (at.which == ESTIMATORS) at.status = take_estimators(reader, token, into, error);
        if (at.which == CONFIDENCE && token->kind != JSON_KIND_NUMBER)
            at.status = status_fail(error, EE_BAD_INPUT, "confidence must be a number");
        if (at.which == CONFIDENCE) into->confidence = token->number;
    }
    return member_end_body(&at, error);
}

/* ---- answers ---- */

/* What is asked, and what came of it: two objects become one. */
static void add_job(text *into, const evaluation_job *job)
{
    text results = text_start(NULL);
    job_about_write(&job->about, into);
    if (!job->results) return;
    job_results_write(job, &results);
    if (results.status && !into->status) into->status = results.status;
    if (!into->status) {
        into->length--; /* its brace */
        text_add(into, ",");
        text_bytes(into, results.bytes + 1, results.length - 1);
    }
    memory_free(results.bytes);
}

static ee_status answer_job(call *self, const char *id, int code)
{
    evaluation_job *job = NULL;
    ee_status status = memory_create(NULL, &job, 1, sizeof *job, &self->error);
    if (!status)
        status = evaluation_jobs_read(self->owner->jobs, served_bandit_number(self->bandit), id, job, &self->error);
    if (!status) add_job(&self->exchange->answer, job);
    if (job) evaluation_job_release(job);
    memory_free(job);
    return status ? status : call_answer(self, code);
}

ee_status api_ask_evaluation(call *self)
{
    job_request *request = NULL;
    char id[JOB_ID_SIZE];
    json_reader reader = decide_request_start(&self->request, self->exchange->body);
    ee_status status = memory_create(NULL, &request, 1, sizeof *request, &self->error);
    if (!status) {
        job_request_usual(request);
        status = take_request(&reader, request, &self->error);
    }
    if (!status) status = evaluation_jobs_create(self->owner->jobs, self->bandit, request, id, &self->error);
    memory_free(request);
    if (status) return status;
    audit_evaluation(self, "evaluation started", id);
    return answer_job(self, id, 201);
}

ee_status api_read_evaluation(call *self)
{
    return answer_job(self, self->match.parts[1], 200);
}

ee_status api_list_evaluations(call *self)
{
    job_about *jobs;
    size_t count;
    ee_status status =
        evaluation_jobs_list(self->owner->jobs, served_bandit_number(self->bandit), &jobs, &count, &self->error);
    text_add(&self->exchange->answer, "{\"evaluations\":[");
    for (size_t i = 0; i < count && !status; i++) {
        if (i) text_add(&self->exchange->answer, ",\n");
        job_about_write(&jobs[i], &self->exchange->answer);
    }
    text_add(&self->exchange->answer, "]}");
    memory_free(jobs);
    return status ? status : call_answer(self, 200);
}

ee_status api_delete_evaluation(call *self)
{
    ee_status status = evaluation_jobs_delete(self->owner->jobs, served_bandit_number(self->bandit),
                                              self->match.parts[1], &self->error);
    if (status) return status;
    audit_evaluation(self, "evaluation deleted", self->match.parts[1]);
    text_add(&self->exchange->answer, "{\"deleted\":");
    text_json(&self->exchange->answer, (json_text){self->match.parts[1], strlen(self->match.parts[1])});
    text_add(&self->exchange->answer, "}");
    return call_answer(self, 200);
}
