#include "leases.h"

#include <stdio.h>
#include <string.h>

#include "pg_pooling.h"
#include "pg_schema.h"
#include "serve/system/server_clock.h"

enum {
    NEXT_NUMBER,
    READ_SECRET,
    BEAT,
    READ_SERVERS,
    READ_FLEET,
    READ_LEASES,
    END_SESSIONS,
    MOVE,
    FORGET,
    LEAVE,
    READ_KEYS,
    WRITE_KEYS,
    STATEMENTS
};

/* FORGET: a bandit that was removed for good keeps its last owner.
 *
 * A move is one statement, so it is one transaction. The row of the old owner's server is not locked: if that beats at
 * the same time, it loses the lease all the same, and its token with it. */
static const char *const sql[STATEMENTS] = {
    [NEXT_NUMBER] = "SELECT nextval('eenet.server_numbers')",
    [READ_SECRET] = "SELECT secret FROM eenet.fleet",
    [BEAT] =
        "INSERT INTO eenet.servers (number, address, version, beat, state) VALUES ($1::bigint, $2::text, $3::text, 1,"
        " $4::text) ON CONFLICT (number) DO UPDATE SET beat = servers.beat + 1, address = excluded.address,"
        " state = excluded.state",
    [READ_SERVERS] = "SELECT number, address, version, beat, state FROM eenet.servers ORDER BY number",
    [READ_FLEET] = "SELECT changes, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,"
                   " current_setting('synchronous_standby_names') = '' FROM eenet.fleet",
    [READ_LEASES] = "SELECT bandit, owner, token, CASE WHEN purged = 0 THEN name ELSE '' END FROM eenet.log_ends"
                    " LEFT JOIN eenet.bandits ON number = bandit WHERE bandit = 0 OR purged < 2 ORDER BY bandit",
    [END_SESSIONS] = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity,"
                     " unnest($1::bigint[], $2::bigint[]) AS dead(number, beat)"
                     " WHERE datname = current_database() AND application_name = 'eenet writer ' || dead.number"
                     " AND NOT EXISTS (SELECT 1 FROM eenet.servers WHERE servers.number = dead.number"
                     "   AND servers.beat <> dead.beat)",
    [MOVE] = "WITH moved AS (UPDATE eenet.log_ends SET owner = $5::bigint, token = log_ends.token + 1"
             " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS was(bandit, owner, token, beat)"
             " WHERE log_ends.bandit = was.bandit AND log_ends.owner = was.owner AND log_ends.token = was.token"
             " AND (was.owner IN (0, $6::bigint) OR NOT EXISTS (SELECT 1 FROM eenet.servers"
             "   WHERE number = was.owner AND beat <> was.beat))"
             " RETURNING log_ends.bandit, log_ends.token),"
             " noted AS (UPDATE eenet.fleet SET changes = changes + 1 WHERE EXISTS (SELECT 1 FROM moved))"
             " SELECT bandit, token FROM moved",
    [FORGET] = "DELETE FROM eenet.servers WHERE number = $1::bigint AND beat = $2::bigint"
               " AND NOT EXISTS (SELECT 1 FROM eenet.log_ends LEFT JOIN eenet.bandits ON bandits.number = bandit"
               "   WHERE owner = $1::bigint AND (bandit = 0 OR purged < 2))",
    [LEAVE] = "WITH left_behind AS (UPDATE eenet.log_ends SET owner = 0, token = token + 1 WHERE owner = $1::bigint),"
              " noted AS (UPDATE eenet.fleet SET changes = changes + 1)"
              " DELETE FROM eenet.servers WHERE number = $1::bigint",
    [READ_KEYS] = "SELECT keys FROM eenet.fleet",
    [WRITE_KEYS] = "UPDATE eenet.fleet SET keys = $2::text, changes = changes + 1 WHERE keys = $1::text",
};

struct leases {
    memory memory;
    pg_connection *connection;
    pg_values values;
    uint64_t server;
    char address[SERVER_ADDRESS_SIZE], version[SERVER_VERSION_SIZE];
    uint8_t secret[FLEET_SECRET_SIZE];
    bool failed;      /* the last beat */
    bool synchronous; /* of lease_options */
    uint64_t session; /* pg_connections, of the session that is prepared */
    lease_view view;
    lease_server *before; /* (before_count) the servers of the view before */
    size_t before_count, before_capacity, server_capacity, lease_capacity;
    char *names;
    size_t name_capacity;
};

/* Connects if there is no connection. A beat need not survive the loss of the primary, and must not wait for a standby
 * that is away. Nothing waits long for a row that another server has locked: it is tried again with the next beat. */
static ee_status connect_session(leases *self, ee_error *error)
{
    ee_status status = pg_connect(self->connection, error);
    if (status || self->session == pg_connections(self->connection)) return status;
    status = pg_execute(self->connection, "SET synchronous_commit = local; SET lock_timeout = 300", "connect", error);
    if (!status) self->session = pg_connections(self->connection);
    return status;
}

static ee_status run_statement(leases *self, int statement, const pg_values *values, const char *what,
                               PGresult **result, ee_error *error)
{
    ee_status status = connect_session(self, error);
    if (result) *result = NULL;
    return status ? status : pg_run(self->connection, statement, values, what, result, error);
}

static json_text words(const char *plain)
{
    return (json_text){plain, strlen(plain)};
}

uint64_t leases_server(const leases *self)
{
    return self->server;
}

const uint8_t *leases_secret(const leases *self)
{
    return self->secret;
}

/* ---- joining and leaving ---- */

static ee_status check_replication(leases *self, ee_error *error)
{
    PGresult *result = NULL;
    ee_status status = pg_query(self->connection,
                                "SELECT current_setting('synchronous_standby_names') <> ''"
                                " AND current_setting('synchronous_commit') IN ('on', 'remote_apply')",
                                "read the replication settings", &result, error);
    bool synchronous = !status && pg_int8(result, 0, 0);
    PQclear(result);
    if (status || synchronous) return status;
    return status_fail(
        error, EE_BAD_OPTION,
        "the database does not replicate synchronously: if its machine is lost, so are the last "
        "acknowledged decisions and rewards. Set synchronous_standby_names (synchronous_commit = on), or "
        "accept the risk with --replication any");
}

static ee_status join(leases *self, bool synchronous, ee_error *error)
{
    PGresult *result = NULL;
    ee_status status = synchronous ? check_replication(self, error) : EE_OK;
    if (!status) status = pg_schema_prepare(self->connection, error);
    if (!status) status = pg_run(self->connection, NEXT_NUMBER, NULL, "join the fleet", &result, error);
    if (!status) self->server = (uint64_t)pg_int8(result, 0, 0);
    PQclear(result);
    result = NULL;
    if (!status) status = pg_run(self->connection, READ_SECRET, NULL, "join the fleet", &result, error);
    json_text secret = !status && PQntuples(result) ? pg_text(result, 0, 0) : (json_text){"", 0};
    if (!status && secret.length != FLEET_SECRET_SIZE)
        status = status_fail(error, EE_FILE_ERROR, "store: the table eenet.fleet is damaged: it has no valid secret");
    if (!status) memcpy(self->secret, secret.bytes, FLEET_SECRET_SIZE);
    PQclear(result);
    return status;
}

ee_status leases_join(const lease_options *options, leases **out, ee_error *error)
{
    leases *self;
    pg_options connection = {.where = options->where, .sql = sql, .count = STATEMENTS, .role = "leases"};
    *out = NULL;
    if (strlen(options->address) >= SERVER_ADDRESS_SIZE)
        return status_fail(error, EE_BAD_OPTION, "the address '%.60s...' is too long", options->address);
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    snprintf(self->address, sizeof self->address, "%s", options->address);
    snprintf(self->version, sizeof self->version, "%s", options->version);
    self->synchronous = options->synchronous;
    status = pg_create(&connection, &self->connection, error);
    if (!status) status = pg_check_pooling(self->connection, options->where, error);
    if (!status) status = join(self, options->synchronous, error);
    if (status) {
        pg_free(self->connection);
        memory_release(&self->memory);
        return status;
    }
    *out = self;
    return EE_OK;
}

void leases_set_address(leases *self, const char *address)
{
    snprintf(self->address, sizeof self->address, "%s", address);
}

void leases_leave(leases *self)
{
    if (!self) return;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, (int64_t)self->server);
    if (self->view.server_count) pg_run(self->connection, LEAVE, &self->values, "leave the fleet", NULL, NULL);
    pg_free(self->connection);
    pg_values_free(&self->values);
    memory_release(&self->memory);
}

/* ---- the beat ---- */

static const lease_server *find_before(const leases *self, uint64_t number)
{
    for (size_t i = 0; i < self->before_count; i++)
        if (self->before[i].number == number) return &self->before[i];
    return NULL;
}

static void copy_text(char *to, size_t size, json_text from)
{
    size_t length = from.length < size ? from.length : size - 1;
    memcpy(to, from.bytes, length);
    to[length] = '\0';
}

/* The rows of READ_SERVERS. all_seen: the database was away or slow, so nobody is taken for dead. A beat that differs
 * is a change, even a smaller one: a standby may have missed the last. */
static ee_status take_servers(leases *self, const PGresult *rows, bool all_seen, ee_error *error)
{
    size_t count = (size_t)PQntuples(rows);
    int64_t now = server_clock_real();
    lease_server *previous = self->before;
    size_t capacity = self->before_capacity;
    self->before = self->view.servers;
    self->before_count = self->view.server_count;
    self->before_capacity = self->server_capacity;
    self->view.servers = previous;
    self->view.server_count = 0;
    self->server_capacity = capacity;
    ee_status status =
        memory_grow(&self->memory, &self->view.servers, &self->server_capacity, count, sizeof *previous, error);
    for (size_t i = 0; i < count && !status; i++) {
        lease_server *server = &self->view.servers[i];
        *server = (lease_server){
            .number = (uint64_t)pg_int8(rows, (int)i, 0), .beat = (uint64_t)pg_int8(rows, (int)i, 3), .changed = now};
        copy_text(server->address, sizeof server->address, pg_text(rows, (int)i, 1));
        copy_text(server->version, sizeof server->version, pg_text(rows, (int)i, 2));
        copy_text(server->state, sizeof server->state, pg_text(rows, (int)i, 4));
        const lease_server *before = find_before(self, server->number);
        if (before && before->beat == server->beat && !all_seen) server->changed = before->changed;
    }
    if (!status) self->view.server_count = count;
    return status;
}

/* The rows of READ_LEASES. */
static ee_status take_leases(leases *self, const PGresult *rows, ee_error *error)
{
    size_t count = (size_t)PQntuples(rows), bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += pg_text(rows, (int)i, 3).length + 1;
    ee_status status =
        memory_grow(&self->memory, &self->view.leases, &self->lease_capacity, count, sizeof *self->view.leases, error);
    if (!status) status = memory_grow(&self->memory, &self->names, &self->name_capacity, bytes, 1, error);
    if (status) return status;
    char *name = self->names;
    for (size_t i = 0; i < count; i++) {
        json_text named = pg_text(rows, (int)i, 3);
        self->view.leases[i] = (lease){.bandit = (uint32_t)pg_int8(rows, (int)i, 0),
                                       .owner = (uint64_t)pg_int8(rows, (int)i, 1),
                                       .token = (uint64_t)pg_int8(rows, (int)i, 2),
                                       .name = name};
        memcpy(name, named.bytes, named.length);
        name[named.length] = '\0';
        name += named.length + 1;
    }
    self->view.lease_count = count;
    return EE_OK;
}

static ee_status read_leases(leases *self, ee_error *error)
{
    PGresult *rows = NULL;
    ee_status status = pg_run(self->connection, READ_LEASES, NULL, "read the leases", &rows, error);
    if (!status) status = take_leases(self, rows, error);
    PQclear(rows);
    return status;
}

ee_status leases_read_clock(leases *self, int64_t *time, int64_t *measured, ee_error *error)
{
    PGresult *rows = NULL;
    ee_status status = run_statement(self, READ_FLEET, NULL, "read the clock", &rows, error);
    *time = status ? 0 : pg_int8(rows, 0, 1);
    *measured = server_clock_elapsed();
    PQclear(rows);
    return status;
}

static ee_status beat(leases *self, const char *state, uint64_t *changes, ee_error *error)
{
    static const char what[] = "renew the leases";
    enum { SLOW_BEAT = 1000000 }; /* microseconds */
    int64_t begun = server_clock_real();
    pg_connection *on = self->connection;
    PGresult *rows = NULL;
    ee_status status = connect_session(self, error);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, (int64_t)self->server);
    pg_add_text(&self->values, words(self->address));
    pg_add_text(&self->values, words(self->version));
    pg_add_text(&self->values, words(state));
    if (!status) status = pg_send(on, BEAT, &self->values, error);
    if (!status) status = pg_send(on, READ_SERVERS, NULL, error);
    if (!status) status = pg_send(on, READ_FLEET, NULL, error);
    if (!status) status = pg_sync(on, error);
    if (!status) status = pg_next(on, what, &rows, error);
    PQclear(rows);
    rows = NULL;
    if (!status) status = pg_next(on, what, &rows, error);
    bool slow = server_clock_real() - begun > SLOW_BEAT;
    if (!status) status = take_servers(self, rows, slow || self->failed, error);
    PQclear(rows);
    rows = NULL;
    if (!status) status = pg_next(on, what, &rows, error);
    if (!status) {
        *changes = (uint64_t)pg_int8(rows, 0, 0);
        self->view.time = pg_int8(rows, 0, 1);
        self->view.measured = server_clock_elapsed();
        self->view.at_risk = self->synchronous && pg_int8(rows, 0, 2);
    }
    PQclear(rows);
    return status ? status : pg_end(on, what, error);
}

ee_status leases_beat(leases *self, const char *state, const lease_view **view, ee_error *error)
{
    uint64_t changes = 0;
    ee_status status = beat(self, state, &changes, error);
    if (!status && (changes != self->view.changes || self->failed)) {
        status = read_leases(self, error);
        if (!status) self->view.changes = changes;
    }
    self->failed = status != EE_OK;
    *view = status ? NULL : &self->view;
    return status;
}

/* ---- changes ---- */

static uint64_t beat_of(const leases *self, uint64_t server)
{
    for (size_t i = 0; i < self->view.server_count; i++)
        if (self->view.servers[i].number == server) return self->view.servers[i].beat;
    return 0;
}

/* The first lease of each dead server. */
static bool is_first_of_dead(const leases *self, const lease *from, size_t place)
{
    if (!from[place].owner || from[place].owner == self->server) return false;
    for (size_t i = 0; i < place; i++)
        if (from[i].owner == from[place].owner) return false;
    return true;
}

/* A server that hangs may hold locks on the rows of its bandits, and PostgreSQL waits for it if it hangs in the middle
 * of a message: its session is ended. If that is not allowed, the locks end with the session's timeout. */
static void end_sessions(leases *self, const lease *from, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) any |= is_first_of_dead(self, from, i);
    if (!any) return;
    pg_values_start(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < count; i++)
        if (is_first_of_dead(self, from, i)) pg_element_int8(&self->values, (int64_t)from[i].owner);
    pg_array_end(&self->values);
    pg_array_start(&self->values, PG_INT8);
    for (size_t i = 0; i < count; i++)
        if (is_first_of_dead(self, from, i)) pg_element_int8(&self->values, (int64_t)beat_of(self, from[i].owner));
    pg_array_end(&self->values);
    run_statement(self, END_SESSIONS, &self->values, "take over bandits", NULL, NULL);
}

ee_status leases_move(leases *self, const lease *from, size_t count, uint64_t to, lease *moved, size_t *moved_count,
                      ee_error *error)
{
    PGresult *rows = NULL;
    pg_values *values = &self->values;
    *moved_count = 0;
    end_sessions(self, from, count);
    pg_values_start(values);
    pg_array_start(values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(values, from[i].bandit);
    pg_array_end(values);
    pg_array_start(values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(values, (int64_t)from[i].owner);
    pg_array_end(values);
    pg_array_start(values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(values, (int64_t)from[i].token);
    pg_array_end(values);
    pg_array_start(values, PG_INT8);
    for (size_t i = 0; i < count; i++) pg_element_int8(values, (int64_t)beat_of(self, from[i].owner));
    pg_array_end(values);
    pg_add_int8(values, (int64_t)to);
    pg_add_int8(values, (int64_t)self->server);
    ee_status status = run_statement(self, MOVE, values, "move leases", &rows, error);
    for (int i = 0; !status && i < PQntuples(rows); i++)
        moved[(*moved_count)++] = (lease){
            .bandit = (uint32_t)pg_int8(rows, i, 0), .owner = to, .token = (uint64_t)pg_int8(rows, i, 1), .name = ""};
    PQclear(rows);
    return status;
}

ee_status leases_forget(leases *self, const lease_server *dead, ee_error *error)
{
    pg_values_start(&self->values);
    pg_add_int8(&self->values, (int64_t)dead->number);
    pg_add_int8(&self->values, (int64_t)dead->beat);
    return run_statement(self, FORGET, &self->values, "forget a server", NULL, error);
}

ee_status leases_read_keys(leases *self, char **keys, ee_error *error)
{
    PGresult *rows = NULL;
    *keys = NULL;
    ee_status status = run_statement(self, READ_KEYS, NULL, "read the keys", &rows, error);
    json_text stored = status ? (json_text){"", 0} : pg_text(rows, 0, 0);
    if (!status) status = memory_create(NULL, keys, stored.length + 1, 1, error);
    if (!status) memcpy(*keys, stored.bytes, stored.length);
    PQclear(rows);
    return status;
}

ee_status leases_write_keys(leases *self, const char *before, const char *keys, ee_error *error)
{
    PGresult *result = NULL;
    pg_values_start(&self->values);
    pg_add_whole(&self->values, before, strlen(before));
    pg_add_whole(&self->values, keys, strlen(keys));
    ee_status status = connect_session(self, error);
    /* Unlike a beat: a key that was removed must not come back with a failover. */
    if (!status) status = pg_execute(self->connection, "SET synchronous_commit = on", "write the keys", error);
    if (!status) status = pg_run(self->connection, WRITE_KEYS, &self->values, "write the keys", &result, error);
    self->session = 0; /* the next statement prepares the session again */
    if (!status && !pg_changed(result))
        status = status_fail(error, EE_BAD_INPUT, "keys: they were changed by somebody else meanwhile; try again");
    PQclear(result);
    return status;
}
