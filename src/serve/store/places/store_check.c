#include "store_check.h"

#include <stdio.h>
#include <string.h>

#include "store_check_parts.h"

uint64_t check_damages(const check_result *of)
{
    return of->structure + of->log + of->tables + of->blobs;
}

/* ---- structure ---- */

static int watch(void *context)
{
    return !check_goes_on(context, "structure", -1);
}

/* What SQLite says is "ok", or lines under a title between stars. */
static void report_lines(check *self, const char *said)
{
    for (size_t length; said && *said; said += length + (said[length] == '\n')) {
        length = strcspn(said, "\n");
        bool damage = length && said[0] != '*' && !(length == 2 && strncmp(said, "ok", 2) == 0);
        if (damage) check_found(self, &self->result->structure, "eenet.db: %.*s", (int)length, said);
    }
}

static ee_status check_structure(check *self, ee_error *error)
{
    enum { OPERATIONS = 200000 }; /* of SQLite's machine between two questions whether to go on */
    sqlite3_stmt *statement = NULL;
    sqlite3_progress_handler(self->database, OPERATIONS, watch, self);
    int code = sqlite3_prepare_v2(self->database, "PRAGMA integrity_check(20)", -1, &statement, NULL);
    while (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        report_lines(self, (const char *)sqlite3_column_text(statement, 0));
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    sqlite3_progress_handler(self->database, 0, NULL, NULL);
    if (self->stopped) return check_stopped(error);
    if (code == SQLITE_NOMEM) return store_fail(self->database, "check eenet.db", error);
    if (code != SQLITE_DONE)
        check_found(self, &self->result->structure, "eenet.db: %s", sqlite3_errmsg(self->database));
    return EE_OK;
}

/* Every table, index and view must be defined as this version defines it. What others have added is theirs. */
static ee_status check_definitions(check *self, ee_error *error)
{
    static const char list[] = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    static const char find[] = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    sqlite3 *made = NULL;
    sqlite3_stmt *wanted = NULL, *there = NULL;
    if (sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL)) {
        sqlite3_close(made);
        return status_no_memory(error, 0);
    }
    ee_status status = store_create_tables(made, error);
    if (!status && sqlite3_prepare_v2(made, list, -1, &wanted, NULL)) status = store_fail(made, "read", error);
    if (!status && sqlite3_prepare_v2(self->database, find, -1, &there, NULL))
        status = store_fail(self->database, "read the tables", error);
    while (!status && sqlite3_step(wanted) == SQLITE_ROW) {
        json_text name = store_column_text(wanted, 0), sql = store_column_text(wanted, 1), found = {0};
        store_bind_text(there, 1, name);
        if (sqlite3_step(there) == SQLITE_ROW) found = store_column_text(there, 0);
        if (found.length != sql.length || memcmp(found.bytes, sql.bytes, sql.length) != 0)
            check_found(self, &self->result->structure, "eenet.db: the definition of %.*s is damaged", (int)name.length,
                        name.bytes);
        sqlite3_reset(there);
    }
    sqlite3_finalize(wanted);
    sqlite3_finalize(there);
    sqlite3_close(made);
    return status;
}

/* ---- the whole ---- */

static ee_status check_database(check *self, ee_error *error)
{
    bool current = false;
    /* From here on the reader sees this moment. */
    if (sqlite3_exec(self->database, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL))
        return store_fail(self->database, "read", error);
    ee_status status = check_structure(self, error);
    if (!status) status = store_is_current(self->database, &current, error);
    self->result->partial = !current;
    if (status || !current) return status;
    status = check_definitions(self, error);
    if (!status) status = check_log(self, error);
    return status;
}

ee_status store_check_folder(const check_request *request, check_result *out, ee_error *error)
{
    check self = {.request = request, .result = out};
    *out = (check_result){0};
    ee_status status = store_connect(request->folder, STORE_COPIES, &self.database, error);
    if (status) return status;
    status = check_database(&self, error);
    sqlite3_close(self.database);
    if (!status && !request->database_only && !out->partial) status = check_files(&self, error);
    if (!status && self.sentences > MOST_SENTENCES && request->found) {
        char rest[64];
        snprintf(rest, sizeof rest, "%llu more damages", (unsigned long long)(self.sentences - MOST_SENTENCES));
        request->found(request->context, rest);
    }
    memory_release(&self.memory);
    return status;
}
