/* explain: what the features contribute to a decide request, or to a stored decision. */
#include <inttypes.h>

#include "call.h"
#include "data/values/log_time.h"
#include "handlers.h"
#include "serve/requests/answers.h"
#include "serve/requests/explain_answer.h"

enum { USUAL_FEATURES = 20, MOST_FEATURES = 1000 };

/* The number of features per action: `features` of the query. Only a stored decision may have slots. */
static ee_status read_most(call *self, bool is_stored, uint64_t *most)
{
    static const char *const known[] = {"features", "slot"};
    *most = USUAL_FEATURES;
    ee_status status = call_check_query(self, known, is_stored ? 2 : 1);
    if (!status) status = call_query_number(self, "features", 1, most);
    if (status || *most <= MOST_FEATURES) return status;
    return status_fail(&self->error, EE_BAD_INPUT, "features must be at most %d, got %" PRIu64, MOST_FEATURES, *most);
}

/* Explains the decision that body has, in a room that was entered. *out is valid until the room is left. */
static ee_status explain_body(call *self, served_room *room, const decision_body *body, explained_decision *out,
                              ee_error *error)
{
    ee_arms arms;
    explanation *made;
    ee_status status = decision_arms_make(&self->arms, body, room->round, &arms, error);
    if (!status)
        status =
            served_bandit_explain(self->bandit, room, body->dim ? &arms : NULL, body->seed, EXPLAIN_ALL, &made, error);
    if (status) return status;
    explanation_rank(made);
    *out = (explained_decision){body, body->dim ? NULL : room->round, made};
    return EE_OK;
}

static void add_actions(call *self, const explained_decision *of, uint64_t most)
{
    text *answer = &self->exchange->answer;
    text_add(answer, "\"version\":%" PRIu64 ",\"actions\":", of->explanation->version);
    explain_answer_actions(answer, of, (size_t)most);
    text_add(answer, "}");
}

/* ---- a request as decide takes it ---- */

static ee_status read_request(call *self, const served_room *room, decision_body *body, ee_error *error)
{
    const server_settings *server = &service_config_now(self->owner)->settings;
    decide_limits limits = {room->dim, (size_t)server->actions, (size_t)server->features};
    decide_request *request = &self->request;
    json_token token;
    json_reader reader = decide_request_start(request, self->exchange->body);
    ee_status status = json_next(&reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        status = status_fail(error, EE_BAD_INPUT, "the body must be a JSON object");
    if (!status) status = decide_request_read(request, &reader, &limits, error);
    if (!status) status = json_next(&reader, &token, error);
    if (!status && request->slot_count)
        status = status_fail(
            error, EE_BAD_INPUT,
            "a request with slots can be explained only after the decision: GET .../decisions/{id}/explain?slot=SLOT");
    if (status) return status;
    *body = (decision_body){.seed = event_seed(room->seed, request->id.bytes ? request->id : (json_text){"", 0}),
                            .count = request->count,
                            .names = request->named ? request->names : NULL,
                            .excluded = request->excluded_count ? request->excluded : NULL,
                            .dim = limits.dim,
                            .values = limits.dim ? request->values : NULL};
    if (body->dim) return EE_OK;
    self->context_size = 0;
    status = decide_request_context(request, &self->memory, &self->context, &self->context_size,
                                    &self->context_capacity, error);
    body->context = (json_text){self->context, self->context_size};
    return status;
}

static ee_status explain_request(call *self, served_room *room)
{
    uint64_t most;
    decision_body body;
    explained_decision of;
    ee_status status = read_most(self, false, &most);
    if (!status) status = read_request(self, room, &body, &self->error);
    if (!status) status = explain_body(self, room, &body, &of, &self->error);
    if (!status) {
        text_add(&self->exchange->answer, "{");
        add_actions(self, &of, most);
    }
    served_bandit_leave(self->bandit, room);
    return status ? status : call_answer(self, 200);
}

ee_status api_explain(call *self)
{
    return call_when_awake(self, explain_request);
}

/* ---- a decision that was made: in the worker's thread ---- */

typedef struct explaining {
    call *call;
    uint64_t most;
    bool found;
} explaining;

static void add_decision(call *self, const event *seen, const decision_body *body)
{
    text *answer = &self->exchange->answer;
    char moment[LOG_TIME_SIZE];
    log_time_format((double)seen->time / 1e6, moment);
    text_add(answer, "{\"id\":");
    text_json(answer, slot_round_id(seen->id, NULL));
    if (body->slot_count) {
        text_add(answer, ",\"slot\":");
        text_json(answer, body->slot);
    }
    text_add(answer, ",\"time\":\"%s\",\"action\":", moment);
    if (body->names)
        text_json(answer, body->names[body->action]);
    else
        text_add(answer, "\"%zu\"", body->action);
    text_add(answer, ",\"index\":%zu,\"probability\":", body->action);
    text_double(answer, body->probabilities[body->action]);
    text_add(answer, ",\"decided_by\":%" PRIu64 ",", body->version);
    if (!body->guard.present) return;
    text_add(answer, "\"guardrails\":");
    answer_guardrails(answer, body);
    text_add(answer, ",");
}

static ee_status explain_event(explaining *self, const event *seen, ee_error *error)
{
    call *of = self->call;
    decision_body body;
    explained_decision explained;
    if (seen->kind != EVENT_DECISION) return EE_OK;
    ee_status status = decision_body_read(seen->body, seen->size, &of->stored, &body, error);
    if (status) return status;
    ee_error reason = {EE_OK, ""};
    served_room *room = served_bandit_enter_awake(of->bandit, &reason);
    if (room) {
        reason.status = explain_body(of, room, &body, &explained, &reason);
        if (!reason.status) {
            add_decision(of, seen, &body);
            add_actions(of, &explained, self->most);
            self->found = true;
        }
        served_bandit_leave(of->bandit, room);
    }
    if (reason.status && error) *error = reason;
    return reason.status;
}

/* For a round with slots, the id of the slot named by `slot` of the query. */
static json_text wanted_id(call *self, char *room, size_t capacity)
{
    json_text id = {self->match.parts[1], strlen(self->match.parts[1])};
    const char *slot = http_query(self->exchange, "slot");
    if (!slot) return id;
    json_text slot_id = {slot, strlen(slot)};
    return slot_decision_id_size(id, slot_id) <= capacity ? slot_decision_id(id, slot_id, room) : id;
}

ee_status api_explain_decision(call *self)
{
    explaining e = {.call = self};
    store_reader *reader = NULL;
    const event *seen;
    char room[2 * ROUTE_PART_SIZE];
    uint64_t number = 0;
    ee_status status = read_most(self, true, &e.most);
    if (status) return status;
    if (served_bandit_is_archived(self->bandit)) return call_refuse_archived(self);
    json_text id = wanted_id(self, room, sizeof room);
    uint32_t bandit = served_bandit_number(self->bandit);
    status = store_reader_create(self->owner->store, &reader, &self->error);
    if (!status) status = store_find_id(reader, bandit, id, &number, &self->error);
    if (!status && number) status = store_read_one(reader, bandit, number, &seen, &self->error);
    if (!status && number) status = explain_event(&e, seen, &self->error);
    store_reader_free(reader);
    if (status) return status;
    if (e.found) return call_answer(self, 200);
    return call_refuse(self, 404, "no stored decision has the id '%.128s'", self->match.parts[1]);
}
