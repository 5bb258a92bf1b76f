/* The estimates of a tally: current ones and final ones. */
#include "tally.h"

#include <math.h>
#include <string.h>

#include "tally_inside.h"

enum { RESAMPLES = 1000 }; /* of the bootstrap: common for percentiles of 2.5% */

/* The difference from the logging policy is the same estimator's value with d - r for d; estimators without a reward
 * model count as predicting 0. ESTIMATOR_KINDS if there is no such form. */
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

/* ---- current estimates ---- */

static double mean_reward(const tally *self)
{
    const rounds_sums *sums = &self->views[VIEW_PLAIN].sums;
    return sums->r / sums->count;
}

/* A value from streaming sums; NaN if it needs the rounds, and for replay of a randomised candidate. */
static double value_now(const tally *self, size_t index)
{
    estimator_request estimator = self->request->estimators[index];
    const tally_view *view = &self->views[tally_view_of(estimator)];
    if (estimator.kind == ESTIMATOR_CRESSIE_READ) return rounds_sums_cressie_read(&view->sums, self->range.weight_high);
    if (estimator.kind == ESTIMATOR_REPLAY && self->chance) return NAN;
    return rounds_sums_value(&view->sums, estimator.kind);
}

/* Wrong propensities can give an empty interval: then there is none. */
static interval not_empty(interval found)
{
    return found.low <= found.high ? found : (interval){NAN, NAN};
}

static bool is_asymptotic(const evaluation_request *request)
{
    return request->interval == INTERVAL_NORMAL || request->interval == INTERVAL_STUDENT;
}

/* An interval from streaming sums; NaN if it needs the rounds. */
static interval interval_alone(const tally *self, size_t index, double alpha)
{
    const evaluation_request *request = self->request;
    const tally_view *plain = &self->views[VIEW_PLAIN], *view = &self->views[tally_view_of(request->estimators[index])];
    switch (request->interval) {
    case INTERVAL_CS:
        view = self->whole && !self->factored && !self->slot_count ? view : plain;
        return not_empty(confidence_sequence_interval(&view->sequence, alpha));
    case INTERVAL_NORMAL:
    case INTERVAL_STUDENT:
        return interval_of_sums(request->interval, request->estimators[index].kind, &view->sums, self->range, alpha);
    default:
        return interval_of_sums(request->interval, ESTIMATOR_IPS, &plain->sums, self->range, alpha);
    }
}

/* The share of slot k among all that were shown. */
static double share_of(const tally *self, size_t k)
{
    return self->slots[k]->views[VIEW_PLAIN].sums.count / self->views[VIEW_PLAIN].sums.count;
}

/* Of the mean over slots, each of which has an interval: their mean. The slots of a round depend on each other, but the
 * deviation of a sum is at most the sum of the deviations; bounds for any number of rounds hold simultaneously if each
 * has its part of alpha. */
static interval mean_of_slots(const tally *self, size_t index, double alpha)
{
    interval mean = {0.0, 0.0};
    if (!is_asymptotic(self->request)) alpha /= (double)self->slot_count;
    for (size_t k = 0; k < self->slot_count; k++) {
        double share = share_of(self, k);
        if (!(share > 0.0)) continue;
        interval own = interval_alone(self->slots[k], index, alpha);
        mean.low += share * own.low;
        mean.high += share * own.high;
    }
    return mean;
}

static interval interval_now(const tally *self, size_t index, double alpha)
{
    if (!self->slot_count || self->request->interval == INTERVAL_CS) return interval_alone(self, index, alpha);
    return mean_of_slots(self, index, alpha);
}

/* Whether two estimators share an interval, which is expensive to compute. */
static bool share_interval(const tally *self, size_t left, size_t right)
{
    const estimator_request *all = self->request->estimators;
    interval_kind kind = self->request->interval;
    if (kind == INTERVAL_NORMAL || kind == INTERVAL_STUDENT) return false;
    return kind != INTERVAL_CS || !self->whole || self->factored || self->slot_count ||
           tally_view_of(all[left]) == tally_view_of(all[right]);
}

/* intervals is (estimator_count). */
static void find_intervals(const tally *self, interval *intervals)
{
    for (size_t i = 0; i < self->request->estimator_count; i++) {
        size_t same = 0;
        while (same < i && !share_interval(self, same, i)) same++;
        intervals[i] = same < i ? intervals[same] : interval_now(self, i, self->request->alpha);
    }
}

/* Clips to what the candidate can earn minus what the logging policy earns. Of the latter only the interval is known:
 * its mean in these events may be luck. */
static interval cut_gain(const tally *self, interval logged, interval found)
{
    if (isnan(found.low)) return found;
    found.low = fmax(found.low, self->range.reward_low - logged.high);
    found.high = fmin(found.high, self->range.reward_high - logged.low);
    return not_empty(found);
}

/* Before clipping. */
static interval gain_now(const tally *self, size_t index, double alpha)
{
    const evaluation_request *request = self->request;
    estimator_kind kind = gain_kind(request->estimators[index].kind);
    if (!is_asymptotic(request) || kind == ESTIMATOR_KINDS)
        return not_empty(confidence_sequence_interval(&self->gain, alpha));
    if (self->slot_count) {
        interval mean = {0.0, 0.0};
        for (size_t k = 0; k < self->slot_count; k++) {
            double share = share_of(self, k);
            if (!(share > 0.0)) continue;
            interval own = gain_now(self->slots[k], index, alpha);
            mean.low += share * own.low;
            mean.high += share * own.high;
        }
        return mean;
    }
    const tally_view *view = &self->views[tally_view_of(request->estimators[index])];
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

/* The interval of an estimator from kept rounds: of the value, or of the gain if kind and rounds are the gain's. */
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

/* With d - r instead of d. */
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
    const tally_view *view = &self->views[tally_view_of(request->estimators[index])];
    evaluated_rounds rounds = kept_rounds(self, view);
    ee_status status = EE_OK;
    if (estimator_describe(kind)->tuned) status = estimator_tune(kind, request->tuning, &rounds, &out->lambda, error);
    if (status) return status;
    if (!tally_streams(request, index)) {
        double lambda = kind == ESTIMATOR_EL ? self->range.weight_high : out->lambda;
        out->value = estimator_value(kind, lambda, &rounds);
        status = fill_marks(self, index, out->lambda, &rounds, error);
    }
    if (status) return status;
    bool resamples = request->interval == INTERVAL_BOOTSTRAP;
    if (!resamples && (!is_asymptotic(request) || tally_streams(request, index))) return EE_OK;
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

/* Before its gain is clipped. */
static estimate estimate_now(const tally *self, size_t index, double gain_alpha)
{
    interval about = interval_now(self, index, self->request->alpha), gain = gain_now(self, index, gain_alpha);
    return (estimate){value_now(self, index), about.low, about.high, NAN, gain.low, gain.high, NAN};
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

/* Intervals of slots from kept rounds: each slot, then their mean. */
static ee_status finish_kept_slots(tally *self, size_t index, estimate *out, ee_error *error)
{
    estimate mean = {.low = 0.0};
    ee_status status = EE_OK;
    for (size_t k = 0; k < self->slot_count && !status; k++) {
        double share = share_of(self, k);
        estimate own = estimate_now(self->slots[k], index, self->request->alpha);
        if (!(share > 0.0)) continue;
        status = finish_kept(self->slots[k], index, &own, error);
        mean.low += share * own.low;
        mean.high += share * own.high;
        mean.gain_low += share * own.gain_low;
        mean.gain_high += share * own.gain_high;
    }
    if (status) return status;
    out->low = mean.low;
    out->high = mean.high;
    if (gain_kind(self->request->estimators[index].kind) == ESTIMATOR_KINDS) return EE_OK;
    out->gain_low = mean.gain_low;
    out->gain_high = mean.gain_high;
    return EE_OK;
}

static ee_status finish_estimate(tally *self, size_t index, interval logged, estimate *out, ee_error *error)
{
    const evaluation_request *request = self->request;
    const tally_view *view = &self->views[tally_view_of(request->estimators[index])];
    bool kept = self->keeps && view->sums.events;
    bool from_kept = request->interval == INTERVAL_BOOTSTRAP || is_asymptotic(request);
    *out = estimate_now(self, index, request->alpha);
    ee_status status = kept ? finish_kept(self, index, out, error) : EE_OK;
    if (!status && kept && from_kept && self->slot_count) status = finish_kept_slots(self, index, out, error);
    cut_estimate(self, logged, out);
    return status;
}

/* What the logging policy earned in a slot is bounded only by the range of rewards. */
static ee_status finish_slot(tally *self, slot_result *out, ee_error *error)
{
    const rounds_sums *sums = &self->views[VIEW_PLAIN].sums;
    ee_status status = EE_OK;
    interval logged = {self->range.reward_low, self->range.reward_high};
    out->events = sums->events;
    out->reward = sums->r / sums->count;
    out->effective = rounds_sums_effective(sums);
    for (size_t i = 0; i < self->request->estimator_count && !status; i++)
        status = finish_estimate(self, i, logged, &out->estimates[i], error);
    return status;
}

static ee_status finish_slots(tally *self, evaluation_result *result, ee_error *error)
{
    if (!self->slot_count) return EE_OK;
    ee_status status = memory_create(NULL, &result->slots, self->slot_count, sizeof *result->slots, error);
    if (!status) result->slot_count = self->slot_count;
    for (size_t k = 0; k < self->slot_count && !status; k++)
        status = finish_slot(self->slots[k], &result->slots[k], error);
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

/* By the normal approximation. */
static double standard_error(const tally *self, const tally_view *view, estimator_kind kind)
{
    const double alpha = erfc(sqrt(0.5)); /* an interval of one standard error each way */
    interval found = interval_of_sums(INTERVAL_NORMAL, kind, &view->sums, self->range, alpha);
    return 0.5 * (found.high - found.low);
}

static double error_of(const tally *self, size_t index)
{
    estimator_request estimator = self->request->estimators[index];
    return standard_error(self, &self->views[tally_view_of(estimator)], estimator.kind);
}

/* Whether an estimator is consistent if the propensities are right, so that any two of them must agree. */
static bool is_consistent(estimator_kind kind)
{
    return kind == ESTIMATOR_IPS || kind == ESTIMATOR_SNIPS || kind == ESTIMATOR_DR || kind == ESTIMATOR_SNDR;
}

/* Whether these two differ more than the pair of the facts, in standard errors; intervals that do not overlap most. */
static void compare_pair(const tally *self, const estimate *estimates, size_t left, size_t right, diagnosis *facts)
{
    const estimate *a = &estimates[left], *b = &estimates[right];
    double error = hypot(error_of(self, left), error_of(self, right));
    double before = fabs(facts->pair_values[0] - facts->pair_values[1]) / facts->pair_error;
    bool apart = a->low > b->high || b->low > a->high;
    bool more = !facts->pair[0] || fabs(a->value - b->value) / error > before;
    if (isnan(a->value) || isnan(b->value) || (facts->pair_apart && !apart)) return;
    if (!more && apart == facts->pair_apart) return;
    facts->pair[0] = estimator_request_name(self->request->estimators[left]);
    facts->pair[1] = estimator_request_name(self->request->estimators[right]);
    facts->pair_values[0] = a->value;
    facts->pair_values[1] = b->value;
    facts->pair_error = self->slot_count ? (double)NAN : error; /* slots of an event depend on each other */
    facts->pair_apart = apart;
}

static void find_pair(const tally *self, const estimate *estimates, diagnosis *facts)
{
    const evaluation_request *request = self->request;
    facts->pair[0] = facts->pair[1] = NULL;
    facts->pair_apart = false;
    for (size_t i = 0; i < request->estimator_count; i++)
        for (size_t k = i + 1; k < request->estimator_count; k++)
            if (is_consistent(request->estimators[i].kind) && is_consistent(request->estimators[k].kind))
                compare_pair(self, estimates, i, k, facts);
}

static void finish_facts(const tally *self, diagnosis *facts)
{
    const tally_view *plain = &self->views[VIEW_PLAIN];
    const tally_view *model = &self->views[self->views[VIEW_MODEL].used ? VIEW_MODEL : VIEW_OWN];
    const rounds_sums *sums = &plain->sums;
    double mean = sums->w / sums->count;
    double seen = sums->ww - 2.0 * mean * sums->cw + mean * mean * sums->cc;
    facts->events = sums->events;
    facts->rounds = sums->count;
    facts->effective = rounds_sums_effective(sums);
    facts->largest_weight = sums->wmax;
    facts->largest_share = sums->wmax / sums->w;
    facts->mean_weight = mean;
    facts->mean_weight_error = sqrt(fmax(self->whole ? self->variance : seen, 0.0)) / sums->count;
    facts->unsupported = tally_unsupported(self);
    facts->slots_weight = self->slot_count ? (self->promised - self->supported) / sums->count : 0.0;
    facts->taken_alone = model->used && !self->whole && self->request->interval == INTERVAL_CS;
    facts->direct = facts->robust = facts->robust_error = NAN;
    size_t headline = evaluation_headline_estimator(self->request);
    bool known = headline < self->request->estimator_count && !self->slot_count &&
                 is_consistent(self->request->estimators[headline].kind);
    facts->headline_error = known ? error_of(self, headline) : (double)NAN;
    if (!model->used || !asks_for(self->request, ESTIMATOR_DM)) return; /* DR corrects the model's error */
    facts->direct = rounds_sums_value(&model->sums, ESTIMATOR_DM);
    facts->robust = rounds_sums_value(&model->sums, ESTIMATOR_DR);
    facts->robust_error = standard_error(self, model, ESTIMATOR_DR);
}

ee_status tally_finish_estimates(tally *self, interval logged, estimate *out, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->request->estimator_count && !status; i++)
        status = finish_estimate(self, i, logged, &out[i], error);
    return status;
}

ee_status tally_finish(tally *self, evaluation_result *result, ee_error *error)
{
    const rounds_sums *sums = &self->views[VIEW_PLAIN].sums;
    ee_status status = tally_finish_estimates(self, result->log.rewards, result->estimates, error);
    if (!status) status = finish_slots(self, result, error);
    if (!status) status = memory_create(NULL, &result->marks, self->mark_count, sizeof *result->marks, error);
    if (status) return status;
    memcpy(result->marks, self->marks, self->mark_count * sizeof *result->marks);
    result->mark_count = self->mark_count;
    finish_facts(self, &result->facts);
    find_pair(self, result->estimates, &result->facts);
    for (size_t i = 0; i < EVALUATION_WEIGHT_BINS; i++) result->weights[i] = self->bins[i] / sums->count;
    for (size_t i = 0; i < EVALUATION_OVERLAP_BINS; i++) result->overlap[i] = self->overlap[i] / sums->count;
    if (!self->whole) result->overlap[0] = NAN;
    return EE_OK;
}
