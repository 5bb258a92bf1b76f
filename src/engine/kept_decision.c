#include "kept_decision.h"

#include <string.h>

kept_decision kept_decision_make(uint64_t round, size_t round_arms, const ee_arms *arms, size_t arm, ee_score score)
{
    vector played = vector_of_arm(arms, arm);
    return (kept_decision){
        round, round_arms, score, arm_id_of(arms, arm), (uint32_t)played.count, played.indices != NULL};
}

static size_t vector_words(const kept_decision *self)
{
    return (size_t)self->entries * (self->sparse ? 2 : 1);
}

size_t kept_decision_words(const kept_decision *self, const policy *owner)
{
    return vector_words(self) + policy_kept_count(owner, self->round, self->arms);
}

size_t kept_decision_usual_words(const policy *owner, size_t dim, size_t nonzeros, size_t arms)
{
    kept_decision usual = {.arms = arms, .entries = (uint32_t)(nonzeros < dim ? nonzeros : dim), .sparse = 1};
    return kept_decision_words(&usual, owner);
}

void kept_decision_fill(const kept_decision *self, const parameters *learned, const ee_arms *arms, size_t arm,
                        const scratch *room, uint32_t *words)
{
    vector x = vector_of_arm(arms, arm);
    if (x.count) memcpy(words, x.values, x.count * sizeof *words);
    if (x.count && x.indices) memcpy(words + x.count, x.indices, x.count * sizeof *words);
    if (!policy_kept_count(learned->policy, self->round, self->arms)) return;
    learned->policy->class->keep(learned, arms, arm, room, (float *)(void *)(words + vector_words(self)));
}

observation kept_decision_observation(const kept_decision *self, const policy *owner, const uint32_t *words)
{
    const float *values = (const float *)(const void *)words;
    return (observation){
        .round = self->round,
        .x = {values, self->sparse ? words + self->entries : NULL, self->entries},
        .id = self->id,
        .score = self->score,
        .kept = values + vector_words(self),
        .kept_count = policy_kept_count(owner, self->round, self->arms),
    };
}

void kept_decision_archive(kept_decision *self, archive *a)
{
    uint64_t arms = self->arms;
    archive_u64(a, &self->round);
    archive_u64(a, &arms);
    self->arms = (size_t)arms;
    archive_u32s(a, &self->entries, 1);
    archive_u32s(a, &self->sparse, 1);
    archive_floats(a, &self->score.exploitation, 1);
    archive_floats(a, &self->score.exploration, 1);
    archive_floats(a, &self->score.score, 1);
    if (a->version < 11) return; /* no ids */
    uint32_t known = self->id.known;
    archive_u32s(a, &known, 1);
    archive_u64(a, &self->id.value);
    if (a->reading && known > 1) archive_fail(a, EE_BAD_MODEL, "model: invalid id of a pending decision");
    self->id.known = known;
}
