/* Deciding and scoring with a bandit: one round, several at once, or a look that changes nothing. */
#include <string.h>

#include "arms.h"
#include "deciding_call.h"

static ee_status check(const ee_bandit *bandit, const ee_arms *arms, ee_error *error)
{
    if (!bandit || !arms) return status_fail(error, EE_BAD_INPUT, "arms: no bandit or no arms");
    return arms_check(arms, bandit->dim, error);
}

/* Gives the caller the scores and probabilities of the last decision. */
static void hand_out(const deciding_room *room, size_t count, ee_score *scores, double *probabilities)
{
    if (scores) memcpy(scores, room->scores, count * sizeof *scores);
    if (probabilities) memcpy(probabilities, room->probabilities, count * sizeof *probabilities);
}

/* Scores and probabilities as a decision now would have them, either where it is not NULL. */
static ee_status look(ee_bandit *bandit, const ee_arms *arms, ee_score *scores, double *probabilities, ee_error *error)
{
    const parameters *learned = &bandit->policy->parameters;
    deciding_room *room = &bandit->room;
    decision_streams before = room->streams; /* a look draws nothing */
    scored_arms scored;
    ee_status status = deciding_score(&bandit->rules, learned, arms, 1, learned->length, room, &scored, error);
    if (!status && probabilities) {
        size_t arm = deciding_draw(&bandit->rules, learned, &scored, 0, arms->count, room);
        if (bandit->policy->class->draws) deciding_estimate(&bandit->rules, learned, &scored, arm, room);
    }
    room->streams = before;
    if (!status) hand_out(room, arms->count, scores, probabilities);
    return status;
}

ee_status ee_bandit_score(ee_bandit *bandit, const ee_arms *arms, ee_score *scores, ee_error *error)
{
    ee_status status = check(bandit, arms, error);
    if (!status && !scores) status = status_fail(error, EE_BAD_INPUT, "score: nowhere to put the scores");
    return status ? status : look(bandit, arms, scores, NULL, error);
}

ee_status ee_bandit_probabilities(ee_bandit *bandit, const ee_arms *arms, double *probabilities, ee_error *error)
{
    ee_status status = check(bandit, arms, error);
    if (!status && !probabilities) status = status_fail(error, EE_BAD_INPUT, "probabilities: nowhere to put them");
    return status ? status : look(bandit, arms, NULL, probabilities, error);
}

ee_status ee_bandit_decide(ee_bandit *bandit, const ee_arms *arms, ee_decision *decision, ee_score *scores,
                           double *probabilities, ee_error *error)
{
    ee_status status = check(bandit, arms, error);
    if (!status && !decision) status = status_fail(error, EE_BAD_INPUT, "decide: nowhere to put the decision");
    if (status) return status;
    parameters *learned = &bandit->policy->parameters;
    const decision_rules *rules = &bandit->rules;
    deciding_room *room = &bandit->room;
    decision_streams before = room->streams;
    scored_arms scored;
    kept_decision kept;
    size_t arm = 0;
    status = bandit_tell(bandit, error);
    if (!status) status = deciding_score(rules, learned, arms, 1, learned->length, room, &scored, error);
    if (!status) {
        arm = deciding_draw(rules, learned, &scored, 0, arms->count, room);
        kept = kept_decision_make(learned->round, arms->count, vector_of_arm(&scored.arms, arm), room->scores[arm]);
        status = pending_reserve(&bandit->pending, 1, kept_decision_words(&kept, bandit->policy), error);
    }
    if (status) {
        room->streams = before;
        return status;
    }

    pending_entry leaving;
    uint32_t *words = pending_add(&bandit->pending, ++bandit->decisions, &kept, bandit->now, &leaving);
    kept_decision_fill(&kept, learned, &scored.arms, arm, &room->scratch, words);
    if (bandit->policy->class->draws) deciding_estimate(rules, learned, &scored, arm, room);
    *decision = (ee_decision){bandit->decisions, arm, room->probabilities[arm]};
    hand_out(room, arms->count, scores, probabilities);
    learned->length = scored.length;
    bandit_let_go(bandit, &leaving); /* last, since it may train */
    return EE_OK;
}

/* ---- several rounds in one call ---- */

typedef struct rounds_call {
    deciding_call call;
    const ee_arms *rounds; /* (call.count) */
    ee_decision *decisions;
    ee_score *scores;      /* of the rounds to come; or NULL */
    double *probabilities; /* likewise */
} rounds_call;

static ee_status check_rounds(const ee_bandit *bandit, const ee_arms *rounds, size_t count,
                              const ee_decision *decisions, ee_error *error)
{
    if (!bandit || (count && (!rounds || !decisions)))
        return status_fail(error, EE_BAD_INPUT, "decide: no bandit, no rounds or nowhere to put the decisions");
    for (size_t i = 0; i < count; i++) {
        ee_status status = arms_check(&rounds[i], bandit->dim, error);
        if (status) return status;
    }
    return EE_OK;
}

/* How many rounds from number first on are scored in one go: dense ones, where the policy allows it and keeps nothing
 * of a decision, since keep() must know which arms were a round. */
static size_t rounds_together(const rounds_call *c, size_t first)
{
    enum { ENOUGH_ARMS = 256 }; /* more at once gain nothing, and take more room */
    const policy *owner = c->call.bandit->policy;
    size_t last = first, arms = 0;
    if (!owner->class->alone || owner->class->draws) return 1;
    for (; last < c->call.count && !c->rounds[last].starts && arms < ENOUGH_ARMS; last++) {
        arms += c->rounds[last].count;
        if (policy_kept_count(owner, owner->parameters.round, c->rounds[last].count)) return 1;
    }
    return last > first ? last - first : 1;
}

/* Draws an arm for round number i, whose arms begin at number first of the scored ones, and writes down the decision.
 */
static ee_status decide_round(rounds_call *c, size_t i, const scored_arms *scored, size_t first, ee_error *error)
{
    ee_bandit *bandit = c->call.bandit;
    deciding_room *room = &bandit->room;
    const parameters *learned = &bandit->policy->parameters;
    size_t arm = deciding_draw(&bandit->rules, learned, scored, first, c->rounds[i].count, room);
    ee_status status = deciding_call_keep(&c->call, scored, arm, c->rounds[i].count, room->scores[arm], error);
    if (status) return status;
    if (bandit->policy->class->draws) deciding_estimate(&bandit->rules, learned, scored, arm, room);
    c->decisions[i] = (ee_decision){deciding_call_id(&c->call), arm - first, room->probabilities[arm]};
    return EE_OK;
}

static ee_status decide_together(rounds_call *c, size_t begin, size_t count, ee_error *error)
{
    ee_bandit *bandit = c->call.bandit;
    const parameters *learned = &bandit->policy->parameters;
    scored_arms scored;
    ee_status status = deciding_score(&bandit->rules, learned, c->rounds + begin, count, c->call.length, &bandit->room,
                                      &scored, error);
    if (status) return status;
    c->call.length = scored.length;
    size_t first = 0;
    for (size_t i = begin; i < begin + count && !status; first += c->rounds[i++].count)
        status = decide_round(c, i, &scored, first, error);
    if (status) return status;
    hand_out(&bandit->room, scored.arms.count, c->scores, c->probabilities);
    if (c->scores) c->scores += scored.arms.count;
    if (c->probabilities) c->probabilities += scored.arms.count;
    return EE_OK;
}

ee_status ee_bandit_decide_many(ee_bandit *bandit, const ee_arms *rounds, size_t count, ee_decision *decisions,
                                ee_score *scores, double *probabilities, ee_error *error)
{
    ee_status status = check_rounds(bandit, rounds, count, decisions, error);
    if (status) return status;
    rounds_call c = {.rounds = rounds, .decisions = decisions, .scores = scores, .probabilities = probabilities};
    status = deciding_call_begin(&c.call, bandit, count, error);
    for (size_t i = 0; i < count && !status;) {
        size_t together = rounds_together(&c, i);
        status = decide_together(&c, i, together, error);
        i += together;
    }
    return deciding_call_end(&c.call, status, error);
}
