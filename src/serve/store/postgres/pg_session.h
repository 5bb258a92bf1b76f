/* A connection that is made when it is first used, and again after it was lost: for calls that may run twice. */
#ifndef EENET_PG_SESSION_H
#define EENET_PG_SESSION_H

#include "pg_connection.h"

typedef struct pg_session {
    pg_connection *connection;
    uint64_t renewed; /* pg_session_renew was called so often before it connected */
    bool checked;     /* the tables have this version */
    bool begun;       /* set by a call that has sent BEGIN, cleared after COMMIT */
} pg_session;

/* {0} is closed. As pg_create. */
ee_status pg_session_open(const pg_options *options, pg_session *out, ee_error *error);
void pg_session_close(pg_session *self);

/* The writer of this process has connected again, perhaps to a new primary: all sessions do so before their next call.
 * Otherwise one might still read from the old primary, if that is alive. Any thread. */
void pg_session_renew(void);

/* Runs the call. If it fails because the connection broke, it runs once more on a new one. After any other failure a
 * transaction that was begun is rolled back. */
typedef ee_status pg_call(void *context, ee_error *error);
ee_status pg_session_run(pg_session *self, pg_call *run, void *context, ee_error *error);

#endif
