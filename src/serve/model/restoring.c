#include "restoring.h"

typedef struct loading {
    store_reader *log;
    uint32_t bandit;
    bandit_settings settings;
    follower *loaded;
    uint64_t version;
} loading;

/* The settings in force at an event, or the given ones if they were removed from the log. */
static ee_status find_settings_at(loading *self, uint64_t number, const bandit_settings *given, ee_error *error)
{
    self->settings = *given;
    return store_settings_at(self->log, self->bandit, number, &self->settings, error);
}

static ee_status find_settings(loading *self, uint64_t checkpoint, const bandit_settings *given, ee_error *error)
{
    const event *from;
    checkpoint_body body;
    ee_status status = store_read_one(self->log, self->bandit, checkpoint, &from, error);
    if (!status) status = checkpoint_body_read(from->body, from->size, &body, error);
    return status ? status : find_settings_at(self, body.upto, given, error);
}

static ee_status load_checkpoint(loading *self, uint64_t checkpoint, ee_error *error)
{
    const event *from;
    checkpoint_body body = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    ee_status status = store_read_one(self->log, self->bandit, checkpoint, &from, error);
    if (!status) status = checkpoint_body_read(from->body, from->size, &body, error);
    if (!status)
        status = blob_get(store_reader_blobs(self->log), blob_model(self->bandit, body.version), &bytes, &size, error);
    if (!status) status = follower_load(&body, &self->settings, bytes, size, &self->loaded, error);
    if (!status) self->version = body.version;
    memory_free(bytes);
    return status;
}

/* Discards the model if the log does not continue from it: it would lack the events in between. */
static ee_status check_next(loading *self, ee_error *error)
{
    const event *next;
    ee_status status = store_read_one(self->log, self->bandit, follower_upto(self->loaded) + 1, &next, error);
    if (!status) return EE_OK;
    follower_free(self->loaded);
    self->loaded = NULL;
    self->version = 0;
    return status;
}

/* The model is replaced there, so earlier events have no influence. The version is the one of the last step before. */
static ee_status begin_at_model(loading *self, uint64_t upto, const bandit_settings *given, ee_error *error)
{
    uint64_t model = 0, number = 0;
    step_body step;
    ee_status status = store_last(self->log, self->bandit, EVENT_MODEL, upto, &model, error);
    if (!status && !model)
        return status_fail(error, EE_BAD_MODEL,
                           "model: no checkpoint can be read, and the start of the log has been removed; reset the "
                           "model (DELETE .../model)");
    do {
        self->version = number;
        if (!status) status = restore_next_step(self->log, self->bandit, number, &number, &step, error);
    } while (!status && number && step.upto < model);
    if (!status) status = find_settings_at(self, model, given, error);
    return status ? status : follower_create_at(&self->settings, model, &self->loaded, error);
}

/* Events are removed from the first on. */
static ee_status begin(loading *self, uint64_t upto, const bandit_settings *given, ee_error *error)
{
    bandit_settings first;
    ee_status status = store_read_settings(self->log, self->bandit, 1, &first, error);
    if (status == EE_BAD_INPUT) return begin_at_model(self, upto, given, error);
    return status ? status : follower_create(&first, &self->loaded, error);
}

ee_status restore_at(store_reader *log, uint32_t bandit, const bandit_settings *settings, uint64_t upto, follower **out,
                     uint64_t *version, ee_error *error)
{
    loading self = {.log = log, .bandit = bandit};
    uint64_t checkpoint = upto;
    ee_status status = EE_OK;
    *out = NULL;
    while (checkpoint && !self.loaded) {
        status = store_last(log, bandit, EVENT_CHECKPOINT, checkpoint, &checkpoint, error);
        if (status) return status;
        if (!checkpoint) break;
        status = find_settings(&self, checkpoint, settings, error);
        if (!status) status = load_checkpoint(&self, checkpoint, error);
        if (!status) status = check_next(&self, error);
        if (status == EE_NO_MEMORY) return status; /* of any other, an older one may do */
        checkpoint--;
    }
    if (!self.loaded) status = begin(&self, upto, settings, error);
    if (status) return status;
    *out = self.loaded;
    *version = self.version;
    return EE_OK;
}

ee_status restore_next_step(store_reader *log, uint32_t bandit, uint64_t after, uint64_t *number, step_body *step,
                            ee_error *error)
{
    event_batch found = {0};
    *step = (step_body){0};
    *number = 0;
    ee_status status = store_read(log, bandit, after, 1U << EVENT_STEP, 1, &found, error);
    if (!status && found.count) {
        *number = found.events[0].number;
        status = step_body_read(found.events[0].body, found.events[0].size, step, error);
    }
    event_batch_free(&found);
    return status;
}

/* Takes the steps of a batch. */
static ee_status take_steps(follower *self, store_reader *log, uint32_t bandit, const event_batch *steps,
                            bool (*cancel)(void *context), void *context, uint64_t *version, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < steps->count && !status; i++) {
        step_body step;
        status = step_body_read(steps->events[i].body, steps->events[i].size, &step, error);
        if (!status) status = follower_step(self, log, bandit, &step, cancel, context, error);
        if (!status) *version = steps->events[i].number;
    }
    return status;
}

ee_status restore_steps(follower *self, store_reader *log, uint32_t bandit, bool (*cancel)(void *context),
                        void *context, uint64_t *version, ee_error *error)
{
    enum { TOGETHER = 256 };
    event_batch steps = {0};
    ee_status status;
    do {
        status = store_read(log, bandit, *version, 1U << EVENT_STEP, TOGETHER, &steps, error);
        if (!status) status = take_steps(self, log, bandit, &steps, cancel, context, version, error);
    } while (!status && steps.count);
    event_batch_free(&steps);
    return status;
}
