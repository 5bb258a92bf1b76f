/* Readers of the store, with PostgreSQL. Each call sees one consistent state: one statement, or several in a
 * transaction that reads one snapshot. Exception: the portions of a long store_read are separate statements.
 *
 * A call whose connection breaks is repeated once on a new one: it only reads, so nothing can happen twice. */
#include <inttypes.h>

#include "pg_session.h"
#include "serve/store/clock_periods.h"
#include "serve/store/row_checksum.h"
#include "store_pg.h"

enum {
    NO_STATEMENT = -1,
    READ_BEGIN,
    READ_COMMIT,
    READ_BANDITS,
    READ_ENDS,
    READ_CLOCK,
    READ_EVENTS,
    READ_RARE,
    READ_THESE,
    LAST_RARE,
    LAST_OF,
    FIND_ID,
    NEXT_DECISIONS,
    COUNT_WAITING,
    LAST_CLOCK,
    FIND_TIME,
    READ_STATEMENTS
};
_Static_assert((int)READ_STATEMENTS == (int)PG_READER_STATEMENTS, "all statements");

enum { PLACE, KIND, TIME, ID, DECISION, VALUE, OUTCOME, REWARD_ID, BODY, CHECKSUM };
#define EVENT_COLUMNS "place, kind, time, id, decision, value, outcome, reward_id, body, checksum"

#define DECISION_COLUMNS "place, time, request_a, request_b, rewards, settled, value, inactive, slots"

/* The rows of a query in an order, until the events before a row have this many bytes. Lengths of large bodies are
 * known without reading them. */
#define UNTIL_BYTES(bytes, order, more_columns, query)                                                                 \
    "SELECT " EVENT_COLUMNS " FROM (SELECT *, coalesce(sum(coalesce(octet_length(id), 0)"                              \
    " + coalesce(octet_length(reward_id), 0) + coalesce(octet_length(body), 0)) OVER before, 0) AS "                   \
    "bytes_before" more_columns " FROM (" query ") AS portion WINDOW before AS (ORDER BY " order                       \
    " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS sized WHERE bytes_before < " bytes " ORDER BY " order
#define IS_WANTED "$4::bigint >> kind::int & 1 = 1"

/* The condition of the index rare_events: it is used only if the statement repeats it. */
#define IS_RARE "kind = wanted AND kind >= 4 AND kind <> 8"

const char *const pg_reader_sql[PG_READER_STATEMENTS] = {
    [READ_BEGIN] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [READ_COMMIT] = "COMMIT",
    [READ_BANDITS] = "SELECT b.number, b.name, b.archived, b.settled_to, b.settings, l.first, e.place, e.time"
                     " FROM eenet.bandits AS b LEFT JOIN eenet.log_ends AS l ON l.bandit = b.number"
                     " LEFT JOIN LATERAL (SELECT place, time FROM eenet.events WHERE place > b.number << 40"
                     " AND place < (b.number + 1) << 40 ORDER BY place DESC LIMIT 1) AS e ON true"
                     " WHERE b.purged = 0 ORDER BY b.number",
    /* min(place) would visit all removed events that are not vacuumed yet. */
    [READ_ENDS] = "SELECT (SELECT first FROM eenet.log_ends WHERE bandit = $3), place, time FROM eenet.events"
                  " WHERE place > $1 AND place < $2 ORDER BY place DESC LIMIT 1",
    [READ_CLOCK] = "SELECT time, ahead FROM eenet.clock ORDER BY time",
    /* Rows of other kinds come without their content; the last one is the $6th of these kinds. */
    [READ_EVENTS] = UNTIL_BYTES(
        "$5 AND wanted_before < $6", "place", ", count(*) FILTER (WHERE " IS_WANTED ") OVER before AS wanted_before",
        "SELECT place, kind, time, CASE WHEN " IS_WANTED " THEN id END AS id, decision, value, outcome,"
        " CASE WHEN " IS_WANTED " THEN reward_id END AS reward_id, CASE WHEN " IS_WANTED " THEN body END AS body,"
        " checksum FROM eenet.events WHERE place > $1 AND place < $2 ORDER BY place LIMIT $3"),
    /* Of each kind the first, in the order of the index. */
    [READ_RARE] = UNTIL_BYTES("$5", "place", "",
                              "SELECT of_kind.* FROM unnest($4::bigint[]) AS wanted, LATERAL (SELECT " EVENT_COLUMNS
                              " FROM eenet.events WHERE " IS_RARE " AND place > $1 AND place < $2 ORDER BY place"
                              " LIMIT $3) AS of_kind ORDER BY place LIMIT $3"),
    [READ_THESE] = UNTIL_BYTES("$2", "turn", "",
                               "SELECT turn, events.* FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (at, turn)"
                               " JOIN eenet.events ON place = at"),
    [LAST_RARE] = "SELECT max(last) FROM unnest($1::bigint[]) AS wanted, LATERAL (SELECT max(place) AS last"
                  " FROM eenet.events WHERE " IS_RARE " AND place > $2 AND place <= $3) AS of_kind",
    [LAST_OF] = "SELECT place FROM eenet.events WHERE $1::bigint >> kind::int & 1 = 1 AND place > $2 AND place <= $3"
                " ORDER BY place DESC LIMIT 1",
    [FIND_ID] = "SELECT number FROM eenet.ids WHERE bandit = $1 AND id = $2",
    [NEXT_DECISIONS] = "SELECT " DECISION_COLUMNS " FROM eenet.decisions WHERE place > $1 AND place < $2 ORDER BY place"
                       " LIMIT $3",
    [COUNT_WAITING] = "SELECT count(*) FROM eenet.decisions WHERE settled = 0 AND place > $1 AND place < $2",
    [LAST_CLOCK] = "SELECT time, ahead, in_doubt FROM eenet.clock ORDER BY time DESC LIMIT 1",
    /* Binary search for the first place from $1 to before $2 at or after a log time, in one round trip. It ends with
     * low < high if an event is missing. OFFSET 0: the event is looked up once. */
    [FIND_TIME] = "WITH RECURSIVE search (low, high) AS (SELECT $1::bigint, $2::bigint UNION ALL"
                  " SELECT CASE WHEN there < $3 THEN middle + 1 ELSE low END,"
                  " CASE WHEN there < $3 THEN high ELSE middle END"
                  " FROM (SELECT low, high, low + (high - low) / 2 AS middle, (SELECT time FROM eenet.events"
                  " WHERE place = low + (high - low) / 2) AS there FROM search WHERE low < high OFFSET 0) AS step"
                  " WHERE there IS NOT NULL)"
                  " SELECT low, high FROM search ORDER BY high - low LIMIT 1",
};

typedef struct pg_reader {
    store_reader base;
    pg_session session;
    pg_values values, ends_values;
    clock_periods clock; /* of the snapshot that was read last */
} pg_reader;

/* ---- calls ---- */

enum { WITH_ENDS = 1, WITH_CLOCK = 2, STAYS_OPEN = 4 };

/* A statement with self->values, or none, and from the same snapshot: the ends of the bandit's log, the clock. */
typedef struct question {
    int statement;
    unsigned with;
    uint32_t bandit;
    PGresult *rows; /* to be cleared */
    store_ends ends;
} question;

static ee_status take_ends(pg_reader *self, store_ends *out, ee_error *error)
{
    PGresult *rows;
    *out = (store_ends){0};
    ee_status status = pg_next(self->session.connection, "read the ends of a log", &rows, error);
    if (!status && PQntuples(rows))
        *out = (store_ends){(uint64_t)pg_int8(rows, 0, 0), store_number_at(pg_int8(rows, 0, 1)), pg_int8(rows, 0, 2)};
    PQclear(rows);
    return status;
}

static ee_status take_clock(pg_reader *self, ee_error *error)
{
    PGresult *rows;
    clock_periods_clear(&self->clock);
    ee_status status = pg_next(self->session.connection, "read the clock", &rows, error);
    for (int i = 0; !status && i < PQntuples(rows); i++)
        status = clock_periods_add(&self->clock, pg_int8(rows, i, 0), pg_int8(rows, i, 1), error);
    PQclear(rows);
    return status;
}

static ee_status take_nothing(pg_reader *self, ee_error *error)
{
    PGresult *rows;
    ee_status status = pg_next(self->session.connection, "read", &rows, error);
    PQclear(rows);
    return status;
}

static ee_status send_question(pg_reader *self, const question *asked, ee_error *error)
{
    pg_connection *on = self->session.connection;
    ee_status status = EE_OK;
    if (asked->with) {
        self->session.begun = true;
        status = pg_send(on, READ_BEGIN, NULL, error);
    }
    if (!status && asked->statement != NO_STATEMENT) status = pg_send(on, asked->statement, &self->values, error);
    if (!status && asked->with & WITH_ENDS) {
        pg_values_start(&self->ends_values);
        pg_add_int8(&self->ends_values, store_place(asked->bandit, 0));
        pg_add_int8(&self->ends_values, store_place(asked->bandit + 1, 0));
        pg_add_int8(&self->ends_values, asked->bandit);
        status = pg_send(on, READ_ENDS, &self->ends_values, error);
    }
    if (!status && asked->with & WITH_CLOCK) status = pg_send(on, READ_CLOCK, NULL, error);
    if (!status && asked->with && !(asked->with & STAYS_OPEN)) status = pg_send(on, READ_COMMIT, NULL, error);
    return status ? status : pg_sync(on, error);
}

/* One round trip. */
static ee_status exchange(pg_reader *self, question *asked, ee_error *error)
{
    ee_status status = send_question(self, asked, error);
    if (!status && asked->with) status = take_nothing(self, error);
    if (!status && asked->statement != NO_STATEMENT)
        status = pg_next(self->session.connection, "read", &asked->rows, error);
    if (!status && asked->with & WITH_ENDS) status = take_ends(self, &asked->ends, error);
    if (!status && asked->with & WITH_CLOCK) status = take_clock(self, error);
    if (!status) status = pg_end(self->session.connection, "read", error);
    if (!status && !(asked->with & STAYS_OPEN)) self->session.begun = false;
    if (status) {
        PQclear(asked->rows);
        asked->rows = NULL;
    }
    return status;
}

typedef struct asking {
    pg_reader *self;
    question *asked;
} asking;

static ee_status try_to_ask(void *context, ee_error *error)
{
    const asking *call = context;
    return exchange(call->self, call->asked, error);
}

static ee_status ask(pg_reader *self, question *asked, ee_error *error)
{
    return pg_session_run(&self->session, try_to_ask, &(asking){self, asked}, error);
}

/* Starts the parameters of a statement on a range of a bandit's events: those above `after`. */
static void add_range(pg_reader *self, uint32_t bandit, uint64_t after)
{
    uint64_t most = ((uint64_t)1 << STORE_NUMBER_BITS) - 1;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, store_place(bandit, after < most ? after : most));
    pg_add_int8(&self->values, store_place(bandit + 1, 0));
}

/* ---- bandits ---- */

static ee_status list_bandits(store_reader *base, stored_bandits *out, ee_error *error)
{
    question asked = {.statement = READ_BANDITS};
    pg_values_start(&((pg_reader *)base)->values);
    ee_status status = ask((pg_reader *)base, &asked, error);
    for (int i = 0; !status && i < PQntuples(asked.rows); i++) {
        const PGresult *rows = asked.rows;
        bool has_events = !pg_is_null(rows, i, 6);
        stored_bandit bandit = {
            .number = (uint32_t)pg_int8(rows, i, 0),
            .name = pg_text(rows, i, 1),
            .archived = pg_int8(rows, i, 2) != 0,
            .settled_to = (uint64_t)pg_int8(rows, i, 3),
            .settings = pg_text(rows, i, 4),
            .first_event = has_events ? (uint64_t)pg_int8(rows, i, 5) : 0,
            .events = store_number_at(pg_int8(rows, i, 6)),
            .time = pg_int8(rows, i, 7),
        };
        status = stored_bandits_add(out, &bandit, error);
    }
    PQclear(asked.rows);
    return status;
}

/* ---- events ---- */

static void add_integer(row_checksum *sum, const PGresult *rows, int row, int column)
{
    if (pg_is_null(rows, row, column))
        row_add_null(sum);
    else
        row_add_integer(sum, pg_int8(rows, row, column));
}

/* Of the columns as they are stored: an erased reward has no value. */
static int64_t checksum_of(const PGresult *rows, int row)
{
    row_checksum sum = {0};
    json_text body = pg_text(rows, row, BODY);
    for (int column = PLACE; column <= TIME; column++) add_integer(&sum, rows, row, column);
    row_add_text(&sum, pg_text(rows, row, ID));
    add_integer(&sum, rows, row, DECISION);
    if (pg_is_null(rows, row, VALUE))
        row_add_null(&sum);
    else
        row_add_real(&sum, pg_float8(rows, row, VALUE));
    add_integer(&sum, rows, row, OUTCOME);
    row_add_text(&sum, pg_text(rows, row, REWARD_ID));
    row_add_blob(&sum, body.bytes, body.length);
    return row_checksum_end(&sum);
}

/* Verifies the event of a row and adds it with its wall time. */
static ee_status add_row(pg_reader *self, const PGresult *rows, int row, event_batch *out, ee_error *error)
{
    json_text body = pg_text(rows, row, BODY);
    event read = {
        .number = store_number_at(pg_int8(rows, row, PLACE)),
        .kind = (event_kind)pg_int8(rows, row, KIND),
        .time = clock_periods_wall_time(&self->clock, pg_int8(rows, row, TIME)),
        .id = pg_text(rows, row, ID),
        .decision = (uint64_t)pg_int8(rows, row, DECISION),
        .value = pg_float8(rows, row, VALUE),
        .outcome = (event_outcome)pg_int8(rows, row, OUTCOME),
        .reward_id = pg_text(rows, row, REWARD_ID),
        .body = body.bytes,
        .size = body.length,
    };
    if (pg_is_null(rows, row, CHECKSUM) || pg_int8(rows, row, CHECKSUM) != checksum_of(rows, row))
        return store_event_damaged(pg_int8(rows, row, PLACE), error);
    return event_batch_add(out, &read, error);
}

static bool is_of(int64_t kind, unsigned kinds)
{
    return kind > 0 && kind < 32 && kinds >> kind & 1;
}

static bool has_room(const event_batch *batch, size_t limit)
{
    return batch->count < limit && batch->size < EVENT_BATCH_BYTES;
}

static ee_status fail_missing(uint32_t bandit, uint64_t number, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR,
                       "store: the log of bandit %u is damaged: event %" PRIu64 " is missing; run 'eenet check'",
                       (unsigned)bandit, number);
}

/* Rows that a statement looks at: half of them may be of other kinds. Larger portions follow if most are. */
enum { FIRST_PORTION = 2048, MOST_PORTION = 4096 };

/* Adds the rows of a portion while there is room. *whole false: events between this portion and the one before it were
 * removed meanwhile. */
static ee_status add_all(pg_reader *self, const question *asked, unsigned kinds, size_t limit, bool is_first,
                         event_batch *out, bool *whole, ee_error *error)
{
    ee_status status = EE_OK;
    *whole = true;
    for (int i = 0; !status && i < PQntuples(asked->rows) && has_room(out, limit); i++) {
        uint64_t number = store_number_at(pg_int8(asked->rows, i, PLACE));
        bool follows = number == out->last + 1 || (!i && is_first);
        if (!follows && !i) {
            *whole = false;
            return EE_OK;
        }
        if (!follows) return fail_missing(asked->bandit, out->last + 1, error);
        if (is_of(pg_int8(asked->rows, i, KIND), kinds)) status = add_row(self, asked->rows, i, out, error);
        if (!status) out->last = number;
    }
    return status;
}

static ee_status read_all(pg_reader *self, uint32_t bandit, unsigned kinds, size_t limit, event_batch *out,
                          ee_error *error)
{
    int64_t rows = limit < FIRST_PORTION / 2 ? 2 * (int64_t)limit : FIRST_PORTION;
    bool more = true;
    ee_status status = EE_OK;
    for (bool is_first = true; !status && more && has_room(out, limit); is_first = false) {
        question asked = {.statement = READ_EVENTS, .with = WITH_CLOCK, .bandit = bandit};
        add_range(self, bandit, out->last);
        pg_add_int8(&self->values, rows);
        pg_add_int8(&self->values, kinds);
        pg_add_int8(&self->values, (int64_t)(EVENT_BATCH_BYTES - out->size));
        pg_add_int8(&self->values, limit - out->count < MOST_PORTION ? (int64_t)(limit - out->count) : MOST_PORTION);
        status = ask(self, &asked, error);
        if (!status) status = add_all(self, &asked, kinds, limit, is_first, out, &more, error);
        /* If bytes or the number of events ended the portion, there is no room either. */
        if (!status && PQntuples(asked.rows) < rows) more = false;
        PQclear(asked.rows);
        rows = rows * 2 < MOST_PORTION ? rows * 2 : MOST_PORTION;
    }
    return status;
}

static void add_kinds(pg_reader *self, unsigned kinds)
{
    pg_array_start(&self->values, PG_INT8);
    for (int kind = EVENT_STEP; kind < 32; kind++)
        if (is_of(kind, kinds)) pg_element_int8(&self->values, kind);
    pg_array_end(&self->values);
}

static bool are_rare(unsigned kinds)
{
    return kinds >> EVENT_STEP << EVENT_STEP == kinds && !is_of(EVENT_ACTIVATED, kinds);
}

/* Only kinds that have an index. */
static ee_status read_rare(pg_reader *self, uint32_t bandit, unsigned kinds, size_t limit, event_batch *out,
                           ee_error *error)
{
    int64_t rows = limit < MOST_PORTION ? (int64_t)limit : MOST_PORTION;
    question asked = {.statement = READ_RARE, .with = WITH_ENDS | WITH_CLOCK, .bandit = bandit};
    add_range(self, bandit, out->last);
    pg_add_int8(&self->values, rows);
    add_kinds(self, kinds);
    pg_add_int8(&self->values, EVENT_BATCH_BYTES);
    ee_status status = ask(self, &asked, error);
    int count = status ? 0 : PQntuples(asked.rows);
    for (int i = 0; !status && i < count; i++) {
        status = add_row(self, asked.rows, i, out, error);
        if (!status) out->last = store_number_at(pg_int8(asked.rows, i, PLACE));
    }
    bool ended = count < rows && out->size < EVENT_BATCH_BYTES;
    if (!status && ended && out->last < asked.ends.last) out->last = asked.ends.last;
    PQclear(asked.rows);
    return status;
}

static ee_status read_events(store_reader *base, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                             event_batch *out, ee_error *error)
{
    (void)after; /* the batch has it */
    if (!limit) return EE_OK;
    return (are_rare(kinds) ? read_rare : read_all)((pg_reader *)base, bandit, kinds, limit, out, error);
}

static ee_status read_these(store_reader *base, uint32_t bandit, const uint64_t *numbers, size_t count,
                            event_batch *out, ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    question asked = {.statement = READ_THESE, .with = WITH_CLOCK, .bandit = bandit};
    pg_values_start(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(&self->values, store_place(bandit, numbers[i]));
    pg_array_end(&self->values);
    pg_add_int8(&self->values, EVENT_BATCH_BYTES);
    ee_status status = ask(self, &asked, error);
    for (int i = 0; !status && i < PQntuples(asked.rows); i++) status = add_row(self, asked.rows, i, out, error);
    PQclear(asked.rows);
    return status;
}

/* Runs the statement with self->values. *out = the first column of its first row; 0 if it is NULL or there is none. */
static ee_status ask_number(pg_reader *self, int statement, uint64_t *out, ee_error *error)
{
    question asked = {.statement = statement};
    *out = 0;
    ee_status status = ask(self, &asked, error);
    if (!status && PQntuples(asked.rows)) *out = (uint64_t)pg_int8(asked.rows, 0, 0);
    PQclear(asked.rows);
    return status;
}

static ee_status last_of(store_reader *base, uint32_t bandit, unsigned kinds, uint64_t upto, uint64_t *number,
                         ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    bool rare = are_rare(kinds);
    int64_t high = store_place(bandit + 1, 0) - 1;
    if (upto < store_number_at(high)) high = store_place(bandit, upto);
    pg_values_start(&self->values);
    if (rare)
        add_kinds(self, kinds);
    else
        pg_add_int8(&self->values, kinds);
    pg_add_int8(&self->values, store_place(bandit, 0));
    pg_add_int8(&self->values, high);
    ee_status status = ask_number(self, rare ? LAST_RARE : LAST_OF, number, error);
    *number = store_number_at((int64_t)*number);
    return status;
}

static ee_status find_id(store_reader *base, uint32_t bandit, json_text id, uint64_t *number, ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    pg_add_text(&self->values, id);
    return ask_number(self, FIND_ID, number, error);
}

/* ---- decisions ---- */

static stored_decision decision_of(const pg_reader *self, const PGresult *rows, int row)
{
    return (stored_decision){
        .number = store_number_at(pg_int8(rows, row, 0)),
        .time = clock_periods_wall_time(&self->clock, pg_int8(rows, row, 1)),
        .request = {(uint64_t)pg_int8(rows, row, 2), (uint64_t)pg_int8(rows, row, 3)},
        .rewards = (uint32_t)pg_int8(rows, row, 4),
        .settled = (uint64_t)pg_int8(rows, row, 5),
        .value = pg_float8(rows, row, 6),
        .inactive = pg_int8(rows, row, 7) != 0,
        .slots = (uint32_t)pg_int8(rows, row, 8),
    };
}

static ee_status next_decisions(store_reader *base, uint32_t bandit, uint64_t after, stored_decision *out, size_t limit,
                                size_t *count, ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    question asked = {.statement = NEXT_DECISIONS, .with = WITH_CLOCK, .bandit = bandit};
    add_range(self, bandit, after);
    pg_add_int8(&self->values, (int64_t)limit);
    ee_status status = ask(self, &asked, error);
    if (!status) *count = (size_t)PQntuples(asked.rows);
    for (size_t i = 0; i < *count; i++) out[i] = decision_of(self, asked.rows, (int)i);
    PQclear(asked.rows);
    return status;
}

static ee_status count_waiting(store_reader *base, uint32_t bandit, uint64_t after, uint64_t *count, ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    add_range(self, bandit, after);
    return ask_number(self, COUNT_WAITING, count, error);
}

/* ---- times: several searches in one transaction ---- */

typedef struct time_search {
    pg_reader *self;
    uint32_t bandit;
    int64_t time;
    uint64_t first, past; /* results */
} time_search;

static ee_status search(void *reader, uint32_t bandit, uint64_t low, uint64_t high, int64_t time, uint64_t *number,
                        ee_error *error)
{
    pg_reader *self = reader;
    PGresult *rows = NULL;
    *number = low;
    if (low >= high) return EE_OK;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, store_place(bandit, low));
    pg_add_int8(&self->values, store_place(bandit, high));
    pg_add_int8(&self->values, time);
    ee_status status = pg_run(self->session.connection, FIND_TIME, &self->values, "read", &rows, error);
    if (status) return status;
    low = store_number_at(pg_int8(rows, 0, 0));
    high = store_number_at(pg_int8(rows, 0, 1));
    PQclear(rows);
    *number = low;
    return low == high ? EE_OK : fail_missing(bandit, low + (high - low) / 2, error);
}

static ee_status end_search(pg_reader *self, ee_error *error)
{
    ee_status status = pg_run(self->session.connection, READ_COMMIT, NULL, "read", NULL, error);
    if (!status) self->session.begun = false;
    return status;
}

static ee_status try_wall_time(void *context, ee_error *error)
{
    time_search *call = context;
    pg_reader *self = call->self;
    question asked = {NO_STATEMENT, WITH_ENDS | WITH_CLOCK | STAYS_OPEN, call->bandit, NULL, {0}};
    ee_status status = exchange(self, &asked, error);
    if (!status)
        status = clock_periods_search(&self->clock, call->bandit, &asked.ends, call->time, search, self, &call->first,
                                      &call->past, error);
    return status ? status : end_search(self, error);
}

static ee_status find_time(store_reader *base, uint32_t bandit, int64_t time, uint64_t *first, uint64_t *past,
                           ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    time_search call = {self, bandit, time, 0, 0};
    ee_status status = pg_session_run(&self->session, try_wall_time, &call, error);
    *first = status ? 0 : call.first;
    *past = status ? 0 : call.past;
    return status;
}

static ee_status try_log_time(void *context, ee_error *error)
{
    time_search *call = context;
    pg_reader *self = call->self;
    question asked = {NO_STATEMENT, WITH_ENDS | STAYS_OPEN, call->bandit, NULL, {0}};
    ee_status status = exchange(self, &asked, error);
    call->first = call->past = asked.ends.first;
    if (!status && asked.ends.first)
        status = search(self, call->bandit, asked.ends.first, asked.ends.last + 1, call->time, &call->past, error);
    return status ? status : end_search(self, error);
}

static ee_status count_before(store_reader *base, uint32_t bandit, int64_t time, uint64_t *count, ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    time_search call = {self, bandit, time, 0, 0};
    ee_status status = pg_session_run(&self->session, try_log_time, &call, error);
    *count = status ? 0 : call.past - call.first;
    return status;
}

static ee_status read_clock(store_reader *base, stored_clock *out, ee_error *error)
{
    pg_reader *self = (pg_reader *)base;
    question asked = {.statement = LAST_CLOCK};
    *out = (stored_clock){0};
    pg_values_start(&self->values);
    ee_status status = ask(self, &asked, error);
    if (!status && PQntuples(asked.rows))
        *out = (stored_clock){pg_int8(asked.rows, 0, 0), pg_int8(asked.rows, 0, 1), pg_int8(asked.rows, 0, 2) != 0};
    PQclear(asked.rows);
    return status;
}

/* ---- the reader ---- */

static void free_reader(store_reader *base)
{
    pg_reader *self = (pg_reader *)base;
    pg_session_close(&self->session);
    pg_values_free(&self->values);
    pg_values_free(&self->ends_values);
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

ee_status pg_reader_open(const char *where, store_reader **out, ee_error *error)
{
    pg_reader *self;
    /* Counting the pending decisions of a large log takes seconds. */
    pg_options options = {.where = where, .sql = pg_reader_sql, .count = PG_READER_STATEMENTS, .seconds = 10};
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->base.methods = &methods;
    self->clock = (clock_periods){.owner = &self->base.memory};
    status = pg_session_open(&options, &self->session, error);
    if (!status) status = pg_blobs_open(where, &self->base.blobs, error);
    if (status) {
        blobs_close(self->base.blobs);
        free_reader(&self->base);
    } else
        *out = &self->base;
    return status;
}
