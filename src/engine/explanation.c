#include "explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arms.h"
#include "features/features.h"
#include "snapshot.h"

/* ---- one arm ---- */

static ee_status explain_arm(const decision_rules *rules, const parameters *learned, const ee_arms *arms, size_t arm,
                             deciding_room *room, float *contributions, ee_error *error)
{
    scored_arms seen;
    ee_status status = deciding_scale_arms(rules, arms, learned->length, room, &seen, error);
    if (!status) status = deciding_gradient(learned, &seen, arm, room, contributions, error);
    if (status) return status;
    vector x = vector_of_arm(&seen.arms, arm);
    for (size_t i = 0; i < x.count; i++) contributions[i] *= x.values[i];
    return EE_OK;
}

static ee_status check(const ee_arms *arms, size_t arm, size_t dim, const float *contributions, ee_error *error)
{
    if (!arms) return status_fail(error, EE_BAD_INPUT, "explain: arms must not be NULL");
    ee_status status = arms_check(arms, dim, error);
    if (status) return status;
    if (arm >= arms->count)
        return status_fail(error, EE_BAD_INPUT, "explain: arm must be 0 to %zu, got %zu", arms->count - 1, arm);
    if (!contributions && vector_of_arm(arms, arm).count)
        return status_fail(error, EE_BAD_INPUT, "explain: contributions must not be NULL");
    return EE_OK;
}

ee_status ee_bandit_explain(const ee_bandit *bandit, const ee_arms *arms, size_t arm, float *contributions,
                            ee_error *error)
{
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "explain: bandit must not be NULL");
    ee_status status = check(arms, arm, bandit->dim, contributions, error);
    if (status) return status;
    return explain_arm(&bandit->rules, &bandit->policy->parameters, arms, arm, bandit->room, contributions, error);
}

ee_status ee_snapshot_explain(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *arms, size_t arm,
                              float *contributions, ee_error *error)
{
    if (!snapshot || !work) return status_fail(error, EE_BAD_INPUT, "explain: snapshot and scratch must not be NULL");
    ee_status status = check(arms, arm, snapshot->rules.dim, contributions, error);
    if (status) return status;
    size_t copy = snapshot_enter(snapshot);
    status = explain_arm(&snapshot->rules, &snapshot->copies[copy], arms, arm, &work->room, contributions, error);
    snapshot_leave(snapshot, copy);
    return status;
}

/* ---- a round ---- */

/* The explanation of a round in progress. */
typedef struct explaining {
    const decision_rules *rules;
    const parameters *learned;
    const features *features; /* NULL: arms are vectors */
    ee_round *round;
    const ee_arms *arms; /* as given by the caller */
    scored_arms seen;
    ee_scratch *work;
    float scale;  /* factor to what the policy sees */
    int64_t only; /* the requested arm, or EXPLAIN_ALL */
} explaining;

static ee_status reserve_entries(explaining *e, size_t more, ee_error *error)
{
    explanation *out = &e->work->explanation;
    return memory_grow(&e->work->memory, &out->entries, &out->entry_capacity, out->entry_count + more,
                       sizeof *out->entries, error);
}

static void add_entry(explaining *e, uint32_t left, uint32_t right, double value, float gradient)
{
    explanation *out = &e->work->explanation;
    out->entries[out->entry_count++] =
        (explained_entry){left, right, (float)value, (float)(value * (double)e->scale * (double)gradient)};
}

static ee_status add_vector(explaining *e, vector x, const float *gradient, ee_error *error)
{
    ee_status status = reserve_entries(e, x.count, error);
    for (size_t i = 0; i < x.count && !status; i++)
        if (x.values[i] != 0)
            add_entry(e, x.indices ? x.indices[i] : (uint32_t)i, NO_FEATURE, (double)x.values[i], gradient[i]);
    return status;
}

/* The index of a place in a sparse vector; its count if it is absent. */
static size_t find(vector x, uint32_t place)
{
    size_t low = 0, high = x.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x.indices[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x.count && x.indices[low] == place ? low : x.count;
}

/* Features that share a place share its gradient. Two that cancel out leave no entry and contribute nothing. */
static ee_status add_terms(explaining *e, size_t arm, vector x, const float *gradient, ee_error *error)
{
    const feature_term *terms = NULL;
    size_t count = 0;
    ee_status status = features_terms(e->features, e->round, arm, &terms, &count, error);
    if (!status) status = reserve_entries(e, count, error);
    for (size_t i = 0; i < count && !status; i++) {
        size_t at = find(x, terms[i].place);
        add_entry(e, terms[i].left, terms[i].right, terms[i].value, at < x.count ? gradient[at] : 0);
    }
    return status;
}

static ee_status add_entries(explaining *e, size_t arm, explained_arm *next, ee_error *error)
{
    explanation *out = &e->work->explanation;
    vector given = vector_of_arm(e->arms, arm);
    ee_status status = memory_grow(&e->work->memory, &out->gradient, &out->gradient_capacity, given.count,
                                   sizeof *out->gradient, error);
    if (!status) status = deciding_gradient(e->learned, &e->seen, arm, &e->work->room, out->gradient, error);
    if (status) return status;
    status = e->features ? add_terms(e, arm, given, out->gradient, error) : add_vector(e, given, out->gradient, error);
    next->count = out->entry_count - next->first;
    double sum = 0;
    for (size_t i = 0; i < next->count; i++) sum += (double)out->entries[next->first + i].contribution;
    next->base = (float)((double)next->score.exploitation - sum);
    return status;
}

static ee_status add_arm(explaining *e, size_t arm, ee_error *error)
{
    explanation *out = &e->work->explanation;
    ee_score score = e->work->room.scores[arm];
    explained_arm *next = &out->arms[out->arm_count++];
    *next = (explained_arm){.score = score,
                            .probability = e->work->room.probabilities[arm],
                            .recalled = policy_recalled(e->learned, vector_of_arm(&e->seen.arms, arm),
                                                        arm_id_of(&e->seen.arms, arm), score),
                            .base = score.exploitation,
                            .first = out->entry_count};
    bool asked = e->only == EXPLAIN_ALL || e->only == (int64_t)arm;
    return asked ? add_entries(e, arm, next, error) : EE_OK;
}

/* Scores and probabilities come first, because gradients overwrite the scratch. */
static ee_status explain(explaining *e, ee_error *error)
{
    explanation *out = &e->work->explanation;
    deciding_room *room = &e->work->room;
    ee_status status = deciding_preview(e->rules, e->learned, e->arms, true, room, &e->seen, error);
    if (!status)
        status =
            memory_grow(&e->work->memory, &out->arms, &out->arm_capacity, e->arms->count, sizeof *out->arms, error);
    if (status) return status;
    e->scale = deciding_scale(e->rules, e->seen.divisor);
    out->arm_count = out->entry_count = 0;
    for (size_t arm = 0; arm < e->arms->count && !status; arm++) status = add_arm(e, arm, error);
    return status;
}

ee_status snapshot_explain(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *arms, ee_round *round,
                           uint64_t seed, int64_t only, explanation **out, ee_error *error)
{
    ee_arms encoded;
    ee_status status = EE_OK;
    if (arms) status = arms_check(arms, snapshot->rules.dim, error);
    if (!arms && !snapshot->features[0])
        status = status_fail(error, EE_BAD_INPUT,
                             "explain: this bandit takes vectors; for named features, set features when you create it");
    if (status) return status;
    decision_streams before = work->room.streams;
    work->room.streams = decision_streams_of(seed);
    size_t copy = snapshot_enter(snapshot);
    explaining e = {
        .rules = &snapshot->rules, .learned = &snapshot->copies[copy], .arms = arms, .work = work, .only = only};
    if (!arms) {
        e.features = snapshot->features[copy];
        e.round = round;
        e.arms = &encoded;
        status = features_encode(e.features, round, &encoded, error);
    }
    if (!status) status = explain(&e, error);
    work->explanation.version = snapshot->versions[copy];
    snapshot_leave(snapshot, copy);
    work->room.streams = before;
    if (!status) *out = &work->explanation;
    return status;
}

/* Ties by feature, so that an explanation is always the same. */
static int by_size(const void *left, const void *right)
{
    const explained_entry *a = left, *b = right;
    float difference = fabsf(b->contribution) - fabsf(a->contribution);
    if (difference != 0) return difference > 0 ? 1 : -1;
    if (a->left != b->left) return a->left < b->left ? -1 : 1;
    return a->right < b->right ? -1 : a->right > b->right;
}

void explanation_rank(explanation *self)
{
    for (size_t i = 0; i < self->arm_count; i++)
        qsort(self->entries + self->arms[i].first, self->arms[i].count, sizeof *self->entries, by_size);
}
