#include "tally.h"

#include <math.h>
#include <string.h>

const double evaluation_overlap_ends[EVALUATION_OVERLAP_BINS] = {0.0, 0.0001, 0.001, 0.01, 0.05,
                                                                 0.1, 0.2,    0.5,   0.9,  1.0};

enum { RESAMPLES = 1000 }; /* of the bootstrap: the usual number for percentiles of 2.5% */

/* ---- what estimators need ---- */

static tally_view_kind view_of(estimator_request estimator)
{
    if (estimator.least_variance) return VIEW_OWN;
    return estimator_describe(estimator.kind)->models ? VIEW_MODEL : VIEW_PLAIN;
}

static bool needs_view(const evaluation_request *request, tally_view_kind kind)
{
    for (size_t i = 0; i < request->estimator_count; i++)
        if (view_of(request->estimators[i]) == kind) return true;
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

static bool streams(const evaluation_request *request, size_t index)
{
    return estimator_describe(request->estimators[index].kind)->streams;
}

static bool needs_rounds(const evaluation_request *request)
{
    bool needed = request->interval == INTERVAL_BOOTSTRAP;
    for (size_t i = 0; i < request->estimator_count; i++) needed = needed || !streams(request, i);
    return needed;
}

/* The difference to the log's policy is the same estimator's value with d - r for d: those without a reward model are
 * such with one that predicts 0. ESTIMATOR_KINDS where there is no such form. */
static estimator_kind gain_kind(estimator_kind kind)
{
    switch (kind) {
    case ESTIMATOR_IPS:
        return ESTIMATOR_DR;
    case ESTIMATOR_CLIPPED:
        return ESTIMATOR_CLIPPED_DR;
    case ESTIMATOR_SNIPS:
        return ESTIMATOR_SNDR;
    case ESTIMATOR_SG_IPS:
        return ESTIMATOR_SG_DR;
    case ESTIMATOR_REPLAY:
    case ESTIMATOR_EL:
    case ESTIMATOR_CRESSIE_READ:
        return ESTIMATOR_KINDS;
    default:
        return kind;
    }
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
}

void tally_release(tally *self)
{
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

/* d. The log's policy takes the action that it took: so its DR is the mean reward, whatever the model. */
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

static ee_status add_view(tally *self, tally_view *view, const tally_round *round, double weight, const double *q,
                          ee_error *error)
{
    const log_event *event = round->event;
    double direct = q ? direct_of(round, q) : 0.0, predicted = q ? q[event->action] : 0.0;
    ee_status status = EE_OK;
    if (self->keeps && q) {
        size_t place = (size_t)view->sums.events;
        status = keep_value(self, &view->direct, &view->direct_capacity, place, direct, error);
        if (!status) status = keep_value(self, &view->predicted, &view->predicted_capacity, place, predicted, error);
        if (status) return status;
    }
    rounds_sums_add(&view->sums, weight, event->reward, direct, predicted, event->copies);
    rounds_sums_add(&view->gains, weight, event->reward, direct - event->reward, predicted, event->copies);
    if (!q) {
        confidence_sequence_add_ips(&view->sequence, weight, event->reward, event->copies);
    } else if (self->whole) {
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

/* Where the log tells the taken action's probability alone, a weight stands for the choices that it came from. */
static void add_overlap(tally *self, const tally_round *round, double weight)
{
    const log_event *event = round->event;
    if (!event->probabilities) self->overlap[overlap_bin(event->probability)] += event->copies * weight;
    for (size_t i = 0; event->probabilities && i < event->count; i++)
        if (round->pi[i] > 0.0) self->overlap[overlap_bin(event->probabilities[i])] += event->copies * round->pi[i];
}

/* What the log's probabilities promise of the weight: its mean and variance. */
static void add_promise(tally *self, const tally_round *round)
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
    self->variance += event->copies * event->copies * (square - mass * mass);
}

static void add_facts(tally *self, const tally_round *round, double weight)
{
    double copies = round->event->copies;
    int exponent = weight > 0.0 ? ilogb(weight) + EVALUATION_WEIGHT_ONE : 0;
    int last = EVALUATION_WEIGHT_BINS - 1;
    size_t bin = weight > 0.0 ? (size_t)(exponent < 1 ? 1 : exponent > last ? last : exponent) : 0;
    self->bins[bin] += copies;
    self->square_copies += copies * copies;
    self->square_w += copies * copies * weight;
    self->square_ww += copies * copies * weight * weight;
    add_overlap(self, round, weight);
    if (round->event->probabilities) add_promise(self, round);
}

ee_status tally_add(tally *self, const tally_round *round, ee_error *error)
{
    const log_event *event = round->event;
    double weight = round->logged ? 1.0 : round->pi[event->action] / event->probability;
    ee_status status = self->keeps ? keep_round(self, weight, event, error) : EE_OK;
    if (!event->probabilities) self->whole = false;
    if (!round->logged && round->pi[event->action] > 0.0 && round->pi[event->action] < 1.0) self->chance = true;
    const double *models[VIEWS] = {NULL, round->q, round->own_q};
    for (size_t i = 0; i < VIEWS && !status; i++)
        if (self->views[i].used) status = add_view(self, &self->views[i], round, weight, models[i], error);
    if (status) return status;
    confidence_sequence_add_gain(&self->gain, weight, event->reward, event->copies);
    add_facts(self, round, weight);
    return EE_OK;
}

/* ---- as things stand ---- */

static double mean_reward(const tally *self)
{
    const rounds_sums *sums = &self->views[VIEW_PLAIN].sums;
    return sums->r / sums->count;
}

/* A value from what streams; NaN where it needs the rounds, and of a replay of choices that chance has a part in. */
static double value_now(const tally *self, size_t index)
{
    estimator_request estimator = self->request->estimators[index];
    const tally_view *view = &self->views[view_of(estimator)];
    if (estimator.kind == ESTIMATOR_CRESSIE_READ) return rounds_sums_cressie_read(&view->sums, self->range.weight_high);
    if (estimator.kind == ESTIMATOR_REPLAY && self->chance) return NAN;
    return rounds_sums_value(&view->sums, estimator.kind);
}

/* Wrong probabilities can leave an interval that holds nothing: that is none. */
static interval not_empty(interval found)
{
    return found.low <= found.high ? found : (interval){NAN, NAN};
}

/* An interval from what streams; NaN where it needs the rounds. */
static interval interval_now(const tally *self, size_t index)
{
    const evaluation_request *request = self->request;
    const tally_view *plain = &self->views[VIEW_PLAIN], *view = &self->views[view_of(request->estimators[index])];
    switch (request->interval) {
    case INTERVAL_CS:
        return not_empty(confidence_sequence_interval(&(self->whole ? view : plain)->sequence, request->alpha));
    case INTERVAL_NORMAL:
    case INTERVAL_STUDENT:
        return interval_of_sums(request->interval, request->estimators[index].kind, &view->sums, self->range,
                                request->alpha);
    default:
        return interval_of_sums(request->interval, ESTIMATOR_IPS, &plain->sums, self->range, request->alpha);
    }
}

/* Whether two estimators stand beside the same interval, which takes its time. */
static bool share_interval(const tally *self, size_t left, size_t right)
{
    const estimator_request *all = self->request->estimators;
    interval_kind kind = self->request->interval;
    if (kind == INTERVAL_NORMAL || kind == INTERVAL_STUDENT) return false;
    return kind != INTERVAL_CS || !self->whole || view_of(all[left]) == view_of(all[right]);
}

/* intervals is (estimator_count). */
static void find_intervals(const tally *self, interval *intervals)
{
    for (size_t i = 0; i < self->request->estimator_count; i++) {
        size_t same = 0;
        while (same < i && !share_interval(self, same, i)) same++;
        intervals[i] = same < i ? intervals[same] : interval_now(self, i);
    }
}

/* To what the candidate can earn, less what the log's policy does. Of that too the interval alone is known: its mean in
 * these events may be luck. */
static interval cut_gain(const tally *self, interval logged, interval found)
{
    if (isnan(found.low)) return found;
    found.low = fmax(found.low, self->range.reward_low - logged.high);
    found.high = fmin(found.high, self->range.reward_high - logged.low);
    return not_empty(found);
}

/* Before it is cut. */
static interval gain_now(const tally *self, size_t index, double alpha)
{
    const evaluation_request *request = self->request;
    estimator_kind kind = gain_kind(request->estimators[index].kind);
    bool asymptotic = request->interval == INTERVAL_NORMAL || request->interval == INTERVAL_STUDENT;
    if (!asymptotic || kind == ESTIMATOR_KINDS) return not_empty(confidence_sequence_interval(&self->gain, alpha));
    const tally_view *view = &self->views[view_of(request->estimators[index])];
    return interval_of_sums(request->interval, kind, &view->gains, self->range, alpha);
}

void tally_mark(tally *self, double time)
{
    if (self->mark_count == EVALUATION_MARKS) tally_thin(self);
    const evaluation_request *request = self->request;
    evaluation_mark *mark = &self->marks[self->mark_count++];
    mark->events = self->views[VIEW_PLAIN].sums.events;
    mark->time = time;
    mark->logged = mean_reward(self);
    const rounds_sums *sums = &self->views[VIEW_PLAIN].sums;
    mark->sums = (evaluation_sums){sums->count, sums->w, sums->wr, sums->wwrr, sums->same};
    for (size_t i = 0; i < request->estimator_count; i++) mark->values[i] = value_now(self, i);
    find_intervals(self, mark->intervals);
}

void tally_thin(tally *self)
{
    size_t kept = 0;
    for (size_t i = 1; i < self->mark_count; i += 2) self->marks[kept++] = self->marks[i];
    self->mark_count = kept;
}

/* ---- estimators and intervals that need the rounds ---- */

static evaluated_rounds kept_rounds(const tally *self, const tally_view *view)
{
    return (evaluated_rounds){(size_t)view->sums.events, self->weights, self->rewards, view->direct,
                              view->predicted,           self->copies};
}

/* The interval of an estimator from kept rounds: of the value, or of the gain where kind and rounds are its. */
static ee_status kept_interval(const tally *self, estimator_kind kind, double lambda, const evaluated_rounds *rounds,
                               interval *out, ee_error *error)
{
    const evaluation_request *request = self->request;
    double *terms;
    *out = (interval){NAN, NAN};
    if (kind == ESTIMATOR_EL || kind == ESTIMATOR_CRESSIE_READ) return EE_OK;
    if (request->interval == INTERVAL_BOOTSTRAP) {
        random_stream stream = random_named(request->seed, "bootstrap");
        return interval_bootstrap(kind, lambda, rounds, RESAMPLES, request->alpha, &stream, out, error);
    }
    ee_status status = memory_create(NULL, &terms, rounds->count, sizeof *terms, error);
    if (status) return status;
    estimator_terms(kind, lambda, rounds, terms);
    *out = interval_of_terms(request->interval, terms, rounds->copies, rounds->count, request->alpha);
    memory_free(terms);
    return EE_OK;
}

/* With d - r in place of d. */
static ee_status kept_gain(const tally *self, estimator_kind kind, double lambda, const evaluated_rounds *rounds,
                           interval *out, ee_error *error)
{
    double *direct;
    ee_status status = memory_create(NULL, &direct, rounds->count, sizeof *direct, error);
    if (status) return status;
    for (size_t i = 0; i < rounds->count; i++)
        direct[i] = (rounds->direct ? rounds->direct[i] : 0.0) - rounds->rewards[i];
    evaluated_rounds gains = *rounds;
    gains.direct = direct;
    status = kept_interval(self, gain_kind(kind), lambda, &gains, out, error);
    memory_free(direct);
    return status;
}

/* The values at the marks, by the lambda that was chosen in the end: the means of the first terms. */
static ee_status fill_marks(tally *self, size_t index, double lambda, const evaluated_rounds *rounds, ee_error *error)
{
    estimator_kind kind = self->request->estimators[index].kind;
    double *terms, sum = 0.0, count = 0.0;
    if (kind == ESTIMATOR_EL) return EE_OK; /* it has no terms, and its marks no values */
    ee_status status = memory_create(NULL, &terms, rounds->count, sizeof *terms, error);
    if (status) return status;
    estimator_terms(kind, lambda, rounds, terms);
    for (size_t i = 0, mark = 0; i < rounds->count && mark < self->mark_count; i++) {
        double copies = rounds->copies ? rounds->copies[i] : 1.0;
        sum += copies * terms[i];
        count += copies;
        if (i + 1 == self->marks[mark].events) self->marks[mark++].values[index] = sum / count;
    }
    memory_free(terms);
    return EE_OK;
}

static ee_status finish_kept(tally *self, size_t index, estimate *out, ee_error *error)
{
    const evaluation_request *request = self->request;
    estimator_kind kind = request->estimators[index].kind;
    const tally_view *view = &self->views[view_of(request->estimators[index])];
    evaluated_rounds rounds = kept_rounds(self, view);
    ee_status status = EE_OK;
    if (estimator_describe(kind)->tuned) status = estimator_tune(kind, request->tuning, &rounds, &out->lambda, error);
    if (status) return status;
    if (!streams(request, index)) {
        double lambda = kind == ESTIMATOR_EL ? self->range.weight_high : out->lambda;
        out->value = estimator_value(kind, lambda, &rounds);
        status = fill_marks(self, index, out->lambda, &rounds, error);
    }
    if (status) return status;
    bool resamples = request->interval == INTERVAL_BOOTSTRAP;
    bool asymptotic = request->interval == INTERVAL_NORMAL || request->interval == INTERVAL_STUDENT;
    if (!resamples && (!asymptotic || streams(request, index))) return EE_OK;
    interval found, gain = {out->gain_low, out->gain_high};
    status = kept_interval(self, kind, out->lambda, &rounds, &found, error);
    if (!status && gain_kind(kind) != ESTIMATOR_KINDS)
        status = kept_gain(self, kind, out->lambda, &rounds, &gain, error);
    if (status) return status;
    out->low = found.low;
    out->high = found.high;
    out->gain_low = gain.low;
    out->gain_high = gain.high;
    return EE_OK;
}

/* ---- the end ---- */

/* Before its gain is cut. */
static estimate estimate_now(const tally *self, size_t index, double gain_alpha)
{
    const estimator_request estimator = self->request->estimators[index];
    const tally_view *view = &self->views[view_of(estimator)];
    interval about = interval_now(self, index), gain = gain_now(self, index, gain_alpha);
    return (estimate){
        rounds_sums_value(&view->sums, estimator.kind), about.low, about.high, NAN, gain.low, gain.high, NAN};
}

static void cut_estimate(const tally *self, interval logged, estimate *out)
{
    interval gain = cut_gain(self, logged, (interval){out->gain_low, out->gain_high});
    out->gain = out->value - mean_reward(self);
    out->gain_low = gain.low;
    out->gain_high = gain.high;
}

estimate tally_estimate(const tally *self, size_t index, interval logged, double gain_alpha)
{
    estimate found = estimate_now(self, index, gain_alpha);
    cut_estimate(self, logged, &found);
    return found;
}

static ee_status finish_estimate(tally *self, size_t index, interval logged, estimate *out, ee_error *error)
{
    const tally_view *view = &self->views[view_of(self->request->estimators[index])];
    *out = estimate_now(self, index, self->request->alpha);
    ee_status status = self->keeps && view->sums.events ? finish_kept(self, index, out, error) : EE_OK;
    cut_estimate(self, logged, out);
    return status;
}

double tally_unsupported(const tally *self)
{
    double rounds = self->views[VIEW_PLAIN].sums.count;
    return self->whole ? fmax(1.0 - self->supported / rounds, 0.0) : (double)NAN;
}

static bool asks_for(const evaluation_request *request, estimator_kind kind)
{
    for (size_t i = 0; i < request->estimator_count; i++)
        if (request->estimators[i].kind == kind) return true;
    return false;
}

static void finish_facts(const tally *self, diagnosis *facts)
{
    const tally_view *plain = &self->views[VIEW_PLAIN];
    const tally_view *model = &self->views[self->views[VIEW_MODEL].used ? VIEW_MODEL : VIEW_OWN];
    const rounds_sums *sums = &plain->sums;
    double mean = sums->w / sums->count;
    double seen = self->square_ww - 2.0 * mean * self->square_w + mean * mean * self->square_copies;
    facts->events = sums->events;
    facts->rounds = sums->count;
    facts->effective = rounds_sums_effective(sums);
    facts->largest_weight = sums->wmax;
    facts->largest_share = sums->wmax / sums->w;
    facts->mean_weight = mean;
    facts->mean_weight_error = sqrt(fmax(self->whole ? self->variance : seen, 0.0)) / sums->count;
    facts->unsupported = tally_unsupported(self);
    facts->taken_alone = model->used && !self->whole && self->request->interval == INTERVAL_CS;
    facts->direct = facts->robust = facts->robust_error = NAN;
    if (!model->used || !asks_for(self->request, ESTIMATOR_DM)) return; /* DR corrects what the model is wrong by */
    facts->direct = rounds_sums_value(&model->sums, ESTIMATOR_DM);
    facts->robust = rounds_sums_value(&model->sums, ESTIMATOR_DR);
    /* Half an interval of one standard error each way. */
    interval one = interval_of_sums(INTERVAL_NORMAL, ESTIMATOR_DR, &model->sums, self->range, erfc(sqrt(0.5)));
    facts->robust_error = 0.5 * (one.high - one.low);
}

ee_status tally_finish(tally *self, evaluation_result *result, ee_error *error)
{
    const evaluation_request *request = self->request;
    const rounds_sums *sums = &self->views[VIEW_PLAIN].sums;
    ee_status status = EE_OK;
    for (size_t i = 0; i < request->estimator_count && !status; i++)
        status = finish_estimate(self, i, result->log.rewards, &result->estimates[i], error);
    if (!status) status = memory_create(NULL, &result->marks, self->mark_count, sizeof *result->marks, error);
    if (status) return status;
    memcpy(result->marks, self->marks, self->mark_count * sizeof *result->marks);
    result->mark_count = self->mark_count;
    finish_facts(self, &result->facts);
    for (size_t i = 0; i < EVALUATION_WEIGHT_BINS; i++) result->weights[i] = self->bins[i] / sums->count;
    for (size_t i = 0; i < EVALUATION_OVERLAP_BINS; i++) result->overlap[i] = self->overlap[i] / sums->count;
    if (!self->whole) result->overlap[0] = NAN;
    return EE_OK;
}
