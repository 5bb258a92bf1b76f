/* The writer of the store, with PostgreSQL: opening, transactions, and the fence. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "pg_schema.h"
#include "pg_served.h"
#include "pg_writer.h"
#include "serve/system/server_clock.h"

/* ---- transactions ---- */

static ee_status begin(store *base, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    ee_status status = pg_connect_session(self, error);
    if (!status && self->doubtful_count) status = pg_resolve_doubts(self, error);
    if (status) return status;
    self->locked_count = 0;
    self->has_proof = self->proof_is_end = false;
    pg_values_start(&self->values);
    status = pg_queue(self, PG_BEGIN, false, "begin a transaction", error);
    self->begun = !status;
    self->begun_in = pg_connections(self->connection);
    return status;
}

/* Waits for the locks of the transaction, which its backend has until it ends, and looks for what it wrote. */
static ee_status find_outcome(pg_store *self, bool *committed, ee_error *error)
{
    PGresult *result = NULL;
    ee_status status = pg_connect_session(self, error);
    pg_values_start(&self->values);
    if (!status) status = pg_queue(self, PG_BEGIN, false, "begin a transaction", error);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < self->locked_count; i++) pg_element_int8(&self->values, self->locked[i].bandit);
    pg_array_end(&self->values);
    if (!status) status = pg_queue(self, PG_LOCK_ENDS, false, "lock the bandits", error);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, self->proof[0]);
    pg_add_int8(&self->values, self->proof[1]);
    if (!status)
        status = pg_ask(self, self->proof_is_end ? PG_HAS_END : PG_HAS_EVENT, "read what was written", &result, error);
    if (status) return status;
    *committed = PQntuples(result) > 0;
    PQclear(result);
    /* The locks are a change, so this commit waits for the standby, and the one before it is there too then. */
    return pg_run(self->connection, PG_COMMIT, NULL, "commit a transaction", NULL, error);
}

static ee_status doubt(pg_store *self, ee_error *error)
{
    ee_status status = memory_grow(&self->base.memory, &self->doubtful, &self->doubtful_capacity,
                                   self->doubtful_count + self->locked_count, sizeof *self->doubtful, error);
    for (size_t i = 0; i < self->locked_count && !status; i++)
        self->doubtful[self->doubtful_count++] = self->locked[i].bandit;
    return status;
}

/* The connection was lost after COMMIT was sent: whether it was done. If that cannot be found out within some seconds,
 * a failover may take that long, the bandits are loaded again before the next transaction. */
static bool was_committed(pg_store *self)
{
    enum { PAUSE = 100 }; /* milliseconds */
    bool committed = false;
    int64_t until = server_clock_real() + self->patience;
    if (!self->has_proof) return false;
    while (find_outcome(self, &committed, NULL)) {
        pg_disconnect(self->connection); /* with the locks that it may have */
        if (server_clock_real() >= until) {
            /* Without memory for the list, the fence disowns them: their ends are not what this process knows. */
            doubt(self, NULL);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE * 1000000L}, NULL);
    }
    return committed;
}

static ee_status commit(store *base, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    PGresult *result = NULL;
    pg_values_start(&self->values);
    ee_status status = pg_ask(self, PG_COMMIT, "commit a transaction", &result, error);
    if (!status && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        status = status_fail(error, EE_FILE_ERROR, "store: could not commit a transaction: it was rolled back");
    PQclear(result);
    if (status && pg_is_broken(self->connection) && was_committed(self)) status = EE_OK;
    if (!status) self->begun = false;
    return status;
}

static void forget_new_tokens(pg_store *self)
{
    const joining *set = self->base.joining;
    pthread_mutex_lock(&self->token_lock);
    if (self->token_count > set->committed_count + 1) self->token_count = set->committed_count + 1;
    pthread_mutex_unlock(&self->token_lock);
}

/* What was queued and not sent is sent first: the statement after it must not be taken for one of it. */
static void rollback(store *base)
{
    pg_store *self = (pg_store *)base;
    if (!self->begun) return;
    self->begun = false;
    forget_new_tokens(self);
    if (self->taken < self->queued && !pg_is_broken(self->connection)) {
        if (!pg_flush(self, NULL)) pg_finish(self, NULL);
    }
    pg_forget_queue(self);
    bool is_open = !pg_is_broken(self->connection) && self->begun_in == pg_connections(self->connection);
    if (!is_open) return;
    if (pg_run(self->connection, PG_ROLLBACK, NULL, "roll back", NULL, NULL)) pg_disconnect(self->connection);
}

static ee_status probe(store *base, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    pg_values_start(&self->values);
    return pg_queue(self, PG_PROBE, false, "write", error);
}

/* The sum is computed again: there are few rows, and seldom a new one. */
static ee_status write_clock(store *base, const stored_clock *clock, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    stored_end end = {.first = 1};
    PGresult *rows;
    if (!self->server && !base->joining->leads)
        return status_fail(error, EE_FILE_ERROR, "store: another server owns the bandits");
    pg_values_start(&self->values);
    const int64_t columns[] = {clock->time, clock->ahead, clock->in_doubt, store_clock_checksum(clock)};
    for (int i = 0; i < 4; i++) pg_add_int8(&self->values, columns[i]);
    ee_status status = pg_queue(self, PG_WRITE_CLOCK, false, "write the state of the clock", error);
    pg_values_start(&self->values);
    if (!status) status = pg_ask(self, PG_SUM_CLOCK, "read the clock", &rows, error);
    if (status) return status;
    end.last = (uint64_t)PQntuples(rows);
    for (int i = 0; i < PQntuples(rows); i++) end.sum += (uint64_t)pg_int8(rows, i, 0);
    PQclear(rows);
    return pg_set_end(self, CLOCK_END, &end, error);
}

/* Waits for a transaction that has delivered entries of the same spool, and has not ended: perhaps an earlier process
 * was killed while it committed. */
static ee_status deliver(store *base, const char *spool, uint64_t before, uint64_t position, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    PGresult *result;
    pg_values_start(&self->values);
    pg_add_whole(&self->values, spool, strlen(spool));
    pg_add_int8(&self->values, (int64_t)position);
    pg_add_int8(&self->values, (int64_t)before);
    ee_status status = pg_ask(self, PG_DELIVER, "write the position of a spool", &result, error);
    if (!status && !pg_changed(result))
        status = status_fail(error, EE_FILE_ERROR, "store: these events of the spool are already in the database");
    PQclear(result);
    return status;
}

/* PostgreSQL writes each change to a new place: scrub removes the old one. */
static ee_status overwrite(store *base, bool on, ee_error *error)
{
    (void)base, (void)on, (void)error;
    return EE_OK;
}

/* ---- size ---- */

static ee_status try_to_measure(void *context, ee_error *error)
{
    pg_store *self = context;
    PGresult *result;
    ee_status status = pg_query(self->size_session.connection, "SELECT pg_database_size(current_database())",
                                "read the size", &result, error);
    if (!status) self->size = (uint64_t)pg_int8(result, 0, 0);
    PQclear(result);
    return status;
}

static uint64_t count_bytes(const store *base)
{
    pg_store *self = (pg_store *)(uintptr_t)base;
    pthread_mutex_lock(&self->size_lock);
    pg_session_run(&self->size_session, try_to_measure, self, NULL);
    uint64_t size = self->size;
    pthread_mutex_unlock(&self->size_lock);
    return size;
}

static bool disk_space(const store *base, store_space *out)
{
    (void)base, (void)out;
    return false;
}

/* ---- the store ---- */

static void close_store(store *base)
{
    pg_store *self = (pg_store *)base;
    pg_scrub_stop(self);
    if (self->connection) rollback(base);
    pg_free(self->connection);
    pg_session_close(&self->size_session);
    pthread_mutex_destroy(&self->size_lock);
    pthread_mutex_destroy(&self->token_lock);
    pg_values_free(&self->values);
    joining_free(base->joining);
    if (base->blobs) blobs_close(base->blobs);
    memory_release(&base->memory);
}

static ee_status create_reader(store *base, store_reader **out, ee_error *error)
{
    return pg_reader_open(((pg_store *)base)->where, out, error);
}

static uint64_t token_of(const store *base, uint32_t bandit)
{
    return pg_find_token((void *)(uintptr_t)base, bandit);
}

static void set_patience(store *base, double seconds)
{
    ((pg_store *)base)->patience = (int64_t)(seconds * 1e6);
}

static const store_methods methods = {
    .set_patience = set_patience,
    .close = close_store,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .fetch = pg_fetch,
    .fetch_slots = pg_fetch_slots,
    .fetch_waiting = pg_fetch_waiting,
    .apply = pg_apply,
    .write_clock = write_clock,
    .deliver = deliver,
    .spool_position = pg_spool_position,
    .probe = probe,
    .remove = pg_remove,
    .erase = pg_erase,
    .overwrite = overwrite,
    .scrub = pg_scrub,
    .purge = pg_purge,
    .purge_some = pg_purge_some,
    .purge_end = pg_purge_end,
    .purge_next = pg_purge_next,
    .is_purged = pg_is_purged,
    .own = pg_own,
    .disown = pg_disown,
    .token = token_of,
    .create_reader = create_reader,
    .bytes = count_bytes,
    .disk_space = disk_space,
};

static ee_status open_all(pg_store *self, const char *where, ee_error *error)
{
    size_t size = strlen(where) + 1;
    ee_status status = memory_create(&self->base.memory, &self->where, size, 1, error);
    if (!status) memcpy(self->where, where, size);
    if (!status) status = joining_create(&self->base.joining, error);
    pg_options options = {.where = where, .sql = pg_writer_sql, .count = PG_STATEMENTS, .role = "writer"};
    if (!status) status = pg_create(&options, &self->connection, error);
    if (!status) status = pg_session_open(&(pg_options){.where = where}, &self->size_session, error);
    if (!status) status = pg_blobs_open(where, &self->base.blobs, error);
    if (!status) status = pg_connect(self->connection, error);
    if (!status) status = pg_schema_prepare(self->connection, error);
    if (!status) status = pg_connect_session(self, error);
    if (status) return status;
    blobs_fence(self->base.blobs, self->server, pg_find_token, self);
    self->base.joining->leads = !self->server;
    return self->server ? EE_OK : pg_load_all(self, error);
}

ee_status pg_store_open(const char *where, uint64_t server, bool synchronous, store **out, ee_error *error)
{
    pg_store *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->base.methods = &methods;
    self->server = server;
    self->synchronous = synchronous;
    set_patience(&self->base, 10);
    pthread_mutex_init(&self->size_lock, NULL);
    pthread_mutex_init(&self->token_lock, NULL);
    status = open_all(self, where, error);
    if (status)
        close_store(&self->base);
    else
        *out = &self->base;
    return status;
}
