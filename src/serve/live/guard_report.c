#include "guard_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "data/values/json_members.h"

static const char *const group_names[GUARD_GROUPS] = {"none", "treated", "control", "waiting", "fallback"};
static const char *const held_names[] = {[HELD_NOT] = "no", [HELD_FROZEN] = "frozen", [HELD_FALLBACK] = "fallback"};
static const char *const consequences[] = {
    [GUARD_ALERT] = "alert", [GUARD_FREEZE] = "freeze", [GUARD_FALLBACK] = "fallback"};

/* ---- the rollout ---- */

static void add_stage(text *into, const guard_settings *tables, int64_t now)
{
    size_t stage = 0;
    int64_t ends = tables->stages_since;
    bool scheduled = tables->stage_count > 1 && ends != INT64_MIN;
    for (; scheduled && stage + 1 < tables->stage_count; stage++) {
        ends += tables->stages[stage].lasts;
        if (now < ends) break;
    }
    bool has_next = scheduled && stage + 1 < tables->stage_count;
    text_member_number(into, "treated_share", guard_settings_treated(tables, now));
    text_add(into, ",\"stage\":{");
    text_member_count(into, "number", stage + 1);
    text_member_count(into, "of", tables->stage_count);
    text_member_number(into, "share", tables->stages[stage].share);
    text_member_number(into, "next_share", has_next ? tables->stages[stage + 1].share : (double)NAN);
    text_member_time(into, "next_at", has_next ? (double)ends / 1e6 : (double)NAN);
    text_add(into, "}");
}

/* ---- lift ---- */

static void add_side(text *into, const char *key, const lift_side *side)
{
    text_key(into, key);
    text_add(into, "{");
    text_member_number(into, "mean", side->mean);
    text_member_count(into, "decisions", side->decisions);
    text_member_number(into, "people", round(side->people));
    text_add(into, "}");
}

static void add_lifts(text *into, const live_guard *from, const guard_part *part)
{
    text_add(into, ",\"lift\":[");
    for (size_t i = 0; part->lifts && i < live_guard_values(from); i++) {
        lift_estimate now = lift_now(&part->lifts[i], 1.0 - from->known.confidence);
        text_comma(into);
        text_add(into, "{");
        text_member(into, "metric", live_guard_value_name(from, i));
        add_side(into, "treated", &now.treated);
        add_side(into, "control", &now.control);
        text_member_number(into, "lift", now.lift);
        text_member_number(into, "low", now.interval.low);
        text_member_number(into, "high", now.interval.high);
        text_member_number(into, "relative", now.relative);
        text_member_number(into, "relative_low", now.relative_interval.low);
        text_member_number(into, "relative_high", now.relative_interval.high);
        text_member_number(into, "largest", now.largest);
        text_add(into, "}");
    }
    text_add(into, "]");
}

static void add_segment(text *into, const live_guard *from, const guard_part *part, const char *name)
{
    text_comma(into);
    text_add(into, "{");
    if (name)
        text_member(into, "segment", name);
    else
        text_add(into, "\"segment\":null");
    text_member_count(into, "decisions", part->decisions);
    add_lifts(into, from, part);
    text_add(into, "}");
}

/* ---- bounds ---- */

static void add_bound(text *into, const guard_test *test)
{
    const live_alarm *alarm = &test->alarm;
    text_comma(into);
    text_add(into, "{");
    text_member(into, "metric", alarm->metric);
    text_member_number(into, "limit", alarm->factor);
    text_member(into, "side", alarm->below ? "below" : "above");
    text_member(into, "then", consequences[alarm->then]);
    text_member_count(into, "test", alarm->test);
    text_member_number(into, "alpha", alarm->alpha);
    text_member_number(into, "evidence", live_guard_evidence(test));
    text_member_flag(into, "violated", alarm->decision || test->logged);
    if (alarm->decision) text_member_count(into, "decision", alarm->decision);
    if (alarm->decision) text_member(into, "sentence", alarm->sentence);
    text_add(into, "}");
}

/* ---- the whole ---- */

void guard_report_write(const live_guard *from, const char *alarms, int64_t now, text *into)
{
    text_add(into, "{\"groups\":{");
    for (size_t i = 0; i < GUARD_GROUPS; i++) text_member_count(into, group_names[i], from->groups[i]);
    text_add(into, "}");
    add_stage(into, from->tables, now);
    text_member(into, "held", held_names[from->known.held]);
    text_member(into, "held_because", from->known.held_because);
    text_member_count(into, "from", from->from);
    add_lifts(into, from, &from->parts[0]);
    text_add(into, ",\"segments\":[");
    for (size_t i = 1; i < from->part_count; i++) add_segment(into, from, &from->parts[i], from->parts[i].name);
    if (from->other.lifts) add_segment(into, from, &from->other, NULL);
    text_add(into, "],\"bounds\":[");
    for (size_t i = 0; i < from->test_count; i++) add_bound(into, &from->tests[i]);
    text_add(into, "],\"alarms\":%s}", alarms);
}

guard_numbers guard_report_numbers(const live_guard *from)
{
    guard_numbers out = {.active = live_guard_is_active(from), .alarms = from->alarms, .held = from->known.held};
    if (!out.active) return out;
    out.count = live_guard_values(from);
    for (size_t i = 0; i < out.count; i++) {
        guard_number *value = &out.values[i];
        const lift *lifts = from->parts[0].lifts;
        *value = (guard_number){.lift = lifts ? lift_now(&lifts[i], 0.05).lift : (double)NAN, .evidence = NAN};
        snprintf(value->metric, sizeof value->metric, "%s", live_guard_value_name(from, i));
        for (size_t k = 0; k < from->test_count; k++)
            if (strcmp(from->tests[k].alarm.metric, value->metric) == 0)
                value->evidence = fmax(value->evidence, live_guard_evidence(&from->tests[k]));
    }
    return out;
}
