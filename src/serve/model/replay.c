#include "replay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/archive.h"
#include "decision_arms.h"
#include "restoring.h"
#include "stored_models.h"

/* A decision that is to be made again, by the version of the model that made it. */
typedef struct due_decision {
    uint64_t version, number;
} due_decision;

typedef struct replaying {
    memory memory;
    const replay_request *request;
    replay_result *result;
    store_reader *log;

    /* The bandit. */
    uint32_t number;
    char name[BANDIT_NAME_SIZE];
    bandit_settings settings;
    uint64_t first, last; /* events of the span */
    due_decision *due;    /* (due_count) ascending */
    size_t due_count, due_capacity, done;

    stored_models stored; /* because of erased decisions */

    /* The model. */
    follower *model;
    uint64_t version;
    ee_bandit *shown; /* whose snapshot it is */
    ee_snapshot *snapshot;
    ee_scratch *scratch;
    ee_round *round;
    decision_arms arms;
    event_batch batch;
    event_room bodies;
    double *probabilities, *of_arms;
    size_t probability_capacity, of_arms_capacity;
} replaying;

/* ---- what is wrong ---- */

__attribute__((format(printf, 3, 4))) static void differ(replaying *self, uint64_t *count, const char *format, ...)
{
    char what[400];
    va_list values;
    if ((*count)++ || self->result->first[0]) return;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    snprintf(self->result->first, sizeof self->result->first, "bandit %s: %s", self->name, what);
}

/* ---- decisions ---- */

static ee_status collect(replaying *self, const event *from, ee_error *error)
{
    decision_body body;
    if (event_is_erased(from)) {
        self->result->erased++;
        return EE_OK;
    }
    ee_status status = decision_body_read(from->body, from->size, &self->bodies, &body, error);
    if (status == EE_NO_MEMORY) return status;
    if (status) {
        differ(self, &self->result->other_decisions, "event %" PRIu64 ": %s", from->number,
               error ? error->message : "damaged");
        return EE_OK;
    }
    status = memory_grow(&self->memory, &self->due, &self->due_capacity, self->due_count + 1, sizeof *self->due, error);
    if (!status) self->due[self->due_count++] = (due_decision){body.version, from->number};
    return status;
}

static int compare_due(const void *left, const void *right)
{
    const due_decision *a = left, *b = right;
    if (a->version != b->version) return a->version < b->version ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static ee_status collect_decisions(replaying *self, ee_error *error)
{
    enum { TOGETHER = 1024 };
    event_batch *batch = &self->batch;
    self->due_count = self->done = 0;
    for (uint64_t after = self->first - 1; after < self->last; after = batch->last) {
        ee_status status = store_read(self->log, self->number, after, 1U << EVENT_DECISION, TOGETHER, batch, error);
        for (size_t i = 0; !status && i < batch->count && batch->events[i].number <= self->last; i++)
            status = collect(self, &batch->events[i], error);
        if (status) return status;
        if (batch->last == after) break;
    }
    if (self->due_count) qsort(self->due, self->due_count, sizeof *self->due, compare_due);
    return EE_OK;
}

/* Whether the answer and its probabilities are what the mode gives. */
static bool is_answer(replaying *self, const decision_body *stored, learning_mode mode, size_t choice)
{
    decision_body again = *stored;
    decision_answer(&again, mode, choice, self->of_arms, self->probabilities);
    return again.choice == stored->choice && again.baseline == stored->baseline && again.action == stored->action &&
           memcmp(self->probabilities, stored->probabilities, stored->count * sizeof *self->probabilities) == 0;
}

static ee_status decide_again(replaying *self, const decision_body *stored, ee_decision *decision, ee_error *error)
{
    ee_arms arms;
    ee_status status = memory_grow(&self->memory, &self->probabilities, &self->probability_capacity, stored->count,
                                   sizeof *self->probabilities, error);
    if (!status)
        status = memory_grow(&self->memory, &self->of_arms, &self->of_arms_capacity, stored->count,
                             sizeof *self->of_arms, error);
    if (!status) status = decision_arms_make(&self->arms, stored, self->round, &arms, error);
    if (status) return status;
    ee_scratch_seed(self->scratch, stored->seed);
    if (stored->dim)
        return ee_snapshot_decide(self->snapshot, self->scratch, &arms, decision, NULL, self->of_arms, error);
    return ee_snapshot_decide_round(self->snapshot, self->scratch, self->round, decision, NULL, self->of_arms, error);
}

static ee_status compare_decision(replaying *self, const event *from, ee_error *error)
{
    uint64_t *others = &self->result->other_decisions;
    decision_body stored;
    ee_decision decision;
    const void *record;
    size_t size;
    ee_status status = decision_body_read(from->body, from->size, &self->bodies, &stored, error);
    if (!status) status = decide_again(self, &stored, &decision, error);
    if (!status) status = ee_scratch_record(self->scratch, 0, &record, &size, error);
    if (status == EE_NO_MEMORY) return status;
    self->result->decisions++;
    if (status)
        differ(self, others, "decision %" PRIu64 " could not be replayed: %s", from->number,
               error ? error->message : "");
    else if (stored.seed != event_seed(self->settings.seed, from->id))
        differ(self, others, "decision %" PRIu64 " was drawn with an unexpected seed", from->number);
    else if (!is_answer(self, &stored, MODE_ONLINE, decision.arm) &&
             !is_answer(self, &stored, MODE_LOGGING, decision.arm))
        differ(self, others,
               "decision %" PRIu64 ": the log has action %zu of %zu with probability %.17g, but version %" PRIu64
               " of the model decides differently",
               from->number, stored.action, stored.count, stored.probabilities[stored.action], stored.version);
    else if (size != stored.record_size || memcmp(record, stored.record, size) != 0)
        differ(self, others,
               "decision %" PRIu64 ": its record differs from the record of version %" PRIu64 " of the model",
               from->number, stored.version);
    return EE_OK;
}

static void drop_snapshot(replaying *self)
{
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    self->scratch = NULL;
    self->snapshot = NULL;
    self->shown = NULL;
}

/* The snapshot of the model as it is now. */
static ee_status publish(replaying *self, ee_error *error)
{
    ee_bandit *bandit = follower_bandit(self->model);
    if (self->shown) return ee_snapshot_update(self->snapshot, bandit, error);
    self->shown = bandit;
    ee_status status = ee_snapshot_create(bandit, &self->snapshot, error);
    return status ? status : ee_scratch_create(self->snapshot, 0, &self->scratch, error);
}

static ee_status compare_decisions(replaying *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (; self->done < self->due_count && self->due[self->done].version < self->version; self->done++)
        differ(self, &self->result->other_decisions,
               "decision %" PRIu64 " was made by version %" PRIu64 ", which is not in the log",
               self->due[self->done].number, self->due[self->done].version);
    if (self->done == self->due_count || self->due[self->done].version != self->version) return EE_OK;
    status = publish(self, error);
    for (; !status && self->done < self->due_count && self->due[self->done].version == self->version; self->done++) {
        const event *made;
        status = store_read_one(self->log, self->number, self->due[self->done].number, &made, error);
        if (!status) status = compare_decision(self, made, error);
    }
    return status;
}

/* ---- checkpoints ---- */

static ee_status compare_model(replaying *self, const checkpoint_body *stored, const uint8_t *bytes, size_t size,
                               ee_error *error)
{
    const void *state;
    size_t state_size;
    uint8_t *saved = NULL;
    size_t saved_size = 0;
    uint64_t *others = &self->result->other_models;
    uint64_t format = 0;
    archive head = archive_reader(stored->state, stored->state_size, NULL);
    archive_u64(&head, &format);
    ee_status status = follower_state(self->model, format == 1 ? 1 : FOLLOWER_FORMAT, &state, &state_size, error);
    if (status) return status;
    self->result->checkpoints++;
    status =
        blob_get(store_reader_blobs(self->log), blob_model(self->number, stored->version), &saved, &saved_size, error);
    if (status == EE_NO_MEMORY) return status;
    if (size != stored->size || checkpoint_checksum(bytes, size) != stored->checksum)
        differ(self, others, "version %" PRIu64 ": the replayed model differs from its checkpoint", stored->version);
    else if (state_size != stored->state_size || memcmp(state, stored->state, state_size) != 0)
        differ(self, others, "version %" PRIu64 ": the replayed state differs from its checkpoint", stored->version);
    else if (!status && (saved_size != size || memcmp(saved, bytes, size) != 0))
        differ(self, others, "version %" PRIu64 ": the model file differs from the replayed model", stored->version);
    else if (status && status != EE_NO_FILE)
        differ(self, others, "version %" PRIu64 ": the model file cannot be read: %s", stored->version,
               error ? error->message : "");
    memory_free(saved);
    return EE_OK;
}

static ee_status compare_checkpoint(replaying *self, const event *from, ee_error *error)
{
    checkpoint_body stored;
    void *bytes;
    size_t size;
    ee_status status = checkpoint_body_read(from->body, from->size, &stored, error);
    if (status || stored.version != self->version || from->number > self->last) return status;
    status = ee_bandit_save_bytes(follower_bandit(self->model), &bytes, &size, error);
    if (status) return status;
    status = compare_model(self, &stored, bytes, size, error);
    ee_bytes_free(bytes);
    return status;
}

/* A checkpoint of a version comes before the next step. */
static ee_status compare_checkpoints(replaying *self, ee_error *error)
{
    event_batch *batch = &self->batch;
    ee_status status = store_read(self->log, self->number, self->version, 1U << EVENT_CHECKPOINT, 1, batch, error);
    return status || !batch->count ? status : compare_checkpoint(self, batch->events, error);
}

/* ---- a bandit ---- */

/* The model before all decisions that are due or, if that cannot be computed any more, the first that can. */
static ee_status start(replaying *self, ee_error *error)
{
    uint64_t upto = self->due_count ? self->due[0].version : self->first - 1;
    if (self->request->from_beginning) upto = 0;
    ee_status status = restore_at(self->log, self->number, &self->settings, upto, &self->model, &self->version, error);
    while (status == EE_BAD_MODEL) {
        status = store_read(self->log, self->number, upto, 1U << EVENT_CHECKPOINT, 1, &self->batch, error);
        if (status) return status;
        if (!self->batch.count)
            return status_fail(error, EE_BAD_MODEL, "bandit %s: none of its checkpoints can be read", self->name);
        upto = self->batch.events[0].number;
        status = restore_at(self->log, self->number, &self->settings, upto, &self->model, &self->version, error);
    }
    for (; !status && self->done < self->due_count && self->due[self->done].version < self->version; self->done++)
        self->result->skipped++;
    return status;
}

static ee_status report_progress(const replaying *self, ee_error *error)
{
    uint64_t begin = self->first, upto = follower_upto(self->model);
    double share = upto <= begin ? 0 : (double)(upto - begin) / (double)(self->last - begin + 1);
    if (!self->request->progress || self->request->progress(self->request->context, self->name, share)) return EE_OK;
    return status_fail(error, EE_FILE_ERROR, "replay: interrupted");
}

/* The next stored model instead of one that learned from an erased decision. *there false: none follows. */
static ee_status pass_erased(replaying *self, uint64_t version, bool *there, ee_error *error)
{
    follower *next;
    uint64_t found;
    ee_status status =
        stored_models_next(&self->stored, self->log, self->number, &self->settings, version, &next, &found, error);
    if (status) return status;
    *there = next;
    uint64_t upto = next ? found : UINT64_MAX;
    for (; self->done < self->due_count && self->due[self->done].version < upto; self->done++) self->result->unproven++;
    if (!next) return EE_OK;
    drop_snapshot(self);
    follower_free(self->model);
    self->model = next;
    self->version = found;
    return EE_OK;
}

/* Takes the model to its next version. *there false: there is none. */
static ee_status step_on(replaying *self, bool *there, ee_error *error)
{
    uint64_t number;
    step_body step;
    ee_status status = restore_next_step(self->log, self->number, self->version, &number, &step, error);
    *there = number && number <= self->last;
    if (status || !*there) return status;
    if (stored_models_erased(&self->stored, follower_upto(self->model) + 1, step.upto))
        return pass_erased(self, number, there, error);
    status = follower_step(self->model, self->log, self->number, &step, NULL, NULL, error);
    if (status) return status;
    if (follower_bandit(self->model) != self->shown) drop_snapshot(self);
    self->version = number;
    self->result->steps++;
    return EE_OK;
}

static ee_status follow(replaying *self, ee_error *error)
{
    ee_status status = compare_decisions(self, error);
    if (!status) status = compare_checkpoints(self, error);
    for (bool there = true; !status;) {
        status = step_on(self, &there, error);
        if (status || !there) break;
        status = compare_decisions(self, error);
        if (!status) status = compare_checkpoints(self, error);
        if (!status) status = report_progress(self, error);
    }
    self->version = UINT64_MAX; /* those that are left have a version that never was */
    return status ? status : compare_decisions(self, error);
}

static void end_bandit(replaying *self)
{
    drop_snapshot(self);
    follower_free(self->model);
    self->model = NULL;
    stored_models_free(&self->stored);
}

/* The times that the log covers, of all bandits together. */
static ee_status find_times(replaying *self, ee_error *error)
{
    uint64_t last = 0;
    const event *end;
    ee_status status = store_last(self->log, self->number, EVENT_DECISION, UINT64_MAX, &last, error);
    if (status || !last) return status;
    status = store_read(self->log, self->number, 0, 1U << EVENT_DECISION, 1, &self->batch, error);
    if (!status) status = store_read_one(self->log, self->number, last, &end, error);
    if (status || !self->batch.count) return status;
    replay_result *result = self->result;
    int64_t begin = self->batch.events[0].time;
    if (!result->log_first || begin < result->log_first) result->log_first = begin;
    if (end->time > result->log_last) result->log_last = end->time;
    return EE_OK;
}

static ee_status replay_bandit(replaying *self, ee_error *error)
{
    ee_status status = find_times(self, error);
    if (!status) status = store_find_time(self->log, self->number, self->request->from, &self->first, error);
    if (status) return status;
    uint64_t end;
    status = store_find_end(self->log, self->number, self->request->until, &end, error);
    if (end <= self->last) self->last = end - 1;
    if (status || self->last < self->first) return status;
    status = stored_models_read(&self->stored, self->log, self->number, error);
    if (!status) status = collect_decisions(self, error);
    if (!status) status = start(self, error);
    uint64_t begin = self->model ? follower_upto(self->model) : 0;
    if (!status) status = follow(self, error);
    if (!status && follower_upto(self->model) > begin) self->result->events += follower_upto(self->model) - begin;
    if (!status) self->result->bandits++;
    end_bandit(self);
    return status;
}

/* ---- all of them ---- */

static bool is_wanted(const replaying *self, const stored_bandit *bandit)
{
    return bandit->events && (!self->request->bandit || json_is(bandit->name, self->request->bandit));
}

static ee_status start_bandit(replaying *self, const stored_bandit *bandit, ee_error *error)
{
    self->number = bandit->number;
    snprintf(self->name, sizeof self->name, "%.*s", (int)bandit->name.length, bandit->name.bytes);
    self->settings = bandit_settings_usual();
    self->last = bandit->events;
    return bandit_settings_read(&self->settings, bandit->settings.bytes, bandit->settings.length, SETTINGS_STORED,
                                error);
}

static ee_status replay_all(replaying *self, const stored_bandits *list, ee_error *error)
{
    size_t wanted = 0;
    ee_status status = ee_round_create(NULL, &self->round, error);
    for (size_t i = 0; i < list->count && !status; i++) {
        if (!is_wanted(self, &list->bandits[i])) continue;
        wanted++;
        status = start_bandit(self, &list->bandits[i], error);
        if (!status) status = replay_bandit(self, error);
    }
    if (!status && self->request->bandit && !wanted)
        status =
            status_fail(error, EE_BAD_INPUT, "replay: there is no bandit '%s' in this folder", self->request->bandit);
    ee_round_free(self->round);
    return status;
}

ee_status replay_run(const replay_request *request, replay_result *out, ee_error *error)
{
    replaying self = {.request = request, .result = out};
    stored_bandits list = {0};
    *out = (replay_result){0};
    self.bodies.owner = &self.memory;
    ee_status status = store_open_reader(request->folder, &self.log, error);
    if (status) return status;
    status = store_list_bandits(self.log, &list, error);
    if (!status) status = replay_all(&self, &list, error);
    store_reader_free(self.log);
    stored_bandits_free(&list);
    event_batch_free(&self.batch);
    memory_release(&self.arms.memory);
    memory_release(&self.memory);
    return status;
}
