#include "importance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/values/json_members.h"
#include "decision_arms.h"
#include "engine/explanation.h"
#include "features/features.h"

enum { USUAL_DECISIONS = 2000, MOST_FEATURES = 1 << 16 };

/* ---- the sums ---- */

typedef struct feature_sum {
    uint64_t hash;
    char *name;
    uint32_t space, key; /* bytes of the namespaces; where the key begins */
    uint64_t touched;    /* by decision number so and so */
    double here, sum;    /* of that decision, with signs; of all before it */
} feature_sum;

typedef struct measuring {
    served_bandit *bandit;
    const importance_request *request;
    store_reader *reader;
    event_batch batch;
    importance *out;
    event_room room;
    decision_arms arms;
    memory memory;
    feature_sum *sums;
    size_t count, capacity;
    uint32_t *slots; /* (slot_count) by hash, counted from 1; 0: free */
    size_t slot_count;
    uint64_t number; /* of the event that was looked at last */
    uint64_t end;    /* past the last that is measured */
    bool over;
} measuring;

static ee_status grow_slots(measuring *self, ee_error *error)
{
    size_t count = self->slot_count ? 2 * self->slot_count : 256, capacity = 0;
    uint32_t *slots = NULL;
    ee_status status = memory_grow(NULL, &slots, &capacity, count, sizeof *slots, error);
    if (status) return status;
    memset(slots, 0, count * sizeof *slots);
    for (size_t i = 0; i < self->count; i++) {
        size_t at = self->sums[i].hash & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    memory_free(self->slots);
    self->slots = slots;
    self->slot_count = count;
    return EE_OK;
}

static ee_status add_sum(measuring *self, uint64_t hash, const char *name, size_t bytes, feature_sum **out,
                         ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->sums, &self->capacity, self->count + 1, sizeof *self->sums, error);
    char *copy = NULL;
    if (!status) status = memory_create(&self->out->memory, &copy, bytes + 1, 1, error);
    if (status) return status;
    memcpy(copy, name, bytes);
    *out = &self->sums[self->count++];
    **out = (feature_sum){.hash = hash, .name = copy};
    return EE_OK;
}

/* The sum of a name, created if there is none; *out is NULL if there are too many. */
static ee_status find_sum(measuring *self, const char *name, size_t bytes, feature_sum **out, ee_error *error)
{
    uint64_t hash = names_hash(name, bytes);
    ee_status status = EE_OK;
    *out = NULL;
    if (2 * (self->count + 1) > self->slot_count) status = grow_slots(self, error);
    if (status) return status;
    size_t at = hash & (self->slot_count - 1);
    for (; self->slots[at]; at = (at + 1) & (self->slot_count - 1)) {
        feature_sum *sum = &self->sums[self->slots[at] - 1];
        if (sum->hash != hash || strlen(sum->name) != bytes || memcmp(sum->name, name, bytes) != 0) continue;
        *out = sum;
        return EE_OK;
    }
    if (self->count == MOST_FEATURES) return EE_OK;
    status = add_sum(self, hash, name, bytes, out, error);
    if (!status) self->slots[at] = (uint32_t)self->count;
    return status;
}

/* A decision's contributions of one name are summed before their size is taken. */
static void add_contribution(const measuring *self, feature_sum *sum, double contribution)
{
    if (sum->touched != self->out->decisions) {
        sum->sum += fabs(sum->here);
        sum->here = 0;
        sum->touched = self->out->decisions;
    }
    sum->here += contribution;
}

static ee_status add_named(measuring *self, const ee_round *round, const round_feature *feature, double contribution,
                           ee_error *error)
{
    feature_sum *sum;
    size_t bytes = feature->key + feature->key_bytes;
    ee_status status = find_sum(self, round->text + feature->text, bytes, &sum, error);
    if (status || !sum) return status;
    sum->space = feature->path;
    sum->key = feature->key;
    add_contribution(self, sum, contribution);
    return EE_OK;
}

static ee_status add_place(measuring *self, uint32_t place, double contribution, ee_error *error)
{
    char name[24];
    feature_sum *sum;
    int bytes = snprintf(name, sizeof name, "[%u]", (unsigned)place);
    ee_status status = find_sum(self, name, (size_t)bytes, &sum, error);
    if (!status && sum) add_contribution(self, sum, contribution);
    return status;
}

static ee_status add_entry(measuring *self, const ee_round *round, size_t arm, const explained_entry *entry,
                           ee_error *error)
{
    double contribution = (double)entry->contribution;
    if (!round) return add_place(self, entry->left, contribution, error);
    if (entry->left == NO_FEATURE) return EE_OK; /* the constant is no feature */
    bool product = entry->right != NO_FEATURE;
    double share = product ? contribution / 2 : contribution;
    ee_status status = add_named(self, round, round_feature_at(round, arm, entry->left), share, error);
    if (!status && product) status = add_named(self, round, round_feature_at(round, arm, entry->right), share, error);
    return status;
}

/* ---- a decision ---- */

static size_t arm_of_action(const decision_body *body)
{
    size_t arm = 0;
    for (size_t i = 0; i < body->action; i++) arm += !body->excluded || !body->excluded[i];
    return arm;
}

static ee_status add_explanation(measuring *self, const ee_round *round, const explanation *explained, size_t arm,
                                 ee_error *error)
{
    const explained_arm *of = &explained->arms[arm];
    ee_status status = EE_OK;
    self->out->decisions++;
    self->out->version = explained->version;
    for (size_t i = 0; i < of->count && !status; i++)
        status = add_entry(self, round, arm, &explained->entries[of->first + i], error);
    return status;
}

/* One that the model of today cannot read, as of another dimension, is passed over. */
static ee_status add_decision(measuring *self, const decision_body *body, served_room *room, ee_error *error)
{
    ee_arms arms;
    explanation *explained;
    ee_error reason;
    size_t arm = arm_of_action(body);
    ee_status status = decision_arms_make(&self->arms, body, room->round, &arms, &reason);
    if (!status)
        status = served_bandit_explain(self->bandit, room, body->dim ? &arms : NULL, body->seed, (int64_t)arm,
                                       &explained, &reason);
    if (!status) return add_explanation(self, body->dim ? NULL : room->round, explained, arm, error);
    if (status == EE_NO_MEMORY && error) *error = reason;
    return status == EE_NO_MEMORY ? status : EE_OK;
}

static ee_status measure(measuring *self, const event *seen, ee_error *error)
{
    decision_body body;
    self->number = seen->number;
    self->over = seen->number >= self->end;
    bool outside = seen->time < self->request->from || seen->time >= self->request->until;
    if (self->over || outside || event_is_erased(seen)) return EE_OK;
    ee_status status = decision_body_read(seen->body, seen->size, &self->room, &body, error);
    if (status) return status;
    ee_error reason = {EE_OK, ""};
    served_room *room = served_bandit_enter_awake(self->bandit, &reason);
    if (!room) {
        if (error) *error = reason;
        return reason.status;
    }
    uint64_t before = self->out->decisions;
    status = add_decision(self, &body, room, error);
    served_bandit_leave(self->bandit, room);
    if (self->out->decisions == before) return status;
    if (!before) self->out->first = seen->time;
    self->out->last = seen->time;
    return status;
}

/* ---- all of them ---- */

/* The first new decision after each of `most` places that lie evenly in the log. */
static ee_status sample(measuring *self, ee_error *error)
{
    uint32_t bandit = served_bandit_number(self->bandit);
    uint64_t first, most = self->request->most ? self->request->most : USUAL_DECISIONS;
    ee_status status = store_find_time(self->reader, bandit, self->request->from, &first, error);
    if (!status) status = store_find_end(self->reader, bandit, self->request->until, &self->end, error);
    uint64_t end = self->end;
    for (uint64_t i = 0; i < most && !status && !self->over && first < end; i++) {
        uint64_t after = first - 1 + (uint64_t)((double)(end - first) * (double)i / (double)most);
        if (after < self->number) after = self->number;
        if (after + 1 >= end) break;
        if (self->request->cancel && atomic_load(self->request->cancel))
            return status_fail(error, EE_FILE_ERROR, "importance: the server is stopping");
        status = store_read(self->reader, bandit, after, 1U << EVENT_DECISION, 1, &self->batch, error);
        if (!status && !self->batch.count) break; /* there are no more */
        if (!status) status = measure(self, self->batch.events, error);
    }
    return status;
}

static int by_importance(const void *left, const void *right)
{
    const feature_importance *a = left, *b = right;
    if (a->importance != b->importance) return a->importance > b->importance ? -1 : 1;
    return strcmp(a->name, b->name);
}

static ee_status copy_space(importance *out, const feature_sum *sum, const char **space, ee_error *error)
{
    char *copy = NULL;
    ee_status status = memory_create(&out->memory, &copy, sum->space + 1, 1, error);
    if (!status) memcpy(copy, sum->name, sum->space);
    *space = copy;
    return status;
}

static ee_status give(measuring *self, ee_error *error)
{
    importance *out = self->out;
    ee_status status =
        memory_create(&out->memory, &out->features, self->count ? self->count : 1, sizeof *out->features, error);
    for (size_t i = 0; i < self->count && !status; i++) {
        const feature_sum *sum = &self->sums[i];
        feature_importance *next = &out->features[out->count++];
        *next = (feature_importance){.name = sum->name, .feature = sum->name + sum->key};
        next->importance = (sum->sum + fabs(sum->here)) / (double)out->decisions;
        status = copy_space(out, sum, &next->space, error);
    }
    if (!status) qsort(out->features, out->count, sizeof *out->features, by_importance);
    return status;
}

ee_status importance_measure(store *kept, served_bandit *bandit, const importance_request *request, importance *out,
                             ee_error *error)
{
    *out = (importance){.decisions = 0};
    measuring self = {.bandit = bandit, .request = request, .out = out};
    self.room.owner = &self.memory;
    ee_status status = store_reader_create(kept, &self.reader, error);
    if (!status) status = sample(&self, error);
    if (!status) status = give(&self, error);
    store_reader_free(self.reader);
    event_batch_free(&self.batch);
    memory_free(self.slots);
    memory_release(&self.arms.memory);
    memory_release(&self.memory);
    if (status) importance_free(out);
    return status;
}

void importance_free(importance *self)
{
    memory_release(&self->memory);
    *self = (importance){.decisions = 0};
}

/* ---- the answer ---- */

void importance_answer(text *into, const importance *self)
{
    text_add(into, "{");
    text_member_time(into, "from", self->first ? (double)self->first / 1e6 : (double)NAN);
    text_member_time(into, "to", self->last ? (double)self->last / 1e6 : (double)NAN);
    text_member_count(into, "decisions", self->decisions);
    text_member_count(into, "version", self->version);
    text_add(into, ",\"features\":[");
    for (size_t i = 0; i < self->count; i++) {
        const feature_importance *feature = &self->features[i];
        text_add(into, i ? ",{" : "{");
        text_member(into, "name", feature->name);
        text_member(into, "namespace", feature->space);
        text_member(into, "feature", feature->feature);
        text_key(into, "importance");
        text_float(into, (float)feature->importance);
        text_add(into, "}");
    }
    text_add(into, "]}");
}
