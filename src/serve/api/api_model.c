/* Models: download, upload, reset, and the stored versions. They run in the worker's thread, because they wait for the
 * disk or for training. */
#include <inttypes.h>
#include <stdio.h>

#include "audit.h"
#include "call.h"
#include "data/values/log_time.h"
#include "handlers.h"
#include "serve/live/succession.h"

/* ---- download ---- */

/* At a time: each has the model's bytes in memory until the client has taken them, and that may take long. */
enum { MOST_DOWNLOADS = 8 };

static ee_status begin_download(call *self)
{
    self->is_download = true;
    if (atomic_fetch_add(&self->owner->model_downloads, 1) < MOST_DOWNLOADS) return EE_OK;
    return status_fail(&self->error, EE_FILE_ERROR, "%d models are being downloaded, the maximum; try again",
                       MOST_DOWNLOADS);
}

static void answer_bytes(call *self, const void *bytes, size_t size, uint64_t version)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, version);
    http_add_header(self->exchange, "X-Model-Version", number);
    self->exchange->content_type = "application/octet-stream";
    text_bytes(&self->exchange->answer, bytes, size);
    http_answer(self->exchange, 200);
}

static ee_status answer_kept(call *self, uint64_t version)
{
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = blob_get(store_blobs(self->owner->store),
                                blob_model(served_bandit_number(self->bandit), version), &bytes, &size, &self->error);
    if (status == EE_NO_FILE)
        return call_refuse(self, 404, "version %" PRIu64 " is not stored; GET .../model/versions lists those that are",
                           version);
    if (!status) answer_bytes(self, bytes, size, version);
    memory_free(bytes);
    return status;
}

ee_status api_get_model(call *self)
{
    uint64_t version = UINT64_MAX;
    void *bytes = NULL;
    size_t size;
    static const char *const known[] = {"version"};
    bool strict = self->dialect == &dialect_v1; /* Personalizer's clients may send other parameters */
    ee_status status = strict ? call_check_query(self, known, 1) : EE_OK;
    if (!status) status = call_query_number(self, "version", 0, &version);
    if (!status) status = begin_download(self);
    if (status) return status;
    if (version != UINT64_MAX) return answer_kept(self, version);
    /* Its model is not in memory; those that are stored can be had. */
    if (served_bandit_is_archived(self->bandit)) return call_refuse_archived(self);
    status = served_bandit_save(self->bandit, &bytes, &size, &version, &self->error);
    if (!status) answer_bytes(self, bytes, size, version);
    ee_bytes_free(bytes);
    return status;
}

/* ---- upload and reset ---- */

/* Replaces the bandit's model with the one of these bytes, or a new one. The tests of its challengers restart. */
static ee_status replace_model(call *self, json_text bytes, uint64_t *number, ee_error *error)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    succession change = {self->owner->store, self->owner->journal, self->owner->bandits, self->bandit};
    return succession_write(&change, &settings, bytes.bytes, bytes.length, NULL, number, error);
}

/* Of named features: whether the model has as many places for them as the bandit's models. */
static ee_status check_places(const bandit_settings *settings, const ee_bandit *model, ee_error *error)
{
    ee_bandit *fresh = NULL;
    ee_status status = bandit_settings_create(settings, &fresh, error);
    if (status) return status;
    ee_info given = ee_bandit_info(model), expected = ee_bandit_info(fresh);
    if (given.dim != expected.dim)
        status = status_fail(error, EE_BAD_MODEL,
                             "the model has room for %zu features (%.200s), but the bandit has %zu (%.200s)", given.dim,
                             given.features, expected.dim, expected.features);
    ee_bandit_free(fresh);
    return status;
}

/* Whether the bytes are a model that this bandit could have learned. */
static ee_status check_model(call *self, json_text bytes, ee_error *error)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    char family[sizeof settings.policy];
    snprintf(family, sizeof family, "%s", settings.policy);
    family[strcspn(family, ":")] = '\0'; /* any preset of the policy will do */
    ee_settings expected = {.policy = family, .dim = settings.dim};
    ee_bandit *model = NULL;
    ee_status status = ee_bandit_load_bytes(bytes.bytes, bytes.length, &expected, &model, error);
    if (!status && !ee_bandit_info(model).features != (settings.dim > 0))
        status = status_fail(error, EE_BAD_MODEL, "the model takes %s, but the bandit takes %s",
                             settings.dim ? "named features" : "vectors", settings.dim ? "vectors" : "named features");
    if (!status && !settings.dim) status = check_places(&settings, model, error);
    ee_bandit_free(model);
    return status;
}

static ee_status answer_written(call *self, uint64_t number, const char *done)
{
    char after[64], what[32];
    snprintf(after, sizeof after, "{\"event\":%" PRIu64 "}", number);
    snprintf(what, sizeof what, "model %s", done);
    audit_write(self->owner, self, served_bandit_name(self->bandit), what, NULL, after);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': model %s", served_bandit_name(self->bandit),
                     done);
    self->dialect->answer_event(&self->exchange->answer, number);
    return call_answer(self, self->dialect->noted);
}

ee_status api_put_model(call *self)
{
    uint64_t number = 0;
    ee_status status = check_model(self, self->exchange->body, &self->error);
    if (!status) status = replace_model(self, self->exchange->body, &number, &self->error);
    return status ? status : answer_written(self, number, "replaced");
}

ee_status api_reset_model(call *self)
{
    uint64_t number = 0;
    ee_status status = replace_model(self, (json_text){0}, &number, &self->error);
    return status ? status : answer_written(self, number, "reset");
}

/* ---- versions ---- */

/* The newest ones: the trainers keep this many files, and remove older ones. */
typedef struct version_list {
    struct kept_version {
        checkpoint_body body;
        int64_t time;
    } * kept; /* (most) by the number modulo most */
    size_t most, count;
} version_list;

static ee_status add_version(version_list *list, const event *saved, ee_error *error)
{
    struct kept_version made = {.time = saved->time};
    ee_status status = checkpoint_body_read(saved->body, saved->size, &made.body, error);
    if (status) return status;
    /* One that was saved again, as after its file was damaged, is the same. */
    bool again = list->count && list->kept[(list->count - 1) % list->most].body.version == made.body.version;
    list->kept[(list->count - again) % list->most] = made;
    list->count += !again;
    return EE_OK;
}

static ee_status read_versions(call *self, version_list *list, ee_error *error)
{
    store_reader *reader = NULL;
    event_batch batch = {0};
    ee_status status = memory_create(&self->exchange->memory, &list->kept, list->most, sizeof *list->kept, error);
    if (!status) status = store_reader_create(self->owner->store, &reader, error);
    do {
        if (!status)
            status = store_read(reader, served_bandit_number(self->bandit), batch.last, 1u << EVENT_CHECKPOINT,
                                SIZE_MAX, &batch, error);
        for (size_t i = 0; !status && i < batch.count; i++) status = add_version(list, &batch.events[i], error);
    } while (!status && batch.count);
    store_reader_free(reader);
    event_batch_free(&batch);
    return status;
}

static void print_versions(text *answer, const version_list *list, uint64_t current)
{
    size_t first = list->count > list->most ? list->count - list->most : 0;
    text_add(answer, "{\"current\":%" PRIu64 ",\"versions\":[", current);
    for (size_t i = first; i < list->count; i++) {
        const struct kept_version *entry = &list->kept[i % list->most];
        char time[LOG_TIME_SIZE];
        log_time_format((double)entry->time / 1e6, time);
        text_add(answer, "%s{\"version\":%" PRIu64 ",\"time\":\"%s\",\"size\":%" PRIu64, i > first ? "," : "",
                 entry->body.version, time, entry->body.size);
        text_add(answer, ",\"checksum\":\"%016" PRIx64 "\",\"current\":%s}", entry->body.checksum,
                 entry->body.version == current ? "true" : "false");
    }
    text_add(answer, "]}");
}

ee_status api_model_versions(call *self)
{
    served_standing standing = served_bandit_standing(self->bandit);
    version_list list = {.most = (size_t)service_config_now(self->owner)->settings.checkpoints};
    ee_status status = read_versions(self, &list, &self->error);
    if (status) return status;
    print_versions(&self->exchange->answer, &list, standing.version);
    return call_answer(self, 200);
}
