#include "slot_views.h"

#include <string.h>

#include "data/logs/slot_context.h"
#include "math/vector.h"

/* ---- room ---- */

static ee_status make_slots(slot_views *self, size_t count, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->views, &self->capacity, count, sizeof *self->views, error);
    for (; self->made < count && !status; self->made++) self->views[self->made] = (slot_view){0};
    self->count = count;
    return status;
}

static ee_status make_room(slot_views *self, slot_view *view, size_t count, ee_error *error)
{
    memory *owner = &self->memory;
    ee_status status = memory_grow(owner, &view->numbers, &view->number_capacity, count, sizeof(size_t), error);
    if (!status)
        status = memory_grow(owner, &view->probabilities, &view->probability_capacity, count, sizeof(double), error);
    if (!status) status = memory_grow(owner, &view->names, &view->name_capacity, count, sizeof(json_text), error);
    return status;
}

void slot_views_release(slot_views *self)
{
    for (size_t i = 0; i < self->made; i++) ee_round_free(self->views[i].features);
    if (self->joined) memory_free(self->joined->bytes);
    memory_release(&self->memory);
    *self = (slot_views){0};
}

/* ---- what a slot saw ---- */

/* In the order of their numbers, as the logging policy saw them. */
static void sort_actions(slot_view *view, const log_slot *slot)
{
    for (size_t i = 0; i < slot->count; i++) {
        size_t at = i;
        for (; at > 0 && view->numbers[at - 1] > slot->actions[i]; at--) {
            view->numbers[at] = view->numbers[at - 1];
            view->probabilities[at] = view->probabilities[at - 1];
        }
        view->numbers[at] = slot->actions[i];
        view->probabilities[at] = slot->probabilities[i];
    }
}

/* Its index among the possible actions; otherwise the first. */
static size_t place_of(const slot_view *view, size_t count, size_t number)
{
    for (size_t i = 0; i < count; i++)
        if (view->numbers[i] == number) return i;
    return 0;
}

/* The limits of the possible actions. */
static ee_status take_limits(slot_views *self, slot_view *view, const log_limits *limits, ee_error *error)
{
    memory *owner = &self->memory;
    size_t count = view->event.count;
    view->event.limits = NULL;
    if (!limits) return EE_OK;
    ee_status status = memory_grow(owner, &view->boosts, &view->boost_capacity, count, sizeof *view->boosts, error);
    if (!status) status = memory_grow(owner, &view->shares, &view->share_capacity, count, sizeof *view->shares, error);
    if (status) return status;
    view->limits = *limits;
    for (size_t i = 0; i < count && limits->boosts; i++) view->boosts[i] = limits->boosts[view->numbers[i]];
    for (size_t i = 0; i < count && limits->shares; i++) view->shares[i] = limits->shares[view->numbers[i]];
    view->limits.boosts = limits->boosts ? view->boosts : NULL;
    view->limits.shares = limits->shares ? view->shares : NULL;
    view->event.limits = &view->limits;
    return EE_OK;
}

static ee_status take_arms(slot_views *self, slot_view *view, const ee_arms *all, ee_error *error)
{
    memory *owner = &self->memory;
    size_t count = view->event.count, entries = 0, at = 0;
    for (size_t i = 0; i < count; i++) entries += vector_of_arm(all, view->numbers[i]).count;
    ee_status status = memory_grow(owner, &view->values, &view->value_capacity, entries + 1, sizeof(float), error);
    if (!status) status = memory_grow(owner, &view->starts, &view->start_capacity, count + 1, sizeof(size_t), error);
    if (!status && all->starts)
        status = memory_grow(owner, &view->indices, &view->index_capacity, entries + 1, sizeof(uint32_t), error);
    if (status) return status;
    for (size_t i = 0; i < count; i++) {
        vector x = vector_of_arm(all, view->numbers[i]);
        view->starts[i] = at;
        if (x.count) memcpy(view->values + at, x.values, x.count * sizeof *x.values);
        if (x.count && x.indices) memcpy(view->indices + at, x.indices, x.count * sizeof *x.indices);
        at += x.count;
    }
    view->starts[count] = at;
    view->event.arms = all->starts ? ee_arms_sparse(view->starts, view->indices, view->values, count, all->dim)
                                   : ee_arms_dense(view->values, count, all->dim);
    return EE_OK;
}

/* Adds the possible actions of "_multi", which the reader has entered. */
static ee_status add_actions(const slot_view *view, json_reader *reader, ee_error *error)
{
    json_token token;
    json_text span;
    for (size_t number = 0, next = 0;; number++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = json_skip(reader, &token, &span, error);
        if (!status && next < view->event.count && view->numbers[next] == number) {
            status = ee_round_action(view->features, span.bytes, span.length, error);
            next++;
        }
        if (status) return status;
    }
}

static ee_status read_context(slot_views *self, slot_view *view, json_text context, ee_error *error)
{
    self->json.owner = &self->memory;
    json_reader reader = json_start(context.bytes, context.length, &self->json);
    json_token token;
    ee_round_clear(view->features);
    ee_status status = ee_round_context(view->features, context.bytes, context.length, error);
    if (!status) status = json_next(&reader, &token, error);
    while (!status) {
        status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) return status;
        if (json_is(token.key, "_multi") && token.kind == JSON_KIND_ARRAY)
            status = add_actions(view, &reader, error);
        else
            status = json_skip(&reader, &token, NULL, error);
    }
    return status;
}

static ee_status read_features(slot_views *self, slot_view *view, const log_event *whole, const log_slot *slot,
                               ee_error *error)
{
    ee_status status = view->features ? EE_OK : ee_round_create(NULL, &view->features, error);
    if (!status && !self->joined) status = memory_create(&self->memory, &self->joined, 1, sizeof *self->joined, error);
    if (status) return status;
    text *joined = self->joined;
    joined->length = 0;
    joined->status = EE_OK;
    joined->error = error;
    slot_context(joined, whole->context, slot->features);
    if (joined->status) return joined->status;
    return read_context(self, view, (json_text){joined->bytes, joined->length}, error);
}

static ee_status make_view(slot_views *self, const candidate_round *round, size_t number, bool features,
                           ee_error *error)
{
    const log_event *whole = round->event;
    const log_slot *slot = &whole->slots[number];
    slot_view *view = &self->views[number];
    ee_status status = make_room(self, view, slot->count, error);
    if (status) return status;
    sort_actions(view, slot);
    view->skipped = slot->skipped;
    view->event = *whole;
    view->event.slots = NULL;
    view->event.slot_count = 0;
    view->event.count = slot->count;
    view->event.action = place_of(view, slot->count, slot->actions[0]);
    view->event.baseline = slot->baseline == SIZE_MAX ? 0 : place_of(view, slot->count, slot->baseline);
    view->event.probability = slot->probabilities[0] > 1.0 ? 1.0 : slot->probabilities[0];
    view->event.probabilities = log_slot_is_partial(slot) ? NULL : view->probabilities;
    view->event.reward = slot->reward;
    view->event.skipped = slot->skipped;
    for (size_t i = 0; whole->actions && i < slot->count; i++) view->names[i] = whole->actions[view->numbers[i]];
    view->event.actions = whole->actions ? view->names : NULL;
    status = take_limits(self, view, slot->limits, error);
    if (!status && whole->arms.count) status = take_arms(self, view, &whole->arms, error);
    if (!status && features) status = read_features(self, view, whole, slot, error);
    view->round = (candidate_round){
        .event = &view->event,
        .number = round->number,
        .features = features ? view->features : NULL,
        .numbers = view->numbers,
        .slot = number,
    };
    return status;
}

ee_status slot_views_make(slot_views *self, const candidate_round *round, bool features, ee_error *error)
{
    ee_status status = make_slots(self, round->event->slot_count, error);
    for (size_t i = 0; i < self->count && !status; i++) status = make_view(self, round, i, features, error);
    return status;
}
