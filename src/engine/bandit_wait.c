/* Pending decisions: they are counted as tried, added from records, and expire. */
#include <math.h>
#include <string.h>

#include "bandit.h"

ee_status bandit_await_pending(ee_bandit *self, ee_error *error)
{
    pending_entry *entry;
    if (!self->policy->class->await) return EE_OK;
    while ((entry = pending_uncounted(&self->pending, self->decisions))) {
        observation seen = pending_observation(&self->pending, entry);
        ee_status status = bandit_reserve(self, &seen, error);
        if (status) return status;
        entry->awaited_at = self->policy->parameters.round;
        entry->expected = policy_await(self->policy, &seen);
        entry->awaited = true;
    }
    return EE_OK;
}

ee_status ee_bandit_take_record(ee_bandit *bandit, const void *record, size_t size, ee_decision *decision,
                                ee_error *error)
{
    kept_decision kept;
    arm_length length;
    if (!bandit || !record || !decision)
        return status_fail(error, EE_BAD_INPUT, "record: bandit, record and decision must not be NULL");
    ee_status status = bandit_read_record(bandit, record, size, &kept, &length, error);
    if (status) return status;
    size_t words = kept_decision_words(&kept, bandit->policy);
    status = pending_reserve(&bandit->pending, 1, words, error);
    if (status) return status;
    observation seen = kept_decision_observation(&kept, bandit->policy, bandit->words);
    counted_decisions_find(&bandit->counted, &seen);
    bandit_add_pending(bandit, &kept, bandit->words);
    decision->id = bandit->decisions;
    if (seen.awaited) { /* it was added before, and is already counted */
        counted_decisions_remove(&bandit->counted, &seen);
        pending_set_awaited(&bandit->pending, bandit->decisions, &seen);
    } else {
        bandit->policy->parameters.length = length;
    }
    return EE_OK;
}

/* ---- missing rewards ---- */

/* Ends a pending decision without a reward: learns it with the default reward or, if there is none or it cannot be
 * learned, forgets it. Removes and counts it. Does nothing if the entry is not pending. */
static void expire(ee_bandit *self, pending_entry *entry)
{
    double reward = self->pending.default_reward;
    if (entry->state != PENDING_WAITING) return;
    observation seen = pending_observation(&self->pending, entry);
    bool learned = !isnan(reward) && !bandit_learn_seen(self, &seen, reward, NULL);
    if (learned)
        self->defaulted++;
    else
        self->expired++;
    if (!learned && seen.awaited) counted_decisions_add(&self->counted, &seen);
    pending_remove(&self->pending, entry, learned ? PENDING_DEFAULTED : PENDING_EXPIRED);
}

void bandit_add_pending(ee_bandit *self, const kept_decision *kept, const uint32_t *words)
{
    pending_entry leaving;
    uint32_t *place = pending_add(&self->pending, ++self->decisions, kept, self->now, &leaving);
    size_t count = kept_decision_words(kept, self->policy);
    if (count) memcpy(place, words, count * sizeof *place);
    expire(self, &leaving);
}

ee_status ee_bandit_set_time(ee_bandit *bandit, double now, ee_error *error)
{
    pending_entry *oldest;
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "time: bandit must not be NULL");
    if (!isfinite(now)) return status_fail(error, EE_BAD_INPUT, "time: expected a finite number, got %g", now);
    if (now < bandit->now)
        return status_fail(error, EE_BAD_INPUT, "time: cannot go back from %.15g to %.15g", bandit->now, now);
    bandit->now = now;
    if (bandit->pending.wait == 0) return EE_OK;
    while ((oldest = pending_oldest(&bandit->pending, bandit->decisions)) && now - oldest->time > bandit->pending.wait)
        expire(bandit, oldest);
    return EE_OK;
}
