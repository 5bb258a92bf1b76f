/* A group of entries in PostgreSQL: finds what it refers to and writes what it changes, each with one statement for all
 * rows. The rows go as arrays, one for each column. */
#include <math.h>

#include "pg_writer.h"
#include "serve/store/row_checksum.h"

/* ---- the group as arrays ---- */

enum { MOST_COLUMNS = 10, METRICS = 9 }; /* METRICS: the column of a decision */

/* Rows of the working set (joining.h). */
typedef struct group_rows {
    int columns;
    pg_type types[MOST_COLUMNS];
    size_t (*count)(const joining *set);
    bool (*has)(const joining *set, size_t row); /* NULL: all */
    void (*element)(pg_values *into, const joining *set, size_t row, int column);
} group_rows;

static void element_number(pg_values *into, uint64_t value)
{
    pg_element_int8(into, (int64_t)value);
}

/* As SQLite has it: -0 is 0, and what is not a number NULL. */
static void element_real(pg_values *into, double value)
{
    if (isnan(value))
        pg_element_null(into);
    else
        pg_element_float8(into, value + 0.0);
}

static size_t count_ids(const joining *set)
{
    return set->id_count;
}

static bool is_wanted_id(const joining *set, size_t row)
{
    return set->ids[row].fetch;
}

static bool wants_unclaimed(const joining *set, size_t row)
{
    return set->ids[row].fetch_unclaimed;
}

static bool is_new_id(const joining *set, size_t row)
{
    return set->ids[row].is_new;
}

static void wanted_id_element(pg_values *into, const joining *set, size_t row, int column)
{
    if (column == 1)
        pg_element_text(into, set->ids[row].id);
    else
        element_number(into, column ? row : set->ids[row].bandit);
}

static void new_id_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_id *id = &set->ids[row];
    if (column == 2)
        element_number(into, id->decision ? set->decisions[id->decision - 1].row.number : 0);
    else
        wanted_id_element(into, set, row, column);
}

static size_t count_reward_ids(const joining *set)
{
    return set->reward_id_count;
}

static bool is_new_reward_id(const joining *set, size_t row)
{
    return set->reward_ids[row].is_new;
}

static void wanted_reward_id_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_reward_id *id = &set->reward_ids[row];
    if (column == 0 || column == 3)
        element_number(into, column ? row : id->bandit);
    else
        pg_element_text(into, column == 1 ? id->id : id->reward_id);
}

static void new_reward_id_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_reward_id *id = &set->reward_ids[row];
    if (column == 3)
        element_real(into, id->value);
    else if (column == 4)
        element_number(into, id->outcome);
    else
        wanted_reward_id_element(into, set, row, column);
}

static size_t count_names(const joining *set)
{
    return set->name_count;
}

static void name_element(pg_values *into, const joining *set, size_t row, int column)
{
    if (column)
        element_number(into, row);
    else
        pg_element_text(into, set->names[row].name);
}

static size_t count_slots(const joining *set)
{
    return set->slot_count;
}

static void slot_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_slot *slot = &set->slots[row];
    pg_element_int8(into, column ? slot->bandit : store_place(slot->bandit, slot->number));
}

static size_t count_events(const joining *set)
{
    return set->event_count;
}

/* Columns that do not belong to the kind are NULL. */
static void event_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_event *of = &set->events[row];
    const event *what = &of->event;
    bool has = true;
    switch (column) {
    case 3:
        pg_element_text(into, what->id);
        return;
    case 4:
        has = what->decision != 0;
        break;
    case 5:
        if (event_has_value(what))
            element_real(into, what->value);
        else
            pg_element_null(into);
        return;
    case 6:
        has = event_has_outcome(what);
        break;
    case 7:
        pg_element_text(into, what->reward_id);
        return;
    case 8:
        pg_element_text(into, (json_text){what->body, what->size});
        return;
    default:
        break;
    }
    const int64_t numbers[] = {store_place(of->bandit, what->number),
                               what->kind,
                               what->time,
                               0,
                               (int64_t)what->decision,
                               0,
                               what->outcome,
                               0,
                               0,
                               of->checksum};
    if (has)
        pg_element_int8(into, numbers[column]);
    else
        pg_element_null(into);
}

static size_t count_decisions(const joining *set)
{
    return set->decision_count;
}

static bool is_new_decision(const joining *set, size_t row)
{
    return set->decisions[row].is_new;
}

static bool is_changed_decision(const joining *set, size_t row)
{
    return set->decisions[row].changed && !set->decisions[row].is_new;
}

static void new_decision_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_decision *of = &set->decisions[row];
    const stored_decision *decision = &of->row;
    const int64_t numbers[] = {store_place(of->bandit, decision->number),
                               decision->time,
                               (int64_t)decision->request[0],
                               (int64_t)decision->request[1],
                               decision->rewards,
                               (int64_t)decision->settled,
                               0,
                               decision->inactive,
                               decision->slots};
    uint8_t bytes[METRIC_VALUES_SIZE];
    if (column == 6)
        element_real(into, decision->value);
    else if (column == METRICS)
        pg_element_text(into, (json_text){(const char *)bytes,
                                          decision->metrics ? metric_values_write(decision->metrics, bytes) : 0});
    else
        pg_element_int8(into, numbers[column]);
}

static void changed_decision_element(pg_values *into, const joining *set, size_t row, int column)
{
    static const int of_new[] = {0, 4, 5, 6, 7, METRICS}; /* place, rewards, settled, value, inactive, metrics */
    new_decision_element(into, set, row, of_new[column]);
}

static size_t count_unclaimed(const joining *set)
{
    return set->unclaimed_count;
}

static bool is_new_unclaimed(const joining *set, size_t row)
{
    return set->unclaimed[row].is_new && !set->unclaimed[row].taken;
}

static bool is_claimed(const joining *set, size_t row)
{
    return set->unclaimed[row].taken && !set->unclaimed[row].is_new;
}

static void unclaimed_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_unclaimed *one = &set->unclaimed[row];
    if (column == 1)
        pg_element_text(into, one->id);
    else
        element_number(into, column ? one->number : one->bandit);
}

static const group_rows wanted_ids = {3, {PG_INT8, PG_BYTEA, PG_INT8}, count_ids, is_wanted_id, wanted_id_element};
static const group_rows wanted_unclaimed = {
    3, {PG_INT8, PG_BYTEA, PG_INT8}, count_ids, wants_unclaimed, wanted_id_element};
static const group_rows wanted_reward_ids = {
    4, {PG_INT8, PG_BYTEA, PG_BYTEA, PG_INT8}, count_reward_ids, NULL, wanted_reward_id_element};
static const group_rows wanted_names = {2, {PG_TEXT, PG_INT8}, count_names, NULL, name_element};
static const group_rows wanted_slots = {2, {PG_INT8, PG_INT8}, count_slots, NULL, slot_element};
static const group_rows new_events = {
    10,
    {PG_INT8, PG_INT8, PG_INT8, PG_BYTEA, PG_INT8, PG_FLOAT8, PG_INT8, PG_BYTEA, PG_BYTEA, PG_INT8},
    count_events,
    NULL,
    event_element};

static size_t add_rows(pg_values *into, const group_rows *table, const joining *set, size_t from, size_t to)
{
    size_t count = 0;
    pg_values_start(into);
    for (int column = 0; column < table->columns; column++) {
        count = 0;
        pg_array_start(into, table->types[column]);
        for (size_t row = from; row < to; row++) {
            if (table->has && !table->has(set, row)) continue;
            table->element(into, set, row, column);
            count++;
        }
        pg_array_end(into);
    }
    return count;
}

/* Queues a statement whose parameters are the columns of the table, if it has rows. */
static ee_status queue_rows(pg_store *self, const group_rows *table, int statement, bool wanted, const char *what,
                            bool *queued, ee_error *error)
{
    const joining *set = self->base.joining;
    *queued = add_rows(&self->values, table, set, 0, table->count(set)) > 0;
    return *queued ? pg_queue(self, statement, wanted, what, error) : EE_OK;
}

/* ---- what the group refers to ---- */

/* Takes a row of a result. */
typedef ee_status take_row(joining *set, const PGresult *rows, int row, ee_error *error);

static stored_decision decision_at(const PGresult *rows, int row)
{
    return (stored_decision){
        .number = store_number_at(pg_int8(rows, row, 0)),
        .time = pg_int8(rows, row, 1),
        .request = {(uint64_t)pg_int8(rows, row, 2), (uint64_t)pg_int8(rows, row, 3)},
        .rewards = (uint32_t)pg_int8(rows, row, 4),
        .settled = (uint64_t)pg_int8(rows, row, 5),
        .value = pg_float8(rows, row, 6),
        .inactive = pg_int8(rows, row, 7) != 0,
        .slots = (uint32_t)pg_int8(rows, row, 8),
    };
}

/* A decision with its metrics. */
static ee_status read_decision(joining *set, const PGresult *rows, int row, stored_decision *out, ee_error *error)
{
    json_text metrics = pg_text(rows, row, METRICS);
    *out = decision_at(rows, row);
    return joining_keep_metrics(set, metrics.bytes, metrics.length, &out->metrics, error);
}

static ee_status take_decision(joining *set, const PGresult *rows, int row, ee_error *error)
{
    stored_decision decision;
    ee_status status = read_decision(set, rows, row, &decision, error);
    return status ? status : joining_found_decision(set, (size_t)pg_int8(rows, row, METRICS + 1), &decision, error);
}

static void add_integer(row_checksum *sum, const PGresult *rows, int row, int column)
{
    if (pg_is_null(rows, row, column))
        row_add_null(sum);
    else
        row_add_integer(sum, pg_int8(rows, row, column));
}

/* Whether the event of a row that begins with its columns has the right checksum. */
static bool is_whole(const PGresult *rows, int row)
{
    row_checksum sum = {0};
    json_text body = pg_text(rows, row, 8);
    for (int i = 0; i < 3; i++) add_integer(&sum, rows, row, i);
    row_add_text(&sum, pg_text(rows, row, 3));
    add_integer(&sum, rows, row, 4);
    if (pg_is_null(rows, row, 5))
        row_add_null(&sum);
    else
        row_add_real(&sum, pg_float8(rows, row, 5));
    add_integer(&sum, rows, row, 6);
    row_add_text(&sum, pg_text(rows, row, 7));
    row_add_blob(&sum, body.bytes, body.length);
    return !pg_is_null(rows, row, 9) && pg_int8(rows, row, 9) == row_checksum_end(&sum);
}

/* One whose event is damaged is not claimed. */
static ee_status take_unclaimed(joining *set, const PGresult *rows, int row, ee_error *error)
{
    if (!is_whole(rows, row)) return EE_OK;
    json_text body = pg_text(rows, row, 8);
    event found = {.number = (uint64_t)pg_int8(rows, row, 11),
                   .kind = (event_kind)pg_int8(rows, row, 1),
                   .value = pg_float8(rows, row, 5),
                   .body = body.bytes,
                   .size = body.length};
    return joining_found_unclaimed(set, (size_t)pg_int8(rows, row, 10), &found, error);
}

static ee_status take_reward_id(joining *set, const PGresult *rows, int row, ee_error *error)
{
    (void)error;
    join_reward_id *known = &set->reward_ids[pg_int8(rows, row, 0)];
    known->known = true;
    known->value = pg_float8(rows, row, 1);
    known->outcome = (event_outcome)pg_int8(rows, row, 2);
    return EE_OK;
}

static ee_status take_name(joining *set, const PGresult *rows, int row, ee_error *error)
{
    (void)error;
    set->names[pg_int8(rows, row, 0)].exists = true;
    return EE_OK;
}

static ee_status take_slot(joining *set, const PGresult *rows, int row, ee_error *error)
{
    stored_decision decision;
    ee_status status = read_decision(set, rows, row, &decision, error);
    return status ? status : joining_found_slot(set, (uint32_t)pg_int8(rows, row, METRICS + 1), &decision, error);
}

static ee_status take_rows(pg_store *self, take_row *take, ee_error *error)
{
    PGresult *rows;
    ee_status status = pg_take(self, &rows, error);
    if (status) return status;
    int count = PQntuples(rows);
    for (int i = 0; i < count && !status; i++) status = take(self->base.joining, rows, i, error);
    PQclear(rows);
    return status;
}

/* The leases that the group needs: of its bandits, as far as they are this process's, and the leader's to create
 * bandits or to change the clock. */
static ee_status list_leases(pg_store *self, ee_error *error)
{
    const joining *set = self->base.joining;
    ee_status status = memory_grow(&self->base.memory, &self->leases, &self->lease_capacity, set->named_count + 1,
                                   sizeof *self->leases, error);
    if (status) return status;
    self->lease_count = 0;
    if ((set->name_count && set->leads) || set->changes_clock) self->leases[self->lease_count++] = LEADER;
    for (size_t i = 0; i < set->named_count; i++)
        if (joining_bandit(set, set->named[i])->now.owned) self->leases[self->lease_count++] = set->named[i];
    return EE_OK;
}

static const struct {
    const group_rows *table;
    int statement;
    const char *what;
    take_row *take;
} fetches[] = {
    {&wanted_ids, PG_FETCH_DECISIONS, "find decisions", take_decision},
    {&wanted_unclaimed, PG_FETCH_UNCLAIMED, "find unclaimed rewards", take_unclaimed},
    {&wanted_reward_ids, PG_FETCH_REWARD_IDS, "find reward ids", take_reward_id},
    {&wanted_names, PG_FETCH_NAMES, "find a bandit", take_name},
};
enum { FETCHES = sizeof fetches / sizeof *fetches };

static ee_status send_fetch(pg_store *self, bool sent[FETCHES], ee_error *error)
{
    ee_status status = pg_queue_locks(self, self->leases, self->lease_count, error);
    for (size_t i = 0; i < FETCHES && !status; i++)
        status = queue_rows(self, fetches[i].table, fetches[i].statement, true, fetches[i].what, &sent[i], error);
    return status ? status : pg_flush(self, error);
}

/* A connection that was lost since the last group is noticed here, when nothing has been found yet: it is made again
 * once. */
ee_status pg_fetch(store *base, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    bool sent[FETCHES] = {0};
    ee_status status = list_leases(self, error);
    if (!status) status = send_fetch(self, sent, error);
    if (!status) status = pg_take_locks(self, self->leases, self->lease_count, error);
    if (status && pg_is_broken(self->connection)) {
        status = base->methods->begin(base, error);
        if (!status) status = send_fetch(self, sent, error);
        if (!status) status = pg_take_locks(self, self->leases, self->lease_count, error);
    }
    for (size_t i = 0; i < FETCHES && !status; i++)
        if (sent[i]) status = take_rows(self, fetches[i].take, error);
    return status ? status : pg_finish(self, error);
}

ee_status pg_fetch_slots(store *base, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    bool queued;
    ee_status status = queue_rows(self, &wanted_slots, PG_FETCH_SLOTS, true, "find slots", &queued, error);
    if (!status) status = pg_flush(self, error);
    if (!status) status = take_rows(self, take_slot, error);
    return status ? status : pg_finish(self, error);
}

enum { MOST_LOOKED_AT = 4096 };

/* Takes pending decisions of a portion; *more becomes false if nothing follows that is due. */
static ee_status take_waiting(joining *set, const PGresult *rows, join_due *due, stored_decision *out, size_t limit,
                              size_t *count, int64_t *looked_at, bool *more, ee_error *error)
{
    ee_status status = EE_OK;
    for (int i = 0; i < PQntuples(rows) && !status; i++, ++*looked_at) {
        stored_decision decision = decision_at(rows, i);
        if (decision.time >= due->before || *count == limit || *looked_at == MOST_LOOKED_AT) {
            due->next = decision.time;
            *more = false;
            return EE_OK;
        }
        due->upto = decision.number;
        if (!decision.settled) status = read_decision(set, rows, i, &out[(*count)++], error);
    }
    return status;
}

/* Most often only the first few are due, so portions start small. Times never go back, so nothing follows the first
 * that is not due. */
ee_status pg_fetch_waiting(store *base, join_due *due, stored_decision *out, size_t limit, size_t *count,
                           ee_error *error)
{
    enum { FIRST_PORTION = 64, GROWTH = 8 };
    pg_store *self = (pg_store *)base;
    int64_t looked_at = 0, portion = FIRST_PORTION;
    *count = 0;
    due->upto = due->after;
    due->next = INT64_MAX;
    for (bool more = joining_bandit(base->joining, due->bandit)->now.owned; more; portion *= GROWTH) {
        PGresult *rows;
        if (portion > MOST_LOOKED_AT + 1 - looked_at) portion = MOST_LOOKED_AT + 1 - looked_at;
        pg_values_start(&self->values);
        pg_add_int8(&self->values, store_place(due->bandit, due->upto));
        pg_add_int8(&self->values, store_place(due->bandit + 1, 0));
        pg_add_int8(&self->values, portion);
        ee_status status = pg_ask(self, PG_FIND_WAITING, "find the pending decisions", &rows, error);
        if (status) return status;
        more = PQntuples(rows) == portion;
        status = take_waiting(base->joining, rows, due, out, limit, count, &looked_at, &more, error);
        PQclear(rows);
        if (status) return status;
    }
    return EE_OK;
}

/* ---- what the group changes ---- */

/* The checksum of a bandit's row changes with `archived`, and then the rest of the row is needed. */
static ee_status change_checksum(pg_store *self, const join_bandit *bandit, ee_error *error)
{
    PGresult *rows;
    int64_t checksum = 0;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit->now.number);
    ee_status status = pg_ask(self, PG_READ_BANDIT, "read a bandit", &rows, error);
    if (status) return status;
    if (PQntuples(rows))
        checksum =
            store_bandit_checksum(bandit->now.number, pg_text(rows, 0, 0), bandit->now.archived, pg_text(rows, 0, 2));
    else
        status = status_fail(error, EE_FILE_ERROR, "store: the database is damaged: bandit %u is missing",
                             (unsigned)bandit->now.number);
    PQclear(rows);
    pg_add_int8(&self->values, checksum);
    return status ? status : pg_queue(self, PG_SET_CHECKSUM, false, "change a bandit", error);
}

static ee_status add_bandit(pg_store *self, const join_bandit *bandit, ee_error *error)
{
    uint32_t number = bandit->now.number;
    int64_t columns[END_COLUMNS];
    pg_values_start(&self->values);
    pg_add_int8(&self->values, number);
    pg_add_text(&self->values, bandit->name);
    pg_add_int8(&self->values, store_bandit_checksum(number, bandit->name, bandit->now.archived, (json_text){0}));
    ee_status status = pg_queue(self, PG_WRITE_BANDIT, false, "add a bandit", error);
    if (status) return status;
    end_change change;
    stored_end end = {.first = 1};
    store_end_change_of(bandit, &change);
    store_end_apply(&end, &change);
    store_end_columns(number, &end, columns);
    pg_values_start(&self->values);
    for (int i = 0; i < END_COLUMNS; i++) pg_add_int8(&self->values, columns[i]);
    pg_add_int8(&self->values, (int64_t)self->server);
    status = pg_queue(self, PG_ADD_END, false, "add a bandit", error);
    return status ? status : pg_set_token(self, number, 1, error);
}

/* New ones, and those that are archived or restored: few. */
static ee_status write_bandits(pg_store *self, bool *for_others, ee_error *error)
{
    const joining *set = self->base.joining;
    ee_status status = EE_OK;
    for (size_t i = 0; i < set->touched_count && !status; i++) {
        const join_bandit *bandit = joining_bandit(set, set->touched[i]);
        *for_others |= bandit->is_new || bandit->settings.length > 0;
        if (bandit->is_new)
            status = add_bandit(self, bandit, error);
        else if (bandit->now.archived != bandit->before.archived)
            status = change_checksum(self, bandit, error);
    }
    return status;
}

static size_t count_touched(const joining *set)
{
    return set->touched_count;
}

static bool is_changed_bandit(const joining *set, size_t row)
{
    return joining_bandit(set, set->touched[row])->changed;
}

static void changed_bandit_element(pg_values *into, const joining *set, size_t row, int column)
{
    const join_bandit *bandit = joining_bandit(set, set->touched[row]);
    const int64_t numbers[] = {bandit->now.number, bandit->now.archived, (int64_t)bandit->now.settled_to};
    if (column < 3)
        pg_element_int8(into, numbers[column]);
    else
        pg_element_text(into, bandit->settings);
}

static ee_status write_ends(pg_store *self, ee_error *error)
{
    const joining *set = self->base.joining;
    size_t count = 0;
    pg_values_start(&self->values);
    for (int column = 0; column < END_COLUMNS; column++) {
        count = 0;
        pg_array_start(&self->values, PG_INT8);
        for (size_t i = 0; i < set->touched_count; i++) {
            const join_bandit *bandit = joining_bandit(set, set->touched[i]);
            end_change change;
            stored_end end;
            if (bandit->is_new || !store_end_change_of(bandit, &change)) continue;
            ee_status status = pg_locked_end(self, bandit->now.number, &end, error);
            if (status) return status;
            store_end_apply(&end, &change);
            pg_element_end(self, bandit->now.number, &end, column);
            count++;
        }
        pg_array_end(&self->values);
    }
    return count ? pg_queue(self, PG_SET_ENDS, false, "write the end of a log", error) : EE_OK;
}

/* An array of PostgreSQL has 1 GB at most, and it keeps several copies: large events go in several statements. */
static ee_status write_events(pg_store *self, ee_error *error)
{
    enum { MOST_BYTES = 32 << 20 };
    const joining *set = self->base.joining;
    ee_status status = EE_OK;
    for (size_t from = 0, to; from < set->event_count && !status; from = to) {
        size_t bytes = 0;
        for (to = from; to < set->event_count && (to == from || bytes < MOST_BYTES); to++)
            bytes += set->events[to].event.size;
        add_rows(&self->values, &new_events, set, from, to);
        status = pg_queue(self, PG_WRITE_EVENTS, false, "append events", error);
    }
    return status;
}

/* What shows later that the group was committed. */
static void keep_proof(pg_store *self)
{
    const joining *set = self->base.joining;
    if (set->event_count) {
        self->has_proof = true;
        self->proof[0] = store_place(set->events[0].bandit, set->events[0].event.number);
        self->proof[1] = set->events[0].checksum;
        return;
    }
    for (size_t i = 0; i < set->touched_count && !self->has_proof; i++) {
        const join_bandit *bandit = joining_bandit(set, set->touched[i]);
        int64_t columns[END_COLUMNS];
        end_change change;
        stored_end end;
        if (!store_end_change_of(bandit, &change) || pg_locked_end(self, bandit->now.number, &end, NULL)) continue;
        store_end_apply(&end, &change);
        store_end_columns(bandit->now.number, &end, columns);
        pg_prove_by_end(self, columns);
    }
}

ee_status pg_apply(store *base, ee_error *error)
{
    static const struct {
        group_rows table;
        int statement;
        const char *what;
    } writes[] = {
        {{4, {PG_INT8, PG_INT8, PG_INT8, PG_TEXT}, count_touched, is_changed_bandit, changed_bandit_element},
         PG_WRITE_CHANGES,
         "change a bandit"},
        {{10,
          {PG_INT8, PG_INT8, PG_INT8, PG_INT8, PG_INT8, PG_INT8, PG_FLOAT8, PG_INT8, PG_INT8, PG_BYTEA},
          count_decisions,
          is_new_decision,
          new_decision_element},
         PG_WRITE_DECISIONS,
         "write decisions"},
        {{3, {PG_INT8, PG_BYTEA, PG_INT8}, count_ids, is_new_id, new_id_element},
         PG_WRITE_IDS,
         "add the ids of decisions"},
        {{5,
          {PG_INT8, PG_BYTEA, PG_BYTEA, PG_FLOAT8, PG_INT8},
          count_reward_ids,
          is_new_reward_id,
          new_reward_id_element},
         PG_WRITE_REWARD_IDS,
         "add reward ids"},
        {{3, {PG_INT8, PG_BYTEA, PG_INT8}, count_unclaimed, is_new_unclaimed, unclaimed_element},
         PG_WRITE_UNCLAIMED,
         "keep unclaimed rewards"},
        {{6,
          {PG_INT8, PG_INT8, PG_INT8, PG_FLOAT8, PG_INT8, PG_BYTEA},
          count_decisions,
          is_changed_decision,
          changed_decision_element},
         PG_CHANGE_DECISIONS,
         "change decisions"},
        {{3, {PG_INT8, PG_BYTEA, PG_INT8}, count_unclaimed, is_claimed, unclaimed_element},
         PG_REMOVE_UNCLAIMED,
         "remove unclaimed rewards"},
    };
    pg_store *self = (pg_store *)base;
    bool for_others = false, queued;
    store_sum_events(base->joining);
    ee_status status = write_bandits(self, &for_others, error);
    if (!status) status = write_ends(self, error);
    if (!status) status = write_events(self, error);
    for (size_t i = 0; i < sizeof writes / sizeof *writes && !status; i++)
        status = queue_rows(self, &writes[i].table, writes[i].statement, false, writes[i].what, &queued, error);
    keep_proof(self);
    return status || !for_others ? status : pg_count_change(self, error);
}
