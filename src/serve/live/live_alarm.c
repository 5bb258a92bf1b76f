#include "live_alarm.h"

#include <stdio.h>

#include "data/values/json_members.h"
#include "data/values/json_tree.h"

static const char *const kinds[] = {[ALARM_BOUND] = "bound", [ALARM_DRIFT] = "drift"};
static const char *const consequences[] = {
    [GUARD_ALERT] = "alert", [GUARD_FREEZE] = "freeze", [GUARD_FALLBACK] = "fallback"};

void live_alarm_write(const live_alarm *self, text *into)
{
    text_add(into, "{");
    text_member(into, "kind", kinds[self->kind]);
    text_member(into, "metric", self->metric);
    if (self->kind == ALARM_BOUND) {
        text_member_number(into, "limit", self->factor);
        text_member(into, "side", self->below ? "below" : "above");
    }
    text_member_count(into, "test", self->test);
    text_member_number(into, "alpha", self->alpha);
    text_member_number(into, "evidence", 1);
    text_member_count(into, "decision", self->decision);
    text_member(into, "sentence", self->sentence);
    text_member(into, "then", consequences[self->then]);
    text_add(into, "}");
}

bool live_alarm_read(live_alarm *out, const event *from)
{
    json_tree tree;
    *out = (live_alarm){0};
    bool good = !json_tree_read(&tree, from->body, from->size, NULL);
    const char *kind = good ? json_text_of(json_member(tree.root, "kind")) : NULL;
    const char *metric = good ? json_text_of(json_member(tree.root, "metric")) : NULL;
    const char *side = good ? json_text_of(json_member(tree.root, "side")) : NULL;
    const json_value *limit = good ? json_member(tree.root, "limit") : NULL;
    good = kind && metric && strlen(metric) < sizeof out->metric &&
           json_whole(json_member(tree.root, "decision"), &out->decision) &&
           json_whole(json_member(tree.root, "test"), &out->test);
    if (good) {
        out->kind = strcmp(kind, kinds[ALARM_DRIFT]) == 0 ? ALARM_DRIFT : ALARM_BOUND;
        snprintf(out->metric, sizeof out->metric, "%s", metric);
        out->factor = limit ? limit->number : 0;
        out->below = side && strcmp(side, "below") == 0;
    }
    json_tree_release(&tree);
    return good;
}

void live_alarm_archive(archive *a, live_alarm *self)
{
    size_t kind = self->kind, below = self->below, then = self->then;
    archive_size(a, &kind, ALARM_BOUND, ALARM_DRIFT, "alarm");
    archive_text(a, self->metric, sizeof self->metric, "metric");
    archive_bytes(a, &self->factor, sizeof self->factor);
    archive_size(a, &below, 0, 1, "side");
    archive_u64(a, &self->test);
    archive_bytes(a, &self->alpha, sizeof self->alpha);
    archive_u64(a, &self->decision);
    archive_text(a, self->sentence, sizeof self->sentence, "sentence");
    archive_size(a, &then, GUARD_ALERT, GUARD_FALLBACK, "consequence");
    self->kind = (alarm_kind)kind;
    self->below = below;
    self->then = (guard_consequence)then;
}
