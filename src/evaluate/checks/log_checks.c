#include "log_checks.h"

#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"

ee_status log_checks_create(log_checks **out, ee_error *error)
{
    ee_status status = memory_create(NULL, out, 1, sizeof **out, error);
    if (status) return status;
    log_checks *self = *out;
    self->whole = self->same_probability = true;
    self->stretch_count = self->stretch_events = 1;
    self->latest = self->largest_reward = -INFINITY;
    self->least_reward = INFINITY;
    self->previous = SIZE_MAX;
    return EE_OK;
}

/* ---- sums ---- */

/* variance: of the difference, as the probabilities imply it, or an unbiased estimate. The squares alone miss a rare
 * loss that has not occurred yet. */
static void add_balance(log_balance *into, double difference, double variance, double copies)
{
    double size = copies * difference;
    into->rounds += copies;
    into->sum += size;
    into->squares += size * size;
    into->variance += copies * copies * variance;
    into->largest = fmax(into->largest, fmax(fabs(size), copies)); /* what is missing counts 1 */
}

static void join_balance(log_balance *into, const log_balance *from)
{
    into->rounds += from->rounds;
    into->sum += from->sum;
    into->squares += from->squares;
    into->variance += from->variance;
    into->largest = fmax(into->largest, from->largest);
}

void log_stretch_join(log_stretch *into, const log_stretch *from)
{
    if (into->events == 0.0) into->line = from->line;
    into->events += from->events;
    into->spread_seen += from->spread_seen;
    join_balance(&into->spread, &from->spread);
    join_balance(&into->chosen, &from->chosen);
    into->low_seen += from->low_seen;
    into->reward += from->reward;
    into->squares += from->squares;
    if (from->nonzero > 0.0) {
        into->least_size = into->nonzero > 0.0 ? fmin(into->least_size, from->least_size) : from->least_size;
        into->largest_size = fmax(into->largest_size, from->largest_size);
    }
    into->nonzero += from->nonzero;
    into->signs += from->signs;
    into->logs += from->logs;
    into->log_squares += from->log_squares;
}

/* The stretch that the event belongs to. If there is no room for one more, they are merged in pairs. */
static log_stretch *next_stretch(log_checks *self, size_t line)
{
    if (self->last_events == self->stretch_events) {
        if (self->stretch_count == LOG_CHECK_STRETCHES) {
            for (size_t i = 0; i < LOG_CHECK_STRETCHES / 2; i++) {
                log_stretch pair = self->stretches[2 * i];
                log_stretch_join(&pair, &self->stretches[2 * i + 1]);
                self->stretches[i] = pair;
            }
            self->stretch_count /= 2;
            self->stretch_events *= 2;
        }
        self->stretches[self->stretch_count++] = (log_stretch){0};
        self->last_events = 0;
    }
    log_stretch *last = &self->stretches[self->stretch_count - 1];
    if (!self->last_events++) last->line = line;
    last->events++;
    return last;
}

static void add_mean(log_mean *into, double weight, double reward)
{
    into->w += weight;
    into->ww += weight * weight;
    into->wr += weight * reward;
    into->wwr += weight * weight * reward;
    into->wwrr += weight * weight * reward * reward;
}

/* ---- propensities ---- */

static log_checked_action *action_at(log_checks *self, size_t number)
{
    return &self->actions[number < LOG_CHECK_ACTIONS ? number : LOG_CHECK_ACTIONS - 1];
}

/* All probabilities are known: how often each action was chosen against how often it should be, and the propensity of
 * the chosen one against its expectation. Counts have no large weights, so rare actions raise no false alarm. */
static void add_all(log_checks *self, log_stretch *into, const log_event *event)
{
    double squares = 0.0, cubes = 0.0, possible = 0.0, copies = event->copies;
    for (size_t i = 0; i < event->count; i++) {
        double p = event->probabilities[i];
        squares += p * p;
        cubes += p * p * p;
        possible += p > 0.0 ? 1.0 : 0.0;
        log_checked_action *action = action_at(self, i);
        action->expected += copies * p;
        action->balance.variance += copies * copies * p * (1.0 - p);
    }
    add_balance(&action_at(self, event->action)->balance, 1.0, 0.0, copies);
    double weight = 1.0 / ((double)event->count * event->probability), share = possible / (double)event->count;
    add_balance(&into->spread, weight - share, 0.0, copies);
    add_balance(&into->chosen, event->probability - squares, fmax(cubes - squares * squares, 0.0), copies);
}

/* Only the propensity of the chosen action is known. Which actions were possible is not, so weights may sum to less
 * than expected, never to more. An event with a propensity p above 0.5 has other actions that share 1 - p, each with a
 * lower one: for every such event, 1 / p - 1 events with a lower propensity are expected. */
static void add_one(log_checks *self, log_stretch *into, const log_event *event)
{
    double p = event->probability, copies = event->copies, weight = 1.0 / p;
    bool high = p > 0.5;
    add_balance(&into->chosen, high ? weight - 1.0 : -1.0, high ? (weight - 1.0) * weight : 0.0, copies);
    if (event->count < 2) return; /* the number of actions may be unknown */
    add_balance(&into->spread, weight / (double)event->count - 1.0, 0.0, copies);
    add_balance(&action_at(self, event->action)->balance, weight, 0.0, copies);
    for (size_t i = 0; i < event->count && i < LOG_CHECK_ACTIONS; i++)
        self->actions[i].possible += i + 1 < LOG_CHECK_ACTIONS ? copies : copies * (double)(event->count - i);
}

static void add_name(log_checks *self, const log_event *event)
{
    log_checked_action *action = action_at(self, event->action);
    if (!event->actions) return;
    json_text name = event->actions[event->action];
    if (!action->named && name.length < LOG_CHECK_NAME) memcpy(action->name, name.bytes, name.length);
    action->named = true;
    /* Too long, or another name at the same place, which is then no identity. */
    if (strlen(action->name) != name.length || memcmp(action->name, name.bytes, name.length) != 0)
        action->name[0] = '\0';
}

static void add_propensity(log_checks *self, log_stretch *into, const log_event *event)
{
    double p = event->probability, copies = event->copies, w = 1.0 / ((double)event->count * p);
    if (event->probabilities) {
        add_all(self, into, event);
    } else {
        add_one(self, into, event);
        self->whole = false;
    }
    add_name(self, event);
    self->single = self->single || event->count < 2;
    into->spread_seen += copies * w;
    into->low_seen += p <= 0.5 ? copies : 0.0;
    add_mean(&self->random, copies * w, event->reward);
    add_mean(&self->logged, copies, event->reward);
    if (!self->events) self->first_probability = p;
    self->same_probability = self->same_probability && p == self->first_probability;
    if (p < 1.0 || event->count < 2) return;
    if (!(self->certain > 0.0)) self->certain_line = event->line;
    self->certain += copies;
}

void log_fit_add(log_fit *self, const log_event *event, const double *pi)
{
    double copies = event->copies, same = 0.0, squares = 0.0;
    const double *p = event->probabilities;
    self->whole_unknown = self->whole_unknown || !p;
    if (event->count < 2) return;
    for (size_t i = 0; i < event->count; i++) {
        if (!(pi[i] > 0.0) || (p && !(p[i] > 0.0))) continue;
        double weight = i == event->action ? 1.0 / event->probability : 0.0, square = pi[i] * pi[i];
        double variance = square * (p ? 1.0 / p[i] - 1.0 : weight * (weight - 1.0));
        log_balance *of = &self->actions[i < LOG_CHECK_ACTIONS ? i : LOG_CHECK_ACTIONS - 1];
        add_balance(of, pi[i] * (weight - 1.0), variance, copies);
        same += p ? pi[i] * p[i] : 0.0;
        squares += p ? square * p[i] : 0.0;
    }
    if (!p) return;
    add_balance(&self->same, pi[event->action] - same, fmax(squares - same * same, 0.0), copies);
    self->expected += copies * same;
}

/* ---- copies ---- */

/* In an event in which this action was chosen before: the same one again has weight 1 / p, and 1 is expected. */
static bool weigh_again(log_repetition *into, const log_event *event, size_t action)
{
    bool same = event->action == action;
    if (action >= event->count || (event->probabilities && !(event->probabilities[action] > 0.0))) return false;
    double weight = same ? 1.0 / event->probability : 0.0;
    add_balance(&into->possible, weight - 1.0, same ? (weight - 1.0) * weight : 0.0, event->copies);
    add_balance(&into->random, weight - 1.0 / ((double)event->count * event->probability), 0.0, event->copies);
    return same;
}

/* A slot keeps the smallest of its hashes. */
static void add_situation(log_sample *self, uint64_t hash, const log_event *event)
{
    size_t at = (size_t)(hash >> 32) % LOG_SAMPLE_SLOTS;
    if (self->used[at] && self->hashes[at] < hash) return;
    if (self->used[at] && self->hashes[at] == hash) {
        bool same = weigh_again(&self->again, event, self->actions[at]);
        if (same && !self->same) self->first_line = event->line;
        self->same += same;
        return;
    }
    self->used[at] = true;
    self->hashes[at] = hash;
    self->actions[at] = (uint32_t)event->action;
}

static uint64_t hash_numbers(const double *numbers, size_t count)
{
    return checksum_64(numbers, count * sizeof *numbers);
}

/* Of vectors some numbers are enough, spread over the arms. */
static uint64_t hash_arms(const ee_arms *arms)
{
    enum { NUMBERS = 16 };
    float some[NUMBERS];
    size_t values = arms->starts ? arms->starts[arms->count] : arms->count * arms->dim;
    size_t count = values < NUMBERS ? values : NUMBERS;
    for (size_t i = 0; i < count; i++) some[i] = arms->values[i * values / count];
    return checksum_64(some, count * sizeof *some);
}

/* What the policy saw, and when. Returns whether anything is known of it. */
static bool hash_situation(const log_event *event, uint64_t *out)
{
    bool vectors = event->arms.count && event->arms.values;
    uint64_t parts[3] = {0};
    if (vectors) parts[0] = hash_arms(&event->arms);
    if (event->context.length) parts[1] = checksum_64(event->context.bytes, event->context.length);
    if (!isnan(event->time)) parts[2] = hash_numbers(&event->time, 1);
    *out = checksum_64(parts, sizeof parts);
    return vectors || event->context.length || !isnan(event->time);
}

static void add_copies(log_checks *self, const log_event *event)
{
    uint64_t situation;
    if (event->count < 2) return;
    if (hash_situation(event, &situation)) add_situation(&self->situations, situation, event);
    if (self->events >= LOG_CHECK_HISTORY)
        add_situation(&self->histories, checksum_64(self->history, sizeof self->history), event);
    if (self->previous != SIZE_MAX) weigh_again(&self->again, event, self->previous);
    const double told[] = {(double)event->action, (double)event->count, event->probability, event->reward};
    memmove(self->history, self->history + 1, (LOG_CHECK_HISTORY - 1) * sizeof *self->history);
    self->history[LOG_CHECK_HISTORY - 1] = hash_numbers(told, sizeof told / sizeof *told);
    self->previous = event->action;
}

/* ---- rewards and times ---- */

/* Ends a run of events without reward. */
static void end_run(log_checks *self)
{
    if (self->run.events > self->longest.events) self->longest = self->run;
    self->run = (log_run){0};
}

static void add_reward(log_checks *self, log_stretch *into, const log_event *event)
{
    double reward = event->reward, size = fabs(reward), ratio = size == 0.0 || size == 1.0 ? 0.0 : log(size);
    into->reward += reward;
    into->squares += reward * reward;
    self->least_reward = fmin(self->least_reward, reward);
    self->largest_reward = fmax(self->largest_reward, reward);
    if (size == 0.0) {
        if (!self->run.events++) self->run = (log_run){event->line, self->events, self->rewarded, 1};
        return;
    }
    end_run(self);
    self->rewarded++;
    into->least_size = into->nonzero > 0.0 ? fmin(into->least_size, size) : size;
    into->largest_size = fmax(into->largest_size, size);
    into->nonzero++;
    into->signs += reward > 0.0 ? 1.0 : -1.0;
    into->logs += ratio;
    into->log_squares += ratio * ratio;
}

static void add_time(log_checks *self, const log_event *event)
{
    const double tolerance = 60.0; /* seconds: events of several servers arrive a little out of order */
    if (isnan(event->time)) return;
    double late = self->latest - event->time;
    self->latest = fmax(self->latest, event->time);
    self->timed++;
    if (!(late > tolerance)) return;
    if (!self->late++) self->late_line = event->line;
    self->lateness = fmax(self->lateness, late);
}

void log_checks_add(log_checks *self, const log_event *event)
{
    log_stretch *stretch = next_stretch(self, event->line);
    add_propensity(self, stretch, event);
    add_copies(self, event);
    add_reward(self, stretch, event);
    add_time(self, event);
    self->rounds += event->copies;
    self->events++;
    self->last_line = event->line;
}
