/* The bodies of events as bytes. Numbers are little-endian; those that are mostly small (marked v) take seven bits a
 * byte, the lowest first.
 *
 *   DECISION    format 1, flags (1 names, 2 excluded, 4 vectors, 8 deferred, 16 a slot, 32 guardrails), request (16),
 *               version (8),
 *               seed (8), v count, v action, v choice, v baseline, v dim, v bytes of the context, v bytes of the
 * record; of a slot v its place, v slots of the round, v bytes of its id; then probabilities (8 count), values (4 count
 * dim), excluded (count), the names (v length, bytes), the slot's id, the context, the record; of
 *               guardrails: group, baseline, what there is (1 boosts, 2 shares, 4 prices), treated share (8), v
 *               bytes of key, segment and repeats, v rules, v shares; then key, segment, repeats, the rules (v length,
 *               bytes), boosts (4 count), v prices, prices (budget 8, price 8), low and high (16 shares), shares
 *               (v count)
 *
 *   STEP        upto (8), stride (8)
 *
 *   CHECKPOINT  version (8), upto (8), checksum (8), size (8), the state */
#include "event.h"

#include <float.h>

#include "base/archive.h"

enum { FORMAT = 1, FIXED_HEAD = 2 + 16 + 8 + 8, MOST_VARINT = 10, MOST_SLOTS = 1 << 16 };
enum { NAMES = 1, EXCLUDED = 2, VECTORS = 4, DEFERRED = 8, SLOT = 16, GUARD = 32, ALL_FLAGS = 63 };
enum { GUARD_BOOSTS = 1, GUARD_SHARES_PRESENT = 2, GUARD_PRICES = 4 };
static const char slot_mark = 0x1f; /* the separator of units: ids have no control characters */

/* ---- writing: into room that is large enough ---- */

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> 8 * i);
    return at + 8;
}

static uint8_t *put_small(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t size)
{
    if (size) memcpy(at, bytes, size);
    return at + size;
}

static uint8_t *put_doubles(uint8_t *at, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        at = put_u64(at, bits);
    }
    return at;
}

static uint8_t *put_floats(uint8_t *at, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++, at += 4) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < 4; k++) at[k] = (uint8_t)(bits >> 8 * k);
    }
    return at;
}

/* The most that guardrails can take. */
static size_t guard_room(const decision_body *body)
{
    const decision_guard *guard = &body->guard;
    size_t names = 0;
    if (!guard->present) return 0;
    for (size_t i = 0; i < guard->rule_count; i++) names += MOST_VARINT + guard->rules[i].length;
    return 3 + sizeof(double) + 6 * MOST_VARINT + 16 * guard->price_count + guard->key.length + guard->segment.length +
           guard->repeats.length + names + body->count * (sizeof(float) + MOST_VARINT) +
           2 * guard->share_count * sizeof(double);
}

/* The most that a body can take. */
static size_t decision_room(const decision_body *body)
{
    size_t names = 0;
    for (size_t i = 0; body->names && i < body->count; i++) names += MOST_VARINT + body->names[i].length;
    return FIXED_HEAD + 10 * MOST_VARINT + body->count * (sizeof(double) + 1) +
           body->count * body->dim * sizeof(float) + names + body->slot.length + body->context.length +
           body->record_size + guard_room(body);
}

static uint8_t flags_of(const decision_body *body)
{
    return (uint8_t)((body->names ? NAMES : 0) | (body->excluded ? EXCLUDED : 0) | (body->dim ? VECTORS : 0) |
                     (body->deferred ? DEFERRED : 0) | (body->slot_count ? SLOT : 0) |
                     (body->guard.present ? GUARD : 0));
}

static uint8_t *put_text(uint8_t *at, json_text words)
{
    return put_bytes(at, words.bytes, words.length);
}

static uint8_t *put_prices(uint8_t *at, const decision_guard *guard)
{
    if (guard->price_count) at = put_small(at, guard->price_count);
    for (size_t i = 0; i < guard->price_count; i++)
        at = put_doubles(put_u64(at, guard->prices[i].budget), &guard->prices[i].price, 1);
    return at;
}

static uint8_t *put_guard(uint8_t *at, const decision_body *body)
{
    const decision_guard *guard = &body->guard;
    const size_t sizes[] = {guard->key.length, guard->segment.length, guard->repeats.length, guard->rule_count,
                            guard->share_count};
    if (!guard->present) return at;
    *at++ = (uint8_t)guard->group;
    *at++ = guard->baseline;
    *at++ = (uint8_t)((guard->boosts ? GUARD_BOOSTS : 0) | (guard->shares ? GUARD_SHARES_PRESENT : 0) |
                      (guard->price_count ? GUARD_PRICES : 0));
    at = put_doubles(at, &guard->treated_share, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) at = put_small(at, sizes[i]);
    at = put_text(put_text(put_text(at, guard->key), guard->segment), guard->repeats);
    for (size_t i = 0; i < guard->rule_count; i++)
        at = put_text(put_small(at, guard->rules[i].length), guard->rules[i]);
    if (guard->boosts) at = put_floats(at, guard->boosts, body->count);
    at = put_prices(at, guard);
    if (!guard->shares) return at;
    at = put_doubles(put_doubles(at, guard->low, guard->share_count), guard->high, guard->share_count);
    for (size_t i = 0; i < body->count; i++) at = put_small(at, guard->shares[i]);
    return at;
}

ee_status decision_body_write(const decision_body *body, memory *owner, uint8_t **bytes, size_t *size, size_t *capacity,
                              ee_error *error)
{
    ee_status status = memory_grow(owner, bytes, capacity, *size + decision_room(body), 1, error);
    if (status) return status;
    uint8_t *at = *bytes + *size;
    *at++ = FORMAT;
    *at++ = flags_of(body);
    at = put_u64(at, body->request[0]);
    at = put_u64(at, body->request[1]);
    at = put_u64(at, body->version);
    at = put_u64(at, body->seed);
    const size_t sizes[] = {body->count,      body->action,         body->choice,      body->baseline,
                            body->dim,        body->context.length, body->record_size, body->slot_index,
                            body->slot_count, body->slot.length};
    size_t numbers = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < (body->slot_count ? numbers : numbers - 3); i++) at = put_small(at, sizes[i]);
    at = put_doubles(at, body->probabilities, body->count);
    at = put_floats(at, body->values, body->count * body->dim);
    if (body->excluded) at = put_bytes(at, body->excluded, body->count);
    for (size_t i = 0; body->names && i < body->count; i++) {
        at = put_small(at, body->names[i].length);
        at = put_bytes(at, body->names[i].bytes, body->names[i].length);
    }
    if (body->slot_count) at = put_bytes(at, body->slot.bytes, body->slot.length);
    at = put_bytes(at, body->context.bytes, body->context.length);
    at = put_bytes(at, body->record, body->record_size);
    at = put_guard(at, body);
    *size = (size_t)(at - *bytes);
    return EE_OK;
}

/* ---- reading: errors stick, and what would have been read is zero ---- */

typedef struct cursor {
    const uint8_t *at, *end;
    bool damaged;
} cursor;

static const uint8_t *get_bytes(cursor *from, size_t size)
{
    if (size > (size_t)(from->end - from->at)) from->damaged = true;
    if (from->damaged) return NULL;
    const uint8_t *bytes = from->at;
    from->at += size;
    return bytes;
}

static uint64_t load_u64(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static uint64_t get_u64(cursor *from)
{
    const uint8_t *bytes = get_bytes(from, 8);
    return bytes ? load_u64(bytes) : 0;
}

/* A count or a place: 0 to high. */
static size_t get_small(cursor *from, size_t high)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        const uint8_t *byte = get_bytes(from, 1);
        if (!byte) return 0;
        value |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte & 0x80) continue;
        if (value > high) break;
        return (size_t)value;
    }
    from->damaged = true;
    return 0;
}

static json_text get_text(cursor *from, size_t length)
{
    return (json_text){(const char *)get_bytes(from, length), from->damaged ? 0 : length};
}

/* Numbers from 0 to 1. */
static void get_shares(cursor *from, double *into, size_t count)
{
    const uint8_t *bytes = get_bytes(from, count * sizeof(double));
    for (size_t i = 0; bytes && i < count; i++) {
        uint64_t bits = load_u64(bytes + 8 * i);
        memcpy(&into[i], &bits, sizeof bits);
        if (!(into[i] >= 0 && into[i] <= 1)) from->damaged = true;
    }
}

static ee_status get_probabilities(cursor *from, size_t count, event_room *room, ee_error *error)
{
    ee_status status =
        memory_grow(room->owner, &room->probabilities, &room->probability_capacity, count, sizeof(double), error);
    if (!status) get_shares(from, room->probabilities, count);
    return status;
}

static void get_floats(cursor *from, float *into, size_t count)
{
    const uint8_t *bytes = get_bytes(from, count * sizeof(float));
    for (size_t i = 0; bytes && i < count; i++, bytes += 4) {
        uint32_t bits = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        memcpy(&into[i], &bits, sizeof bits);
    }
}

static ee_status get_values(cursor *from, size_t count, event_room *room, ee_error *error)
{
    ee_status status = memory_grow(room->owner, &room->values, &room->value_capacity, count, sizeof(float), error);
    if (!status) get_floats(from, room->values, count);
    return status;
}

static const uint8_t *get_excluded(cursor *from, size_t count)
{
    const uint8_t *excluded = get_bytes(from, count);
    for (size_t i = 0; excluded && i < count; i++)
        if (excluded[i] > EXCLUDED_BY_BUDGET) from->damaged = true;
    return excluded;
}

static ee_status get_names(cursor *from, size_t count, event_room *room, ee_error *error)
{
    ee_status status = memory_grow(room->owner, &room->names, &room->name_capacity, count, sizeof(json_text), error);
    for (size_t i = 0; !status && i < count && !from->damaged; i++)
        room->names[i] = get_text(from, get_small(from, SIZE_MAX));
    return status;
}

static void get_prices(cursor *from, decision_guard *out)
{
    out->price_count = get_small(from, MOST_PRICES);
    for (size_t i = 0; i < out->price_count; i++) {
        decision_price *price = &out->prices[i];
        price->budget = get_u64(from);
        uint64_t bits = get_u64(from);
        memcpy(&price->price, &bits, sizeof bits);
        if (!(price->price >= 0 && price->price <= DBL_MAX)) from->damaged = true;
    }
}

/* The boosts, if there are any, prices and shares. */
static ee_status get_guard_numbers(cursor *from, unsigned there, size_t count, event_room *room, decision_guard *out,
                                   ee_error *error)
{
    size_t shares = out->share_count;
    ee_status status = EE_OK;
    if (there & GUARD_BOOSTS) {
        status = memory_grow(room->owner, &room->boosts, &room->boost_capacity, count, sizeof(float), error);
        if (status) return status;
        get_floats(from, room->boosts, count);
        out->boosts = room->boosts;
    }
    if (there & GUARD_PRICES) get_prices(from, out);
    if (!(there & GUARD_SHARES_PRESENT)) return EE_OK;
    status = memory_grow(room->owner, &room->shares, &room->share_capacity, count, sizeof(uint32_t), error);
    if (!status)
        status = memory_grow(room->owner, &room->bounds, &room->bound_capacity, 2 * shares, sizeof(double), error);
    if (status) return status;
    get_shares(from, room->bounds, 2 * shares);
    for (size_t i = 0; i < count; i++) room->shares[i] = (uint32_t)get_small(from, shares);
    out->shares = room->shares;
    out->low = room->bounds;
    out->high = room->bounds + shares;
    return EE_OK;
}

static ee_status get_guard(cursor *from, size_t count, event_room *room, decision_guard *out, ee_error *error)
{
    enum { MOST_TEXT = 1 << 16 };
    const uint8_t *head = get_bytes(from, 3);
    out->present = true;
    if (!head || head[0] > GROUP_FALLBACK) {
        from->damaged = true;
        return EE_OK;
    }
    out->group = (decision_group)head[0];
    out->baseline = head[1];
    get_shares(from, &out->treated_share, 1);
    size_t key = get_small(from, MOST_TEXT), segment = get_small(from, MOST_TEXT), repeats = get_small(from, MOST_TEXT);
    out->rule_count = get_small(from, MOST_APPLIED_RULES);
    out->share_count = get_small(from, (size_t)(from->end - from->at));
    out->key = get_text(from, key);
    out->segment = get_text(from, segment);
    out->repeats = get_text(from, repeats);
    for (size_t i = 0; i < out->rule_count; i++) out->rules[i] = get_text(from, get_small(from, MOST_TEXT));
    return from->damaged ? EE_OK : get_guard_numbers(from, head[2], count, room, out, error);
}

/* Everything before the arrays. Each action takes a probability of eight bytes, so that no count asks for more memory
 * than the body is long. */
static unsigned get_head(cursor *from, decision_body *out)
{
    const uint8_t *bytes = get_bytes(from, 2);
    unsigned flags = bytes ? bytes[1] : 0;
    if (!bytes || bytes[0] != FORMAT || flags > ALL_FLAGS) from->damaged = true;
    out->request[0] = get_u64(from);
    out->request[1] = get_u64(from);
    out->version = get_u64(from);
    out->seed = get_u64(from);
    out->count = get_small(from, (size_t)(from->end - from->at) / sizeof(double));
    if (!out->count) from->damaged = true;
    out->action = get_small(from, out->count - 1);
    out->choice = get_small(from, out->count - 1);
    out->baseline = get_small(from, out->count - 1);
    out->dim = get_small(from, (size_t)(from->end - from->at) / sizeof(float));
    if (!out->dim != !(flags & VECTORS)) from->damaged = true;
    out->context.length = get_small(from, SIZE_MAX);
    out->record_size = get_small(from, SIZE_MAX);
    out->deferred = flags & DEFERRED;
    if (!(flags & SLOT)) return flags;
    out->slot_index = get_small(from, MOST_SLOTS);
    out->slot_count = get_small(from, MOST_SLOTS);
    out->slot.length = get_small(from, SIZE_MAX);
    if (out->slot_index >= out->slot_count) from->damaged = true;
    return flags;
}

ee_status decision_body_read(const void *bytes, size_t size, event_room *room, decision_body *out, ee_error *error)
{
    cursor from = {bytes, size ? (const uint8_t *)bytes + size : bytes, false};
    *out = (decision_body){0};
    unsigned flags = get_head(&from, out);
    if (!from.damaged && out->dim > SIZE_MAX / sizeof(float) / out->count) from.damaged = true;
    if (!from.damaged && out->count * out->dim > (size_t)(from.end - from.at) / sizeof(float)) from.damaged = true;
    ee_status status = EE_OK;
    if (!from.damaged) status = get_probabilities(&from, out->count, room, error);
    if (!from.damaged && !status && out->dim) status = get_values(&from, out->count * out->dim, room, error);
    if (flags & EXCLUDED) out->excluded = get_excluded(&from, out->count);
    if (!from.damaged && !status && flags & NAMES) status = get_names(&from, out->count, room, error);
    if (status) return status;
    if (flags & SLOT) out->slot = get_text(&from, out->slot.length);
    out->context = get_text(&from, out->context.length);
    out->record = get_bytes(&from, out->record_size);
    if (!from.damaged && flags & GUARD) status = get_guard(&from, out->count, room, &out->guard, error);
    if (status) return status;
    if (from.damaged || from.at != from.end)
        return status_fail(error, EE_BAD_INPUT, "log: the body of a decision is damaged");
    out->probabilities = room->probabilities;
    if (out->dim) out->values = room->values;
    if (flags & NAMES) out->names = room->names;
    return EE_OK;
}

/* ---- the others ---- */

void step_body_write(const step_body *body, uint8_t bytes[STEP_BODY_SIZE])
{
    put_u64(put_u64(bytes, body->upto), body->stride);
}

ee_status step_body_read(const void *bytes, size_t size, step_body *out, ee_error *error)
{
    *out = (step_body){0};
    if (size == STEP_BODY_SIZE) *out = (step_body){load_u64(bytes), load_u64((const uint8_t *)bytes + 8)};
    if (!out->stride) return status_fail(error, EE_BAD_INPUT, "log: the body of a step is damaged");
    return EE_OK;
}

ee_status checkpoint_body_write(const checkpoint_body *body, memory *owner, uint8_t **bytes, size_t *size,
                                ee_error *error)
{
    *size = CHECKPOINT_HEAD_SIZE + body->state_size;
    ee_status status = memory_create(owner, bytes, *size, 1, error);
    if (status) return status;
    uint8_t *at = put_u64(put_u64(*bytes, body->version), body->upto);
    put_bytes(put_u64(put_u64(at, body->checksum), body->size), body->state, body->state_size);
    return EE_OK;
}

ee_status checkpoint_body_read(const void *bytes, size_t size, checkpoint_body *out, ee_error *error)
{
    *out = (checkpoint_body){0};
    if (size < CHECKPOINT_HEAD_SIZE)
        return status_fail(error, EE_BAD_INPUT, "log: the body of a checkpoint is damaged");
    const uint8_t *at = bytes;
    *out = (checkpoint_body){load_u64(at),      load_u64(at + 8),          load_u64(at + 16),
                             load_u64(at + 24), at + CHECKPOINT_HEAD_SIZE, size - CHECKPOINT_HEAD_SIZE};
    return EE_OK;
}

uint64_t checkpoint_checksum(const void *bytes, size_t size)
{
    enum { OWN = 8 };
    return archive_checksum(bytes, size > OWN ? size - OWN : size);
}

/* The finish of splitmix64: each bit of the value changes each of the result with probability one half. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

uint64_t event_seed(uint64_t bandit_seed, json_text id)
{
    return mix(mix(bandit_seed + 0x9e3779b97f4a7c15) ^ archive_checksum((const uint8_t *)id.bytes, id.length));
}

/* ---- ids of slots ---- */

size_t slot_decision_id_size(json_text id, json_text slot)
{
    return id.length + 1 + slot.length;
}

json_text slot_decision_id(json_text id, json_text slot, char *out)
{
    memcpy(out, id.bytes, id.length);
    out[id.length] = slot_mark;
    if (slot.length) memcpy(out + id.length + 1, slot.bytes, slot.length);
    return (json_text){out, slot_decision_id_size(id, slot)};
}

json_text slot_round_id(json_text id, json_text *slot)
{
    const char *mark = id.length ? memchr(id.bytes, slot_mark, id.length) : NULL;
    size_t before = mark ? (size_t)(mark - id.bytes) : id.length;
    if (slot) *slot = mark ? (json_text){mark + 1, id.length - before - 1} : (json_text){"", 0};
    return (json_text){id.bytes, before};
}
