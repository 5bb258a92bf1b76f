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

/* Whether a file in pending/ is of no use: a run whose line is there, or what file_write had not renamed yet. */
static bool is_stale(const stored_runs *stored, const char *name)
{
    uint64_t key;
    int length = 0;
    if (sscanf(name, "%16" SCNx64 ".run%n", &key, &length) != 1 || length == 0) return false;
    bool stale = name[length] != '\0';
    for (size_t i = 0; i < stored->count && !stale; i++) stale = run_keys_of_stored(&stored->runs[i]).run == key;
    return stale;
}

ee_status pending_runs_clean(const char *folder, const stored_runs *stored, ee_error *error)
{
    DIR *files = opendir(folder);
    if (!files) return fail(error, "open", folder);
    ee_status status = EE_OK;
    const struct dirent *file;
    while (!status && (file = readdir(files))) {
        char *path = NULL;
        if (!is_stale(stored, file->d_name)) continue;
        status = file_join(folder, file->d_name, &path, error);
        if (!status && unlink(path)) status = fail(error, "remove", path);
        memory_free(path);
    }
    closedir(files);
    return status;
}
