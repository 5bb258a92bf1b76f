#include "results.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "curves.h"
#include "data/values/text.h"

void results_release(stored_runs *list)
{
    for (size_t i = 0; i < list->count; i++) results_release_run(&list->runs[i]);
    memory_free(list->runs);
    *list = (stored_runs){0};
}

/* A curve is named by what follows the last slash: a line does not lead out of the folder. */
static ee_status check_curve(const stored_run *run, size_t number, ee_error *error)
{
    if (run->curve && run->curve[0] && run->curve[0] != '.' && !strchr(run->curve, '/')) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "line %zu: expected a file name in 'curve'", number);
}

static ee_status take_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    stored_runs *into = context;
    ee_status status = memory_grow(NULL, &into->runs, &into->capacity, into->count + 1, sizeof *into->runs, error);
    if (status) return status;
    stored_run *run = &into->runs[into->count++];
    status = results_parse(line, length, number, run, error);
    return status ? status : check_curve(run, number, error);
}

ee_status results_read(const char *folder, stored_runs *out, ee_error *error)
{
    return line_file_each(folder, "results.jsonl", take_line, out, error);
}

ee_status results_read_any(const char *folder, stored_runs *out, ee_error *error)
{
    return line_file_each_if_any(folder, "results.jsonl", take_line, out, error);
}

static ee_status curve_path(const char *folder, const stored_run *run, char **path, ee_error *error)
{
    char *curves = NULL;
    ee_status status = file_join(folder, "curves", &curves, error);
    if (!status) status = file_join(curves, run->curve, path, error);
    memory_free(curves);
    return status;
}

ee_status results_has_curve(const char *folder, const stored_run *run, bool *there, ee_error *error)
{
    char *path = NULL;
    ee_status status = curve_path(folder, run, &path, error);
    if (!status) status = curves_has(path, run->curve_row, run->rounds, run->result.regret, there, error);
    memory_free(path);
    return status;
}

ee_status results_curve(const char *folder, const stored_run *run, double *out, ee_error *error)
{
    bool there = false;
    char *path = NULL;
    ee_status status = results_has_curve(folder, run, &there, error);
    if (!status) status = curve_path(folder, run, &path, error);
    if (!status && !there)
        status = status_fail(error, EE_BAD_INPUT, "%s is missing or damaged; repeat the command that made it",
                             file_tail(path));
    if (!status) status = curves_read(path, run->curve_row, run->rounds, out, error);
    memory_free(path);
    return status;
}

/* ---- lines that go ---- */

typedef struct line_filter {
    const bool *dropped; /* by the number of the line */
    text kept;
} line_filter;

static ee_status filter_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    line_filter *self = context;
    self->kept.error = error;
    if (!self->dropped[number - 1]) text_bytes(&self->kept, line, length + 1);
    return self->kept.status;
}

ee_status results_drop(const char *folder, line_file *file, const bool *dropped, ee_error *error)
{
    line_filter filter = {dropped, text_start(error)};
    ee_status status = line_file_each(folder, "results.jsonl", filter_line, &filter, error);
    if (!status) status = line_file_replace(file, filter.kept.bytes, filter.kept.length, error);
    memory_free(filter.kept.bytes);
    return status;
}
