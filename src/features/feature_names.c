#include "feature_names.h"

#include <string.h>

/* ---- hashes ---- */

/* The last step of MurmurHash3: every bit of the result depends on every bit of x. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
    return x ^ (x >> 33);
}

uint64_t names_hash(const char *bytes, size_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15U + count, word;
    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * 0xff51afd7ed558ccdU;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, bytes, count);
    return mix(hash ^ word);
}

uint64_t ee_arm_id(const char *text, size_t size)
{
    return text ? names_hash(text, size) : 0;
}

uint64_t names_product_hash(uint64_t left, uint64_t right)
{
    return mix(left * 0x9e3779b97f4a7c15U + right);
}

/* ---- the table ---- */

/* A slot also has high bits of the hash, so that most other names are skipped without looking at them. */
static uint64_t slot_of(uint64_t hash, uint32_t place)
{
    return (hash & 0xffffffff00000000U) | (uint64_t)(place + 1);
}

static void insert(const feature_names *self, uint64_t *slots, size_t slot_count, uint32_t place)
{
    uint64_t hash = self->places[place].hash;
    size_t at = (size_t)hash & (slot_count - 1);
    while (slots[at]) at = (at + 1) & (slot_count - 1);
    slots[at] = slot_of(hash, place);
}

/* Finds the next place that may have this hash; NO_PLACE at the end. *at starts as the hash. */
static uint32_t next_candidate(const feature_names *self, uint64_t hash, size_t *at)
{
    for (;; (*at)++) {
        *at &= self->slot_count - 1;
        uint64_t slot = self->slots[*at];
        if (!slot) return NO_PLACE;
        if ((slot ^ hash) >> 32) continue;
        (*at)++;
        return (uint32_t)slot - 1;
    }
}

uint32_t names_find(const feature_names *self, uint64_t hash, const char *bytes, size_t count)
{
    size_t at = (size_t)hash;
    for (;;) {
        uint32_t place = next_candidate(self, hash, &at);
        if (place == NO_PLACE) return NO_PLACE;
        const named_place *found = &self->places[place];
        if (found->hash == hash && !found->is_product && found->second == count &&
            memcmp(self->text + found->first, bytes, count) == 0)
            return place;
    }
}

uint32_t names_find_product(const feature_names *self, uint64_t hash, uint32_t left, uint32_t right)
{
    size_t at = (size_t)hash;
    for (;;) {
        uint32_t place = next_candidate(self, hash, &at);
        if (place == NO_PLACE) return NO_PLACE;
        const named_place *found = &self->places[place];
        if (found->is_product && found->first == left && found->second == right) return place;
    }
}

/* ---- growing ---- */

static ee_status grow_slots(feature_names *self, size_t names, ee_error *error)
{
    size_t slot_count = self->slot_count ? self->slot_count : 64;
    while (slot_count < 2 * names) slot_count *= 2; /* at most half full */
    if (slot_count == self->slot_count) return EE_OK;
    uint64_t *slots;
    ee_status status = memory_create(self->memory, &slots, slot_count, sizeof *slots, error);
    if (status) return status;
    for (size_t place = 1; place < self->count; place++) insert(self, slots, slot_count, (uint32_t)place);
    memory_free(self->slots);
    self->slots = slots;
    self->slot_count = slot_count;
    return EE_OK;
}

ee_status names_reserve(feature_names *self, size_t names, size_t bytes, ee_error *error)
{
    if (names > self->most - self->count) names = self->most - self->count;
    if (!names) return EE_OK;
    if (bytes > UINT32_MAX - self->text_used)
        return status_fail(error, EE_NO_MEMORY, "features: the names of the bandit exceed 4 GB");
    ee_status status =
        memory_grow(self->memory, &self->places, &self->capacity, self->count + names, sizeof *self->places, error);
    if (!status) status = grow_slots(self, self->count + names, error);
    if (!status)
        status = memory_grow(self->memory, &self->text, &self->text_capacity, self->text_used + bytes, 1, error);
    return status;
}

static uint32_t add(feature_names *self, named_place added)
{
    if (self->count == self->most) return NO_PLACE;
    uint32_t place = (uint32_t)self->count++;
    self->places[place] = added;
    insert(self, self->slots, self->slot_count, place);
    return place;
}

uint32_t names_add(feature_names *self, uint64_t hash, const char *bytes, size_t count)
{
    uint32_t place = add(self, (named_place){hash, 0, (uint32_t)self->text_used, (uint32_t)count, 0, 0});
    if (place == NO_PLACE) return NO_PLACE;
    memcpy(self->text + self->text_used, bytes, count);
    self->text_used += count;
    return place;
}

uint32_t names_add_product(feature_names *self, uint64_t hash, uint32_t left, uint32_t right)
{
    return add(self, (named_place){hash, 0, left, right, 0, 1});
}

ee_status names_create(feature_names *self, memory *owner, size_t most, ee_error *error)
{
    static const char constant[] = "constant";
    *self = (feature_names){.memory = owner, .most = most};
    ee_status status = names_reserve(self, 1, strlen(constant), error);
    if (status) return status;
    /* It is not in the table: no name from outside finds it. */
    memcpy(self->text, constant, strlen(constant));
    self->text_used = strlen(constant);
    self->places[0] = (named_place){.hash = names_hash(constant, strlen(constant)), .second = sizeof constant - 1};
    self->count = 1;
    return EE_OK;
}

ee_status names_follow(feature_names *self, const feature_names *from, ee_error *error)
{
    size_t names = from->count - self->count, bytes = from->text_used - self->text_used;
    ee_status status = names_reserve(self, names, bytes, error);
    if (status || !names) return status;
    memcpy(self->places + self->count, from->places + self->count, names * sizeof *self->places);
    memcpy(self->text + self->text_used, from->text + self->text_used, bytes);
    self->text_used = from->text_used;
    for (; self->count < from->count; self->count++) insert(self, self->slots, self->slot_count, (uint32_t)self->count);
    return EE_OK;
}

/* ---- describing and saving ---- */

static size_t append(char *text, size_t capacity, size_t at, const char *bytes, size_t count)
{
    size_t room = at < capacity ? capacity - at : 0;
    if (room) memcpy(text + at, bytes, count < room ? count : room);
    return at + count;
}

size_t names_format(const feature_names *self, uint32_t place, char *text, size_t capacity)
{
    const named_place *entry = &self->places[place], *left = entry, *right = NULL;
    if (entry->is_product) {
        left = &self->places[entry->first];
        right = &self->places[entry->second];
    }
    size_t room = capacity ? capacity - 1 : 0;
    size_t length = append(text, room, 0, self->text + left->first, left->second);
    if (right) {
        length = append(text, room, length, "*", 1);
        length = append(text, room, length, self->text + right->first, right->second);
    }
    if (capacity) text[length < room ? length : room] = '\0';
    return length;
}

/* A place that is read must be within bounds: its text within the text, a product of earlier names. */
static bool is_sound(const feature_names *self, size_t place, size_t *text_end)
{
    const named_place *entry = &self->places[place];
    if (entry->is_product > 1) return false;
    if (entry->is_product)
        return entry->first < place && entry->second < place && !self->places[entry->first].is_product &&
               !self->places[entry->second].is_product;
    if (entry->first != *text_end || entry->second > self->text_used - *text_end) return false;
    *text_end += entry->second;
    return true;
}

static uint64_t hash_of(const feature_names *self, const named_place *entry)
{
    if (entry->is_product) return names_product_hash(self->places[entry->first].hash, self->places[entry->second].hash);
    return names_hash(self->text + entry->first, entry->second);
}

static void archive_place(named_place *entry, archive *a)
{
    uint32_t words[3] = {entry->first, entry->second, entry->is_product};
    archive_u64(a, &entry->count);
    archive_u32s(a, words, 3);
    entry->first = words[0];
    entry->second = words[1];
    entry->is_product = words[2];
}

/* Recomputes the hashes and the table. */
static void restore(feature_names *self, size_t count, archive *a)
{
    size_t text_end = 0;
    self->count = 0;
    for (size_t place = 0; place < count && !a->status; place++) {
        self->count = place + 1;
        archive_place(&self->places[place], a);
        named_place *entry = &self->places[place];
        entry->scale = 0;
        if (!a->status && !is_sound(self, place, &text_end)) {
            archive_fail(a, EE_BAD_MODEL, "model: invalid feature names");
            return;
        }
        entry->hash = a->status ? 0 : hash_of(self, entry);
        if (place) insert(self, self->slots, self->slot_count, (uint32_t)place);
    }
    if (!a->status && text_end != self->text_used) archive_fail(a, EE_BAD_MODEL, "model: more text than feature names");
}

void names_archive(feature_names *self, archive *a)
{
    enum { PLACE_BYTES = 8 + 3 * 4 };
    size_t count = self->count, text_used = self->text_used;
    size_t most = archive_remaining(a) / PLACE_BYTES;
    archive_size(a, &count, 1, !a->reading || most > self->most ? self->most : most, "names of features");
    archive_size(a, &text_used, 0, a->reading ? archive_remaining(a) : text_used, "bytes of the names of features");
    if (a->status) return;
    if (!a->reading) {
        archive_bytes(a, self->text, self->text_used);
        for (size_t place = 0; place < self->count; place++) archive_place(&self->places[place], a);
        return;
    }
    a->status = names_reserve(self, count, text_used, a->error);
    if (a->status) return;
    self->text_used = text_used;
    archive_bytes(a, self->text, text_used);
    restore(self, count, a);
}
