/* Decisions that wait for their reward: the policy is told of them, and those of snapshots join them. */
#include <string.h>

#include "bandit.h"

ee_status bandit_tell(ee_bandit *self, ee_error *error)
{
    policy *learner = self->policy;
    const policy_class *class = learner->class;
    pending_entry *entry;
    if (!class->await) return EE_OK;
    while ((entry = pending_untold(&self->pending, self->decisions))) {
        observation seen = pending_observation(&self->pending, entry);
        ee_status status = class->reserve(learner, &seen, error);
        if (status) return status;
        entry->awaited_at = learner->parameters.round;
        entry->expected = policy_await(learner, &seen);
        entry->awaited = true;
    }
    return EE_OK;
}

ee_status ee_bandit_take_record(ee_bandit *bandit, const void *record, size_t size, ee_decision *decision,
                                ee_error *error)
{
    kept_decision kept;
    double length;
    if (!bandit || !record || !decision)
        return status_fail(error, EE_BAD_INPUT, "record: no bandit, no record or nowhere to put its id");
    ee_status status = bandit_read_record(bandit, record, size, &kept, &length, error);
    if (status) return status;
    size_t words = kept_decision_words(&kept, bandit->policy);
    status = pending_reserve(&bandit->pending, 1, words, error);
    if (status) return status;
    decision->id = ++bandit->decisions;
    uint32_t *place = pending_add(&bandit->pending, decision->id, &kept);
    if (words) memcpy(place, bandit->words, words * sizeof *place);
    bandit->policy->parameters.length = length;
    return EE_OK;
}
