#include "store_rows.h"

#include "row_checksum.h"

void store_sum_events(joining *set)
{
    for (size_t i = 0; i < set->touched_count; i++) joining_bandit(set, set->touched[i])->checksums = 0;
    for (size_t i = 0; i < set->event_count; i++) {
        join_event *new = &set->events[i];
        new->checksum = store_event_checksum(new->bandit, &new->event);
        joining_bandit(set, new->bandit)->checksums += (uint64_t) new->checksum;
    }
}

int64_t store_bandit_checksum(uint32_t number, json_text name, bool archived, json_text first_settings)
{
    row_checksum sum = {0};
    row_add_integer(&sum, number);
    row_add_text(&sum, name);
    row_add_integer(&sum, archived);
    row_add_text(&sum, first_settings);
    return row_checksum_end(&sum);
}

int64_t store_reward_id_checksum(uint32_t bandit, json_text id, json_text reward_id, double value,
                                 event_outcome outcome)
{
    row_checksum sum = {0};
    row_add_integer(&sum, bandit);
    row_add_text(&sum, id);
    row_add_text(&sum, reward_id);
    row_add_real(&sum, value);
    row_add_integer(&sum, (int64_t)outcome);
    return row_checksum_end(&sum);
}

int64_t store_clock_checksum(const stored_clock *clock)
{
    row_checksum sum = {0};
    row_add_integer(&sum, clock->time);
    row_add_integer(&sum, clock->ahead);
    row_add_integer(&sum, clock->in_doubt);
    return row_checksum_end(&sum);
}

/* ---- ends ---- */

static int64_t end_checksum(const int64_t *columns)
{
    row_checksum sum = {0};
    for (int i = 0; i < END_COLUMNS - 1; i++) row_add_integer(&sum, columns[i]);
    return row_checksum_end(&sum);
}

void store_end_columns(uint32_t bandit, const stored_end *end, int64_t columns[END_COLUMNS])
{
    const uint64_t values[] = {bandit, end->first, end->last, end->sum, end->settled_to, end->kept};
    for (int i = 0; i < END_COLUMNS - 1; i++) columns[i] = (int64_t)values[i];
    columns[END_COLUMNS - 1] = end_checksum(columns);
}

bool store_end_of(const int64_t columns[END_COLUMNS], stored_end *out)
{
    *out = (stored_end){(uint64_t)columns[1], (uint64_t)columns[2], (uint64_t)columns[3], (uint64_t)columns[4],
                        (uint64_t)columns[5]};
    return columns[END_COLUMNS - 1] == end_checksum(columns);
}

void store_end_apply(stored_end *end, const end_change *by)
{
    if (by->first) end->first = by->first;
    if (by->last) end->last = by->last;
    if (by->settles) end->settled_to = by->settled_to;
    end->sum += by->sum;
    end->kept += by->kept;
}

bool store_end_change_of(const join_bandit *bandit, end_change *out)
{
    *out = (end_change){.last = bandit->now.events,
                        .sum = bandit->checksums,
                        .settles = bandit->changed,
                        .settled_to = bandit->now.settled_to};
    return bandit->checksums || bandit->changed;
}
