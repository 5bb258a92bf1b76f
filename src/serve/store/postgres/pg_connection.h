/* A connection to PostgreSQL, with prepared statements in pipeline mode and binary values.
 *
 * Use:
 *
 *     pg_values_start(values);                       // parameters of a statement, $1 first
 *     pg_add_int8(values, 7);
 *     status = pg_send(connection, READ_ONE, values, error);
 *     ...                                            // more statements: none waits for the one before it
 *     status = pg_sync(connection, error);           // one round trip for all of them
 *     status = pg_next(connection, "read", &result, error);   // their results, in the order of pg_send
 *     ...
 *     status = pg_end(connection, "read", error);    // after the last
 *
 * Statements are for a few rows of large tables, so all plans are nested loops over indexes, in their order, whatever
 * statistics the tables have: without any, a plan may sort the whole log for its first rows.
 *
 * A statement is prepared when a connection first uses it. Between two pg_sync, statements outside of BEGIN and COMMIT
 * are one transaction. A connection can have several lists of statements, one after the other: pg_use.
 *
 * Failures: pg_is_broken says whether the connection was lost, or the server took longer than the timeout. The next
 * pg_connect connects again. After any other failure the connection can be used further; a transaction that was open
 * has to be rolled back. No call waits longer than the timeout. Connecting takes up to connect_timeout for each host,
 * and longer while a server starts: see store_wait_at_start. One thread uses a connection at a time. */
#ifndef EENET_PG_CONNECTION_H
#define EENET_PG_CONNECTION_H

#include <postgresql/libpq-fe.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/memory.h"

typedef struct pg_connection pg_connection;

typedef struct pg_options {
    const char *where;      /* a connection string as libpq takes it, "postgresql://..." */
    const char *const *sql; /* (count) statements, by their number in pg_send */
    size_t count;
    double seconds;   /* timeout of a call; 0: 5 */
    const char *role; /* what it is for: part of application_name, "eenet writer"; may be NULL */
} pg_options;

/* Connects at the first use; sql must outlive it. */
ee_status pg_create(const pg_options *options, pg_connection **out, ee_error *error);
/* NULL is allowed. */
void pg_free(pg_connection *self);

/* Connects if there is no connection. EE_FILE_ERROR: it failed. */
ee_status pg_connect(pg_connection *self, ee_error *error);
/* Whether the connection is lost, or was never made. */
bool pg_is_broken(const pg_connection *self);
/* Drops the connection. */
void pg_disconnect(pg_connection *self);
/* Connects if there is no connection, and uses another list of statements and another timeout from now on: at most
 * PG_MOST_LISTS different ones. No transaction is open. */
enum { PG_MOST_LISTS = 4 };
ee_status pg_use(pg_connection *self, const pg_options *options, ee_error *error);
/* The list that it uses. */
const char *const *pg_list(const pg_connection *self);
/* How often it has connected. */
uint64_t pg_connections(const pg_connection *self);
/* The process of the session, as it was stated when the connection was made: a pooler states another number than
 * pg_backend_pid() of SQL. */
int pg_backend(const pg_connection *self);

/* ---- parameters ---- */

enum { PG_MOST_VALUES = 24 };

/* {0} is empty. Release with pg_values_free. Errors are kept for pg_send. */
typedef struct pg_values {
    uint8_t *bytes; /* (size) */
    size_t size, capacity;
    struct pg_value {
        size_t at, size;
        bool is_null;
    } values[PG_MOST_VALUES];
    int count;
    size_t array_at; /* of the array being added */
    ee_status status;
} pg_values;

void pg_values_start(pg_values *self);
void pg_values_free(pg_values *self);

void pg_add_int8(pg_values *self, int64_t value);
void pg_add_float8(pg_values *self, double value);
void pg_add_text(pg_values *self, json_text value);                 /* text or bytea; NULL if it is empty */
void pg_add_bytes(pg_values *self, const void *bytes, size_t size); /* the same */
void pg_add_whole(pg_values *self, const void *bytes, size_t size); /* the same, but never NULL */
void pg_add_null(pg_values *self);

/* An array of one dimension: start, its elements, end. */
typedef enum pg_type { PG_BYTEA = 17, PG_INT8 = 20, PG_TEXT = 25, PG_FLOAT8 = 701 } pg_type;
void pg_array_start(pg_values *self, pg_type type);
void pg_element_int8(pg_values *self, int64_t value);
void pg_element_float8(pg_values *self, double value);
void pg_element_text(pg_values *self, json_text value); /* text or bytea; NULL if it is empty */
void pg_element_bytes(pg_values *self, const void *bytes, size_t size);
void pg_element_null(pg_values *self);
void pg_array_end(pg_values *self);

/* ---- statements ---- */

/* values may be NULL: it has no parameters. */
ee_status pg_send(pg_connection *self, int statement, const pg_values *values, ee_error *error);
ee_status pg_sync(pg_connection *self, ee_error *error);
/* *result belongs to the caller: PQclear. what: for the message, "could not WHAT: ...". */
ee_status pg_next(pg_connection *self, const char *what, PGresult **result, ee_error *error);
/* Consumes what is left up to the pg_sync. Fails if one of those statements failed. */
ee_status pg_end(pg_connection *self, const char *what, ee_error *error);

/* One statement in its own round trip. result NULL: it returns nothing. */
ee_status pg_run(pg_connection *self, int statement, const pg_values *values, const char *what, PGresult **result,
                 ee_error *error);
/* SQL that is not in the list and has no parameters: one statement with a result, and several without. */
ee_status pg_query(pg_connection *self, const char *sql, const char *what, PGresult **result, ee_error *error);
ee_status pg_execute(pg_connection *self, const char *sql, const char *what, ee_error *error);

/* The SQLSTATE of the last failure; "": it was no error of the server. */
const char *pg_state(const pg_connection *self);

/* ---- values of a result: bytes are borrowed from it ---- */

int64_t pg_int8(const PGresult *result, int row, int column); /* int2, int4, int8, bool; 0 if NULL */
double pg_float8(const PGresult *result, int row, int column);
json_text pg_text(const PGresult *result, int row, int column); /* text or bytea; empty if NULL */
bool pg_is_null(const PGresult *result, int row, int column);
/* How many rows an INSERT, UPDATE or DELETE changed. */
uint64_t pg_changed(const PGresult *result);

#endif
