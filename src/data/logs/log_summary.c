#include "log_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/values/id_set.h"

/* Probabilities fall into bins of equal ratio, 1.02, from 1 down to 1e-9: 1046 of them. */
enum { BINS = 1048 };

static const double bin_ratio = 0.0198026272961797; /* log(1.02) */

ee_status log_summary_start(log_summary *out, ee_error *error)
{
    *out = (log_summary){.last_time = (double)NAN};
    out->names.owner = out->metric_names.owner = &out->owner;
    ee_status status = memory_create(&out->owner, &out->bin_counts, BINS, sizeof *out->bin_counts, error);
    if (!status) status = memory_create(&out->owner, &out->bin_sums, BINS, sizeof *out->bin_sums, error);
    return status;
}

void log_summary_release(log_summary *self)
{
    memory_release(&self->owner);
}

double log_range_mean(const log_range *range)
{
    return range->count ? range->sum / (double)range->count : (double)NAN;
}

static void add(log_range *range, double value)
{
    if (!range->count || value < range->least) range->least = value;
    if (!range->count || value > range->largest) range->largest = value;
    range->count++;
    range->sum += value;
}

/* ---- times ---- */

static void add_gap(log_summary *self, double start, double seconds)
{
    size_t place = LOG_GAPS;
    while (place > 0 && seconds > self->gaps[place - 1].seconds) place--;
    if (place == LOG_GAPS) return;
    memmove(&self->gaps[place + 1], &self->gaps[place], (LOG_GAPS - 1 - place) * sizeof self->gaps[0]);
    self->gaps[place] = (log_gap){start, seconds};
}

static void add_time(log_summary *self, double time)
{
    if (isnan(time)) return;
    add(&self->times, time);
    if (time < self->last_time) self->backwards++;
    if (time > self->last_time) add_gap(self, self->last_time, time - self->last_time);
    self->last_time = time;
}

/* ---- probabilities ---- */

static size_t bin_of(double probability)
{
    double place = -log(probability) / bin_ratio;
    return place < 0 ? 0 : place < BINS - 1 ? (size_t)place : BINS - 1;
}

static void add_probabilities(log_summary *self, const log_event *event)
{
    add(&self->probabilities, event->probability);
    size_t bin = bin_of(event->probability);
    self->bin_counts[bin]++;
    self->bin_sums[bin] += event->probability;
    if (!event->probabilities) return;
    double sum = 0;
    size_t possible = 0;
    for (size_t i = 0; i < event->count; i++) {
        add(&self->every_probability, event->probabilities[i]);
        sum += event->probabilities[i];
        possible += event->probabilities[i] > 0;
    }
    self->known++;
    self->supported += possible == event->count;
    self->wrong_sums += !(fabs(sum - 1) <= 1e-4);
}

double log_summary_quantile(const log_summary *self, double share)
{
    double below = 0, wanted = share * (double)self->probabilities.count;
    for (size_t bin = BINS; bin-- > 0;) {
        below += (double)self->bin_counts[bin];
        if (self->bin_counts[bin] && below >= wanted) return self->bin_sums[bin] / (double)self->bin_counts[bin];
    }
    return (double)NAN;
}

/* ---- actions ---- */

static ee_status add_action(log_summary *self, const log_event *event, ee_error *error)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%zu", event->action);
    json_text name = {digits, (size_t)length};
    if (event->actions && event->actions[event->action].length) name = event->actions[event->action];
    size_t number = vocabulary_find(&self->names, name.bytes, name.length);
    if (number == LOG_ACTIONS_MOST) {
        self->others++;
        return EE_OK;
    }
    ee_status status =
        memory_grow(&self->owner, &self->actions, &self->actions_capacity, number + 1, sizeof *self->actions, error);
    if (!status) status = vocabulary_add(&self->names, name.bytes, name.length, &number, error);
    if (status) return status;
    log_action_summary *action = &self->actions[number];
    self->action_count = self->names.count;
    action->taken++;
    action->reward += event->reward;
    action->probability += event->probability;
    return EE_OK;
}

static int most_taken_first(const void *a, const void *b)
{
    const log_action_summary *one = a, *other = b;
    if (one->taken != other->taken) return one->taken < other->taken ? 1 : -1;
    return json_compare(one->name, other->name);
}

/* ---- guardrails and metrics ---- */

static ee_status add_metrics(log_summary *self, const log_event *event, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < event->metric_count && !status; i++) {
        json_text name = event->metrics[i].name;
        size_t number = vocabulary_find(&self->metric_names, name.bytes, name.length);
        if (number == LOG_METRICS) continue;
        status = memory_grow(&self->owner, &self->metrics, &self->metrics_capacity, number + 1, sizeof *self->metrics,
                             error);
        if (!status) status = vocabulary_add(&self->metric_names, name.bytes, name.length, &number, error);
        if (status) break;
        self->metric_count = self->metric_names.count;
        add(&self->metrics[number].values, event->metrics[i].value);
    }
    return status;
}

/* ---- the whole ---- */

ee_status log_summary_add(log_summary *self, const log_event *event, ee_error *error)
{
    add_time(self, event->time);
    if (event->skipped) return EE_OK;
    add(&self->rewards, event->reward);
    self->rewarded += event->reward != 0;
    add(&self->counts, (double)event->count);
    add(&self->copies, event->copies);
    if (event->slot_count) add(&self->slots, (double)event->slot_count);
    self->slates += event->slate;
    add_probabilities(self, event);
    if (event->guard.group) add(&self->groups[event->guard.group], event->reward);
    self->repeats += event->guard.repeats.length > 0;
    ee_status status = add_metrics(self, event, error);
    return status ? status : add_action(self, event, error);
}

void log_summary_end(log_summary *self)
{
    for (size_t i = 0; i < self->action_count; i++) {
        const vocabulary_word *name = &self->names.words[i];
        self->actions[i].name = (json_text){self->names.letters + name->start, name->length};
    }
    for (size_t i = 0; i < self->metric_count; i++) {
        const vocabulary_word *name = &self->metric_names.words[i];
        self->metrics[i].name = (json_text){self->metric_names.letters + name->start, name->length};
    }
    if (self->action_count) qsort(self->actions, self->action_count, sizeof *self->actions, most_taken_first);
}

bool log_is_sampled(const log_event *event, double share, uint64_t seed)
{
    uint64_t parts[2] = {seed, event->line};
    if (event->id.length) parts[1] = id_hash(event->id.bytes, event->id.length);
    return (double)(id_hash((const char *)parts, sizeof parts) >> 11) * 0x1p-53 < share;
}
