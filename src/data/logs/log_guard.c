#include "log_guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "data/values/text.h"

static const char *const group_names[LOG_GROUPS] = {
    [LOG_GROUP_NONE] = "",           [LOG_GROUP_TREATED] = "treated",   [LOG_GROUP_CONTROL] = "control",
    [LOG_GROUP_WAITING] = "waiting", [LOG_GROUP_FALLBACK] = "fallback",
};

const char *log_group_name(log_group group)
{
    return group_names[group];
}

bool log_group_find(json_text name, log_group *out)
{
    for (size_t i = 0; i < LOG_GROUPS; i++) {
        if (!json_is(name, group_names[i])) continue;
        *out = (log_group)i;
        return true;
    }
    return false;
}

bool log_event_is_randomised(const log_event *event)
{
    const log_guard *guard = &event->guard;
    return log_event_is_drawn(event) || (!guard->repeats.length && guard->uniform);
}

bool log_event_is_drawn(const log_event *event)
{
    return !event->guard.repeats.length && event->guard.group <= LOG_GROUP_TREATED;
}

bool log_guard_is_used(const log_guard *guard)
{
    return guard->group || guard->uniform || guard->key.length || guard->segment.length || guard->rules.length ||
           guard->repeats.length;
}

/* ---- rules ---- */

static void add_escaped(text *into, json_text name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (name.bytes[i] == '|' || name.bytes[i] == '\\') text_bytes(into, "\\", 1);
        text_bytes(into, name.bytes + i, 1);
    }
}

ee_status log_rules_join(json_text rules, json_room *room, text *into, ee_error *error)
{
    json_reader reader = json_start(rules.bytes, rules.length, room);
    json_token token;
    ee_status status = json_next(&reader, &token, error);
    bool right = !status && token.kind == JSON_KIND_ARRAY;
    for (size_t count = 0; right; count++) {
        status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) break;
        right = token.kind == JSON_KIND_TEXT && token.text.length;
        if (count) text_bytes(into, "|", 1);
        if (right) add_escaped(into, token.text);
    }
    if (right && !status) status = json_next(&reader, &token, error); /* only white space may follow */
    if (status == EE_NO_MEMORY || (right && !status)) return status ? status : into->status;
    return status_fail(error, EE_BAD_INPUT, "the rules of an event must be an array of names");
}

void log_rules_split(json_text joined, text *name, text *into)
{
    if (!joined.length) return;
    text_bytes(into, "[", 1);
    name->length = 0;
    for (size_t i = 0, count = 0; i <= joined.length && !name->status; i++) {
        bool end = i == joined.length || joined.bytes[i] == '|';
        if (!end && joined.bytes[i] == '\\' && i + 1 < joined.length) i++;
        if (!end) text_bytes(name, joined.bytes + i, 1);
        if (!end || !name->length) continue;
        if (count++) text_bytes(into, ",", 1);
        text_json(into, (json_text){name->bytes, name->length});
        name->length = 0;
    }
    text_bytes(into, "]", 1);
}

/* ---- what is left out ---- */

void log_left_out_add(log_left_out *self, const log_event *event)
{
    log_group group = event->guard.group;
    if (event->guard.repeats.length)
        self->repeats++;
    else if (group == LOG_GROUP_CONTROL)
        self->control++;
    else if (group == LOG_GROUP_WAITING)
        self->waiting++;
    else
        self->fallback++;
}

uint64_t log_left_out_sum(const log_left_out *self)
{
    return self->control + self->waiting + self->fallback + self->repeats;
}

void log_left_out_format(const log_left_out *self, uint64_t randomised, char out[LOG_LEFT_OUT_TEXT])
{
    const struct {
        uint64_t count;
        const char *what;
    } parts[] = {{self->control, " of the control group"},
                 {self->waiting, " waiting for the rollout"},
                 {self->fallback, " of the fallback"},
                 {self->repeats, " repeats"}};
    uint64_t sum = log_left_out_sum(self);
    const char *between = " (";
    out[0] = '\0';
    if (!sum) return;
    int used = snprintf(out, LOG_LEFT_OUT_TEXT, "%" PRIu64 " of %" PRIu64 " decisions were not randomised", sum,
                        sum + randomised);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].count) continue;
        used += snprintf(out + used, LOG_LEFT_OUT_TEXT - (size_t)used, "%s%" PRIu64 "%s", between, parts[i].count,
                         parts[i].what);
        between = ", ";
    }
    snprintf(out + used, LOG_LEFT_OUT_TEXT - (size_t)used, ") and were left out.");
}
