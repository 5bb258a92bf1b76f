#include "array_rounds.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "evaluate/candidates/candidate.h"
#include "evaluate/evaluations/evaluation_play.h"
#include "evaluate/evaluations/log_tally.h"
#include "evaluate/evaluations/tally.h"

static const double rounding = 1e-6;      /* of probabilities that were float32 before */
static const double sum_tolerance = 1e-3; /* of their sums, as in candidate_file.c */

typedef struct array_evaluation {
    const array_rounds *rounds;
    const evaluation_request *request;
    evaluation_result *result;
    value_range range;
    bool seen_range;
    const candidate_class *class; /* of a candidate by name; NULL if it is an array */
    candidate *named;
    double *pi; /* (actions or 1) the candidate's probabilities */
    log_tally about;
    tally *sums;
} array_evaluation;

/* ---- rows ---- */

static ee_status fail_row(ee_error *error, const char *array, size_t row, const char *problem, double number)
{
    return status_fail(error, EE_BAD_INPUT, "%s[%zu]: %s, got %g", array, row, problem, number);
}

/* Checks the probabilities of all actions. sum: their expected sum; NaN for any. */
static ee_status check_probabilities(const char *array, size_t row, const double *p, size_t count, double sum,
                                     ee_error *error)
{
    double found = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!(p[i] >= 0.0 && p[i] <= 1.0 + rounding))
            return fail_row(error, array, row, "expected a probability from 0 to 1", p[i]);
        found += p[i];
    }
    if (fabs(found - sum) > sum_tolerance)
        return fail_row(error, array, row, "expected probabilities that sum to 1", found);
    return EE_OK;
}

/* The round as an event of a log. */
static ee_status make_event(const array_rounds *rounds, size_t row, log_event *event, ee_error *error)
{
    size_t actions = rounds->actions;
    int64_t taken = rounds->taken ? rounds->taken[row] : 0;
    if (taken < 0 || (size_t)taken >= (actions ? actions : 1))
        return status_fail(error, EE_BAD_INPUT, "actions[%zu]: expected an action from 0 to %zu, got %lld", row,
                           actions ? actions - 1 : 0, (long long)taken);
    const double *all = rounds->logged_all ? rounds->logged + row * actions : NULL;
    *event = (log_event){.line = row + 1,
                         .time = NAN,
                         .count = actions ? actions : 1,
                         .action = (size_t)taken,
                         .probability = all ? all[taken] : rounds->logged[row],
                         .probabilities = all,
                         .reward = rounds->rewards[row],
                         .copies = rounds->copies ? rounds->copies[row] : 1.0};
    if (!isfinite(event->reward)) return fail_row(error, "rewards", row, "expected a finite reward", event->reward);
    if (!(event->probability > 0.0 && event->probability <= 1.0 + rounding))
        return fail_row(error, "logged", row, "expected the probability of the action taken, above 0 and at most 1",
                        event->probability);
    if (event->probability > 1.0) event->probability = 1.0;
    if (!(event->copies >= 1.0 && isfinite(event->copies)))
        return fail_row(error, "copies", row, "expected a finite number of at least 1", event->copies);
    /* The diagnosis reports logged probabilities that do not sum to 1. */
    return all ? check_probabilities("logged", row, all, actions, NAN, error) : EE_OK;
}

static ee_status check_reward(const array_evaluation *self, const log_event *event, ee_error *error)
{
    double low = self->range.reward_low, high = self->range.reward_high;
    if (event->reward >= low && event->reward <= high) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "rewards[%zu]: %g is outside %g to %g; set reward_range=(LOW, HIGH) to the possible rewards",
                       event->line - 1, event->reward, low, high);
}

static ee_status check_least(const array_evaluation *self, ee_error *error)
{
    double least = self->request->least_probability, found = self->about.least_probability;
    if (isnan(least) || found >= least * (1.0 - rounding)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "logged: a probability of %g is below least_probability=%g", found, least);
}

static ee_status check_predictions(size_t row, const double *q, size_t count, ee_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(q[i])) return fail_row(error, "predictions", row, "expected a finite number", q[i]);
    return EE_OK;
}

/* ---- a round ---- */

/* *pi: the candidate's probabilities. If only that of the taken action is known, event is reduced to this action. */
static ee_status find_choice(array_evaluation *self, size_t row, log_event *event, const double **pi, ee_error *error)
{
    const array_rounds *rounds = self->rounds;
    if (self->class) {
        candidate_round round = {.event = event, .number = row};
        *pi = self->pi;
        return self->class->play(self->named, &round, false, self->pi, error);
    }
    if (rounds->candidate_all) {
        *pi = rounds->candidate + row * rounds->actions;
        return check_probabilities("candidate", row, *pi, rounds->actions, 1.0, error);
    }
    self->pi[0] = rounds->candidate[row];
    *pi = self->pi;
    event->count = 1;
    event->action = 0;
    event->probabilities = NULL;
    return check_probabilities("candidate", row, *pi, 1, NAN, error);
}

static ee_status add_round(array_evaluation *self, size_t row, ee_error *error)
{
    const array_rounds *rounds = self->rounds;
    log_event event;
    const double *pi, *q = rounds->predictions ? rounds->predictions + row * rounds->actions : NULL;
    ee_status status = make_event(rounds, row, &event, error);
    if (!status) status = check_reward(self, &event, error);
    if (!status && q) status = check_predictions(row, q, rounds->actions, error);
    if (status) return status;
    log_tally_add(&self->about, &event);
    status = find_choice(self, row, &event, &pi, error);
    tally_round round = {&event, pi, q, q, self->class && self->class->logged};
    return status ? status : tally_add(self->sums, &round, error);
}

/* ---- all of them ---- */

/* The range of the rewards, as for a log: 0 to 1 if all are inside, otherwise the smallest and the largest. */
static void find_range(array_evaluation *self)
{
    const evaluation_request *request = self->request;
    double low = INFINITY, high = -INFINITY;
    if (!isnan(request->reward_low)) {
        self->range = (value_range){request->reward_low, request->reward_high, INFINITY};
        return;
    }
    for (size_t i = 0; i < self->rounds->count; i++) {
        low = fmin(low, self->rounds->rewards[i]);
        high = fmax(high, self->rounds->rewards[i]);
    }
    self->seen_range = low < 0.0 || high > 1.0;
    self->range = self->seen_range ? (value_range){low, high, INFINITY} : (value_range){0.0, 1.0, INFINITY};
}

static ee_status open_named(array_evaluation *self, const char *name, ee_error *error)
{
    ee_status status = candidate_find(name, &self->class, error);
    if (status) return status;
    if (self->class->arms)
        return status_fail(error, EE_BAD_OPTION,
                           "'%.80s' needs the arms of each round: use evaluate.log, or give its probabilities as an "
                           "array",
                           name);
    if (!self->rounds->actions && !self->class->logged)
        return status_fail(error, EE_BAD_INPUT,
                           "'%.80s' needs the number of actions: give the probabilities of all actions, (n, k)", name);
    candidate_setup setup = {.text = name, .features = ""};
    return self->class->create(self->class, &setup, &self->named, error);
}

static ee_status open_all(array_evaluation *self, const char *name, ee_error *error)
{
    size_t actions = self->rounds->actions;
    ee_status status = memory_create(NULL, &self->pi, actions ? actions : 1, sizeof *self->pi, error);
    if (!status) status = memory_create(NULL, &self->sums, 1, sizeof *self->sums, error);
    if (!status && !self->rounds->candidate) status = open_named(self, name, error);
    if (status) return status;
    find_range(self);
    log_tally_start(&self->about, self->range);
    status = log_checks_create(&self->about.checks, error);
    if (status) return status;
    tally_start(self->sums, self->request, self->range);
    return EE_OK;
}

static void close_all(array_evaluation *self)
{
    if (self->named) self->class->free(self->named);
    memory_free(self->about.checks);
    if (self->sums) tally_release(self->sums);
    memory_free(self->sums);
    memory_free(self->pi);
}

static ee_status finish(array_evaluation *self, ee_error *error)
{
    evaluation_result *result = self->result;
    diagnosis *facts = &result->facts;
    double least = self->request->least_probability;
    ee_status status = EE_OK;
    if (self->class && self->class->finish) status = self->class->finish(self->named, self->rounds->count, error);
    if (status) return status;
    self->range.weight_high = 1.0 / (isnan(least) ? self->about.least_probability : least);
    tally_bound_weights(self->sums, self->range.weight_high);
    log_tally_finish(&self->about, self->request, self->range, &result->log);
    status = tally_finish(self->sums, result, error);
    if (status) return status;
    facts->candidate = result->candidate;
    facts->weighs = !self->class || !self->class->logged;
    facts->from_file = !self->class;
    facts->seen_range = self->seen_range;
    facts->range_low = self->range.reward_low;
    facts->range_high = self->range.reward_high;
    log_tally_facts(&self->about, facts);
    if (!self->rounds->actions) facts->spread_weight = NAN; /* unknown, because the number of actions is unknown */
    evaluation_explain(self->request, result);
    result->finished = true;
    return EE_OK;
}

ee_status array_rounds_evaluate(const array_rounds *rounds, const evaluation_request *request, const char *name,
                                evaluation_result *result, ee_error *error)
{
    array_evaluation self = {.rounds = rounds, .request = request, .result = result};
    snprintf(result->candidate, sizeof result->candidate, "%s", name);
    ee_status status = open_all(&self, name, error);
    for (size_t row = 0; row < rounds->count && !status; row++) status = add_round(&self, row, error);
    if (!status) status = check_least(&self, error);
    if (!status) status = finish(&self, error);
    close_all(&self);
    return status;
}
