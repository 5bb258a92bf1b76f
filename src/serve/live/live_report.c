#include "live_report.h"

#include <inttypes.h>
#include <math.h>

#include "data/values/json_members.h"
#include "data/values/log_time.h"
#include "guard_report.h"

void estimate_write(text *into, const estimate *from)
{
    text_member_number(into, "value", from->value);
    text_member_number(into, "low", from->low);
    text_member_number(into, "high", from->high);
    text_member_number(into, "gain", from->gain);
    text_member_number(into, "gain_low", from->gain_low);
    text_member_number(into, "gain_high", from->gain_high);
}

static void add_head(text *into, const bandit_settings *settings)
{
    text_member_number(into, "confidence", settings->confidence);
    text_add(into, ",\"rewards\":[");
    text_double(into, settings->reward_low);
    text_bytes(into, ",", 1);
    text_double(into, settings->reward_high);
    text_add(into, "]");
    text_member(into, "promote", settings->promote == PROMOTE_AUTO ? "auto" : "offer");
}

/* ---- policies ---- */

static const char *kind_name(live_kind kind)
{
    static const char *const names[] = {[LIVE_ONLINE] = "online",
                                        [LIVE_BASELINE] = "baseline",
                                        [LIVE_UNIFORM] = "uniform",
                                        [LIVE_CHALLENGER] = "challenger"};
    return names[kind];
}

/* Name, kind and policy. of: the challenger, else NULL. */
static void add_identity(text *into, live_kind kind, const bandit_settings *settings, const challenger_settings *of)
{
    bool online = kind == LIVE_ONLINE, named = of != NULL;
    const char *name = named ? of->name : kind_name(kind);
    text_add(into, "{");
    text_member(into, "name", name);
    text_member(into, "kind", kind_name(kind));
    text_member(into, "policy", online ? settings->policy : named ? of->policy : kind_name(kind));
    text_member(into, "options", online ? settings->options : named ? of->options : "");
    text_member(into, "propensity", online ? settings->propensity : named ? of->propensity : "");
}

static const char *state_of(const live_bandit *from, const live_track *track)
{
    if (live_track_failure(track)) return "failed";
    if (track->kind != LIVE_CHALLENGER) return "";
    return track->won ? "offered" : live_bandit_is_behind(from, track) ? "learning" : "";
}

static void add_policy(text *into, const live_bandit *from, const live_track *track)
{
    const ee_error *failure = live_track_failure(track);
    estimate now = live_track_estimate(track);
    bool tested = track->kind == LIVE_CHALLENGER;
    add_identity(into, track->kind, &from->settings, tested ? &track->challenger : NULL);
    text_member(into, "state", state_of(from, track));
    text_member(into, "trouble", failure ? failure->message : "");
    text_member_count(into, "events", live_track_events(track));
    text_member_time(into, "from", track->play.about.first_time);
    estimate_write(into, &now);
    text_member_number(into, "alpha", track->alpha);
    if (tested) text_member_count(into, "test", track->challenger.number);
    if (track->won) text_member_count(into, "won", track->won);
    if (tested) text_member_number(into, "evidence", live_track_evidence(track));
    text_member_number(into, "unsupported", live_track_unsupported(track));
    text_add(into, "}");
}

/* ---- series ---- */

static void add_value(text *into, double value)
{
    text_comma(into);
    text_number(into, value);
}

/* The points, and the current estimate if it is not one of them. */
static void add_curve(text *into, const live_bandit *from, const live_track *track, bool now, size_t part)
{
    estimate last = live_track_estimate(track);
    const double ends[] = {last.value, last.low, last.high};
    for (size_t i = 0; i < from->point_count; i++) {
        const live_point *at = &track->points[i];
        const double values[] = {at->value, at->low, at->high};
        add_value(into, values[part]);
    }
    if (now) add_value(into, live_bandit_is_behind(from, track) ? (double)NAN : ends[part]);
}

static void add_series(text *into, const live_bandit *from)
{
    static const char *const parts[] = {"value", "low", "high"};
    const live_track *online = from->tracks[0];
    size_t count = from->point_count;
    uint64_t events = live_track_events(online);
    bool now = events && (!count || from->counts[count - 1] != events);
    text_add(into, ",\"series\":{\"time\":[");
    for (size_t i = 0; i < count; i++) add_value(into, from->times[i]);
    if (now) add_value(into, online->play.about.last_time);
    text_add(into, "],\"events\":[");
    for (size_t i = 0; i < count; i++) add_value(into, (double)from->counts[i]);
    if (now) add_value(into, (double)events);
    text_add(into, "],\"policies\":{");
    for (size_t i = 0; i < from->track_count; i++) {
        text_comma(into);
        text_string(into, live_track_name(from->tracks[i]));
        for (size_t part = 0; part < 3; part++) {
            text_add(into, "%s\"%s\":[", part ? "," : ":{", parts[part]);
            add_curve(into, from, from->tracks[i], now, part);
            text_add(into, "]");
        }
        text_add(into, "}");
    }
    text_add(into, "}}");
}

/* ---- the whole ---- */

void live_report_write(const live_bandit *from, double waiting, const char *promotions, const char *alarms, int64_t now,
                       text *into)
{
    const log_tally *about = &from->tracks[0]->play.about;
    text_add(into, "{\"events\":%" PRIu64, live_track_events(from->tracks[0]));
    text_member_time(into, "from", about->first_time);
    text_member_time(into, "to", about->last_time);
    text_member_number(into, "waiting", waiting);
    add_head(into, &from->settings);
    for (size_t i = 0; i < from->track_count; i++) {
        text_add(into, i ? "," : ",\"policies\":[");
        add_policy(into, from, from->tracks[i]);
    }
    text_add(into, "]");
    add_series(into, from);
    if (live_guard_is_active(&from->guard)) {
        text_key(into, "guardrails");
        guard_report_write(&from->guard, alarms, now, into);
    }
    text_add(into, ",\"promotions\":%s}", promotions);
}

static void add_empty_policy(text *into, live_kind kind, const bandit_settings *settings, const challenger_settings *of)
{
    const estimate none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    add_identity(into, kind, settings, of);
    text_member(into, "state", kind == LIVE_CHALLENGER ? "learning" : "");
    text_member(into, "trouble", "");
    text_add(into, ",\"events\":0,\"from\":null");
    estimate_write(into, &none);
    text_member_number(into, "alpha", of ? live_alpha(settings->confidence, of->number) : (double)NAN);
    text_add(into, ",\"unsupported\":null}");
}

void live_report_write_empty(const bandit_settings *settings, text *into)
{
    text_add(into, "{\"events\":0,\"from\":null,\"to\":null,\"waiting\":null");
    add_head(into, settings);
    for (size_t i = 0; i < LIVE_FIXED; i++) {
        text_add(into, i ? "," : ",\"policies\":[");
        add_empty_policy(into, (live_kind)i, settings, NULL);
    }
    for (size_t i = 0; i < settings->challenger_count; i++) {
        text_add(into, ",");
        add_empty_policy(into, LIVE_CHALLENGER, settings, &settings->challengers[i]);
    }
    text_add(into, "],\"series\":{\"time\":[],\"events\":[],\"policies\":{}},\"promotions\":[]}");
}

/* The body is an object; adds the time and number of the event before its members. */
static void add_event(text *into, const event *from)
{
    const char *body = from->body;
    char time[LOG_TIME_SIZE];
    if (from->size < 2) return;
    log_time_format((double)from->time / 1e6, time);
    text_add(into, "{\"time\":\"%s\",\"event\":%" PRIu64 "%s", time, from->number, from->size > 2 ? "," : "");
    text_bytes(into, body + 1, from->size - 1);
}

ee_status live_report_events(store_reader *log, uint32_t bandit, event_kind kind, text *into, ee_error *error)
{
    enum { MOST = 50 };
    uint64_t numbers[MOST], before = UINT64_MAX;
    size_t count = 0;
    ee_status status = EE_OK;
    while (count < MOST && !(status = store_last(log, bandit, kind, before, &numbers[count], error))) {
        if (!numbers[count]) break;
        before = numbers[count++] - 1;
    }
    text_add(into, "[");
    for (size_t i = count; i-- && !status;) {
        if (i + 1 < count) text_add(into, ",");
        const event *found;
        status = store_read_one(log, bandit, numbers[i], &found, error);
        if (!status) add_event(into, found);
    }
    text_add(into, "]");
    return status ? status : into->status;
}
