/* Recent activity of a bandit, for the dashboard. */
#include <inttypes.h>
#include <math.h>

#include "call.h"
#include "handlers.h"
#include "latency.h"

static void add_real(text *into, const char *name, double number)
{
    text_add(into, ",\"%s\":", name);
    text_number(into, number);
}

static void add_latency(text *into, service *self, bool deciding, const char *name)
{
    metric_mark now, before = latency_before(self, deciding, &now);
    text_add(into, "\"%s\":{\"seconds\":120", name);
    add_real(into, "p50", metric_quantile(&before, &now, 0.5));
    add_real(into, "p99", metric_quantile(&before, &now, 0.99));
    text_add(into, "}");
}

static void add_seconds(text *into, const activity_report *report)
{
    text_add(into, ",\"seconds\":[");
    for (size_t i = 0; i < ACTIVITY_SECONDS; i++) {
        const activity_second *at = &report->seconds[i];
        text_add(into, "%s{\"decisions\":%" PRIu32 ",\"rewards\":%" PRIu32 ",\"explored\":%" PRIu32 "}", i ? "," : "",
                 at->decisions, at->rewards, at->explored);
    }
    text_add(into, "]");
}

static void add_actions(text *into, const activity_report *report)
{
    text_add(into, ",\"actions\":[");
    for (size_t i = 0; i < report->count; i++) {
        const activity_share *action = &report->actions[i];
        text_add(into, "%s{\"id\":", i ? "," : "");
        text_json(into, (json_text){action->name, strlen(action->name)});
        add_real(into, "share", action->share);
        add_real(into, "probability", action->probability);
        text_add(into, "}");
    }
    text_add(into, "]");
    add_real(into, "others", report->others);
    add_real(into, "shares_of", round(report->decisions));
    add_real(into, "explored", report->explored);
    add_real(into, "mean_probability", report->probability);
    add_real(into, "entropy", report->entropy);
}

static void add_slots(text *into, const activity_report *report)
{
    text_add(into, ",\"slots\":[");
    for (size_t i = 0; i < report->slot_count; i++) {
        const activity_slot *slot = &report->slots[i];
        text_add(into, "%s{\"id\":", i ? "," : "");
        text_json(into, (json_text){slot->name, strlen(slot->name)});
        text_add(into, ",\"decisions\":%" PRIu64 ",\"explored\":%" PRIu64 ",\"rewards\":%" PRIu64, slot->decisions,
                 slot->explored, slot->rewards);
        add_real(into, "mean_reward", slot->rewards ? slot->reward_sum / (double)slot->rewards : (double)NAN);
        text_add(into, "}");
    }
    text_add(into, "],\"other_slots\":%" PRIu64, report->other_slots);
}

static void add_counts(text *into, bandit_counters *of)
{
    const struct {
        const char *name;
        atomic_uint_fast64_t *count;
    } counts[] = {{"decisions", &of->decisions}, {"joined", &of->joined},     {"late", &of->late},
                  {"unknown", &of->unknown},     {"repeated", &of->repeated}, {"defaulted", &of->defaulted},
                  {"waiting", &of->waiting},     {"rejected", &of->rejected}, {"clipped", &of->clipped}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        text_add(into, ",\"%s\":%" PRIu64, counts[i].name,
                 (uint64_t)atomic_load_explicit(counts[i].count, memory_order_relaxed));
}

static void add_training(text *into, const served_bandit *bandit)
{
    served_standing standing = served_bandit_standing(bandit);
    text_add(into, ",\"awake\":%s,\"version\":%" PRIu64 ",\"behind\":%" PRIu64 ",\"lag_seconds\":",
             standing.awake ? "true" : "false", standing.version, standing.behind);
    text_double(into, standing.lag_seconds);
    text_add(into, ",\"stride\":%" PRIu64, standing.stride);
    text_add(into, ",\"limited\":%" PRIu64, standing.limited);
    add_real(into, "model_age", standing.age);
    add_real(into, "train_seconds", standing.train_seconds);
}

ee_status api_activity(call *self)
{
    uint32_t number = served_bandit_number(self->bandit);
    server_clock now = journal_clock(self->owner->journal);
    activity_report report;
    bandit_counters *counters = service_counters(self->owner, number);
    text *answer = &self->exchange->answer;
    activity_read(self->owner->activity, number, now.time / 1000000, &report);
    text_add(answer, "{\"time\":");
    text_double(answer, (double)(now.time - now.ahead) * 1e-6);
    add_seconds(answer, &report);
    if (counters) add_counts(answer, counters);
    add_actions(answer, &report);
    add_slots(answer, &report);
    add_training(answer, self->bandit);
    text_add(answer, ",\"latency\":{");
    add_latency(answer, self->owner, true, "decide");
    text_add(answer, ",");
    add_latency(answer, self->owner, false, "reward");
    text_add(answer, "}}");
    return call_answer(self, 200);
}
