/* The working set of a group: what its entries refer to, found by id, by number and by reward id. */
#include "join_set.h"

#include <math.h>

/* ---- indexes ---- */

/* FNV-1a, with a finish that spreads the low bits. */
static uint64_t hash_bytes(uint64_t hash, json_text bytes)
{
    for (size_t i = 0; i < bytes.length; i++) hash = (hash ^ (uint8_t)bytes.bytes[i]) * 0x100000001b3;
    return hash ^ hash >> 29;
}

static uint64_t hash_number(uint32_t bandit, uint64_t number)
{
    uint64_t hash = ((uint64_t)bandit << 40 ^ number) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

static uint64_t hash_id(uint32_t bandit, json_text id)
{
    return hash_bytes(hash_number(bandit, 0) ^ 0xcbf29ce484222325, id);
}

static void index_clear(join_index *self)
{
    if (self->count) memset(self->slots, 0, self->capacity * sizeof *self->slots);
    self->count = 0;
}

static void index_put(join_index *self, uint64_t hash, uint32_t item)
{
    size_t at = hash & (self->capacity - 1);
    while (self->slots[at]) at = (at + 1) & (self->capacity - 1);
    self->slots[at] = item + 1;
}

/* The hash of the items of one of the arrays. */
typedef uint64_t item_hash(const joining *self, size_t item);

static ee_status index_add(joining *self, join_index *index, size_t item, item_hash *hash, ee_error *error)
{
    enum { FEWEST = 1024 };
    if (2 * (index->count + 1) > index->capacity) {
        size_t capacity = index->capacity ? 2 * index->capacity : FEWEST;
        uint32_t *slots = NULL;
        ee_status status = memory_create(&self->memory, &slots, capacity, sizeof *slots, error);
        if (status) return status;
        memory_free(index->slots);
        index->slots = slots;
        index->capacity = capacity;
        for (size_t i = 0; i < item; i++) index_put(index, hash(self, i), (uint32_t)i);
    }
    index_put(index, hash(self, item), (uint32_t)item);
    index->count++;
    return EE_OK;
}

static bool is_same(json_text a, json_text b)
{
    return a.length == b.length && (!a.length || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* ---- ids ---- */

static uint64_t hash_of_id(const joining *self, size_t item)
{
    return self->ids[item].hash;
}

join_id *join_find_id(const joining *self, uint32_t bandit, json_text id)
{
    const join_index *index = &self->by_id;
    uint64_t hash = hash_id(bandit, id);
    for (size_t at = hash; index->capacity; at++) {
        uint32_t item = index->slots[at & (index->capacity - 1)];
        if (!item) break;
        join_id *found = &self->ids[item - 1];
        if (found->hash == hash && found->bandit == bandit && is_same(found->id, id)) return found;
    }
    return NULL;
}

ee_status join_add_id(joining *self, uint32_t bandit, json_text id, join_id **out, ee_error *error)
{
    *out = join_find_id(self, bandit, id);
    if (*out) return EE_OK;
    ee_status status =
        memory_grow(&self->memory, &self->ids, &self->id_capacity, self->id_count + 1, sizeof *self->ids, error);
    if (status) return status;
    self->ids[self->id_count] = (join_id){.hash = hash_id(bandit, id), .bandit = bandit, .id = id};
    status = index_add(self, &self->by_id, self->id_count, hash_of_id, error);
    if (!status) *out = &self->ids[self->id_count++];
    return status;
}

/* ---- decisions by number ---- */

static uint64_t hash_of_decision(const joining *self, size_t item)
{
    return hash_number(self->decisions[item].bandit, self->decisions[item].row.number);
}

join_decision *join_find_decision(const joining *self, uint32_t bandit, uint64_t number)
{
    const join_index *index = &self->by_number;
    for (size_t at = hash_number(bandit, number); index->capacity; at++) {
        uint32_t item = index->slots[at & (index->capacity - 1)];
        if (!item) break;
        join_decision *found = &self->decisions[item - 1];
        if (found->bandit == bandit && found->row.number == number) return found;
    }
    return NULL;
}

ee_status join_add_decision(joining *self, uint32_t bandit, const stored_decision *row, uint32_t *place,
                            ee_error *error)
{
    const join_decision *known = join_find_decision(self, bandit, row->number);
    if (known) {
        *place = (uint32_t)(known - self->decisions);
        return EE_OK;
    }
    ee_status status = memory_grow(&self->memory, &self->decisions, &self->decision_capacity, self->decision_count + 1,
                                   sizeof *self->decisions, error);
    if (status) return status;
    self->decisions[self->decision_count] = (join_decision){.bandit = bandit, .row = *row};
    status = index_add(self, &self->by_number, self->decision_count, hash_of_decision, error);
    if (!status) *place = (uint32_t)self->decision_count++;
    return status;
}

/* ---- reward ids ---- */

static uint64_t hash_reward_id(uint32_t bandit, json_text id, json_text reward_id)
{
    return hash_bytes(hash_id(bandit, id) * 31, reward_id);
}

static uint64_t hash_of_reward_id(const joining *self, size_t item)
{
    return self->reward_ids[item].hash;
}

join_reward_id *join_find_reward_id(const joining *self, uint32_t bandit, json_text id, json_text reward_id)
{
    const join_index *index = &self->by_reward_id;
    uint64_t hash = hash_reward_id(bandit, id, reward_id);
    for (size_t at = hash; index->capacity; at++) {
        uint32_t item = index->slots[at & (index->capacity - 1)];
        if (!item) break;
        join_reward_id *found = &self->reward_ids[item - 1];
        if (found->hash == hash && found->bandit == bandit && is_same(found->id, id) &&
            is_same(found->reward_id, reward_id))
            return found;
    }
    return NULL;
}

ee_status join_add_reward_id(joining *self, uint32_t bandit, json_text id, json_text reward_id, ee_error *error)
{
    if (join_find_reward_id(self, bandit, id, reward_id)) return EE_OK;
    ee_status status = memory_grow(&self->memory, &self->reward_ids, &self->reward_id_capacity,
                                   self->reward_id_count + 1, sizeof *self->reward_ids, error);
    if (status) return status;
    self->reward_ids[self->reward_id_count] = (join_reward_id){
        .hash = hash_reward_id(bandit, id, reward_id), .bandit = bandit, .id = id, .reward_id = reward_id};
    status = index_add(self, &self->by_reward_id, self->reward_id_count, hash_of_reward_id, error);
    if (!status) self->reward_id_count++;
    return status;
}

/* ---- events without a decision ---- */

ee_status join_add_unclaimed(joining *self, join_id *id, const join_unclaimed *what, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->unclaimed, &self->unclaimed_capacity,
                                   self->unclaimed_count + 1, sizeof *self->unclaimed, error);
    if (status) return status;
    self->unclaimed[self->unclaimed_count] = *what;
    uint32_t place = (uint32_t)++self->unclaimed_count;
    if (id->last_unclaimed)
        self->unclaimed[id->last_unclaimed - 1].next = place;
    else
        id->first_unclaimed = place;
    id->last_unclaimed = place;
    return EE_OK;
}

/* ---- metrics ---- */

ee_status join_take_metrics(joining *self, join_metrics **out, ee_error *error)
{
    ee_status status = EE_OK;
    if (self->metrics_used == self->metrics_made) {
        status = memory_grow(&self->memory, &self->metrics, &self->metrics_capacity, self->metrics_made + 1,
                             sizeof *self->metrics, error);
        if (!status)
            status = memory_create(&self->memory, &self->metrics[self->metrics_made], 1, sizeof **self->metrics, error);
        if (status) return status;
        self->metrics_made++;
    }
    *out = self->metrics[self->metrics_used++];
    (*out)->values = (metric_values){.reward = NAN};
    return EE_OK;
}

void join_clear(joining *self)
{
    self->id_count = self->decision_count = self->reward_id_count = self->unclaimed_count = self->event_count = 0;
    self->name_count = self->slot_count = self->due_count = self->due_decision_count = 0;
    self->metrics_used = 0;
    index_clear(&self->by_id);
    index_clear(&self->by_number);
    index_clear(&self->by_reward_id);
}
