/* Several slots filled in one call, each with another action: the first slot is decided among all that may fill it, the
 * next among what is left, and so on. What is left is a round of its own: a slot is decided, to the byte, as
 * ee_bandit_decide would decide among these arms alone. */
#include <string.h>

#include "arms.h"
#include "deciding_call.h"

typedef struct slots_call {
    deciding_call call;
    const ee_arms *slots;    /* (call.count), each of `arms` arms */
    const uint8_t *excluded; /* (call.count, arms), or NULL */
    size_t arms;
    slot_room *room;
    size_t left;            /* arms that slot has: room->left */
    const ee_arms *current; /* whose scores are in room->scores, by the arms' numbers; NULL: none are */
    scored_arms scored;     /* of these */
} slots_call;

/* ---- what comes in, and room for it ---- */

static ee_status check(const ee_bandit *bandit, const ee_arms *seen, size_t count, const ee_decision *decisions,
                       ee_error *error)
{
    if (!bandit || (count && (!seen || !decisions)))
        return status_fail(error, EE_BAD_INPUT, "decide: no bandit, no slots or nowhere to put the decisions");
    for (size_t i = 0; i < count; i++) {
        ee_status status = arms_check(&seen[i], bandit->dim, error);
        if (status) return status;
        if (seen[i].count != seen[0].count)
            return status_fail(error, EE_BAD_INPUT,
                               "decide: slot 0 has %zu arms and slot %zu has %zu; slots choose among the same actions",
                               seen[0].count, i, seen[i].count);
    }
    if (count && count > seen[0].count)
        return status_fail(error, EE_BAD_INPUT, "decide: there are %zu slots and %zu arms; each slot takes another one",
                           count, seen[0].count);
    return EE_OK;
}

static ee_status reserve(ee_bandit *bandit, size_t arms, ee_error *error)
{
    slot_room *room = &bandit->slots;
    memory *owner = &bandit->memory;
    ee_status status = memory_grow(owner, &room->left, &room->left_capacity, arms, sizeof *room->left, error);
    if (!status) status = memory_grow(owner, &room->taken, &room->taken_capacity, arms, sizeof *room->taken, error);
    if (!status) status = memory_grow(owner, &room->scores, &room->score_capacity, arms, sizeof *room->scores, error);
    if (!status)
        status = memory_grow(owner, &room->starts, &room->start_capacity, arms + 1, sizeof *room->starts, error);
    if (!status) memset(room->taken, 0, arms * sizeof *room->taken);
    return status;
}

/* ---- what is left ---- */

static ee_status find_left(slots_call *c, size_t slot, ee_error *error)
{
    const uint8_t *excluded = c->excluded ? c->excluded + slot * c->arms : NULL;
    c->left = 0;
    for (size_t arm = 0; arm < c->arms; arm++)
        if (!c->room->taken[arm] && !(excluded && excluded[arm])) c->room->left[c->left++] = arm;
    if (c->left) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "decide: nothing is left for slot %zu: of %zu arms all are excluded or taken by slots before it",
                       slot, c->arms);
}

/* The arms that are left, as a round: the caller's own where that is all of them, else a copy. */
static ee_status make_round(slots_call *c, const ee_arms *all, ee_arms *round, ee_error *error)
{
    slot_room *room = c->room;
    memory *owner = &c->call.bandit->memory;
    *round = *all;
    if (c->left == c->arms) return EE_OK;
    size_t values = arms_value_count(all), at = 0;
    ee_status status = memory_grow(owner, &room->values, &room->value_capacity, values, sizeof *room->values, error);
    if (!status && all->starts)
        status = memory_grow(owner, &room->indices, &room->index_capacity, values, sizeof *room->indices, error);
    if (status) return status;
    for (size_t i = 0; i < c->left; i++) {
        vector x = vector_of_arm(all, room->left[i]);
        room->starts[i] = at;
        if (x.count) memcpy(room->values + at, x.values, x.count * sizeof *x.values);
        if (x.count && x.indices) memcpy(room->indices + at, x.indices, x.count * sizeof *x.indices);
        at += x.count;
    }
    room->starts[c->left] = at;
    *round = (ee_arms){
        c->left, all->dim, room->values, all->starts ? room->starts : NULL, all->starts ? room->indices : NULL, NULL};
    return EE_OK;
}

/* ---- scoring ---- */

/* Whether arms may be scored once for all slots that see them: where an arm's score does not depend on the others, and
 * nothing is kept that does; and where the length of the first round is known, which is that of what was left then. */
static bool scores_last(const slots_call *c)
{
    const ee_bandit *bandit = c->call.bandit;
    const policy *owner = bandit->policy;
    return owner->class->alone && !owner->class->draws && (!bandit->rules.scales || c->call.length > 0) &&
           !policy_kept_count(owner, owner->parameters.round, c->left);
}

static bool are_same(const ee_arms *a, const ee_arms *b)
{
    return a->values == b->values && a->starts == b->starts && a->indices == b->indices;
}

/* Scores all arms, unless they were for the slot before. */
static ee_status score_all(slots_call *c, const ee_arms *all, ee_error *error)
{
    ee_bandit *bandit = c->call.bandit;
    if (c->current && are_same(c->current, all)) return EE_OK;
    c->current = NULL;
    ee_status status = deciding_score(&bandit->rules, &bandit->policy->parameters, all, 1, c->call.length,
                                      &bandit->room, &c->scored, error);
    if (status) return status;
    memcpy(c->room->scores, bandit->room.scores, c->arms * sizeof *c->room->scores);
    c->current = all;
    return EE_OK;
}

static ee_status score_left(slots_call *c, const ee_arms *all, ee_error *error)
{
    ee_bandit *bandit = c->call.bandit;
    ee_arms round;
    c->current = NULL;
    ee_status status = make_round(c, all, &round, error);
    if (!status)
        status = deciding_score(&bandit->rules, &bandit->policy->parameters, &round, 1, c->call.length, &bandit->room,
                                &c->scored, error);
    if (!status) c->call.length = c->scored.length;
    return status;
}

/* ---- deciding ---- */

/* Row of the slot in what the caller gets: 0 for what it could not take. */
static void hand_out(const slots_call *c, size_t slot, ee_score *scores, double *probabilities)
{
    const deciding_room *room = &c->call.bandit->room;
    if (scores) memset(scores + slot * c->arms, 0, c->arms * sizeof *scores);
    if (probabilities) memset(probabilities + slot * c->arms, 0, c->arms * sizeof *probabilities);
    for (size_t i = 0; i < c->left; i++) {
        size_t at = slot * c->arms + c->room->left[i];
        if (scores) scores[at] = room->scores[i];
        if (probabilities) probabilities[at] = room->probabilities[i];
    }
}

static ee_status decide_slot(slots_call *c, size_t slot, ee_decision *decision, ee_error *error)
{
    ee_bandit *bandit = c->call.bandit;
    deciding_room *room = &bandit->room;
    const parameters *learned = &bandit->policy->parameters;
    ee_status status = find_left(c, slot, error);
    if (status) return status;
    bool shared = scores_last(c);
    status = shared ? score_all(c, &c->slots[slot], error) : score_left(c, &c->slots[slot], error);
    if (status) return status;
    for (size_t i = 0; shared && i < c->left; i++) room->scores[i] = c->room->scores[c->room->left[i]];
    size_t place = deciding_draw(&bandit->rules, learned, &c->scored, 0, c->left, room), arm = c->room->left[place];
    status = deciding_call_keep(&c->call, &c->scored, shared ? arm : place, c->left, room->scores[place], error);
    if (status) return status;
    if (bandit->policy->class->draws) deciding_estimate(&bandit->rules, learned, &c->scored, place, room);
    *decision = (ee_decision){deciding_call_id(&c->call), arm, room->probabilities[place]};
    c->room->taken[arm] = 1;
    return EE_OK;
}

ee_status ee_bandit_decide_slots(ee_bandit *bandit, const ee_arms *seen, size_t count, const uint8_t *excluded,
                                 ee_decision *decisions, ee_score *scores, double *probabilities, ee_error *error)
{
    ee_status status = check(bandit, seen, count, decisions, error);
    if (status || !count) return status;
    slots_call c = {.slots = seen, .excluded = excluded, .arms = seen[0].count, .room = &bandit->slots};
    status = reserve(bandit, c.arms, error);
    if (status) return status;
    status = deciding_call_begin(&c.call, bandit, count, error);
    for (size_t i = 0; i < count && !status; i++) {
        status = decide_slot(&c, i, &decisions[i], error);
        if (!status) hand_out(&c, i, scores, probabilities);
    }
    return deciding_call_end(&c.call, status, error);
}
