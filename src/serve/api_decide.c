/* Deciding: a request becomes a decision on the published model, an event, and after that is on the disk an answer. */
#include "answers.h"
#include "request_checksum.h"
#include "server_clock.h"
#include "service_inside.h"

/* ---- one decision ---- */

/* What the whole request shares. */
typedef struct deciding {
    decide_limits limits;
    served_room *room;
} deciding;

static ee_status take_id(call *self, call_item *item, ee_error *error)
{
    item->entry.event.id = self->request.id;
    if (self->request.id.bytes) return EE_OK;
    item->entry.own_id = true;
    item->entry.event.id = (json_text){item->id, sizeof item->id};
    return decision_ids_make(&self->owner->ids, server_clock_wall(), item->id, error);
}

/* The body as it is before anything is decided. */
static ee_status describe(call *self, call_item *item, const deciding *by, decision_body *body, ee_error *error)
{
    const decide_request *request = &self->request;
    ee_status status = memory_grow(&self->memory, &self->probabilities, &self->probability_capacity, request->count,
                                   sizeof(double), error);
    *body = (decision_body){.seed = event_seed(by->room->seed, item->entry.event.id),
                            .count = request->count,
                            .names = request->named ? request->names : NULL,
                            .excluded = request->excluded_count ? request->excluded : NULL,
                            .dim = by->limits.dim,
                            .values = by->limits.dim ? request->values : NULL};
    request_checksum(request->bytes, body->request);
    memcpy(item->entry.request, body->request, sizeof body->request);
    if (status || body->dim) return status;
    self->context_size = 0;
    status = decide_request_context(request, &self->memory, &self->context, &self->context_size,
                                    &self->context_capacity, error);
    body->context = (json_text){self->context, self->context_size};
    return status;
}

static ee_status decide(call *self, const deciding *by, decision_body *body, ee_error *error)
{
    served_room *room = by->room;
    ee_arms arms;
    ee_status status = decision_arms_make(&self->arms, body, room->round, &arms, error);
    if (!status) status = served_bandit_decide(self->bandit, room, body->dim ? &arms : NULL, body->seed, error);
    if (status) return status;
    decision_answer(body, room->mode, room->own, room->probabilities, self->probabilities);
    body->version = room->version;
    body->record = room->record;
    body->record_size = room->record_size;
    return EE_OK;
}

static ee_status read_decision(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error)
{
    const deciding *by = context;
    decision_body body;
    ee_status status = decide_request_read(&self->request, reader, &by->limits, error);
    if (!status) status = take_id(self, item, error);
    if (!status) status = describe(self, item, by, &body, error);
    if (!status) status = decide(self, by, &body, error);
    item->body_at = self->bodies_size;
    if (!status)
        status =
            decision_body_write(&body, &self->memory, &self->bodies, &self->bodies_size, &self->bodies_capacity, error);
    if (status) return status;
    item->entry.event.kind = EVENT_DECISION;
    item->body_size = self->bodies_size - item->body_at;
    item->probability = body.probabilities[body.action];
    call_begin_answer(self, item);
    answer_decision(&self->answers, item->entry.event.id, &body);
    call_end_answer(self, item, 0);
    return EE_OK;
}

/* ---- after it was written ---- */

/* The answer that was given before, from what is stored. */
static void answer_again(call *self, call_item *item)
{
    const event *earlier = item->entry.earlier;
    decision_body body;
    ee_error error;
    if (decision_body_read(earlier->body, earlier->size, &self->stored, &body, &error)) {
        call_item_refuse(self, item, 500, error.message);
        return;
    }
    call_begin_answer(self, item);
    answer_decision(&self->answers, item->entry.event.id, &body);
    call_end_answer(self, item, 200);
}

static void count_up(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static void decision_written(journal_entry *entry)
{
    call *self = entry->context;
    call_item *item = (call_item *)((char *)entry - offsetof(call_item, entry));
    bandit_counters *counters = service_counters(self->owner, entry->bandit);
    switch (entry->verdict) {
    case JOURNAL_DONE:
        item->status = 200;
        if (counters) count_up(&counters->decisions, 1);
        if (counters) count_up(&counters->probability, (uint64_t)(item->probability * 1e6));
        break;
    case JOURNAL_REPEATED:
        answer_again(self, item);
        break;
    case JOURNAL_CONFLICT:
        call_item_refuse(self, item, 409, "another request has this id: its bytes were different");
        break;
    case JOURNAL_FAILED:
        call_item_failed(self, item);
        break;
    }
    call_item_done(self);
}

/* ---- the request ---- */

static void start(call *self);

static void woken(void *context, const ee_error *error)
{
    call *self = context;
    if (error && served_bandit_is_archived(self->bandit)) /* since it was let in */
        call_refuse_archived(self);
    else if (error)
        call_refuse_for(self->exchange, 503, 1, "the bandit could not be woken: %s", error->message);
    else
        start(self);
}

/* The bandit is awake, and stays so while it is decided. */
static void decide_all(call *self, served_room *room)
{
    const server_settings *server = &service_config_now(self->owner)->settings;
    served_bandit *bandit = self->bandit;
    deciding by = {{room->dim, (size_t)server->actions, (size_t)server->features}, room};
    bool read = call_read_items(self, read_decision, &by);
    served_bandit_leave(bandit, room); /* the call may be over: it was answered where it could not be read */
    if (read) call_submit(self, decision_written);
}

static void start(call *self)
{
    while (served_bandit_is_awake(self->bandit, woken, self)) {
        ee_error error = {EE_OK, ""};
        served_room *room = served_bandit_enter(self->bandit, &error);
        if (!room && !error.status) continue; /* it fell asleep meanwhile */
        if (room)
            decide_all(self, room);
        else
            call_refuse(self, &error);
        return;
    }
}

void api_decide(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    self->member = NULL;
    start(self);
}

void api_decide_batch(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    self->member = "decisions";
    start(self);
}
