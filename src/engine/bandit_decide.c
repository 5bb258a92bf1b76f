/* Deciding and scoring with a bandit: one round, several, slots, or without changing anything. */
#include <string.h>

#include "arms.h"
#include "bandit.h"
#include "deciding_call.h"

/* ---- deciding ---- */

/* Cannot fail: memory is reserved. */
static void remember(ee_bandit *bandit, ee_decision *decisions)
{
    const made_decisions *made = &bandit->room->made;
    for (size_t i = 0; i < made->count; i++) decisions[i].id = bandit->decisions + 1 + i;
    bandit->policy->parameters.length = made->length;
    for (size_t i = 0; i < made->count; i++)
        bandit_add_pending(bandit, &made->rows[i].kept, made->words + made->rows[i].first_word);
}

static size_t most_words(const made_decisions *made)
{
    size_t most = 0;
    for (size_t i = 0; i < made->count; i++)
        if (made->rows[i].word_count > most) most = made->rows[i].word_count;
    return most;
}

ee_status bandit_check_count(const ee_bandit *bandit, size_t decisions, ee_error *error)
{
    if (decisions <= bandit->pending.limit) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "decide: %zu decisions in one call, but option pending is %zu: raise it, or decide fewer at a "
                       "time",
                       decisions, bandit->pending.limit);
}

static ee_status decide(ee_bandit *bandit, const deciding_call *call, ee_error *error)
{
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "decide: bandit must not be NULL");
    ee_status status = deciding_call_check(call, bandit->dim, error);
    if (!status) status = bandit_check_count(bandit, call->count, error);
    if (status) return status;
    deciding_room *room = bandit->room;
    decision_streams before = room->streams;
    if (call->count) status = bandit_await_pending(bandit, error);
    if (!status) status = deciding_call_make(call, &bandit->rules, &bandit->policy->parameters, room, error);
    if (!status) status = pending_reserve(&bandit->pending, call->count, most_words(&room->made), error);
    if (status)
        room->streams = before;
    else
        remember(bandit, call->decisions);
    return status;
}

ee_status ee_bandit_decide(ee_bandit *bandit, const ee_arms *arms, ee_decision *decision, ee_score *scores,
                           double *probabilities, ee_error *error)
{
    deciding_call call = {
        .rounds = arms, .count = 1, .decisions = decision, .scores = scores, .probabilities = probabilities};
    return decide(bandit, &call, error);
}

ee_status ee_bandit_decide_many(ee_bandit *bandit, const ee_arms *rounds, size_t count, const uint8_t *excluded,
                                ee_decision *decisions, ee_score *scores, double *probabilities, ee_error *error)
{
    deciding_call call = {rounds, count, excluded, false, decisions, scores, probabilities};
    return decide(bandit, &call, error);
}

ee_status ee_bandit_decide_slots(ee_bandit *bandit, const ee_arms *seen, size_t count, const uint8_t *excluded,
                                 ee_decision *decisions, ee_score *scores, double *probabilities, ee_error *error)
{
    deciding_call call = {seen, count, excluded, true, decisions, scores, probabilities};
    return decide(bandit, &call, error);
}

/* ---- without changing anything ---- */

/* The scores and probabilities of a decision now; either may be NULL. */
static ee_status preview(const ee_bandit *bandit, const ee_arms *arms, ee_score *scores, double *probabilities,
                         ee_error *error)
{
    scored_arms seen;
    deciding_room *room = bandit->room;
    ee_status status =
        deciding_preview(&bandit->rules, &bandit->policy->parameters, arms, probabilities != NULL, room, &seen, error);
    if (status) return status;
    if (scores) memcpy(scores, room->scores, arms->count * sizeof *scores);
    if (probabilities) memcpy(probabilities, room->probabilities, arms->count * sizeof *probabilities);
    return EE_OK;
}

ee_status ee_bandit_score(const ee_bandit *bandit, const ee_arms *arms, ee_score *scores, ee_error *error)
{
    if (!bandit || !scores) return status_fail(error, EE_BAD_INPUT, "score: bandit and scores must not be NULL");
    ee_status status = arms_check(arms, bandit->dim, error);
    return status ? status : preview(bandit, arms, scores, NULL, error);
}

ee_status ee_bandit_probabilities(const ee_bandit *bandit, const ee_arms *arms, double *probabilities, ee_error *error)
{
    if (!bandit || !probabilities)
        return status_fail(error, EE_BAD_INPUT, "probabilities: bandit and probabilities must not be NULL");
    ee_status status = arms_check(arms, bandit->dim, error);
    return status ? status : preview(bandit, arms, NULL, probabilities, error);
}
