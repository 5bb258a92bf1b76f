#include "stored_models.h"

#include <stdlib.h>

#include "serve/store/erased_event.h"

void stored_models_free(stored_models *self)
{
    memory_release(&self->memory);
    *self = (stored_models){0};
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static int by_version(const void *left, const void *right)
{
    return by_number(&((const checkpoint_body *)left)->version, &((const checkpoint_body *)right)->version);
}

/* The states lie in the event's bytes: they are copied. */
static ee_status add_models(stored_models *self, const erased_body *body, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->models, &self->model_capacity,
                                   self->model_count + body->model_count, sizeof *self->models, error);
    for (size_t i = 0; i < body->model_count && !status; i++) {
        checkpoint_body model = body->models[i];
        uint8_t *state;
        status = memory_create(&self->memory, &state, model.state_size + 1, 1, error);
        if (status) return status;
        memcpy(state, model.state, model.state_size);
        model.state = state;
        self->models[self->model_count++] = model;
    }
    return status;
}

/* A decision may be learned from its record when it is settled. Rewards are not learned from. */
static ee_status add_settlements(stored_models *self, store_reader *log, uint32_t bandit, const erased_body *body,
                                 ee_error *error)
{
    const event *other;
    for (size_t i = 0; i < body->other_count; i++) {
        ee_status status = store_read_one(log, bandit, body->others[i], &other, error);
        if (status == EE_BAD_INPUT) continue; /* retention has removed it */
        if (status) return status;
        if (other->kind == EVENT_SETTLED) self->erased[self->erased_count++] = other->number;
    }
    return EE_OK;
}

static ee_status add_event(stored_models *self, store_reader *log, uint32_t bandit, const event *from, ee_error *error)
{
    memory room = {0};
    erased_body body;
    ee_status status = erased_body_read(from->body, from->size, &room, &body, error);
    if (!status)
        status = memory_grow(&self->memory, &self->erased, &self->erased_capacity,
                             self->erased_count + body.decision_count + body.other_count, sizeof *self->erased, error);
    if (!status && body.decision_count)
        memcpy(self->erased + self->erased_count, body.decisions, body.decision_count * sizeof *self->erased);
    if (!status) self->erased_count += body.decision_count;
    if (!status) status = add_settlements(self, log, bandit, &body, error);
    if (!status) self->events += body.decision_count + body.other_count;
    if (!status) status = add_models(self, &body, error);
    memory_release(&room);
    return status;
}

ee_status stored_models_read(stored_models *self, store_reader *log, uint32_t bandit, ee_error *error)
{
    event_batch batch = {0};
    ee_status status = EE_OK;
    for (uint64_t after = 0, before = 1; !status && before != after;) {
        before = after;
        status = store_read(log, bandit, after, 1U << EVENT_ERASED, 16, &batch, error);
        for (size_t i = 0; i < batch.count && !status; i++)
            status = add_event(self, log, bandit, &batch.events[i], error);
        after = batch.last;
    }
    event_batch_free(&batch);
    if (status) return status;
    if (self->erased_count) qsort(self->erased, self->erased_count, sizeof *self->erased, by_number);
    if (self->model_count) qsort(self->models, self->model_count, sizeof *self->models, by_version);
    return EE_OK;
}

bool stored_models_erased(const stored_models *self, uint64_t first, uint64_t last)
{
    size_t low = 0, high = self->erased_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->erased[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->erased_count && self->erased[low] <= last;
}

/* ---- loading ---- */

/* *out stays NULL if the model cannot be read. */
static ee_status load(store_reader *log, uint32_t bandit, const bandit_settings *given, const checkpoint_body *model,
                      follower **out, ee_error *error)
{
    bandit_settings settings = *given;
    uint8_t *bytes = NULL;
    size_t size = 0;
    ee_error why = {0};
    ee_status status = store_settings_at(log, bandit, model->upto, &settings, error);
    if (status) return status;
    status = blob_get(store_reader_blobs(log), blob_model(bandit, model->version), &bytes, &size, &why);
    if (!status) status = follower_load(model, &settings, bytes, size, out, &why);
    memory_free(bytes);
    if (status == EE_NO_MEMORY && error) *error = why;
    return status == EE_NO_MEMORY ? status : EE_OK;
}

typedef struct search {
    store_reader *log;
    uint32_t bandit;
    const bandit_settings *settings;
    uint64_t least, most; /* versions */
    bool forward;
    follower *found;
    uint64_t version;
} search;

static bool is_better(const search *self, uint64_t version)
{
    if (version < self->least || version > self->most) return false;
    return !self->found || (self->forward ? version < self->version : version > self->version);
}

static ee_status try_model(search *self, const checkpoint_body *model, ee_error *error)
{
    follower *loaded = NULL;
    if (!is_better(self, model->version)) return EE_OK;
    ee_status status = load(self->log, self->bandit, self->settings, model, &loaded, error);
    if (status || !loaded) return status;
    follower_free(self->found);
    self->found = loaded;
    self->version = model->version;
    return EE_OK;
}

static ee_status try_checkpoints(search *self, ee_error *error)
{
    event_batch batch = {0};
    checkpoint_body body;
    ee_status status = EE_OK;
    for (uint64_t after = 0, before = 1; !status && before != after;) {
        before = after;
        status = store_read(self->log, self->bandit, after, 1U << EVENT_CHECKPOINT, 16, &batch, error);
        for (size_t i = 0; i < batch.count && !status; i++) {
            status = checkpoint_body_read(batch.events[i].body, batch.events[i].size, &body, error);
            if (!status) status = try_model(self, &body, error);
        }
        after = batch.last;
    }
    event_batch_free(&batch);
    return status;
}

static ee_status find(const stored_models *self, search *by, follower **out, uint64_t *found, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->model_count && !status; i++) status = try_model(by, &self->models[i], error);
    if (!status) status = try_checkpoints(by, error);
    if (status) {
        follower_free(by->found);
        by->found = NULL;
    }
    *out = by->found;
    *found = by->version;
    return status;
}

ee_status stored_models_next(const stored_models *self, store_reader *log, uint32_t bandit,
                             const bandit_settings *settings, uint64_t version, follower **out, uint64_t *found,
                             ee_error *error)
{
    search by = {log, bandit, settings, version, UINT64_MAX, true, NULL, 0};
    return find(self, &by, out, found, error);
}

ee_status stored_models_last(const stored_models *self, store_reader *log, uint32_t bandit,
                             const bandit_settings *settings, uint64_t version, follower **out, uint64_t *found,
                             ee_error *error)
{
    search by = {log, bandit, settings, 0, version, false, NULL, 0};
    return find(self, &by, out, found, error);
}

ee_status stored_models_keep(store_reader *log, uint32_t bandit, uint64_t version, bool *keep, ee_error *error)
{
    stored_models all = {0};
    ee_status status = stored_models_read(&all, log, bandit, error);
    *keep = false;
    for (size_t i = 0; i < all.model_count && !*keep; i++) *keep = all.models[i].version == version;
    stored_models_free(&all);
    return status;
}
