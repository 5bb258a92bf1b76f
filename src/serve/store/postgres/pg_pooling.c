#include "pg_pooling.h"

/* Turns in which a session is looked for. A pooler gives the one that was used last, or all in turn; a pool has rarely
 * more than this. */
enum { TURNS = 40 };

static ee_status read_session(pg_connection *on, const char *sql, int64_t *session, ee_error *error)
{
    PGresult *result = NULL;
    ee_status status = pg_query(on, sql, "check the connection pooler", &result, error);
    if (!status) *session = pg_int8(result, 0, 0);
    PQclear(result);
    return status;
}

/* A session that stays with its client: no other client ever gets it, and it is never another one. The second client
 * asks once and twice in turn: if it always asked once, a pooler that gives two sessions in turn would give each client
 * its own. */
static ee_status look_for_sharing(pg_connection *first, pg_connection *second, bool *shared, ee_error *error)
{
    static const char sql[] = "SELECT pg_backend_pid()";
    int64_t own = 0, other = 0, now = 0;
    ee_status status = read_session(first, sql, &own, error);
    for (int turn = 0; turn < TURNS && !status && !*shared; turn++) {
        for (int times = turn % 2; times >= 0 && !status && !*shared; times--) {
            status = read_session(second, sql, &other, error);
            *shared = !status && other == own;
        }
        if (!status && !*shared) status = read_session(first, sql, &now, error);
        *shared = *shared || (!status && now != own);
    }
    return status;
}

ee_status pg_check_pooling(pg_connection *on, const char *where, ee_error *error)
{
    int64_t session = 0;
    bool shared = false;
    pg_connection *second;
    ee_status status = read_session(on, "SELECT pg_backend_pid()", &session, error);
    if (status || session == pg_backend(on)) return status; /* the server itself */
    status = pg_create(&(pg_options){.where = where, .role = "pooling"}, &second, error);
    if (status) return status;
    status = pg_connect(second, error);
    if (!status) status = look_for_sharing(on, second, &shared, error);
    pg_free(second);
    if (status || !shared) return status;
    return status_fail(error, EE_BAD_OPTION,
                       "the connection pooler in front of the database gives a session to several clients: set "
                       "pool_mode = session (pgbouncer), or connect to PostgreSQL itself");
}
