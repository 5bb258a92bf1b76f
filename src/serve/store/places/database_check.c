#define _POSIX_C_SOURCE 200809L
#include "database_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "copy_side.h"
#include "folder_draft.h"
#include "serve/store/postgres/pg_schema.h"
#include "store_copy.h"

/* ---- tables ---- */

/* Columns that a copy leaves out. */
static const struct {
    const char *table, *column, *type;
} others[] = {
    {"log_ends", "owner", "bigint"},   {"log_ends", "token", "bigint"},
    {"servers", "number", "bigint"},   {"servers", "address", "text"},
    {"servers", "version", "text"},    {"servers", "beat", "bigint"},
    {"servers", "state", "text"},      {"servers", "started", "timestamp with time zone"},
    {"fleet", "changes", "bigint"},    {"fleet", "secret", "bytea"},
    {"fleet", "keys", "text"},         {"spools", "spool", "text"},
    {"spools", "delivered", "bigint"},
};

typedef struct table_check {
    const check_request *request;
    check_result *result;
    PGresult *columns; /* table, column, type */
    PGresult *keys;    /* tables with a primary key */
} table_check;

__attribute__((format(printf, 2, 3))) static void found(table_check *self, const char *format, ...)
{
    char sentence[sizeof self->result->first];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (!self->result->structure++) memcpy(self->result->first, sentence, sizeof sentence);
    if (self->request->found) self->request->found(self->request->context, sentence);
}

static bool is_value(const PGresult *in, int row, int column, const char *value)
{
    json_text there = pg_text(in, row, column);
    return there.length == strlen(value) && memcmp(there.bytes, value, there.length) == 0;
}

static bool has_table(const PGresult *in, const char *table)
{
    for (int i = 0; i < PQntuples(in); i++)
        if (is_value(in, i, 0, table)) return true;
    return false;
}

static void check_column(table_check *self, const char *table, const char *column, const char *type)
{
    for (int i = 0; i < PQntuples(self->columns); i++) {
        if (!is_value(self->columns, i, 0, table) || !is_value(self->columns, i, 1, column)) continue;
        json_text there = pg_text(self->columns, i, 2);
        if (!is_value(self->columns, i, 2, type))
            found(self, "the column %s of table eenet.%s has type %.*s, expected %s", column, table, (int)there.length,
                  there.bytes, type);
        return;
    }
    found(self, "the column %s of table eenet.%s is missing", column, table);
}

static void check_form(table_check *self, const copy_form *form)
{
    if (!has_table(self->columns, form->name)) {
        found(self, "the table eenet.%s is missing", form->name);
        return;
    }
    if (!has_table(self->keys, form->name)) found(self, "the primary key of table eenet.%s is missing", form->name);
    for (int i = 0; form->types[i]; i++) {
        char type = form->types[i];
        check_column(self, form->name, form->columns[i],
                     type == 'i'   ? "bigint"
                     : type == 'r' ? "double precision"
                     : type == 't' ? "text"
                                   : "bytea");
    }
}

static void check_tables(table_check *self)
{
    for (int i = COPY_MODELS; i < COPY_TABLES; i++) check_form(self, &copy_forms[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_column(self, others[i].table, others[i].column, others[i].type);
}

static ee_status read_tables(table_check *self, ee_error *error)
{
    static const char columns[] = "SELECT relname::text, attname::text, format_type(atttypid, NULL) FROM pg_attribute"
                                  " JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'eenet'::regnamespace"
                                  " AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped";
    static const char keys[] = "SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indrelid"
                               " WHERE relnamespace = 'eenet'::regnamespace AND indisprimary AND indisvalid";
    pg_options options = {.where = self->request->folder, .role = "check"};
    pg_connection *on;
    ee_status status = pg_create(&options, &on, error);
    if (!status) status = pg_schema_check(on, error);
    if (!status) status = pg_query(on, columns, "read the tables", &self->columns, error);
    if (!status) status = pg_query(on, keys, "read the tables", &self->keys, error);
    pg_free(on);
    return status;
}

/* ---- the snapshot ---- */

ee_status database_snapshot_create(const char *where, bool (*progress)(void *context, double share), void *context,
                                   database_snapshot *out, ee_error *error)
{
    const char *given = getenv("TMPDIR");
    copy_result copied;
    *out = (database_snapshot){NULL, NULL};
    ee_status status = file_join(given && *given ? given : "/tmp", "eenet-XXXXXX", &out->parent, error);
    if (status) return status;
    if (!mkdtemp(out->parent)) {
        status = status_fail(error, EE_FILE_ERROR, "store: could not create %s: %s", file_tail(out->parent),
                             strerror(errno));
        memory_free(out->parent);
        out->parent = NULL;
        return status;
    }
    status = file_join(out->parent, "copy", &out->folder, error);
    copy_request request = {.from = where, .to = out->folder, .progress = progress, .context = context};
    if (!status) status = store_copy(&request, &copied, error);
    if (status) database_snapshot_remove(out);
    return status;
}

void database_snapshot_remove(database_snapshot *self)
{
    if (self->parent) folder_draft_remove(self->parent);
    memory_free(self->parent);
    memory_free(self->folder);
    *self = (database_snapshot){NULL, NULL};
}

/* ---- the whole ---- */

static bool copy_goes_on(void *context, double share)
{
    const check_request *request = context;
    return !request->progress || request->progress(request->context, "copying", share);
}

ee_status database_check(const check_request *request, check_result *out, ee_error *error)
{
    table_check self = {.request = request, .result = out};
    check_request of_copy = *request;
    database_snapshot snapshot;
    *out = (check_result){0};
    ee_status status = read_tables(&self, error);
    if (!status) check_tables(&self);
    PQclear(self.columns);
    PQclear(self.keys);
    if (status || out->structure) return status;
    status = database_snapshot_create(request->folder, copy_goes_on, (void *)(uintptr_t)request, &snapshot, error);
    if (status) return status;
    of_copy.folder = snapshot.folder;
    status = store_check_folder(&of_copy, out, error);
    database_snapshot_remove(&snapshot);
    return status;
}
