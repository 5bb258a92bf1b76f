/* Examples of ccb and slates. A slot's label may have the probabilities of all actions or of the chosen one alone; the
 * possible actions are then those allowed in the slot that no earlier slot took. */
#include <math.h>
#include <string.h>

#include "log_vw.h"

enum { MOST_CHOICES = 10000000 }; /* slots times actions */

/* ---- what the lines say ---- */

static ee_status read_allowed(vw_log *log, vw_slot *slot, json_text list, log_note *note, ee_error *error)
{
    json_text word;
    while (vw_next_word(&list, ',', &word)) {
        size_t action = vw_whole(word);
        if (action == SIZE_MAX) {
            log_skip(note, LOG_INVALID, "expected the allowed actions of the slot, as 0,2,3, got '%.*s'",
                     json_shown(word), word.bytes);
            return EE_OK;
        }
        ee_status status = vw_sizes_add(log, &log->allowed, action, error);
        if (status) return status;
    }
    slot->allowed_count = log->allowed.count - slot->first_allowed;
    return EE_OK;
}

/* "ccb slot" and up to two words: one with ':' is the outcome, the other one lists the allowed actions. */
static ee_status read_slot_line(vw_log *log, size_t row, json_text rest, log_note *note, ee_error *error)
{
    ee_status status = memory_grow(&log->head.owner, &log->described, &log->described_capacity, log->slot_count + 1,
                                   sizeof *log->described, error);
    if (status) return status;
    vw_slot *slot = &log->described[log->slot_count++];
    *slot = (vw_slot){.row = row, .first_allowed = log->allowed.count};
    json_text word;
    while (vw_next_word(&rest, ' ', &word) && note->verdict == LOG_EVENT && !status) {
        bool outcome = memchr(word.bytes, ':', word.length) != NULL;
        if (outcome ? slot->outcome.length : slot->allowed_count || log->form == VW_SLATES)
            log_skip(note, LOG_INVALID, "unexpected '%.*s' after the label of the slot", json_shown(word), word.bytes);
        else if (outcome)
            slot->outcome = word;
        else
            status = read_allowed(log, slot, word, note, error);
    }
    return status;
}

static ee_status read_action_line(vw_log *log, size_t row, json_text rest, log_note *note, ee_error *error)
{
    json_text word = {"", 0}, more;
    size_t slot = 0;
    bool slates = log->form == VW_SLATES, given = vw_next_word(&rest, ' ', &word);
    if (slates) slot = vw_whole(word);
    if (given != slates || slot == SIZE_MAX || vw_next_word(&rest, ' ', &more)) {
        log_skip(note, LOG_INVALID,
                 slates ? "expected 'slates action SLOT', the slot from 0" : "unexpected '%.*s' after 'ccb action'",
                 json_shown(word), word.bytes);
        return EE_OK;
    }
    ee_status status = vw_sizes_add(log, &log->of_action, row, error);
    return status ? status : vw_sizes_add(log, &log->of_slot, slot, error);
}

/* "shared", in slates with the cost. */
static void read_shared_line(const vw_log *log, size_t row, json_text rest, double *cost, log_note *note)
{
    json_text word, more;
    bool given = vw_next_word(&rest, ' ', &word);
    if (row)
        log_skip(note, LOG_INVALID,
                 "'shared' must be the first line of an example; is the empty line before it "
                 "missing?");
    else if (given && (log->form == VW_CCB || !vw_number(word, cost) || vw_next_word(&rest, ' ', &more)))
        log_skip(note, LOG_INVALID, "unexpected '%.*s' after 'shared'", json_shown(word), word.bytes);
}

/* Reads all labels. *cost: of slates, if there is one. */
static ee_status read_lines(vw_log *log, double *cost, log_event *event, log_note *note, ee_error *error)
{
    const char *head = log->form == VW_CCB ? "ccb" : "slates";
    ee_status status = EE_OK;
    log->slot_count = log->allowed.count = log->of_action.count = log->of_slot.count = 0;
    for (size_t i = 0; i < log->row_count && !status && note->verdict == LOG_EVENT; i++) {
        json_text rest = log->rows[i].line.label, first = {"", 0}, type = {"", 0};
        event->line = log->rows[i].number;
        vw_next_word(&rest, ' ', &first);
        vw_next_word(&rest, ' ', &type);
        bool known = json_is(first, head);
        if (known && json_is(type, "slot"))
            status = read_slot_line(log, i, rest, note, error);
        else if (known && json_is(type, "action"))
            status = read_action_line(log, i, rest, note, error);
        else if (known && json_is(type, "shared"))
            read_shared_line(log, i, rest, cost, note);
        else
            log_skip(note, LOG_INVALID, "expected '%s shared', '%s action' or '%s slot', got '%.*s %.*s'", head, head,
                     head, json_shown(first), first.bytes, json_shown(type), type.bytes);
    }
    if (note->verdict == LOG_EVENT) event->line = log->rows[0].number;
    return status;
}

/* ---- choices ---- */

/* Marks of actions: TAKEN by an earlier slot, ALLOWED in this one, LISTED in its label. */
enum { TAKEN = 1, ALLOWED = 2, LISTED = 4 };

static ee_status add_choice(vw_log *log, size_t action, double probability, ee_error *error)
{
    ee_status status = memory_grow(&log->head.owner, &log->probabilities, &log->probabilities_capacity,
                                   log->actions.count + 1, sizeof *log->probabilities, error);
    if (status) return status;
    log->probabilities[log->actions.count] = probability;
    return vw_sizes_add(log, &log->actions, action, error);
}

/* "ACTION:PROBABILITY"; the first of a ccb label is "ACTION:COST:PROBABILITY". */
static bool read_choice(json_text word, double *cost, size_t *action, double *probability)
{
    json_text part[4];
    size_t parts = 0, wanted = cost ? 3 : 2;
    while (parts < 4 && vw_next_word(&word, ':', &part[parts])) parts++;
    if (parts != wanted || (*action = vw_whole(part[0])) == SIZE_MAX) return false;
    return vw_number(part[wanted - 1], probability) && (!cost || vw_number(part[1], cost));
}

static bool mark_allowed(vw_log *log, const vw_slot *slot, size_t count, log_note *note)
{
    for (size_t i = 0; i < count; i++) {
        log->marks.values[i] &= TAKEN;
        if (!slot->allowed_count) log->marks.values[i] |= ALLOWED;
    }
    for (size_t i = 0; i < slot->allowed_count; i++) {
        size_t action = log->allowed.values[slot->first_allowed + i];
        if (action >= count) {
            log_skip(note, LOG_INVALID, "allowed action %zu is not one of the %zu actions, which count from 0", action,
                     count);
            return false;
        }
        log->marks.values[action] |= ALLOWED;
    }
    return true;
}

/* Whether the slot can choose the action, which becomes marked as listed. */
static bool check_choice(vw_log *log, size_t action, size_t count, log_note *note)
{
    if (action >= count) {
        log_skip(note, LOG_INVALID, "action %zu is not one of the %zu actions of the slot, which count from 0", action,
                 count);
        return false;
    }
    size_t mark = log->marks.values[action];
    log->marks.values[action] |= LISTED;
    if (mark == ALLOWED) return true;
    log_skip(note, LOG_INVALID, "action %zu %s", action,
             mark & TAKEN    ? "was taken by an earlier slot"
             : mark & LISTED ? "is listed twice in the slot"
                             : "is not allowed in the slot");
    return false;
}

/* Reads the label of a slot among `count` actions. */
static ee_status read_outcome(vw_log *log, vw_slot *slot, size_t count, double *cost, log_note *note, ee_error *error)
{
    json_text list = slot->outcome, word;
    bool has_cost = log->form == VW_CCB;
    slot->first_action = log->actions.count;
    if (!mark_allowed(log, slot, count, note)) return EE_OK;
    while (vw_next_word(&list, ',', &word)) {
        size_t action = 0;
        double probability = 0;
        if (!read_choice(word, has_cost ? cost : NULL, &action, &probability)) {
            log_skip(note, LOG_INVALID, "expected %s, got '%.*s'",
                     has_cost ? "ACTION:COST:PROBABILITY" : "ACTION:PROBABILITY", json_shown(word), word.bytes);
            return EE_OK;
        }
        if (!check_choice(log, action, count, note)) return EE_OK;
        ee_status status = add_choice(log, action, probability, error);
        if (status) return status;
        has_cost = false;
    }
    return EE_OK;
}

/* Adds the possible actions that the label does not list: their probability is unknown if it has the chosen one alone,
 * otherwise 0. The list of a ccb label is complete. */
static ee_status add_others(vw_log *log, const vw_slot *slot, size_t count, ee_error *error)
{
    size_t chosen = log->actions.values[slot->first_action];
    ee_status status = EE_OK;
    bool only_chosen = log->actions.count == slot->first_action + 1;
    for (size_t i = 0; i < count && (only_chosen || log->form == VW_SLATES) && !status; i++)
        if (log->marks.values[i] == ALLOWED) status = add_choice(log, i, only_chosen ? (double)NAN : 0, error);
    if (log->form == VW_CCB) log->marks.values[chosen] |= TAKEN;
    return status;
}

static ee_status add_slot(vw_log *log, size_t number, log_event *event, log_note *note, ee_error *error)
{
    vw_slot *slot = &log->described[number];
    const vw_row *row = &log->rows[slot->row];
    size_t count = log->form == VW_SLATES ? log->sizes.values[number] : log->of_action.count;
    text *features = &log->slot_features;
    double cost = 0;
    bool any;
    event->line = row->number;
    ee_status status = read_outcome(log, slot, count, &cost, note, error);
    if (status || note->verdict != LOG_EVENT) return status;
    status = add_others(log, slot, count, error);
    if (status) return status;
    slot->features_start = features->length;
    text_bytes(features, "{", 1);
    status = vw_add_features(log, row, features, &any, event, note, error);
    text_bytes(features, "}", 1);
    slot->features_size = any ? features->length - slot->features_start : 0;
    log->slots[number] = (log_slot){.id = row->line.tag,
                                    .count = log->actions.count - slot->first_action,
                                    .reward = log->form == VW_SLATES ? (double)NAN : log->sign * cost + 0.0,
                                    .baseline = SIZE_MAX,
                                    .allowed_count = slot->allowed_count};
    return status ? status : features->status;
}

/* ---- the event ---- */

/* Checks that need no labels. */
static bool check_example(vw_log *log, bool costs, log_event *event, log_note *note)
{
    size_t labels = 0, first = log->slot_count;
    for (size_t i = log->slot_count; i-- > 0;) {
        labels += log->described[i].outcome.length > 0;
        if (!log->described[i].outcome.length) first = i;
    }
    if (!log->of_action.count || !log->slot_count)
        log_skip(note, LOG_INVALID, "the example has no %s", log->slot_count ? "actions" : "slots");
    else if (!labels)
        log_skip(note, LOG_FOREIGN, "no label: nothing was chosen");
    else if (first < log->slot_count)
        log_skip(note, LOG_INVALID, "slot %zu has no label, but others have", first);
    else if (!costs)
        log_skip(note, LOG_INVALID, "'slates shared' has no cost, but the slots have labels");
    else if (log->of_action.count > MOST_CHOICES / log->slot_count)
        log_skip(note, LOG_INVALID, "more than %d actions in all slots", (int)MOST_CHOICES);
    if (first < log->slot_count && labels) event->line = log->rows[log->described[first].row].number;
    return note->verdict == LOG_EVENT;
}

/* Counts the actions of each slot of slates. */
static ee_status count_actions(vw_log *log, log_event *event, log_note *note, ee_error *error)
{
    ee_status status = EE_OK;
    log->sizes.count = 0;
    for (size_t i = 0; i < log->slot_count && !status; i++) status = vw_sizes_add(log, &log->sizes, 0, error);
    for (size_t i = 0; i < log->of_slot.count && log->form == VW_SLATES && !status; i++) {
        size_t slot = log->of_slot.values[i];
        if (slot < log->slot_count) log->sizes.values[slot]++;
        if (slot < log->slot_count) continue;
        event->line = log->rows[log->of_action.values[i]].number;
        log_skip(note, LOG_INVALID, "slot %zu of the action is not one of the %zu slots, which count from 0", slot,
                 log->slot_count);
        return EE_OK;
    }
    return status;
}

/* Sets the pointers into arrays that have stopped growing. */
static void settle(vw_log *log)
{
    for (size_t i = 0; i < log->slot_count; i++) {
        const vw_slot *from = &log->described[i];
        log_slot *slot = &log->slots[i];
        slot->actions = log->actions.values + from->first_action;
        slot->probabilities = log->probabilities + from->first_action;
        if (from->allowed_count) slot->allowed = log->allowed.values + from->first_allowed;
        if (from->features_size)
            slot->features = (json_text){log->slot_features.bytes + from->features_start, from->features_size};
    }
}

/* The first slot's choice is the event's. */
static ee_status take_first(vw_log *log, double cost, log_event *event, ee_error *error)
{
    const log_slot *first = &log->slots[0];
    event->slate = log->form == VW_SLATES;
    event->slots = log->slots;
    event->slot_count = log->slot_count;
    event->count = event->slate ? log->sizes.values[0] : log->of_action.count;
    event->action = first->actions[0];
    event->probability = first->probabilities[0];
    event->reward = event->slate ? log->sign * cost + 0.0 : first->reward;
    ee_status status = memory_grow(&log->head.owner, &log->by_action, &log->by_action_capacity, event->count,
                                   sizeof *log->by_action, error);
    if (status || log_slot_is_partial(first)) return status;
    for (size_t i = 0; i < event->count; i++) log->by_action[i] = 0;
    for (size_t i = 0; i < first->count; i++) log->by_action[first->actions[i]] = first->probabilities[i];
    event->probabilities = log->by_action;
    return EE_OK;
}

ee_status vw_read_slots(vw_log *log, log_event *event, log_note *note, ee_error *error)
{
    double cost = (double)NAN;
    size_t line = event->line;
    ee_status status = read_lines(log, &cost, event, note, error);
    if (status || note->verdict != LOG_EVENT) return status;
    if (!check_example(log, log->form == VW_CCB || !isnan(cost), event, note)) return EE_OK;
    status = count_actions(log, event, note, error);
    if (!status)
        status = memory_grow(&log->head.owner, &log->slots, &log->slots_capacity, log->slot_count, sizeof *log->slots,
                             error);
    log->marks.count = log->actions.count = log->slot_features.length = 0;
    log->slot_features.error = error;
    for (size_t i = 0; i < log->of_action.count && !status; i++) status = vw_sizes_add(log, &log->marks, 0, error);
    for (size_t i = 0; i < log->slot_count && !status && note->verdict == LOG_EVENT; i++)
        status = add_slot(log, i, event, note, error);
    if (status || note->verdict != LOG_EVENT) return status;
    event->line = line;
    settle(log);
    status = take_first(log, cost, event, error);
    const vw_row *first = &log->rows[0];
    json_text rest = first->line.label, word = {"", 0};
    vw_next_word(&rest, ' ', &word);
    vw_next_word(&rest, ' ', &word);
    return status ? status : vw_make_context(log, json_is(word, "shared") ? first : NULL, event, note, error);
}
