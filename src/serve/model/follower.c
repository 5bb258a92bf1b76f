#include "follower.h"

#include <inttypes.h>

#include "decision_arms.h"
#include "engine/bandit.h"

struct follower {
    memory memory;            /* all blocks of the follower, itself the first */
    bandit_settings settings; /* the mode is the one in force after the last event */
    ee_bandit *bandit, *replaced;
    uint64_t upto;
    follower_counts counts;

    uint64_t *numbers; /* (limit) of the decision with engine id i: its event's, at i % limit; 0: no event's */
    size_t limit, number_capacity;

    /* Decisions count from these on: events after the last MODEL event and after the last change to `online`, and
     * versions that have the MODEL event in them. */
    uint64_t model_event, online_from, first_version;

    ee_round *round;
    decision_arms arms;
    event_room bodies;
    uint8_t *state;

    /* The step under way. */
    store_reader *log;
    uint32_t number; /* of the bandit */
    const step_body *step;

    /* Read together, because a round trip takes as long as training for many events, and kept from step to step. */
    event_batch batch; /* what follows, and perhaps what came before it */
    event_batch made;  /* decisions of before the batch, for its rewards, in their order */
    uint64_t *sought;  /* (looked) decisions that are in `made`, or were removed */
    size_t looked, sought_capacity;
    size_t next_made;  /* which is probably needed next */
    uint64_t rewrites; /* store_rewrites when they were read */
};

/* ---- making ---- */

static void put_bandit(follower *self, ee_bandit *bandit)
{
    if (self->bandit && !self->replaced)
        self->replaced = self->bandit; /* it may be published */
    else
        ee_bandit_free(self->bandit);
    self->bandit = bandit;
}

/* Where the numbers of the bandit's decisions are kept: none so far. */
static ee_status reserve_numbers(follower *self, const ee_bandit *bandit, ee_error *error)
{
    size_t limit = bandit->pending.limit;
    ee_status status =
        memory_grow(&self->memory, &self->numbers, &self->number_capacity, limit, sizeof *self->numbers, error);
    if (status) return status;
    self->limit = limit;
    memset(self->numbers, 0, limit * sizeof *self->numbers);
    return EE_OK;
}

/* Makes the bandit the follower's, which then owns it, also on failure. */
static ee_status start(follower *self, ee_bandit *bandit, ee_error *error)
{
    put_bandit(self, bandit);
    return reserve_numbers(self, bandit, error);
}

static ee_status create(const bandit_settings *settings, follower **out, ee_error *error)
{
    follower *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->settings = *settings;
    self->bodies.owner = &self->memory;
    status = ee_round_create(NULL, &self->round, error);
    if (status)
        follower_free(self);
    else
        *out = self;
    return status;
}

static ee_status create_after(const bandit_settings *settings, uint64_t upto, follower **out, ee_error *error)
{
    follower *self;
    ee_bandit *bandit;
    *out = NULL;
    ee_status status = create(settings, &self, error);
    if (status) return status;
    status = bandit_settings_create(settings, &bandit, error);
    if (!status) status = start(self, bandit, error);
    self->upto = upto;
    if (status)
        follower_free(self);
    else
        *out = self;
    return status;
}

ee_status follower_create(const bandit_settings *settings, follower **out, ee_error *error)
{
    return create_after(settings, 1, out, error);
}

ee_status follower_create_at(const bandit_settings *settings, uint64_t number, follower **out, ee_error *error)
{
    return create_after(settings, number - 1, out, error);
}

void follower_free(follower *self)
{
    if (!self) return;
    ee_bandit_free(self->bandit);
    ee_bandit_free(self->replaced);
    ee_round_free(self->round);
    memory_release(&self->arms.memory);
    memory_free(self->state);
    event_batch_free(&self->batch);
    event_batch_free(&self->made);
    memory_release(&self->memory);
}

ee_bandit *follower_bandit(follower *self)
{
    return self->bandit;
}

uint64_t follower_upto(const follower *self)
{
    return self->upto;
}

bool follower_next_time(const follower *self, int64_t *time)
{
    for (size_t i = 0; i < self->batch.count; i++) {
        *time = self->batch.events[i].time;
        if (self->batch.events[i].number > self->upto && self->batch.events[i].kind != EVENT_STEP) return true;
    }
    return false;
}

size_t follower_memory(const follower *self)
{
    size_t bytes = memory_bytes(&self->memory) + ee_bandit_memory(self->bandit);
    return bytes + (self->replaced ? ee_bandit_memory(self->replaced) : 0);
}

follower_counts follower_read_counts(const follower *self)
{
    return self->counts;
}

/* ---- decisions that wait ---- */

/* Engine ids first to decisions are kept, and their numbers ascend. */
static uint64_t first_kept(const follower *self)
{
    uint64_t made = self->bandit->decisions;
    return made < self->limit ? 1 : made - self->limit + 1;
}

/* The engine's id of a decision, or 0. */
static uint64_t find_waiting(const follower *self, uint64_t number)
{
    uint64_t low = first_kept(self), high = self->bandit->decisions + 1, made = high;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (self->numbers[middle % self->limit] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < made && self->numbers[low % self->limit] == number ? low : 0;
}

/* Whether the library refused the event itself: then every follower skips it. */
static bool is_refused(ee_status status)
{
    return status && status != EE_NO_MEMORY && status != EE_FILE_ERROR;
}

static ee_status skip(follower *self)
{
    self->counts.skipped++;
    return EE_OK;
}

/* Counts a reward by its status. */
static ee_status count_reward(follower *self, ee_status status)
{
    if (status == EE_DIVERGED)
        self->counts.diverged++;
    else if (is_refused(status))
        self->counts.skipped++;
    else if (!status)
        self->counts.learned++;
    return is_refused(status) ? EE_OK : status;
}

/* Whether rewards are learned. */
static bool is_online(const bandit_settings *settings)
{
    return settings->mode == MODE_ONLINE && !settings->held;
}

/* ---- DECISION ---- */

/* Whether this model made the decision, so that it can learn it. */
static bool is_of_model(const follower *self, const decision_body *body)
{
    return body->record_size && body->version >= self->first_version;
}

static ee_status learn_names(follower *self, const decision_body *body, ee_error *error)
{
    ee_arms unused; /* a round is filled */
    if (!self->bandit->features) return EE_OK;
    ee_status status = decision_arms_make(&self->arms, body, self->round, &unused, error);
    return status ? status : ee_bandit_arms(self->bandit, self->round, NULL, error);
}

/* A decision whose rewards belong to another action than its record cannot wait for them. With a stride none waits:
 * counting them as tried costs a network half as much as training. */
static ee_status take_waiting(follower *self, const event *from, const decision_body *body, ee_error *error)
{
    ee_decision decision;
    if (!decision_is_drawn(body)) return skip(self);
    if (self->step->stride > 1) return EE_OK;
    ee_status status = ee_bandit_take_record(self->bandit, body->record, body->record_size, &decision, error);
    if (!status) self->numbers[decision.id % self->limit] = from->number;
    return is_refused(status) ? skip(self) : status;
}

static ee_status take_decision(follower *self, const event *from, ee_error *error)
{
    decision_body body;
    self->counts.decisions++;
    if (self->settings.mode == MODE_LOGGING || self->settings.held) return EE_OK;
    ee_status status = decision_body_read(from->body, from->size, &self->bodies, &body, error);
    if (!status && !is_of_model(self, &body)) return skip(self);
    if (!status && !body.dim) status = learn_names(self, &body, error);
    if (status) return is_refused(status) ? skip(self) : status;
    if (self->settings.mode == MODE_ONLINE) return take_waiting(self, from, &body, error);
    if (body.deferred) return EE_OK; /* see imitate */
    double reward = body.choice == body.baseline;
    return count_reward(self, ee_bandit_learn_record(self->bandit, body.record, body.record_size, reward, error));
}

/* ---- SETTLED ---- */

/* Whether a reward is learned from its decision's record: the decision no longer waits, or was not learned yet. */
static bool needs_decision(const follower *self, const event *settled)
{
    if (settled->decision <= self->model_event || self->settings.held || settled->outcome == SETTLED_INACTIVE)
        return false;
    if (self->settings.mode == MODE_APPRENTICE) return true;
    return is_online(&self->settings) && settled->outcome != SETTLED_NOTHING &&
           settled->decision >= self->online_from && !find_waiting(self, settled->decision);
}

static const event *find_in_batch(const follower *self, uint64_t number)
{
    size_t low = 0, high = self->batch.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->batch.events[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->batch.count && self->batch.events[low].number == number ? &self->batch.events[low] : NULL;
}

static const event *find_made(follower *self, uint64_t number)
{
    for (size_t i = 0; i < self->made.count; i++) {
        const event *found = &self->made.events[self->next_made++ % self->made.count];
        if (found->number == number) return found;
    }
    return NULL;
}

/* Reads a decision, and all that later rewards of the batch need. */
static ee_status read_decisions(follower *self, uint64_t first, ee_error *error)
{
    size_t count = 0;
    self->looked = self->next_made = 0;
    ee_status status = memory_grow(&self->memory, &self->sought, &self->sought_capacity, self->batch.count + 1,
                                   sizeof *self->sought, error);
    if (status) return status;
    self->sought[count++] = first;
    for (size_t i = 0; i < self->batch.count; i++) {
        const event *later = &self->batch.events[i];
        if (later->kind != EVENT_SETTLED || later->number <= self->upto || later->decision == first) continue;
        if (needs_decision(self, later) && !find_in_batch(self, later->decision))
            self->sought[count++] = later->decision;
    }
    return store_read_these(self->log, self->number, self->sought, count, &self->made, &self->looked, error);
}

/* NULL: it was removed. */
static ee_status find_decision(follower *self, uint64_t number, const event **out, ee_error *error)
{
    *out = find_in_batch(self, number);
    if (!*out) *out = find_made(self, number);
    for (size_t i = 0; i < self->looked && !*out; i++)
        if (self->sought[i] == number) return EE_OK;
    if (*out) return EE_OK;
    ee_status status = read_decisions(self, number, error);
    if (!status) *out = find_made(self, number);
    return status;
}

static ee_status learn_by_record(follower *self, uint64_t decision, double reward, ee_error *error)
{
    const event *made;
    decision_body body;
    if (decision <= self->model_event || decision < self->online_from) return EE_BAD_RECORD;
    ee_status status = find_decision(self, decision, &made, error);
    if (!status && !made) return EE_BAD_RECORD;
    if (!status) status = decision_body_read(made->body, made->size, &self->bodies, &body, error);
    if (status) return status;
    if (!is_of_model(self, &body) || !decision_is_drawn(&body)) return EE_BAD_RECORD;
    status = ee_bandit_learn_record(self->bandit, body.record, body.record_size, reward, error);
    if (!status) self->counts.by_record++;
    return status;
}

static ee_status forget(follower *self, uint64_t id)
{
    return ee_bandit_forget(self->bandit, id, NULL) ? skip(self) : EE_OK;
}

/* In apprentice mode a decision is learned when it is made; a deferred one when it is known that it was shown. */
static ee_status imitate_stored(follower *self, const event *made, ee_error *error)
{
    decision_body body;
    ee_status status = decision_body_read(made->body, made->size, &self->bodies, &body, error);
    if (status || !body.deferred) return status;
    double reward = body.choice == body.baseline;
    status = is_of_model(self, &body)
                 ? ee_bandit_learn_record(self->bandit, body.record, body.record_size, reward, error)
                 : EE_BAD_RECORD;
    return count_reward(self, status);
}

static ee_status imitate(follower *self, const event *from, ee_error *error)
{
    const event *made;
    if (from->decision <= self->model_event) return EE_OK;
    ee_status status = find_decision(self, from->decision, &made, error);
    if (status || !made) return status;
    status = imitate_stored(self, made, error);
    return is_refused(status) ? skip(self) : status;
}

static ee_status take_settled(follower *self, const event *from, ee_error *error)
{
    uint64_t id = find_waiting(self, from->decision);
    bool was_shown = from->outcome != SETTLED_INACTIVE;
    bool imitates = was_shown && self->settings.mode == MODE_APPRENTICE && !self->settings.held;
    bool learns = is_online(&self->settings) && was_shown && from->outcome != SETTLED_NOTHING;
    if (!learns && id) return forget(self, id);
    if (!learns) return imitates ? imitate(self, from, error) : EE_OK;
    double reward = bandit_settings_reward(&self->settings, from->value);
    ee_status status =
        id ? ee_bandit_learn(self->bandit, id, reward, error) : learn_by_record(self, from->decision, reward, error);
    if (status == EE_DIVERGED && id) forget(self, id);
    if (!status && from->outcome == SETTLED_DEFAULT) self->counts.defaulted++;
    return count_reward(self, status);
}

/* ---- MODEL, SETTINGS, STEP ---- */

static ee_status load_upload(follower *self, const event *from, ee_bandit **out, ee_error *error)
{
    checkpoint_body body;
    uint8_t *bytes = NULL;
    size_t size = 0;
    ee_status status = checkpoint_body_read(from->body, from->size, &body, error);
    if (!status)
        status = blob_get(store_reader_blobs(self->log), blob_model(self->number, body.version), &bytes, &size, error);
    if (!status && (size != body.size || checkpoint_checksum(bytes, size) != body.checksum))
        status = status_fail(error, EE_FILE_ERROR, "model: the uploaded model of event %" PRIu64 " is damaged",
                             from->number);
    ee_settings expected = {.dim = self->bandit->dim};
    if (!status) status = ee_bandit_load_bytes(bytes, size, &expected, out, error);
    memory_free(bytes);
    return status;
}

/* The lost file of an upload does not matter if another model follows, such as a reset. */
static bool is_replaced_later(follower *self, const event *from)
{
    uint64_t last;
    return !store_last(self->log, self->number, EVENT_MODEL, UINT64_MAX, &last, NULL) && last > from->number;
}

static ee_status take_model(follower *self, const event *from, ee_error *error)
{
    ee_bandit *bandit = NULL;
    ee_status status =
        from->size ? load_upload(self, from, &bandit, error) : bandit_settings_create(&self->settings, &bandit, error);
    if (!status && !bandit->features != !self->bandit->features) {
        ee_bandit_free(bandit);
        status = EE_BAD_MODEL;
    }
    bool passes = status == EE_BAD_MODEL || (status == EE_NO_FILE && is_replaced_later(self, from));
    if (status) return passes ? skip(self) : status;
    self->model_event = from->number;
    self->first_version = UINT64_MAX; /* a STEP event will tell */
    self->counts = (follower_counts){0};
    bandit_set_stride(bandit, self->step->stride);
    return start(self, bandit, error);
}

static ee_status take_settings(follower *self, const event *from, ee_error *error)
{
    bandit_settings settings = bandit_settings_usual();
    ee_status status = bandit_settings_read(&settings, from->body, from->size, SETTINGS_STORED, error);
    if (status) return status;
    if (is_online(&settings) && !is_online(&self->settings)) self->online_from = from->number;
    self->settings = settings; /* a reset model has the policy in force */
    return EE_OK;
}

static ee_status take_step(follower *self, const event *from, ee_error *error)
{
    step_body step;
    ee_status status = step_body_read(from->body, from->size, &step, error);
    if (!status && self->first_version == UINT64_MAX && step.upto >= self->model_event)
        self->first_version = from->number;
    return status;
}

/* ---- steps ---- */

static ee_status take(follower *self, const event *from, ee_error *error)
{
    switch (from->kind) {
    case EVENT_DECISION:
        return take_decision(self, from, error);
    case EVENT_SETTLED:
        return take_settled(self, from, error);
    case EVENT_MODEL:
        return take_model(self, from, error);
    case EVENT_SETTINGS:
        return take_settings(self, from, error);
    default:
        return take_step(self, from, error);
    }
}

typedef struct step_end {
    bool (*is_over)(void *context); /* NULL: only at upto */
    void *context;
    bool reached; /* is_over returned true */
} step_end;

/* Whether the log still has the events of the batch unchanged. */
static bool is_current(const follower *self)
{
    return self->rewrites == store_rewrites();
}

/* Takes the events of the batch after self->upto, up to step->upto. Returns with self->upto at the last one that was
 * taken, if it was over, or if the batch is out of date. */
static ee_status take_batch(follower *self, step_end *end, bool *taken, ee_error *error)
{
    for (size_t i = 0; i < self->batch.count && self->batch.events[i].number <= self->step->upto; i++) {
        if (self->batch.events[i].number <= self->upto) continue;
        if (!is_current(self)) return EE_OK;
        if (end->is_over && *taken && end->is_over(end->context)) {
            end->reached = true;
            return EE_OK;
        }
        ee_status status = take(self, &self->batch.events[i], error);
        if (status) return status;
        self->upto = self->batch.events[i].number;
        *taken = true;
    }
    self->upto = self->batch.last < self->step->upto ? self->batch.last : self->step->upto;
    return EE_OK;
}

/* Reads what follows self->upto, unless the batch has it. */
static ee_status read_events(follower *self, ee_error *error)
{
    enum { TOGETHER = 1024 };
    const unsigned kinds =
        1U << EVENT_DECISION | 1U << EVENT_SETTLED | 1U << EVENT_STEP | 1U << EVENT_SETTINGS | 1U << EVENT_MODEL;
    if (self->batch.last > self->upto && is_current(self)) return EE_OK;
    self->rewrites = store_rewrites();
    self->looked = 0;
    event_batch_clear(&self->made);
    ee_status status = store_read(self->log, self->number, self->upto, kinds, TOGETHER, &self->batch, error);
    if (!status && self->batch.last == self->upto)
        return status_fail(error, EE_BAD_INPUT, "model: the log ends with event %" PRIu64 ", before %" PRIu64,
                           self->upto, self->step->upto);
    if (status) event_batch_clear(&self->batch);
    return status;
}

/* Takes events up to step->upto, or until it is over. */
static ee_status take_events(follower *self, step_end *end, ee_error *error)
{
    bool taken = false;
    while (self->upto < self->step->upto) {
        ee_status status = read_events(self, error);
        if (!status) status = take_batch(self, end, &taken, error);
        if (status || end->reached) return status;
    }
    return EE_OK;
}

static void begin_step(follower *self, store_reader *log, uint32_t bandit, const step_body *step)
{
    ee_bandit_free(self->replaced);
    self->replaced = NULL;
    self->log = log;
    self->number = bandit;
    self->step = step;
    bandit_set_stride(self->bandit, step->stride);
}

static ee_status end_step(follower *self, ee_error *error)
{
    if (self->batch.last <= self->upto) { /* all of it was taken */
        event_batch_free(&self->batch);
        event_batch_free(&self->made);
        self->looked = 0;
    }
    return bandit_await_pending(self->bandit, error);
}

ee_status follower_step(follower *self, store_reader *log, uint32_t bandit, const step_body *step,
                        bool (*cancel)(void *context), void *context, ee_error *error)
{
    step_end end = {cancel, context, false};
    begin_step(self, log, bandit, step);
    ee_status status = take_events(self, &end, error);
    if (!status && end.reached) status = status_fail(error, EE_BAD_INPUT, "model: stopped in the middle of a step");
    return status ? status : end_step(self, error);
}

ee_status follower_advance(follower *self, store_reader *log, uint32_t bandit, step_body *step,
                           bool (*is_over)(void *context), void *context, ee_error *error)
{
    step_end end = {is_over, context, false};
    uint64_t before = self->upto;
    begin_step(self, log, bandit, step);
    ee_status status = take_events(self, &end, error);
    if (status == EE_FILE_ERROR && self->upto > before) status = EE_OK; /* an event is read before it is learned */
    step->upto = self->upto;
    return status ? status : end_step(self, error);
}

/* ---- checkpoints ---- */

/* Visits all but the model. */
static void archive_state(follower *self, uint64_t format, archive *a)
{
    enum { FORMAT_WITHOUT_POLICY = 1 };
    enum { MODES = MODE_LOGGING + 1 };
    size_t mode = self->settings.mode + MODES * self->settings.held; /* one number, as before bandits could be held */
    archive_u64(a, &format);
    if (!a->status && format != FOLLOWER_FORMAT && format != FORMAT_WITHOUT_POLICY)
        archive_fail(a, EE_BAD_MODEL, "model: the checkpoint has an unknown format");
    if (format != FORMAT_WITHOUT_POLICY) {
        archive_text(a, self->settings.policy, sizeof self->settings.policy, "policy");
        archive_text(a, self->settings.options, sizeof self->settings.options, "options");
        archive_text(a, self->settings.propensity, sizeof self->settings.propensity, "propensity");
    }
    archive_size(a, &mode, MODE_ONLINE, MODES * (HELD_FALLBACK + 1) - 1, "mode");
    self->settings.mode = (learning_mode)(mode % MODES);
    self->settings.held = (held_state)(mode / MODES);
    archive_u64(a, &self->model_event);
    archive_u64(a, &self->online_from);
    archive_u64(a, &self->first_version);
    uint64_t *counts[] = {&self->counts.decisions, &self->counts.learned,  &self->counts.defaulted,
                          &self->counts.by_record, &self->counts.diverged, &self->counts.skipped};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) archive_u64(a, counts[i]);
    for (uint64_t id = first_kept(self); id <= self->bandit->decisions && !a->status; id++)
        archive_u64(a, &self->numbers[id % self->limit]);
}

ee_status follower_state(follower *self, uint64_t format, const void **bytes, size_t *size, ee_error *error)
{
    archive a = archive_writer(error);
    archive_state(self, format, &a);
    memory_free(self->state);
    self->state = a.bytes;
    *bytes = a.bytes;
    *size = a.size;
    return a.status;
}

/* Whether the bytes are those of the checkpoint. Its checksum is also the last eight bytes of the model, which loading
 * compares with all others: computing it here would take as long again. */
static bool is_of_checkpoint(const checkpoint_body *checkpoint, const uint8_t *bytes, size_t size)
{
    uint64_t stored = 0;
    if (size != checkpoint->size || size < sizeof stored) return false;
    archive a = archive_reader(bytes + size - sizeof stored, sizeof stored, NULL);
    archive_u64(&a, &stored);
    return stored == checkpoint->checksum;
}

ee_status follower_load(const checkpoint_body *checkpoint, const bandit_settings *settings, const void *bytes,
                        size_t size, follower **out, ee_error *error)
{
    follower *self;
    ee_bandit *bandit;
    *out = NULL;
    if (!is_of_checkpoint(checkpoint, bytes, size))
        return status_fail(error, EE_BAD_MODEL, "model: the file of version %" PRIu64 " is not the one saved",
                           checkpoint->version);
    ee_status status = create(settings, &self, error);
    if (status) return status;
    status = ee_bandit_load_bytes(bytes, size, NULL, &bandit, error);
    if (!status) status = start(self, bandit, error);
    if (!status) {
        archive a = archive_reader(checkpoint->state, checkpoint->state_size, error);
        archive_state(self, 0, &a);
        if (!a.status && archive_remaining(&a))
            archive_fail(&a, EE_BAD_MODEL, "model: the checkpoint has unexpected bytes at its end");
        status = a.status;
    }
    self->upto = checkpoint->upto;
    if (status)
        follower_free(self);
    else
        *out = self;
    return status;
}
