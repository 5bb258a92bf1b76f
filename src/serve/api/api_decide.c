/* decide: a request becomes a decision on the published model, then an event and, once that is durable, a response. */
#include "base/checksum.h"
#include "call_items.h"
#include "data/logs/slot_context.h"
#include "handlers.h"
#include "serve/system/server_clock.h"

/* ---- one decision ---- */

/* What the whole request shares. */
typedef struct deciding {
    decide_limits limits;
    served_room *room;
    json_text id; /* of the decision, or of the round of slots */
    int64_t now;  /* for guardrails: all slots of a round are in one group */
    char made[DECISION_ID_SIZE];
} deciding;

static ee_status take_id(call *self, deciding *by, ee_error *error)
{
    by->id = self->request.id;
    if (by->id.bytes) return EE_OK;
    by->id = (json_text){by->made, sizeof by->made};
    if (self->first_id[0]) {
        decision_ids_derive(self->first_id, self->item_count, by->made);
        return EE_OK;
    }
    return decision_ids_make(&self->owner->ids, server_clock_wall(), by->made, error);
}

/* The context of named features, of all slots. */
static ee_status write_context(call *self, const deciding *by, ee_error *error)
{
    self->context_size = 0;
    if (by->limits.dim) return EE_OK;
    return self->dialect->write_context(&self->request, &self->memory, &self->context, &self->context_size,
                                        &self->context_capacity, error);
}

/* The body as it is before anything is decided. */
static ee_status describe(call *self, const call_item *item, const deciding *by, decision_body *body, ee_error *error)
{
    const decide_request *request = &self->request;
    *body = (decision_body){.seed = event_seed(by->room->seed, item->entry.event.id),
                            .request = {self->checksum[0], self->checksum[1]},
                            .count = request->count,
                            .names = request->named ? request->names : NULL,
                            .excluded = request->excluded_count ? request->excluded : NULL,
                            .dim = by->limits.dim,
                            .values = by->limits.dim ? request->values : NULL,
                            .context = {self->context, self->context_size},
                            .deferred = request->deferred};
    return memory_grow(&self->memory, &self->probabilities, &self->probability_capacity, request->count, sizeof(double),
                       error);
}

static ee_status decide(call *self, const deciding *by, decision_body *body, ee_error *error)
{
    served_room *room = by->room;
    ee_arms arms;
    ee_status status = decision_arms_make(&self->arms, body, room->round, &arms, error);
    if (!status) status = served_bandit_decide(self->bandit, room, body->dim ? &arms : NULL, body->seed, error);
    if (status) return status;
    if (body->guard.present && room->mode == MODE_ONLINE)
        guardrails_repeat(room->guard, &self->guarding, room->probabilities, body);
    decision_answer(body, room->mode, room->choice, room->probabilities, self->probabilities);
    body->version = room->version;
    body->record = room->record;
    body->record_size = room->record_size;
    return EE_OK;
}

/* The same within the guardrails of the bandit. */
static ee_status decide_guarded(call *self, call_item *item, const deciding *by, decision_body *body, ee_error *error)
{
    guardrails *guarding = by->room->guard;
    if (!guarding) return decide(self, by, body, error);
    guardrails_question asked = {.id = item->entry.event.id,
                                 .key = self->request.key.bytes ? self->request.key : (json_text){"", 0},
                                 .now = by->now};
    ee_status status = guardrails_begin(guarding, &self->guarding, &asked, body, error);
    item->entry.refused = status == EE_BAD_INPUT && !self->request.dry_run;
    if (status) return status;
    status = decide(self, by, body, error);
    bool counts = !status && !self->request.dry_run;
    ee_status counted = guardrails_end(guarding, &self->guarding, &asked, body, counts, error);
    item->is_counted = counts && !counted && guardrails_count(guarding);
    item->counted_at = self->guarding.round.now;
    return status ? status : counted;
}

/* Guardrails count a decision before it is written. If it is not, because it was written before or cannot be, they take
 * it back. */
static void take_back(call *self, call_item *item)
{
    decision_body body;
    json_text id = item->entry.event.id;
    if (!item->is_counted) return;
    item->is_counted = false;
    if (item->id_size)
        id = (json_text){(const char *)self->bodies + item->id_at, item->id_size};
    else if (item->entry.generated_id)
        id = (json_text){item->id, sizeof item->id};
    if (!decision_body_read(self->bodies + item->body_at, item->body_size, &self->stored, &body, NULL))
        guardrails_undo(self->counting, &self->guarding, id, item->counted_at, &body);
}

static void take_all_back(call *self, size_t first)
{
    for (size_t i = first; i < self->item_count; i++) take_back(self, &self->items[i]);
}

/* Decides what is described, and keeps the event and the answer. A dry run is answered already: call_submit skips it.
 */
static ee_status finish(call *self, call_item *item, const deciding *by, decision_body *body, ee_error *error)
{
    journal_entry *entry = &item->entry;
    ee_status status = decide_guarded(self, item, by, body, error);
    item->body_at = self->bodies_size;
    if (!status)
        status =
            decision_body_write(body, &self->memory, &self->bodies, &self->bodies_size, &self->bodies_capacity, error);
    if (status) return status;
    entry->event.kind = EVENT_DECISION;
    entry->deferred = body->deferred;
    entry->slot_index = body->slot_index;
    entry->slot_count = body->slot_count;
    memcpy(entry->request, body->request, sizeof body->request);
    item->body_size = self->bodies_size - item->body_at;
    item->probability = body->probabilities[body->action];
    item->version = body->version;
    item->choice = activity_choice_of(body);
    call_begin_answer(self, item);
    self->dialect->answer_decision(&self->answers, by->id, body);
    call_end_answer(self, item, self->request.dry_run ? self->dialect->decided : 0);
    return EE_OK;
}

/* Guardrails refuse the decision: a cap may have been reached since it was made. A retry of one that was made gets that
 * one, so the journal looks it up. Returns whether it can have been made. */
static bool look_up(call *self, call_item *item, size_t slot, const ee_error *why)
{
    journal_entry *entry = &item->entry;
    if (entry->generated_id && !self->first_id[0]) return false;
    entry->event.kind = EVENT_DECISION;
    entry->refused = true;
    entry->error = *why;
    entry->slot_index = slot;
    entry->slot_count = self->request.slot_count;
    memcpy(entry->request, self->checksum, sizeof entry->request);
    return true;
}

static ee_status decide_single(call *self, call_item *item, deciding *by, ee_error *error)
{
    decision_body body;
    item->entry.generated_id = !self->request.id.bytes;
    item->entry.event.id = by->id;
    if (item->entry.generated_id) memcpy(item->id, by->made, sizeof item->id);
    ee_status status = describe(self, item, by, &body, error);
    if (!status) status = finish(self, item, by, &body, error);
    return status && item->entry.refused && look_up(self, item, 0, error) ? EE_OK : status;
}

/* ---- slots ---- */

/* What the slot would show without a bandit: what the request says, unless a slot before it took that. Else the first
 * action that is left and not another slot's. */
static size_t slot_baseline(const decide_request *request, size_t slot, const uint8_t *excluded)
{
    size_t first = request->count, said = request->slots[slot].baseline_action;
    if (said < request->count && !excluded[said]) return said;
    for (size_t i = request->count; i-- > 0;)
        if (!excluded[i]) first = i;
    for (size_t i = first; i < request->count; i++) {
        bool is_others = excluded[i];
        for (size_t k = 0; k < request->slot_count && !is_others; k++)
            is_others = request->slots[k].baseline_action == i;
        if (!is_others) return i;
    }
    return first;
}

/* Those after it may not have what this slot took. */
static void take_action(decide_request *request, size_t slot, size_t action)
{
    for (size_t i = slot + 1; i < request->slot_count; i++) {
        uint8_t *excluded = &request->excluded[i * request->count + action];
        if (!*excluded) *excluded = EXCLUDED_BY_SLOT;
    }
}

static ee_status describe_slot(call *self, const call_item *item, const deciding *by, size_t slot, decision_body *body,
                               ee_error *error)
{
    const decide_request *request = &self->request;
    ee_status status = describe(self, item, by, body, error);
    if (status) return status;
    body->excluded = request->excluded + slot * request->count;
    body->baseline = slot_baseline(request, slot, body->excluded);
    body->slot = request->slots[slot].id;
    body->slot_index = slot;
    body->slot_count = request->slot_count;
    if (body->dim) return EE_OK;
    self->slot_context.length = self->slot_features.length = 0;
    self->dialect->write_slot(&self->slot_features, &request->slots[slot]);
    slot_context(&self->slot_context, body->context,
                 (json_text){self->slot_features.bytes, self->slot_features.length});
    body->context = (json_text){self->slot_context.bytes, self->slot_context.length};
    return self->slot_context.status ? status_no_memory(error, self->slot_context.length) : EE_OK;
}

static ee_status begin_slot(call *self, const deciding *by, size_t slot, call_item **out, ee_error *error)
{
    const decide_request *request = &self->request;
    *out = &self->items[self->first_item];
    ee_status status = slot ? call_add_part(self, out, error) : EE_OK;
    if (status) return status;
    (*out)->is_round = true;
    (*out)->entry.generated_id = !request->id.bytes;
    return call_name_slot(self, *out, by->id, request->slots[slot].id, error);
}

/* Looks up the whole round, of which `count` slots have begun and the last one was refused. */
static ee_status look_up_round(call *self, const deciding *by, size_t count, ee_error *error)
{
    ee_error why = *error;
    ee_status status = EE_OK;
    call_item *item;
    for (; count < self->request.slot_count && !status; count++) status = begin_slot(self, by, count, &item, error);
    for (size_t slot = 0; slot < count && !status; slot++)
        if (!look_up(self, &self->items[self->first_item + slot], slot, &why)) status = why.status;
    return status;
}

static ee_status decide_slots(call *self, deciding *by, ee_error *error)
{
    size_t slot = 0, count = self->request.slot_count;
    call_item *item = NULL;
    ee_status status = EE_OK;
    for (; slot < count && !status; slot++) {
        decision_body body;
        status = begin_slot(self, by, slot, &item, error);
        if (!status) status = describe_slot(self, item, by, slot, &body, error);
        if (!status) status = finish(self, item, by, &body, error);
        if (!status) take_action(&self->request, slot, body.action);
    }
    if (!status) return EE_OK;
    take_all_back(self, self->first_item);
    return item->entry.refused ? look_up_round(self, by, slot, error) : status;
}

static ee_status read_decision(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error)
{
    deciding by = *(const deciding *)context;
    ee_status status = self->dialect->read_decision(self, reader, &by.limits, error);
    if (!status) status = take_id(self, &by, error);
    if (!status) status = write_context(self, &by, error);
    if (status) return status;
    by.now = journal_wall_time(self->owner->journal);
    checksum_128(self->request.bytes.bytes, self->request.bytes.length, self->checksum);
    return self->request.slot_count ? decide_slots(self, &by, error) : decide_single(self, item, &by, error);
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
    item->version = body.version;
    call_begin_answer(self, item);
    self->dialect->answer_decision(&self->answers, slot_round_id(item->entry.event.id, NULL), &body);
    call_end_answer(self, item, self->dialect->decided);
}

static void count_up(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static json_text slot_of(const journal_entry *entry)
{
    json_text slot;
    slot_round_id(entry->event.id, &slot);
    return slot;
}

static void decision_written(journal_entry *entry)
{
    call *self = entry->context;
    call_item *item = (call_item *)((char *)entry - offsetof(call_item, entry));
    bandit_counters *counters = service_counters(self->owner, entry->bandit);
    switch (entry->verdict) {
    case ENTRY_DONE:
    case ENTRY_SPOOLED:
        item->status = self->dialect->decided;
        if (counters) count_up(&counters->decisions, 1);
        if (counters) count_up(&counters->probability, (uint64_t)(item->probability * 1e6));
        activity_decided(self->owner->activity, entry->bandit, entry->event.time / 1000000, &item->choice);
        if (item->is_round)
            activity_slot_decided(self->owner->activity, entry->bandit, slot_of(entry), item->choice.explored);
        break;
    case ENTRY_REPEATED:
        answer_again(self, item);
        break;
    case ENTRY_CONFLICT:
        call_item_refuse(self, item, 409,
                         "this id was used for another request; retry with the identical body, or send a new id");
        break;
    case ENTRY_REFUSED:
        call_item_refuse(self, item, 400, entry->error.message);
        break;
    case ENTRY_FAILED:
    case ENTRY_MOVED:
        call_item_failed(self, item);
        break;
    }
    if (self->counting) {
        if (entry->verdict != ENTRY_DONE && entry->verdict != ENTRY_SPOOLED) take_back(self, item);
        served_bandit_let_go(self->bandit, 1);
    }
    call_item_done(self);
}

/* ---- the request ---- */

/* Submits the decisions. Until they are written, guardrails that count them stay: others would not find them in the
 * log. */
static ee_status submit(call *self)
{
    size_t count = 0;
    for (size_t i = 0; self->counting && i < self->item_count; i++) count += !self->items[i].status;
    if (count) served_bandit_hold(self->bandit, count);
    ee_status status = call_submit(self, decision_written);
    if (!status || !count) return status;
    take_all_back(self, 0);
    served_bandit_let_go(self->bandit, count);
    return status;
}

/* The bandit is awake, and stays so while it is decided. */
static ee_status decide_all(call *self, served_room *room)
{
    const server_settings *server = &service_config_now(self->owner)->settings;
    deciding by = {.limits = {room->dim, (size_t)server->actions, (size_t)server->features}, .room = room};
    served_bandit *bandit = self->bandit;
    self->counting = guardrails_count(room->guard) ? room->guard : NULL;
    ee_status status = call_read_items(self, read_decision, &by);
    if (status)
        take_all_back(self, 0);
    else
        status = submit(self);
    served_bandit_leave(bandit, room); /* the call may be answered, and is not used here */
    return status;
}

ee_status api_decide(call *self)
{
    self->member = NULL;
    return call_when_awake(self, decide_all);
}

ee_status api_decide_batch(call *self)
{
    self->member = "decisions";
    return call_when_awake(self, decide_all);
}
