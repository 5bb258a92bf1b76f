#include "store_copy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "copy_side.h"
#include "serve/store/place_name.h"
#include "serve/store/postgres/pg_connection.h"
#include "serve/store/row_checksum.h"

enum { NUMBER_BITS = 40 };

/* What a bandit's log has, and what its row of log_ends says. Number 0 is the clock. */
typedef struct log_tally {
    int64_t bandit;
    bool has_end, purged;
    int64_t first, last;
    uint64_t expected_sum, count, sum;
} log_tally;

/* What was read of a side: the same for the original and the copy. */
typedef struct tally {
    struct {
        uint64_t count, sum; /* rows, or blobs; their checksums, modulo 2^64 */
    } tables[COPY_TABLES];
    uint64_t blob;      /* checksum of the one being read; its parts may be of any size */
    uint64_t blob_name; /* 0: none */
    log_tally *logs;    /* (log_count) by number */
    size_t log_count, log_capacity;
    uint64_t damages;
    char first[200];
} tally;

typedef struct copying {
    const copy_request *request;
    copy_result *result;
    copy_side *from, *to;
    copy_rows rows;
    tally original, copy;
    uint64_t done, expected; /* rows that were read and written, roughly */
} copying;

/* ---- checksums ---- */

static void add_cell(row_checksum *sum, const copy_cell *cell)
{
    json_text value = {cell->bytes, cell->size};
    switch (cell->class) {
    case CELL_INTEGER:
        row_add_integer(sum, cell->integer);
        break;
    case CELL_REAL:
        row_add_real(sum, cell->real);
        break;
    case CELL_TEXT:
        row_add_text(sum, value);
        break;
    case CELL_BYTES:
        row_add_blob(sum, cell->bytes, cell->size);
        break;
    default:
        row_add_null(sum);
    }
}

static uint64_t checksum_of(const copy_cell *row, int columns)
{
    row_checksum sum = {0};
    for (int i = 0; i < columns; i++) add_cell(&sum, &row[i]);
    return (uint64_t)row_checksum_end(&sum);
}

/* FNV-1a of words: the parts of a blob end anywhere in it, so it goes byte by byte. */
static uint64_t add_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

/* ---- what was read ---- */

static ee_status find_log(tally *self, int64_t bandit, log_tally **out, ee_error *error)
{
    size_t low = 0, high = self->log_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->logs[middle].bandit < bandit)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == self->log_count || self->logs[low].bandit != bandit) {
        ee_status status =
            memory_grow(NULL, &self->logs, &self->log_capacity, self->log_count + 1, sizeof *self->logs, error);
        if (status) return status;
        memmove(self->logs + low + 1, self->logs + low, (self->log_count - low) * sizeof *self->logs);
        self->logs[low] = (log_tally){.bandit = bandit};
        self->log_count++;
    }
    *out = &self->logs[low];
    return EE_OK;
}

__attribute__((format(printf, 2, 3))) static void found_damage(tally *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!self->damages++) vsnprintf(self->first, sizeof self->first, format, arguments);
    va_end(arguments);
}

static ee_status add_event(tally *self, const copy_cell *row, ee_error *error)
{
    log_tally *log;
    int64_t place = row[EVENT_PLACE].integer;
    ee_status status = find_log(self, place >> NUMBER_BITS, &log, error);
    if (status) return status;
    log->count++;
    log->sum += (uint64_t)row[EVENT_CHECKSUM].integer;
    if (!log->purged && checksum_of(row, EVENT_CHECKSUM) != (uint64_t)row[EVENT_CHECKSUM].integer)
        found_damage(self, "event %" PRIu64 " of bandit %" PRId64 " is damaged: its checksum does not match",
                     (uint64_t)place & (((uint64_t)1 << NUMBER_BITS) - 1), log->bandit);
    return EE_OK;
}

/* What the ends of the logs are compared with. */
static ee_status add_to_logs(tally *self, copy_table table, const copy_cell *row, ee_error *error)
{
    log_tally *log = NULL;
    ee_status status = EE_OK;
    if (table == COPY_EVENTS) return add_event(self, row, error);
    if (table == COPY_BANDITS) {
        status = find_log(self, row[BANDIT_NUMBER].integer, &log, error);
        if (!status) log->purged = row[BANDIT_PURGED].integer != 0;
    } else if (table == COPY_CLOCK) {
        status = find_log(self, 0, &log, error);
        if (!status) log->count++;
        if (!status) log->sum += (uint64_t)row[CLOCK_CHECKSUM].integer;
    } else if (table == COPY_LOG_ENDS) {
        status = find_log(self, row[END_BANDIT].integer, &log, error);
        if (status) return status;
        log->has_end = true;
        log->first = row[END_FIRST].integer;
        log->last = row[END_LAST].integer;
        log->expected_sum = (uint64_t)row[END_SUM].integer;
    }
    return status;
}

static void end_blob(tally *self, copy_table table)
{
    if (!self->blob_name) return;
    self->tables[table].count++;
    self->tables[table].sum += (self->blob ^ self->blob_name) * 0x9e3779b97f4a7c15;
    self->blob_name = 0;
}

static void add_part(tally *self, copy_table table, const copy_cell *row)
{
    uint64_t name = checksum_of(row, PART_NUMBER) | 1;
    if (name != self->blob_name) {
        end_blob(self, table);
        self->blob_name = name;
        self->blob = 0xcbf29ce484222325;
    }
    self->blob = add_bytes(self->blob, row[PART_BYTES].bytes, row[PART_BYTES].size);
}

static ee_status add_rows(tally *self, copy_table table, const copy_rows *rows, ee_error *error)
{
    int columns = copy_columns(table);
    ee_status status = EE_OK;
    for (size_t i = 0; i < rows->count && !status; i++) {
        const copy_cell *row = rows->cells + i * (size_t)columns;
        if (table == COPY_FILES || table == COPY_MODELS) {
            add_part(self, table, row);
            continue;
        }
        uint64_t count = ++self->tables[table].count;
        /* Entries of the audit log have other numbers in a database: their order counts. */
        self->tables[table].sum +=
            table == COPY_AUDIT ? checksum_of(row + AUDIT_ENTRY, 1) * (2 * count + 1) : checksum_of(row, columns);
        status = add_to_logs(self, table, row, error);
    }
    return status;
}

/* An empty log has no rows, and ends at 0. */
static void compare_ends(tally *self)
{
    for (size_t i = 0; i < self->log_count; i++) {
        const log_tally *log = &self->logs[i];
        uint64_t expected = log->bandit ? (uint64_t)(log->last - log->first + 1) : (uint64_t)log->last;
        if (log->purged || (log->bandit == 0 && !log->has_end && !log->count)) continue;
        if (!log->has_end)
            found_damage(self, "the end of the log of bandit %" PRId64 " is missing", log->bandit);
        else if (log->count != expected || log->sum != log->expected_sum)
            found_damage(
                self, "the log of bandit %" PRId64 " does not end as it should: %" PRIu64 " events, expected %" PRIu64,
                log->bandit, log->count, expected);
    }
}

/* ---- copying ---- */

static ee_status report_progress(copying *self, size_t rows, ee_error *error)
{
    self->done += rows;
    double share = (double)self->done / (double)(self->expected + 1);
    bool wanted = !self->request->progress ||
                  self->request->progress(self->request->context, self->expected ? (share < 0.99 ? share : 0.99) : 0);
    return wanted ? EE_OK : status_fail(error, EE_FILE_ERROR, "store: the copy was interrupted");
}

/* Reads a table, and writes it to `to`, unless that is NULL. */
static ee_status pass_table(copying *self, copy_side *from, copy_side *to, copy_table table, tally *sums,
                            ee_error *error)
{
    ee_status status = from->methods->read_start(from, table, error);
    while (!status) {
        status = from->methods->read(from, table, &self->rows, error);
        if (status || !self->rows.count) break;
        status = add_rows(sums, table, &self->rows, error);
        if (!status && to) status = to->methods->write(to, table, &self->rows, error);
        if (!status) status = report_progress(self, self->rows.count, error);
        for (size_t i = 0; to && i < self->rows.count * (size_t)copy_columns(table); i++)
            self->result->bytes += self->rows.cells[i].size ? self->rows.cells[i].size : sizeof(int64_t);
    }
    end_blob(sums, table);
    return !status && to ? to->methods->write_end(to, table, error) : status;
}

/* Each event has two other rows or so; everything is read twice. */
static void expect_rows(copying *self)
{
    enum { ROWS = 3, PASSES = 2 };
    self->expected = 1;
    for (size_t i = 0; i < self->original.log_count; i++) {
        const log_tally *log = &self->original.logs[i];
        if (log->has_end && log->last >= log->first) self->expected += (uint64_t)(log->last - log->first + 1);
    }
    self->expected *= ROWS * PASSES;
}

static ee_status copy_tables(copying *self, copy_table first, copy_table end, ee_error *error)
{
    ee_status status = EE_OK;
    for (copy_table i = first; i < end && !status; i++) {
        status = pass_table(self, self->from, self->to, i, &self->original, error);
        if (i == COPY_LOG_ENDS) expect_rows(self);
    }
    return status;
}

static ee_status compare(copying *self, ee_error *error)
{
    ee_status status = self->to->methods->written(self->to, error);
    for (copy_table i = 0; i < COPY_TABLES && !status; i++) {
        status = pass_table(self, self->to, NULL, i, &self->copy, error);
        if (!status && (self->copy.tables[i].count != self->original.tables[i].count ||
                        self->copy.tables[i].sum != self->original.tables[i].sum))
            status = status_fail(error, EE_FILE_ERROR,
                                 "store: the copy of %s differs from the original: %" PRIu64 " rows, expected %" PRIu64,
                                 copy_forms[i].name, self->copy.tables[i].count, self->original.tables[i].count);
    }
    return status;
}

static ee_status judge_original(copying *self, ee_error *error)
{
    char place[PLACE_NAME_SIZE];
    compare_ends(&self->original);
    self->result->damages = self->original.damages;
    snprintf(self->result->first, sizeof self->result->first, "%s", self->original.first);
    if (!self->original.damages || !self->request->intact) return EE_OK;
    place_name(self->request->from, place);
    return status_fail(error, EE_FILE_ERROR, "store: %s is damaged: %s; run 'eenet check' on it", place,
                       self->original.first);
}

static void fill_result(copying *self)
{
    copy_result *out = self->result;
    const tally *sums = &self->original;
    out->blobs = sums->tables[COPY_FILES].count + sums->tables[COPY_MODELS].count;
    out->events = sums->tables[COPY_EVENTS].count;
    out->audit_entries = sums->tables[COPY_AUDIT].count;
    out->skipped = self->from->skipped;
    for (size_t i = 0; i < sums->log_count; i++) out->bandits += sums->logs[i].bandit > 0 && !sums->logs[i].purged;
}

static ee_status open_sides(copying *self, ee_error *error)
{
    const copy_request *request = self->request;
    copy_watch watch = {request->progress, request->context};
    ee_status status = place_is_database(request->from)
                           ? copy_database_from(request->from, request->alone, watch, &self->from, error)
                           : copy_folder_from(request->from, request->alone, &self->from, error);
    if (status) return status;
    return place_is_database(request->to) ? copy_database_to(request->to, watch, &self->to, error)
                                          : copy_folder_to(request->to, &self->to, error);
}

/* *again: a model that the copy needs was removed, since a newer one has taken its place. */
static ee_status copy_once(copying *self, bool last, bool *again, ee_error *error)
{
    const copy_request *request = self->request;
    ee_status status = open_sides(self, error);
    if (!status) status = copy_tables(self, COPY_FILES, COPY_MODELS, error);
    if (!status) status = self->from->methods->snapshot(self->from, error);
    if (!status) status = copy_tables(self, COPY_MODELS, COPY_BANDITS, error);
    *again = !status && !last && self->from->methods->vanished(self->from);
    if (*again) return EE_OK;
    if (!status) status = copy_tables(self, COPY_BANDITS, COPY_TABLES, error);
    if (!status) status = judge_original(self, error);
    if (!status) status = compare(self, error);
    if (!status && request->alone) status = self->from->methods->unchanged(self->from, error);
    if (!status && request->verify && !place_is_database(request->to))
        status = request->verify(request->context, copy_folder_draft(self->to), error);
    if (!status) status = self->to->methods->keep(self->to, error);
    if (!status) fill_result(self);
    if (!status && request->progress) request->progress(request->context, 1);
    return status;
}

static void end_once(copying *self)
{
    if (self->to) self->to->methods->free(self->to);
    if (self->from) self->from->methods->free(self->from);
    copy_rows_free(&self->rows);
    memory_free(self->original.logs);
    memory_free(self->copy.logs);
}

ee_status store_copy(const copy_request *request, copy_result *out, ee_error *error)
{
    /* As in store_backup: a store that lacks a model again and again lacks it for good, and so does the copy. */
    enum { ATTEMPTS = 5 };
    ee_status status = EE_OK;
    bool again = true;
    for (int i = 1; i <= ATTEMPTS && again && !status; i++) {
        copying self = {.request = request, .result = out};
        *out = (copy_result){0};
        status = copy_once(&self, i == ATTEMPTS, &again, error);
        if (status) again = false;
        end_once(&self);
    }
    return status;
}
