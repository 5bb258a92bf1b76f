/* Recent activity of a bandit, for the dashboard. */
#include <inttypes.h>
#include <math.h>

#include "call.h"
#include "data/values/json_members.h"
#include "handlers.h"
#include "latency.h"

static void add_latency(text *into, service *self, bool deciding, const char *name)
{
    metric_mark now, before = latency_before(self, deciding, &now);
    text_add(into, "\"%s\":{\"seconds\":120", name);
    text_member_number(into, "p50", metric_quantile(&before, &now, 0.5));
    text_member_number(into, "p99", metric_quantile(&before, &now, 0.99));
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
        text_add(into, i ? ",{" : "{");
        text_member(into, "id", action->name);
        text_member_number(into, "share", action->share);
        text_member_number(into, "probability", action->probability);
        text_add(into, "}");
    }
    text_add(into, "]");
    text_member_number(into, "others", report->others);
    text_member_number(into, "shares_of", round(report->decisions));
    text_member_number(into, "explored", report->explored);
    text_member_number(into, "mean_probability", report->probability);
    text_member_number(into, "entropy", report->entropy);
}

static void add_slots(text *into, const activity_report *report)
{
    text_add(into, ",\"slots\":[");
    for (size_t i = 0; i < report->slot_count; i++) {
        const activity_slot *slot = &report->slots[i];
        text_add(into, i ? ",{" : "{");
        text_member(into, "id", slot->name);
        text_member_count(into, "decisions", slot->decisions);
        text_member_count(into, "explored", slot->explored);
        text_member_count(into, "rewards", slot->rewards);
        text_member_number(into, "mean_reward", slot->rewards ? slot->reward_sum / (double)slot->rewards : (double)NAN);
        text_add(into, "}");
    }
    text_add(into, "]");
    text_member_count(into, "other_slots", report->other_slots);
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
        text_member_count(into, counts[i].name, atomic_load_explicit(counts[i].count, memory_order_relaxed));
}

static void add_training(text *into, const served_bandit *bandit)
{
    served_standing standing = served_bandit_standing(bandit);
    text_member_flag(into, "awake", standing.awake);
    text_member_count(into, "version", standing.version);
    text_member_count(into, "behind", standing.behind);
    text_member_number(into, "lag_seconds", standing.lag_seconds);
    text_member_count(into, "stride", standing.stride);
    text_member_count(into, "limited", standing.limited);
    text_member_number(into, "model_age", standing.age);
    text_member_number(into, "train_seconds", standing.train_seconds);
}

ee_status api_activity(call *self)
{
    uint32_t number = served_bandit_number(self->bandit);
    server_clock now = journal_clock(self->owner->journal);
    activity_report report;
    bandit_counters *counters = service_counters(self->owner, number);
    text *answer = &self->exchange->answer;
    activity_read(self->owner->activity, number, now.time / 1000000, &report);
    text_add(answer, "{");
    text_member_number(answer, "time", (double)(now.time - now.ahead) * 1e-6);
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
