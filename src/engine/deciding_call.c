#include "deciding_call.h"

ee_status deciding_call_begin(deciding_call *self, ee_bandit *bandit, size_t count, ee_error *error)
{
    *self = (deciding_call){
        .bandit = bandit, .count = count, .length = bandit->policy->parameters.length, .before = bandit->room.streams};
    ee_status status = memory_grow(&bandit->memory, &bandit->decided, &bandit->decided_capacity, count,
                                   sizeof *bandit->decided, error);
    return status || !count ? status : bandit_tell(bandit, error);
}

ee_status deciding_call_keep(deciding_call *self, const scored_arms *scored, size_t at, size_t round_arms,
                             ee_score score, ee_error *error)
{
    ee_bandit *bandit = self->bandit;
    const parameters *learned = &bandit->policy->parameters;
    kept_decision *kept = &bandit->decided[self->made++];
    *kept = kept_decision_make(learned->round, round_arms, vector_of_arm(&scored->arms, at), score);
    size_t words = kept_decision_words(kept, bandit->policy);
    ee_status status = bandit_reserve_words(bandit, self->words + words, error);
    if (status) return status;
    kept_decision_fill(kept, learned, &scored->arms, at, &bandit->room.scratch, bandit->words + self->words);
    self->words += words;
    if (words > self->most_words) self->most_words = words;
    return EE_OK;
}

uint64_t deciding_call_id(const deciding_call *self)
{
    return self->bandit->decisions + self->made;
}

/* How many of the decisions do not expire before the call ends. */
static size_t lasting(const deciding_call *self)
{
    size_t limit = self->bandit->pending.limit;
    return self->count < limit ? self->count : limit;
}

/* The decision of this call that is pushed out by a later one of it expires. Returns where the next one's words are. */
static const uint32_t *push_out(ee_bandit *bandit, const kept_decision *kept, const uint32_t *words)
{
    observation seen = kept_decision_observation(kept, bandit->policy, words);
    bandit_expire(bandit, &seen);
    return words + kept_decision_words(kept, bandit->policy);
}

/* Cannot fail: there is room. */
static void remember(const deciding_call *self)
{
    ee_bandit *bandit = self->bandit;
    const uint32_t *words = bandit->words, *leaving = words;
    size_t limit = bandit->pending.limit;
    bandit->policy->parameters.length = self->length;
    for (size_t i = 0; i < self->count; i++) {
        const kept_decision *kept = &bandit->decided[i];
        if (i >= limit) leaving = push_out(bandit, kept - limit, leaving);
        if (self->count - i <= lasting(self))
            bandit_remember(bandit, kept, words);
        else
            bandit_pass_over(bandit);
        words += kept_decision_words(kept, bandit->policy);
    }
}

ee_status deciding_call_end(deciding_call *self, ee_status status, ee_error *error)
{
    if (!status) status = pending_reserve(&self->bandit->pending, lasting(self), self->most_words, error);
    if (status)
        self->bandit->room.streams = self->before;
    else
        remember(self);
    return status;
}
