/* A database of PostgreSQL of a test's own, if the variable EENET_TEST_POSTGRES has a connection string. */
#ifndef EENET_FRESH_DATABASE_H
#define EENET_FRESH_DATABASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/store/postgres/pg_connection.h"
#include "serve/store/postgres/pg_schema.h"
#include "support_files.h"

typedef struct fresh_database {
    char name[64], where[600];
    pg_connection *server, *inside; /* to the database of the variable, and to the new one */
} fresh_database;

/* NULL: tests use SQLite and folders. */
static inline const char *test_postgres(void)
{
    const char *where = getenv("EENET_TEST_POSTGRES");
    return where && *where ? where : NULL;
}

static inline void database_run(pg_connection *on, const char *sql)
{
    ee_error error = {0};
    if (pg_execute(on, sql, "run", &error)) fail_msg("%s: %s", sql, error.message);
}

static inline pg_connection *database_connect(const char *where)
{
    pg_connection *on;
    ok(pg_create(&(pg_options){.where = where, .role = "test", .seconds = 60}, &on, NULL));
    return on;
}

/* Creates it with the tables of the store. */
static inline fresh_database database_make(void)
{
    static unsigned count;
    fresh_database self;
    char sql[200];
    const char *server = test_postgres();
    ee_error error = {0};
    snprintf(self.name, sizeof self.name, "eenet_test_%ld_%u", (long)getpid(), count++);
    snprintf(self.where, sizeof self.where, "%s%cdbname=%s", server, strchr(server, '?') ? '&' : '?', self.name);
    self.server = database_connect(server);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", self.name);
    database_run(self.server, sql);
    self.inside = database_connect(self.where);
    if (pg_schema_prepare(self.inside, &error)) fail_msg("%s", error.message);
    return self;
}

static inline void database_remove(fresh_database *self)
{
    char sql[200];
    snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", self->name);
    pg_free(self->inside);
    database_run(self->server, sql);
    pg_free(self->server);
}

/* Ends the connections of a role ("reader") from the server's side. Returns how many there were. */
static inline int64_t database_cut(fresh_database *self, const char *role)
{
    char sql[300];
    PGresult *result;
    ee_error error = {0};
    snprintf(sql, sizeof sql,
             "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = '%s' AND "
             "application_name LIKE 'eenet %s%%'",
             self->name, role);
    if (pg_query(self->server, sql, "cut", &result, &error)) fail_msg("%s", error.message);
    int64_t count = pg_int8(result, 0, 0);
    PQclear(result);
    return count;
}

#endif
