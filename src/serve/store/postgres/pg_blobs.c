/* Blobs as rows of a database, in parts: PostgreSQL keeps a whole value in memory several times.
 *
 * One call at a time: blobs are rare, and a large one keeps the database busy anyway. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pg_session.h"
#include "serve/store/blob_methods.h"

enum { PART_BYTES = 4 << 20 };

enum {
    BLOB_BEGIN,
    BLOB_SNAPSHOT,
    BLOB_COMMIT,
    DELETE_PARTS,
    INSERT_PART,
    LOCK_LEASE,
    MEASURE,
    READ_PART,
    FIND_BLOB,
    LIST_KEYS,
    SUM_BYTES,
    BLOB_STATEMENTS
};

static const char *const sql[BLOB_STATEMENTS] = {
    [BLOB_BEGIN] = "BEGIN",
    [BLOB_SNAPSHOT] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [BLOB_COMMIT] = "COMMIT",
    [DELETE_PARTS] = "DELETE FROM eenet.blobs WHERE bandit = $1 AND kind = $2 AND key = $3",
    [INSERT_PART] = "INSERT INTO eenet.blobs (bandit, kind, key, part, bytes) VALUES ($1, $2, $3, $4, $5)",
    [LOCK_LEASE] = "SELECT 1 FROM eenet.log_ends WHERE bandit = $1 AND token = $2 AND owner = $3 FOR SHARE",
    [MEASURE] = "SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint FROM eenet.blobs"
                " WHERE bandit = $1 AND kind = $2 AND key = $3",
    [READ_PART] = "SELECT bytes FROM eenet.blobs WHERE bandit = $1 AND kind = $2 AND key = $3 AND part = $4",
    [FIND_BLOB] = "SELECT 1 FROM eenet.blobs WHERE bandit = $1 AND kind = $2 AND key = $3 AND part = 0",
    [LIST_KEYS] = "SELECT key FROM eenet.blobs WHERE bandit = $1 AND kind = $2 AND part = 0",
    [SUM_BYTES] = "SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM eenet.blobs",
};

/* What changes when a blob is read, too. */
typedef struct blob_link {
    pthread_mutex_t lock;
    pg_session session;
    pg_values values, lease_values;
} blob_link;

typedef struct pg_blobs {
    blobs base;
    blob_link *link;
} pg_blobs;

/* A call on one blob, or on those of a kind. */
typedef struct blob_call {
    blob_link *link;
    const blob_name *name;
    uint64_t token, owner; /* of the lease; token 0: it is not checked */
    const uint8_t *value;
    size_t value_size;
    uint8_t *bytes; /* read; to be freed */
    size_t size;
    PGresult *rows; /* to be cleared */
    int statement;
} blob_call;

static blob_link *link_of(const blobs *base)
{
    return ((const pg_blobs *)base)->link;
}

static ee_status run_call(pg_call *run, blob_call *call, ee_error *error)
{
    pthread_mutex_lock(&call->link->lock);
    ee_status status = pg_session_run(&call->link->session, run, call, error);
    pthread_mutex_unlock(&call->link->lock);
    return status;
}

/* Starts the parameters of a statement on the blob. An empty key is no NULL. */
static void add_name(const blob_call *call)
{
    pg_values *values = &call->link->values;
    pg_values_start(values);
    pg_add_int8(values, call->name->bandit);
    pg_add_int8(values, (int64_t)call->name->kind);
    pg_add_whole(values, call->name->key, strlen(call->name->key));
}

static ee_status take_nothing(pg_connection *on, const char *what, ee_error *error)
{
    PGresult *rows;
    ee_status status = pg_next(on, what, &rows, error);
    PQclear(rows);
    return status;
}

static ee_status commit(blob_link *link, const char *what, ee_error *error)
{
    ee_status status = pg_run(link->session.connection, BLOB_COMMIT, NULL, what, NULL, error);
    if (!status) link->session.begun = false;
    return status;
}

/* ---- changing: the lease is locked last, because the owner's writes wait for it ---- */

static ee_status send_start(const blob_call *call, ee_error *error)
{
    pg_connection *on = call->link->session.connection;
    call->link->session.begun = true;
    ee_status status = pg_send(on, BLOB_BEGIN, NULL, error);
    add_name(call);
    return status ? status : pg_send(on, DELETE_PARTS, &call->link->values, error);
}

static ee_status fail_moved(ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "store: another server owns the bandit");
}

static ee_status lock_lease(const blob_call *call, ee_error *error)
{
    PGresult *rows = NULL;
    pg_values *values = &call->link->lease_values;
    if (!call->token) return EE_OK;
    pg_values_start(values);
    pg_add_int8(values, call->name->bandit);
    pg_add_int8(values, (int64_t)call->token);
    pg_add_int8(values, (int64_t)call->owner);
    ee_status status =
        pg_run(call->link->session.connection, LOCK_LEASE, values, "lock the bandit's lease", &rows, error);
    if (!status && !PQntuples(rows)) status = fail_moved(error);
    PQclear(rows);
    return status;
}

static ee_status send_part(const blob_call *call, size_t part, ee_error *error)
{
    size_t from = part * PART_BYTES, left = call->value_size - from;
    add_name(call);
    pg_add_int8(&call->link->values, (int64_t)part);
    pg_add_whole(&call->link->values, call->value + from, left < PART_BYTES ? left : PART_BYTES);
    return pg_send(call->link->session.connection, INSERT_PART, &call->link->values, error);
}

static ee_status try_to_put(void *context, ee_error *error)
{
    static const char what[] = "write a blob";
    const blob_call *call = context;
    pg_connection *on = call->link->session.connection;
    size_t parts = call->value_size ? (call->value_size - 1) / PART_BYTES + 1 : 1;
    ee_status status = send_start(call, error);
    for (size_t part = 0; part < parts && !status; part++) {
        status = send_part(call, part, error);
        if (!status) status = pg_sync(on, error);
        for (int i = part ? 2 : 0; i < 3 && !status; i++) status = take_nothing(on, what, error);
        if (!status) status = pg_end(on, what, error);
    }
    if (!status) status = lock_lease(call, error);
    return status ? status : commit(call->link, what, error);
}

static ee_status try_to_remove(void *context, ee_error *error)
{
    static const char what[] = "remove a blob";
    const blob_call *call = context;
    pg_connection *on = call->link->session.connection;
    ee_status status = send_start(call, error);
    if (!status) status = pg_sync(on, error);
    for (int i = 0; i < 2 && !status; i++) status = take_nothing(on, what, error);
    if (!status) status = pg_end(on, what, error);
    if (!status) status = lock_lease(call, error);
    return status ? status : commit(call->link, what, error);
}

/* Runs a change, which has the same effect if it runs twice. */
static ee_status change(blobs *base, pg_call *run, blob_call *call, ee_error *error)
{
    call->link = link_of(base);
    if (base->token && call->name->bandit) {
        call->token = base->token(base->token_context, call->name->bandit);
        call->owner = base->owner;
        if (!call->token) return fail_moved(error);
    }
    return run_call(run, call, error);
}

static ee_status put(blobs *base, const blob_name *name, const void *bytes, size_t size, ee_error *error)
{
    return change(base, try_to_put, &(blob_call){.name = name, .value = bytes, .value_size = size}, error);
}

static ee_status remove_rows(blobs *base, const blob_name *name, ee_error *error)
{
    return change(base, try_to_remove, &(blob_call){.name = name}, error);
}

/* ---- reading ---- */

static const char reading[] = "read a blob";

/* Begins a snapshot, and makes room for the value. */
static ee_status measure(blob_call *call, size_t *parts, ee_error *error)
{
    PGresult *rows = NULL;
    pg_connection *on = call->link->session.connection;
    call->link->session.begun = true;
    memory_free(call->bytes);
    call->bytes = NULL;
    add_name(call);
    ee_status status = pg_send(on, BLOB_SNAPSHOT, NULL, error);
    if (!status) status = pg_send(on, MEASURE, &call->link->values, error);
    if (!status) status = pg_sync(on, error);
    if (!status) status = take_nothing(on, reading, error);
    if (!status) status = pg_next(on, reading, &rows, error);
    if (!status) status = pg_end(on, reading, error);
    if (!status) {
        *parts = (size_t)pg_int8(rows, 0, 0);
        call->size = (size_t)pg_int8(rows, 0, 1);
        status = memory_create(NULL, &call->bytes, call->size + 1, 1, error);
    }
    PQclear(rows);
    return status;
}

/* Appends a part at *at. */
static ee_status get_part(const blob_call *call, size_t part, size_t *at, ee_error *error)
{
    PGresult *rows = NULL;
    add_name(call);
    pg_add_int8(&call->link->values, (int64_t)part);
    ee_status status = pg_run(call->link->session.connection, READ_PART, &call->link->values, reading, &rows, error);
    if (status) return status;
    json_text bytes = {"", 0};
    if (PQntuples(rows)) bytes = pg_text(rows, 0, 0);
    if (!PQntuples(rows) || bytes.length > call->size - *at)
        status = blob_fail_damaged(call->name, error);
    else
        memcpy(call->bytes + *at, bytes.bytes, bytes.length);
    *at += bytes.length;
    PQclear(rows);
    return status;
}

static ee_status try_to_get(void *context, ee_error *error)
{
    blob_call *call = context;
    size_t parts = 0, at = 0;
    ee_status status = measure(call, &parts, error);
    if (!status && !parts) status = blob_fail_missing(call->name, error);
    for (size_t part = 0; part < parts && !status; part++) status = get_part(call, part, &at, error);
    return status ? status : commit(call->link, reading, error);
}

static ee_status get(const blobs *base, const blob_name *name, uint8_t **bytes, size_t *size, ee_error *error)
{
    blob_call call = {.link = link_of(base), .name = name};
    ee_status status = run_call(try_to_get, &call, error);
    *bytes = call.bytes; /* the caller frees them after a failure, too */
    *size = call.size;
    return status;
}

static ee_status try_to_ask(void *context, ee_error *error)
{
    blob_call *call = context;
    add_name(call);
    if (call->statement == LIST_KEYS) call->link->values.count = 2;
    if (call->statement == SUM_BYTES) call->link->values.count = 0;
    return pg_run(call->link->session.connection, call->statement, &call->link->values, reading, &call->rows, error);
}

static bool exists(const blobs *base, const blob_name *name)
{
    blob_call call = {.link = link_of(base), .name = name, .statement = FIND_BLOB};
    bool found = run_call(try_to_ask, &call, NULL) || PQntuples(call.rows);
    PQclear(call.rows);
    return found;
}

static ee_status list_keys(const blobs *base, uint32_t bandit, blob_kind kind, blob_key **keys, size_t *count,
                           ee_error *error)
{
    blob_name name = blob_named(bandit, kind, "");
    blob_call call = {.link = link_of(base), .name = &name, .statement = LIST_KEYS};
    ee_status status = run_call(try_to_ask, &call, error);
    size_t found = status ? 0 : (size_t)PQntuples(call.rows);
    if (found) status = memory_create(NULL, keys, found, sizeof **keys, error);
    for (size_t i = 0; i < found && !status; i++) {
        json_text key = pg_text(call.rows, (int)i, 0);
        snprintf((*keys)[i], BLOB_KEY_SIZE, "%.*s", (int)key.length, key.bytes);
    }
    if (!status) *count = found;
    PQclear(call.rows);
    return status;
}

static uint64_t count_bytes(const blobs *base)
{
    blob_name name = {0};
    blob_call call = {.link = link_of(base), .name = &name, .statement = SUM_BYTES};
    uint64_t bytes = run_call(try_to_ask, &call, NULL) ? 0 : (uint64_t)pg_int8(call.rows, 0, 0);
    PQclear(call.rows);
    return bytes;
}

/* ---- beginning and end ---- */

/* A transaction that a crash cut off left nothing. */
static void sweep(blobs *base)
{
    (void)base;
}

static ee_status scratch(blobs *base, const char *ending, char **path, ee_error *error)
{
    const char *folder = getenv("TMPDIR");
    size_t size;
    (void)base;
    if (!folder || !*folder) folder = "/tmp";
    size = strlen(folder) + strlen(ending) + 32;
    ee_status status = memory_create(NULL, path, size, 1, error);
    if (status) return status;
    snprintf(*path, size, "%s/eenet-XXXXXX%s", folder, ending);
    int file = mkstemps(*path, (int)strlen(ending)); /* mode 0600 */
    if (file >= 0) {
        close(file);
        return EE_OK;
    }
    status = status_fail(error, EE_FILE_ERROR, "store: could not create a file in %s: %s", folder, strerror(errno));
    memory_free(*path);
    *path = NULL;
    return status;
}

static void close_rows(blobs *base)
{
    blob_link *link = link_of(base);
    if (link) {
        pg_session_close(&link->session);
        pg_values_free(&link->values);
        pg_values_free(&link->lease_values);
        pthread_mutex_destroy(&link->lock);
    }
    memory_release(&base->memory);
}

static const blob_methods methods = {
    .close = close_rows,
    .sweep = sweep,
    .put = put,
    .get = get,
    .exists = exists,
    .remove = remove_rows,
    .list = list_keys,
    .bytes = count_bytes,
    .scratch = scratch,
};

ee_status pg_blobs_open(const char *where, blobs **out, ee_error *error)
{
    pg_blobs *self;
    /* A part needs 4 MiB through the network and onto the disk. */
    pg_options options = {.where = where, .sql = sql, .count = BLOB_STATEMENTS, .seconds = 30};
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->base.methods = &methods;
    status = memory_create(&self->base.memory, &self->link, 1, sizeof *self->link, error);
    if (!status) {
        pthread_mutex_init(&self->link->lock, NULL);
        status = pg_session_open(&options, &self->link->session, error);
    }
    if (status)
        close_rows(&self->base);
    else
        *out = &self->base;
    return status;
}
