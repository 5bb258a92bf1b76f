/* The context of an example of several lines. */
#include <stdlib.h>

#include "log_vw.h"

ee_status vw_sizes_add(vw_log *log, vw_sizes *into, size_t value, ee_error *error)
{
    ee_status status =
        memory_grow(&log->head.owner, &into->values, &into->capacity, into->count + 1, sizeof *into->values, error);
    if (!status) into->values[into->count++] = value;
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return json_compare(*(const json_text *)a, *(const json_text *)b);
}

/* Tags are the names of actions, as _tag in VW's JSON; not if two of an example are the same. */
static ee_status take_names(vw_log *log, size_t count, bool *named, ee_error *error)
{
    ee_status status =
        memory_grow(&log->head.owner, &log->names, &log->names_capacity, 2 * count, sizeof *log->names, error);
    *named = false;
    if (status) return status;
    json_text *sorted = log->names + count;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = log->names[i] = log->rows[log->of_action.values[i]].line.tag;
        *named = *named || sorted[i].length;
    }
    if (!*named) return EE_OK;
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count; i++)
        if (sorted[i].length && compare_names(&sorted[i], &sorted[i - 1]) == 0) *named = false;
    return EE_OK;
}

ee_status vw_add_features(vw_log *log, const vw_row *row, text *into, bool *any, log_event *event, log_note *note,
                          ee_error *error)
{
    ee_status status = vw_features_add(log->features, row->line.features, into, any, note, error);
    if (note->verdict != LOG_EVENT) event->line = row->number;
    return status;
}

ee_status vw_make_context(vw_log *log, const vw_row *shared, log_event *event, log_note *note, ee_error *error)
{
    text *into = &log->context;
    size_t count = log->of_action.count;
    bool any = false, named;
    ee_status status = take_names(log, count, &named, error);
    into->length = 0;
    into->error = error;
    text_bytes(into, "{", 1);
    if (!status && shared) status = vw_add_features(log, shared, into, &any, event, note, error);
    text_add(into, any ? ",\"_multi\":[" : "\"_multi\":[");
    for (size_t i = 0; i < count && !status && note->verdict == LOG_EVENT; i++) {
        size_t start = into->length + 1 + (i > 0);
        text_add(into, i ? ",{" : "{");
        if (named && log->names[i].length) {
            text_add(into, "\"_tag\":");
            text_json(into, log->names[i]);
        }
        if (log->form == VW_SLATES)
            text_add(into, "%s\"_slot_id\":%zu", into->length > start ? "," : "", log->of_slot.values[i]);
        size_t before = into->length;
        if (before > start) text_bytes(into, ",", 1);
        status = vw_add_features(log, &log->rows[log->of_action.values[i]], into, &any, event, note, error);
        if (!any) into->length = before;
        text_bytes(into, "}", 1);
    }
    text_bytes(into, "]}", 2);
    event->actions = named && log->form != VW_SLATES ? log->names : NULL;
    event->context = (json_text){into->bytes, into->length};
    return status ? status : into->status;
}
