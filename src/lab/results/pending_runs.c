#define _POSIX_C_SOURCE 200809L
#include "pending_runs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "run_keys.h"

static ee_status fail(ee_error *error, const char *verb, const char *path)
{
    return status_fail(error, EE_FILE_ERROR, "file: could not %s %s: %s", verb, path, strerror(errno));
}

static ee_status find_path(const char *folder, uint64_t key, char **path, ee_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "%016" PRIx64 ".run", key);
    return file_join(folder, name, path, error);
}

ee_status pending_runs_write(const char *folder, const stored_run *run, const double *curve, ee_error *error)
{
    char *path = NULL, *bytes = NULL;
    stored_run placeless = *run;
    placeless.curve = NULL;
    size_t length = results_format(&placeless, NULL, 0), curve_size = run->rounds * sizeof *curve;
    ee_status status = find_path(folder, run_keys_of_stored(run).run, &path, error);
    if (!status) status = memory_create(NULL, &bytes, length + curve_size + 1, 1, error);
    if (!status) {
        results_format(&placeless, bytes, length + 1);
        memcpy(bytes + length, curve, curve_size);
        status = file_write(path, bytes, length + curve_size, error);
    }
    memory_free(bytes);
    memory_free(path);
    return status;
}

/* Whether a file holds the run of that key, whole: then it is read, and *curve is where its curve begins. */
static bool parse(const char *bytes, size_t size, uint64_t key, stored_run *run, const char **curve)
{
    const char *newline = memchr(bytes, '\n', size);
    if (!newline || results_parse(bytes, (size_t)(newline - bytes), 1, run, NULL)) return false;
    *curve = newline + 1;
    return run_keys_of_stored(run).run == key && (size_t)(bytes + size - *curve) == run->rounds * sizeof(double);
}

ee_status pending_runs_read(const char *folder, uint64_t key, pending_run *out, ee_error *error)
{
    uint8_t *bytes = NULL;
    size_t size;
    char *path = NULL;
    const char *curve;
    ee_status status = find_path(folder, key, &path, error);
    if (!status && file_read(path, &bytes, &size, NULL) == EE_OK &&
        parse((const char *)bytes, size, key, &out->run, &curve)) {
        status = memory_create(NULL, &out->curve, out->run.rounds, sizeof *out->curve, error);
        if (!status) memcpy(out->curve, curve, out->run.rounds * sizeof *out->curve);
    }
    memory_free(bytes);
    memory_free(path);
    return status;
}

void pending_runs_release(pending_run *run)
{
    results_release_run(&run->run);
    memory_free(run->curve);
    *run = (pending_run){0};
}

ee_status pending_runs_remove(const char *folder, uint64_t key, ee_error *error)
{
    char *path = NULL;
    ee_status status = find_path(folder, key, &path, error);
    if (!status && unlink(path)) status = fail(error, "remove", path);
    memory_free(path);
    return status;
}

/* Whether the name belongs to a run, or to a temporary file of file_write. */
static bool read_name(const char *name, uint64_t *key, bool *whole)
{
    int length = 0;
    if (sscanf(name, "%16" SCNx64 ".run%n", key, &length) != 1 || length == 0) return false;
    *whole = name[length] == '\0';
    return true;
}

static ee_status remove_file(const char *folder, const char *name, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_join(folder, name, &path, error);
    if (!status && unlink(path)) status = fail(error, "remove", path);
    memory_free(path);
    return status;
}

static ee_status list_run(const char *folder, uint64_t key, stored_runs *out, ee_error *error)
{
    pending_run found = {0};
    ee_status status = pending_runs_read(folder, key, &found, error);
    if (!status && found.curve)
        status = memory_grow(NULL, &out->runs, &out->capacity, out->count + 1, sizeof *out->runs, error);
    if (!status && found.curve) {
        out->runs[out->count++] = found.run;
        found.run = (stored_run){0};
    }
    pending_runs_release(&found);
    return status;
}

ee_status pending_runs_list(const char *folder, const run_index *kept, stored_runs *out, ee_error *error)
{
    DIR *files = opendir(folder);
    if (!files) return !kept && errno == ENOENT ? EE_OK : fail(error, "open", folder);
    ee_status status = EE_OK;
    const struct dirent *file;
    while (!status && (file = readdir(files))) {
        uint64_t key;
        bool whole;
        if (!read_name(file->d_name, &key, &whole)) continue;
        if (kept && (!whole || run_index_find(kept, key, NULL)))
            status = remove_file(folder, file->d_name, error);
        else if (whole)
            status = list_run(folder, key, out, error);
    }
    closedir(files);
    return status;
}
