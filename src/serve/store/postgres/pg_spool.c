/* Up to where the entries of a spool are in the database. The writer stores it with them: PG_DELIVER. */
#include <stdio.h>

#include "pg_writer.h"

/* The lock is a change, so its commit waits for the standby: the position that is read survives a failover. Otherwise
 * the file could be removed, and the standby not have its events. */
ee_status pg_spool_position(store *base, const char *spool, uint64_t *position, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    PGresult *result = NULL;
    char sql[160]; /* the name has hexadecimal digits only */
    *position = 0;
    snprintf(sql, sizeof sql, "SELECT delivered FROM eenet.spools WHERE spool = '%.32s' FOR UPDATE", spool);
    ee_status status = pg_connect_session(self, error);
    if (!status && self->doubtful_count) status = pg_resolve_doubts(self, error); /* one may be a delivery */
    if (!status) status = pg_query(self->connection, sql, "read the position of a spool", &result, error);
    if (!status && PQntuples(result)) *position = (uint64_t)pg_int8(result, 0, 0);
    PQclear(result);
    return status;
}
