#include "dsjson_slots.h"

#include <math.h>

/* The id of a slot: a string, or the digits of a number. */
static void take_id(dsjson_line *self, const json_token *item, json_text *id)
{
    if (item->kind == JSON_KIND_TEXT) *id = line_keep_text(self, item->text);
    if (item->kind == JSON_KIND_NUMBER)
        *id = (json_text){self->reader.value, (size_t)(self->reader.next - self->reader.value)};
}

/* ---- what became of them ---- */

static ee_status take_slot_member(dsjson_line *self, const json_token *item, slot_facts *slot, ee_error *error)
{
    if (line_is_word(item->key, "_label_cost"))
        return line_take_number(self, item, &slot->cost, "the _label_cost of a slot must be a number", error);
    if (json_is(item->key, "_original_label_cost"))
        return line_take_number(self, item, &slot->original, "the _original_label_cost of a slot must be a number",
                                error);
    if (json_is(item->key, "_o")) return line_take_observations(self, item, &slot->seen, error);
    if (json_is(item->key, "_a")) {
        self->slot_actions.count = slot->first_action;
        ee_status status =
            line_take_numbers(self, item, &self->slot_actions, "the _a of a slot must be an array of numbers", error);
        slot->action_count = self->slot_actions.count - slot->first_action;
        return status;
    }
    if (json_is(item->key, "_p")) {
        self->slot_probabilities.count = slot->first_probability;
        ee_status status = line_take_numbers(self, item, &self->slot_probabilities,
                                             "the _p of a slot must be an array of numbers", error);
        slot->probability_count = self->slot_probabilities.count - slot->first_probability;
        return status;
    }
    if (json_is(item->key, "_id")) take_id(self, item, &slot->id);
    if (json_is(item->key, "_skipLearn")) slot->skip = item->kind == JSON_KIND_TRUE;
    return line_skip(self, item, error);
}

/* One probability for several actions is the chosen action's; the others are unknown. */
static ee_status fill_probabilities(dsjson_line *self, slot_facts *slot, ee_error *error)
{
    ee_status status = EE_OK;
    if (slot->probability_count != 1) return EE_OK;
    for (; slot->probability_count < slot->action_count && !status; slot->probability_count++)
        status = line_add_number(self, &self->slot_probabilities, (double)NAN, error);
    return status;
}

static ee_status take_slot(dsjson_line *self, ee_error *error)
{
    ee_status status = memory_grow(self->owner, &self->outcomes, &self->outcome_capacity, self->outcome_count + 1,
                                   sizeof *self->outcomes, error);
    if (status) return status;
    slot_facts *slot = &self->outcomes[self->outcome_count++];
    *slot = (slot_facts){.first_action = self->slot_actions.count, .first_probability = self->slot_probabilities.count};
    json_token item;
    while (line_next(self, &item, &status, error)) status = take_slot_member(self, &item, slot, error);
    return status ? status : fill_probabilities(self, slot, error);
}

ee_status line_take_outcomes(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->outcome_count = self->slot_actions.count = self->slot_probabilities.count = 0;
    if (token->kind != JSON_KIND_ARRAY) return line_skip(self, token, error);
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error))
        status = item.kind == JSON_KIND_OBJECT ? take_slot(self, error) : line_skip(self, &item, error);
    return status;
}

/* ---- descriptions ---- */

static ee_status describe(dsjson_line *self, const json_token *item, slot_description *slot, bool *other,
                          ee_error *error)
{
    if (json_is(item->key, "_inc")) {
        self->allowed.count = slot->first_allowed;
        ee_status status =
            line_take_numbers(self, item, &self->allowed, "the _inc of a slot must be an array of numbers", error);
        slot->allowed_count = self->allowed.count - slot->first_allowed;
        return status;
    }
    if (json_is(item->key, "_id"))
        take_id(self, item, &slot->id);
    else
        *other = true;
    return line_skip(self, item, error);
}

static ee_status take_description(dsjson_line *self, ee_error *error)
{
    static const char *const known[] = {"_id", "_inc"};
    ee_status status =
        memory_grow(self->owner, &self->slots, &self->slot_capacity, self->slot_count + 1, sizeof *self->slots, error);
    if (status) return status;
    slot_description *slot = &self->slots[self->slot_count++];
    *slot = (slot_description){.first_allowed = self->allowed.count};
    const char *start = self->reader.next - 1; /* its brace */
    bool other = false;
    json_token item;
    while (line_next(self, &item, &status, error)) status = describe(self, &item, slot, &other, error);
    json_text object = {start, (size_t)(self->reader.next - start)};
    return other && !status ? line_copy_without(self, object, known, 2, &slot->features, error) : status;
}

ee_status line_take_slots(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->slot_count = self->allowed.count = 0;
    if (token->kind != JSON_KIND_ARRAY) return line_skip(self, token, error);
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error))
        status = item.kind == JSON_KIND_OBJECT ? take_description(self, error) : line_skip(self, &item, error);
    return status;
}
