/* Logs that nobody wrote: reading them ends, with a sentence or with events that are what others rely on. What is read
 * from text comes back the same when it is written and read again. The first line tells: "csv" or "vw" and its options,
 * or nothing, where the first bytes of the rest are to tell what it is. */
#include "data/logs/dsjson.h"
#include "fuzz.h"

static void check_probabilities(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) require(values[i] >= 0 && values[i] < 1.1, "a probability that is none");
}

static void check_event(const log_event *event)
{
    require(event->count > 0 && event->action < event->count && event->baseline < event->count, "no such action");
    require(event->probability > 0 && event->probability <= 1, "a probability that is none");
    require(isfinite(event->reward) && event->copies >= 1, "a reward that is none");
    require(!event->arms.count || event->arms.count == event->count, "other arms than actions");
    if (event->probabilities) check_probabilities(event->probabilities, event->count);
    const ee_arms *arms = &event->arms;
    size_t values = arms->starts ? arms->starts[arms->count] : arms->count * arms->dim;
    for (size_t i = 0; i < values; i++) require(isfinite(arms->values[i]), "a feature that is no number");
    for (size_t i = 0; arms->starts && i < values; i++) require(arms->indices[i] < arms->dim, "an index past the dim");
    for (size_t i = 0; i < event->slot_count; i++) {
        const log_slot *slot = &event->slots[i];
        require(slot->count > 0, "a slot without actions");
        require(event->slate ? isnan(slot->reward) : isfinite(slot->reward), "a slot's reward that is none");
        check_probabilities(slot->probabilities, log_slot_is_partial(slot) ? 1 : slot->count);
        size_t count = event->slate ? slot->count : event->count;
        for (size_t k = 0; k < slot->count; k++) require(slot->actions[k] < count, "no such action in a slot");
        for (size_t k = 0; k < slot->allowed_count; k++) require(slot->allowed[k] < count, "no such action allowed");
        require(slot->baseline == SIZE_MAX || slot->baseline < count, "no such baseline");
    }
}

static bool same_text(json_text a, json_text b)
{
    return a.length == b.length && (!a.length || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* Written as dsjson and read again. */
static void come_back(const log_event *event)
{
    memory owner = {0};
    dsjson *room;
    log_event again;
    log_note note;
    log_options usual = log_options_usual();
    text line = text_start(NULL);
    dsjson_format(&line, event);
    require(line.length && !memchr(line.bytes, '\n', line.length - 1), "a line that is several");
    require(!dsjson_create(&owner, &room, NULL), "no memory");
    require(!dsjson_parse(room, line.bytes, line.length - 1, &usual, &again, &note, NULL), "no memory");
    require(note.verdict == LOG_EVENT, note.reason);
    require(again.count == event->count && again.action == event->action, "another action");
    require(fabs(again.probability - event->probability) <= 1e-6, "another probability"); /* above 1 by rounding */
    require(again.reward == event->reward, "another reward");
    require(fabs(again.copies / event->copies - 1) < 1e-6, "other copies"); /* no share dropped gives 10, to the bit */
    require(same_text(again.id, event->id) && again.skipped == event->skipped, "another id");
    require(again.slot_count == event->slot_count && again.slate == event->slate, "other slots");
    for (size_t i = 0; i < again.slot_count; i++) {
        const log_slot *one = &event->slots[i], *other = &again.slots[i];
        require(same_text(one->id, other->id) && same_text(one->features, other->features), "another slot");
        require(one->baseline == other->baseline && one->skipped == other->skipped, "another baseline");
        require(one->allowed_count == other->allowed_count, "other actions allowed");
        require(one->count == other->count && log_slot_is_partial(one) == log_slot_is_partial(other), "other choices");
    }
    require(again.arms.count == event->arms.count && again.arms.dim == event->arms.dim, "other arms");
    memory_free(line.bytes);
    memory_release(&owner);
}

static void read_all(const uint8_t *bytes, size_t size, const log_form *form)
{
    byte_stream *stream;
    log_reader *log = NULL;
    ee_error error = {EE_OK, ""};
    log_options usual = log_options_usual();
    log_event event;
    bool found = true, text_form = size < 8 || memcmp(bytes, "EELOG", 5) != 0;
    if (byte_stream_of(bytes, size, "log", &stream, &error)) return;
    ee_status status = log_open_stream(stream, "log", form, &usual, &log, &error);
    require(status == error.status, "a status without its error");
    while (!status && found) {
        status = log_next(log, &event, &found, &error);
        require(status == error.status, "a status without its error");
        if (status || !found) break;
        check_event(&event);
        if (text_form) come_back(&event);
    }
    log_close(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char options[256];
    if (!take_line(&bytes, &size, options)) return 0;
    bool csv = strncmp(options, "csv", 3) == 0, vw = strncmp(options, "vw", 2) == 0;
    log_form form = {vw ? log_open_vw : log_open_csv, options + (vw ? 2 : 3)};
    read_all(bytes, size, csv || vw ? &form : NULL);
    return 0;
}
