#define _POSIX_C_SOURCE 200809L
#include "pg_served.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "serve/store/place_name.h"
#include "serve/system/server_clock.h"

static const char list_sql[] = "SELECT number, beat, address FROM eenet.servers ORDER BY number";

static bool has_beaten(const PGresult *before, int64_t number, int64_t beat)
{
    for (int i = 0; i < PQntuples(before); i++)
        if (pg_int8(before, i, 0) == number) return pg_int8(before, i, 1) != beat;
    return true; /* it is new */
}

/* "http://a:1, http://b:2", of the servers whose beat has grown. */
static void name_living(const PGresult *before, const PGresult *after, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < PQntuples(after) && length < size; i++) {
        json_text address = pg_text(after, i, 2);
        if (!has_beaten(before, pg_int8(after, i, 0), pg_int8(after, i, 1))) continue;
        int added =
            snprintf(out + length, size - length, "%s%.*s", length ? ", " : "", (int)address.length, address.bytes);
        length += added > 0 ? (size_t)added : 0;
    }
}

static ee_status refuse(const char *where, const char *living, ee_error *error)
{
    char place[PLACE_NAME_SIZE];
    place_name(where, place);
    return status_fail(error, EE_FILE_ERROR, "store: servers are using %s: %s; stop them first", place, living);
}

static ee_status watch_beats(pg_connection *on, const char *where, const PGresult *before,
                             bool (*wanted)(void *context), void *context, ee_error *error)
{
    enum { PAUSE = 100, PATIENCE = 2000000 }; /* milliseconds, microseconds: a living server beats each half second */
    int64_t until = server_clock_real() + PATIENCE;
    for (;;) {
        char living[200];
        PGresult *now;
        if (wanted && !wanted(context)) return status_fail(error, EE_FILE_ERROR, "store: the copy was interrupted");
        ee_status status = pg_query(on, list_sql, "read the servers", &now, error);
        if (status) return status;
        name_living(before, now, living, sizeof living);
        PQclear(now);
        if (living[0]) return refuse(where, living, error);
        if (server_clock_real() >= until) return EE_OK;
        poll(NULL, 0, PAUSE);
    }
}

/* A process that was just ended may have its lock for a moment. */
static ee_status own_alone(pg_connection *on, const char *where, ee_error *error)
{
    char place[PLACE_NAME_SIZE], sql[100];
    snprintf(sql, sizeof sql, "SET lock_timeout = '2s'; SELECT pg_advisory_lock(%d)", (int)PG_ALONE_LOCK);
    ee_status status = pg_execute(on, sql, "lock the database", error);
    if (!status || strcmp(pg_state(on), "55P03") != 0) return status;
    place_name(where, place);
    return status_fail(error, EE_FILE_ERROR, "store: another process is using %s alone", place);
}

ee_status pg_refuse_served(pg_connection *on, const char *where, bool (*wanted)(void *context), void *context,
                           ee_error *error)
{
    PGresult *before;
    ee_status status = own_alone(on, where, error);
    if (!status) status = pg_query(on, list_sql, "read the servers", &before, error);
    if (status) return status;
    if (PQntuples(before)) status = watch_beats(on, where, before, wanted, context, error);
    PQclear(before);
    return status;
}
