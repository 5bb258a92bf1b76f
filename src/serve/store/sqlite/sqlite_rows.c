#include "sqlite_rows.h"

#include <stdio.h>
#include <string.h>

typedef struct rows_table {
    sqlite3_vtab base;
    const sqlite_rows *rows;
} rows_table;

typedef struct rows_cursor {
    sqlite3_vtab_cursor base;
    size_t row, count;
} rows_cursor;

static const sqlite_rows *rows_of(sqlite3_vtab_cursor *cursor)
{
    return ((rows_table *)cursor->pVtab)->rows;
}

static int connect(sqlite3 *database, void *context, int count, const char *const *values, sqlite3_vtab **out,
                   char **message)
{
    char declaration[512];
    (void)count, (void)values, (void)message;
    snprintf(declaration, sizeof declaration, "CREATE TABLE rows (%s)", ((const sqlite_rows *)context)->columns);
    int code = sqlite3_declare_vtab(database, declaration);
    if (code) return code;
    rows_table *table = sqlite3_malloc(sizeof *table);
    if (!table) return SQLITE_NOMEM;
    *table = (rows_table){.rows = context};
    *out = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* Only whole scans, as the outer loop of a join. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    plan->estimatedRows = 512;
    plan->estimatedCost = 512;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    rows_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static void skip(rows_cursor *self)
{
    const sqlite_rows *rows = rows_of(&self->base);
    while (rows->has && self->row < self->count && !rows->has(rows->source, self->row)) self->row++;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values)
{
    rows_cursor *self = (rows_cursor *)cursor;
    (void)plan, (void)text, (void)count, (void)values;
    self->row = 0;
    self->count = rows_of(cursor)->count(rows_of(cursor)->source);
    skip(self);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor)
{
    rows_cursor *self = (rows_cursor *)cursor;
    self->row++;
    skip(self);
    return SQLITE_OK;
}

static int is_over(sqlite3_vtab_cursor *cursor)
{
    const rows_cursor *self = (const rows_cursor *)cursor;
    return self->row >= self->count;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int which)
{
    const sqlite_rows *rows = rows_of(cursor);
    rows->column(rows->source, ((const rows_cursor *)cursor)->row, which, out);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const rows_cursor *)cursor)->row;
    return SQLITE_OK;
}

/* Without xCreate a table exists in each connection that has the module, under the module's name. */
static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_over,
    .xColumn = column,
    .xRowid = rowid,
};

ee_status sqlite_rows_add(sqlite3 *database, sqlite_rows *table, ee_error *error)
{
    int code = sqlite3_create_module_v2(database, table->name, &module, table, NULL);
    return code ? status_fail(error, EE_NO_MEMORY, "store: could not add the table %s", table->name) : EE_OK;
}
