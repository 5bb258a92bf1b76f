#include "deciding.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "arms.h"
#include "limits.h"
#include "propensity.h"

/* ---- rules and room ---- */

decision_streams decision_streams_of(uint64_t seed)
{
    return (decision_streams){
        .posterior = random_named(seed, "posterior"),
        .exploration = random_named(seed, "exploration"),
        .estimation = random_named(seed, "estimation"),
    };
}

void decision_rules_read(decision_rules *self, const common_options *options, size_t dim)
{
    const double amounts[] = {
        [PROPENSITY_FLOOR] = options->propensity_epsilon,
        [PROPENSITY_SOFTMAX] = options->propensity_temperature,
        [PROPENSITY_IGW] = options->propensity_gamma,
    };
    int pick = options->propensity.pick;
    *self = (decision_rules){
        .dim = dim,
        .arms = (size_t)options->arms,
        .nonzeros = options->grows ? 0 : (size_t)options->nonzeros,
        .scales = options->scale,
        .rule = {.kind = (propensity_kind)pick, .amount = amounts[pick]},
    };
    self->probability_draws = (uint64_t)options->probability_draws;
}

static ee_status reserve_arms(deciding_room *self, const decision_rules *rules, const policy *decider, size_t arms,
                              ee_error *error)
{
    ee_status status = scratch_reserve(&self->scratch, self->memory, policy_scratch_count(decider, arms), error);
    if (!status)
        status = memory_grow(self->memory, &self->scores, &self->score_capacity, arms, sizeof(ee_score), error);
    if (!status)
        status =
            memory_grow(self->memory, &self->probabilities, &self->probability_capacity, arms, sizeof(double), error);
    if (status || (!rules->probability_draws && !decider->class->vote)) return status;
    status = memory_grow(self->memory, &self->redrawn, &self->redrawn_capacity, arms, sizeof(ee_score), error);
    if (!status) status = memory_grow(self->memory, &self->wins, &self->win_capacity, arms, sizeof(double), error);
    return status;
}

static ee_status reserve_values(deciding_room *self, size_t values, ee_error *error)
{
    return memory_grow(self->memory, &self->scaled, &self->scaled_capacity, values, sizeof(float), error);
}

ee_status deciding_room_create(deciding_room *self, memory *owner, const decision_rules *rules, const policy *decider,
                               uint64_t seed, ee_error *error)
{
    made_decisions *made = &self->made;
    size_t words = kept_decision_usual_words(decider, rules->dim, rules->nonzeros, rules->arms);
    self->memory = owner;
    self->streams = decision_streams_of(seed);
    ee_status status = reserve_arms(self, rules, decider, rules->arms, error);
    if (!status) status = memory_grow(owner, &made->rows, &made->capacity, 1, sizeof *made->rows, error);
    if (!status) status = memory_grow(owner, &made->words, &made->word_capacity, words, sizeof *made->words, error);
    if (status || !rules->scales) return status;
    /* As in pending.c, a dense arm may have twice as many values as a sparse one. */
    size_t values = 2 * rules->nonzeros < rules->dim ? 2 * rules->nonzeros : rules->dim;
    return reserve_values(self, rules->arms * values, error);
}

/* ---- scoring ---- */

float deciding_scale(const decision_rules *rules, double divisor)
{
    return rules->scales && divisor > 0 ? (float)(1 / divisor) : 1;
}

/* values (arms_value_count) = the arms divided by their divisor. */
static ee_status scale_arms(const decision_rules *rules, const ee_arms *arms, scored_arms *out, float *values,
                            ee_error *error)
{
    size_t count = arms_value_count(arms);
    bool compares = rules->scales && arm_length_compares(&out->length);
    out->divisor = compares ? arm_length_divide(&out->length, arms_mean_length(arms)) : out->length.value;
    float scale = deciding_scale(rules, out->divisor);
    for (size_t i = 0; i < count; i++) values[i] = scale * arms->values[i];
    if (vector_is_within(values, count, LARGEST_INPUT)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "arms: a feature is more than 1e9 times the mean length of the first rounds' arms, which is %g",
                       out->divisor);
}

/* The ids of the arms of several rounds. */
static ee_status see_ids(const ee_arms *rounds, size_t count, deciding_room *room, ee_arms *out, ee_error *error)
{
    size_t at = 0;
    if (!out->ids) return EE_OK;
    ee_status status = memory_grow(room->memory, &room->ids, &room->id_capacity, out->count, sizeof *room->ids, error);
    for (size_t i = 0; i < count && !status; at += rounds[i++].count)
        memcpy(room->ids + at, rounds[i].ids, rounds[i].count * sizeof *room->ids);
    out->ids = room->ids;
    return status;
}

/* The arms as the policy sees them. */
static ee_status see_arms(const decision_rules *rules, const ee_arms *rounds, size_t count, deciding_room *room,
                          scored_arms *out, ee_error *error)
{
    size_t values = 0;
    out->arms = rounds[0];
    if (count == 1 && !rules->scales) return EE_OK;
    for (size_t i = 0; i < count; i++) values += arms_value_count(&rounds[i]);
    ee_status status = reserve_values(room, values, error);
    float *next = room->scaled;
    for (size_t i = 0; i < count && !status; i++) {
        status = scale_arms(rules, &rounds[i], out, next, error);
        next += arms_value_count(&rounds[i]);
        if (i) out->arms.count += rounds[i].count;
    }
    out->arms.values = room->scaled;
    return status || count == 1 ? status : see_ids(rounds, count, room, &out->arms, error);
}

ee_status deciding_scale_arms(const decision_rules *rules, const ee_arms *arms, arm_length length, deciding_room *room,
                              scored_arms *out, ee_error *error)
{
    *out = (scored_arms){.length = length};
    return see_arms(rules, arms, 1, room, out, error);
}

ee_status deciding_gradient(const parameters *learned, const scored_arms *scored, size_t arm, deciding_room *room,
                            float *gradient, ee_error *error)
{
    vector x = vector_of_arm(&scored->arms, arm);
    ee_status status =
        scratch_reserve(&room->scratch, room->memory, policy_explain_count(learned->policy, x.count), error);
    if (!status) status = scratch_reserve_seen(&room->scratch, room->memory, learned, &scored->arms, error);
    if (status) return status;
    policy_explain(learned, x, &room->scratch, gradient);
    if (vector_is_within(gradient, x.count, FLT_MAX)) return EE_OK;
    return status_fail(error, EE_DIVERGED,
                       "explain: a contribution to arm %zu is not finite: its features are too large, or training "
                       "diverged; use smaller features or a smaller learning rate",
                       arm);
}

ee_status deciding_score(const decision_rules *rules, const parameters *learned, const ee_arms *rounds, size_t count,
                         arm_length length, deciding_room *room, scored_arms *out, ee_error *error)
{
    *out = (scored_arms){.length = length};
    ee_status status = see_arms(rules, rounds, count, room, out, error);
    if (!status) status = reserve_arms(room, rules, learned->policy, out->arms.count, error);
    if (!status) status = scratch_reserve_seen(&room->scratch, room->memory, learned, &out->arms, error);
    if (status) return status;
    room->scratch.random = room->streams.posterior;
    policy_score(learned, &out->arms, &room->scratch, room->scores);
    /* Parameters and features are finite, but a score may still overflow. */
    for (size_t i = 0; i < out->arms.count; i++)
        if (!isfinite(room->scores[i].score))
            return status_fail(error, EE_DIVERGED,
                               "score: the score of arm %zu is not finite: its features are too large, or training "
                               "diverged; use smaller features or a smaller learning rate",
                               i);
    room->streams.posterior = room->scratch.random;
    return EE_OK;
}

/* ---- drawing ---- */

static propensity_rule rule_now(const decision_rules *rules, const parameters *learned)
{
    const policy_class *class = learned->policy->class;
    propensity_rule rule = rules->rule.kind == PROPENSITY_OWN && class->rule ? class->rule(learned) : rules->rule;
    double spread = learned->spread > 0 ? learned->spread : 1; /* if it is 0, all scores are equal */
    if (rule.kind == PROPENSITY_SOFTMAX) rule.amount *= spread;
    if (rule.kind == PROPENSITY_IGW) rule.amount /= spread;
    return rule;
}

/* Counts in wins how often an arm is the best; ties share. */
static void count_wins(deciding_room *room, const ee_score *scores, size_t count, double *wins)
{
    propensity_fill((propensity_rule){.kind = PROPENSITY_ARGMAX}, scores, count, room->probabilities);
    for (size_t i = 0; i < count; i++) wins[i] += room->probabilities[i];
}

static void fill_votes(const parameters *learned, const ee_arms *arms, double voters, const drawable_arms *from,
                       deciding_room *room)
{
    memset(room->wins, 0, arms->count * sizeof *room->wins);
    for (size_t voter = 0; (double)voter < voters; voter++) {
        policy_vote(learned, arms, voter, &room->scratch, room->redrawn);
        limits_boost(from->limits, from->left, arms->count, room->redrawn);
        count_wins(room, room->redrawn, arms->count, room->wins);
    }
    for (size_t i = 0; i < arms->count; i++) room->probabilities[i] = room->wins[i] / voters;
}

/* Adds the wins of fresh draws to those of the draw that decides, and turns them into probabilities. */
static void estimate(const decision_rules *rules, const parameters *learned, const scored_arms *scored,
                     const drawable_arms *from, deciding_room *room)
{
    size_t count = scored->arms.count;
    room->scratch.random = room->streams.estimation;
    for (uint64_t draw = 0; draw < rules->probability_draws; draw++) {
        policy_score(learned, &scored->arms, &room->scratch, room->redrawn);
        limits_boost(from->limits, from->left, count, room->redrawn);
        count_wins(room, room->redrawn, count, room->wins);
    }
    room->streams.estimation = room->scratch.random;
    for (size_t i = 0; i < count; i++) room->probabilities[i] = room->wins[i] / (double)(rules->probability_draws + 1);
}

/* Stores the scores without boosts, and adds the boosts. */
static ee_status boost(const drawable_arms *from, deciding_room *room, ee_error *error)
{
    limit_room *own = &room->limits;
    ee_score *scores = room->scores + from->first;
    ee_status status = memory_grow(room->memory, &own->unboosted, &own->unboosted_capacity, from->count,
                                   sizeof *own->unboosted, error);
    if (status) return status;
    for (size_t i = 0; i < from->count; i++) own->unboosted[i] = scores[i].score;
    limits_boost(from->limits, from->left, from->count, scores);
    return EE_OK;
}

ee_status deciding_limit(const decision_rules *rules, const parameters *learned, const drawable_arms *from,
                         deciding_room *room, ee_error *error)
{
    limit_room *own = &room->limits;
    if (limits_have_shares(from->limits) && learned->policy->class->draws && !rules->probability_draws)
        return status_fail(error, EE_BAD_INPUT,
                           "limits: shares need probabilities, which this policy estimates only with option "
                           "probability_draws: set it, for example to 100");
    ee_status status = memory_grow(room->memory, &own->shares, &own->share_capacity, from->limits->group_count + 1,
                                   sizeof *own->shares, error);
    return status || !from->limits->boosts ? status : boost(from, room, error);
}

ee_score deciding_own_score(const drawable_arms *from, size_t drawn, const deciding_room *room)
{
    ee_score score = room->scores[drawn];
    if (from->limits->boosts) score.score = room->limits.unboosted[drawn - from->first];
    return score;
}

/* Moves the probabilities into the bounds of the groups. Those of a policy that draws its scores are first estimated:
 * its one draw only says which arm won. */
static void limit_shares(const decision_rules *rules, const parameters *learned, const scored_arms *scored,
                         const drawable_arms *from, deciding_room *room)
{
    double *probabilities = room->probabilities + from->first;
    if (learned->policy->class->draws) {
        memcpy(room->wins, probabilities, from->count * sizeof *room->wins);
        estimate(rules, learned, scored, from, room);
    }
    shares_project(from->limits, from->left, from->count, room->limits.shares, probabilities);
}

size_t deciding_draw(const decision_rules *rules, const parameters *learned, const scored_arms *scored,
                     const drawable_arms *from, deciding_room *room)
{
    double *probabilities = room->probabilities + from->first;
    propensity_rule rule = rule_now(rules, learned);
    if (rule.kind == PROPENSITY_VOTES)
        fill_votes(learned, &scored->arms, rule.amount, from, room);
    else
        propensity_fill(rule, room->scores + from->first, from->count, probabilities);
    if (limits_have_shares(from->limits)) limit_shares(rules, learned, scored, from, room);
    return from->first + propensity_draw(probabilities, from->count, &room->streams.exploration);
}

void deciding_estimate(const decision_rules *rules, const parameters *learned, const scored_arms *scored,
                       const drawable_arms *from, size_t arm, deciding_room *room)
{
    size_t count = scored->arms.count;
    if (limits_have_shares(from->limits)) return;
    if (!rules->probability_draws) {
        for (size_t i = 0; i < count; i++) room->probabilities[i] = NAN;
        return;
    }
    memset(room->wins, 0, count * sizeof *room->wins);
    room->wins[arm] = 1; /* the draw that decided counts too */
    estimate(rules, learned, scored, from, room);
}

ee_status deciding_preview(const decision_rules *rules, const parameters *learned, const ee_arms *arms,
                           bool probabilities, deciding_room *room, scored_arms *out, ee_error *error)
{
    decision_streams before = room->streams;
    drawable_arms all = {.count = arms->count, .limits = arms->limits};
    ee_status status = deciding_score(rules, learned, arms, 1, learned->length, room, out, error);
    if (!status && all.limits) status = deciding_limit(rules, learned, &all, room, error);
    if (!status && probabilities) {
        size_t arm = deciding_draw(rules, learned, out, &all, room);
        if (learned->policy->class->draws) deciding_estimate(rules, learned, out, &all, arm, room);
    }
    room->streams = before;
    return status;
}
