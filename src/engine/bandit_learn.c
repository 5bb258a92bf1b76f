/* Learns the reward of a pending decision, of a record, or of a decision that this bandit did not make. */
#include <math.h>

#include "arms.h"
#include "bandit.h"
#include "record.h"

static ee_status check_reward(const ee_bandit *bandit, double reward, ee_error *error)
{
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "learn: bandit must not be NULL");
    return reward_range_check(&bandit->range, reward, error);
}

ee_status bandit_check_logged(const ee_bandit *bandit, size_t arms, size_t arm, double reward, ee_error *error)
{
    ee_status status = check_reward(bandit, reward, error);
    if (status || arm < arms) return status;
    return status_fail(error, EE_BAD_INPUT, "learn: arm %zu was chosen, but the round has %zu arms", arm, arms);
}

ee_status bandit_reserve(ee_bandit *self, const observation *seen, ee_error *error)
{
    ee_status status = bandit_add_columns(self, seen->x, error);
    return status ? status : policy_reserve(self->policy, seen, error);
}

ee_status bandit_learn_seen(ee_bandit *bandit, const observation *seen, double reward, ee_error *error)
{
    const policy_class *class = bandit->policy->class;
    ee_status status = class->learn ? bandit_reserve(bandit, seen, error) : EE_OK;
    if (status) return status;
    double within = fmin(fmax(reward, bandit->range.low), bandit->range.high);
    if (class->learn && !policy_learn(bandit->policy, seen, (float)within))
        return status_fail(
            error, EE_DIVERGED,
            "learn: training diverged and was undone; use a smaller learning rate, or smaller rewards and features");
    bandit->policy->limited += within != reward;
    bandit->rewards++;
    return EE_OK;
}

void bandit_set_stride(ee_bandit *self, uint64_t stride)
{
    self->policy->stride = stride;
}

ee_status ee_bandit_learn(ee_bandit *bandit, uint64_t decision_id, double reward, ee_error *error)
{
    pending_entry *entry;
    ee_status status = check_reward(bandit, reward, error);
    if (!status) status = pending_find(&bandit->pending, decision_id, bandit->decisions, "learn", &entry, error);
    if (status) return status;
    observation seen = pending_observation(&bandit->pending, entry);
    status = bandit_learn_seen(bandit, &seen, reward, error);
    if (!status) pending_remove(&bandit->pending, entry, PENDING_REWARDED);
    return status;
}

ee_status ee_bandit_learn_many(ee_bandit *bandit, const uint64_t *decision_ids, const double *rewards, size_t count,
                               size_t *learned, ee_error *error)
{
    size_t done = 0;
    ee_status status = EE_OK;
    if (!bandit || (count && (!decision_ids || !rewards)))
        status = status_fail(error, EE_BAD_INPUT, "learn: bandit, decision_ids and rewards must not be NULL");
    while (!status && done < count) {
        status = ee_bandit_learn(bandit, decision_ids[done], rewards[done], error);
        if (!status) done++;
    }
    if (learned) *learned = done;
    return status;
}

ee_status ee_bandit_forget(ee_bandit *bandit, uint64_t decision_id, ee_error *error)
{
    pending_entry *entry;
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "forget: bandit must not be NULL");
    ee_status status = pending_find(&bandit->pending, decision_id, bandit->decisions, "forget", &entry, error);
    if (status) return status;
    observation seen = pending_observation(&bandit->pending, entry);
    if (seen.awaited) counted_decisions_add(&bandit->counted, &seen);
    pending_remove(&bandit->pending, entry, PENDING_FORGOTTEN);
    return EE_OK;
}

ee_status ee_bandit_learn_from(ee_bandit *bandit, const ee_arms *arms, size_t arm, double reward, ee_error *error)
{
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "learn: bandit must not be NULL");
    ee_status status = arms_check(arms, bandit->dim, error);
    if (!status) status = bandit_check_logged(bandit, arms->count, arm, reward, error);
    if (status) return status;
    const parameters *learned = &bandit->policy->parameters;
    deciding_room *room = bandit->room;
    decision_streams before = room->streams; /* learning from a log draws no random numbers */
    scored_arms scored;
    status = deciding_score(&bandit->rules, learned, arms, 1, learned->length, room, &scored, error);
    room->streams = before;
    if (status) return status;
    kept_decision kept = kept_decision_make(learned->round, arms->count, &scored.arms, arm, room->scores[arm]);
    status = bandit_reserve_words(bandit, kept_decision_words(&kept, bandit->policy), error);
    if (status) return status;
    kept_decision_fill(&kept, learned, &scored.arms, arm, &room->scratch, bandit->words);
    observation seen = kept_decision_observation(&kept, bandit->policy, bandit->words);
    status = bandit_learn_seen(bandit, &seen, reward, error);
    if (!status) bandit->policy->parameters.length = scored.length;
    return status;
}

/* ---- records ---- */

/* Rescales the arm of a record from the divisor `from` to `to`. words begin with its values. */
static ee_status rescale(double from, double to, const kept_decision *kept, uint32_t *words, ee_error *error)
{
    float *values = (float *)(void *)words;
    float scale = (float)((from > 0 ? from : 1) / (to > 0 ? to : 1));
    for (uint32_t i = 0; i < kept->entries; i++) values[i] *= scale;
    if (vector_is_within(values, kept->entries, LARGEST_INPUT)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "learn: a feature of the record's arm is more than 1e9 times the mean length of the first "
                       "rounds' arms, which is %g",
                       to);
}

ee_status bandit_read_record(ee_bandit *bandit, const void *record, size_t size, kept_decision *kept,
                             arm_length *length, ee_error *error)
{
    record_head head;
    size_t words = 0;
    ee_status status = record_read(record, size, bandit->fingerprint, bandit->policy, &head, &words, error);
    if (!status) status = bandit_reserve_words(bandit, words, error);
    if (!status) status = record_read_words(record, &head, bandit->policy, bandit->dim, words, bandit->words, error);
    if (status) return status;
    *kept = head.decision;
    *length = bandit->policy->parameters.length;
    if (!bandit->rules.scales) return EE_OK;
    double divisor = arm_length_divide(length, head.length);
    return head.length == divisor ? EE_OK : rescale(head.length, divisor, kept, bandit->words, error);
}

ee_status ee_bandit_learn_record(ee_bandit *bandit, const void *record, size_t size, double reward, ee_error *error)
{
    kept_decision kept;
    arm_length length;
    ee_status status = check_reward(bandit, reward, error);
    if (!status && !record) status = status_fail(error, EE_BAD_INPUT, "learn: record must not be NULL");
    if (!status) status = bandit_read_record(bandit, record, size, &kept, &length, error);
    if (status) return status;
    observation seen = kept_decision_observation(&kept, bandit->policy, bandit->words);
    counted_decisions_find(&bandit->counted, &seen);
    status = bandit_learn_seen(bandit, &seen, reward, error);
    if (status) return status;
    if (seen.awaited)
        counted_decisions_remove(&bandit->counted, &seen);
    else
        bandit->policy->parameters.length = length;
    return EE_OK;
}
