/* Readers of the store. Each call sees one consistent state: the last one committed when the call began. */
#include <inttypes.h>
#include <string.h>

#include "serve/store/clock_periods.h"
#include "store_sqlite.h"

enum {
    READ_BEGIN,
    READ_END,
    READ_BANDITS,
    READ_ENDS,
    READ_EVENTS,
    READ_ONE,
    READ_NEXT,
    READ_LAST,
    READ_BACK,
    READ_TIME,
    READ_CLOCK,
    LAST_CLOCK,
    COUNT_WAITING,
    NEXT_DECISIONS,
    READ_ID,
    READ_STATEMENTS
};

/* Kinds from EVENT_STEP on but EVENT_ACTIVATED have an index of their own: they are few, and looked for. */
static const char *const sql[READ_STATEMENTS] = {
    [READ_BEGIN] = "BEGIN",
    [READ_END] = "COMMIT",
    [READ_BANDITS] = "SELECT number, name, archived, settled_to, settings FROM bandits WHERE purged = 0"
                     " ORDER BY number",
    [READ_ENDS] = STORE_ENDS_SQL,
    [READ_EVENTS] = STORE_EVENT_COLUMNS " WHERE place > ?1 AND place < ?2 ORDER BY place",
    [READ_ONE] = STORE_EVENT_COLUMNS " WHERE place = ?1",
    [READ_NEXT] =
        "SELECT min(place) FROM events WHERE kind = ?1 AND kind >= 4 AND kind <> 8 AND place > ?2 AND place < ?3",
    [READ_LAST] =
        "SELECT max(place) FROM events WHERE kind = ?1 AND kind >= 4 AND kind <> 8 AND place > ?2 AND place <= ?3",
    [READ_BACK] = "SELECT place FROM events WHERE ?1 >> kind & 1 AND place > ?2 AND place <= ?3"
                  " ORDER BY place DESC LIMIT 1",
    [READ_TIME] = "SELECT time FROM events WHERE place = ?1",
    [READ_CLOCK] = "SELECT time, ahead FROM clock ORDER BY time",
    [LAST_CLOCK] = "SELECT time, ahead, in_doubt FROM clock ORDER BY time DESC LIMIT 1",
    [READ_ID] = "SELECT number FROM ids WHERE bandit = ?1 AND id = ?2",
    [COUNT_WAITING] = STORE_COUNT_WAITING_SQL,
    [NEXT_DECISIONS] = STORE_DECISION_COLUMNS " FROM decisions WHERE place > ?1 AND place < ?2 ORDER BY place",
};

typedef struct sqlite_reader {
    store_reader base;
    char *folder;
    sqlite3 *database;
    sqlite3_stmt *statements[READ_STATEMENTS];
    clock_periods clock; /* all changes up to clock_known_to, a log time */
    int64_t clock_known_to;
} sqlite_reader;

/* ---- statements ---- */

static ee_status step(sqlite_reader *self, int which, bool *row, ee_error *error)
{
    int code = sqlite3_step(self->statements[which]);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return EE_OK;
    ee_status status = store_fail(self->database, "read", error);
    sqlite3_reset(self->statements[which]);
    return status;
}

static ee_status begin(sqlite_reader *self, ee_error *error)
{
    bool row;
    ee_status status = step(self, READ_BEGIN, &row, error);
    sqlite3_reset(self->statements[READ_BEGIN]);
    return status;
}

/* Ends a transaction that only read: nothing can be lost. */
static void end(sqlite_reader *self)
{
    sqlite3_step(self->statements[READ_END]);
    sqlite3_reset(self->statements[READ_END]);
}

/* ---- bandits ---- */

/* The row of READ_BANDITS. */
static ee_status add_bandit(sqlite_reader *self, stored_bandits *list, ee_error *error)
{
    sqlite3_stmt *row = self->statements[READ_BANDITS];
    stored_bandit bandit = {
        .number = (uint32_t)sqlite3_column_int64(row, 0),
        .archived = sqlite3_column_int(row, 2) != 0,
        .settled_to = (uint64_t)sqlite3_column_int64(row, 3),
    };
    store_ends ends;
    ee_status status = store_find_ends(self->database, self->statements[READ_ENDS], bandit.number, &ends, error);
    bandit.first_event = ends.first;
    bandit.events = ends.last;
    bandit.time = ends.time;
    bandit.name = store_column_text(row, 1);
    bandit.settings = store_column_text(row, 4);
    return status ? status : stored_bandits_add(list, &bandit, error);
}

static ee_status list_bandits(store_reader *base, stored_bandits *out, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    ee_status status = begin(self, error);
    if (status) return status;
    for (bool row = true; !status && row;) {
        status = step(self, READ_BANDITS, &row, error);
        if (!status && row) status = add_bandit(self, out, error);
    }
    sqlite3_reset(self->statements[READ_BANDITS]);
    end(self);
    return status;
}

/* ---- events ---- */

/* All changes up to the last event are known then. */
static ee_status load_clock(sqlite_reader *self, uint32_t bandit, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[READ_CLOCK];
    store_ends ends;
    bool row = true;
    ee_status status = store_find_ends(self->database, self->statements[READ_ENDS], bandit, &ends, error);
    clock_periods_clear(&self->clock);
    self->clock_known_to = INT64_MIN;
    while (!status && row) {
        status = step(self, READ_CLOCK, &row, error);
        if (!status && row)
            status = clock_periods_add(&self->clock, sqlite3_column_int64(statement, 0),
                                       sqlite3_column_int64(statement, 1), error);
    }
    sqlite3_reset(statement);
    if (!status) self->clock_known_to = ends.time;
    return status;
}

/* *time, the log time of an event that was just read, becomes its wall time. */
static ee_status to_wall_time(sqlite_reader *self, uint32_t bandit, int64_t *time, ee_error *error)
{
    ee_status status = *time > self->clock_known_to ? load_clock(self, bandit, error) : EE_OK;
    if (!status) *time = clock_periods_wall_time(&self->clock, *time);
    return status;
}

static ee_status add_row(sqlite_reader *self, sqlite3_stmt *statement, event_batch *out, ee_error *error)
{
    event row;
    ee_status status = store_column_event(statement, &row, error);
    uint32_t bandit = (uint32_t)(sqlite3_column_int64(statement, 0) >> STORE_NUMBER_BITS);
    if (!status) status = to_wall_time(self, bandit, &row.time, error);
    return status ? status : event_batch_add(out, &row, error);
}

static bool is_of(int kind, unsigned kinds)
{
    return kind > 0 && kind < 32 && kinds >> kind & 1;
}

static bool has_room(const event_batch *batch, size_t limit)
{
    return batch->count < limit && batch->size < EVENT_BATCH_BYTES;
}

static ee_status read_all(sqlite_reader *self, uint32_t bandit, unsigned kinds, size_t limit, event_batch *out,
                          ee_error *error)
{
    sqlite3_stmt *statement = self->statements[READ_EVENTS];
    uint64_t after = out->last;
    ee_status status = EE_OK;
    sqlite3_bind_int64(statement, 1, store_place(bandit, out->last));
    sqlite3_bind_int64(statement, 2, store_place(bandit + 1, 0));
    while (!status && has_room(out, limit)) {
        bool row;
        status = step(self, READ_EVENTS, &row, error);
        if (status || !row) break;
        uint64_t number = store_number_at(sqlite3_column_int64(statement, 0));
        if (out->last > after && number != out->last + 1)
            status = status_fail(error, EE_FILE_ERROR, "store: eenet.db is damaged: event %" PRIu64 " is missing",
                                 out->last + 1);
        else if (is_of(sqlite3_column_int(statement, 1), kinds))
            status = add_row(self, statement, out, error);
        if (!status) out->last = number;
    }
    sqlite3_reset(statement);
    return status;
}

/* A place by its kind, or 0: the first above low and below high (READ_NEXT), or the last above low and not above high
 * (READ_LAST; READ_BACK: of the kinds whose bits are set). */
static ee_status find_kind(sqlite_reader *self, int which, int kind, int64_t low, int64_t high, int64_t *place,
                           ee_error *error)
{
    bool row;
    sqlite3_bind_int(self->statements[which], 1, kind);
    sqlite3_bind_int64(self->statements[which], 2, low);
    sqlite3_bind_int64(self->statements[which], 3, high);
    ee_status status = step(self, which, &row, error);
    *place = row ? sqlite3_column_int64(self->statements[which], 0) : 0;
    sqlite3_reset(self->statements[which]);
    return status;
}

/* If it exists. */
static ee_status read_place(sqlite_reader *self, int64_t place, event_batch *out, ee_error *error)
{
    bool row;
    sqlite3_bind_int64(self->statements[READ_ONE], 1, place);
    ee_status status = step(self, READ_ONE, &row, error);
    if (row) status = add_row(self, self->statements[READ_ONE], out, error);
    sqlite3_reset(self->statements[READ_ONE]);
    return status;
}

/* Only kinds that have an index: from one to the next. */
static ee_status read_rare(sqlite_reader *self, uint32_t bandit, unsigned kinds, size_t limit, event_batch *out,
                           ee_error *error)
{
    int64_t end_place = store_place(bandit + 1, 0);
    store_ends ends;
    ee_status status = store_find_ends(self->database, self->statements[READ_ENDS], bandit, &ends, error);
    while (!status && has_room(out, limit)) {
        int64_t next = end_place;
        for (int kind = EVENT_STEP; !status && kind < 32; kind++) {
            int64_t place = 0;
            if (is_of(kind, kinds))
                status = find_kind(self, READ_NEXT, kind, store_place(bandit, out->last), next, &place, error);
            if (place) next = place;
        }
        if (!status && next == end_place) {
            if (out->last < ends.last) out->last = ends.last;
            break;
        }
        if (!status) status = read_place(self, next, out, error);
        if (!status) out->last = store_number_at(next);
    }
    return status;
}

static ee_status read_events(store_reader *base, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                             event_batch *out, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    (void)after; /* the batch has it */
    ee_status status = begin(self, error);
    if (status) return status;
    bool rare = kinds >> EVENT_STEP << EVENT_STEP == kinds && !is_of(EVENT_ACTIVATED, kinds);
    status = (rare ? read_rare : read_all)(self, bandit, kinds, limit, out, error);
    end(self);
    return status;
}

static ee_status read_these(store_reader *base, uint32_t bandit, const uint64_t *numbers, size_t count,
                            event_batch *out, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    ee_status status = begin(self, error);
    if (status) return status;
    for (size_t i = 0; i < count && !status && has_room(out, count); i++)
        status = read_place(self, store_place(bandit, numbers[i]), out, error);
    end(self);
    return status;
}

static ee_status find_last(sqlite_reader *self, int which, int kind, uint32_t bandit, uint64_t upto, uint64_t *number,
                           ee_error *error)
{
    int64_t place, high = store_place(bandit + 1, 0) - 1;
    if (upto < store_number_at(high)) high = store_place(bandit, upto);
    ee_status status = find_kind(self, which, kind, store_place(bandit, 0), high, &place, error);
    *number = store_number_at(place);
    return status;
}

static ee_status last_of(store_reader *base, uint32_t bandit, unsigned kinds, uint64_t upto, uint64_t *number,
                         ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    for (int kind = EVENT_STEP; kind < 32; kind++)
        if (kinds == 1U << kind && kind != EVENT_ACTIVATED)
            return find_last(self, READ_LAST, kind, bandit, upto, number, error);
    return find_last(self, READ_BACK, (int)kinds, bandit, upto, number, error);
}

static ee_status next_decisions(store_reader *base, uint32_t bandit, uint64_t after, stored_decision *out, size_t limit,
                                size_t *count, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    sqlite3_stmt *statement = self->statements[NEXT_DECISIONS];
    uint64_t most = ((uint64_t)1 << STORE_NUMBER_BITS) - 1;
    sqlite3_bind_int64(statement, 1, store_place(bandit, after < most ? after : most));
    sqlite3_bind_int64(statement, 2, store_place(bandit + 1, 0));
    ee_status status = begin(self, error);
    if (status) return status;
    while (!status && *count < limit) {
        bool row;
        status = step(self, NEXT_DECISIONS, &row, error);
        if (status || !row) break;
        out[*count] = store_column_decision(statement);
        status = to_wall_time(self, bandit, &out[*count].time, error);
        ++*count;
    }
    sqlite3_reset(statement);
    end(self);
    return status;
}

static ee_status count_waiting(store_reader *base, uint32_t bandit, uint64_t after, uint64_t *count, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    sqlite3_stmt *statement = self->statements[COUNT_WAITING];
    bool row;
    sqlite3_bind_int64(statement, 1, store_place(bandit, after));
    sqlite3_bind_int64(statement, 2, store_place(bandit + 1, 0));
    ee_status status = step(self, COUNT_WAITING, &row, error);
    *count = status ? 0 : (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

static ee_status time_at(sqlite_reader *self, uint32_t bandit, uint64_t number, int64_t *time, ee_error *error)
{
    bool row;
    sqlite3_bind_int64(self->statements[READ_TIME], 1, store_place(bandit, number));
    ee_status status = step(self, READ_TIME, &row, error);
    if (!status && !row)
        status = status_fail(error, EE_FILE_ERROR, "store: eenet.db is damaged: event %" PRIu64 " is missing", number);
    if (!status) *time = sqlite3_column_int64(self->statements[READ_TIME], 0);
    sqlite3_reset(self->statements[READ_TIME]);
    return status;
}

/* The first of the events from `low` to before `high` at or after a log time; `high` if there is none. Log times never
 * go back and numbers have no gaps, so it is a binary search. */
static ee_status search(void *reader, uint32_t bandit, uint64_t low, uint64_t high, int64_t time, uint64_t *number,
                        ee_error *error)
{
    sqlite_reader *self = reader;
    ee_status status = EE_OK;
    while (!status && low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t there = 0;
        status = time_at(self, bandit, middle, &there, error);
        if (there < time)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    return status;
}

static ee_status find_time(store_reader *base, uint32_t bandit, int64_t time, uint64_t *first, uint64_t *past,
                           ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    store_ends ends;
    *first = *past = 0;
    ee_status status = begin(self, error);
    if (status) return status;
    status = store_find_ends(self->database, self->statements[READ_ENDS], bandit, &ends, error);
    if (!status) status = load_clock(self, bandit, error);
    if (!status) status = clock_periods_search(&self->clock, bandit, &ends, time, search, self, first, past, error);
    end(self);
    return status;
}

static ee_status count_before(store_reader *base, uint32_t bandit, int64_t time, uint64_t *count, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    store_ends ends;
    *count = 0;
    ee_status status = begin(self, error);
    if (status) return status;
    status = store_find_ends(self->database, self->statements[READ_ENDS], bandit, &ends, error);
    uint64_t number = ends.first;
    if (!status && ends.first) status = search(self, bandit, ends.first, ends.last + 1, time, &number, error);
    if (!status) *count = number - ends.first;
    end(self);
    return status;
}

static ee_status read_clock(store_reader *base, stored_clock *out, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    sqlite3_stmt *statement = self->statements[LAST_CLOCK];
    bool row;
    *out = (stored_clock){0};
    ee_status status = step(self, LAST_CLOCK, &row, error);
    if (!status && row)
        *out = (stored_clock){sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                              sqlite3_column_int(statement, 2) != 0};
    sqlite3_reset(statement);
    return status;
}

static ee_status find_id(store_reader *base, uint32_t bandit, json_text id, uint64_t *number, ee_error *error)
{
    sqlite_reader *self = (sqlite_reader *)base;
    sqlite3_stmt *statement = self->statements[READ_ID];
    bool row = false;
    *number = 0;
    sqlite3_bind_int64(statement, 1, bandit);
    sqlite3_bind_text(statement, 2, id.bytes, (int)id.length, SQLITE_STATIC);
    ee_status status = step(self, READ_ID, &row, error);
    if (row) *number = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

/* ---- the reader ---- */

static void free_reader(store_reader *base)
{
    sqlite_reader *self = (sqlite_reader *)base;
    store_finalize(self->statements, READ_STATEMENTS);
    sqlite3_close(self->database);
    memory_release(&base->memory);
}

static const reader_methods methods = {
    .free = free_reader,
    .list_bandits = list_bandits,
    .read = read_events,
    .read_these = read_these,
    .find_id = find_id,
    .last_of = last_of,
    .next_decisions = next_decisions,
    .count_waiting = count_waiting,
    .find_time = find_time,
    .count_before = count_before,
    .read_clock = read_clock,
};

ee_status sqlite_reader_open(const char *folder, store_reader **out, ee_error *error)
{
    sqlite_reader *self;
    size_t size = strlen(folder) + 1;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->base.methods = &methods;
    self->clock = (clock_periods){.owner = &self->base.memory};
    self->clock_known_to = INT64_MIN;
    status = memory_create(&self->base.memory, &self->folder, size, 1, error);
    if (!status) memcpy(self->folder, folder, size);
    if (!status) status = blobs_open(folder, &self->base.blobs, error);
    if (!status) status = store_connect(folder, STORE_READS, &self->database, error);
    if (!status) status = store_prepare(self->database, sql, READ_STATEMENTS, self->statements, error);
    if (status) {
        blobs_close(self->base.blobs);
        free_reader(&self->base);
    } else
        *out = &self->base;
    return status;
}
