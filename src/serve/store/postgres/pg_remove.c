/* Removing and erasing events with what hangs on them: decisions, ids, reward ids and unclaimed rewards. Each step is
 * one statement for all rows. */
#include "pg_writer.h"
#include "serve/store/row_checksum.h"

/* A REWARD or ACTIVATED event. */
typedef struct forgotten_reward {
    uint64_t number;
    json_text id, reward_id;
    bool early;     /* it came before its decision */
    bool unclaimed; /* and its decision never came */
} forgotten_reward;

/* What hangs on the events; texts are borrowed from the result that lists them. */
typedef struct forgetting {
    memory memory;
    uint32_t bandit;
    json_text *ids; /* (id_count) of decisions and of rounds */
    size_t id_count, id_capacity;
    int64_t *decisions; /* (decision_count) places */
    size_t decision_count, decision_capacity;
    forgotten_reward *rewards; /* (reward_count) in the order of their numbers when events are removed */
    size_t reward_count, reward_capacity;
    uint64_t unclaimed; /* removed */
    end_change end;     /* what it changes of the end of the log */
} forgetting;

static ee_status add_id(forgetting *self, json_text id, ee_error *error)
{
    if (!id.length) return EE_OK;
    ee_status status =
        memory_grow(&self->memory, &self->ids, &self->id_capacity, self->id_count + 1, sizeof *self->ids, error);
    if (!status) self->ids[self->id_count++] = id;
    return status;
}

/* With the first slot of a round goes the round's id. */
static ee_status add_decision(forgetting *self, int64_t place, json_text id, bool first_slot, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->decisions, &self->decision_capacity, self->decision_count + 1,
                                   sizeof *self->decisions, error);
    if (!status) self->decisions[self->decision_count++] = place;
    if (!status) status = add_id(self, id, error);
    return status || !first_slot ? status : add_id(self, slot_round_id(id, NULL), error);
}

static ee_status add_reward(forgetting *self, const forgotten_reward *reward, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->rewards, &self->reward_capacity, self->reward_count + 1,
                                   sizeof *self->rewards, error);
    if (!status) self->rewards[self->reward_count++] = *reward;
    return status;
}

/* ---- statements ---- */

/* Arrays of the rewards for which `has` is true: columns are id (0), reward id (1), number (2), bandit (3). */
typedef bool has_reward(const forgotten_reward *reward);

static size_t add_rewards(pg_values *into, const forgetting *list, has_reward *has, int column)
{
    size_t count = 0;
    pg_array_start(into, column < 2 ? PG_BYTEA : PG_INT8);
    for (size_t i = 0; i < list->reward_count; i++) {
        const forgotten_reward *reward = &list->rewards[i];
        if (!has(reward)) continue;
        count++;
        if (column < 2)
            pg_element_text(into, column ? reward->reward_id : reward->id);
        else
            pg_element_int8(into, column == 2 ? (int64_t)reward->number : list->bandit);
    }
    pg_array_end(into);
    return count;
}

static bool is_early(const forgotten_reward *reward)
{
    return reward->early;
}

/* *queued: its result, the numbers of those that were unclaimed, is wanted. */
static ee_status queue_unclaimed(pg_store *self, const forgetting *list, bool *queued, ee_error *error)
{
    pg_values_start(&self->values);
    *queued = add_rewards(&self->values, list, is_early, 3) > 0;
    add_rewards(&self->values, list, is_early, 0);
    add_rewards(&self->values, list, is_early, 2);
    if (!*queued) return EE_OK;
    return pg_queue(self, PG_REMOVE_UNCLAIMED, true, "remove unclaimed rewards", error);
}

static ee_status queue_reward_ids(pg_store *self, const forgetting *list, has_reward *has, int statement, bool wanted,
                                  bool *queued, ee_error *error)
{
    pg_values_start(&self->values);
    pg_add_int8(&self->values, list->bandit);
    *queued = add_rewards(&self->values, list, has, 0) > 0;
    add_rewards(&self->values, list, has, 1);
    return *queued ? pg_queue(self, statement, wanted, "remove reward ids", error) : EE_OK;
}

static ee_status queue_ids(pg_store *self, const forgetting *list, int statement, bool wanted, ee_error *error)
{
    pg_values_start(&self->values);
    pg_add_int8(&self->values, list->bandit);
    pg_array_start(&self->values, PG_BYTEA);
    for (size_t i = 0; i < list->id_count; i++) pg_element_text(&self->values, list->ids[i]);
    pg_array_end(&self->values);
    return pg_queue(self, statement, wanted, "remove the ids of decisions", error);
}

static ee_status queue_decisions(pg_store *self, const forgetting *list, ee_error *error)
{
    ee_status status = EE_OK;
    if (!list->decision_count) return EE_OK;
    if (list->id_count) status = queue_ids(self, list, PG_FORGET_IDS, false, error);
    if (!status && list->id_count) status = queue_ids(self, list, PG_FORGET_REWARD_IDS, false, error);
    pg_values_start(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < list->decision_count; i++) pg_element_int8(&self->values, list->decisions[i]);
    pg_array_end(&self->values);
    return status ? status : pg_queue(self, PG_REMOVE_DECISIONS, false, "remove decisions", error);
}

/* Takes rows of reward_ids and adds up their checksums. */
static ee_status take_sum(pg_store *self, uint32_t bandit, uint64_t *sum, ee_error *error)
{
    PGresult *rows;
    ee_status status = pg_take(self, &rows, error);
    if (status) return status;
    for (int i = 0; i < PQntuples(rows); i++)
        *sum += (uint64_t)store_reward_id_checksum(bandit, pg_text(rows, i, 0), pg_text(rows, i, 1),
                                                   pg_float8(rows, i, 2), (event_outcome)pg_int8(rows, i, 3));
    PQclear(rows);
    return EE_OK;
}

/* Reward ids that came before their decision, and whose events are gone: the decision kept them. */
static ee_status take_kept(pg_store *self, forgetting *list, ee_error *error)
{
    uint64_t kept = 0;
    ee_status status = take_sum(self, list->bandit, &kept, error);
    list->end.kept -= kept;
    return status;
}

/* ---- removing ---- */

/* What a removal may touch. */
typedef struct removing {
    forgetting list;
    int64_t before, keep_from; /* a time, a place */
    size_t limit;
    int64_t end;       /* place of the last event that is removed */
    int64_t round_end; /* the place of the last slot of the round that is being removed */
    int64_t settings;  /* the place of the last SETTINGS event that is being removed; 0: none */
    bool more;
} removing;

/* The columns of PG_FIND_OLDEST. */
enum { PLACE, KIND, TIME, ID, DECISION, REWARD_ID, CHECKSUM, SLOTS, OPEN };

/* A row of it: whether it stays, else lists what hangs on it. */
static ee_status list_row(removing *self, const PGresult *rows, int row, bool *stays, ee_error *error)
{
    int64_t place = pg_int8(rows, row, PLACE), kind = pg_int8(rows, row, KIND);
    json_text id = pg_text(rows, row, ID);
    *stays = pg_int8(rows, row, TIME) >= self->before;
    if (*stays) return EE_OK;
    if (kind == EVENT_SETTINGS) self->settings = place;
    if (kind == EVENT_DECISION) {
        int64_t slots = pg_int8(rows, row, SLOTS), count = slots ? slots : 1;
        *stays = pg_int8(rows, row, OPEN) > 0 || place + count > self->keep_from;
        if (*stays) return EE_OK;
        if (slots) self->round_end = place + count - 1;
        return add_decision(&self->list, place, id, slots > 0, error);
    }
    if ((kind != EVENT_REWARD && kind != EVENT_ACTIVATED) || pg_int8(rows, row, DECISION)) return EE_OK;
    forgotten_reward reward = {store_number_at(place), id, pg_text(rows, row, REWARD_ID), true, false};
    return add_reward(&self->list, &reward, error);
}

/* *enough false: a round may go on after the last of `portion` rows. */
static ee_status list_rows(removing *self, const PGresult *rows, int64_t portion, bool *enough, ee_error *error)
{
    ee_status status = EE_OK;
    int count = PQntuples(rows);
    *enough = true;
    for (int i = 0; i < count && !status; i++) {
        bool stays = false;
        int64_t place = pg_int8(rows, i, PLACE);
        self->more = (size_t)i >= self->limit && place > self->round_end; /* perhaps: the next call sees */
        if (self->more) return EE_OK;
        status = list_row(self, rows, i, &stays, error);
        if (status || stays) return status;
        self->end = place;
        self->list.end.sum -= (uint64_t)pg_int8(rows, i, CHECKSUM);
    }
    *enough = count < portion;
    return status;
}

static void start_list(removing *self, uint32_t bandit)
{
    forgetting *list = &self->list;
    list->bandit = bandit;
    list->id_count = list->decision_count = list->reward_count = 0;
    list->end = (end_change){0};
    self->end = self->round_end = self->settings = 0;
}

/* Lists the oldest events. A round that does not fit is read again as a whole. */
static ee_status find_oldest(pg_store *self, removing *by, uint32_t bandit, PGresult **rows, ee_error *error)
{
    ee_status status = EE_OK;
    bool enough = false;
    *rows = NULL;
    for (int64_t portion = (int64_t)by->limit + 1; !status && !enough; portion *= 2) {
        PQclear(*rows);
        start_list(by, bandit);
        pg_values_start(&self->values);
        pg_add_int8(&self->values, store_place(bandit, 0));
        pg_add_int8(&self->values, by->keep_from);
        pg_add_int8(&self->values, portion);
        status = pg_ask(self, PG_FIND_OLDEST, "find the oldest events", rows, error);
        if (!status) status = list_rows(by, *rows, portion, &enough, error);
    }
    return status;
}

static bool is_unclaimed_with_id(const forgotten_reward *reward)
{
    return reward->unclaimed && reward->reward_id.length;
}

static bool is_claimed_with_id(const forgotten_reward *reward)
{
    return !reward->unclaimed && reward->reward_id.length;
}

static void mark_unclaimed(forgetting *list, uint64_t number)
{
    size_t low = 0, high = list->reward_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->rewards[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    list->rewards[low].unclaimed = true;
    list->unclaimed++;
}

static ee_status remove_unclaimed(pg_store *self, forgetting *list, ee_error *error)
{
    bool queued;
    PGresult *rows;
    ee_status status = queue_unclaimed(self, list, &queued, error);
    if (status || !queued) return status;
    status = pg_flush(self, error);
    if (!status) status = pg_take(self, &rows, error);
    if (status) return status;
    for (int i = 0; i < PQntuples(rows); i++) mark_unclaimed(list, (uint64_t)pg_int8(rows, i, 0));
    PQclear(rows);
    return pg_finish(self, error);
}

/* A reward that was never claimed goes with its id. The id of any other is kept until its decision goes. All events
 * before a decision are gone, so reward ids that came before it are among those that are kept. */
static ee_status remove_reward_ids(pg_store *self, forgetting *list, ee_error *error)
{
    bool removes = false, keeps = false, forgets = list->id_count > 0;
    ee_status status = queue_reward_ids(self, list, is_claimed_with_id, PG_FIND_REWARD_IDS, true, &keeps, error);
    if (!status)
        status = queue_reward_ids(self, list, is_unclaimed_with_id, PG_REMOVE_REWARD_IDS, false, &removes, error);
    if (!status && forgets) status = queue_ids(self, list, PG_FIND_EARLY, true, error);
    if (status || (!keeps && !removes && !forgets)) return status;
    status = pg_flush(self, error);
    if (!status && keeps) status = take_sum(self, list->bandit, &list->end.kept, error);
    if (!status && forgets) status = take_kept(self, list, error);
    return status ? status : pg_finish(self, error);
}

static void queue_settings(pg_store *self, uint32_t bandit, const PGresult *row, const PGresult *body)
{
    json_text settings = PQntuples(body) ? pg_text(body, 0, 0) : (json_text){0};
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    pg_add_text(&self->values, settings);
    pg_add_int8(&self->values, store_bandit_checksum(bandit, pg_text(row, 0, 0), pg_int8(row, 0, 1) != 0, settings));
}

/* Stores the settings in force at the new start of the log. */
static ee_status keep_settings(pg_store *self, uint32_t bandit, int64_t place, ee_error *error)
{
    PGresult *row = NULL, *body = NULL;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    ee_status status = pg_queue(self, PG_READ_BANDIT, true, "read a bandit", error);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, place);
    if (!status) status = pg_queue(self, PG_READ_BODY, true, "read settings", error);
    if (!status) status = pg_flush(self, error);
    if (!status) status = pg_take(self, &row, error);
    if (!status) status = pg_take(self, &body, error);
    if (!status) status = pg_finish(self, error);
    if (!status && PQntuples(row)) {
        queue_settings(self, bandit, row, body);
        status = pg_queue(self, PG_KEEP_SETTINGS, false, "keep the settings of removed events", error);
    }
    PQclear(row);
    PQclear(body);
    return status;
}

static ee_status remove_listed(pg_store *self, removing *by, ee_error *error)
{
    uint32_t bandit = by->list.bandit;
    ee_status status = remove_unclaimed(self, &by->list, error);
    if (!status) status = remove_reward_ids(self, &by->list, error);
    if (!status) status = queue_decisions(self, &by->list, error);
    if (!status && by->settings) status = keep_settings(self, bandit, by->settings, error);
    by->list.end.first = store_number_at(by->end) + 1;
    if (!status) status = pg_change_end(self, bandit, &by->list.end, error);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, store_place(bandit, 0));
    pg_add_int8(&self->values, by->end);
    return status ? status : pg_queue(self, PG_REMOVE_EVENTS, false, "remove events", error);
}

ee_status pg_remove(store *base, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                    uint64_t *unclaimed, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    removing by = {.before = before, .keep_from = store_place(bandit, keep_from), .limit = limit};
    PGresult *rows = NULL;
    ee_status status = pg_lock_bandit(self, bandit, error);
    if (!status) status = find_oldest(self, &by, bandit, &rows, error);
    if (!status && by.end) status = remove_listed(self, &by, error);
    *more = by.more;
    *unclaimed = by.list.unclaimed;
    PQclear(rows);
    memory_release(&by.list.memory);
    return status;
}

/* ---- erasing ---- */

/* The columns of PG_READ_EVENTS. */
enum { E_PLACE, E_KIND, E_TIME, E_ID, E_DECISION, E_OUTCOME, E_REWARD_ID, E_CHECKSUM, E_SLOTS };

static ee_status list_erased(forgetting *list, const PGresult *rows, int row, ee_error *error)
{
    int64_t place = pg_int8(rows, row, E_PLACE), kind = pg_int8(rows, row, E_KIND);
    json_text id = pg_text(rows, row, E_ID);
    if (!id.length) return EE_OK;
    if (kind == EVENT_DECISION) return add_decision(list, place, id, pg_int8(rows, row, E_SLOTS) > 0, error);
    if (kind != EVENT_REWARD && kind != EVENT_ACTIVATED) return EE_OK;
    forgotten_reward reward = {.number = store_number_at(place),
                               .id = id,
                               .reward_id = pg_text(rows, row, E_REWARD_ID),
                               .early = pg_int8(rows, row, E_DECISION) == 0};
    return add_reward(list, &reward, error);
}

/* The checksum of the event without its content. */
static int64_t blank_checksum(const PGresult *rows, int row)
{
    row_checksum sum = {0};
    const int columns[] = {E_PLACE, E_KIND, E_TIME, -1, E_DECISION, -1, E_OUTCOME, -1, -1};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (columns[i] < 0 || pg_is_null(rows, row, columns[i]))
            row_add_null(&sum);
        else
            row_add_integer(&sum, pg_int8(rows, row, columns[i]));
    }
    return row_checksum_end(&sum);
}

static ee_status queue_blanks(pg_store *self, forgetting *list, const PGresult *rows, ee_error *error)
{
    int count = PQntuples(rows);
    pg_values_start(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (int i = 0; i < count; i++) pg_element_int8(&self->values, pg_int8(rows, i, E_PLACE));
    pg_array_end(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (int i = 0; i < count; i++) {
        int64_t checksum = blank_checksum(rows, i);
        pg_element_int8(&self->values, checksum);
        list->end.sum += (uint64_t)checksum - (uint64_t)pg_int8(rows, i, E_CHECKSUM);
    }
    pg_array_end(&self->values);
    return pg_queue(self, PG_BLANK_EVENTS, false, "erase events", error);
}

static bool has_reward_id(const forgotten_reward *reward)
{
    return reward->reward_id.length > 0;
}

/* Early reward ids that are left are those whose events are gone: the others were erased just now. */
static ee_status forget_erased(pg_store *self, forgetting *list, ee_error *error)
{
    bool removes = false, early = false, forgets = list->id_count > 0;
    PGresult *rows;
    ee_status status = queue_unclaimed(self, list, &early, error);
    if (!status) status = queue_reward_ids(self, list, has_reward_id, PG_REMOVE_REWARD_IDS, false, &removes, error);
    if (!status && forgets) status = queue_ids(self, list, PG_FIND_EARLY, true, error);
    if (status || (!early && !removes && !forgets)) return status;
    status = pg_flush(self, error);
    if (!status && early) {
        status = pg_take(self, &rows, error);
        list->unclaimed = status ? 0 : (uint64_t)PQntuples(rows);
        PQclear(rows);
    }
    if (!status && forgets) status = take_kept(self, list, error);
    if (!status) status = pg_finish(self, error);
    return status ? status : queue_decisions(self, list, error);
}

static ee_status read_erased(pg_store *self, uint32_t bandit, const uint64_t *numbers, size_t count, PGresult **rows,
                             ee_error *error)
{
    pg_values_start(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(&self->values, store_place(bandit, numbers[i]));
    pg_array_end(&self->values);
    return pg_ask(self, PG_READ_EVENTS, "erase events", rows, error);
}

/* Events that retention has removed meanwhile need nothing. */
ee_status pg_erase(store *base, uint32_t bandit, const uint64_t *numbers, size_t count, uint64_t *unclaimed,
                   ee_error *error)
{
    pg_store *self = (pg_store *)base;
    forgetting list = {.bandit = bandit};
    PGresult *rows = NULL;
    ee_status status = pg_lock_bandit(self, bandit, error);
    if (!status) status = read_erased(self, bandit, numbers, count, &rows, error);
    for (int i = 0; !status && i < PQntuples(rows); i++) status = list_erased(&list, rows, i, error);
    if (!status) status = forget_erased(self, &list, error);
    if (!status) status = queue_blanks(self, &list, rows, error);
    if (!status) status = pg_change_end(self, bandit, &list.end, error);
    *unclaimed = list.unclaimed;
    PQclear(rows);
    memory_release(&list.memory);
    return status;
}
