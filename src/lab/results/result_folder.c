#include "result_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "curves.h"
#include "run_keys.h"

typedef struct curve_file {
    char *name;
    size_t rows;
    uint64_t rounds;
} curve_file;

typedef struct curve_batch curve_batch;

/* The file of that name, which is put into the list where it is new. */
static ee_status find_curve(result_folder *self, const char *name, uint64_t rounds, curve_file **out, ee_error *error)
{
    for (size_t i = 0; i < self->curve_count; i++) {
        *out = &self->curves[i];
        if (strcmp((*out)->name, name) == 0) return EE_OK;
    }
    ee_status status =
        memory_grow(NULL, &self->curves, &self->curve_capacity, self->curve_count + 1, sizeof *self->curves, error);
    if (status) return status;
    *out = &self->curves[self->curve_count];
    **out = (curve_file){.rounds = rounds};
    status = memory_create(NULL, &(*out)->name, strlen(name) + 1, 1, error);
    if (status) return status;
    strcpy((*out)->name, name);
    self->curve_count++;
    return EE_OK;
}

/* ---- opening ---- */

static ee_status count_rows(result_folder *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->stored.count && !status; i++) {
        const stored_run *run = &self->stored.runs[i];
        curve_file *file;
        status = find_curve(self, run->curve, run->rounds, &file, error);
        if (!status && file->rows <= run->curve_row) file->rows = run->curve_row + 1;
    }
    return status;
}

/* Cuts off the rows that no line names. */
static ee_status cut_curves(const result_folder *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->curve_count && !status; i++) {
        const curve_file *file = &self->curves[i];
        char *path = NULL;
        status = file_join(self->curves_path, file->name, &path, error);
        if (!status) status = curves_cut(path, file->rows, file->rounds, error);
        memory_free(path);
    }
    return status;
}

ee_status result_folder_open(const char *path, const lost_curves *lost, result_folder *out, ee_error *error)
{
    *out = (result_folder){.log = {NULL, -1, -1}};
    ee_status status = line_file_open(path, "results.jsonl", &out->log, error);
    if (!status) status = file_join(path, "curves", &out->curves_path, error);
    if (!status) status = file_make_folder(out->curves_path, error);
    if (!status) status = results_read(path, &out->stored, error);
    if (!status && lost) status = lost_curves_drop(lost, path, &out->log, &out->stored, error);
    if (!status) status = count_rows(out, error);
    return status ? status : cut_curves(out, error);
}

void result_folder_close(result_folder *self)
{
    line_file_close(&self->log);
    for (size_t i = 0; i < self->curve_count; i++) memory_free(self->curves[i].name);
    results_release(&self->stored);
    memory_free(self->curves);
    memory_free(self->curves_path);
    memory_free(self->batch.rows);
    memory_free(self->batch.lines);
    *self = (result_folder){.log = {NULL, -1, -1}};
}

/* ---- adding ---- */

/* "synthetic_cosine_dim_5_delay_100_eenet_0123456789abcdef.npy": for the eye, then unique. */
static void name_curve(const stored_run *run, char *name, size_t capacity)
{
    enum { READABLE = 100, POLICY = 60 };
    char late[DELAY_TEXT + 8] = "_delay_", slots[32] = "";
    delay_format(&run->late, late + strlen(late));
    if (delay_is_none(&run->late)) late[0] = '\0';
    if (run->slots > 1) snprintf(slots, sizeof slots, "_slots_%zu", run->slots);
    int length = snprintf(name, capacity, "%.*s%s%s_%.*s", READABLE, run->dataset, late, slots, POLICY, run->policy);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.=";
    for (char *c = name; *c; c++)
        if (!strchr(plain, *c) || (c == name && *c == '.')) *c = '_';
    snprintf(name + length, capacity - (size_t)length, "_%016" PRIx64 ".npy", run_keys_of_stored(run).curves);
}

static ee_status write_rows(const result_folder *self, const curve_file *file, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_join(self->curves_path, file->name, &path, error);
    if (!status) status = curves_write(path, file->rows, self->batch.rows, self->batch.count, file->rounds, error);
    if (!status && file->rows == 0) status = file_sync_folder(self->curves_path, error);
    memory_free(path);
    return status;
}

ee_status result_folder_flush(result_folder *self, ee_error *error)
{
    curve_batch *batch = &self->batch;
    if (!batch->count) return EE_OK;
    curve_file *file = &self->curves[batch->file];
    ee_status status = write_rows(self, file, error);
    if (!status) status = line_file_append(&self->log, batch->lines, batch->lines_length, error);
    if (!status) file->rows += batch->count;
    batch->count = batch->lines_length = 0;
    return status;
}

static ee_status put_row(curve_batch *batch, const double *curve, uint64_t rounds, ee_error *error)
{
    size_t needed = (batch->count + 1) * rounds;
    ee_status status = memory_grow(NULL, &batch->rows, &batch->rows_capacity, needed, sizeof *curve, error);
    if (!status) memcpy(batch->rows + batch->count * rounds, curve, rounds * sizeof *curve);
    return status;
}

static ee_status put_line(curve_batch *batch, const stored_run *run, ee_error *error)
{
    size_t length = results_format(run, NULL, 0), needed = batch->lines_length + length + 1;
    ee_status status = memory_grow(NULL, &batch->lines, &batch->lines_capacity, needed, 1, error);
    if (status) return status;
    results_format(run, batch->lines + batch->lines_length, length + 1);
    batch->lines_length += length;
    return EE_OK;
}

ee_status result_folder_put(result_folder *self, const stored_run *run, const double *curve, ee_error *error)
{
    enum { MOST = 1 << 20 }; /* numbers in the rows of a batch: 8 MiB */
    char name[256];
    curve_file *file;
    curve_batch *batch = &self->batch;
    name_curve(run, name, sizeof name);
    ee_status status = find_curve(self, name, run->rounds, &file, error);
    if (status) return status;
    size_t place = (size_t)(file - self->curves);
    if (batch->file != place || (batch->count + 1) * run->rounds > MOST) status = result_folder_flush(self, error);
    batch->file = place;
    stored_run placed = *run;
    placed.curve = file->name;
    placed.curve_row = file->rows + batch->count;
    if (!status) status = put_row(batch, curve, run->rounds, error);
    if (!status) status = put_line(batch, &placed, error);
    if (!status) batch->count++;
    return status;
}

ee_status result_folder_add(result_folder *self, const stored_run *run, const double *curve, ee_error *error)
{
    ee_status status = result_folder_put(self, run, curve, error);
    return status ? status : result_folder_flush(self, error);
}
