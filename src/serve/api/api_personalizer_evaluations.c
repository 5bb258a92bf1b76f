/* Personalizer's evaluations, on the server's evaluation jobs. They run in the worker's thread, because they are files.
 */
#include <stdio.h>
#include <stdlib.h>

#include "audit.h"
#include "call.h"
#include "handlers.h"
#include "personalizer_changes.h"
#include "serve/personalizer/personalizer_evaluations.h"
#include "serve/personalizer/personalizer_settings.h"

static bool is_newest(const call *self)
{
    return self->base.generation == PERSONALIZER_2022;
}

/* For the caller to return. code: what Personalizer calls an error in the request. */
static ee_status fail(call *self, ee_status status, const char *code)
{
    bool missing = status == EE_NO_FILE, invalid = status == EE_BAD_INPUT || status == EE_BAD_OPTION;
    if (missing) code = "EvaluationNotFound";
    if ((missing || invalid) && self->base.generation != PERSONALIZER_1_0) self->error_code = code;
    return missing ? call_refuse(self, 404, "there is no evaluation with this id") : status;
}

/* ---- creating ---- */

/* Whether the two ask for the same. */
static bool is_same(const job_request *a, const job_request *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->from == b->from && a->until == b->until &&
                a->candidate_count == b->candidate_count;
    for (size_t i = 0; i < a->candidate_count && same; i++) {
        const job_candidate *x = &a->candidates[i], *y = &b->candidates[i];
        same = strcmp(x->name, y->name) == 0 && strcmp(x->policy, y->policy) == 0 &&
               strcmp(x->options, y->options) == 0 && strcmp(x->propensity, y->propensity) == 0;
    }
    return same;
}

/* One of this id that asks for the same is there already: a client that got no answer asks again. */
static ee_status create_once(call *self, char id[JOB_ID_SIZE], const char **code, ee_error *error)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    job_request *request;
    evaluation_job there;
    ee_status status = memory_create(&self->exchange->memory, &request, 1, sizeof *request, error);
    if (!status) status = evaluation_contract_read(self->exchange->body, &settings, request, code, error);
    if (status) return status;
    if (!id[0]) {
        status = evaluation_jobs_create(self->owner->jobs, self->bandit, request, id, error);
        if (!status) audit_evaluation(self, "evaluation started", id);
        return status;
    }
    status = evaluation_jobs_read(self->owner->jobs, served_bandit_number(self->bandit), id, &there, error);
    bool same = !status && is_same(request, &there.about.request);
    evaluation_job_release(&there);
    if (same) return EE_OK;
    if (status && status != EE_NO_FILE) return status;
    status = evaluation_jobs_create_as(self->owner->jobs, self->bandit, request, id, error);
    if (!status) audit_evaluation(self, "evaluation started", id);
    return status;
}

/* The resource, as it is now; called: as the client calls it, or NULL. */
static ee_status answer_one(call *self, const char *digits, const evaluation_view *view, int code)
{
    evaluation_job job;
    ee_status status =
        evaluation_jobs_read(self->owner->jobs, served_bandit_number(self->bandit), digits, &job, &self->error);
    if (!status) evaluation_write(&job.about, &job, view, &self->exchange->answer);
    evaluation_job_release(&job);
    return status ? fail(self, status, NULL) : call_answer(self, code);
}

static evaluation_view whole_view(const call *self, const char *called)
{
    return (evaluation_view){.newest = is_newest(self), .from = -1e12, .until = 1e12, .called = called};
}

ee_status personalizer_post_evaluation(call *self)
{
    char id[JOB_ID_SIZE] = "", uuid[UUID_SIZE], location[PERSONALIZER_PATH_SIZE];
    const char *code = NULL;
    ee_status status = create_once(self, id, &code, &self->error);
    if (status) return fail(self, status, code);
    evaluation_view view = whole_view(self, NULL);
    evaluation_id_write(id, uuid);
    snprintf(location, sizeof location, "%.*s/%s", (int)self->exchange->path.length, self->exchange->path.bytes, uuid);
    http_add_header(self->exchange, "Location", location);
    return answer_one(self, id, &view, 201);
}

/* The client says the id. */
ee_status personalizer_put_evaluation(call *self)
{
    char id[JOB_ID_SIZE];
    const char *code = NULL;
    evaluation_id_read(self->match.parts[0], id);
    ee_status status = create_once(self, id, &code, &self->error);
    evaluation_view view = whole_view(self, self->match.parts[0]);
    return status ? fail(self, status, code) : answer_one(self, id, &view, 200);
}

/* ---- reading ---- */

/* The times and intervals of the newest generation. */
static ee_status read_view(call *self, evaluation_view *view)
{
    static const uint64_t intervals[] = {0, 5, 60, 360, 720, 1440};
    uint64_t minutes = 0;
    int64_t from = (int64_t)(view->from * 1e6), until = (int64_t)(view->until * 1e6);
    const char *window = http_query(self->exchange, "window");
    ee_status status = call_query_time(self, "startTime", &from);
    if (!status) status = call_query_time(self, "endTime", &until);
    if (!status) status = call_query_number(self, "intervalInMinutes", 1, &minutes);
    if (status) return status;
    bool known = false;
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) known = known || minutes == intervals[i];
    if (!known) return status_fail(&self->error, EE_BAD_INPUT, "intervalInMinutes must be 5, 60, 360, 720 or 1440");
    view->from = (double)from / 1e6;
    view->until = (double)until / 1e6;
    view->interval = (double)minutes * 60;
    view->rolling = window && strcmp(window, "Rolling") == 0;
    if (!window || view->rolling || strcmp(window, "Expanding") == 0) return EE_OK;
    return status_fail(&self->error, EE_BAD_INPUT, "window must be Expanding or Rolling");
}

ee_status personalizer_get_evaluation(call *self)
{
    char id[JOB_ID_SIZE];
    evaluation_view view = whole_view(self, self->match.parts[0]);
    evaluation_id_read(self->match.parts[0], id);
    ee_status status = is_newest(self) ? read_view(self, &view) : EE_OK;
    return status ? status : answer_one(self, id, &view, 200);
}

static void add_list(call *self, const job_about *jobs, size_t from, size_t to)
{
    text *answer = &self->exchange->answer;
    evaluation_view view = whole_view(self, NULL);
    text_add(answer, is_newest(self) ? "{\"value\":[" : "[");
    for (size_t i = from; i < to; i++) {
        if (i > from) text_add(answer, ",");
        evaluation_write(&jobs[i], NULL, &view, answer);
    }
    text_add(answer, is_newest(self) ? "]}" : "]");
}

ee_status personalizer_list_evaluations(call *self)
{
    uint64_t skip = 0, top = UINT64_MAX;
    job_about *jobs = NULL;
    size_t count = 0;
    ee_status status = call_query_number(self, "skip", 0, &skip);
    if (!status) status = call_query_number(self, "top", 0, &top);
    if (!status)
        status =
            evaluation_jobs_list(self->owner->jobs, served_bandit_number(self->bandit), &jobs, &count, &self->error);
    if (status) return status;
    size_t from = skip < count ? (size_t)skip : count;
    add_list(self, jobs, from, top < count - from ? from + (size_t)top : count);
    memory_free(jobs);
    return call_answer(self, 200);
}

ee_status personalizer_delete_evaluation(call *self)
{
    char id[JOB_ID_SIZE];
    evaluation_id_read(self->match.parts[0], id);
    ee_status status = evaluation_jobs_delete(self->owner->jobs, served_bandit_number(self->bandit), id, &self->error);
    if (status) return fail(self, status, NULL);
    audit_evaluation(self, "evaluation deleted", id);
    return call_answer(self, 204);
}

/* ---- taking over what was evaluated ---- */

static ee_status read_reference(call *self, char id[JOB_ID_SIZE], json_text *policy, ee_error *error)
{
    static const char *const names[] = {"evaluationId", "policyName"};
    json_reader reader = decide_request_start(&self->request, self->exchange->body);
    member_reader at = {.reader = &reader, .names = names, .count = 2, .lenient = true};
    json_text found[2] = {{NULL, 0}, {NULL, 0}};
    char given[ROUTE_PART_SIZE];
    member_begin_body(&at, error);
    while (member_next(&at, error))
        at.status = decide_read_id(&self->request, &reader, &at.token, names[at.which], &found[at.which], error);
    ee_status status = member_end_body(&at, error);
    if (!status && (!found[0].bytes || !found[1].bytes))
        status = status_fail(error, EE_BAD_INPUT, "evaluationId and policyName are required");
    if (status) return status;
    snprintf(given, sizeof given, "%.*s", (int)found[0].length, found[0].bytes);
    evaluation_id_read(given, id);
    *policy = found[1];
    return EE_OK;
}

/* The settings with the policy of that name. */
static ee_status take_policy(const evaluation_job *job, json_text name, bandit_settings *into, const char **code,
                             ee_error *error)
{
    const job_request *request = &job->about.request;
    *code = "LearningSettingsNotFound";
    for (size_t i = 0; i < request->candidate_count; i++) {
        const job_candidate *found = &request->candidates[i];
        if (!json_is(name, found->name)) continue;
        if (strcmp(found->policy, "logged") == 0) return EE_OK; /* that is the bandit */
        *code = "InvalidPolicyConfiguration";
        if (strcmp(found->policy, "first") == 0 || strcmp(found->policy, "uniform") == 0)
            return status_fail(error, EE_BAD_INPUT, "'%s' does not learn; it is for comparison and cannot be applied",
                               found->name);
        text arguments = text_start(error);
        evaluation_arguments(found, &arguments);
        ee_status status = arguments.status;
        if (!status) status = policy_contract_apply(into, name, (json_text){arguments.bytes, arguments.length}, error);
        memory_free(arguments.bytes);
        return status;
    }
    return status_fail(error, EE_NO_FILE, "the evaluation has no policy of this name");
}

static ee_status apply(call *self, const char **code, bool *answered, ee_error *error)
{
    char id[JOB_ID_SIZE];
    json_text name = {NULL, 0};
    evaluation_job job;
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    *code = "BadRequest";
    ee_status status = read_reference(self, id, &name, error);
    if (status) return status;
    status = evaluation_jobs_read(self->owner->jobs, served_bandit_number(self->bandit), id, &job, error);
    *code = "EvaluationNotFound";
    if (!status) status = take_policy(&job, name, &settings, code, error);
    evaluation_job_release(&job);
    if (!status)
        status = personalizer_change(self, &before, &settings, "\"why\":\"a policy of an evaluation was applied\"",
                                     answered, error);
    return status;
}

ee_status personalizer_apply_evaluation(call *self)
{
    const char *code;
    bool answered = false;
    ee_status status = apply(self, &code, &answered, &self->error);
    if (status && call_status_of(self, status) < 500 && self->base.generation != PERSONALIZER_1_0)
        self->error_code = code;
    return status || answered ? status : call_answer(self, 204);
}
