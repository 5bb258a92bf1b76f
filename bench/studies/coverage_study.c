#include "coverage_study.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "lab/runs/parallel.h"

static const double alpha = 0.05;

const coverage_interval coverage_intervals[COVERAGE_INTERVALS] = {
    {ESTIMATOR_IPS, INTERVAL_NORMAL, GUARANTEE_ASYMPTOTIC, true, false},
    {ESTIMATOR_SNIPS, INTERVAL_NORMAL, GUARANTEE_ASYMPTOTIC, true, false},
    {ESTIMATOR_DR, INTERVAL_NORMAL, GUARANTEE_ASYMPTOTIC, true, false},
    {ESTIMATOR_SNDR, INTERVAL_NORMAL, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_IPS, INTERVAL_STUDENT, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_DR, INTERVAL_STUDENT, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_IPS, INTERVAL_BOOTSTRAP, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_SNIPS, INTERVAL_BOOTSTRAP, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_DR, INTERVAL_BOOTSTRAP, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_IPS, INTERVAL_CRESSIE_READ, GUARANTEE_ASYMPTOTIC, false, false},
    {ESTIMATOR_IPS, INTERVAL_CLOPPER_PEARSON, GUARANTEE_FINITE, false, false},
    {ESTIMATOR_IPS, INTERVAL_HOEFFDING, GUARANTEE_FINITE, false, false},
    {ESTIMATOR_IPS, INTERVAL_BERNSTEIN, GUARANTEE_FINITE, false, false},
    {ESTIMATOR_IPS, INTERVAL_CS, GUARANTEE_ALWAYS, true, false},
    {ESTIMATOR_DR, INTERVAL_CS, GUARANTEE_ALWAYS, true, false},
    {ESTIMATOR_IPS, INTERVAL_CS, GUARANTEE_ALWAYS, true, true},
};

const char *coverage_interval_of(const coverage_interval *which)
{
    return which->gain ? "gain" : estimator_describe(which->estimator)->name;
}

const estimator_kind coverage_estimators[COVERAGE_ESTIMATORS] = {
    ESTIMATOR_IPS,  ESTIMATOR_CLIPPED,   ESTIMATOR_SNIPS, ESTIMATOR_DM,          ESTIMATOR_DR,
    ESTIMATOR_SNDR, ESTIMATOR_SWITCH_DR, ESTIMATOR_DROS,  ESTIMATOR_CRESSIE_READ};

/* The results of one log for one candidate. */
typedef struct finding {
    double values[COVERAGE_ESTIMATORS];
    interval intervals[COVERAGE_INTERVALS];
    bool always[COVERAGE_INTERVALS];
} finding;

/* A policy on the pool. */
typedef struct known_player {
    double *probabilities; /* (count, arms) */
    double *direct;        /* (count) sum over the arms of probability and prediction */
    double truth;
} known_player;

typedef struct study_state {
    const coverage_plan *plan;
    value_range range;
    known_player logging, *candidates;
    finding *findings; /* (replications, candidates) */
} study_state;

/* ---- one log ---- */

/* Its rounds as an estimator sees them for a candidate; each is (rounds). */
typedef struct drawn_log {
    size_t *rows, *actions;
    double *rewards;
    double *weights, *direct, *predicted;
} drawn_log;

static ee_status log_allocate(memory *owner, drawn_log *out, size_t rounds, ee_error *error)
{
    ee_status status = memory_create(owner, &out->rows, rounds, sizeof *out->rows, error);
    if (!status) status = memory_create(owner, &out->actions, rounds, sizeof *out->actions, error);
    if (!status) status = memory_create(owner, &out->rewards, rounds, sizeof *out->rewards, error);
    if (!status) status = memory_create(owner, &out->weights, rounds, sizeof *out->weights, error);
    if (!status) status = memory_create(owner, &out->direct, rounds, sizeof *out->direct, error);
    if (!status) status = memory_create(owner, &out->predicted, rounds, sizeof *out->predicted, error);
    return status;
}

static void log_draw(const study_state *self, random_stream *random, drawn_log *out)
{
    const known_pool *pool = self->plan->pool;
    for (size_t i = 0; i < self->plan->rounds; i++) {
        size_t row = (size_t)random_below(random, pool->count) * pool->arms;
        size_t action = propensity_draw(self->logging.probabilities + row, pool->arms, random);
        double expected = pool->expected[row + action];
        out->rows[i] = row;
        out->actions[i] = action;
        out->rewards[i] = pool->binary ? random_unit(random) < expected : expected;
    }
}

static void log_weigh(const study_state *self, const known_player *candidate, drawn_log *log)
{
    const known_pool *pool = self->plan->pool;
    for (size_t i = 0; i < self->plan->rounds; i++) {
        size_t cell = log->rows[i] + log->actions[i];
        log->weights[i] = candidate->probabilities[cell] / self->logging.probabilities[cell];
        log->direct[i] = candidate->direct[log->rows[i] / pool->arms];
        log->predicted[i] = pool->predicted[cell];
    }
}

/* ---- intervals while the log grows ---- */

static bool holds(interval which, double truth)
{
    return which.low <= truth && truth <= which.high;
}

/* The three confidence sequences, and the sums for the other intervals. */
typedef struct growing {
    confidence_sequence ips, dr, gain;
    rounds_sums sums;
} growing;

static interval interval_now(const study_state *self, const growing *from, const coverage_interval *which)
{
    if (which->interval != INTERVAL_CS)
        return interval_of_sums(which->interval, which->estimator, &from->sums, self->range, alpha);
    const confidence_sequence *sequence = which->gain                        ? &from->gain
                                          : which->estimator == ESTIMATOR_DR ? &from->dr
                                                                             : &from->ips;
    return confidence_sequence_interval(sequence, alpha);
}

static double truth_for(const study_state *self, const known_player *candidate, const coverage_interval *which)
{
    return which->gain ? candidate->truth - self->logging.truth : candidate->truth;
}

enum { EARLY = 100 }; /* rounds; fewer are too few for the central limit theorem */

static void look(const study_state *self, const growing *from, const known_player *candidate, finding *into)
{
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
        const coverage_interval *which = &coverage_intervals[k];
        if (!which->watched || !into->always[k]) continue;
        if (which->guarantee == GUARANTEE_ASYMPTOTIC && from->sums.events < EARLY) continue;
        into->always[k] = holds(interval_now(self, from, which), truth_for(self, candidate, which));
    }
}

static void grow(const study_state *self, const known_player *candidate, const drawn_log *log, size_t i, growing *into)
{
    const known_pool *pool = self->plan->pool;
    size_t row = log->rows[i];
    scored_round round = {pool->arms,
                          candidate->probabilities + row,
                          self->logging.probabilities + row,
                          pool->predicted + row,
                          log->actions[i],
                          log->rewards[i],
                          1};
    rounds_sums_add(&into->sums, log->weights[i], log->rewards[i], log->direct[i], log->predicted[i], 1);
    confidence_sequence_add_ips(&into->ips, log->weights[i], log->rewards[i], 1);
    confidence_sequence_add_gain(&into->gain, log->weights[i], log->rewards[i], 1);
    confidence_sequence_add_dr(&into->dr, &round);
}

/* Goes through the log with looks in between; leaves the final intervals. */
static void watch_log(const study_state *self, const known_player *candidate, const drawn_log *log, finding *into)
{
    const double step = 1.02;
    growing now = {.ips = confidence_sequence_of_ips(self->range),
                   .dr = confidence_sequence_of_dr(self->range),
                   .gain = confidence_sequence_of_gain(self->range),
                   .sums = {.count = 0}};
    size_t next = 1;
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) into->always[k] = true;
    for (size_t i = 0; i < self->plan->rounds; i++) {
        grow(self, candidate, log, i, &now);
        if (i + 1 < next && i + 1 < self->plan->rounds) continue;
        look(self, &now, candidate, into);
        next = i + 1 < EARLY ? i + 2 : (size_t)ceil((double)(i + 1) * step);
    }
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++)
        if (coverage_intervals[k].interval != INTERVAL_BOOTSTRAP)
            into->intervals[k] = interval_now(self, &now, &coverage_intervals[k]);
}

/* ---- one replication ---- */

static ee_status estimate(const evaluated_rounds *rounds, double weight_high, finding *into, ee_error *error)
{
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        estimator_kind kind = coverage_estimators[k];
        double lambda = weight_high; /* for Cressie and Read's */
        if (estimator_describe(kind)->tuned) {
            ee_status status = estimator_tune(kind, TUNING_SLOPE, rounds, &lambda, error);
            if (status) return status;
        }
        into->values[k] = estimator_value(kind, lambda, rounds);
    }
    return EE_OK;
}

static ee_status bootstrap(const coverage_plan *plan, const evaluated_rounds *rounds, random_stream *random,
                           finding *into, ee_error *error)
{
    resampled_estimate estimates[COVERAGE_INTERVALS];
    size_t places[COVERAGE_INTERVALS], count = 0;
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
        if (coverage_intervals[k].interval != INTERVAL_BOOTSTRAP) continue;
        places[count] = k;
        estimates[count++] = (resampled_estimate){coverage_intervals[k].estimator, NAN, {NAN, NAN}};
    }
    ee_status status = interval_bootstrap_all(estimates, count, rounds, plan->resamples, alpha, random, error);
    for (size_t i = 0; i < count && !status; i++) into->intervals[places[i]] = estimates[i].interval;
    return status;
}

static ee_status replicate(void *context, size_t place, ee_error *error)
{
    const study_state *self = context;
    const coverage_plan *plan = self->plan;
    char name[80], text[KNOWN_TEXT];
    memory owner = {0};
    drawn_log log = {0};
    known_policy_format(plan->logging, text);
    snprintf(name, sizeof name, "log %zu of %s", place, text);
    random_stream random = random_named(plan->seed, name);
    ee_status status = log_allocate(&owner, &log, plan->rounds, error);
    if (!status) log_draw(self, &random, &log);
    for (size_t c = 0; c < plan->candidate_count && !status; c++) {
        finding *into = &self->findings[place * plan->candidate_count + c];
        evaluated_rounds rounds = {plan->rounds, log.weights, log.rewards, log.direct, log.predicted, NULL};
        log_weigh(self, &self->candidates[c], &log);
        watch_log(self, &self->candidates[c], &log, into);
        status = estimate(&rounds, self->range.weight_high, into, error);
        if (!status) status = bootstrap(plan, &rounds, &random, into, error);
    }
    memory_release(&owner);
    return status;
}

/* ---- all of them ---- */

static ee_status player_create(memory *owner, const known_pool *pool, known_policy which, known_player *out,
                               ee_error *error)
{
    size_t cells = pool->count * pool->arms;
    ee_status status = memory_create(owner, &out->probabilities, cells, sizeof *out->probabilities, error);
    if (!status) status = memory_create(owner, &out->direct, pool->count, sizeof *out->direct, error);
    if (status) return status;
    known_pool_probabilities(pool, which, out->probabilities);
    out->truth = known_pool_value(pool, out->probabilities);
    for (size_t i = 0; i < cells; i++) out->direct[i / pool->arms] += out->probabilities[i] * pool->predicted[i];
    return EE_OK;
}

static void sum_up_candidate(const study_state *self, size_t c, coverage_candidate *into)
{
    const coverage_plan *plan = self->plan;
    double share = 1 / (double)plan->replications;
    into->truth = self->candidates[c].truth;
    for (size_t i = 0; i < plan->replications; i++) {
        const finding *from = &self->findings[i * plan->candidate_count + c];
        for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
            const coverage_interval *which = &coverage_intervals[k];
            coverage_of_interval *of = &into->intervals[k];
            of->covers += holds(from->intervals[k], truth_for(self, &self->candidates[c], which));
            of->always += which->watched ? from->always[k] : NAN;
            of->width += share * (from->intervals[k].high - from->intervals[k].low);
        }
        for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
            double off = from->values[k] - into->truth;
            into->estimators[k].bias += share * off;
            into->estimators[k].error += share * off * off;
        }
    }
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) { /* still counts here, so that a share of 1 is exact */
        into->intervals[k].covers /= (double)plan->replications;
        into->intervals[k].always /= (double)plan->replications;
    }
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) into->estimators[k].error = sqrt(into->estimators[k].error);
}

/* The share of the logs whose estimates have the order of the true values; equal true values have none. */
static double ordered_share(const study_state *self, size_t k)
{
    const coverage_plan *plan = self->plan;
    double right = 0;
    for (size_t i = 0; i < plan->replications; i++) {
        const finding *of = &self->findings[i * plan->candidate_count];
        bool ordered = true;
        for (size_t a = 0; a < plan->candidate_count; a++)
            for (size_t b = 0; b < plan->candidate_count; b++)
                if (self->candidates[a].truth < self->candidates[b].truth)
                    ordered = ordered && of[a].values[k] < of[b].values[k];
        right += ordered;
    }
    return right / (double)plan->replications;
}

static ee_status prepare(study_state *self, memory *owner, coverage_result *out, ee_error *error)
{
    const coverage_plan *plan = self->plan;
    const known_pool *pool = plan->pool;
    size_t count = plan->candidate_count;
    ee_status status = memory_create(owner, &self->candidates, count, sizeof *self->candidates, error);
    if (!status)
        status = memory_create(owner, &self->findings, plan->replications * count, sizeof *self->findings, error);
    if (!status) status = memory_create(NULL, &out->candidates, count, sizeof *out->candidates, error);
    if (!status) status = player_create(owner, pool, plan->logging, &self->logging, error);
    for (size_t c = 0; c < count && !status; c++)
        status = player_create(owner, pool, plan->candidates[c], &self->candidates[c], error);
    if (status) return status;
    out->logging = self->logging.truth;
    out->least_probability = 1;
    for (size_t i = 0; i < pool->count * pool->arms; i++)
        out->least_probability = fmin(out->least_probability, self->logging.probabilities[i]);
    self->range = (value_range){pool->low, pool->high, 1 / out->least_probability};
    return EE_OK;
}

ee_status coverage_run(const coverage_plan *plan, size_t threads, coverage_result *out, ee_error *error)
{
    memory owner = {0};
    study_state self = {.plan = plan};
    bool finished;
    ee_status status = prepare(&self, &owner, out, error);
    if (!status) status = parallel_each(plan->replications, threads, replicate, &self, NULL, &finished, error);
    for (size_t c = 0; c < plan->candidate_count && !status; c++) sum_up_candidate(&self, c, &out->candidates[c]);
    for (size_t k = 0; k < COVERAGE_ESTIMATORS && !status; k++) out->ordered[k] = ordered_share(&self, k);
    memory_release(&owner);
    return status;
}

void coverage_release(coverage_result *self)
{
    memory_free(self->candidates);
    *self = (coverage_result){0};
}
