#include "decision_arms.h"

#include "base/random.h"

static bool is_excluded(const decision_body *body, size_t action)
{
    return body->excluded && body->excluded[action];
}

size_t decision_arms_count(const decision_body *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->count; i++) count += !is_excluded(body, i);
    return count;
}

size_t decision_arms_action(const decision_body *body, size_t arm)
{
    size_t action = 0;
    for (;; action++)
        if (!is_excluded(body, action) && arm-- == 0) return action;
}

/* The ids of the remaining actions, if they have names. */
static ee_status add_ids(decision_arms *room, const decision_body *body, ee_arms *arms, ee_error *error)
{
    if (!body->names) return EE_OK;
    ee_status status =
        memory_grow(&room->memory, &room->ids, &room->id_capacity, arms->count, sizeof *room->ids, error);
    if (status) return status;
    for (size_t i = 0, arm = 0; i < body->count; i++)
        if (!is_excluded(body, i)) room->ids[arm++] = ee_arm_id(body->names[i].bytes, body->names[i].length);
    arms->ids = room->ids;
    return EE_OK;
}

/* The limits of the remaining actions; *out NULL: there are none. */
static ee_status make_limits(decision_arms *room, const decision_body *body, const ee_limits **out, ee_error *error)
{
    const decision_guard *guard = &body->guard;
    *out = NULL;
    if (!guard->boosts && !guard->shares) return EE_OK;
    ee_status status =
        memory_grow(&room->memory, &room->boosts, &room->boost_capacity, body->count, sizeof *room->boosts, error);
    if (!status)
        status =
            memory_grow(&room->memory, &room->groups, &room->group_capacity, body->count, sizeof *room->groups, error);
    if (status) return status;
    for (size_t i = 0, arm = 0; i < body->count; i++) {
        if (is_excluded(body, i)) continue;
        room->boosts[arm] = guard->boosts ? guard->boosts[i] : 0;
        room->groups[arm++] = guard->shares ? guard->shares[i] : EE_NO_GROUP;
    }
    room->limits = (ee_limits){.boosts = guard->boosts ? room->boosts : NULL,
                               .groups = guard->shares ? room->groups : NULL,
                               .low = guard->low,
                               .high = guard->high,
                               .group_count = guard->shares ? guard->share_count : 0};
    *out = &room->limits;
    return EE_OK;
}

static ee_status make_vectors(decision_arms *room, const decision_body *body, size_t count, ee_arms *arms,
                              ee_error *error)
{
    size_t dim = body->dim;
    *arms = ee_arms_dense(body->values, count, dim);
    ee_status status = add_ids(room, body, arms, error);
    if (!status) status = make_limits(room, body, &arms->limits, error);
    if (status || count == body->count) return status;
    status = memory_grow(&room->memory, &room->values, &room->capacity, count * dim, sizeof *room->values, error);
    if (status) return status;
    float *next = room->values;
    for (size_t i = 0; i < body->count; i++) {
        if (is_excluded(body, i)) continue;
        memcpy(next, body->values + i * dim, dim * sizeof *next);
        next += dim;
    }
    arms->values = room->values;
    return EE_OK;
}

/* Adds the actions of "_multi", which the reader has begun, to the round. */
static ee_status add_actions(json_reader *reader, const decision_body *body, ee_round *round, ee_error *error)
{
    json_token token;
    json_text span;
    for (size_t i = 0;; i++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = json_skip(reader, &token, &span, error);
        if (!status && i < body->count && !is_excluded(body, i))
            status = ee_round_action(round, span.bytes, span.length, error);
        if (status) return status;
    }
}

/* What ee_round_read does, without the excluded ones. A context skips "_multi". */
static ee_status read_some(decision_arms *room, const decision_body *body, ee_round *round, ee_error *error)
{
    room->json.owner = &room->memory;
    json_reader reader = json_start(body->context.bytes, body->context.length, &room->json);
    json_token token;
    ee_status status = ee_round_context(round, body->context.bytes, body->context.length, error);
    if (!status) status = json_next(&reader, &token, error);
    while (!status) {
        status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) return status;
        if (json_is(token.key, "_multi") && token.kind == JSON_KIND_ARRAY)
            status = add_actions(&reader, body, round, error);
        else
            status = json_skip(&reader, &token, NULL, error);
    }
    return status;
}

ee_status decision_arms_make(decision_arms *room, const decision_body *body, ee_round *round, ee_arms *arms,
                             ee_error *error)
{
    size_t count = decision_arms_count(body);
    if (!count) return status_fail(error, EE_BAD_INPUT, "decide: no action is left to choose from");
    if (body->dim) return make_vectors(room, body, count, arms, error);
    ee_round_clear(round);
    ee_status status = count == body->count ? ee_round_read(round, body->context.bytes, body->context.length, error)
                                            : read_some(room, body, round, error);
    if (!status && ee_round_count(round) != count)
        return status_fail(error, EE_BAD_INPUT, "decide: the stored context does not match the decision's actions");
    const ee_limits *limits;
    if (!status) status = make_limits(room, body, &limits, error);
    if (!status) ee_round_set_limits(round, limits);
    return status;
}

/* ---- the response ---- */

/* One of the actions that are left, each with the same probability. */
static size_t draw_evenly(const decision_body *body)
{
    random_stream stream = random_named(body->seed, "baseline");
    size_t left = decision_arms_count(body), arm = (size_t)(random_unit(&stream) * (double)left);
    return decision_arms_action(body, arm < left ? arm : left - 1);
}

void decision_answer(decision_body *body, learning_mode mode, size_t choice, const double *of_arms,
                     double *probabilities)
{
    const decision_guard *guard = &body->guard;
    bool follows = mode != MODE_ONLINE || decision_follows_baseline(body);
    bool fixed = decision_follows_baseline(body) && guard->baseline == BASELINE_ACTION;
    bool evenly = decision_follows_baseline(body) && guard->baseline == BASELINE_UNIFORM;
    body->choice = decision_arms_action(body, choice);
    if (!body->slot_count && !fixed) body->baseline = decision_arms_action(body, 0);
    if (evenly)
        body->action = draw_evenly(body);
    else if (!guard->repeats.length)
        body->action = follows ? body->baseline : body->choice;
    double even = 1 / (double)decision_arms_count(body);
    bool certain = follows || guard->repeats.length;
    size_t arm = 0;
    for (size_t i = 0; i < body->count; i++) {
        bool excluded = is_excluded(body, i);
        probabilities[i] = excluded ? 0 : evenly ? even : certain ? i == body->action : of_arms[arm];
        arm += !excluded;
    }
    body->probabilities = probabilities;
}
