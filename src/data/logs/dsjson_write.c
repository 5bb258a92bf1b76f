/* Writes dsjson. _label_cost comes first, because some tools search for it as text. */
#include <math.h>
#include <string.h>

#include "data/values/log_time.h"
#include "dsjson.h"
#include "log_guard.h"

static void add_string(text *into, const char *string)
{
    text_bytes(into, string, strlen(string));
}

/* The key, with quotes and a colon, and the number. */
static void add_number(text *into, const char *key, double number)
{
    add_string(into, key);
    text_double(into, number);
}

/* "KEY":[1,2,3] */
static void add_array(text *into, const char *key, const double *numbers, size_t count)
{
    text_add(into, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        if (i) add_string(into, ",");
        text_double(into, numbers[i]);
    }
    add_string(into, "]");
}

/* The chosen action first, from 1, and the probabilities in the same order, if known. */
static void add_actions(text *into, const log_event *event)
{
    text_add(into, ",\"a\":[%zu", event->action + 1);
    for (size_t i = 0; i < event->count; i++)
        if (i != event->action) text_add(into, ",%zu", i + 1);
    add_string(into, "]");
    if (!event->probabilities) return;
    add_string(into, ",\"p\":[");
    text_double(into, event->probabilities[event->action]);
    for (size_t i = 0; i < event->count; i++) {
        if (i == event->action) continue;
        add_string(into, ",");
        text_double(into, event->probabilities[i]);
    }
    add_string(into, "]");
}

/* The reward at a place, as it was learned. */
static double learned_at(const dsjson_source *source, size_t slot, double reward)
{
    return source && source->learned ? source->learned[slot] : reward;
}

static void add_label(text *into, const log_event *event, const dsjson_source *source)
{
    bool slots = event->slot_count && !event->slate;
    if (slots) return;
    add_number(into, "\"_label_cost\":", -learned_at(source, 0, event->reward));
    if (!event->slot_count) {
        add_number(into, ",\"_label_probability\":", event->probability);
        text_add(into, ",\"_label_Action\":%zu,\"_labelIndex\":%zu", event->action + 1, event->action);
    }
    add_string(into, ",");
}

/* [0,1,2] */
static void add_numbers(text *into, const size_t *numbers, size_t count)
{
    add_string(into, "[");
    for (size_t i = 0; i < count; i++) text_add(into, i ? ",%zu" : "%zu", numbers[i]);
    add_string(into, "]");
}

static void add_outcome(text *into, const log_event *event, size_t number, const dsjson_source *source)
{
    const log_slot *slot = &event->slots[number];
    add_string(into, "{");
    if (!event->slate) {
        add_number(into, "\"_label_cost\":", -learned_at(source, number, slot->reward));
        add_string(into, ",");
    }
    if (slot->id.length) {
        add_string(into, "\"_id\":");
        text_json(into, slot->id);
        add_string(into, ",");
    }
    add_string(into, "\"_a\":");
    add_numbers(into, slot->actions, slot->count);
    add_string(into, ",");
    add_array(into, "_p", slot->probabilities, log_slot_is_partial(slot) ? 1 : slot->count);
    if (slot->skipped) add_string(into, ",\"_skipLearn\":true");
    if (!event->slate && source && source->learned) {
        add_number(into, ",\"_original_label_cost\":", -slot->reward);
    }
    add_string(into, "}");
}

static void add_outcomes(text *into, const log_event *event, const dsjson_source *source)
{
    add_string(into, ",\"_outcomes\":[");
    for (size_t i = 0; i < event->slot_count; i++) {
        if (i) add_string(into, ",");
        add_outcome(into, event, i, source);
    }
    add_string(into, "]");
}

/* The baselines of the slots up to the first without one. */
static void add_baselines(text *into, const log_event *event)
{
    size_t known = 0;
    while (known < event->slot_count && event->slots[known].baseline != SIZE_MAX) known++;
    if (event->slot_count && !event->slate) {
        for (size_t i = 0; i < known; i++) text_add(into, i ? ",%zu" : ",\"_ba\":[%zu", event->slots[i].baseline);
        if (known) add_string(into, "]");
    } else if (event->baseline) {
        text_add(into, ",\"_ba\":[%zu]", event->baseline);
    }
}

static void add_vector(text *into, const ee_arms *arms, size_t arm)
{
    bool sparse = arms->starts != NULL;
    size_t first = sparse ? arms->starts[arm] : arm * arms->dim,
           end = sparse ? arms->starts[arm + 1] : first + arms->dim;
    add_string(into, sparse ? "\"x\":{" : "\"x\":[");
    for (size_t i = first; i < end; i++) {
        if (i > first) add_string(into, ",");
        if (sparse) text_add(into, "\"%u\":", arms->indices[i]);
        text_float(into, arms->values[i]);
    }
    add_string(into, sparse ? "}" : "]");
}

static void add_slot(text *into, const log_slot *slot)
{
    const char *between = "";
    add_string(into, "{");
    if (slot->id.length) {
        add_string(into, "\"_id\":");
        text_json(into, slot->id);
        between = ",";
    }
    if (slot->allowed) {
        text_add(into, "%s\"_inc\":", between);
        add_numbers(into, slot->allowed, slot->allowed_count);
        between = ",";
    }
    if (slot->features.length > 2) {
        add_string(into, between);
        text_one_line(into, json_members(slot->features));
    }
    add_string(into, "}");
}

static void add_bare_actions(text *into, const log_event *event)
{
    const ee_arms *arms = &event->arms;
    add_string(into, "\"_multi\":[");
    for (size_t i = 0; i < event->count; i++) {
        bool named = event->actions && event->actions[i].length;
        add_string(into, i ? ",{" : "{");
        if (named) {
            add_string(into, "\"_tag\":");
            text_json(into, event->actions[i]);
        }
        if (named && arms->count) add_string(into, ",");
        if (arms->count) add_vector(into, arms, i);
        add_string(into, "}");
    }
    add_string(into, "]");
}

/* The features as they were, or the actions with their names and vectors; then the slots. */
static void add_context(text *into, const log_event *event)
{
    if (event->arms.count) text_add(into, ",\"_dim\":%zu", event->arms.dim);
    add_string(into, ",\"c\":");
    if (event->context.length && !event->slot_count) {
        text_one_line(into, event->context);
        return;
    }
    json_text shared = event->context.length ? json_members(event->context) : (json_text){0};
    add_string(into, "{");
    if (event->context.length)
        text_one_line(into, shared);
    else
        add_bare_actions(into, event);
    if (event->slot_count) {
        add_string(into, event->context.length && !shared.length ? "\"_slots\":[" : ",\"_slots\":[");
        for (size_t i = 0; i < event->slot_count; i++) {
            if (i) add_string(into, ",");
            add_slot(into, &event->slots[i]);
        }
        add_string(into, "]");
    }
    add_string(into, "}");
}

/* The pdrop that gives these copies, in the fewest digits. */
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

/* The key, with quotes and a colon, and the text, unless it is empty. */
static void add_text(text *into, const char *key, json_text value)
{
    if (!value.length) return;
    add_string(into, key);
    text_json(into, value);
}

static void add_guard(text *into, const log_guard *guard)
{
    if (guard->group) {
        text_add(into, ",\"_group\":\"%s\"", log_group_name(guard->group));
        add_number(into, ",\"_treated_share\":", guard->treated_share);
    }
    if (guard->uniform) add_string(into, ",\"_baseline_uniform\":true");
    add_text(into, ",\"_key\":", guard->key);
    add_text(into, ",\"_segment\":", guard->segment);
    add_text(into, ",\"_repeats\":", guard->repeats);
    if (!guard->rules.length) return;
    add_string(into, ",\"_rules\":");
    text_one_line(into, guard->rules);
}

static void add_metrics(text *into, const log_event *event)
{
    if (!event->metric_count) return;
    add_string(into, ",\"_metrics\":{");
    for (size_t i = 0; i < event->metric_count; i++) {
        if (i) add_string(into, ",");
        text_json(into, event->metrics[i].name);
        add_number(into, ":", event->metrics[i].value);
    }
    add_string(into, "}");
}

/* Where it comes from ends the line. */
static void add_source(text *into, const log_event *event, const dsjson_source *source)
{
    if (!source) {
        add_string(into, ",\"VWState\":{\"m\":\"N/A\"}}\n");
        return;
    }
    text_add(into, ",\"VWState\":{\"m\":\"%llu\"}", (unsigned long long)source->version);
    if (source->learned && (!event->slot_count || event->slate)) {
        add_number(into, ",\"_original_label_cost\":", -event->reward);
    }
    text_add(into, ",\"_cursor\":%llu}\n", (unsigned long long)source->cursor);
}

void dsjson_format_served(text *into, const log_event *event, const dsjson_source *source)
{
    add_string(into, "{");
    add_label(into, event, source);
    if (!isnan(event->time)) {
        char time[LOG_TIME_SIZE];
        log_time_format(event->time, time);
        text_add(into, "\"Timestamp\":\"%s\",", time);
    }
    add_string(into, "\"Version\":\"1\"");
    if (event->id.length) {
        add_string(into, ",\"EventId\":");
        text_json(into, event->id);
    }
    if (event->slot_count)
        add_outcomes(into, event, source);
    else
        add_actions(into, event);
    add_baselines(into, event);
    add_context(into, event);
    if (event->copies != 1) {
        add_number(into, ",\"pdrop\":", drop_of(event->copies));
    }
    if (event->skipped) add_string(into, ",\"_skipLearn\":true");
    add_guard(into, &event->guard);
    add_metrics(into, event);
    add_source(into, event, source);
}

void dsjson_format(text *into, const log_event *event)
{
    dsjson_format_served(into, event, NULL);
}
