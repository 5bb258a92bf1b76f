#include "pg_audit.h"

#include <pthread.h>

#include "pg_session.h"

enum { AUDIT_BEGIN, AUDIT_LOCK, AUDIT_INSERT, AUDIT_INSERT_ONCE, AUDIT_COMMIT, AUDIT_READ, AUDIT_STATEMENTS };

static const char *const sql[AUDIT_STATEMENTS] = {
    [AUDIT_BEGIN] = "BEGIN",
    /* Entries become visible in the order of their numbers: a reader that has seen one has seen all before it. */
    [AUDIT_LOCK] = "LOCK TABLE eenet.audit IN SHARE ROW EXCLUSIVE MODE",
    [AUDIT_INSERT] = "INSERT INTO eenet.audit (entry) VALUES ($1)",
    /* The first attempt may have been committed before the connection broke. */
    [AUDIT_INSERT_ONCE] = "INSERT INTO eenet.audit (entry) SELECT $1::text WHERE NOT EXISTS (SELECT FROM (SELECT entry"
                          " FROM eenet.audit ORDER BY number DESC LIMIT 1000) AS latest WHERE entry = $1::text)",
    [AUDIT_COMMIT] = "COMMIT",
    [AUDIT_READ] = "SELECT number, entry FROM eenet.audit WHERE number > $1 ORDER BY number LIMIT 256",
};

struct pg_audit {
    pthread_mutex_t lock;
    pg_session session;
    pg_values values;
};

typedef struct audit_call {
    pg_audit *self;
    int tries;
    PGresult *rows; /* to be cleared */
} audit_call;

static ee_status run_call(audit_call *call, pg_call *run, ee_error *error)
{
    return pg_session_run(&call->self->session, run, call, error);
}

static ee_status try_nothing(void *context, ee_error *error)
{
    (void)context, (void)error;
    return EE_OK;
}

ee_status pg_audit_open(const char *where, pg_audit **out, ee_error *error)
{
    pg_audit *self;
    pg_options options = {.where = where, .sql = sql, .count = AUDIT_STATEMENTS};
    *out = NULL;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    pthread_mutex_init(&self->lock, NULL);
    status = pg_session_open(&options, &self->session, error);
    if (!status) status = run_call(&(audit_call){.self = self}, try_nothing, error);
    if (status)
        pg_audit_close(self);
    else
        *out = self;
    return status;
}

void pg_audit_close(pg_audit *self)
{
    if (!self) return;
    pg_session_close(&self->session);
    pg_values_free(&self->values);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

/* One round trip. */
static ee_status try_to_append(void *context, ee_error *error)
{
    audit_call *call = context;
    pg_audit *self = call->self;
    pg_connection *on = self->session.connection;
    self->session.begun = true;
    ee_status status = pg_send(on, AUDIT_BEGIN, NULL, error);
    if (!status) status = pg_send(on, AUDIT_LOCK, NULL, error);
    if (!status) status = pg_send(on, call->tries++ ? AUDIT_INSERT_ONCE : AUDIT_INSERT, &self->values, error);
    if (!status) status = pg_send(on, AUDIT_COMMIT, NULL, error);
    if (!status) status = pg_sync(on, error);
    if (!status) status = pg_end(on, "write the audit log", error);
    if (!status) self->session.begun = false;
    return status;
}

ee_status pg_audit_append(pg_audit *self, json_text entry, ee_error *error)
{
    pthread_mutex_lock(&self->lock);
    pg_values_start(&self->values);
    pg_add_whole(&self->values, entry.bytes, entry.length);
    ee_status status = run_call(&(audit_call){.self = self}, try_to_append, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static ee_status try_to_read(void *context, ee_error *error)
{
    audit_call *call = context;
    return pg_run(call->self->session.connection, AUDIT_READ, &call->self->values, "read the audit log", &call->rows,
                  error);
}

ee_status pg_audit_read(pg_audit *self, uint64_t *place, audit_visit *visit, void *context, bool *more, ee_error *error)
{
    audit_call call = {.self = self};
    pthread_mutex_lock(&self->lock);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, *place < INT64_MAX ? (int64_t)*place : INT64_MAX);
    ee_status status = run_call(&call, try_to_read, error);
    pthread_mutex_unlock(&self->lock);
    int count = status ? 0 : PQntuples(call.rows);
    *more = count > 0;
    for (int i = 0; i < count; i++) {
        *place = (uint64_t)pg_int8(call.rows, i, 0);
        if (!visit(context, pg_text(call.rows, i, 1))) break;
    }
    PQclear(call.rows);
    return status;
}
