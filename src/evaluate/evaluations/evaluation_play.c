#include "evaluation_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/estimators/ridge_model.h"

/* ---- setting up ---- */

static candidate_setup setup_of(const evaluation_play *self, const candidate_request *asked)
{
    return (candidate_setup){asked->text, asked->options,        asked->seed,
                             self->dim,   self->frame->features, self->frame->fixed_names};
}

/* For a reward model, whose seed is the request's. */
static ee_status create_model(const evaluation_play *self, reward_model_kind kind, reward_model **out, ee_error *error)
{
    candidate_request asked = {.text = "", .seed = self->request->seed};
    candidate_setup setup = setup_of(self, &asked);
    return reward_model_create(kind, &setup, out, error);
}

static ee_status create_own_models(evaluation_play *self, evaluation_player *one, ee_error *error)
{
    size_t count = self->outcome_count * self->folds;
    ee_status status = memory_create(NULL, &one->own_models, count, sizeof *one->own_models, error);
    for (size_t i = 0; i < count && !status; i++)
        status = create_model(self, REWARD_MODEL_RIDGE, &one->own_models[i], error);
    return status;
}

static value_range range_of(const evaluation_play *self, size_t outcome)
{
    if (!outcome) return self->range;
    const evaluation_metric *metric = &self->frame->metrics[outcome - 1];
    return (value_range){metric->low, metric->high, self->range.weight_high};
}

static ee_status open_player(evaluation_play *self, evaluation_player *one, ee_error *error)
{
    const char *text = one->asked->text;
    evaluation_result *result = one->result;
    snprintf(result->candidate, sizeof result->candidate, "%s", text); /* truncated only for display */
    result->seed = one->asked->seed;
    ee_status status = candidate_find(text, &one->class, error);
    if (status) return status;
    one->count = one->class->learns ? self->folds : 1;
    status = memory_create(NULL, &one->copies, one->count, sizeof *one->copies, error);
    candidate_setup setup = setup_of(self, one->asked);
    for (size_t i = 0; i < one->count && !status; i++)
        status = one->class->create(one->class, &setup, &one->copies[i], error);
    if (!status && tally_needs_own_model(self->request)) status = create_own_models(self, one, error);
    if (!status) status = memory_create(NULL, &one->sums, self->outcome_count, sizeof *one->sums, error);
    for (size_t i = 0; i < self->outcome_count && !status; i++)
        tally_start(&one->sums[i], self->request, range_of(self, i));
    if (!status && one->class->file) status = memory_create(NULL, &one->fit, 1, sizeof *one->fit, error);
    return status;
}

static void fail_player(evaluation_player *one, const ee_error *error)
{
    one->result->failure = *error;
}

static ee_status open_models(evaluation_play *self, ee_error *error)
{
    if (!tally_needs_model(self->request)) return EE_OK;
    self->model_count = self->outcome_count * self->folds;
    ee_status status = memory_create(NULL, &self->models, self->model_count, sizeof *self->models, error);
    for (size_t i = 0; i < self->model_count && !status; i++)
        status = create_model(self, self->request->model, &self->models[i], error);
    return status;
}

static ee_status open_metrics(evaluation_play *self, ee_error *error)
{
    size_t count = self->frame->metric_count;
    if (!count) return EE_OK;
    ee_status status = memory_create(NULL, &self->metrics, count, sizeof *self->metrics, error);
    if (!status) status = memory_create(NULL, &self->values, count, sizeof *self->values, error);
    for (size_t i = 0; i < count && !status; i++) log_tally_start(&self->metrics[i], range_of(self, i + 1));
    return status;
}

ee_status evaluation_play_open(evaluation_play *self, const evaluation_frame *frame, size_t dim, const size_t *places,
                               size_t count, evaluation_result *results, ee_error *error)
{
    const evaluation_request *request = frame->request;
    *self = (evaluation_play){.frame = frame,
                              .request = request,
                              .folds = request->mode == EVALUATION_CROSS ? request->folds : 1,
                              .dim = dim,
                              .outcome_count = 1 + frame->metric_count,
                              .range = {frame->reward_low, frame->reward_high, INFINITY},
                              .step = 1};
    log_tally_start(&self->about, self->range);
    ee_status status = memory_create(NULL, &self->players, count, sizeof *self->players, error);
    if (!status) status = open_models(self, error);
    if (!status) status = open_metrics(self, error);
    for (size_t i = 0; i < count && !status; i++) {
        evaluation_player *one = &self->players[self->player_count++];
        one->asked = &request->candidates[places[i]];
        one->result = &results[places[i]];
        ee_error own;
        if (open_player(self, one, &own)) fail_player(one, &own);
        bool looks = evaluation_is_playing(one) && (one->class->arms || self->models || one->own_models);
        self->needs_arms = self->needs_arms || looks;
    }
    return status;
}

static void close_player(evaluation_player *one, size_t folds, size_t outcomes)
{
    for (size_t i = 0; one->copies && i < one->count; i++)
        if (one->copies[i]) one->class->free(one->copies[i]);
    for (size_t i = 0; one->own_models && i < outcomes * folds; i++) reward_model_free(one->own_models[i]);
    for (size_t i = 0; one->sums && i < outcomes; i++) tally_release(&one->sums[i]);
    memory_free(one->copies);
    memory_free(one->own_models);
    memory_free(one->sums);
    memory_free(one->fit);
    memory_free(one->pi);
    memory_free(one->own_q);
    memory_free(one->slots);
}

void evaluation_play_close(evaluation_play *self)
{
    for (size_t i = 0; i < self->player_count; i++) close_player(&self->players[i], self->folds, self->outcome_count);
    for (size_t i = 0; i < self->model_count && self->models; i++) reward_model_free(self->models[i]);
    memory_free(self->players);
    memory_free(self->models);
    memory_free(self->q);
    memory_free(self->rounds);
    slot_views_release(&self->views);
    memory_free(self->shown);
    memory_free(self->slot_ids);
    memory_free(self->metrics);
    memory_free(self->values);
}

void evaluation_play_judge_anew(evaluation_play *self, value_range range)
{
    range.weight_high = INFINITY;
    self->range = range;
    self->step = 1;
    log_tally_start(&self->about, range);
    for (size_t i = 0; i + 1 < self->outcome_count; i++) log_tally_start(&self->metrics[i], range_of(self, i + 1));
    for (size_t i = 0; i < self->player_count; i++)
        for (size_t k = 0; k < self->outcome_count && self->players[i].sums; k++) {
            tally *sums = &self->players[i].sums[k];
            tally_release(sums);
            tally_start(sums, self->request, range_of(self, k));
        }
}

/* ---- an event ---- */

/* Looks up the metrics of the event, and adds them to the sums of the log. A metric belongs to the whole event, so
 * events whose slots are separate decisions have none. */
static const double *find_metrics(evaluation_play *self, const log_event *event, bool score)
{
    const evaluation_frame *frame = self->frame;
    if (!frame->metric_count || !event->metric_count || slot_views_apply(event)) return NULL;
    for (size_t i = 0; i < frame->metric_count; i++) {
        log_event copy = *event;
        self->values[i] = NAN;
        for (size_t k = 0; k < event->metric_count; k++)
            if (json_is(event->metrics[k].name, frame->metrics[i].name)) self->values[i] = event->metrics[k].value;
        copy.reward = self->values[i];
        if (score && !isnan(copy.reward)) log_tally_add(&self->metrics[i], &copy);
    }
    return self->values;
}

static ee_status prepare(evaluation_play *self, const candidate_round *round, event_use use, played_event *out,
                         ee_error *error)
{
    if (slot_views_apply(round->event) && !self->request->first_slot)
        return evaluation_prepare_slots(self, round, use, out, error);
    ee_status status = memory_grow(NULL, &self->rounds, &self->round_capacity, 1, sizeof *self->rounds, error);
    if (status) return status;
    self->rounds[0] = *round;
    *out = (played_event){.rounds = self->rounds, .count = 1, .actions = round->event->count, .use = use};
    if (use.score) log_tally_add(&self->about, round->event);
    return EE_OK;
}

ee_status evaluation_play_prepare(evaluation_play *self, const candidate_round *round, event_use use, played_event *out,
                                  ee_error *error)
{
    ee_status status = prepare(self, round, use, out, error);
    out->outcomes = self->outcome_count;
    out->metrics = find_metrics(self, round->event, use.score);
    if (status || !self->models) return status;
    status = memory_grow(NULL, &self->q, &self->q_capacity, out->outcomes * out->actions, sizeof *self->q, error);
    out->q = self->q;
    return status;
}

/* Models take slots in order: the prediction for a slot does not depend on the action taken there. */
static ee_status play_reward_model(evaluation_play *self, size_t fold, const played_event *event, ee_error *error)
{
    copy_use use = evaluation_use_of_copy(event->use, fold);
    double *q = event->q;
    ee_status status = EE_OK;
    for (size_t k = 0; k < event->count && (use.score || use.learn) && !status; k++) {
        const candidate_round *round = &event->rounds[k];
        double weight = use.learn && !(event->slots && round->event->skipped) ? 1.0 : 0.0;
        status = reward_model_play(self->models[fold], round, weight, use.score ? q : NULL, error);
        q += round->event->count;
    }
    return status;
}

ee_status evaluation_play_model(evaluation_play *self, size_t number, const played_event *event, ee_error *error)
{
    size_t fold = number % self->folds, outcome = number / self->folds;
    if (!outcome) return play_reward_model(self, fold, event, error);
    double value = played_outcome(event, outcome);
    copy_use use = evaluation_use_of_copy(event->use, fold);
    if (isnan(value) || !(use.score || use.learn)) return EE_OK;
    log_event measured = *event->rounds->event;
    candidate_round round = *event->rounds;
    measured.reward = value;
    round.event = &measured;
    double *q = event->q + outcome * event->actions;
    return reward_model_play(self->models[number], &round, use.learn ? 1.0 : 0.0, use.score ? q : NULL, error);
}

/* An event of a candidate: its copy number i, with its probabilities in pi. */
typedef struct scored_copy {
    evaluation_player *one;
    const played_event *event;
    size_t i, folds;
    copy_use use;
} scored_copy;

/* The candidate's own model learns with weights that need its probabilities, even if the event is not scored. */
static ee_status score_outcome(const scored_copy *of, size_t outcome, const candidate_round *round, ee_error *error)
{
    evaluation_player *one = of->one;
    const log_event *logged = round->event;
    size_t at = outcome * of->event->actions;
    double *own_q = one->own_models ? one->own_q + at : NULL;
    ee_status status = EE_OK;
    if (one->own_models) {
        double weight =
            of->use.learn ? ridge_model_weight(RIDGE_MRDR, one->pi[logged->action], logged->probability) : 0.0;
        reward_model *model = one->own_models[outcome * of->folds + of->i];
        status = reward_model_play(model, round, weight, of->use.score ? own_q : NULL, error);
    }
    if (status || !of->use.score) return status;
    const double *q = of->event->q ? of->event->q + at : NULL;
    tally_round scored = {logged, one->pi, q, own_q, one->class->logged};
    return tally_add(&one->sums[outcome], &scored, error);
}

static ee_status score_metrics(const scored_copy *of, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t k = 1; k < of->event->outcomes && !status; k++) {
        log_event measured = *of->event->rounds->event;
        candidate_round round = *of->event->rounds;
        measured.reward = played_outcome(of->event, k);
        round.event = &measured;
        if (!isnan(measured.reward)) status = score_outcome(of, k, &round, error);
    }
    return status;
}

static ee_status play_copy(evaluation_player *one, size_t i, size_t folds, const played_event *event, ee_error *error)
{
    const candidate_round *round = event->rounds;
    const log_event *logged = round->event;
    copy_use use = evaluation_use_of_copy(event->use, i);
    candidate *copy = one->copies[one->count == 1 ? 0 : i];
    bool learns = use.learn && one->class->learns;
    double *pi = use.score || one->own_models ? one->pi : NULL;
    ee_status status = learns || pi ? one->class->play(copy, round, learns, pi, error) : EE_OK;
    if (status || !pi) return status;
    if (one->fit && use.score) log_fit_add(one->fit, logged, one->pi);
    scored_copy of = {one, event, i, folds, use};
    status = score_outcome(&of, 0, round, error);
    return status || !event->metrics ? status : score_metrics(&of, error);
}

static ee_status play_player(const evaluation_play *self, evaluation_player *one, const played_event *event,
                             ee_error *error)
{
    size_t count = event->actions, own_count = one->own_models ? event->outcomes * count : 0;
    ee_status status = memory_grow(NULL, &one->pi, &one->pi_capacity, count, sizeof *one->pi, error);
    if (!status) status = memory_grow(NULL, &one->own_q, &one->own_capacity, own_count, sizeof *one->own_q, error);
    for (size_t i = 0; i < self->folds && !status; i++) {
        copy_use own = evaluation_use_of_copy(event->use, i);
        if (!own.score && !own.learn) continue;
        status =
            event->slots ? evaluation_play_slots(one, i, event, error) : play_copy(one, i, self->folds, event, error);
    }
    return status;
}

void evaluation_play_candidate(const evaluation_play *self, evaluation_player *one, const played_event *event)
{
    ee_error error;
    if (evaluation_is_playing(one) && play_player(self, one, event, &error)) fail_player(one, &error);
}

ee_status evaluation_play_event(evaluation_play *self, const candidate_round *round, event_use use, ee_error *error)
{
    played_event event;
    ee_status status = evaluation_play_prepare(self, round, use, &event, error);
    for (size_t i = 0; i < self->model_count && !status; i++) status = evaluation_play_model(self, i, &event, error);
    for (size_t i = 0; i < self->player_count && !status; i++)
        evaluation_play_candidate(self, &self->players[i], &event);
    return status;
}

/* ---- marks ---- */

static double largest_weight(const evaluation_play *self)
{
    double least = self->request->least_probability;
    return 1.0 / (isnan(least) ? self->about.least_probability : least);
}

/* At every step-th event. When there are twice as many marks as needed, half of them are removed. */
play_mark evaluation_play_next_mark(evaluation_play *self, double time)
{
    uint64_t scored = self->about.rewards.events;
    play_mark mark = {.due = scored % self->step == 0, .time = time};
    if (!mark.due) return mark;
    self->range.weight_high = mark.weight_high = largest_weight(self);
    mark.thin = scored / self->step >= EVALUATION_MARKS;
    if (mark.thin) self->step *= 2;
    return mark;
}

void evaluation_play_mark(evaluation_player *one, const play_mark *mark)
{
    if (!mark->due || !evaluation_is_playing(one)) return;
    tally_bound_weights(one->sums, mark->weight_high);
    tally_mark(one->sums, mark->time);
    if (mark->thin) tally_thin(one->sums);
}

void evaluation_play_end_marks(evaluation_play *self)
{
    uint64_t scored = self->about.rewards.events;
    play_mark last = {.due = scored && scored % self->step != 0, .time = self->about.last_time};
    self->range.weight_high = last.weight_high = largest_weight(self);
    for (size_t i = 0; i < self->player_count; i++) {
        evaluation_player *one = &self->players[i];
        evaluation_play_mark(one, &last);
        for (size_t k = 0; k < self->outcome_count && evaluation_is_playing(one); k++)
            tally_bound_weights(&one->sums[k], last.weight_high);
    }
}

/* ---- the end ---- */

ee_status evaluation_play_freeze_model(evaluation_play *self, size_t number, ee_error *error)
{
    return self->models ? reward_model_freeze(self->models[number], error) : EE_OK;
}

ee_status evaluation_play_freeze(const evaluation_play *self, evaluation_player *one, ee_error *error)
{
    ee_status status = EE_OK;
    if (!evaluation_is_playing(one)) return EE_OK;
    for (size_t i = 0; one->class->learns && i < one->count && !status; i++)
        status = one->class->freeze(one->copies[i], error);
    for (size_t i = 0; one->own_models && i < self->outcome_count * self->folds && !status; i++)
        status = reward_model_freeze(one->own_models[i], error);
    return status;
}

static ee_status finish_metrics(evaluation_play *self, evaluation_player *one, ee_error *error)
{
    evaluation_result *result = one->result;
    size_t count = self->frame->metric_count;
    if (!count) return EE_OK;
    ee_status status = memory_create(NULL, &result->metrics, count, sizeof *result->metrics, error);
    if (!status) result->metric_count = count;
    for (size_t i = 0; i < count && !status; i++) {
        metric_result *out = &result->metrics[i];
        evaluated_log about;
        log_tally_finish(&self->metrics[i], self->request, range_of(self, i + 1), &about);
        memcpy(out->name, self->frame->metrics[i].name, sizeof out->name);
        out->smaller_better = self->frame->metrics[i].smaller_better;
        out->events = about.events;
        out->logged = about.reward;
        out->logged_interval = about.rewards;
        out->range = about.range;
        status = tally_finish_estimates(&one->sums[i + 1], about.rewards, out->estimates, error);
    }
    return status;
}

ee_status evaluation_play_finish(evaluation_play *self, evaluation_player *one, uint64_t number, ee_error *error)
{
    evaluation_result *result = one->result;
    ee_status status = EE_OK;
    if (one->class->finish) status = one->class->finish(one->copies[0], number, error);
    if (!status) status = tally_finish(one->sums, result, error);
    if (!status) status = finish_metrics(self, one, error);
    if (status) return status;
    for (size_t k = 0; k < result->slot_count && k < self->slot_id_count; k++)
        memcpy(result->slots[k].id, self->slot_ids[k], sizeof result->slots[k].id);
    diagnosis *facts = &result->facts;
    facts->candidate = result->candidate;
    facts->weighs = !one->class->logged;
    facts->from_file = one->class->file;
    facts->fit_score = one->fit ? log_fit_score(one->fit) : 0.0;
    facts->learned_as_many = one->class->learned ? one->class->learned(one->copies[0]) : 0;
    if (facts->learned_as_many != number && facts->learned_as_many != self->about.rewards.events)
        facts->learned_as_many = 0;
    facts->seen_range = self->frame->seen_range;
    facts->range_low = self->range.reward_low;
    facts->range_high = self->range.reward_high;
    facts->assumption = one->class->remark ? one->class->remark(one->copies[0]) : NULL;
    log_tally_facts(&self->about, facts);
    evaluation_explain(self->request, result);
    facts->assumption = NULL; /* it ends with the candidate */
    return EE_OK;
}
