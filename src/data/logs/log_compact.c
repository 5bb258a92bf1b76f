/* A header, then a record per event: length, fields, checksum. One function visits the fields for both writing and
 * reading; reading stores them in the reader's arrays. */
#include "log_compact.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "data/values/text.h"
#include "log_guard.h"

const uint8_t compact_magic[COMPACT_MAGIC] = {'E', 'E', 'L', 'O', 'G', '\r', '\n', 0x1a};

enum { VERSION = 1 };

/* The optional parts of an event. */
enum {
    HAS_SKIPPED = 1,
    HAS_SLATE = 2,
    HAS_PROBABILITIES = 4,
    HAS_NAMES = 8,
    HAS_DENSE = 16,
    HAS_SPARSE = 32,
    HAS_SLOT_DETAILS = 64,
    HAS_GUARD = 128,
    HAS_METRICS = 256,
    HAS_ALL = 511
};

enum { SLOT_SKIPPED = 1, SLOT_ALLOWED = 2 };

/* Arrays for the numbers and texts of an event that is read. */
typedef struct compact_room {
    memory *owner;
    double *probabilities, *slot_probabilities;
    json_text *names;
    float *values;
    size_t *starts, *slot_actions, *slot_allowed;
    uint32_t *indices;
    log_slot *slots;
    log_metric *metrics;
    json_room json;
    text rules;
    size_t metrics_capacity;
    size_t probabilities_capacity, slot_probabilities_capacity, names_capacity, values_capacity, starts_capacity;
    size_t slot_actions_capacity, slot_allowed_capacity, indices_capacity, slots_capacity;
    size_t dim;
} compact_room;

/* ---- the parts of a record ---- */

static void fail_record(archive *a, const char *what)
{
    archive_fail(a, EE_BAD_INPUT, what);
}

/* Reserves count + 1 elements of size bytes, after checking that the record can hold count elements of `stored`
 * bytes. */
static bool make_room(archive *a, compact_room *room, void *array, size_t *capacity, size_t count, size_t size,
                      size_t stored)
{
    if (a->status) return false;
    if (count > archive_remaining(a) / stored) {
        fail_record(a, "the record is shorter than its length says");
        return false;
    }
    a->status = memory_grow(room->owner, array, capacity, count + 1, size, a->error);
    return !a->status;
}

static void visit_double(archive *a, double *value)
{
    archive_bytes(a, value, sizeof *value);
}

static void visit_number(archive *a, size_t *value)
{
    uint32_t narrow = (uint32_t)*value;
    archive_u32s(a, &narrow, 1);
    *value = narrow;
}

/* Points into the record. Callers expect UTF-8; features are checked when they are parsed. */
static void visit_text(archive *a, json_text *string, bool features)
{
    visit_number(a, &string->length);
    if (!a->reading) {
        archive_bytes(a, (char *)(uintptr_t)string->bytes, string->length);
        return;
    }
    if (string->length > archive_remaining(a)) fail_record(a, "a string is longer than its record");
    if (a->status) string->length = 0;
    string->bytes = (const char *)a->source + a->position;
    if (!features && !json_is_utf8(*string)) fail_record(a, "a string is not UTF-8");
    a->position += string->length;
}

static void visit_doubles(archive *a, const double *from, double *into, size_t count)
{
    archive_bytes(a, a->reading ? into : (double *)(uintptr_t)from, count * sizeof *into);
}

static void visit_names(archive *a, compact_room *room, log_event *event)
{
    if (a->reading) {
        if (!make_room(a, room, &room->names, &room->names_capacity, event->count, sizeof *room->names, 4)) return;
        event->actions = room->names;
    }
    for (size_t i = 0; i < event->count; i++) {
        json_text name = {0};
        if (!a->reading) name = event->actions[i];
        visit_text(a, &name, false);
        if (a->reading) room->names[i] = name;
    }
}

static void visit_dense(archive *a, compact_room *room, log_event *event)
{
    size_t count = event->count * room->dim;
    if (a->reading) {
        if (!room->dim || event->count > SIZE_MAX / 8 / room->dim)
            fail_record(a, "the dim in the header is missing or too large");
        if (!make_room(a, room, &room->values, &room->values_capacity, count, sizeof *room->values, 4)) return;
        event->arms = ee_arms_dense(room->values, event->count, room->dim);
    }
    archive_floats(a, (float *)(uintptr_t)event->arms.values, count);
}

/* Entries of each arm, all indices, all values. */
static void visit_sparse(archive *a, compact_room *room, log_event *event)
{
    ee_arms *arms = &event->arms;
    if (a->reading) {
        if (!room->dim) fail_record(a, "the record has arms, but the header has no dim");
        if (!make_room(a, room, &room->starts, &room->starts_capacity, event->count, sizeof *room->starts, 4)) return;
        room->starts[0] = 0;
    }
    for (size_t i = 0; i < event->count; i++) {
        size_t entries = a->reading ? 0 : arms->starts[i + 1] - arms->starts[i];
        visit_number(a, &entries);
        if (a->reading) room->starts[i + 1] = room->starts[i] + entries;
    }
    size_t first = a->reading ? 0 : arms->starts[0];
    size_t count = a->reading ? room->starts[event->count] : arms->starts[event->count] - first;
    if (a->reading) {
        if (!make_room(a, room, &room->values, &room->values_capacity, count, sizeof *room->values, 8)) return;
        if (!make_room(a, room, &room->indices, &room->indices_capacity, count, sizeof *room->indices, 8)) return;
        *arms = ee_arms_sparse(room->starts, room->indices, room->values, event->count, room->dim);
    }
    archive_u32s(a, (uint32_t *)(uintptr_t)(arms->indices + first), count);
    archive_floats(a, (float *)(uintptr_t)(arms->values + first), count);
}

/* The description of a slot. The baseline counts from 1; 0: unknown. */
static void visit_slot_details(archive *a, compact_room *room, log_slot *slot, size_t *allowed_used)
{
    uint32_t flags = (slot->skipped ? SLOT_SKIPPED : 0u) | (slot->allowed ? SLOT_ALLOWED : 0u);
    size_t baseline = slot->baseline + 1, allowed = slot->allowed ? slot->allowed_count : 0;
    archive_u32s(a, &flags, 1);
    visit_number(a, &baseline);
    visit_text(a, &slot->features, true);
    visit_number(a, &allowed);
    if (a->reading) {
        if (allowed > archive_remaining(a) / 4) fail_record(a, "a slot is longer than its record");
        if (a->status) return;
        slot->skipped = flags & SLOT_SKIPPED;
        slot->baseline = baseline - 1;
        slot->allowed = flags & SLOT_ALLOWED ? room->slot_allowed + *allowed_used : NULL;
        slot->allowed_count = allowed;
    }
    for (size_t i = 0; i < allowed; i++) {
        size_t action = a->reading ? 0 : slot->allowed[i];
        visit_number(a, &action);
        if (a->reading) room->slot_allowed[*allowed_used + i] = action;
    }
    *allowed_used += allowed;
}

static void visit_details(archive *a, compact_room *room, log_event *event)
{
    size_t used = 0;
    if (a->reading && !make_room(a, room, &room->slot_allowed, &room->slot_allowed_capacity, archive_remaining(a) / 4,
                                 sizeof(size_t), 1))
        return;
    for (size_t i = 0; i < event->slot_count && !a->status; i++) {
        log_slot slot = event->slots[i];
        visit_slot_details(a, room, &slot, &used);
        if (a->reading) room->slots[i] = slot;
    }
}

static void visit_slots(archive *a, compact_room *room, log_event *event)
{
    if (a->reading) {
        size_t most = archive_remaining(a) / 12; /* of actions and their probabilities */
        if (!make_room(a, room, &room->slots, &room->slots_capacity, event->slot_count, sizeof *room->slots, 16) ||
            !make_room(a, room, &room->slot_actions, &room->slot_actions_capacity, most, sizeof(size_t), 1) ||
            !make_room(a, room, &room->slot_probabilities, &room->slot_probabilities_capacity, most, sizeof(double), 1))
            return;
        event->slots = room->slots;
    }
    size_t used = 0;
    for (size_t i = 0; i < event->slot_count && !a->status; i++) {
        log_slot slot = {.baseline = SIZE_MAX};
        if (!a->reading) slot = event->slots[i];
        visit_text(a, &slot.id, false);
        visit_double(a, &slot.reward);
        visit_number(a, &slot.count);
        if (a->reading) {
            if (slot.count > archive_remaining(a) / 12) fail_record(a, "a slot is longer than its record");
            if (a->status) return;
            slot.actions = room->slot_actions + used;
            slot.probabilities = room->slot_probabilities + used;
            room->slots[i] = slot;
        }
        for (size_t k = 0; k < slot.count; k++) {
            size_t action = a->reading ? 0 : slot.actions[k];
            visit_number(a, &action);
            if (a->reading) room->slot_actions[used + k] = action;
        }
        visit_doubles(a, slot.probabilities, room->slot_probabilities + used, slot.count);
        used += slot.count;
    }
}

static void visit_guard(archive *a, log_guard *guard)
{
    size_t group = guard->group, uniform = guard->uniform;
    visit_number(a, &group);
    visit_number(a, &uniform);
    visit_double(a, &guard->treated_share);
    visit_text(a, &guard->key, false);
    visit_text(a, &guard->segment, false);
    visit_text(a, &guard->rules, false);
    visit_text(a, &guard->repeats, false);
    if (group >= LOG_GROUPS || uniform > 1) fail_record(a, "the record has an unknown group");
    if (a->status || !a->reading) return;
    guard->group = (log_group)group;
    guard->uniform = uniform;
}

static void visit_metrics(archive *a, compact_room *room, log_event *event)
{
    visit_number(a, &event->metric_count);
    if (a->reading) {
        if (!make_room(a, room, &room->metrics, &room->metrics_capacity, event->metric_count, sizeof *room->metrics,
                       12))
            return;
        event->metrics = room->metrics;
    }
    for (size_t i = 0; i < event->metric_count && !a->status; i++) {
        log_metric metric = {0};
        if (!a->reading) metric = event->metrics[i];
        visit_text(a, &metric.name, false);
        visit_double(a, &metric.value);
        if (a->reading) room->metrics[i] = metric;
    }
}

static bool has_slot_details(const log_event *event)
{
    for (size_t i = 0; i < event->slot_count; i++) {
        const log_slot *slot = &event->slots[i];
        if (slot->skipped || slot->baseline != SIZE_MAX || slot->allowed || slot->features.length) return true;
    }
    return false;
}

static uint32_t flags_of(const log_event *event)
{
    bool arms = event->arms.count > 0;
    return (event->skipped ? HAS_SKIPPED : 0u) | (event->slate ? HAS_SLATE : 0u) |
           (event->probabilities ? HAS_PROBABILITIES : 0u) | (event->actions ? HAS_NAMES : 0u) |
           (arms && !event->arms.starts ? HAS_DENSE : 0u) | (arms && event->arms.starts ? HAS_SPARSE : 0u) |
           (has_slot_details(event) ? HAS_SLOT_DETAILS : 0u) | (log_guard_is_used(&event->guard) ? HAS_GUARD : 0u) |
           (event->metric_count ? HAS_METRICS : 0u);
}

static void visit(archive *a, compact_room *room, log_event *event)
{
    uint32_t flags = a->reading ? 0 : flags_of(event);
    archive_u32s(a, &flags, 1);
    if (flags & ~(uint32_t)HAS_ALL) fail_record(a, "the record has flags of another version");
    visit_number(a, &event->count);
    visit_number(a, &event->action);
    visit_number(a, &event->baseline);
    visit_double(a, &event->time);
    visit_double(a, &event->probability);
    visit_double(a, &event->reward);
    visit_double(a, &event->copies);
    visit_number(a, &event->slot_count);
    visit_text(a, &event->id, false);
    visit_text(a, &event->context, true);
    event->skipped = flags & HAS_SKIPPED;
    event->slate = flags & HAS_SLATE;
    if (flags & HAS_PROBABILITIES) {
        if (a->reading && make_room(a, room, &room->probabilities, &room->probabilities_capacity, event->count,
                                    sizeof(double), sizeof(double)))
            event->probabilities = room->probabilities;
        if (!a->status) visit_doubles(a, event->probabilities, room->probabilities, event->count);
    }
    if (flags & HAS_NAMES) visit_names(a, room, event);
    if (flags & HAS_DENSE) visit_dense(a, room, event);
    if (flags & HAS_SPARSE) visit_sparse(a, room, event);
    if (event->slot_count) visit_slots(a, room, event);
    if (flags & HAS_SLOT_DETAILS && !a->status) visit_details(a, room, event);
    if (flags & HAS_GUARD && !a->status) visit_guard(a, &event->guard);
    if (flags & HAS_METRICS && !a->status) visit_metrics(a, room, event);
}

/* ---- writing ---- */

static void write_checksum(archive *a, size_t first)
{
    uint32_t sum = (uint32_t)crc32_z(0, a->bytes + first, a->size - first);
    archive_u32s(a, &sum, 1);
}

void compact_write_header(archive *a, size_t dim)
{
    uint32_t version[3] = {VERSION, 0, 0};
    uint64_t wide = dim;
    size_t first = a->size;
    archive_bytes(a, (uint8_t *)(uintptr_t)compact_magic, COMPACT_MAGIC);
    archive_u32s(a, version, 3);
    archive_u64(a, &wide);
    if (!a->status) write_checksum(a, first);
}

void compact_write(archive *a, const log_event *event)
{
    size_t first = a->size;
    uint32_t length = 0;
    log_event copy = *event;
    compact_room room = {.dim = event->arms.dim};
    archive_u32s(a, &length, 1);
    visit(a, &room, &copy);
    if (a->status) return;
    if (a->size - first - sizeof length > BYTE_STREAM_MOST) {
        archive_fail(a, EE_BAD_INPUT, "log: the event is larger than the largest record");
        return;
    }
    length = (uint32_t)(a->size - first - sizeof length);
    memcpy(a->bytes + first, &length, sizeof length);
    write_checksum(a, first);
}

/* ---- reading ---- */

typedef struct compact_log {
    log_reader head;
    compact_room room;
} compact_log;

/* Checks the values of an intact record, which another program may have written. */
static const char *find_wrong(const log_event *event)
{
    const ee_arms *arms = &event->arms;
    if (event->action >= event->count || event->baseline >= event->count)
        return "the chosen action is not in the event";
    if (!(event->copies >= 1 && event->copies <= 1e9)) return "the copies of an event must be 1 to 1e9";
    size_t values = arms->starts ? arms->starts[arms->count] : arms->count * arms->dim;
    for (size_t i = 0; i < values; i++)
        if (!(fabsf(arms->values[i]) <= 1e9f)) return "a feature must be -1e9 to 1e9";
    for (size_t arm = 0; arms->starts && arm < arms->count; arm++)
        for (size_t i = arms->starts[arm]; i < arms->starts[arm + 1]; i++)
            if (arms->indices[i] >= arms->dim || (i > arms->starts[arm] && arms->indices[i] <= arms->indices[i - 1]))
                return "the indices of an arm's features must ascend and be below dim";
    return NULL;
}

static const char *find_wrong_slot(const log_event *event)
{
    for (size_t i = 0; i < event->slot_count; i++) {
        const log_slot *slot = &event->slots[i];
        size_t count = event->slate ? slot->count : event->count;
        if (!slot->count) return "a slot has no actions";
        for (size_t k = 0; k < slot->count; k++)
            if (slot->actions[k] >= count) return "an action of a slot is not in the event";
        for (size_t k = 0; k < slot->allowed_count; k++)
            if (slot->allowed[k] >= count) return "an allowed action of a slot is not in the event";
        if (slot->baseline != SIZE_MAX && slot->baseline >= count) return "the baseline of a slot is not in the event";
    }
    return NULL;
}

/* Rules are written to dsjson unchanged, so they must be JSON. */
static const char *find_wrong_rules(compact_room *room, json_text rules)
{
    room->rules.length = 0;
    if (!rules.length || !log_rules_join(rules, &room->json, &room->rules, NULL)) return NULL;
    return "the rules of an event must be an array of names";
}

/* The record's fields, once its bytes are known to be right. */
static ee_status read_fields(compact_log *log, const char *bytes, size_t size, log_event *event, log_note *note,
                             ee_error *error)
{
    ee_error reason = {EE_OK, ""};
    archive a = archive_reader(bytes, size, &reason);
    *event = (log_event){0};
    visit(&a, &log->room, event);
    if (a.status == EE_NO_MEMORY) {
        if (error) *error = reason;
        return a.status;
    }
    const char *wrong = a.status                ? reason.message
                        : archive_remaining(&a) ? "the record is longer than its contents"
                                                : find_wrong(event);
    if (!wrong) wrong = find_wrong_slot(event);
    if (!wrong) wrong = find_wrong_rules(&log->room, event->guard.rules);
    if (wrong) log_skip(note, a.status ? LOG_BROKEN : LOG_INVALID, "%s", wrong);
    return EE_OK;
}

static ee_status next(log_reader *head, log_event *event, log_note *note, bool *found, ee_error *error)
{
    enum { AROUND = 2 * sizeof(uint32_t) }; /* the length before a record and the checksum after it */
    compact_log *log = (compact_log *)head;
    char *bytes;
    size_t size;
    uint32_t length = 0, sum = 0;
    ee_status status = byte_stream_peek(head->stream, sizeof length, &bytes, &size, error);
    *found = size > 0;
    if (status || !*found) return status;
    if (size >= sizeof length) memcpy(&length, bytes, sizeof length);
    bool sane = length <= BYTE_STREAM_MOST;
    if (sane) status = byte_stream_peek(head->stream, length + (size_t)AROUND, &bytes, &size, error);
    if (status) return status;
    event->line = ++head->counts.lines;
    bool whole = sane && size >= length + (size_t)AROUND;
    if (whole) memcpy(&sum, bytes + sizeof length + length, sizeof sum);
    if (whole && sum == (uint32_t)crc32_z(0, (const uint8_t *)bytes, sizeof length + length)) {
        status = read_fields(log, bytes + sizeof length, length, event, note, error);
        event->line = head->counts.lines;
        byte_stream_skip(head->stream, length + (size_t)AROUND);
        return status;
    }
    /* Where the next record begins is not known. */
    if (whole || !sane)
        return status_fail(error, EE_BAD_INPUT, "%s: record %zu is damaged", byte_stream_name(head->stream),
                           event->line);
    log_skip(note, LOG_BROKEN, "the log ends inside this record");
    byte_stream_skip(head->stream, size);
    return EE_OK;
}

static ee_status read_header(compact_log *log, ee_error *error)
{
    char *bytes;
    size_t size;
    uint32_t version = 0, sum = 0;
    uint64_t dim = 0;
    byte_stream *stream = log->head.stream;
    ee_status status = byte_stream_peek(stream, COMPACT_HEADER, &bytes, &size, error);
    if (status) return status;
    if (size >= COMPACT_HEADER) {
        memcpy(&version, bytes + COMPACT_MAGIC, sizeof version);
        memcpy(&dim, bytes + 20, sizeof dim);
        memcpy(&sum, bytes + 28, sizeof sum);
    }
    if (size < COMPACT_HEADER || sum != (uint32_t)crc32_z(0, (const uint8_t *)bytes, 28) || dim >= UINT32_MAX)
        return status_fail(error, EE_BAD_INPUT, "%s: the header is truncated or damaged", byte_stream_name(stream));
    if (version != VERSION)
        return status_fail(error, EE_BAD_INPUT, "%s: unsupported format version %u, expected %d",
                           byte_stream_name(stream), version, (int)VERSION);
    log->head.dim = log->room.dim = (size_t)dim;
    byte_stream_skip(stream, COMPACT_HEADER);
    return EE_OK;
}

ee_status log_open_compact(byte_stream *stream, log_reader **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof(compact_log), error);
    if (status) return status;
    compact_log *log = (compact_log *)*out;
    log->head.next = next;
    log->head.stream = stream;
    log->room.owner = log->room.json.owner = log->room.rules.owner = &log->head.owner;
    return read_header(log, error);
}
