#include "failed_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/files/line_file.h"
#include "data/values/text.h"

static const char file_name[] = "failed";

const failed_run *failed_runs_find(const failed_runs *self, uint64_t key)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->runs[i].key == key) return &self->runs[i];
    return NULL;
}

static ee_status add(failed_runs *into, uint64_t key, const char *sentence, size_t length, ee_error *error)
{
    if (failed_runs_find(into, key)) return EE_OK;
    ee_status status = memory_grow(NULL, &into->runs, &into->capacity, into->count + 1, sizeof *into->runs, error);
    if (status) return status;
    failed_run *run = &into->runs[into->count++];
    run->key = key;
    snprintf(run->sentence, sizeof run->sentence, "%.*s", (int)length, sentence);
    return EE_OK;
}

static ee_status take_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    enum { KEY = 16 };
    char *end;
    uint64_t key = strtoull(line, &end, 16);
    if (length <= KEY || end != line + KEY || *end != ' ')
        return status_fail(error, EE_BAD_INPUT, "line %zu: expected the key of a run and an error message", number);
    return add(context, key, end + 1, length - KEY - 1, error);
}

ee_status failed_runs_read(const char *folder, failed_runs *into, ee_error *error)
{
    return line_file_each_if_any(folder, file_name, take_line, into, error);
}

void failed_runs_release(failed_runs *self)
{
    memory_free(self->runs);
    *self = (failed_runs){0};
}

ee_status failed_runs_write(const char *folder, const failed_runs *runs, ee_error *error)
{
    char *path = NULL;
    text lines = text_start(error);
    for (size_t i = 0; i < runs->count; i++)
        text_add(&lines, "%016" PRIx64 " %s\n", runs->runs[i].key, runs->runs[i].sentence);
    ee_status status = file_join(folder, file_name, &path, error);
    if (!status) status = text_save(&lines, path);
    memory_free(path);
    return status;
}

ee_status failed_runs_keep(const char *folder, uint64_t key, const char *sentence, ee_error *error)
{
    failed_runs runs = {0};
    ee_status status = failed_runs_read(folder, &runs, error);
    size_t before = runs.count;
    if (!status) status = add(&runs, key, sentence, strlen(sentence), error);
    if (!status && runs.count > before) status = failed_runs_write(folder, &runs, error);
    failed_runs_release(&runs);
    return status;
}
