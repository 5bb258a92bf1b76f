/* A database as a side of a copy. Reading: one snapshot for all tables, in portions by their primary keys; the next
 * portion is on its way while one is used. Writing: one transaction for everything, by arrays of the columns. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "copy_side.h"
#include "serve/store/place_name.h"
#include "serve/store/postgres/pg_schema.h"
#include "serve/store/postgres/pg_served.h"

enum { READ = 0, WRITE = COPY_TABLES, STATEMENTS = 2 * COPY_TABLES, SQL_SIZE = 1200 };

typedef struct database_side {
    copy_side base;
    const char *where;
    pg_connection *on;
    char *sql[STATEMENTS];
    pg_values values;
    PGresult *rows;     /* of the last read */
    bool sent;          /* the next portion was asked for */
    int in_flight;      /* portions that were written and not yet confirmed */
    int64_t audit_from; /* entries up to this number are not part of the copy */
    char *ends;         /* log_ends when the snapshot was taken; NULL: others may write */
    copy_watch watch;
} database_side;

/* ---- statements ---- */

static const char *type_of(char type)
{
    return type == 'i' ? "bigint" : type == 'r' ? "float8" : type == 't' ? "text" : "bytea";
}

typedef struct sql_text {
    char *bytes;
    size_t length;
} sql_text;

__attribute__((format(printf, 2, 3))) static void add(sql_text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->bytes + to->length, SQL_SIZE - to->length, format, arguments);
    va_end(arguments);
    to->length += length > 0 ? (size_t)length : 0;
}

static void add_columns(sql_text *to, const copy_form *form, int count)
{
    for (int i = 0; i < count; i++) add(to, "%s%s", i ? ", " : "", form->columns[i]);
}

/* SELECT columns FROM table WHERE key > last ORDER BY key LIMIT rows; with a large column, the rows before those that
 * exceed COPY_PORTION_BYTES, and always the first. */
static void make_read(copy_table table, char *out)
{
    const copy_form *form = &copy_forms[table];
    int count = copy_columns(table);
    sql_text to = {out, 0};
    add(&to, "SELECT ");
    add_columns(&to, form, count);
    if (form->large) {
        add(&to, " FROM (SELECT ");
        add_columns(&to, form, count);
        add(&to, ", sum(length(%s)) OVER (ORDER BY ", form->large);
        add_columns(&to, form, form->keys);
        add(&to, " ROWS UNBOUNDED PRECEDING) AS total");
    }
    add(&to, " FROM eenet.%s WHERE (", form->name);
    add_columns(&to, form, form->keys);
    add(&to, ") > (");
    for (int i = 0; i < form->keys; i++) add(&to, "%s$%d::%s", i ? ", " : "", i + 1, type_of(form->types[i]));
    add(&to, ")");
    if (form->only) add(&to, " AND %s", form->only);
    add(&to, " ORDER BY ");
    add_columns(&to, form, form->keys);
    add(&to, " LIMIT %d", (int)COPY_PORTION_ROWS);
    if (form->large)
        add(&to, ") AS portion WHERE coalesce(total, 0) - coalesce(length(%s), 0) < %d", form->large,
            (int)COPY_PORTION_BYTES);
}

static void make_write(copy_table table, char *out)
{
    const copy_form *form = &copy_forms[table];
    int count = copy_columns(table);
    sql_text to = {out, 0};
    if (table == COPY_AUDIT) { /* numbered after those that are there */
        add(&to, "INSERT INTO eenet.audit (entry) SELECT entry FROM unnest($1::text[]) WITH ORDINALITY"
                 " AS lines (entry, line) ORDER BY line");
        return;
    }
    add(&to, "INSERT INTO eenet.%s AS old (", form->name);
    add_columns(&to, form, count);
    add(&to, ") SELECT * FROM unnest(");
    for (int i = 0; i < count; i++) add(&to, "%s$%d::%s[]", i ? ", " : "", i + 1, type_of(form->types[i]));
    add(&to, ")");
    if (table != COPY_LOG_ENDS) return;
    /* The row of the leader's lease is there. If it ever had an owner, late writes of that one stay refused. */
    add(&to, " ON CONFLICT (bandit) DO UPDATE SET owner = 0, token = old.token + (old.token > 0)::int");
    for (int i = form->keys; i < count; i++) add(&to, ", %s = excluded.%s", form->columns[i], form->columns[i]);
}

/* ---- reading ---- */

static void add_start(database_side *self, copy_table table)
{
    const copy_form *form = &copy_forms[table];
    for (int i = 0; i < form->keys; i++) {
        if (form->types[i] == 'i')
            pg_add_int8(&self->values, table == COPY_AUDIT ? self->audit_from : INT64_MIN);
        else
            pg_add_whole(&self->values, "", 0);
    }
}

static void add_last(database_side *self, copy_table table)
{
    const copy_form *form = &copy_forms[table];
    int last = PQntuples(self->rows) - 1;
    for (int i = 0; i < form->keys; i++) {
        json_text value = pg_text(self->rows, last, i);
        pg_add_whole(&self->values, value.bytes, value.length);
    }
}

static ee_status ask(database_side *self, copy_table table, ee_error *error)
{
    pg_values_start(&self->values);
    if (self->rows)
        add_last(self, table);
    else
        add_start(self, table);
    ee_status status = pg_send(self->on, READ + (int)table, &self->values, error);
    if (!status) status = pg_sync(self->on, error);
    self->sent = !status;
    return status;
}

static ee_status read_start(copy_side *base, copy_table table, ee_error *error)
{
    database_side *self = (database_side *)base;
    PQclear(self->rows);
    self->rows = NULL;
    return ask(self, table, error);
}

/* SQLite has no NaN. In events it is NULL, as in the checksum; elsewhere it is damage, and a text keeps it one. */
static copy_cell real_of(double value, copy_table table)
{
    if (!isnan(value)) return (copy_cell){CELL_REAL, 0, value, NULL, 0};
    if (table == COPY_EVENTS) return (copy_cell){CELL_NULL, 0, 0, NULL, 0};
    return (copy_cell){CELL_TEXT, 0, 0, "NaN", 3};
}

static copy_cell cell_of(const PGresult *rows, int row, int column, copy_table table)
{
    char type = copy_forms[table].types[column];
    copy_cell cell = {CELL_NULL, 0, 0, NULL, 0};
    if (pg_is_null(rows, row, column)) return cell;
    json_text bytes = pg_text(rows, row, column);
    switch (type) {
    case 'i':
        cell.class = CELL_INTEGER;
        cell.integer = pg_int8(rows, row, column);
        return cell;
    case 'r':
        return real_of(pg_float8(rows, row, column), table);
    default:
        cell.class = type == 'b' ? CELL_BYTES : CELL_TEXT;
        cell.bytes = bytes.bytes;
        cell.size = bytes.length;
        return cell;
    }
}

static ee_status read_more(copy_side *base, copy_table table, copy_rows *out, ee_error *error)
{
    database_side *self = (database_side *)base;
    int columns = copy_columns(table);
    ee_status status = EE_OK;
    out->count = 0;
    PQclear(self->rows);
    self->rows = NULL;
    if (!self->sent) return EE_OK; /* the last portion was empty */
    self->sent = false;
    status = pg_next(self->on, "read the database", &self->rows, error);
    if (!status) status = pg_end(self->on, "read the database", error);
    if (!status && PQntuples(self->rows)) status = ask(self, table, error);
    for (int i = 0; !status && i < PQntuples(self->rows); i++) {
        copy_cell *row;
        status = copy_rows_add(out, columns, &row, error);
        for (int at = 0; !status && at < columns; at++) row[at] = cell_of(self->rows, i, at, table);
    }
    return status;
}

static bool has_vanished(const copy_side *base)
{
    (void)base;
    return false;
}

/* log_ends as a text: each group of a server changes it. */
static ee_status read_ends(database_side *self, char **out, ee_error *error)
{
    PGresult *result;
    *out = NULL;
    ee_status status = pg_query(self->on,
                                "SELECT coalesce(string_agg(md5(log_ends::text), '' ORDER BY bandit), '') FROM"
                                " eenet.log_ends",
                                "read the database", &result, error);
    if (status) return status;
    json_text ends = pg_text(result, 0, 0);
    status = memory_create(&self->base.memory, out, ends.length + 1, 1, error);
    if (!status) memcpy(*out, ends.bytes, ends.length);
    PQclear(result);
    return status;
}

static ee_status take_snapshot(copy_side *base, ee_error *error)
{
    (void)base, (void)error;
    return EE_OK; /* since the beginning */
}

static ee_status is_unchanged(copy_side *base, ee_error *error)
{
    database_side *self = (database_side *)base;
    char *now = NULL;
    ee_status status = pg_execute(self->on, "COMMIT", "read the database", error);
    if (!status) status = read_ends(self, &now, error);
    if (status || strcmp(now, self->ends) == 0) return status;
    char place[PLACE_NAME_SIZE];
    place_name(self->where, place);
    return status_fail(error, EE_FILE_ERROR,
                       "store: a server has written to %s during the copy; stop all of them first", place);
}

/* ---- writing ---- */

static bool add_cell(pg_values *to, const copy_cell *cell, char type)
{
    static const char classes[] = {[CELL_INTEGER] = 'i', [CELL_REAL] = 'r', [CELL_TEXT] = 't', [CELL_BYTES] = 'b'};
    if (cell->class == CELL_NULL) {
        pg_element_null(to);
        return true;
    }
    if (classes[cell->class] != (type == 'd' ? 't' : type)) return false;
    if (type == 'i')
        pg_element_int8(to, cell->integer);
    else if (type == 'r')
        pg_element_float8(to, cell->real);
    else
        pg_element_bytes(to, cell->bytes, cell->size);
    return true;
}

static pg_type array_type(char type)
{
    return type == 'i' ? PG_INT8 : type == 'r' ? PG_FLOAT8 : type == 't' ? PG_TEXT : PG_BYTEA;
}

static ee_status add_arrays(database_side *self, copy_table table, const copy_rows *rows, ee_error *error)
{
    const copy_form *form = &copy_forms[table];
    int columns = copy_columns(table);
    pg_values_start(&self->values);
    for (int at = table == COPY_AUDIT ? AUDIT_ENTRY : 0; at < columns; at++) {
        pg_array_start(&self->values, array_type(form->types[at]));
        for (size_t i = 0; i < rows->count; i++)
            if (!add_cell(&self->values, &rows->cells[i * (size_t)columns + (size_t)at], form->types[at]))
                return status_fail(error, EE_FILE_ERROR,
                                   "store: a value of another type is in column %s of table %s; run 'eenet check' on "
                                   "the folder",
                                   form->columns[at], form->name);
        pg_array_end(&self->values);
    }
    return EE_OK;
}

/* Waits until at most `most` portions are not confirmed. */
static ee_status confirm(database_side *self, int most, ee_error *error)
{
    ee_status status = EE_OK;
    while (!status && self->in_flight > most) {
        PGresult *result, *sync = NULL;
        status = pg_next(self->on, "write the copy", &result, error);
        if (!status) status = pg_next(self->on, "write the copy", &sync, error);
        PQclear(result);
        PQclear(sync);
        self->in_flight--;
    }
    return status;
}

static ee_status write_some(copy_side *base, copy_table table, const copy_rows *rows, ee_error *error)
{
    database_side *self = (database_side *)base;
    ee_status status = add_arrays(self, table, rows, error);
    if (!status) status = pg_send(self->on, WRITE + (int)table, &self->values, error);
    if (!status) status = pg_sync(self->on, error);
    if (!status) self->in_flight++;
    return status ? status : confirm(self, 1, error);
}

static ee_status write_end(copy_side *base, copy_table table, ee_error *error)
{
    (void)table;
    return confirm((database_side *)base, 0, error);
}

/* The statistics are for the servers: they come with the rows. */
static ee_status is_written(copy_side *base, ee_error *error)
{
    return pg_execute(
        ((database_side *)base)->on,
        "UPDATE eenet.fleet SET changes = changes + 1;"
        "ANALYZE eenet.bandits, eenet.events, eenet.decisions, eenet.ids, eenet.reward_ids, eenet.unclaimed,"
        " eenet.log_ends, eenet.blobs",
        "write the copy", error);
}

static ee_status keep(copy_side *base, ee_error *error)
{
    return pg_execute(((database_side *)base)->on, "COMMIT", "write the copy", error);
}

/* ---- beginning and end ---- */

static void free_side(copy_side *base)
{
    database_side *self = (database_side *)base;
    PQclear(self->rows);
    pg_values_free(&self->values);
    pg_free(self->on); /* what was not committed is gone */
    memory_release(&self->base.memory);
}

static const copy_methods methods = {.free = free_side,
                                     .snapshot = take_snapshot,
                                     .read_start = read_start,
                                     .read = read_more,
                                     .vanished = has_vanished,
                                     .unchanged = is_unchanged,
                                     .write = write_some,
                                     .write_end = write_end,
                                     .written = is_written,
                                     .keep = keep};

static ee_status make_statements(database_side *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (int i = 0; i < STATEMENTS && !status; i++) {
        status = memory_create(&self->base.memory, &self->sql[i], SQL_SIZE, 1, error);
        if (!status) (i < WRITE ? make_read : make_write)((copy_table)(i % COPY_TABLES), self->sql[i]);
    }
    return status;
}

/* A process that is stopped for long loses its snapshot, which keeps the database from cleaning up. */
static ee_status connect_side(database_side *self, ee_error *error)
{
    enum { SECONDS = 300 }; /* of a call, such as a commit that waits for a standby */
    pg_options options = {.where = self->where,
                          .sql = (const char *const *)self->sql,
                          .count = STATEMENTS,
                          .seconds = SECONDS,
                          .role = "copy"};
    ee_status status = make_statements(self, error);
    if (!status) status = pg_create(&options, &self->on, error);
    if (!status) status = pg_connect(self->on, error);
    return status ? status
                  : pg_execute(self->on, "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = '10min'",
                               "connect", error);
}

static ee_status create_side(const char *where, copy_watch watch, database_side **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof **out, error);
    if (status) return status;
    (*out)->base.methods = &methods;
    (*out)->where = where;
    (*out)->watch = watch;
    return connect_side(*out, error);
}

static ee_status end_create(database_side *self, ee_status status, copy_side **out)
{
    *out = NULL;
    if (!status)
        *out = &self->base;
    else if (self)
        free_side(&self->base);
    return status;
}

static bool still_wanted(void *context)
{
    const copy_watch *watch = context;
    return !watch->progress || watch->progress(watch->context, 0);
}

ee_status copy_database_from(const char *where, bool alone, copy_watch watch, copy_side **out, ee_error *error)
{
    database_side *self = NULL;
    ee_status status = create_side(where, watch, &self, error);
    if (!status) status = pg_schema_check(self->on, error);
    if (!status && alone) status = pg_refuse_served(self->on, where, still_wanted, &self->watch, error);
    if (!status)
        status =
            pg_execute(self->on, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM eenet.log_ends",
                       "read the database", error);
    if (!status && alone) status = read_ends(self, &self->ends, error);
    return end_create(self, status, out);
}

/* Locks the tables that a server would write to first. */
static ee_status refuse_full(database_side *self, ee_error *error)
{
    PGresult *result;
    char place[PLACE_NAME_SIZE];
    ee_status status =
        pg_execute(self->on, "BEGIN; LOCK TABLE eenet.bandits, eenet.log_ends, eenet.audit IN EXCLUSIVE MODE",
                   "lock the tables", error);
    if (!status)
        status = pg_query(self->on,
                          "SELECT (SELECT count(*) FROM eenet.bandits), (SELECT count(*) FROM eenet.blobs),"
                          " (SELECT coalesce(max(number), 0) FROM eenet.audit)",
                          "read the database", &result, error);
    if (status) return status;
    int64_t bandits = pg_int8(result, 0, 0), blobs = pg_int8(result, 0, 1);
    self->audit_from = pg_int8(result, 0, 2);
    PQclear(result);
    if (!bandits && !blobs) return EE_OK;
    place_name(self->where, place);
    return status_fail(error, EE_FILE_ERROR, "store: %s is not empty: it has %" PRId64 " bandit%s; give a new database",
                       place, bandits, bandits == 1 ? "" : "s");
}

ee_status copy_database_to(const char *where, copy_watch watch, copy_side **out, ee_error *error)
{
    database_side *self = NULL;
    ee_status status = create_side(where, watch, &self, error);
    if (!status) status = pg_schema_prepare(self->on, error);
    if (!status) status = pg_refuse_served(self->on, where, still_wanted, &self->watch, error);
    if (!status) status = refuse_full(self, error);
    return end_create(self, status, out);
}
