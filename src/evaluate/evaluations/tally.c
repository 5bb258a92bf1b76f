#include "tally.h"

#include <math.h>
#include <string.h>

#include "tally_inside.h"

const double evaluation_overlap_ends[EVALUATION_OVERLAP_BINS] = {0.0, 0.0001, 0.001, 0.01, 0.05,
                                                                 0.1, 0.2,    0.5,   0.9,  1.0};

/* ---- what estimators need ---- */

tally_view_kind tally_view_of(estimator_request estimator)
{
    if (estimator.least_variance) return VIEW_OWN;
    return estimator_describe(estimator.kind)->models ? VIEW_MODEL : VIEW_PLAIN;
}

static bool needs_view(const evaluation_request *request, tally_view_kind kind)
{
    for (size_t i = 0; i < request->estimator_count; i++)
        if (tally_view_of(request->estimators[i]) == kind) return true;
    return false;
}

bool tally_needs_model(const evaluation_request *request)
{
    return needs_view(request, VIEW_MODEL);
}

bool tally_needs_own_model(const evaluation_request *request)
{
    return needs_view(request, VIEW_OWN);
}

bool tally_streams(const evaluation_request *request, size_t index)
{
    return estimator_describe(request->estimators[index].kind)->streams;
}

static bool needs_rounds(const evaluation_request *request)
{
    bool needed = request->interval == INTERVAL_BOOTSTRAP;
    for (size_t i = 0; i < request->estimator_count; i++) needed = needed || !tally_streams(request, i);
    return needed;
}

void tally_start(tally *self, const evaluation_request *request, value_range range)
{
    *self = (tally){.request = request, .range = range, .whole = true, .keeps = needs_rounds(request)};
    for (size_t i = 0; i < VIEWS; i++) {
        self->views[i].used = i == VIEW_PLAIN || needs_view(request, (tally_view_kind)i);
        self->views[i].sequence = confidence_sequence_of_dr(range);
    }
    self->views[VIEW_PLAIN].sequence = confidence_sequence_of_ips(range);
    self->gain = confidence_sequence_of_gain(range);
    self->test = gain_test_start(range);
}

void tally_release(tally *self)
{
    for (size_t i = 0; i < self->slot_count; i++) {
        memory_release(&self->slots[i]->memory);
        memory_free(self->slots[i]);
    }
    self->slot_count = 0;
    memory_release(&self->memory);
}

/* ---- adding ---- */

static ee_status keep_value(tally *self, double **array, size_t *capacity, size_t place, double value, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, array, capacity, place + 1, sizeof **array, error);
    if (!status) (*array)[place] = value;
    return status;
}

static ee_status keep_copies(tally *self, size_t place, double copies, ee_error *error)
{
    if (!self->copies && copies == 1.0) return EE_OK;
    size_t filled = self->copies ? place : 0;
    ee_status status = EE_OK;
    for (; filled < place && !status; filled++)
        status = keep_value(self, &self->copies, &self->copy_capacity, filled, 1.0, error);
    return status ? status : keep_value(self, &self->copies, &self->copy_capacity, place, copies, error);
}

static ee_status keep_round(tally *self, double weight, const log_event *event, ee_error *error)
{
    size_t place = (size_t)self->views[VIEW_PLAIN].sums.events;
    ee_status status = keep_value(self, &self->weights, &self->weight_capacity, place, weight, error);
    if (!status) status = keep_value(self, &self->rewards, &self->reward_capacity, place, event->reward, error);
    return status ? status : keep_copies(self, place, event->copies, error);
}

/* d. The logging policy takes the logged action with certainty, so its DR is the mean reward, whatever the model. */
static double direct_of(const tally_round *round, const double *q)
{
    if (round->logged) return q[round->event->action];
    double sum = 0.0, mass = 0.0;
    for (size_t i = 0; i < round->event->count; i++) {
        sum += round->pi[i] * q[i];
        mass += round->pi[i];
    }
    return sum / mass;
}

/* A round with its weight, which includes the factor from other slots (1 without them); alone: it is not one of several
 * slots that count together. */
typedef struct weighed_round {
    const tally_round *round;
    double weight, factor;
    bool alone;
} weighed_round;

static ee_status add_view(tally *self, tally_view *view, const weighed_round *one, const double *q, ee_error *error)
{
    const tally_round *round = one->round;
    const log_event *event = round->event;
    double weight = one->weight;
    double direct = q ? one->factor * direct_of(round, q) : 0.0, predicted = q ? q[event->action] : 0.0;
    ee_status status = EE_OK;
    if (self->keeps && q) {
        size_t place = (size_t)view->sums.events;
        status = keep_value(self, &view->direct, &view->direct_capacity, place, direct, error);
        if (!status) status = keep_value(self, &view->predicted, &view->predicted_capacity, place, predicted, error);
        if (status) return status;
    }
    rounds_sums_add(&view->sums, weight, event->reward, direct, predicted, event->copies);
    rounds_sums_add(&view->gains, weight, event->reward, direct - event->reward, predicted, event->copies);
    if (!one->alone || self->request->interval != INTERVAL_CS) return EE_OK;
    if (!q) {
        confidence_sequence_add_ips(&view->sequence, weight, event->reward, event->copies);
    } else if (self->whole && one->factor == 1.0) {
        scored_round scored = {event->count,  round->pi,     event->probabilities, q,
                               event->action, event->reward, event->copies};
        confidence_sequence_add_dr(&view->sequence, &scored);
    }
    return EE_OK;
}

static size_t overlap_bin(double p)
{
    size_t bin = 0;
    while (bin + 1 < EVALUATION_OVERLAP_BINS && p > evaluation_overlap_ends[bin]) bin++;
    return bin;
}

/* If the log has only the probability of the logged action, its weight represents the choices behind it. */
static void add_overlap(tally *self, const tally_round *round, double weight)
{
    const log_event *event = round->event;
    if (!event->probabilities) self->overlap[overlap_bin(event->probability)] += event->copies * weight;
    for (size_t i = 0; event->probabilities && i < event->count; i++)
        if (round->pi[i] > 0.0) self->overlap[overlap_bin(event->probabilities[i])] += event->copies * round->pi[i];
}

/* Mean and variance of the weight implied by the propensities. */
static void add_promise(tally *self, const tally_round *round, double factor)
{
    const log_event *event = round->event;
    double mass = 0.0, square = 0.0;
    for (size_t i = 0; i < event->count; i++) {
        double pi = round->pi[i], p = event->probabilities[i];
        if (!(p > 0.0) || pi == 0.0) continue;
        mass += pi;
        square += pi * pi / p;
    }
    self->supported += event->copies * mass;
    self->promised += event->copies * factor * mass;
    self->variance += event->copies * event->copies * factor * factor * (square - mass * mass);
}

static void add_facts(tally *self, const weighed_round *one)
{
    const tally_round *round = one->round;
    double copies = round->event->copies, weight = one->weight;
    int exponent = weight > 0.0 ? ilogb(weight) + EVALUATION_WEIGHT_ONE : 0;
    int last = EVALUATION_WEIGHT_BINS - 1;
    size_t bin = weight > 0.0 ? (size_t)(exponent < 1 ? 1 : exponent > last ? last : exponent) : 0;
    self->bins[bin] += copies;
    add_overlap(self, round, one->factor > 0.0 ? weight / one->factor : 0.0);
    if (round->event->probabilities) add_promise(self, round, one->factor);
}

static double ratio_of(const tally_round *round)
{
    return round->logged ? 1.0 : round->pi[round->event->action] / round->event->probability;
}

static void add_gain(tally *self, const weighed_round *one)
{
    const tally_round *round = one->round;
    const log_event *event = round->event;
    confidence_sequence_add_gain(&self->gain, one->weight, event->reward, event->copies);
    if (!self->request->tests_gain) return;
    bool known = event->probabilities && !round->logged && one->factor == 1.0;
    scored_round scored = {.count = event->count,
                           .pi = round->pi,
                           .p = known ? event->probabilities : NULL,
                           .action = event->action,
                           .reward = event->reward,
                           .copies = event->copies};
    gain_test_add(&self->test, &scored, one->weight);
}

static ee_status add(tally *self, const weighed_round *one, ee_error *error)
{
    const tally_round *round = one->round;
    const log_event *event = round->event;
    ee_status status = self->keeps ? keep_round(self, one->weight, event, error) : EE_OK;
    if (!event->probabilities) self->whole = false;
    if (one->factor != 1.0) self->factored = true;
    if (!round->logged && round->pi[event->action] > 0.0 && round->pi[event->action] < 1.0) self->chance = true;
    const double *models[VIEWS] = {NULL, round->q, round->own_q};
    for (size_t i = 0; i < VIEWS && !status; i++)
        if (self->views[i].used) status = add_view(self, &self->views[i], one, models[i], error);
    if (status) return status;
    if (one->alone) add_gain(self, one);
    add_facts(self, one);
    return EE_OK;
}

ee_status tally_add(tally *self, const tally_round *round, ee_error *error)
{
    weighed_round one = {round, ratio_of(round), 1.0, true};
    return add(self, &one, error);
}

/* ---- adding slots ---- */

ee_status tally_reserve_slots(tally *self, size_t count, ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->slots, &self->slot_capacity, count, sizeof *self->slots, error);
    while (self->slot_count < count && !status) {
        tally *one = NULL;
        status = memory_create(NULL, &one, 1, sizeof *one, error);
        if (status) break;
        tally_start(one, self->request, self->range);
        self->slots[self->slot_count++] = one;
    }
    if (!status)
        status = memory_grow(&self->memory, &self->slot_weights, &self->slot_weight_capacity, 3 * count,
                             sizeof *self->slot_weights, error);
    return status;
}

/* The factor of slot k's weight: the ratios of other slots that its reward may depend on. */
static double factor_of(slot_weighting by, const double *ratios, size_t count, size_t k)
{
    double factor = 1.0;
    for (size_t j = 0; by != SLOT_OWN && j < count; j++)
        if (j < k || (by == SLOT_WHOLE && j > k)) factor *= ratios[j];
    return factor;
}

ee_status tally_add_slots(tally *self, const tally_slot *slots, size_t count, ee_error *error)
{
    slot_weighting by = self->request->slots;
    ee_status status = tally_reserve_slots(self, count, error);
    if (status) return status;
    double *ratios = self->slot_weights, *weights = ratios + count, *rewards = weights + count;
    size_t shown = 0;
    for (size_t k = 0; k < count; k++) ratios[k] = ratio_of(&slots[k].round);
    for (size_t k = 0; k < count && !status; k++) {
        if (slots[k].skipped) continue;
        weighed_round one = {.round = &slots[k].round, .factor = factor_of(by, ratios, count, k)};
        one.weight = weights[shown] = one.factor * ratios[k];
        rewards[shown++] = one.round->event->reward;
        status = add(self, &one, error);
        one.alone = true;
        if (!status) status = add(self->slots[k], &one, error);
    }
    if (status || !shown) return status;
    double copies = slots[0].round.event->copies;
    confidence_sequence_add_ips_slots(&self->views[VIEW_PLAIN].sequence, weights, rewards, shown, copies);
    confidence_sequence_add_gain_slots(&self->gain, weights, rewards, shown, copies);
    if (self->request->tests_gain) gain_test_add_slots(&self->test, weights, rewards, shown, copies);
    return EE_OK;
}

/* A weight of several slots is at most the product of theirs. */
void tally_bound_weights(tally *self, double high)
{
    slot_weighting by = self->request->slots;
    self->range.weight_high = high;
    for (size_t k = 0; k < self->slot_count; k++) {
        size_t factors = by == SLOT_OWN ? 1 : by == SLOT_CASCADE ? k + 1 : self->slot_count;
        self->slots[k]->range.weight_high = pow(high, (double)factors);
        self->range.weight_high = fmax(self->range.weight_high, self->slots[k]->range.weight_high);
    }
}
