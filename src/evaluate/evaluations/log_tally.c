#include "log_tally.h"

#include <math.h>

static const double sum_tolerance = 0.001; /* probabilities are float32 in most logs, of up to some hundred actions */

void log_tally_start(log_tally *self, value_range range)
{
    *self = (log_tally){.sequence = confidence_sequence_of_ips(range),
                        .whole = true,
                        .least_probability = INFINITY,
                        .stretch_count = 1,
                        .stretch_events = 1,
                        .first_time = NAN,
                        .last_time = NAN};
}

static void add_probabilities(log_tally *self, const log_event *event)
{
    double sum = 0.0, taken = 0.0, inverse = 0.0, actions = (double)event->count;
    for (size_t i = 0; i < event->count; i++) {
        double p = event->probabilities[i];
        sum += p;
        if (!(p > 0.0)) continue;
        taken++;
        inverse += 1.0 / p;
        if (p < self->least_probability) self->least_probability = p;
    }
    double share = taken / actions, off = fabs(sum - 1.0);
    self->spread_promised += event->copies * share;
    self->spread_variance += event->copies * event->copies * (inverse / (actions * actions) - share * share);
    if (off > self->worst_sum) self->worst_sum = off;
    if (off > sum_tolerance) self->sums_off += event->copies;
}

static void join(reward_stretch *into, const reward_stretch *from)
{
    into->count += from->count;
    into->sum += from->sum;
    into->squares += from->squares;
    into->square_copies += from->square_copies;
}

/* If there is no room for one more, stretches are merged in pairs, so they stay equally long. */
static void join_stretches(log_tally *self)
{
    for (size_t i = 0; i < LOG_STRETCHES / 2; i++) {
        self->stretches[i] = self->stretches[2 * i];
        join(&self->stretches[i], &self->stretches[2 * i + 1]);
    }
    self->stretch_count = LOG_STRETCHES / 2;
    self->stretch_events *= 2;
    self->last_events = self->stretch_events;
}

static void add_stretch(log_tally *self, double reward, double copies)
{
    if (self->last_events == self->stretch_events) {
        if (self->stretch_count == LOG_STRETCHES) join_stretches(self);
        self->stretches[self->stretch_count++] = (reward_stretch){0};
        self->last_events = 0;
    }
    reward_stretch one = {copies, copies * reward, copies * reward * reward, copies * copies};
    join(&self->stretches[self->stretch_count - 1], &one);
    self->last_events++;
}

/* Everything except the sequence. */
static void add(log_tally *self, const log_event *event)
{
    double copies = event->copies, spread = 1.0 / ((double)event->count * event->probability);
    rounds_sums_add(&self->rewards, 1.0, event->reward, 0.0, 0.0, copies);
    self->spread += copies * spread;
    self->spread_copies += copies * copies;
    self->spread_all += copies * copies * spread;
    self->spread_squares += copies * copies * spread * spread;
    if (event->probability < self->least_probability) self->least_probability = event->probability;
    if (event->probabilities)
        add_probabilities(self, event);
    else
        self->whole = false;
    add_stretch(self, event->reward, copies);
    if (isnan(self->first_time)) self->first_time = event->time;
    if (!isnan(event->time)) self->last_time = event->time;
    self->slots = self->slots || event->slot_count > 1;
    self->choice = self->choice || event->count > 1;
    if (self->checks) log_checks_add(self->checks, event);
}

void log_tally_add(log_tally *self, const log_event *event)
{
    add(self, event);
    confidence_sequence_add_ips(&self->sequence, 1.0, event->reward, event->copies);
}

void log_tally_add_slots(log_tally *self, const log_event *const *shown, size_t count)
{
    double earned = 0.0;
    if (!count) return;
    for (size_t i = 0; i < count; i++) {
        add(self, shown[i]);
        earned += shown[i]->reward / (double)count;
    }
    confidence_sequence_add_ips(&self->sequence, 1.0, earned, shown[0]->copies);
    self->rounds_of_slots++;
}

static interval reward_interval(const log_tally *self, const evaluation_request *request, value_range range)
{
    interval_kind kind = request->interval;
    if (kind == INTERVAL_CS) return confidence_sequence_interval(&self->sequence, request->alpha);
    if (kind == INTERVAL_BOOTSTRAP) kind = INTERVAL_NORMAL; /* equivalent for the plain mean of the rewards */
    range.weight_high = 1.0;
    return interval_of_sums(kind, ESTIMATOR_IPS, &self->rewards, range, request->alpha);
}

void log_tally_finish(const log_tally *self, const evaluation_request *request, value_range range, evaluated_log *out)
{
    out->events = self->rewards.events;
    out->rounds = self->rewards.count;
    out->slot_rounds = self->rounds_of_slots;
    out->reward = self->rewards.r / self->rewards.count;
    out->rewards = reward_interval(self, request, range);
    out->range = range;
    out->first_time = self->first_time;
    out->last_time = self->last_time;
}

/* The first third of the stretches against the last. */
static void find_drift(const log_tally *self, diagnosis *facts)
{
    reward_stretch ends[2] = {0};
    size_t third = self->stretch_count / 3;
    facts->reward_first = facts->reward_last = facts->reward_error = NAN;
    for (size_t i = 0; i < third; i++) {
        join(&ends[0], &self->stretches[i]);
        join(&ends[1], &self->stretches[self->stretch_count - 1 - i]);
    }
    if (!third) return;
    double variance = 0.0, means[2];
    for (size_t k = 0; k < 2; k++) {
        double count = ends[k].count;
        means[k] = ends[k].sum / count;
        variance += fmax(ends[k].squares / count - means[k] * means[k], 0.0) * ends[k].square_copies / (count * count);
    }
    facts->reward_first = means[0];
    facts->reward_last = means[1];
    facts->reward_error = sqrt(variance);
}

void log_tally_facts(const log_tally *self, diagnosis *facts)
{
    double rounds = self->rewards.count, mean = self->spread / rounds;
    double seen = self->spread_squares - 2.0 * mean * self->spread_all + mean * mean * self->spread_copies;
    facts->spread_weight = mean;
    facts->spread_weight_error = sqrt(fmax(self->whole ? self->spread_variance : seen, 0.0)) / rounds;
    facts->spread_unsupported = self->whole ? fmax(1.0 - self->spread_promised / rounds, 0.0) : (double)NAN;
    facts->probability_sum = self->whole ? self->worst_sum : (double)NAN;
    facts->sum_off = self->whole ? self->sums_off / rounds : (double)NAN;
    facts->certain = self->choice && self->least_probability >= 1.0;
    facts->slots = self->slots;
    facts->each_slot = self->rounds_of_slots > 0;
    find_drift(self, facts);
    if (self->checks) log_checks_finish(self->checks, &facts->found);
}
