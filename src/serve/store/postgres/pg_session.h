/* Sessions share the connections of a pool: one pool for each database and process, with at most PG_POOL connections.
 *
 * A session has a connection only during pg_session_run, that is, for one call: a batch of events, a blob, a statement.
 * Between calls, while an export waits for its client or a model learns a batch, it has none. Calls wait for a free
 * connection in the order in which they came. A call must not run another one, so no thread waits while it has a
 * connection, and there is no deadlock.
 *
 * A server has at most PG_MOST_CONNECTIONS: the pool, the writer (store_pg.c), the leases (leases.c), and VACUUM after
 * content was erased (pg_scrub.c). */
#ifndef EENET_PG_SESSION_H
#define EENET_PG_SESSION_H

#include "pg_connection.h"

enum { PG_POOL = 5, PG_MOST_CONNECTIONS = PG_POOL + 3 };

typedef struct pg_pool pg_pool;

typedef struct pg_session {
    pg_pool *pool;
    pg_options options;        /* its statements and its timeout */
    pg_connection *connection; /* during a call */
    bool checked;              /* the tables have this version */
    bool begun;                /* set by a call that has sent BEGIN, cleared after COMMIT */
} pg_session;

/* {0} is closed. options: as of pg_create, without the role. Nothing connects before the first call. */
ee_status pg_session_open(const pg_options *options, pg_session *out, ee_error *error);
void pg_session_close(pg_session *self);

/* The writer of this process has connected again, perhaps to a new primary: all connections of pools are made again
 * before their next call. Otherwise one might still read from the old primary, if that is alive. Any thread. */
void pg_session_renew(void);

/* Runs the call. If it fails because the connection broke, it runs once more on a new one. After any other failure a
 * transaction that was begun is rolled back. If connecting fails, so do the calls that wait for a connection. */
typedef ee_status pg_call(void *context, ee_error *error);
ee_status pg_session_run(pg_session *self, pg_call *run, void *context, ee_error *error);

#endif
