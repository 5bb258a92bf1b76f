/* The tables of a store in PostgreSQL, in the schema `eenet`. They have the columns of the SQLite tables
 * (store_schema.c) with the same contents and checksums, so that a store can be copied row by row in either direction.
 * Differences: ids are bytea, all integers are bigint, booleans too; blobs and the audit log are tables.
 *
 * log_ends has two more columns, owner and token: the lease of a bandit. Its row is locked by each group of the owner,
 * and changed by each takeover, so a group either commits before the takeover or sees the new token and writes nothing.
 * Row 0 is the lease of the leader, which creates bandits. See leases.h. */
#ifndef EENET_PG_SCHEMA_H
#define EENET_PG_SCHEMA_H

#include "pg_connection.h"

/* Creates the tables if there are none, and upgrades older ones. A database of a newer major version is refused.
 * Several processes may call it at the same time. */
ee_status pg_schema_prepare(pg_connection *on, ee_error *error);

/* The same for reading: nothing changes; EE_FILE_ERROR if there are no tables. */
ee_status pg_schema_check(pg_connection *on, ee_error *error);

#endif
