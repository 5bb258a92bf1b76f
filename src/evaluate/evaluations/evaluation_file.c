#include "evaluation_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/files/line_file.h"

const char evaluations_name[] = "evaluations.jsonl";

static void release_row(stored_evaluation *row)
{
    memory_free(row->log);
    memory_free(row->asked);
    memory_free(row->mode);
    memory_free(row->model);
    memory_free(row->interval);
    for (size_t i = 0; i < row->estimator_count; i++) memory_free(row->estimators[i]);
    evaluation_release(&row->result, 1);
    memory_free(row->version);
}

void evaluations_release(stored_evaluations *list)
{
    for (size_t i = 0; i < list->count; i++) release_row(&list->rows[i]);
    memory_free(list->rows);
    *list = (stored_evaluations){0};
}

static ee_status take_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    stored_evaluations *into = context;
    ee_status status = memory_grow(NULL, &into->rows, &into->capacity, into->count + 1, sizeof *into->rows, error);
    return status ? status : evaluations_parse(line, length, number, &into->rows[into->count++], error);
}

ee_status evaluations_read(const char *folder, stored_evaluations *out, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_join(folder, evaluations_name, &path, error);
    if (!status && file_is_missing(path))
        status = status_fail(error, EE_NO_FILE, "%s has no evaluations: no file %s", folder, evaluations_name);
    memory_free(path);
    return status ? status : line_file_each(folder, evaluations_name, take_line, out, error);
}

size_t evaluations_lead(const stored_evaluation *row)
{
    evaluation_request asked = {.estimator_count = row->estimator_count};
    for (size_t i = 0; i < row->estimator_count; i++) estimator_request_parse(row->estimators[i], &asked.estimators[i]);
    size_t place = evaluation_headline_estimator(&asked);
    return place < row->estimator_count ? place : 0;
}
