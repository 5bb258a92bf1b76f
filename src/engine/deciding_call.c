#include "deciding_call.h"

#include <string.h>

#include "arms.h"

/* A running call. */
typedef struct deciding {
    const deciding_call *call;
    const decision_rules *rules;
    const parameters *learned;
    deciding_room *room;
    arm_length length;    /* divisor of arms */
    size_t given;         /* filled entries of the caller's scores and probabilities */
    scored_arms scored;   /* the last scored arms */
    const ee_arms *whole; /* the slot whose arms all have their scores in room->left.scores; NULL: none */
} deciding;

/* ---- arguments of the caller ---- */

static ee_status check_slots(const deciding_call *self, ee_error *error)
{
    const ee_arms *slots = self->rounds;
    for (size_t i = 0; i < self->count; i++)
        if (slots[i].count != slots[0].count)
            return status_fail(error, EE_BAD_INPUT,
                               "decide: slot 0 has %zu arms and slot %zu has %zu; all slots must have the same arms",
                               slots[0].count, i, slots[i].count);
    if (self->count && self->count > slots[0].count)
        return status_fail(error, EE_BAD_INPUT, "decide: %zu slots but only %zu arms; each slot takes a different arm",
                           self->count, slots[0].count);
    return EE_OK;
}

ee_status deciding_call_check(const deciding_call *self, size_t dim, ee_error *error)
{
    if (self->count && !self->rounds) return status_fail(error, EE_BAD_INPUT, "arms: arms must not be NULL");
    if (self->count && !self->decisions) return status_fail(error, EE_BAD_INPUT, "decide: decisions must not be NULL");
    for (size_t i = 0; i < self->count; i++) {
        ee_status status = arms_check(&self->rounds[i], dim, error);
        if (status) return status;
    }
    return self->slots ? check_slots(self, error) : EE_OK;
}

/* ---- drawing, storing, returning ---- */

/* Stores a decision for arm number `at` of the scored ones, in a round of this many arms. */
static ee_status keep(deciding *d, size_t at, size_t arms, ee_score score, ee_error *error)
{
    deciding_room *room = d->room;
    made_decisions *made = &room->made;
    made_decision next = {
        .kept = kept_decision_make(d->learned->round, arms, &d->scored.arms, at, score),
        .first_word = made->word_count,
        .divisor = d->scored.divisor,
    };
    next.word_count = kept_decision_words(&next.kept, d->learned->policy);
    ee_status status =
        memory_grow(room->memory, &made->rows, &made->capacity, made->count + 1, sizeof *made->rows, error);
    if (!status)
        status = memory_grow(room->memory, &made->words, &made->word_capacity, made->word_count + next.word_count,
                             sizeof *made->words, error);
    if (status) return status;
    kept_decision_fill(&next.kept, d->learned, &d->scored.arms, at, &room->scratch, made->words + next.first_word);
    made->rows[made->count++] = next;
    made->word_count += next.word_count;
    return EE_OK;
}

/* Fills the results of a round for the caller. */
static void give(deciding *d, const drawable_arms *from)
{
    size_t arms = d->call->rounds[from->round].count;
    ee_score *scores = d->call->scores ? d->call->scores + d->given : NULL;
    double *probabilities = d->call->probabilities ? d->call->probabilities + d->given : NULL;
    const ee_score *their_scores = d->room->scores + from->first;
    const double *theirs = d->room->probabilities + from->first;
    d->given += arms;
    if (!from->left) {
        if (scores) memcpy(scores, their_scores, arms * sizeof *scores);
        if (probabilities) memcpy(probabilities, theirs, arms * sizeof *probabilities);
        return;
    }
    if (scores) memset(scores, 0, arms * sizeof *scores);
    if (probabilities) memset(probabilities, 0, arms * sizeof *probabilities);
    for (size_t i = 0; i < from->count; i++) {
        if (scores) scores[from->left[i]] = their_scores[i];
        if (probabilities) probabilities[from->left[i]] = theirs[i];
    }
}

static ee_status choose(deciding *d, const drawable_arms *from, ee_error *error)
{
    deciding_room *room = d->room;
    ee_status status = from->limits ? deciding_limit(d->rules, d->learned, from, room, error) : EE_OK;
    if (status) return status;
    size_t drawn = deciding_draw(d->rules, d->learned, &d->scored, from, room);
    size_t place = drawn - from->first, arm = from->left ? from->left[place] : place;
    ee_score score = from->limits ? deciding_own_score(from, drawn, room) : room->scores[drawn];
    status = keep(d, from->whole ? arm : drawn, from->count, score, error);
    if (status) return status;
    if (d->learned->policy->class->draws) deciding_estimate(d->rules, d->learned, &d->scored, from, drawn, room);
    d->call->decisions[from->round] = (ee_decision){0, arm, room->probabilities[drawn]};
    give(d, from);
    if (d->call->slots) room->left.taken[arm] = 1;
    return EE_OK;
}

/* ---- rounds with all their arms ---- */

/* The number of rounds from number first on that are scored at once: dense ones, if the policy allows it and stores
 * nothing with a decision, since keep() must know the arms of its round. */
static size_t rounds_together(const deciding *d, size_t first)
{
    enum { ENOUGH_ARMS = 256 }; /* more at once gain nothing and take more memory */
    const policy *owner = d->learned->policy;
    const ee_arms *rounds = d->call->rounds;
    size_t last = first, arms = 0;
    if (!owner->class->arms_independent || owner->class->draws) return 1;
    if (d->rules->scales && arm_length_compares(&d->length)) return 1; /* each round may change the length */
    for (; last < d->call->count && !rounds[last].starts && arms < ENOUGH_ARMS; last++) {
        if (!rounds[last].ids != !rounds[first].ids) break;
        arms += rounds[last].count;
        if (policy_kept_count(owner, d->learned->round, rounds[last].count)) return 1;
    }
    return last > first ? last - first : 1;
}

static ee_status decide_together(deciding *d, size_t begin, size_t count, ee_error *error)
{
    const ee_arms *rounds = d->call->rounds + begin;
    ee_status status = deciding_score(d->rules, d->learned, rounds, count, d->length, d->room, &d->scored, error);
    if (status) return status;
    d->length = d->scored.length;
    drawable_arms from = {.round = begin};
    for (size_t i = 0; i < count && !status; i++) {
        from.count = rounds[i].count;
        from.limits = rounds[i].limits;
        status = choose(d, &from, error);
        from.first += from.count;
        from.round++;
    }
    return status;
}

/* ---- rounds with some of their arms ---- */

static ee_status reserve_left(deciding *d, size_t arms, ee_error *error)
{
    left_room *left = &d->room->left;
    memory *owner = d->room->memory;
    ee_status status = memory_grow(owner, &left->arms, &left->arm_capacity, arms, sizeof *left->arms, error);
    if (!status) status = memory_grow(owner, &left->taken, &left->taken_capacity, arms, sizeof *left->taken, error);
    if (!status) status = memory_grow(owner, &left->scores, &left->score_capacity, arms, sizeof *left->scores, error);
    if (!status)
        status = memory_grow(owner, &left->starts, &left->start_capacity, arms + 1, sizeof *left->starts, error);
    return status;
}

static ee_status find_left(deciding *d, drawable_arms *from, ee_error *error)
{
    left_room *left = &d->room->left;
    size_t arms = d->call->rounds[from->round].count;
    const uint8_t *excluded = d->call->excluded ? d->call->excluded + d->given : NULL;
    from->left = left->arms;
    for (size_t arm = 0; arm < arms; arm++)
        if (!(excluded && excluded[arm]) && !(d->call->slots && left->taken[arm])) left->arms[from->count++] = arm;
    if (from->count) return EE_OK;
    if (!d->call->slots)
        return status_fail(error, EE_BAD_INPUT, "decide: all %zu arms of round %zu are excluded", arms, from->round);
    return status_fail(error, EE_BAD_INPUT,
                       "decide: no arm is left for slot %zu: all %zu arms are excluded or taken by earlier slots",
                       from->round, arms);
}

/* The remaining arms as a round: those of the caller if all remain, otherwise a copy. */
static ee_status make_round(deciding *d, const drawable_arms *from, ee_arms *round, ee_error *error)
{
    left_room *left = &d->room->left;
    memory *owner = d->room->memory;
    const ee_arms *all = &d->call->rounds[from->round];
    *round = *all;
    if (from->count == all->count) return EE_OK;
    size_t values = arms_value_count(all), at = 0;
    ee_status status = memory_grow(owner, &left->values, &left->value_capacity, values, sizeof *left->values, error);
    if (!status && all->starts)
        status = memory_grow(owner, &left->indices, &left->index_capacity, values, sizeof *left->indices, error);
    if (!status && all->ids)
        status = memory_grow(owner, &left->ids, &left->id_capacity, all->count, sizeof *left->ids, error);
    if (status) return status;
    for (size_t i = 0; i < from->count; i++) {
        vector x = vector_of_arm(all, from->left[i]);
        left->starts[i] = at;
        if (x.count) memcpy(left->values + at, x.values, x.count * sizeof *x.values);
        if (x.count && x.indices) memcpy(left->indices + at, x.indices, x.count * sizeof *x.indices);
        if (all->ids) left->ids[i] = all->ids[from->left[i]];
        at += x.count;
    }
    left->starts[from->count] = at;
    *round = (ee_arms){.count = from->count,
                       .dim = all->dim,
                       .values = left->values,
                       .starts = all->starts ? left->starts : NULL,
                       .indices = all->starts ? left->indices : NULL,
                       .ids = all->ids ? left->ids : NULL};
    return EE_OK;
}

static ee_status score_left(deciding *d, const drawable_arms *from, ee_error *error)
{
    ee_arms round;
    d->whole = NULL;
    d->room->scratch.positions = from->left;
    ee_status status = make_round(d, from, &round, error);
    if (!status) status = deciding_score(d->rules, d->learned, &round, 1, d->length, d->room, &d->scored, error);
    if (!status) d->length = d->scored.length;
    return status;
}

/* Whether the arms of a slot may be scored once for all slots that see them: the score of an arm must not depend on the
 * others, nothing that does may be stored, and the divisor must be settled, since lengths are compared on the remaining
 * arms. */
static bool scores_last(const deciding *d, size_t left)
{
    const policy *owner = d->learned->policy;
    return d->call->slots && owner->class->arms_independent && !owner->class->draws &&
           (!d->rules->scales || !arm_length_compares(&d->length)) &&
           !policy_kept_count(owner, d->learned->round, left);
}

static bool are_same(const ee_arms *a, const ee_arms *b)
{
    return a->values == b->values && a->starts == b->starts && a->indices == b->indices && a->ids == b->ids;
}

/* Scores all arms of a slot, unless the previous slot did, and takes the scores of the remaining ones. */
static ee_status score_whole(deciding *d, const drawable_arms *from, ee_error *error)
{
    const ee_arms *all = &d->call->rounds[from->round];
    deciding_room *room = d->room;
    if (!d->whole || !are_same(d->whole, all)) {
        d->whole = NULL;
        room->scratch.positions = NULL;
        ee_status status = deciding_score(d->rules, d->learned, all, 1, d->length, room, &d->scored, error);
        if (status) return status;
        memcpy(room->left.scores, room->scores, all->count * sizeof *room->scores);
        d->whole = all;
    }
    for (size_t i = 0; i < from->count; i++) room->scores[i] = room->left.scores[from->left[i]];
    return EE_OK;
}

static ee_status decide_left(deciding *d, size_t round, ee_error *error)
{
    drawable_arms from = {.round = round, .limits = d->call->rounds[round].limits};
    ee_status status = reserve_left(d, d->call->rounds[round].count, error);
    if (!status) status = find_left(d, &from, error);
    if (status) return status;
    from.whole = scores_last(d, from.count);
    status = from.whole ? score_whole(d, &from, error) : score_left(d, &from, error);
    return status ? status : choose(d, &from, error);
}

/* ---- the call ---- */

static ee_status begin(deciding *d, ee_error *error)
{
    d->room->made.count = d->room->made.word_count = 0;
    if (!d->call->slots || !d->call->count) return EE_OK;
    size_t arms = d->call->rounds[0].count;
    ee_status status = reserve_left(d, arms, error);
    if (!status) memset(d->room->left.taken, 0, arms * sizeof *d->room->left.taken);
    return status;
}

ee_status deciding_call_make(const deciding_call *self, const decision_rules *rules, const parameters *learned,
                             deciding_room *room, ee_error *error)
{
    deciding d = {.call = self, .rules = rules, .learned = learned, .room = room, .length = learned->length};
    bool leaves_out = self->slots || self->excluded;
    ee_status status = begin(&d, error);
    for (size_t i = 0, together = 1; i < self->count && !status; i += together) {
        if (!leaves_out) together = rounds_together(&d, i);
        status = leaves_out ? decide_left(&d, i, error) : decide_together(&d, i, together, error);
    }
    room->made.length = d.length;
    room->scratch.positions = NULL;
    return status;
}
