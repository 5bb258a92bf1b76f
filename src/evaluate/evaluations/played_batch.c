#include "played_batch.h"

#include <string.h>

#include "base/memory.h"
#include "features/round.h"

/* The room for count elements of size bytes, filled from `from` unless that is NULL. Without room it returns NULL, and
 * self->used still says how much is needed. */
static void *put(played_batch *self, const void *from, size_t count, size_t size)
{
    enum { ALIGNED = 8 };
    size_t start = (self->used + ALIGNED - 1) / ALIGNED * ALIGNED;
    self->used = start + count * size;
    if (self->used > self->capacity) return NULL;
    if (from && count) memcpy(self->bytes + start, from, count * size);
    return self->bytes + start;
}

static const json_text *put_names(played_batch *self, const json_text *names, size_t count)
{
    json_text *copies = put(self, names, count, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        char *bytes = put(self, names[i].bytes, names[i].length, 1);
        if (copies) copies[i].bytes = bytes;
    }
    return copies;
}

static ee_arms put_arms(played_batch *self, const ee_arms *arms)
{
    ee_arms copy = *arms;
    size_t values = arms->starts ? arms->starts[arms->count] : arms->count * arms->dim;
    if (arms->values) copy.values = put(self, arms->values, values, sizeof *arms->values);
    if (arms->starts) copy.starts = put(self, arms->starts, arms->count + 1, sizeof *arms->starts);
    if (arms->indices) copy.indices = put(self, arms->indices, values, sizeof *arms->indices);
    if (arms->ids) copy.ids = put(self, arms->ids, arms->count, sizeof *arms->ids);
    return copy;
}

/* What candidates, models and sums use of an event. */
static log_event *put_event(played_batch *self, const log_event *event, bool arms)
{
    log_event copy = *event;
    copy.id = copy.context = (json_text){0};
    copy.slots = NULL;
    copy.guard = (log_guard){0};
    copy.metrics = NULL;
    copy.slot_count = copy.metric_count = 0;
    copy.arms = arms ? put_arms(self, &event->arms) : (ee_arms){0};
    if (event->probabilities)
        copy.probabilities = put(self, event->probabilities, event->count, sizeof *event->probabilities);
    if (event->actions) copy.actions = put_names(self, event->actions, event->count);
    return put(self, &copy, 1, sizeof copy);
}

static void *put_features(played_batch *self, const ee_round *features)
{
    void *packed = put(self, NULL, round_packed_size(features), 1);
    if (packed) round_pack(features, packed);
    return packed;
}

static candidate_round put_round(played_batch *self, const candidate_round *round, bool arms)
{
    candidate_round copy = *round;
    size_t count = round->event->count;
    copy.event = put_event(self, round->event, arms);
    copy.features = NULL;
    if (round->numbers) copy.numbers = put(self, round->numbers, count, sizeof *round->numbers);
    return copy;
}

static void put_all(played_batch *self, const batch_event *event, bool arms)
{
    const played_event *played = &event->played;
    batch_event copy = *event;
    candidate_round *rounds = put(self, NULL, played->count, sizeof *rounds);
    const void **features = played->rounds[0].features ? put(self, NULL, played->count, sizeof *features) : NULL;
    for (size_t k = 0; k < played->count; k++) {
        candidate_round round = put_round(self, &played->rounds[k], arms);
        void *packed = played->rounds[k].features ? put_features(self, played->rounds[k].features) : NULL;
        if (rounds) rounds[k] = round;
        if (features) features[k] = packed;
    }
    copy.played.rounds = rounds;
    copy.features = features;
    if (played->q) copy.played.q = put(self, NULL, played->outcomes * played->actions, sizeof *played->q);
    if (played->metrics)
        copy.played.metrics = put(self, played->metrics, played->outcomes - 1, sizeof *played->metrics);
    self->events[self->count] = copy;
}

ee_status played_batch_add(played_batch *self, const batch_event *event, bool arms, bool *added, ee_error *error)
{
    size_t before = self->used;
    *added = self->count < PLAYED_BATCH_MOST;
    if (!*added) return EE_OK;
    if (!self->capacity) {
        ee_status status = memory_grow(NULL, &self->bytes, &self->capacity, PLAYED_BATCH_BYTES, 1, error);
        if (status) return status;
    }
    put_all(self, event, arms);
    if (self->used > self->capacity && !self->count) {
        ee_status status = memory_grow(NULL, &self->bytes, &self->capacity, self->used, 1, error);
        if (status) return status;
        self->used = before;
        put_all(self, event, arms);
    }
    *added = self->used <= self->capacity;
    if (*added)
        self->count++;
    else
        self->used = before;
    return EE_OK;
}

void played_batch_clear(played_batch *self)
{
    self->count = self->used = 0;
}

void played_batch_release(played_batch *self)
{
    memory_free(self->bytes);
    *self = (played_batch){0};
}
