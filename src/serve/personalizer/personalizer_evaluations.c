/* Reads Personalizer's evaluation requests. */
#include "personalizer_evaluations.h"

#include <math.h>
#include <stdio.h>

#include "personalizer.h"
#include "personalizer_settings.h"

/* ---- candidates ---- */

static bool is_taken(const job_request *request, json_text name)
{
    for (size_t i = 0; i < request->candidate_count; i++)
        if (json_is(name, request->candidates[i].name)) return true;
    return false;
}

/* The policy that a bandit has with these settings. */
static ee_status add_candidate(job_request *request, json_text name, const bandit_settings *as, ee_error *error)
{
    job_candidate *made = &request->candidates[request->candidate_count];
    if (request->candidate_count == JOB_CANDIDATES)
        return status_fail(error, EE_BAD_INPUT, "policies: more than %d, counting those that are always evaluated",
                           JOB_CANDIDATES);
    if (!name.length || name.length >= sizeof made->name || strlen(as->options) >= sizeof made->options)
        return status_fail(error, EE_BAD_INPUT, "policies: a name must have 1 to %zu bytes, and options fewer than %zu",
                           sizeof made->name - 1, sizeof made->options);
    *made = (job_candidate){.name = ""};
    memcpy(made->name, name.bytes, name.length);
    memcpy(made->policy, as->policy, strlen(as->policy));
    memcpy(made->options, as->options, strlen(as->options));
    /* A policy that samples its scores has no rule. */
    if (strcmp(as->propensity, "own") != 0) memcpy(made->propensity, as->propensity, strlen(as->propensity));
    request->candidate_count++;
    return EE_OK;
}

/* Policies that the server adds on request (enableOfflineExperimentation). */
static ee_status add_experiments(job_request *request, const bandit_settings *of, ee_error *error)
{
    static const char *const policies[] = {"eenet", "eenet:fast", "squarecb"};
    ee_status status = EE_OK;
    for (size_t i = 0; i < sizeof policies / sizeof *policies && !status; i++) {
        bandit_settings as = *of;
        char name[64], arguments[96];
        json_text called = {name, (size_t)snprintf(name, sizeof name, EXPERIMENT_PREFIX "%s", policies[i])};
        json_text said = {arguments, (size_t)snprintf(arguments, sizeof arguments, "eenet:%s", policies[i])};
        if (strcmp(policies[i], of->policy) == 0 || is_taken(request, called)) continue;
        status = policy_contract_apply(&as, called, said, error);
        if (!status) status = add_candidate(request, called, &as, error);
    }
    return status;
}

/* ---- the request ---- */

typedef struct contract {
    job_request *into;
    const bandit_settings *of;
    kept_texts texts;
    bool experiments;
    const char **code;
    ee_error *error;
} contract;

/* After the { of a policy. */
static ee_status read_policy(contract *self, json_reader *reader)
{
    static const char *const names[] = {"name", "arguments"};
    json_text found[2] = {{NULL, 0}, {NULL, 0}};
    member_reader at = {.reader = reader, .names = names, .count = 2, .lenient = true};
    while (member_next(&at, self->error)) {
        bool is_text = at.token.kind == JSON_KIND_TEXT;
        if (is_text) found[at.which] = at.token.text;
        at.status = is_text ? kept_texts_keep(&self->texts, reader, &found[at.which], self->error)
                            : json_skip(reader, &at.token, NULL, self->error);
    }
    if (at.status) return at.status;
    if (is_taken(self->into, found[0])) {
        *self->code = "DuplicateCustomPolicyNames";
        return status_fail(self->error, EE_BAD_INPUT, "policies: duplicate name \"%.*s\"", (int)found[0].length,
                           found[0].bytes);
    }
    if (found[0].length >= strlen(EXPERIMENT_PREFIX) &&
        memcmp(found[0].bytes, EXPERIMENT_PREFIX, strlen(EXPERIMENT_PREFIX)) == 0)
        return status_fail(self->error, EE_BAD_INPUT,
                           "policies: names that begin with " EXPERIMENT_PREFIX " are reserved");
    bandit_settings as = *self->of;
    ee_status status = policy_contract_apply(&as, found[0], found[1], self->error);
    return status ? status : add_candidate(self->into, found[0], &as, self->error);
}

static ee_status read_policies(contract *self, json_reader *reader, const json_token *first)
{
    json_token token;
    if (first->kind == JSON_KIND_NULL) return EE_OK;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(self->error, EE_BAD_INPUT, "policies must be an array");
    for (;;) {
        ee_status status = json_next(reader, &token, self->error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        if (token.kind != JSON_KIND_OBJECT)
            return status_fail(self->error, EE_BAD_INPUT, "policies: each must be an object");
        status = read_policy(self, reader);
        if (status) return status;
    }
}

static ee_status read_time(contract *self, const json_token *token, const char *name, int64_t *out)
{
    double seconds;
    if (token->kind != JSON_KIND_TEXT || !log_time_parse(token->text, &seconds))
        return status_fail(self->error, EE_BAD_INPUT, "%s must be a time such as 2026-11-16T10:00:00Z", name);
    *out = llround(seconds * 1e6);
    return EE_OK;
}

static ee_status read_name(contract *self, const json_token *token)
{
    char *name = self->into->name;
    if (token->kind != JSON_KIND_TEXT || !token->text.length || token->text.length >= sizeof self->into->name)
        return status_fail(self->error, EE_BAD_INPUT, "name must be a string of 1 to %zu bytes",
                           sizeof self->into->name - 1);
    snprintf(name, sizeof self->into->name, "%.*s", (int)token->text.length, token->text.bytes);
    return EE_OK;
}

static ee_status read_flag(contract *self, const json_token *token, const char *name)
{
    if (token->kind != JSON_KIND_TRUE && token->kind != JSON_KIND_FALSE && token->kind != JSON_KIND_NULL)
        return status_fail(self->error, EE_BAD_INPUT, "%s must be true or false", name);
    self->experiments = token->kind == JSON_KIND_TRUE;
    return EE_OK;
}

static ee_status read_members(contract *self, json_reader *reader)
{
    enum { NAME, START, END, POLICIES, EXPERIMENT, OPTIMIZATION, MEMBERS };
    static const char *const names[] = {
        "name", "startTime", "endTime", "policies", "enableOfflineExperimentation", "enablePolicyOptimization"};
    member_reader at = {.reader = reader, .names = names, .count = MEMBERS, .lenient = true};
    member_begin_body(&at, self->error);
    while (member_next(&at, self->error)) {
        const char *name = names[at.which];
        if (at.which == NAME) at.status = read_name(self, &at.token);
        if (at.which == START) at.status = read_time(self, &at.token, name, &self->into->from);
        if (at.which == END) at.status = read_time(self, &at.token, name, &self->into->until);
        if (at.which == POLICIES) at.status = read_policies(self, reader, &at.token);
        if (at.which >= EXPERIMENT) at.status = read_flag(self, &at.token, name);
    }
    for (size_t i = NAME; i <= END && !at.status; i++)
        if (!(at.seen & 1u << i)) at.status = status_fail(self->error, EE_BAD_INPUT, "missing %s", names[i]);
    return member_end_body(&at, self->error);
}

ee_status evaluation_contract_read(json_text body, const bandit_settings *of, job_request *out, const char **code,
                                   ee_error *error)
{
    memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader = json_start(body.bytes, body.length, &room);
    contract self = {.into = out, .of = of, .texts = {.owner = &owner}, .code = code, .error = error};
    *code = "InvalidEvaluationContract";
    job_request_usual(out);
    ee_status status = read_members(&self, &reader);
    if (!status && out->from >= out->until)
        status = status_fail(error, EE_BAD_INPUT, "startTime must be before endTime");
    if (!status && self.experiments) status = add_experiments(out, of, error);
    memory_release(&owner);
    return status;
}
