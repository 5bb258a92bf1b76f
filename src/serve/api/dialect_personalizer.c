/* The dialect of Personalizer: rank for decide, 201 and 204 for 200, its names of errors. */
#include <stdio.h>

#include "call_items.h"
#include "serve/requests/request_members.h"

/* ---- decisions ---- */

static ee_status read_decision(call *self, json_reader *reader, const decide_limits *limits, ee_error *error)
{
    return rank_request_read(&self->request, reader, limits, self->match.route->traits & ROUTE_SLOTS, error);
}

static void write_slot(text *into, const decide_slot *slot)
{
    if (!slot->features.bytes) return;
    text_add(into, "{\"sj\":");
    text_bytes(into, slot->features.bytes, slot->features.length);
    text_add(into, "}");
}

/* Probabilities are floats there. */
static void answer_rank(text *into, json_text id, const decision_body *body)
{
    if (body->slot_count) {
        text_add(into, "{\"id\":");
        text_json(into, body->slot);
        text_add(into, ",\"rewardActionId\":");
        text_json(into, body->names[body->action]);
        text_add(into, "}");
        return;
    }
    text_add(into, "{\"ranking\":[");
    for (size_t i = 0; i < body->count; i++) {
        text_add(into, i ? ",{\"id\":" : "{\"id\":");
        text_json(into, body->names[i]);
        text_add(into, ",\"probability\":");
        text_float(into, (float)body->probabilities[i]);
        text_add(into, "}");
    }
    text_add(into, "],\"eventId\":");
    text_json(into, id);
    text_add(into, ",\"rewardActionId\":");
    text_json(into, body->names[body->action]);
    text_add(into, "}");
}

static void begin_round(text *into, json_text id)
{
    text_add(into, "{\"eventId\":");
    text_json(into, id);
    text_add(into, ",\"slots\":[");
}

static void end_round(text *into, uint64_t version)
{
    (void)version;
    text_add(into, "]}");
}

/* ---- rewards ---- */

/* A client that got no answer sends its request again, with the same id of the request: the reward is known by it and
 * its value, and counts once. */
static ee_status name_reward(call *self, json_text *out, double value, ee_error *error)
{
    enum { SIZE = REQUEST_NAME_MOST + 32 };
    char *name;
    if (!self->client_request[0]) return EE_OK;
    ee_status status = memory_create(&self->exchange->memory, &name, SIZE, 1, error);
    if (status) return status;
    *out = (json_text){name, (size_t)snprintf(name, SIZE, "%s %.17g", self->client_request, value)};
    return EE_OK;
}

typedef struct slot_rewards {
    call *call;
    json_text id;
    size_t count;
} slot_rewards;

static ee_status take_slot(void *context, json_text slot, double value, ee_error *error)
{
    slot_rewards *to = context;
    call *self = to->call;
    call_item *item = &self->items[self->first_item];
    ee_status status = to->count++ ? call_add_part(self, &item, error) : EE_OK;
    if (status) return status;
    item->entry.event = (event){.kind = EVENT_REWARD, .value = value};
    status = name_reward(self, &item->entry.event.reward_id, value, error);
    return status ? status : call_name_slot(self, item, to->id, slot, error);
}

static ee_status read_reward(call *self, call_item *item, json_reader *reader, ee_error *error)
{
    json_text id;
    double value = 0;
    ee_status status = personalizer_event_id(self, &id, error);
    if (status) return status;
    slot_rewards to = {.call = self, .id = id};
    if (self->match.route->traits & ROUTE_SLOTS)
        return rank_slot_rewards_read(reader, &self->request.texts, take_slot, &to, error);
    status = rank_reward_read(reader, &value, error);
    item->entry.event = (event){.kind = EVENT_REWARD, .id = id, .value = value};
    return status ? status : name_reward(self, &item->entry.event.reward_id, value, error);
}

static void answer_reward_with_nothing(text *into, event_outcome outcome, bool repeated)
{
    (void)into, (void)outcome, (void)repeated;
}

static void answer_activation_with_nothing(text *into, event_outcome outcome)
{
    (void)into, (void)outcome;
}

static void answer_spooled_with_nothing(text *into)
{
    (void)into;
}

static void answer_event_with_nothing(text *into, uint64_t number)
{
    (void)into, (void)number;
}

const dialect dialect_personalizer = {.read_decision = read_decision,
                                      .read_reward = read_reward,
                                      .write_context = rank_request_context,
                                      .write_slot = write_slot,
                                      .answer_decision = answer_rank,
                                      .begin_round = begin_round,
                                      .end_round = end_round,
                                      .answer_reward = answer_reward_with_nothing,
                                      .answer_activation = answer_activation_with_nothing,
                                      .answer_spooled = answer_spooled_with_nothing,
                                      .answer_event = answer_event_with_nothing,
                                      .decided = 201,
                                      .noted = 204};

ee_status personalizer_event_id(const call *self, json_text *out, ee_error *error)
{
    const char *part = self->match.parts[0];
    const json_token token = {.kind = JSON_KIND_TEXT, .text = {part, strlen(part)}};
    *out = token.text;
    return request_check_id(&token, "the eventId in the path", error);
}

/* ---- errors ---- */

static const char *code_of(const call *self, int status)
{
    bool is_old = self->base.generation == PERSONALIZER_1_0;
    if (status == 401 || status == 429) return status == 401 ? "401" : "429"; /* the gateway's, before the service */
    if (status >= 500) return "InternalServerError";
    if (status == 404 || status == 410) return "ResourceNotFound";
    if (is_old) return "BadRequest";
    if (status == 413) return "PayloadSizeExceeded";
    if (status == 403) return "OperationNotAllowed";
    if (status == 405) return "BadRequest";
    return self->match.route && self->match.route->error ? self->match.route->error : "BadRequest";
}

const char *personalizer_name_error(http_exchange *exchange, int status, const char *code)
{
    const call *self = exchange->context;
    if (!self) return code;
    const char *name = self->error_code ? self->error_code : code_of(self, status);
    if (self->base.generation == PERSONALIZER_2022) http_add_header(exchange, "x-ms-error-code", name);
    return name;
}
