/* Connection poolers such as pgbouncer. The store needs sessions of its own: prepared statements, settings, and locks
 * that a session holds. A pooler that gives a session to another client between two transactions (pgbouncer:
 * pool_mode = transaction) breaks this, and may do so only under load. */
#ifndef EENET_PG_POOLING_H
#define EENET_PG_POOLING_H

#include "pg_connection.h"

/* EE_BAD_OPTION: there is a pooler that shares sessions. The connection is free: no transaction is open. */
ee_status pg_check_pooling(pg_connection *on, const char *where, ee_error *error);

#endif
