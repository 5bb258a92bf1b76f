/* Writing dsjson. _label_cost stands first, since there are tools that look for it as text. */
#include <math.h>
#include <string.h>

#include "dsjson.h"
#include "log_time.h"

static void add_words(text *into, const char *words)
{
    text_bytes(into, words, strlen(words));
}

/* "KEY":[1,2,3] */
static void add_array(text *into, const char *key, const double *numbers, size_t count)
{
    text_add(into, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        if (i) add_words(into, ",");
        text_double(into, numbers[i]);
    }
    add_words(into, "]");
}

/* The chosen action first, from 1, and the probabilities in the same order, where they are known. */
static void add_actions(text *into, const log_event *event)
{
    text_add(into, ",\"a\":[%zu", event->action + 1);
    for (size_t i = 0; i < event->count; i++)
        if (i != event->action) text_add(into, ",%zu", i + 1);
    add_words(into, "]");
    if (!event->probabilities) return;
    add_words(into, ",\"p\":[");
    text_double(into, event->probabilities[event->action]);
    for (size_t i = 0; i < event->count; i++) {
        if (i == event->action) continue;
        add_words(into, ",");
        text_double(into, event->probabilities[i]);
    }
    add_words(into, "]");
}

static void add_label(text *into, const log_event *event)
{
    bool slots = event->slot_count && !event->slate;
    if (slots) return;
    add_words(into, "\"_label_cost\":");
    text_double(into, -event->reward);
    if (!event->slot_count) {
        add_words(into, ",\"_label_probability\":");
        text_double(into, event->probability);
        text_add(into, ",\"_label_Action\":%zu,\"_labelIndex\":%zu", event->action + 1, event->action);
    }
    add_words(into, ",");
}

static void add_outcomes(text *into, const log_event *event)
{
    add_words(into, ",\"_outcomes\":[");
    for (size_t i = 0; i < event->slot_count; i++) {
        const log_slot *slot = &event->slots[i];
        add_words(into, i ? ",{" : "{");
        if (!event->slate) {
            add_words(into, "\"_label_cost\":");
            text_double(into, -slot->reward);
            add_words(into, ",");
        }
        if (slot->id.length) {
            add_words(into, "\"_id\":");
            text_json(into, slot->id);
            add_words(into, ",");
        }
        add_words(into, "\"_a\":[");
        for (size_t k = 0; k < slot->count; k++) text_add(into, k ? ",%zu" : "%zu", slot->actions[k]);
        add_words(into, "],");
        add_array(into, "_p", slot->probabilities, slot->count);
        add_words(into, "}");
    }
    add_words(into, "]");
}

static void add_vector(text *into, const ee_arms *arms, size_t arm)
{
    bool sparse = arms->starts != NULL;
    size_t first = sparse ? arms->starts[arm] : arm * arms->dim,
           end = sparse ? arms->starts[arm + 1] : first + arms->dim;
    add_words(into, sparse ? "\"x\":{" : "\"x\":[");
    for (size_t i = first; i < end; i++) {
        if (i > first) add_words(into, ",");
        if (sparse) text_add(into, "\"%u\":", arms->indices[i]);
        text_float(into, arms->values[i]);
    }
    add_words(into, sparse ? "}" : "]");
}

/* Line ends in JSON stand between values alone; here they would end the event. */
static void add_raw(text *into, json_text json)
{
    size_t first = into->length;
    text_bytes(into, json.bytes, json.length);
    for (size_t i = first; i < into->length; i++)
        if (into->bytes[i] == '\n' || into->bytes[i] == '\r') into->bytes[i] = ' ';
}

/* The features as they were, or the actions with their names and vectors. */
static void add_context(text *into, const log_event *event)
{
    const ee_arms *arms = &event->arms;
    if (arms->count) text_add(into, ",\"_dim\":%zu", arms->dim);
    add_words(into, ",\"c\":");
    if (event->context.length) {
        add_raw(into, event->context);
        return;
    }
    add_words(into, "{\"_multi\":[");
    for (size_t i = 0; i < event->count; i++) {
        bool named = event->actions && event->actions[i].length;
        add_words(into, i ? ",{" : "{");
        if (named) {
            add_words(into, "\"_tag\":");
            text_json(into, event->actions[i]);
        }
        if (named && arms->count) add_words(into, ",");
        if (arms->count) add_vector(into, arms, i);
        add_words(into, "}");
    }
    add_words(into, "]}");
}

/* The share that gives these copies again, in as few digits as it can be said. */
static double drop_of(double copies)
{
    double drop = 1 - 1 / copies;
    for (double scale = 10; scale < 1e16; scale *= 10) {
        double rounded = round(drop * scale) / scale;
        if (1 / (1 - rounded) == copies) return rounded;
    }
    for (int i = 0; i < 4 && 1 / (1 - drop) != copies; i++) drop = nextafter(drop, 1 / (1 - drop) < copies ? 1.0 : 0.0);
    return drop;
}

void dsjson_format(text *into, const log_event *event)
{
    add_words(into, "{");
    add_label(into, event);
    if (!isnan(event->time)) {
        char time[LOG_TIME_SIZE];
        log_time_format(event->time, time);
        text_add(into, "\"Timestamp\":\"%s\",", time);
    }
    add_words(into, "\"Version\":\"1\"");
    if (event->id.length) {
        add_words(into, ",\"EventId\":");
        text_json(into, event->id);
    }
    if (event->slot_count)
        add_outcomes(into, event);
    else
        add_actions(into, event);
    if (event->baseline) text_add(into, ",\"_ba\":[%zu]", event->baseline);
    add_context(into, event);
    if (event->copies != 1) {
        add_words(into, ",\"pdrop\":");
        text_double(into, drop_of(event->copies));
    }
    if (event->skipped) add_words(into, ",\"_skipLearn\":true");
    add_words(into, ",\"VWState\":{\"m\":\"N/A\"}}\n");
}
