/* Sessions, statements and the fence of the writer with PostgreSQL. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pg_schema.h"
#include "pg_served.h"
#include "pg_session.h"
#include "pg_writer.h"

/* ---- statements ---- */

void pg_forget_queue(pg_store *self)
{
    self->queued = self->taken = 0;
}

ee_status pg_queue(pg_store *self, int statement, bool wanted, const char *what, ee_error *error)
{
    ee_status status = memory_grow(&self->base.memory, &self->queue, &self->queue_capacity, self->queued + 1,
                                   sizeof *self->queue, error);
    if (!status) status = pg_send(self->connection, statement, &self->values, error);
    if (!status) self->queue[self->queued++] = (pg_queued){what, wanted};
    return status;
}

ee_status pg_flush(pg_store *self, ee_error *error)
{
    ee_status status = pg_sync(self->connection, error);
    if (status) pg_forget_queue(self);
    return status;
}

ee_status pg_take(pg_store *self, PGresult **result, ee_error *error)
{
    *result = NULL;
    while (self->taken < self->queued) {
        const pg_queued *next = &self->queue[self->taken++];
        ee_status status = pg_next(self->connection, next->what, result, error);
        if (status) pg_forget_queue(self);
        if (status || next->wanted) return status;
        PQclear(*result);
        *result = NULL;
    }
    return status_fail(error, EE_FILE_ERROR, "store: no statement is left");
}

ee_status pg_finish(pg_store *self, ee_error *error)
{
    ee_status status = EE_OK;
    while (!status && self->taken < self->queued) {
        PGresult *result;
        status = pg_next(self->connection, self->queue[self->taken++].what, &result, error);
        PQclear(result);
    }
    pg_forget_queue(self);
    return status ? status : pg_end(self->connection, "write", error);
}

ee_status pg_ask(pg_store *self, int statement, const char *what, PGresult **result, ee_error *error)
{
    *result = NULL;
    ee_status status = pg_queue(self, statement, true, what, error);
    if (!status) status = pg_flush(self, error);
    if (!status) status = pg_take(self, result, error);
    if (!status) status = pg_finish(self, error);
    if (!status) return EE_OK;
    PQclear(*result);
    *result = NULL;
    return status;
}

/* ---- sessions ---- */

static ee_status refuse_second(pg_store *self, ee_error *error)
{
    PGresult *result;
    ee_status status = pg_query(self->connection, "SELECT current_database()", "connect", &result, error);
    if (status) return status;
    json_text name = pg_text(result, 0, 0);
    status = status_fail(error, EE_FILE_ERROR, "store: another process is serving the database %.*s", (int)name.length,
                         name.bytes);
    PQclear(result);
    return status;
}

/* Waits a little: the session of a process that has just ended may still have the lock. */
static ee_status lock_alone(pg_store *self, ee_error *error)
{
    char sql[64];
    PGresult *result = NULL;
    ee_status status = pg_execute(self->connection, "SET lock_timeout = 2000", "connect", error);
    if (status) return status;
    snprintf(sql, sizeof sql, "SELECT pg_advisory_lock(%d)", PG_ALONE_LOCK);
    status = pg_query(self->connection, sql, "lock the database", &result, error);
    PQclear(result);
    if (status && strcmp(pg_state(self->connection), "55P03") == 0) return refuse_second(self, error);
    return status ? status : pg_execute(self->connection, "SET lock_timeout = 0", "connect", error);
}

/* Whatever the database's default is, a commit is on the disk when it returns, and with `synchronous` on that of a
 * standby too. With 'remote_write' the standby may have it in memory only. */
static const char *commit_setting(const pg_store *self)
{
    return self->synchronous ? "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
                               " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)"
                             : "SELECT set_config('synchronous_commit', 'on', false)"
                               " WHERE current_setting('synchronous_commit') = 'off'";
}

static ee_status prepare_session(pg_store *self, ee_error *error)
{
    char name[64]; /* by which leases_move finds the session of a server that hangs */
    snprintf(name, sizeof name, "SET application_name = 'eenet writer %" PRIu64 "'", self->server);
    ee_status status = pg_execute(self->connection, commit_setting(self), "connect", error);
    if (!status) status = pg_execute(self->connection, name, "connect", error);
    if (!status && !self->server) status = lock_alone(self, error);
    if (!status && self->session) pg_session_renew();
    if (!status) self->session = pg_connections(self->connection);
    return status;
}

/* Connects if there is no connection. */
ee_status pg_connect_session(pg_store *self, ee_error *error)
{
    ee_status status = pg_connect(self->connection, error);
    if (status || self->session == pg_connections(self->connection)) return status;
    pg_forget_queue(self);
    return prepare_session(self, error);
}

/* ---- the fence ---- */

uint64_t pg_token(const pg_store *self, uint32_t bandit)
{
    return bandit < self->token_count ? self->tokens[bandit] : 0;
}

/* For blobs: in any thread. */
uint64_t pg_find_token(void *context, uint32_t bandit)
{
    pg_store *self = context;
    pthread_mutex_lock(&self->token_lock);
    uint64_t token = pg_token(self, bandit);
    pthread_mutex_unlock(&self->token_lock);
    return token;
}

static ee_status reserve_tokens(pg_store *self, size_t count, ee_error *error)
{
    if (count <= self->token_count) return EE_OK;
    ee_status status =
        memory_grow(&self->base.memory, &self->tokens, &self->token_capacity, count, sizeof *self->tokens, error);
    if (status) return status;
    memset(self->tokens + self->token_count, 0, (count - self->token_count) * sizeof *self->tokens);
    self->token_count = count;
    return EE_OK;
}

ee_status pg_set_token(pg_store *self, uint32_t bandit, uint64_t token, ee_error *error)
{
    pthread_mutex_lock(&self->token_lock);
    ee_status status = reserve_tokens(self, (size_t)bandit + 1, error);
    if (!status) self->tokens[bandit] = token;
    pthread_mutex_unlock(&self->token_lock);
    return status;
}

void pg_disown(store *base, uint32_t bandit)
{
    pg_store *self = (pg_store *)base;
    pg_set_token(self, bandit, 0, NULL);
    if (bandit == LEADER)
        base->joining->leads = false;
    else
        joining_disown(base->joining, bandit);
}

ee_status pg_queue_locks(pg_store *self, const uint32_t *bandits, size_t count, ee_error *error)
{
    self->locked_count = 0;
    pg_values_start(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(&self->values, bandits[i]);
    pg_array_end(&self->values);
    return pg_queue(self, PG_LOCK_ENDS, true, "lock the bandits", error);
}

static const pg_locked *find_locked(const pg_store *self, uint32_t bandit)
{
    size_t low = 0, high = self->locked_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->locked[middle].bandit < bandit)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->locked_count && self->locked[low].bandit == bandit ? &self->locked[low] : NULL;
}

static ee_status refuse_damaged(uint32_t bandit, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR,
                       "store: the database is damaged: the end of the log of bandit %u; run 'eenet check'",
                       (unsigned)bandit);
}

ee_status pg_locked_end(const pg_store *self, uint32_t bandit, stored_end *out, ee_error *error)
{
    const pg_locked *found = find_locked(self, bandit);
    if (!found || !found->whole) return refuse_damaged(bandit, error);
    *out = found->end;
    return EE_OK;
}

/* A row that has another token or owner, or another end than this process wrote, is another's. */
static ee_status check_lease(pg_store *self, uint32_t bandit, ee_error *error)
{
    const join_bandit *known = joining_bandit(self->base.joining, bandit);
    const pg_locked *found = find_locked(self, bandit);
    if (!found) return refuse_damaged(bandit, error);
    bool is_ours = found->token == pg_token(self, bandit) && found->owner == self->server;
    if (is_ours && known && !known->now.purged) is_ours = found->end.last == known->now.events;
    if (!is_ours && pg_token(self, bandit)) pg_disown(&self->base, bandit);
    return EE_OK;
}

ee_status pg_take_locks(pg_store *self, const uint32_t *bandits, size_t count, ee_error *error)
{
    PGresult *rows;
    ee_status status = pg_take(self, &rows, error);
    if (status) return status;
    size_t found = (size_t)PQntuples(rows);
    status = memory_grow(&self->base.memory, &self->locked, &self->locked_capacity, found, sizeof *self->locked, error);
    for (size_t i = 0; i < found && !status; i++) {
        int64_t columns[END_COLUMNS];
        for (int k = 0; k < END_COLUMNS; k++) columns[k] = pg_int8(rows, (int)i, k);
        pg_locked *end = &self->locked[self->locked_count++];
        end->bandit = (uint32_t)columns[0];
        end->whole = store_end_of(columns, &end->end);
        end->token = (uint64_t)pg_int8(rows, (int)i, END_COLUMNS);
        end->owner = (uint64_t)pg_int8(rows, (int)i, END_COLUMNS + 1);
    }
    PQclear(rows);
    for (size_t i = 0; i < count && !status; i++) status = check_lease(self, bandits[i], error);
    return status;
}

ee_status pg_lock_bandit(pg_store *self, uint32_t bandit, ee_error *error)
{
    ee_status status = pg_queue_locks(self, &bandit, 1, error);
    if (!status) status = pg_flush(self, error);
    if (!status) status = pg_take_locks(self, &bandit, 1, error);
    if (!status) status = pg_finish(self, error);
    if (!status && !pg_token(self, bandit))
        status = status_fail(error, EE_FILE_ERROR, "store: another server owns the bandit; try again");
    return status;
}

/* ---- ends ---- */

void pg_element_end(pg_store *self, uint32_t bandit, const stored_end *end, int column)
{
    int64_t columns[END_COLUMNS];
    store_end_columns(bandit, end, columns);
    pg_element_int8(&self->values, columns[column]);
}

void pg_prove_by_end(pg_store *self, const int64_t columns[END_COLUMNS])
{
    if (self->has_proof) return;
    self->has_proof = self->proof_is_end = true;
    self->proof[0] = columns[0];
    self->proof[1] = columns[END_COLUMNS - 1];
}

ee_status pg_set_end(pg_store *self, uint32_t bandit, const stored_end *end, ee_error *error)
{
    int64_t columns[END_COLUMNS];
    store_end_columns(bandit, end, columns);
    pg_values_start(&self->values);
    for (int i = 0; i < END_COLUMNS; i++) {
        pg_array_start(&self->values, PG_INT8);
        pg_element_int8(&self->values, columns[i]);
        pg_array_end(&self->values);
    }
    pg_prove_by_end(self, columns);
    return pg_queue(self, PG_SET_ENDS, false, "write the end of a log", error);
}

ee_status pg_change_end(pg_store *self, uint32_t bandit, const end_change *by, ee_error *error)
{
    stored_end end;
    ee_status status = pg_locked_end(self, bandit, &end, error);
    if (status) return status;
    store_end_apply(&end, by);
    return pg_set_end(self, bandit, &end, error);
}

ee_status pg_count_change(pg_store *self, ee_error *error)
{
    pg_values_start(&self->values);
    return pg_queue(self, PG_COUNT_CHANGE, false, "write a change", error);
}
