/* A database of PostgreSQL for a test, if the variable EENET_TEST_POSTGRES has a connection string. A process makes it
 * once and empties it for each test. */
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
    pg_connection *server, *inside; /* to the database of the variable, and to this one */
} fresh_database;

/* NULL: tests use SQLite and folders. */
static inline const char *test_postgres(void)
{
    const char *where = getenv("EENET_TEST_POSTGRES");
    return where && *where ? where : NULL;
}

static inline void database_run(pg_connection *on, const char *sql)
{
    if (pg_execute(on, sql, "run", &last_error)) fail_msg("%s: %s", sql, last_error.message);
}

/* Runs one statement, whose text is as printf has it. Returns the number of its first row; 0 if it has none. */
__attribute__((format(printf, 2, 3))) static inline int64_t database_ask(pg_connection *on, const char *format, ...)
{
    char sql[2000];
    PGresult *rows;
    va_list values;
    va_start(values, format);
    assert_true((size_t)vsnprintf(sql, sizeof sql, format, values) < sizeof sql);
    va_end(values);
    if (pg_query(on, sql, "ask", &rows, &last_error)) fail_msg("%s: %s", sql, last_error.message);
    int64_t number = PQntuples(rows) ? pg_int8(rows, 0, 0) : 0;
    PQclear(rows);
    return number;
}

static inline pg_connection *database_connect(const char *where)
{
    pg_connection *on;
    ok(pg_create(&(pg_options){.where = where, .role = "test", .seconds = 600}, &on, NULL));
    return on;
}

/* Of this process: most tests need one, some two at a time. */
typedef struct process_databases {
    fresh_database all[16]; /* (count) */
    bool taken[16];
    size_t count;
    long owner; /* the process that made them */
} process_databases;

static inline process_databases *database_list(void)
{
    static process_databases self;
    return &self;
}

/* At the end of the process; not of a child that a test has forked. */
static inline void database_drop_all(void)
{
    process_databases *list = database_list();
    for (size_t i = 0; i < list->count && list->owner == (long)getpid(); i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", list->all[i].name);
        pg_free(list->all[i].inside);
        pg_execute(list->all[i].server, sql, "drop", NULL);
        pg_free(list->all[i].server);
    }
}

static inline void database_create(fresh_database *self, size_t number)
{
    char name[sizeof self->name], sql[200];
    const char *server = test_postgres();
    snprintf(name, sizeof name, "eenet_test_%ld_%zu", (long)getpid(), number);
    memcpy(self->name, name, sizeof name);
    snprintf(self->where, sizeof self->where, "%s%cdbname=%s", server, strchr(server, '?') ? '&' : '?', name);
    self->server = database_connect(server);
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", name);
    database_run(self->server, sql); /* of an earlier process with this number */
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    database_run(self->server, sql);
    self->inside = database_connect(self->where);
}

/* Nothing is left of the test before, whatever it did: no session, setting, table or function. */
static inline void database_empty(fresh_database *self)
{
    char sql[400];
    pg_disconnect(self->inside);
    snprintf(sql, sizeof sql,
             "ALTER DATABASE %s RESET ALL; ALTER DATABASE %s WITH ALLOW_CONNECTIONS true;"
             "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity WHERE datname = '%s'",
             self->name, self->name, self->name);
    database_run(self->server, sql);
    database_run(self->inside, "DROP SCHEMA IF EXISTS eenet CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    ok(pg_schema_prepare(self->inside, &last_error));
}

/* An empty database with the tables of the store. */
static inline fresh_database database_make(void)
{
    process_databases *list = database_list();
    size_t i = 0;
    while (i < list->count && list->taken[i]) i++;
    assert_true(i < sizeof list->taken / sizeof *list->taken);
    if (!list->count) {
        list->owner = (long)getpid();
        atexit(database_drop_all);
    }
    if (i == list->count) {
        database_create(&list->all[i], i);
        list->count++;
    }
    list->taken[i] = true;
    database_empty(&list->all[i]);
    return list->all[i];
}

static inline void database_remove(fresh_database *self)
{
    process_databases *list = database_list();
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->all[i].name, self->name) == 0) list->taken[i] = false;
}

/* Ends the connections of a role ("writer") from the server's side; "": of all. Returns how many there were. */
static inline int64_t database_cut(fresh_database *self, const char *role)
{
    return database_ask(self->server,
                        "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = '%s' AND"
                        " application_name LIKE 'eenet %s%%'",
                        self->name, role);
}

/* Whether it accepts connections from now on. */
static inline void database_allow(fresh_database *self, bool on)
{
    database_ask(self->server, "ALTER DATABASE %s WITH ALLOW_CONNECTIONS %s", self->name, on ? "true" : "false");
}

#endif
