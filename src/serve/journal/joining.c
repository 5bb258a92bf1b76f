#include "joining.h"

#include <math.h>

ee_status joining_append(store *into, joined_bandit *bandit, event *what, int64_t now, ee_error *error)
{
    what->number = bandit->events + 1;
    what->time = now;
    ee_status status = store_append(into, bandit->number, what, error);
    if (status) return status;
    bandit->events = what->number;
    bandit->time = now;
    if (what->kind == EVENT_DECISION || what->kind == EVENT_SETTLED || what->kind == EVENT_SETTINGS ||
        what->kind == EVENT_MODEL)
        bandit->news = what->number;
    return EE_OK;
}

/* ---- rewards ---- */

/* What becomes of a reward of this decision that comes now. */
static event_outcome outcome_of(const joining_rules *rules, const stored_decision *decision, int64_t now)
{
    if (now > decision->time + rules->wait) return REWARD_LATE;
    bool first_counts = decision->settled || rules->aggregation == LOG_REWARD_FIRST;
    if (decision->rewards && first_counts) return REWARD_REPEATED;
    return decision->settled ? REWARD_LATE : REWARD_JOINED;
}

/* What a decision is worth after one more reward, its count-th. */
static double worth(log_aggregation aggregation, double before, double reward, uint32_t count)
{
    if (count == 1) return reward;
    switch (aggregation) {
    case LOG_REWARD_SUM:
        return before + reward;
    case LOG_REWARD_MEAN:
        return before + (reward - before) / count;
    case LOG_REWARD_MAX:
        return fmax(before, reward);
    default:
        return reward; /* the last */
    }
}

static ee_status settle(store *into, joined_bandit *bandit, stored_decision *decision, int64_t now,
                        journal_counts *counts, ee_error *error)
{
    double default_reward = bandit->rules.default_reward;
    event settled = {.kind = EVENT_SETTLED, .decision = decision->number};
    if (decision->inactive) {
        settled.outcome = SETTLED_INACTIVE;
        counts->inactive++;
    } else if (decision->rewards) {
        settled.outcome = SETTLED_REWARDED;
        settled.value = decision->value;
    } else if (!isnan(default_reward)) {
        settled.outcome = SETTLED_DEFAULT;
        settled.value = default_reward;
        counts->defaulted++;
        bandit->defaulted++;
    } else {
        settled.outcome = SETTLED_NOTHING;
        counts->abandoned++;
    }
    counts->waiting--;
    bandit->waiting--;
    ee_status status = joining_append(into, bandit, &settled, now, error);
    decision->settled = settled.number;
    return status ? status : store_put_decision(into, bandit->number, decision, error);
}

/* Lets a reward count that was just logged. */
static ee_status join(store *into, joined_bandit *bandit, stored_decision *decision, double value, int64_t now,
                      journal_counts *counts, ee_error *error)
{
    log_aggregation aggregation = bandit->rules.aggregation;
    decision->rewards++;
    decision->value = worth(aggregation, decision->value, value, decision->rewards);
    bool settles = aggregation == LOG_REWARD_FIRST && !decision->inactive;
    if (settles) return settle(into, bandit, decision, now, counts, error);
    return store_put_decision(into, bandit->number, decision, error);
}

static void count_outcome(journal_counts *counts, event_outcome outcome)
{
    counts->joined += outcome == REWARD_JOINED;
    counts->repeated += outcome == REWARD_REPEATED;
    counts->late += outcome == REWARD_LATE;
    counts->unknown += outcome == REWARD_UNKNOWN;
    counts->claimed += outcome == REWARD_CLAIMED;
}

/* Whether the reward is new; else the verdict is set. */
static ee_status check_reward_id(store *into, const joined_bandit *bandit, journal_entry *entry, bool *is_new,
                                 journal_counts *counts, ee_error *error)
{
    event *reward = &entry->event;
    bool there = false;
    double before = 0;
    event_outcome outcome_before = OUTCOME_NONE;
    *is_new = true;
    if (!reward->reward_id.length) return EE_OK;
    ee_status status = store_add_reward_id(into, bandit->number, reward->id, reward->reward_id, reward->value,
                                           reward->outcome, &there, &before, &outcome_before, error);
    if (status || !there) return status;
    *is_new = false;
    if (before != reward->value) {
        entry->verdict = JOURNAL_CONFLICT;
        counts->conflicts++;
        status_fail(&entry->error, EE_BAD_INPUT, "reward: this reward_id was used before with the value %.17g", before);
        return EE_OK;
    }
    entry->verdict = JOURNAL_REPEATED;
    reward->outcome = outcome_before;
    counts->repeated++;
    return EE_OK;
}

ee_status joining_reward(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now, journal_counts *counts,
                         ee_error *error)
{
    event *reward = &entry->event;
    stored_decision decision = {0};
    bool found = false, is_new;
    ee_status status = store_find_decision(into, bandit->number, reward->id, &decision, &found, error);
    if (status) return status;
    reward->decision = decision.number;
    reward->outcome = found ? outcome_of(&bandit->rules, &decision, now) : REWARD_UNKNOWN;
    status = check_reward_id(into, bandit, entry, &is_new, counts, error);
    if (status || !is_new) return status;
    entry->verdict = JOURNAL_DONE;
    count_outcome(counts, reward->outcome);
    status = joining_append(into, bandit, reward, now, error);
    if (!status && reward->outcome == REWARD_JOINED)
        status = join(into, bandit, &decision, reward->value, now, counts, error);
    if (!status && reward->outcome == REWARD_UNKNOWN)
        status = store_add_unclaimed(into, bandit->number, reward->id, reward->number, error);
    return status;
}

/* ---- activations ---- */

static ee_status activate(store *into, joined_bandit *bandit, stored_decision *decision, event *what, int64_t now,
                          journal_counts *counts, ee_error *error)
{
    what->decision = decision->number;
    counts->activated++;
    ee_status status = joining_append(into, bandit, what, now, error);
    if (status) return status;
    decision->inactive = false;
    if (decision->rewards && bandit->rules.aggregation == LOG_REWARD_FIRST)
        return settle(into, bandit, decision, now, counts, error);
    return store_put_decision(into, bandit->number, decision, error);
}

/* The decision, or all slots of the round: those that can be are activated with the outcome. *what becomes what was
 * logged last; *some whether anything was. */
static ee_status activate_all(store *into, joined_bandit *bandit, stored_decision *first, event *what,
                              event_outcome outcome, int64_t now, bool *some, journal_counts *counts, ee_error *error)
{
    bool late = now > first->time + bandit->rules.wait,
         is_round = first->slots && what->id.length == slot_round_id(what->id, NULL).length;
    uint64_t count = is_round ? first->slots : 1, number = first->number;
    ee_status status = EE_OK;
    *some = false;
    for (uint64_t i = 0; !status && i < count; i++) {
        bool found = true;
        stored_decision other;
        if (i) status = store_get_decision(into, bandit->number, number + i, &other, &found, error);
        stored_decision *decision = i ? &other : first;
        if (status || !found || !decision->inactive) continue;
        *some = true;
        what->outcome = late || decision->settled ? REWARD_LATE : outcome;
        if (what->outcome == outcome)
            status = activate(into, bandit, decision, what, now, counts, error);
        else {
            what->decision = decision->number;
            status = joining_append(into, bandit, what, now, error);
        }
    }
    return status;
}

ee_status joining_activation(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now,
                             journal_counts *counts, ee_error *error)
{
    event *what = &entry->event;
    stored_decision decision = {0};
    bool found = false, some;
    entry->verdict = JOURNAL_DONE;
    ee_status status = store_find_decision(into, bandit->number, what->id, &decision, &found, error);
    if (status) return status;
    if (!found) {
        what->outcome = REWARD_UNKNOWN;
        what->decision = 0;
        status = joining_append(into, bandit, what, now, error);
        return status ? status : store_add_unclaimed(into, bandit->number, what->id, what->number, error);
    }
    what->decision = decision.number;
    status = activate_all(into, bandit, &decision, what, REWARD_JOINED, now, &some, counts, error);
    if (status || some) return status;
    entry->verdict = JOURNAL_REPEATED;
    what->outcome = REWARD_REPEATED;
    return EE_OK;
}

/* ---- decisions ---- */

static ee_status claim_reward(store *into, joined_bandit *bandit, event *reward, stored_decision *decision, int64_t now,
                              journal_counts *counts, ee_error *error)
{
    event_outcome outcome = outcome_of(&bandit->rules, decision, now);
    reward->outcome = outcome == REWARD_JOINED ? REWARD_CLAIMED : outcome;
    count_outcome(counts, reward->outcome);
    ee_status status = joining_append(into, bandit, reward, now, error);
    if (!status && outcome == REWARD_JOINED) status = join(into, bandit, decision, reward->value, now, counts, error);
    return status;
}

/* The rewards and activations that came before their decision. */
static ee_status claim(store *into, joined_bandit *bandit, json_text id, stored_decision *decision, int64_t now,
                       journal_counts *counts, ee_error *error)
{
    while (store_has_unclaimed(into, bandit->number)) {
        uint64_t number;
        bool some;
        event early = {.id = id, .decision = decision->number};
        ee_status status = store_take_unclaimed(into, bandit->number, id, &number, &early.kind, &early.value, error);
        if (status || !number) return status;
        if (early.kind == EVENT_ACTIVATED)
            status = activate_all(into, bandit, decision, &early, REWARD_CLAIMED, now, &some, counts, error);
        else
            status = claim_reward(into, bandit, &early, decision, now, counts, error);
        if (status) return status;
    }
    return EE_OK;
}

static void recognize(const stored_decision *before, uint64_t number, journal_entry *entry, journal_counts *counts)
{
    bool same = memcmp(before->request, entry->request, sizeof entry->request) == 0;
    entry->verdict = same ? JOURNAL_REPEATED : JOURNAL_CONFLICT;
    entry->event.number = number;
    entry->event.time = before->time;
    counts->repeated_decisions += same;
    counts->conflicts += !same;
    if (!same) status_fail(&entry->error, EE_BAD_INPUT, "decide: this id was used for another request");
}

/* Writes the decision, which is new, without what came before it. */
static ee_status add_decision(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now,
                              stored_decision *decision, journal_counts *counts, ee_error *error)
{
    event *made = &entry->event;
    entry->verdict = JOURNAL_DONE;
    counts->decisions++;
    counts->waiting++;
    bandit->waiting++;
    ee_status status = joining_append(into, bandit, made, now, error);
    if (status) return status;
    *decision = (stored_decision){.number = made->number,
                                  .time = now,
                                  .request = {entry->request[0], entry->request[1]},
                                  .inactive = entry->deferred,
                                  .slots = entry->slot_index ? 0 : (uint32_t)entry->slot_count};
    if (bandit->deadline == INT64_MAX) bandit->deadline = now + bandit->rules.wait + 1;
    return store_add_decision(into, bandit->number, made->id, decision, error);
}

static ee_status decide_one(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now,
                            journal_counts *counts, ee_error *error)
{
    stored_decision decision;
    json_text id = entry->event.id;
    bool found = false;
    ee_status status = EE_OK;
    if (!entry->own_id) status = store_find_decision(into, bandit->number, id, &decision, &found, error);
    if (status) return status;
    if (found) {
        recognize(&decision, decision.number, entry, counts);
        return EE_OK;
    }
    status = add_decision(into, bandit, entry, now, &decision, counts, error);
    if (status || entry->own_id) return status;
    return claim(into, bandit, id, &decision, now, counts, error);
}

/* ---- rounds of slots ---- */

static journal_entry *next_slot(const journal_entry *entry)
{
    return entry->with_next ? entry->next : NULL;
}

static bool is_round(const journal_entry *first)
{
    size_t count = 0;
    for (const journal_entry *entry = first; entry; entry = next_slot(entry), count++)
        if (entry->event.kind != EVENT_DECISION || entry->slot_index != count || entry->slot_count != first->slot_count)
            return false;
    return count == first->slot_count;
}

/* What came before the round, for its slots and then for the whole. They are claimed when all slots are written, so
 * that these follow each other. */
static ee_status claim_round(store *into, joined_bandit *bandit, const journal_entry *first, json_text id, int64_t now,
                             journal_counts *counts, ee_error *error)
{
    ee_status status = EE_OK;
    stored_decision decision;
    bool found = false;
    for (const journal_entry *entry = first; entry && !status; entry = next_slot(entry)) {
        status = store_get_decision(into, bandit->number, entry->event.number, &decision, &found, error);
        if (!status && found) status = claim(into, bandit, entry->event.id, &decision, now, counts, error);
    }
    if (!status) status = store_get_decision(into, bandit->number, first->event.number, &decision, &found, error);
    return status || !found ? status : claim(into, bandit, id, &decision, now, counts, error);
}

/* A round is known by its own id: slots of another request have other ids, perhaps. */
static ee_status decide_round(store *into, joined_bandit *bandit, journal_entry *first, int64_t now,
                              journal_counts *counts, ee_error *error)
{
    json_text id = slot_round_id(first->event.id, NULL);
    stored_decision decision;
    bool found = false;
    ee_status status = EE_OK;
    if (!first->own_id) status = store_find_decision(into, bandit->number, id, &decision, &found, error);
    uint64_t number = found ? decision.number : 0;
    for (journal_entry *entry = first; entry && !status; entry = next_slot(entry)) {
        if (found)
            recognize(&decision, number++, entry, counts);
        else
            status = add_decision(into, bandit, entry, now, &decision, counts, error);
    }
    if (status || found) return status;
    status = store_add_round(into, bandit->number, id, first->event.number, error);
    if (status || first->own_id || !store_has_unclaimed(into, bandit->number)) return status;
    return claim_round(into, bandit, first, id, now, counts, error);
}

ee_status joining_decision(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now,
                           journal_counts *counts, ee_error *error)
{
    if (!entry->slot_count) return decide_one(into, bandit, entry, now, counts, error);
    if (is_round(entry)) return decide_round(into, bandit, entry, now, counts, error);
    entry->verdict = JOURNAL_FAILED;
    status_fail(&entry->error, EE_BAD_INPUT, "journal: a round with slots is submitted as a whole");
    return EE_OK;
}

/* ---- the end of the wait ---- */

/* Decisions that are settled are no longer looked for. The store is told when some were settled now, and else now and
 * then. */
static ee_status advance(store *into, joined_bandit *bandit, uint64_t settled_to, bool some, ee_error *error)
{
    bool tell = some || settled_to / 1024 != bandit->settled_to / 1024;
    bandit->settled_to = settled_to;
    if (!tell) return EE_OK;
    stored_bandit stored = {.number = bandit->number, .archived = bandit->archived, .settled_to = settled_to};
    return store_put_bandit(into, &stored, error);
}

ee_status joining_settle(store *into, joined_bandit *bandit, int64_t now, size_t most, size_t *settled,
                         journal_counts *counts, ee_error *error)
{
    enum { PORTION = 64 };
    stored_decision waiting[PORTION];
    int64_t wait = bandit->rules.wait;
    size_t count = 0, portion;
    *settled = 0;
    do {
        uint64_t upto = bandit->settled_to;
        int64_t next;
        portion = most - *settled < PORTION ? most - *settled : PORTION;
        ee_status status = store_waiting(into, bandit->number, bandit->settled_to, now - wait, waiting, portion, &count,
                                         &upto, &next, error);
        for (size_t i = 0; !status && i < count; i++) status = settle(into, bandit, &waiting[i], now, counts, error);
        if (!status) status = advance(into, bandit, upto, count > 0, error);
        if (status) return status;
        *settled += count;
        bandit->deadline = next == INT64_MAX ? INT64_MAX : next + wait + 1;
    } while (bandit->deadline <= now && *settled < most && count == portion);
    return EE_OK;
}
