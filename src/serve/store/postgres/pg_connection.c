#define _POSIX_C_SOURCE 200809L
#include "pg_connection.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/store/store.h"
#include "serve/system/server_clock.h"

typedef struct statement_list {
    const char *const *sql; /* (count) */
    size_t count;
    bool *prepared; /* (count) on this connection */
} statement_list;

struct pg_connection {
    memory memory;
    statement_list lists[PG_MOST_LISTS]; /* (list_count) */
    int list_count, list;                /* list: the one in use */
    char *where, *role;
    double seconds, session_seconds; /* session_seconds: the timeout set in the session; 0: none */
    PGconn *connection;              /* NULL: not connected */
    uint8_t *queue; /* (queued) what was sent since the last result, in order: PREPARE, STATEMENT or SYNC */
    size_t queued, queue_capacity, taken;
    uint64_t connections;
    char state[6];
};

enum { QUEUE_PREPARE, QUEUE_STATEMENT, QUEUE_SYNC };

/* ---- failures ---- */

void pg_disconnect(pg_connection *self)
{
    PQfinish(self->connection);
    self->connection = NULL;
    self->queued = self->taken = 0;
    self->session_seconds = 0;
    for (int i = 0; i < self->list_count; i++)
        if (self->lists[i].count) memset(self->lists[i].prepared, 0, self->lists[i].count);
}

bool pg_is_broken(const pg_connection *self)
{
    return !self->connection;
}

uint64_t pg_connections(const pg_connection *self)
{
    return self->connections;
}

int pg_backend(const pg_connection *self)
{
    return self->connection ? PQbackendPID(self->connection) : 0;
}

const char *pg_state(const pg_connection *self)
{
    return self->state;
}

/* The first line of what libpq says. */
static void first_line(const char *message, char *out, size_t size)
{
    size_t length = strcspn(message, "\n");
    static const char prefix[] = "ERROR:  ";
    if (strncmp(message, prefix, sizeof prefix - 1) == 0) {
        message += sizeof prefix - 1;
        length -= sizeof prefix - 1;
    }
    snprintf(out, size, "%.*s", (int)length, message);
}

static ee_status lost(pg_connection *self, const char *what, const char *why, ee_error *error)
{
    char line[300] = "";
    if (why)
        snprintf(line, sizeof line, "%s", why);
    else
        first_line(PQerrorMessage(self->connection), line, sizeof line);
    pg_disconnect(self);
    self->state[0] = '\0';
    return status_fail(error, EE_FILE_ERROR, "store: could not %s: the database is not available: %s", what,
                       line[0] ? line : "the connection was closed");
}

/* States after which the connection is of no use: the server stops, or is a standby. */
static bool ends_connection(const char *state)
{
    return strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0 || strcmp(state, "25006") == 0 ||
           strcmp(state, "25P03") == 0;
}

static ee_status refused(pg_connection *self, const PGresult *result, const char *what, ee_error *error)
{
    char line[300];
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(self->state, sizeof self->state, "%s", state ? state : "");
    first_line(message ? message : PQresultErrorMessage(result), line, sizeof line);
    if (state && ends_connection(state)) {
        pg_disconnect(self);
        return status_fail(error, EE_FILE_ERROR, "store: could not %s: the database is not available: %s", what, line);
    }
    if (state && (strcmp(state, "26000") == 0 || strcmp(state, "42P05") == 0))
        return status_fail(
            error, EE_FILE_ERROR,
            "store: could not %s: %s. A connection pooler gives sessions to several clients: set pool_mode = "
            "session (pgbouncer), or connect to PostgreSQL itself",
            what, line);
    return status_fail(error, EE_FILE_ERROR, "store: could not %s: %s", what, line);
}

/* ---- waiting ---- */

/* Waits until the socket can be read, or written; false: the time is over. */
static bool wait_for(const PGconn *connection, short events, int64_t until)
{
    struct pollfd socket = {.fd = PQsocket(connection), .events = events};
    for (;;) {
        int64_t left = (until - server_clock_real()) / 1000;
        if (left <= 0) return false;
        int ready = poll(&socket, 1, (int)left + 1);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

static int64_t deadline_of(const pg_connection *self)
{
    return server_clock_real() + (int64_t)(self->seconds * 1e6);
}

static const char too_slow[] = "it did not answer in time";

/* Sends all that libpq has buffered. The server may have to be read from meanwhile. */
static ee_status flush(pg_connection *self, ee_error *error)
{
    int64_t until = deadline_of(self);
    for (int left; (left = PQflush(self->connection));) {
        if (left < 0) return lost(self, "write", NULL, error);
        if (!wait_for(self->connection, POLLIN | POLLOUT, until)) return lost(self, "write", too_slow, error);
        if (!PQconsumeInput(self->connection)) return lost(self, "write", NULL, error);
    }
    return EE_OK;
}

/* ---- connecting ---- */

/* What the server remarks, such as that a table exists already, is of no interest. */
static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context, (void)notice;
}

enum { SERVER_SECONDS = 2, PROGRAM_SECONDS = 10, PARAMETERS = 10 };

/* Of store_wait_at_start. */
static struct {
    pthread_mutex_t lock;
    store_waiting how;
    int64_t since, until; /* server_clock_real; until 0: nothing is waited for */
    bool reported;        /* that it waits */
    bool is_server;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

void store_wait_at_start(const store_waiting *how)
{
    pthread_mutex_lock(&waiting.lock);
    waiting.how = how ? *how : (store_waiting){0};
    waiting.since = server_clock_real();
    waiting.until = how ? waiting.since + (int64_t)(how->seconds * 1e6) : 0;
    waiting.reported = false;
    waiting.is_server = true;
    pthread_mutex_unlock(&waiting.lock);
}

/* The parameters of a connection, with the name that it has. Of the values of a key the last one wins: those before
 * dbname, which holds the connection string, are defaults, and that of session_attrs (may be NULL) is not. */
static void set_parameters(const pg_connection *self, const char *session_attrs, char name[64], char seconds[16],
                           const char *keys[PARAMETERS], const char *values[PARAMETERS])
{
    const char *const all[PARAMETERS][2] = {{"fallback_application_name", name},
                                            {"connect_timeout", seconds},
                                            {"keepalives_idle", "5"},
                                            {"keepalives_interval", "2"},
                                            {"tcp_user_timeout", "10000"},
                                            {"target_session_attrs", "read-write"},
                                            {"client_encoding", "UTF8"},
                                            {"dbname", self->where},
                                            {session_attrs ? "target_session_attrs" : NULL, session_attrs}};
    pthread_mutex_lock(&waiting.lock);
    snprintf(seconds, 16, "%d", waiting.is_server ? SERVER_SECONDS : PROGRAM_SECONDS);
    pthread_mutex_unlock(&waiting.lock);
    snprintf(name, 64, "eenet %s", self->role ? self->role : "");
    for (size_t i = 0; i < PARAMETERS; i++) {
        keys[i] = all[i][0];
        values[i] = all[i][1];
    }
}

static ee_status open_connection(pg_connection *self, ee_error *error)
{
    char name[64], seconds[16], set[400];
    const char *keys[PARAMETERS], *values[PARAMETERS];
    set_parameters(self, NULL, name, seconds, keys, values);
    self->connection = PQconnectdbParams(keys, values, 1);
    if (!self->connection) return status_no_memory(error, 0);
    if (PQstatus(self->connection) != CONNECTION_OK) return lost(self, "connect", NULL, error);
    PQsetNoticeReceiver(self->connection, ignore_notice, NULL);
    self->connections++;
    if (PQsetnonblocking(self->connection, 1) || !PQenterPipelineMode(self->connection))
        return lost(self, "connect", NULL, error);
    /* A transaction of a process that hangs must not keep its locks. The rest of the time is for the way back. */
    snprintf(
        set, sizeof set,
        "SET idle_in_transaction_session_timeout = 1500; SET statement_timeout = %d; SET enable_seqscan = off;"
        " SET enable_bitmapscan = off; SET enable_sort = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
        " SET enable_material = off; SET plan_cache_mode = force_generic_plan; SET jit = off",
        (int)(self->seconds * 800));
    self->session_seconds = self->seconds;
    return pg_execute(self, set, "connect", error);
}

/* Connects to any of the hosts, also to one that accepts no writes. Returns whether one refuses the session for a
 * reason that lasts. libpq states the SQLSTATE only in a message that is made for it. */
static bool is_refused(const pg_connection *self)
{
    char name[64], seconds[16];
    const char *keys[PARAMETERS], *values[PARAMETERS];
    set_parameters(self, "any", name, seconds, keys, values);
    PGconn *attempt = PQconnectStartParams(keys, values, 1);
    PostgresPollingStatusType next = attempt ? PGRES_POLLING_WRITING : PGRES_POLLING_FAILED;
    int64_t until = server_clock_real() + PROGRAM_SECONDS * 1000000;
    if (attempt) PQsetErrorVerbosity(attempt, PQERRORS_SQLSTATE);
    while ((next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING) && PQstatus(attempt) != CONNECTION_BAD &&
           wait_for(attempt, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until))
        next = PQconnectPoll(attempt);
    bool refused = attempt && PQstatus(attempt) == CONNECTION_BAD;
    const char *message = PQerrorMessage(attempt), *state = NULL;
    for (const char *at = strstr(message, ":  "); at; at = strstr(at + 1, ":  "))
        if (strspn(at + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5) state = at + 3;
    if (state && (ends_connection(state) || strncmp(state, "53300", 5) == 0)) refused = false; /* too many clients */
    PQfinish(attempt);
    return refused;
}

/* Whether connecting may succeed later. */
static bool can_pass(const pg_connection *self)
{
    char name[64], seconds[16];
    const char *keys[PARAMETERS], *values[PARAMETERS];
    set_parameters(self, NULL, name, seconds, keys, values);
    PGPing answer = PQpingParams(keys, values, 1);
    /* The server answers: it refuses us, or it does not accept writes, or it has come back just now. */
    if (answer == PQPING_OK && is_refused(self)) return PQpingParams(keys, values, 1) != PQPING_OK;
    return answer != PQPING_NO_ATTEMPT;
}

/* How long the next attempt may be waited for, in seconds; 0: the time is over. */
static double time_left(store_waiting *how)
{
    pthread_mutex_lock(&waiting.lock);
    double left = waiting.until ? (double)(waiting.until - server_clock_real()) * 1e-6 : 0;
    *how = waiting.how;
    pthread_mutex_unlock(&waiting.lock);
    return left > 0 ? left : 0;
}

/* Reports that it waits, because of a failure, or no longer (NULL): once, whichever thread comes first. */
static void report_waiting(const store_waiting *how, const ee_error *failure)
{
    char sentence[400];
    pthread_mutex_lock(&waiting.lock);
    bool is_new = waiting.reported != (failure != NULL) && waiting.until;
    waiting.reported = failure != NULL;
    double seconds = (double)(server_clock_real() - waiting.since) * 1e-6;
    pthread_mutex_unlock(&waiting.lock);
    const char *why = failure ? strstr(failure->message, "connection to ") : NULL;
    if (failure)
        snprintf(sentence, sizeof sentence, "waiting up to %g s for the database (store-wait-seconds): %s",
                 how->seconds, why ? why : failure->message);
    else
        snprintf(sentence, sizeof sentence, "the database is available; waited %.1f s", seconds);
    if (is_new) how->report(how->context, sentence);
}

/* Tries again after a failure, until the time of store_wait_at_start is over. */
static ee_status connect_later(pg_connection *self, ee_error *why)
{
    static const double first_pause = 0.05, longest_pause = 1;
    store_waiting how;
    ee_status status = EE_FILE_ERROR;
    bool waits = false;
    double left = time_left(&how);
    for (double pause = first_pause; status && left > 0 && can_pass(self); pause = fmin(2 * pause, longest_pause)) {
        report_waiting(&how, why);
        waits = true;
        if (!how.pause(fmin(pause, left))) return status_fail(why, EE_FILE_ERROR, "interrupted");
        status = open_connection(self, why);
        left = time_left(&how);
    }
    if (waits && !status) report_waiting(&how, NULL);
    return status;
}

ee_status pg_connect(pg_connection *self, ee_error *error)
{
    ee_error why = {0};
    if (self->connection && PQstatus(self->connection) == CONNECTION_OK) return EE_OK;
    pg_disconnect(self);
    self->state[0] = '\0';
    ee_status status = open_connection(self, &why);
    if (status == EE_FILE_ERROR) status = connect_later(self, &why);
    if (status && error) *error = why;
    return status;
}

static ee_status copy_string(memory *owner, const char *from, char **out, ee_error *error)
{
    size_t size = strlen(from) + 1;
    ee_status status = memory_create(owner, out, size, 1, error);
    if (!status) memcpy(*out, from, size);
    return status;
}

static ee_status choose_list(pg_connection *self, const pg_options *options, ee_error *error)
{
    self->seconds = options->seconds > 0 ? options->seconds : 5;
    for (self->list = 0; self->list < self->list_count; self->list++)
        if (self->lists[self->list].sql == options->sql) return EE_OK;
    if (self->list_count == PG_MOST_LISTS) abort(); /* a pool of ours has more users */
    statement_list *list = &self->lists[self->list];
    *list = (statement_list){.sql = options->sql, .count = options->count};
    ee_status status = memory_create(&self->memory, &list->prepared, list->count, 1, error);
    if (!status) self->list_count++;
    return status;
}

ee_status pg_use(pg_connection *self, const pg_options *options, ee_error *error)
{
    char set[60];
    ee_status status = choose_list(self, options, error);
    if (!status) status = pg_connect(self, error);
    if (status || self->session_seconds == self->seconds) return status;
    snprintf(set, sizeof set, "SET statement_timeout = %d", (int)(self->seconds * 800));
    status = pg_execute(self, set, "connect", error);
    if (!status) self->session_seconds = self->seconds;
    return status;
}

const char *const *pg_list(const pg_connection *self)
{
    return self->lists[self->list].sql;
}

ee_status pg_create(const pg_options *options, pg_connection **out, ee_error *error)
{
    pg_connection *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    status = choose_list(self, options, error);
    if (!status) status = copy_string(&self->memory, options->where, &self->where, error);
    if (!status && options->role) status = copy_string(&self->memory, options->role, &self->role, error);
    if (status)
        pg_free(self);
    else
        *out = self;
    return status;
}

void pg_free(pg_connection *self)
{
    if (!self) return;
    pg_disconnect(self);
    memory_release(&self->memory);
}

/* ---- parameters ---- */

void pg_values_start(pg_values *self)
{
    self->size = 0;
    self->count = 0;
    self->status = EE_OK;
}

void pg_values_free(pg_values *self)
{
    memory_free(self->bytes);
    *self = (pg_values){0};
}

static uint8_t *add(pg_values *self, size_t size)
{
    if (self->status) return NULL;
    self->status = memory_grow(NULL, &self->bytes, &self->capacity, self->size + size, 1, NULL);
    if (self->status) return NULL;
    self->size += size;
    return self->bytes + self->size - size;
}

static void add_big_endian(pg_values *self, uint64_t value, size_t size)
{
    uint8_t *to = add(self, size);
    for (size_t i = 0; to && i < size; i++) to[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

static void add_raw(pg_values *self, const void *bytes, size_t size)
{
    uint8_t *to = add(self, size);
    if (to && size) memcpy(to, bytes, size);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void begin_value(pg_values *self, bool is_null)
{
    if (self->count == PG_MOST_VALUES) abort(); /* a statement of ours has more */
    self->values[self->count++] = (struct pg_value){.at = self->size, .is_null = is_null};
}

static void end_value(pg_values *self)
{
    struct pg_value *value = &self->values[self->count - 1];
    value->size = self->size - value->at;
}

void pg_add_int8(pg_values *self, int64_t value)
{
    begin_value(self, false);
    add_big_endian(self, (uint64_t)value, 8);
    end_value(self);
}

void pg_add_float8(pg_values *self, double value)
{
    pg_add_int8(self, (int64_t)bits_of(value));
}

void pg_add_whole(pg_values *self, const void *bytes, size_t size)
{
    begin_value(self, false);
    add_raw(self, bytes, size);
    end_value(self);
}

void pg_add_null(pg_values *self)
{
    begin_value(self, true);
    end_value(self);
}

void pg_add_bytes(pg_values *self, const void *bytes, size_t size)
{
    if (size)
        pg_add_whole(self, bytes, size);
    else
        pg_add_null(self);
}

void pg_add_text(pg_values *self, json_text value)
{
    pg_add_bytes(self, value.bytes, value.length);
}

/* dimensions, whether it has NULLs, type; of the only dimension: length, lower bound. */
enum { ARRAY_LENGTH_AT = 12, ARRAY_NULLS_AT = 4 };

void pg_array_start(pg_values *self, pg_type type)
{
    begin_value(self, false);
    self->array_at = self->size;
    add_big_endian(self, 1, 4);
    add_big_endian(self, 0, 4);
    add_big_endian(self, (uint64_t)type, 4);
    add_big_endian(self, 0, 4);
    add_big_endian(self, 1, 4);
}

static void count_element(pg_values *self)
{
    if (self->status) return;
    uint8_t *length = self->bytes + self->array_at + ARRAY_LENGTH_AT;
    uint32_t count = (uint32_t)length[0] << 24 | (uint32_t)length[1] << 16 | (uint32_t)length[2] << 8 | length[3];
    count++;
    for (size_t i = 0; i < 4; i++) length[i] = (uint8_t)(count >> 8 * (3 - i));
}

void pg_element_bytes(pg_values *self, const void *bytes, size_t size)
{
    add_big_endian(self, size, 4);
    add_raw(self, bytes, size);
    count_element(self);
}

void pg_element_int8(pg_values *self, int64_t value)
{
    add_big_endian(self, 8, 4);
    add_big_endian(self, (uint64_t)value, 8);
    count_element(self);
}

void pg_element_float8(pg_values *self, double value)
{
    pg_element_int8(self, (int64_t)bits_of(value));
}

void pg_element_null(pg_values *self)
{
    add_big_endian(self, UINT32_MAX, 4);
    if (!self->status) self->bytes[self->array_at + ARRAY_NULLS_AT + 3] = 1;
    count_element(self);
}

void pg_element_text(pg_values *self, json_text value)
{
    if (value.length)
        pg_element_bytes(self, value.bytes, value.length);
    else
        pg_element_null(self);
}

void pg_array_end(pg_values *self)
{
    end_value(self);
}

/* ---- statements ---- */

static ee_status remember(pg_connection *self, uint8_t what, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->queue, &self->queue_capacity, self->queued + 1, 1, error);
    if (!status) self->queue[self->queued++] = what;
    return status;
}

static ee_status prepare(pg_connection *self, int statement, const char *name, ee_error *error)
{
    const statement_list *list = &self->lists[self->list];
    if (list->prepared[statement]) return EE_OK;
    ee_status status = remember(self, QUEUE_PREPARE, error);
    if (status) return status;
    if (!PQsendPrepare(self->connection, name, list->sql[statement], 0, NULL)) return lost(self, "send", NULL, error);
    list->prepared[statement] = true;
    return EE_OK;
}

ee_status pg_send(pg_connection *self, int statement, const pg_values *values, ee_error *error)
{
    const char *bytes[PG_MOST_VALUES];
    int sizes[PG_MOST_VALUES], formats[PG_MOST_VALUES], count = values ? values->count : 0;
    char name[24];
    if (values && values->status) return status_no_memory(error, values->size);
    if (pg_is_broken(self)) return status_fail(error, EE_FILE_ERROR, "store: not connected to the database");
    snprintf(name, sizeof name, "s%d_%d", self->list, statement);
    ee_status status = prepare(self, statement, name, error);
    if (!status) status = remember(self, QUEUE_STATEMENT, error);
    if (status) return status;
    for (int i = 0; i < count; i++) {
        const struct pg_value *value = &values->values[i];
        bytes[i] = value->is_null ? NULL : (const char *)values->bytes + value->at;
        if (!value->is_null && !value->size) bytes[i] = "";
        sizes[i] = (int)value->size;
        formats[i] = 1;
    }
    if (!PQsendQueryPrepared(self->connection, name, count, bytes, sizes, formats, 1))
        return lost(self, "send", NULL, error);
    return EE_OK;
}

ee_status pg_sync(pg_connection *self, ee_error *error)
{
    ee_status status = remember(self, QUEUE_SYNC, error);
    if (status) return status;
    if (!PQpipelineSync(self->connection)) return lost(self, "send", NULL, error);
    return flush(self, error);
}

/* The next result of libpq; NULL ends those of a statement. */
static ee_status take(pg_connection *self, const char *what, PGresult **out, ee_error *error)
{
    int64_t until = deadline_of(self);
    while (PQisBusy(self->connection)) {
        if (!wait_for(self->connection, POLLIN, until)) return lost(self, what, too_slow, error);
        if (!PQconsumeInput(self->connection)) return lost(self, what, NULL, error);
    }
    *out = PQgetResult(self->connection);
    return EE_OK;
}

/* The result of the next in the queue. */
static ee_status take_whole(pg_connection *self, const char *what, PGresult **out, ee_error *error)
{
    PGresult *end = NULL;
    bool is_sync = self->queue[self->taken] == QUEUE_SYNC;
    *out = NULL;
    ee_status status = take(self, what, out, error);
    if (status) return status;
    if (!*out) return lost(self, what, NULL, error);
    if (!is_sync) status = take(self, what, &end, error); /* the NULL after it */
    PQclear(end);
    if (status) {
        PQclear(*out);
        *out = NULL;
        return status;
    }
    if (++self->taken == self->queued) self->taken = self->queued = 0;
    switch (PQresultStatus(*out)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_PIPELINE_SYNC:
        return EE_OK;
    case PGRES_PIPELINE_ABORTED: /* one before it failed */
        status = status_fail(error, EE_FILE_ERROR, "store: could not %s: the statement before it failed", what);
        break;
    default:
        status = refused(self, *out, what, error);
    }
    PQclear(*out);
    *out = NULL;
    return status;
}

/* After a failure: to the end of the pipeline. A statement whose PREPARE was skipped would fail later, so then the
 * connection is dropped. */
static void drain(pg_connection *self, bool prepare_failed)
{
    while (self->connection && self->taken < self->queued) {
        PGresult *result;
        bool is_prepare = self->queue[self->taken] == QUEUE_PREPARE;
        prepare_failed |= take_whole(self, "read", &result, NULL) != EE_OK && is_prepare;
        PQclear(result);
    }
    if (prepare_failed) pg_disconnect(self);
}

ee_status pg_next(pg_connection *self, const char *what, PGresult **result, ee_error *error)
{
    ee_status status = EE_OK;
    bool is_prepare = true;
    *result = NULL;
    if (pg_is_broken(self)) return status_fail(error, EE_FILE_ERROR, "store: not connected to the database");
    while (!status && is_prepare) {
        PQclear(*result);
        is_prepare = self->queue[self->taken] == QUEUE_PREPARE;
        status = take_whole(self, what, result, error);
    }
    if (!status) return EE_OK;
    char state[sizeof self->state];
    memcpy(state, self->state, sizeof state);
    drain(self, is_prepare);
    memcpy(self->state, state, sizeof state);
    return status;
}

ee_status pg_end(pg_connection *self, const char *what, ee_error *error)
{
    ee_status status = EE_OK;
    PGresult *result;
    while (!status && self->connection && self->taken < self->queued) {
        status = pg_next(self, what, &result, error);
        PQclear(result);
    }
    if (!status && pg_is_broken(self)) return status_fail(error, EE_FILE_ERROR, "store: the connection was lost");
    return status;
}

ee_status pg_run(pg_connection *self, int statement, const pg_values *values, const char *what, PGresult **result,
                 ee_error *error)
{
    PGresult *got = NULL;
    if (result) *result = NULL;
    ee_status status = pg_connect(self, error);
    if (!status) status = pg_send(self, statement, values, error);
    if (!status) status = pg_sync(self, error);
    if (!status) status = pg_next(self, what, &got, error);
    if (!status) status = pg_end(self, what, error);
    if (status || !result)
        PQclear(got);
    else
        *result = got;
    return status;
}

ee_status pg_query(pg_connection *self, const char *sql, const char *what, PGresult **result, ee_error *error)
{
    *result = NULL;
    ee_status status = pg_connect(self, error);
    if (!status) status = remember(self, QUEUE_STATEMENT, error);
    if (status) return status;
    if (!PQsendQueryParams(self->connection, sql, 0, NULL, NULL, NULL, NULL, 1)) return lost(self, what, NULL, error);
    status = pg_sync(self, error);
    if (!status) status = pg_next(self, what, result, error);
    return status ? status : pg_end(self, what, error);
}

/* Outside of pipeline mode, because the simple protocol takes several statements. */
ee_status pg_execute(pg_connection *self, const char *sql, const char *what, ee_error *error)
{
    ee_status status = self->connection ? EE_OK : pg_connect(self, error);
    if (status) return status;
    if (!PQexitPipelineMode(self->connection) || !PQsendQuery(self->connection, sql))
        return lost(self, what, NULL, error);
    status = flush(self, error);
    for (PGresult *result = NULL; self->connection;) {
        ee_status failed = take(self, what, &result, status ? NULL : error);
        if (!status) status = failed;
        if (failed || !result) break;
        if (PQresultStatus(result) == PGRES_FATAL_ERROR && !status) status = refused(self, result, what, error);
        PQclear(result);
    }
    if (self->connection && !PQenterPipelineMode(self->connection)) return lost(self, what, NULL, error);
    return status;
}

/* ---- values of a result ---- */

bool pg_is_null(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column);
}

int64_t pg_int8(const PGresult *result, int row, int column)
{
    const uint8_t *bytes = (const uint8_t *)PQgetvalue(result, row, column);
    int size = PQgetlength(result, row, column);
    uint64_t value = size && bytes[0] & 0x80 && size > 1 ? UINT64_MAX : 0;
    for (int i = 0; i < size && i < 8; i++) value = value << 8 | bytes[i];
    return (int64_t)value;
}

double pg_float8(const PGresult *result, int row, int column)
{
    int64_t bits = pg_int8(result, row, column);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

json_text pg_text(const PGresult *result, int row, int column)
{
    return (json_text){PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column)};
}

uint64_t pg_changed(const PGresult *result)
{
    return strtoull(PQcmdTuples((PGresult *)(uintptr_t)result), NULL, 10);
}
