#define _POSIX_C_SOURCE 200809L
#include "evaluation_job_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "evaluation_job_file.h"
#include "serve/store/text_seal.h"

static const char about_end[] = ".json", results_end[] = ".results.json", log_end_name[] = ".eelog.zst";

/* ---- files ---- */

/* "FOLDER/ID.json", to be freed with memory_free. */
static ee_status path_of(const char *folder, const char *id, const char *end, char **path, ee_error *error)
{
    char name[JOB_ID_SIZE + 256];
    snprintf(name, sizeof name, "%s%s", id, end);
    return file_join(folder, name, path, error);
}

static ee_status write_file(const char *folder, const char *id, const char *end, text *from, ee_error *error)
{
    char *path = NULL;
    text_seal(from);
    ee_status status = from->status ? from->status : path_of(folder, id, end, &path, error);
    if (!status) status = file_write(path, from->bytes, from->length, error);
    memory_free(path);
    memory_free(from->bytes);
    return status;
}

ee_status job_folder_write_about(const char *folder, const job_about *about, ee_error *error)
{
    text words = text_start(error);
    job_about_write(about, &words);
    return write_file(folder, about->id, about_end, &words, error);
}

ee_status job_folder_write_results(const char *folder, const evaluation_job *job, ee_error *error)
{
    text words = text_start(error);
    job_results_write(job, &words);
    return write_file(folder, job->about.id, results_end, &words, error);
}

static ee_status read_file(const char *folder, const char *id, const char *end, uint8_t **bytes, size_t *size,
                           ee_error *error)
{
    char *path;
    *bytes = NULL;
    ee_status status = path_of(folder, id, end, &path, error);
    if (status) return status;
    status = file_read(path, bytes, size, error);
    if (!status && !text_unseal(*bytes, size))
        status = status_fail(error, EE_BAD_INPUT, "evaluation: the file is damaged: its checksum does not match");
    memory_free(path);
    return status;
}

ee_status job_folder_read_about(const char *folder, const char *id, job_about *out, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = read_file(folder, id, about_end, &bytes, &size, error);
    if (!status) status = job_about_read(out, bytes, size, error);
    memory_free(bytes);
    return status;
}

static void remove_file(const char *folder, const char *id, const char *end)
{
    char *path;
    if (path_of(folder, id, end, &path, NULL)) return;
    unlink(path);
    memory_free(path);
}

/* What says that there is a job goes first: what a crash leaves is swept away. */
ee_status job_folder_remove(const char *folder, const char *id, ee_error *error)
{
    remove_file(folder, id, about_end);
    ee_status status = file_sync_folder(folder, error);
    remove_file(folder, id, results_end);
    remove_file(folder, id, log_end_name);
    return status;
}

ee_status job_folder_log(const char *folder, const char *id, char **path, ee_error *error)
{
    return path_of(folder, id, log_end_name, path, error);
}

ee_status job_folder_read_results(const char *folder, evaluation_job *into, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = read_file(folder, into->about.id, results_end, &bytes, &size, error);
    if (!status) status = job_results_read(into, bytes, size, error);
    memory_free(bytes);
    return status;
}

/* ---- all of them ---- */

/* Whether a name begins with an id. */
static bool take_id(const char *name, char id[JOB_ID_SIZE])
{
    if (strspn(name, "0123456789abcdef") < JOB_ID_SIZE - 1) return false;
    memcpy(id, name, JOB_ID_SIZE - 1);
    id[JOB_ID_SIZE - 1] = '\0';
    return true;
}

/* Whether results are those of a job. */
static bool has_about(const char *folder, const char *id)
{
    char *path;
    if (path_of(folder, id, about_end, &path, NULL)) return true;
    bool missing = file_is_missing(path);
    memory_free(path);
    return !missing;
}

/* One file of the folder: what a crash left is removed. */
static ee_status take_file(const char *folder, const char *name, visit_job *visit, void *context, ee_error *error)
{
    char id[JOB_ID_SIZE];
    if (!take_id(name, id)) return EE_OK;
    const char *end = name + JOB_ID_SIZE - 1;
    if (strcmp(end, about_end) == 0) return visit(context, id, error);
    if (strcmp(end, results_end) != 0 || !has_about(folder, id)) remove_file(folder, id, end);
    return EE_OK;
}

ee_status job_folder_each(const char *folder, visit_job *visit, void *context, ee_error *error)
{
    DIR *entries = opendir(folder);
    ee_status status = EE_OK;
    if (!entries) return status_fail(error, EE_FILE_ERROR, "could not read %s: %s", file_tail(folder), strerror(errno));
    for (const struct dirent *entry; !status && (entry = readdir(entries));)
        status = take_file(folder, entry->d_name, visit, context, error);
    closedir(entries);
    return status;
}
