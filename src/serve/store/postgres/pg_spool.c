/* Up to where the entries of a spool are in the database. The writer stores it with them: PG_DELIVER. */
#include <stdio.h>

#include "pg_writer.h"

ee_status pg_spool_position(store *base, const char *spool, uint64_t *position, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    PGresult *result = NULL;
    char sql[128]; /* the name has hexadecimal digits only */
    *position = 0;
    snprintf(sql, sizeof sql, "SELECT delivered FROM eenet.spools WHERE spool = '%.32s'", spool);
    ee_status status = pg_connect_session(self, error);
    if (!status && self->doubtful_count) status = pg_resolve_doubts(self, error); /* one may be a delivery */
    if (!status) status = pg_query(self->connection, sql, "read the position of a spool", &result, error);
    if (!status && PQntuples(result)) *position = (uint64_t)pg_int8(result, 0, 0);
    PQclear(result);
    return status;
}
