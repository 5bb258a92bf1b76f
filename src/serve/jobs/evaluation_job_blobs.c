#include "evaluation_job_blobs.h"

#include "evaluation_job_file.h"

static ee_status put(blobs *into, const job_about *about, blob_kind kind, text *from, ee_error *error)
{
    ee_status status = from->status;
    if (!status) status = blob_put(into, blob_named(about->bandit, kind, about->id), from->bytes, from->length, error);
    memory_free(from->bytes);
    return status;
}

ee_status job_write_about(blobs *into, const job_about *about, ee_error *error)
{
    text written = text_start(error);
    job_about_write(about, &written);
    return put(into, about, BLOB_EVALUATION, &written, error);
}

ee_status job_write_results(blobs *into, const evaluation_job *job, ee_error *error)
{
    text written = text_start(error);
    job_results_write(job, &written);
    return put(into, &job->about, BLOB_EVALUATION_RESULTS, &written, error);
}

ee_status job_read_about(const blobs *from, uint32_t bandit, const char *id, job_about *out, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = blob_get(from, blob_named(bandit, BLOB_EVALUATION, id), &bytes, &size, error);
    if (!status) status = job_about_read(out, bytes, size, error);
    memory_free(bytes);
    return status;
}

ee_status job_read_results(const blobs *from, evaluation_job *into, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    blob_name name = blob_named(into->about.bandit, BLOB_EVALUATION_RESULTS, into->about.id);
    ee_status status = blob_get(from, name, &bytes, &size, error);
    if (!status) status = job_results_read(into, bytes, size, error);
    memory_free(bytes);
    return status;
}

/* What says that there is a job goes first: job_list removes what a crash leaves. */
ee_status job_remove(blobs *from, uint32_t bandit, const char *id, ee_error *error)
{
    ee_status status = blob_remove(from, blob_named(bandit, BLOB_EVALUATION, id), error);
    if (!status) status = blob_remove(from, blob_named(bandit, BLOB_EVALUATION_RESULTS, id), error);
    return status;
}

ee_status job_list(blobs *from, uint32_t bandit, blob_key **ids, size_t *count, ee_error *error)
{
    blob_key *results;
    size_t result_count;
    *ids = NULL;
    *count = 0;
    ee_status status = blob_list(from, bandit, BLOB_EVALUATION_RESULTS, &results, &result_count, error);
    for (size_t i = 0; i < result_count; i++)
        if (!blob_exists(from, blob_named(bandit, BLOB_EVALUATION, results[i])))
            blob_remove(from, blob_named(bandit, BLOB_EVALUATION_RESULTS, results[i]), NULL);
    memory_free(results);
    return status ? status : blob_list(from, bandit, BLOB_EVALUATION, ids, count, error);
}

/* ---- jobs of older versions ---- */

/* Results go first: what a crash leaves is moved again. */
static ee_status move(blobs *from, const job_about *about, blob_kind kind, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = blob_get(from, blob_named(0, kind, about->id), &bytes, &size, error);
    if (status == EE_NO_FILE) return EE_OK;
    if (!status) status = blob_put(from, blob_named(about->bandit, kind, about->id), bytes, size, error);
    memory_free(bytes);
    return status;
}

ee_status job_move_old(blobs *from, ee_error *error)
{
    blob_key *ids;
    size_t count;
    job_about *about = NULL;
    ee_status status = job_list(from, 0, &ids, &count, error);
    if (!status) status = memory_create(NULL, &about, 1, sizeof *about, error);
    for (size_t i = 0; i < count && !status; i++) {
        bool good = !job_read_about(from, 0, ids[i], about, NULL) && strcmp(about->id, ids[i]) == 0 && about->bandit;
        if (!good) continue; /* it stays where it is */
        status = move(from, about, BLOB_EVALUATION_RESULTS, error);
        if (!status) status = move(from, about, BLOB_EVALUATION, error);
        if (!status) status = job_remove(from, 0, ids[i], error);
    }
    memory_free(about);
    memory_free(ids);
    return status;
}
