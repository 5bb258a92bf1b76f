/* file:FILE: probabilities from another program, one row per shown event, one column per action. CSV rows may differ in
 * length like the events; columns beyond the actions of an event must be 0. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "candidate.h"
#include "data/npy.h"
#include "data/rows.h"

typedef struct file_candidate {
    candidate base;
    memory memory; /* of what follows */
    char *path;
    double *values; /* row i has those from starts[i] to starts[i + 1] */
    size_t *starts; /* (rows + 1) */
    size_t rows, value_capacity, start_capacity;
} file_candidate;

static void free_file(candidate *base)
{
    memory_release(&((file_candidate *)base)->memory);
    memory_free(base);
}

static ee_status fail_row(const file_candidate *self, uint64_t row, ee_error *error, const char *problem)
{
    return status_fail(error, EE_BAD_INPUT, "%s, row %llu: %s", file_tail(self->path), (unsigned long long)row + 1,
                       problem);
}

/* Makes room for one more row. */
static ee_status reserve_row(file_candidate *self, size_t columns, ee_error *error)
{
    memory *owner = &self->memory;
    size_t used = self->starts ? self->starts[self->rows] : 0;
    ee_status status =
        memory_grow(owner, &self->starts, &self->start_capacity, self->rows + 2, sizeof *self->starts, error);
    if (!status)
        status = memory_grow(owner, &self->values, &self->value_capacity, used + columns, sizeof *self->values, error);
    if (!status) self->starts[self->rows + 1] = used + columns;
    return status;
}

/* Ends the row and checks its probabilities. */
static ee_status end_row(file_candidate *self, ee_error *error)
{
    double sum = 0.0;
    for (size_t i = self->starts[self->rows]; i < self->starts[self->rows + 1]; i++) {
        double value = self->values[i];
        if (!(value >= 0.0 && value <= 1.0)) return fail_row(self, self->rows, error, "a probability must be 0 to 1");
        sum += value;
    }
    if (fabs(sum - 1.0) > 1e-3) return fail_row(self, self->rows, error, "the probabilities must sum to 1");
    self->rows++;
    return EE_OK;
}

static ee_status read_npy(file_candidate *self, ee_error *error)
{
    npy_array array;
    ee_status status = npy_read(self->path, &array, error);
    if (!status) status = npy_expect_table(&array, 0, false, file_tail(self->path), error);
    for (size_t i = 0; !status && i < array.shape[0]; i++) {
        size_t columns = array.shape[1];
        status = reserve_row(self, columns, error);
        for (size_t k = 0; !status && k < columns; k++)
            self->values[self->starts[i] + k] = npy_real(&array, i * columns + k);
        if (!status) status = end_row(self, error);
    }
    npy_release(&array);
    return status;
}

static ee_status take_fields(file_candidate *self, const row_reader *rows, ee_error *error)
{
    ee_status status = reserve_row(self, rows->count, error);
    if (status) return status;
    double *into = self->values + self->starts[self->rows];
    for (size_t k = 0; k < rows->count; k++)
        if (!field_number(&rows->fields[k], &into[k])) into[k] = NAN;
    return end_row(self, error);
}

/* A first row without any number is a header. */
static bool is_head(const row_reader *rows)
{
    double number;
    for (size_t k = 0; k < rows->count; k++)
        if (field_number(&rows->fields[k], &number)) return false;
    return true;
}

static ee_status read_csv(file_candidate *self, ee_error *error)
{
    uint64_t fingerprint = 0;
    source text;
    bool found = true;
    ee_status status = source_load(NULL, self->path, &fingerprint, &text, error);
    if (status) return status;
    row_reader rows = {0};
    status = source_unpack(&text, error);
    if (!status) rows = rows_start(&text, NULL);
    for (bool first = true; !status; first = false) {
        status = rows_next(&rows, &found, error);
        if (status || !found) break;
        if (!first || !is_head(&rows)) status = take_fields(self, &rows, error);
    }
    rows_release(&rows);
    source_release(&text);
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
    status = memory_create(&self->memory, &self->path, length + 1, 1, error);
    if (!status) {
        strcpy(self->path, path);
        bool binary = length > 4 && strcmp(path + length - 4, ".npy") == 0;
        status = binary ? read_npy(self, error) : read_csv(self, error);
    }
    if (status)
        free_file(&self->base);
    else
        *out = &self->base;
    return status;
}

static ee_status play_file(candidate *base, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)learn;
    const file_candidate *self = (const file_candidate *)base;
    uint64_t row = round->number;
    size_t count = round->event->count;
    if (round->numbers)
        return status_fail(error, EE_BAD_INPUT,
                           "%s: a file of probabilities cannot describe slots; "
                           "evaluate only the first slot of each event with --slots first",
                           file_tail(self->path));
    if (row >= self->rows) return fail_row(self, row, error, "missing; the log has more events than the file has rows");
    const double *values = self->values + self->starts[row];
    size_t columns = self->starts[row + 1] - self->starts[row];
    if (columns < count) return fail_row(self, row, error, "fewer columns than the event has actions");
    for (size_t i = count; i < columns; i++)
        if (values[i] != 0.0) return fail_row(self, row, error, "more columns than the event has actions");
    if (pi) memcpy(pi, values, count * sizeof *pi);
    return EE_OK;
}

static ee_status finish_file(candidate *base, uint64_t events, ee_error *error)
{
    const file_candidate *self = (const file_candidate *)base;
    if (self->rows == events) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "%s has %zu rows, and the log %llu events", file_tail(self->path),
                       self->rows, (unsigned long long)events);
}

const candidate_class candidate_from_file = {
    .form = "file:FILE",
    .summary = "action probabilities from a CSV or .npy file, one row per shown event",
    .file = true,
    .name = "file",
    .create = create_file,
    .free = free_file,
    .play = play_file,
    .finish = finish_file,
};
