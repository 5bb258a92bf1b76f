/* file:FILE: probabilities that another program has computed, a row for each event that somebody saw, a column for each
 * action. Rows of CSV may be shorter or longer as the events have more or fewer actions; where .npy has more columns
 * than an event has actions, those must be 0. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "candidate.h"
#include "data/npy.h"
#include "data/rows.h"

typedef struct file_candidate {
    candidate base;
    char *path;
    bool binary;
    npy_array array;
    source text;
    row_reader rows;
    bool first_read; /* of CSV: the row that was read to tell a head from numbers waits */
    uint64_t given;  /* rows */
} file_candidate;

static void free_file(candidate *base)
{
    file_candidate *self = (file_candidate *)base;
    npy_release(&self->array);
    rows_release(&self->rows);
    source_release(&self->text);
    memory_free(self->path);
    memory_free(self);
}

/* Passes over a head: a first row whose first field is no number. */
static ee_status start_rows(file_candidate *self, ee_error *error)
{
    uint64_t fingerprint = 0;
    double number;
    ee_status status = source_load(NULL, self->path, &fingerprint, &self->text, error);
    if (!status) status = source_unpack(&self->text, error);
    if (status) return status;
    self->rows = rows_start(&self->text, NULL);
    status = rows_next(&self->rows, &self->first_read, error);
    if (!status && self->first_read && !field_number(&self->rows.fields[0], &number)) self->first_read = false;
    return status;
}

static ee_status create_file(const candidate_setup *setup, candidate **out, ee_error *error)
{
    const char *path = candidate_place(setup->text);
    size_t length = strlen(path);
    file_candidate *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &candidate_from_file;
    self->binary = length > 4 && strcmp(path + length - 4, ".npy") == 0;
    status = memory_create(NULL, &self->path, length + 1, 1, error);
    if (!status) strcpy(self->path, path);
    if (!status && self->binary) {
        status = npy_read(path, &self->array, error);
        if (!status) status = npy_expect_table(&self->array, 0, false, file_tail(path), error);
    } else if (!status) {
        status = start_rows(self, error);
    }
    if (status)
        free_file(&self->base);
    else
        *out = &self->base;
    return status;
}

static ee_status fail_row(const file_candidate *self, ee_error *error, const char *problem)
{
    return status_fail(error, EE_BAD_INPUT, "%s, row %llu: %s", file_tail(self->path),
                       (unsigned long long)self->given + 1, problem);
}

/* Entry i of the next row; NaN where it is no number. */
static double entry_of(const file_candidate *self, size_t i)
{
    double number;
    if (self->binary) return npy_real(&self->array, (size_t)self->given * self->array.shape[1] + i);
    return field_number(&self->rows.fields[i], &number) ? number : (double)NAN;
}

static ee_status next_row(file_candidate *self, size_t *columns, ee_error *error)
{
    bool found = self->binary ? self->given < self->array.shape[0] : self->first_read;
    ee_status status = EE_OK;
    if (!self->binary && !found) status = rows_next(&self->rows, &found, error);
    self->first_read = false;
    if (status) return status;
    if (!found) return fail_row(self, error, "there is none, and the log has more events");
    *columns = self->binary ? self->array.shape[1] : self->rows.count;
    return EE_OK;
}

static ee_status take_row(file_candidate *self, size_t columns, size_t count, double *pi, ee_error *error)
{
    double sum = 0.0;
    if (columns < count) return fail_row(self, error, "it has fewer columns than the event has actions");
    for (size_t i = 0; i < columns; i++) {
        double entry = entry_of(self, i);
        if (!(entry >= 0.0 && entry <= 1.0)) return fail_row(self, error, "a probability must be 0 to 1");
        if (i >= count && entry != 0.0) return fail_row(self, error, "it has more columns than the event has actions");
        if (i < count && pi) pi[i] = entry;
        sum += entry;
    }
    if (fabs(sum - 1.0) > 1e-3) return fail_row(self, error, "the probabilities must sum to 1");
    return EE_OK;
}

static ee_status play_file(candidate *base, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)learn;
    file_candidate *self = (file_candidate *)base;
    size_t columns;
    ee_status status = next_row(self, &columns, error);
    if (!status) status = take_row(self, columns, round->event->count, pi, error);
    if (!status) self->given++;
    return status;
}

static ee_status finish_file(candidate *base, uint64_t events, ee_error *error)
{
    file_candidate *self = (file_candidate *)base;
    bool more = self->binary && self->given < self->array.shape[0];
    ee_status status = self->binary ? EE_OK : rows_next(&self->rows, &more, error);
    if (status || !more) return status;
    return status_fail(error, EE_BAD_INPUT, "%s has more rows than the log has events, which are %llu",
                       file_tail(self->path), (unsigned long long)events);
}

const candidate_class candidate_from_file = {
    .form = "file:FILE",
    .summary = "probabilities of the actions: CSV or .npy, a row for each event that somebody saw",
    .name = "file",
    .create = create_file,
    .free = free_file,
    .play = play_file,
    .finish = finish_file,
};
