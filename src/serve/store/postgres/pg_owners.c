/* Which bandits this process owns, and what the writer knows of them. */
#include "pg_writer.h"

/* The columns of PG_LOAD_BANDITS. */
enum {
    NUMBER,
    ARCHIVED,
    SETTLED_TO,
    SETTINGS,
    PURGED,
    END,
    TOKEN = END + END_COLUMNS,
    OWNER,
    FIRST,
    LAST,
    TIME,
    UNCLAIMED,
    WAITING
};

/* The end of the bandit's log, as it was when it was last written, and as it is: a log that lost events is not
 * continued. */
static ee_status check_end(const PGresult *rows, int row, uint32_t bandit, const store_ends *found, ee_error *error)
{
    stored_end end;
    int64_t columns[END_COLUMNS];
    for (int i = 0; i < END_COLUMNS; i++) columns[i] = pg_int8(rows, row, END + i);
    bool whole = !pg_is_null(rows, row, END) && store_end_of(columns, &end);
    if (whole && end.last == found->last && (!found->last || end.first == found->first)) return EE_OK;
    return status_fail(error, EE_FILE_ERROR,
                       "store: the database is damaged: the log of bandit %u does not end where it was last written; "
                       "run 'eenet check'",
                       (unsigned)bandit);
}

static ee_status read_state(const PGresult *rows, int row, bandit_state *out, ee_error *error)
{
    bandit_settings settings = bandit_settings_usual();
    json_text stored = pg_text(rows, row, SETTINGS);
    *out = (bandit_state){.number = (uint32_t)pg_int8(rows, row, NUMBER),
                          .owned = true,
                          .archived = pg_int8(rows, row, ARCHIVED) != 0,
                          .settled_to = (uint64_t)pg_int8(rows, row, SETTLED_TO),
                          .purged = pg_int8(rows, row, PURGED) != 0};
    if (out->purged) out->deadline = INT64_MAX;
    if (out->purged) return EE_OK;
    store_ends ends = {store_number_at(pg_int8(rows, row, FIRST)), store_number_at(pg_int8(rows, row, LAST)),
                       pg_int8(rows, row, TIME)};
    ee_status status = EE_OK;
    if (stored.length) status = bandit_settings_read(&settings, stored.bytes, stored.length, SETTINGS_STORED, error);
    if (!status) status = check_end(rows, row, out->number, &ends, error);
    out->unclaimed = (uint64_t)pg_int8(rows, row, UNCLAIMED);
    out->waiting = (uint64_t)pg_int8(rows, row, WAITING);
    out->events = out->news = ends.last;
    out->time = ends.time;
    out->rules = settings.joining;
    return status;
}

static ee_status load(pg_store *self, uint32_t after, int64_t limit, PGresult **rows, ee_error *error)
{
    pg_values_start(&self->values);
    pg_add_int8(&self->values, after);
    pg_add_int8(&self->values, limit);
    return pg_ask(self, PG_LOAD_BANDITS, "read the bandits", rows, error);
}

/* Of a process that owns everything: the bandits that it does not know yet. Numbers have no gaps: of a bandit that is
 * removed the row stays. */
static ee_status load_rest(pg_store *self, ee_error *error)
{
    enum { EACH = 256 };
    joining *set = self->base.joining;
    int count = EACH;
    ee_status status = EE_OK;
    while (!status && count == EACH) {
        PGresult *rows;
        status = load(self, (uint32_t)set->bandit_count, EACH, &rows, error);
        count = status ? 0 : PQntuples(rows);
        for (int i = 0; i < count && !status; i++) {
            bandit_state state;
            uint32_t expected = (uint32_t)set->bandit_count + 1;
            if (pg_int8(rows, i, NUMBER) != expected)
                status = status_fail(error, EE_FILE_ERROR, "store: the database is damaged: bandit %u is missing",
                                     (unsigned)expected);
            if (!status) status = read_state(rows, i, &state, error);
            if (!status) status = joining_add_bandit(set, &state, error);
            if (!status) status = pg_set_token(self, expected, (uint64_t)pg_int8(rows, i, TOKEN), error);
        }
        PQclear(rows);
    }
    return status;
}

/* The token of a lease, as the database has it; 0: it is another server's. */
static ee_status find_token(pg_store *self, uint32_t bandit, uint64_t *token, ee_error *error)
{
    PGresult *rows;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    pg_add_int8(&self->values, (int64_t)self->server);
    ee_status status = pg_ask(self, PG_FIND_TOKEN, "read a lease", &rows, error);
    if (status) return status;
    *token = PQntuples(rows) ? (uint64_t)pg_int8(rows, 0, 0) : 0;
    PQclear(rows);
    return EE_OK;
}

/* Takes all leases: servers that had them are fenced. */
ee_status pg_load_all(pg_store *self, ee_error *error)
{
    uint64_t token = 0;
    ee_status status = pg_execute(self->connection,
                                  "BEGIN; UPDATE eenet.log_ends SET owner = 0, token = token + 1;"
                                  "UPDATE eenet.fleet SET changes = changes + 1; COMMIT",
                                  "take the bandits", error);
    if (!status) status = find_token(self, LEADER, &token, error);
    if (!status) status = pg_set_token(self, LEADER, token, error);
    return status ? status : load_rest(self, error);
}

/* ---- one lease ---- */

/* The leader knows all bandits, so that a new one gets the next number. */
static ee_status own_leader(pg_store *self, uint64_t token, bool *owned, ee_error *error)
{
    uint64_t now = 0;
    PGresult *rows;
    ee_status status = find_token(self, LEADER, &now, error);
    *owned = !status && now == token;
    if (!*owned) return status;
    pg_values_start(&self->values);
    status = pg_ask(self, PG_LAST_BANDIT, "read the bandits", &rows, error);
    if (status) return status;
    if (self->server) status = joining_know(self->base.joining, (uint32_t)pg_int8(rows, 0, 0), error);
    PQclear(rows);
    if (!status) status = pg_set_token(self, LEADER, token, error);
    if (!status) self->base.joining->leads = true;
    return status;
}

static ee_status own_bandit(pg_store *self, uint32_t bandit, uint64_t token, bool *owned, ee_error *error)
{
    PGresult *rows;
    bandit_state state;
    ee_status status = load(self, bandit - 1, 1, &rows, error);
    if (status) return status;
    *owned = PQntuples(rows) && pg_int8(rows, 0, NUMBER) == bandit && pg_int8(rows, 0, TOKEN) == (int64_t)token &&
             pg_int8(rows, 0, OWNER) == (int64_t)self->server;
    if (*owned) status = read_state(rows, 0, &state, error);
    if (*owned && !status) status = pg_set_token(self, bandit, token, error);
    if (*owned && !status) status = joining_own(self->base.joining, &state, error);
    PQclear(rows);
    return status;
}

/* Commits a lock on the bandit's row. The lock waits until a session that was lost has ended its transaction. The
 * commit waits for the standby: what is read of the bandit after it, its lease too, survives a failover. Otherwise
 * another server could get the same token later, with other events. */
static ee_status settle(pg_store *self, uint32_t bandit, ee_error *error)
{
    PGresult *result = NULL;
    pg_values_start(&self->values);
    ee_status status = pg_queue(self, PG_BEGIN, false, "begin a transaction", error);
    pg_array_start(&self->values, PG_INT8);
    pg_element_int8(&self->values, bandit);
    pg_array_end(&self->values);
    if (!status) status = pg_queue(self, PG_LOCK_ENDS, false, "lock a bandit", error);
    pg_values_start(&self->values);
    if (!status) status = pg_ask(self, PG_COMMIT, "commit a transaction", &result, error);
    PQclear(result);
    if (!status) return EE_OK;
    pg_forget_queue(self);
    if (!pg_is_broken(self->connection) && pg_run(self->connection, PG_ROLLBACK, NULL, "roll back", NULL, NULL))
        pg_disconnect(self->connection);
    return status;
}

static ee_status own(pg_store *self, uint32_t bandit, uint64_t token, bool *owned, ee_error *error)
{
    *owned = false;
    ee_status status = settle(self, bandit, error);
    if (!status)
        status =
            bandit == LEADER ? own_leader(self, token, owned, error) : own_bandit(self, bandit, token, owned, error);
    if (!status && !*owned) pg_disown(&self->base, bandit);
    return status;
}

ee_status pg_own(store *base, uint32_t bandit, uint64_t token, bool *owned, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    *owned = false;
    ee_status status = pg_connect_session(self, error);
    if (!status && self->doubtful_count) status = pg_resolve_doubts(self, error);
    return status ? status : own(self, bandit, token, owned, error);
}

/* The transaction may have created bandits. In a fleet their leases say whose they are. */
static ee_status resolve(pg_store *self, uint32_t bandit, ee_error *error)
{
    bool owned;
    uint64_t token = pg_token(self, bandit);
    ee_status status = token ? own(self, bandit, token, &owned, error) : settle(self, bandit, error);
    if (!status && bandit == LEADER && !self->server && self->base.joining->leads) status = load_rest(self, error);
    return status;
}

ee_status pg_resolve_doubts(pg_store *self, ee_error *error)
{
    ee_status status = EE_OK;
    while (self->doubtful_count && !status) {
        status = resolve(self, self->doubtful[self->doubtful_count - 1], error);
        if (!status) self->doubtful_count--;
    }
    return status;
}
