/* A folder as a side of a copy: rows of eenet.db, files as parts of blobs, lines of audit.jsonl. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "copy_side.h"
#include "folder_draft.h"
#include "serve/store/sqlite/store_sqlite.h"

static const char audit_name[] = "audit.jsonl";

/* The files that are read: of each bandit, of each kind, of each key. */
typedef struct file_walk {
    uint32_t bandit, last_bandit;
    int kind, last_kind;
    blob_key *keys; /* (count) of the bandit and the kind; NULL: not listed yet */
    size_t count, next;
    blob_name name; /* of the file being read */
    uint8_t *bytes; /* (size) of it; NULL: none */
    size_t size, at;
    int64_t part;
} file_walk;

typedef struct folder_side {
    copy_side base;
    char *folder;        /* where it reads or writes: a draft has its temporary name */
    const char *publish; /* what a draft is renamed to; NULL: a source */
    bool kept;
    store_locks locks;
    sqlite3 *database;
    sqlite3_stmt *statement; /* that reads */
    sqlite3_stmt *inserts[COPY_TABLES];
    blobs *blobs;
    uint8_t *bytes; /* of the rows that were read */
    size_t size, capacity;
    file_walk walk;
    int64_t purged; /* bandits that were removed when the files were read */
    bool vanished;

    uint8_t *audit; /* (audit_size) the whole file; NULL: not read */
    size_t audit_size, audit_at;
    int64_t audit_line;
    int audit_file; /* that is written; -1: none */

    bool has_blob; /* the one that is written */
    blob_name blob;
    uint8_t *blob_bytes; /* (blob_size) */
    size_t blob_size, blob_capacity;
} folder_side;

/* ---- reading rows ---- */

static ee_status ask_number(folder_side *self, const char *sql, int64_t *out, ee_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL);
    if (!code) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? EE_OK : store_fail(self->database, "read eenet.db", error);
}

static ee_status add_bytes(folder_side *self, const void *bytes, size_t size, copy_cell *cell, ee_error *error)
{
    ee_status status = memory_grow(&self->base.memory, &self->bytes, &self->capacity, self->size + size + 1, 1, error);
    if (status) return status;
    if (size) memcpy(self->bytes + self->size, bytes, size);
    cell->integer = (int64_t)self->size; /* the block may move: its address is known at the end */
    cell->size = size;
    self->size += size;
    return EE_OK;
}

static ee_status add_column(folder_side *self, int column, copy_cell *cell, ee_error *error)
{
    *cell = (copy_cell){CELL_NULL, 0, 0, NULL, 0};
    switch (sqlite3_column_type(self->statement, column)) {
    case SQLITE_INTEGER:
        cell->class = CELL_INTEGER;
        cell->integer = sqlite3_column_int64(self->statement, column);
        return EE_OK;
    case SQLITE_FLOAT:
        cell->class = CELL_REAL;
        cell->real = sqlite3_column_double(self->statement, column);
        return EE_OK;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
        cell->class = sqlite3_column_type(self->statement, column) == SQLITE_TEXT ? CELL_TEXT : CELL_BYTES;
        const void *bytes = sqlite3_column_blob(self->statement, column);
        return add_bytes(self, bytes, (size_t)sqlite3_column_bytes(self->statement, column), cell, error);
    default:
        return EE_OK;
    }
}

static void find_bytes(const folder_side *self, copy_rows *rows, int columns)
{
    for (size_t i = 0; i < rows->count * (size_t)columns; i++) {
        copy_cell *cell = &rows->cells[i];
        if (cell->class == CELL_TEXT || cell->class == CELL_BYTES) cell->bytes = self->bytes + cell->integer;
    }
}

static ee_status read_rows(folder_side *self, copy_table table, copy_rows *out, ee_error *error)
{
    int columns = copy_columns(table), code = SQLITE_ROW;
    ee_status status = EE_OK;
    self->size = 0;
    while (!status && self->statement && out->count < COPY_PORTION_ROWS && self->size < COPY_PORTION_BYTES) {
        copy_cell *row;
        code = sqlite3_step(self->statement);
        if (code != SQLITE_ROW) break;
        status = copy_rows_add(out, columns, &row, error);
        for (int i = 0; i < columns && !status; i++) status = add_column(self, i, &row[i], error);
    }
    if (!status && code != SQLITE_ROW && code != SQLITE_DONE)
        status = store_fail(self->database, "read eenet.db", error);
    if (code != SQLITE_ROW) store_finalize(&self->statement, 1);
    find_bytes(self, out, columns);
    return status;
}

/* "a, b, c": the first `count` columns. */
static void list_columns(copy_table table, int count, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s", i ? ", " : "", copy_forms[table].columns[i]);
}

static ee_status start_rows(folder_side *self, copy_table table, ee_error *error)
{
    char columns[200], keys[100], sql[400];
    const char *list = sql;
    list_columns(table, copy_columns(table), columns, sizeof columns);
    list_columns(table, copy_forms[table].keys, keys, sizeof keys);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s ORDER BY %s", columns, copy_forms[table].name, keys);
    store_finalize(&self->statement, 1);
    return store_prepare(self->database, &list, 1, &self->statement, error);
}

/* ---- reading files ---- */

static void end_walk(folder_side *self)
{
    memory_free(self->walk.keys);
    memory_free(self->walk.bytes);
    self->walk = (file_walk){0};
}

static ee_status start_walk(folder_side *self, copy_table table, ee_error *error)
{
    int64_t last = 0;
    end_walk(self);
    if (table == COPY_FILES) {
        ee_status status = ask_number(self, "SELECT count(*) FROM bandits WHERE purged = 2", &self->purged, error);
        if (status) return status;
    }
    self->walk.kind = table == COPY_MODELS ? BLOB_MODEL : BLOB_MODEL + 1;
    self->walk.last_kind = table == COPY_MODELS ? BLOB_MODEL : BLOB_KINDS - 1;
    ee_status status = ask_number(self, "SELECT coalesce(max(number), 0) FROM bandits", &last, error);
    self->walk.last_bandit = (uint32_t)last;
    return status;
}

/* The files of the next kind, or of the next bandit. */
static ee_status list_files(folder_side *self, bool *found, ee_error *error)
{
    file_walk *walk = &self->walk;
    *found = walk->bandit <= walk->last_bandit;
    walk->next = walk->count = 0;
    if (!*found) return EE_OK;
    return blob_list(self->blobs, walk->bandit, (blob_kind)walk->kind, &walk->keys, &walk->count, error);
}

static void pass_list(file_walk *walk, copy_table table)
{
    memory_free(walk->keys);
    walk->keys = NULL;
    if (walk->kind++ < walk->last_kind) return;
    walk->kind = table == COPY_MODELS ? BLOB_MODEL : BLOB_MODEL + 1;
    walk->bandit++;
}

/* Without looking at the bytes: what is damaged stays so. A file that is removed meanwhile is passed over. */
static ee_status read_file(folder_side *self, ee_error *error)
{
    file_walk *walk = &self->walk;
    char *path;
    ee_status status = blob_file(self->folder, walk->name, &path, error);
    if (status) return status;
    status = file_read(path, &walk->bytes, &walk->size, error);
    if (status == EE_FILE_ERROR && file_is_missing(path)) status = EE_OK;
    memory_free(path);
    walk->at = 0;
    walk->part = 0;
    return status;
}

static ee_status next_file(folder_side *self, copy_table table, bool *found, ee_error *error)
{
    file_walk *walk = &self->walk;
    ee_status status = EE_OK;
    *found = true;
    memory_free(walk->bytes);
    walk->bytes = NULL;
    while (!status && *found && !walk->bytes) {
        if (walk->keys && walk->next < walk->count) {
            walk->name = blob_named(walk->bandit, (blob_kind)walk->kind, walk->keys[walk->next++]);
            if (blob_exists(self->blobs, walk->name)) status = read_file(self, error);
        } else {
            if (walk->keys) pass_list(walk, table);
            status = list_files(self, found, error);
            if (!status && *found && !walk->count) pass_list(walk, table);
        }
    }
    return status;
}

/* One part of a file. */
static ee_status read_part(folder_side *self, copy_table table, copy_rows *out, ee_error *error)
{
    file_walk *walk = &self->walk;
    bool found = walk->bytes && walk->at < walk->size;
    copy_cell *row;
    ee_status status = found ? EE_OK : next_file(self, table, &found, error);
    if (!status && found) status = copy_rows_add(out, copy_columns(table), &row, error);
    if (status || !found) return status;
    size_t left = walk->size - walk->at, size = left < COPY_PORTION_BYTES ? left : COPY_PORTION_BYTES;
    row[PART_BANDIT] = (copy_cell){CELL_INTEGER, walk->name.bandit, 0, NULL, 0};
    row[PART_KIND] = (copy_cell){CELL_INTEGER, walk->name.kind, 0, NULL, 0};
    row[PART_KEY] = (copy_cell){CELL_TEXT, 0, 0, walk->name.key, strlen(walk->name.key)};
    row[PART_NUMBER] = (copy_cell){CELL_INTEGER, walk->part++, 0, NULL, 0};
    row[PART_BYTES] = (copy_cell){CELL_BYTES, 0, 0, walk->bytes + walk->at, size};
    walk->at += size;
    return EE_OK;
}

/* After the models were read: uploaded ones and each last checkpoint must be among them. A model that is there now was
 * there before, for none comes back. */
static ee_status find_vanished(folder_side *self, ee_error *error)
{
    static const char *const sql[] = {
        "SELECT place, body FROM events WHERE kind IN (5, 7) AND kind >= 4 AND kind <> 8 AND body IS NOT NULL AND"
        " (kind = 7 OR place = (SELECT max(place) FROM events AS other WHERE kind = 5 AND kind >= 4 AND kind <> 8"
        "  AND place > events.place >> 40 << 40 AND place < (events.place >> 40) + 1 << 40))"};
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_DONE;
    ee_status status = store_prepare(self->database, sql, 1, &statement, error);
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        checkpoint_body body;
        const void *bytes = sqlite3_column_blob(statement, 1);
        uint32_t bandit = (uint32_t)(sqlite3_column_int64(statement, 0) >> STORE_NUMBER_BITS);
        if (checkpoint_body_read(bytes, (size_t)sqlite3_column_bytes(statement, 1), &body, NULL)) continue;
        self->vanished |= !blob_exists(self->blobs, blob_model(bandit, body.version));
    }
    if (!status && code != SQLITE_DONE) status = store_fail(self->database, "read the checkpoints", error);
    store_finalize(&statement, 1);
    return status;
}

/* ---- reading the audit log ---- */

static ee_status start_audit(folder_side *self, ee_error *error)
{
    char *path;
    memory_free(self->audit);
    self->audit = NULL;
    self->audit_size = self->audit_at = 0;
    self->audit_line = 0;
    ee_status status = file_join(self->folder, audit_name, &path, error);
    if (status) return status;
    if (!file_is_missing(path)) status = file_read(path, &self->audit, &self->audit_size, error);
    memory_free(path);
    return status;
}

/* A line that a crash cut off is no entry: the last one without its end, and one that is not UTF-8. */
static ee_status read_lines(folder_side *self, copy_rows *out, ee_error *error)
{
    ee_status status = EE_OK;
    size_t begun = self->audit_at;
    while (!status && out->count < COPY_PORTION_ROWS && self->audit_at - begun < COPY_PORTION_BYTES) {
        const char *line = (const char *)self->audit + self->audit_at;
        const char *end = self->audit ? memchr(line, '\n', self->audit_size - self->audit_at) : NULL;
        copy_cell *row;
        if (!end) break;
        size_t length = (size_t)(end - line);
        self->audit_at += length + 1;
        if (!json_is_utf8((json_text){line, length}) || memchr(line, '\0', length)) {
            self->base.skipped++;
            continue;
        }
        status = copy_rows_add(out, copy_columns(COPY_AUDIT), &row, error);
        if (status) break;
        row[0] = (copy_cell){CELL_INTEGER, ++self->audit_line, 0, NULL, 0};
        row[AUDIT_ENTRY] = (copy_cell){CELL_TEXT, 0, 0, line, length};
    }
    return status;
}

/* ---- reading ---- */

static ee_status take_snapshot(copy_side *base, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    int64_t purged = 0;
    if (sqlite3_exec(self->database, "BEGIN", NULL, NULL, NULL)) return store_fail(self->database, "read", error);
    ee_status status = ask_number(self, "SELECT count(*) FROM bandits WHERE purged = 2", &purged, error);
    self->vanished |= !status && purged != self->purged; /* their files were read, and must not be copied */
    return status;
}

static ee_status read_start(copy_side *base, copy_table table, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    if (table == COPY_FILES || table == COPY_MODELS) return start_walk(self, table, error);
    return table == COPY_AUDIT ? start_audit(self, error) : start_rows(self, table, error);
}

static ee_status read_more(copy_side *base, copy_table table, copy_rows *out, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    out->count = 0;
    if (table == COPY_AUDIT) return read_lines(self, out, error);
    if (table != COPY_FILES && table != COPY_MODELS) return read_rows(self, table, out, error);
    ee_status status = read_part(self, table, out, error);
    if (!status && !out->count && table == COPY_MODELS && !self->publish) status = find_vanished(self, error);
    return status;
}

static bool has_vanished(const copy_side *base)
{
    return ((const folder_side *)base)->vanished;
}

/* The lock of the folder keeps others away. */
static ee_status is_unchanged(copy_side *base, ee_error *error)
{
    (void)base, (void)error;
    return EE_OK;
}

/* ---- writing ---- */

static ee_status prepare_insert(folder_side *self, copy_table table, ee_error *error)
{
    char columns[200], marks[100] = "", sql[400];
    const char *list = sql;
    size_t length = 0;
    if (self->inserts[table]) return EE_OK;
    int count = copy_columns(table);
    list_columns(table, count, columns, sizeof columns);
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(marks + length, sizeof marks - length, "%s?%d", i ? ", " : "", i + 1);
    snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (%s)", copy_forms[table].name, columns, marks);
    return store_prepare(self->database, &list, 1, &self->inserts[table], error);
}

static void bind_cell(sqlite3_stmt *statement, int at, const copy_cell *cell)
{
    switch (cell->class) {
    case CELL_INTEGER:
        sqlite3_bind_int64(statement, at, cell->integer);
        break;
    case CELL_REAL:
        sqlite3_bind_double(statement, at, cell->real);
        break;
    case CELL_TEXT:
        sqlite3_bind_text64(statement, at, cell->size ? cell->bytes : "", cell->size, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case CELL_BYTES:
        sqlite3_bind_blob64(statement, at, cell->size ? cell->bytes : "", cell->size, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(statement, at);
    }
}

static ee_status write_rows(folder_side *self, copy_table table, const copy_rows *rows, ee_error *error)
{
    int columns = copy_columns(table);
    ee_status status = prepare_insert(self, table, error);
    sqlite3_stmt *insert = self->inserts[table];
    for (size_t i = 0; i < rows->count && !status; i++) {
        const copy_cell *row = rows->cells + i * (size_t)columns;
        for (int at = 0; at < columns; at++) bind_cell(insert, at + 1, &row[at]);
        if (sqlite3_step(insert) != SQLITE_DONE) status = store_fail(self->database, "write the copy", error);
        sqlite3_reset(insert);
    }
    return status;
}

static ee_status write_blob(folder_side *self, ee_error *error)
{
    char *path, *end;
    if (!self->has_blob) return EE_OK;
    self->has_blob = false;
    ee_status status = blob_file(self->folder, self->blob, &path, error);
    if (status) return status;
    end = strrchr(path, '/');
    *end = '\0';
    status = file_make_private_folder(path, error);
    *end = '/';
    if (!status) status = file_write_private(path, self->blob_bytes, self->blob_size, error);
    memory_free(path);
    return status;
}

static ee_status name_of_part(const copy_cell *row, blob_name *out, ee_error *error)
{
    int64_t bandit = row[PART_BANDIT].integer, kind = row[PART_KIND].integer;
    size_t length = row[PART_KEY].size;
    if (bandit < 0 || bandit > UINT32_MAX || kind < 0 || kind >= BLOB_KINDS || length >= BLOB_KEY_SIZE)
        return status_fail(error, EE_FILE_ERROR,
                           "store: a blob has no valid name: bandit %" PRId64 ", kind %" PRId64 ", key '%.*s'", bandit,
                           kind, (int)(length < 80 ? length : 80), (const char *)row[PART_KEY].bytes);
    *out = (blob_name){.bandit = (uint32_t)bandit, .kind = (blob_kind)kind};
    memcpy(out->key, row[PART_KEY].bytes, length);
    return EE_OK;
}

static ee_status write_part(folder_side *self, const copy_cell *row, ee_error *error)
{
    blob_name name = {0};
    const copy_cell *part = &row[PART_BYTES];
    ee_status status = name_of_part(row, &name, error);
    bool goes_on = self->has_blob && name.bandit == self->blob.bandit && name.kind == self->blob.kind &&
                   strcmp(name.key, self->blob.key) == 0;
    if (!status && !goes_on) {
        status = write_blob(self, error);
        self->blob = name;
        self->blob_size = 0;
    }
    self->has_blob = !status;
    if (!status)
        status = memory_grow(&self->base.memory, &self->blob_bytes, &self->blob_capacity, self->blob_size + part->size,
                             1, error);
    if (status) return status;
    if (part->size) memcpy(self->blob_bytes + self->blob_size, part->bytes, part->size);
    self->blob_size += part->size;
    return EE_OK;
}

static ee_status audit_failed(ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "store: could not write %s: %s", audit_name, strerror(errno));
}

static ee_status append_bytes(int file, const char *bytes, size_t size, ee_error *error)
{
    while (size) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return audit_failed(error);
        bytes += done;
        size -= (size_t)done;
    }
    return EE_OK;
}

static ee_status write_lines(folder_side *self, const copy_rows *rows, ee_error *error)
{
    char *path;
    if (self->audit_file < 0) {
        ee_status status = file_join(self->folder, audit_name, &path, error);
        if (status) return status;
        self->audit_file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        memory_free(path);
        if (self->audit_file < 0) return audit_failed(error);
    }
    ee_status status = EE_OK;
    copy_cell end = {0};
    self->size = 0;
    for (size_t i = 0; i < rows->count && !status; i++) {
        const copy_cell *entry = &rows->cells[i * (size_t)copy_columns(COPY_AUDIT) + AUDIT_ENTRY];
        status = add_bytes(self, entry->bytes, entry->size, &end, error);
        if (!status) status = add_bytes(self, "\n", 1, &end, error);
    }
    return status ? status : append_bytes(self->audit_file, (const char *)self->bytes, self->size, error);
}

static ee_status write_some(copy_side *base, copy_table table, const copy_rows *rows, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    ee_status status = EE_OK;
    if (table == COPY_AUDIT) return write_lines(self, rows, error);
    if (table != COPY_FILES && table != COPY_MODELS) return write_rows(self, table, rows, error);
    for (size_t i = 0; i < rows->count && !status; i++)
        status = write_part(self, rows->cells + i * (size_t)copy_columns(table), error);
    return status;
}

static ee_status write_end(copy_side *base, copy_table table, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    if (table == COPY_FILES || table == COPY_MODELS) return write_blob(self, error);
    if (table != COPY_AUDIT || self->audit_file < 0) return EE_OK;
    bool failed = fsync(self->audit_file) != 0;
    failed |= close(self->audit_file) != 0;
    self->audit_file = -1;
    return failed ? audit_failed(error) : EE_OK;
}

static void close_database(folder_side *self)
{
    store_finalize(&self->statement, 1);
    store_finalize(self->inserts, COPY_TABLES);
    sqlite3_close(self->database);
    self->database = NULL;
}

/* It is closed, synced, and opened again, so that what is verified is what the file has. */
static ee_status is_written(copy_side *base, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    char *path;
    if (sqlite3_exec(self->database, "COMMIT", NULL, NULL, NULL))
        return store_fail(self->database, "write the copy", error);
    store_finalize(self->inserts, COPY_TABLES);
    if (sqlite3_exec(self->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL))
        return store_fail(self->database, "write the copy", error);
    close_database(self);
    ee_status status = file_join(self->folder, "eenet.db", &path, error);
    if (status) return status;
    status = folder_draft_sync(path, error);
    memory_free(path);
    if (!status) status = file_sync_folder(self->folder, error);
    return status ? status : store_connect(self->folder, STORE_READS, &self->database, error);
}

static ee_status keep(copy_side *base, ee_error *error)
{
    folder_side *self = (folder_side *)base;
    close_database(self);
    ee_status status = folder_draft_publish(self->folder, self->publish, error);
    self->kept = !status;
    return status;
}

/* ---- beginning and end ---- */

static void free_side(copy_side *base)
{
    folder_side *self = (folder_side *)base;
    end_walk(self);
    memory_free(self->audit);
    if (self->audit_file >= 0) close(self->audit_file);
    close_database(self);
    store_release_locks(&self->locks);
    blobs_close(self->blobs);
    if (self->publish && self->folder && !self->kept) folder_draft_remove(self->folder);
    memory_free(self->folder);
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

static ee_status create_side(folder_side **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof **out, error);
    if (status) return status;
    (*out)->base.methods = &methods;
    (*out)->locks = STORE_UNLOCKED;
    (*out)->audit_file = -1;
    return EE_OK;
}

static ee_status end_create(folder_side *self, ee_status status, copy_side **out)
{
    if (status)
        free_side(&self->base);
    else
        *out = &self->base;
    return status;
}

ee_status copy_folder_from(const char *folder, bool alone, copy_side **out, ee_error *error)
{
    folder_side *self;
    size_t size = strlen(folder) + 1;
    *out = NULL;
    ee_status status = create_side(&self, error);
    if (status) return status;
    status = memory_create(NULL, &self->folder, size, 1, error);
    if (!status) memcpy(self->folder, folder, size);
    if (!status) status = store_connect(folder, STORE_READS, &self->database, error);
    if (!status && alone) status = store_take_locks(folder, &self->locks, error);
    if (!status) status = blobs_open(folder, &self->blobs, error);
    return end_create(self, status, out);
}

/* Without a journal: a copy that fails is removed as a whole. */
static ee_status create_database(folder_side *self, ee_error *error)
{
    char *path;
    ee_status status = file_join(self->folder, "eenet.db", &path, error);
    if (status) return status;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* SQLite would let others read it */
    if (file >= 0) close(file);
    if (sqlite3_open_v2(path, &self->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        status = store_fail(self->database, "create the copy", error);
    memory_free(path);
    if (!status && sqlite3_exec(self->database,
                                "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                "PRAGMA cache_size = -65536; PRAGMA locking_mode = EXCLUSIVE",
                                NULL, NULL, NULL))
        status = store_fail(self->database, "create the copy", error);
    if (!status) status = store_create_tables(self->database, error);
    /* log_ends has the row of the clock. */
    if (!status && sqlite3_exec(self->database, "BEGIN; DELETE FROM log_ends", NULL, NULL, NULL))
        status = store_fail(self->database, "create the copy", error);
    return status;
}

ee_status copy_folder_to(const char *folder, copy_side **out, ee_error *error)
{
    folder_side *self;
    *out = NULL;
    ee_status status = create_side(&self, error);
    if (status) return status;
    self->publish = folder;
    status = folder_draft_create(folder, &self->folder, error);
    if (!status) status = blobs_open(self->folder, &self->blobs, error);
    if (!status) status = create_database(self, error);
    return end_create(self, status, out);
}

const char *copy_folder_draft(const copy_side *self)
{
    return ((const folder_side *)self)->folder;
}
