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
    ee_status status = memory_create(NULL, &one->own_models, self->folds, sizeof *one->own_models, error);
    for (size_t i = 0; i < self->folds && !status; i++)
        status = create_model(self, REWARD_MODEL_RIDGE, &one->own_models[i], error);
    return status;
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
    if (!status) status = memory_create(NULL, &one->sums, 1, sizeof *one->sums, error);
    if (!status) tally_start(one->sums, self->request, self->range);
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
    ee_status status = memory_create(NULL, &self->models, self->folds, sizeof *self->models, error);
    for (size_t i = 0; i < self->folds && !status; i++)
        status = create_model(self, self->request->model, &self->models[i], error);
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
                              .range = {frame->reward_low, frame->reward_high, INFINITY},
                              .step = 1};
    log_tally_start(&self->about, self->range);
    ee_status status = memory_create(NULL, &self->players, count, sizeof *self->players, error);
    if (!status) status = open_models(self, error);
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

static void close_player(evaluation_player *one, size_t folds)
{
    for (size_t i = 0; one->copies && i < one->count; i++)
        if (one->copies[i]) one->class->free(one->copies[i]);
    for (size_t i = 0; one->own_models && i < folds; i++) reward_model_free(one->own_models[i]);
    if (one->sums) tally_release(one->sums);
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
    for (size_t i = 0; i < self->player_count; i++) close_player(&self->players[i], self->folds);
    for (size_t i = 0; self->models && i < self->folds; i++) reward_model_free(self->models[i]);
    memory_free(self->players);
    memory_free(self->models);
    memory_free(self->q);
    memory_free(self->rounds);
    slot_views_release(&self->views);
    memory_free(self->shown);
    memory_free(self->slot_ids);
}

void evaluation_play_judge_anew(evaluation_play *self, value_range range)
{
    range.weight_high = INFINITY;
    self->range = range;
    self->step = 1;
    log_tally_start(&self->about, range);
    for (size_t i = 0; i < self->player_count; i++) {
        tally *sums = self->players[i].sums;
        if (!sums) continue;
        tally_release(sums);
        tally_start(sums, self->request, range);
    }
}

/* ---- an event ---- */

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
    if (status || !self->models) return status;
    status = memory_grow(NULL, &self->q, &self->q_capacity, out->actions, sizeof *self->q, error);
    out->q = self->q;
    return status;
}

/* Models take slots in order: the prediction for a slot does not depend on the action taken there. */
ee_status evaluation_play_model(evaluation_play *self, size_t fold, const played_event *event, ee_error *error)
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

/* The candidate's own model learns with weights that need its probabilities, even if the event is not scored. */
static ee_status play_copy(evaluation_player *one, size_t i, const played_event *event, ee_error *error)
{
    const candidate_round *round = event->rounds;
    const log_event *logged = round->event;
    copy_use use = evaluation_use_of_copy(event->use, i);
    candidate *copy = one->copies[one->count == 1 ? 0 : i];
    bool learns = use.learn && one->class->learns;
    double *pi = use.score || one->own_models ? one->pi : NULL;
    ee_status status = learns || pi ? one->class->play(copy, round, learns, pi, error) : EE_OK;
    if (!status && one->own_models) {
        double weight = use.learn ? ridge_model_weight(RIDGE_MRDR, one->pi[logged->action], logged->probability) : 0.0;
        status = reward_model_play(one->own_models[i], round, weight, use.score ? one->own_q : NULL, error);
    }
    if (status || !use.score) return status;
    if (one->fit) log_fit_add(one->fit, logged, one->pi);
    tally_round scored = {logged, one->pi, event->q, one->own_models ? one->own_q : NULL, one->class->logged};
    return tally_add(one->sums, &scored, error);
}

static ee_status play_player(const evaluation_play *self, evaluation_player *one, const played_event *event,
                             ee_error *error)
{
    size_t count = event->actions;
    ee_status status = memory_grow(NULL, &one->pi, &one->pi_capacity, count, sizeof *one->pi, error);
    if (!status) status = memory_grow(NULL, &one->own_q, &one->own_capacity, count, sizeof *one->own_q, error);
    for (size_t i = 0; i < self->folds && !status; i++) {
        copy_use own = evaluation_use_of_copy(event->use, i);
        if (!own.score && !own.learn) continue;
        status = event->slots ? evaluation_play_slots(one, i, event, error) : play_copy(one, i, event, error);
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
    for (size_t i = 0; self->models && i < self->folds && !status; i++)
        status = evaluation_play_model(self, i, &event, error);
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
        if (evaluation_is_playing(one)) tally_bound_weights(one->sums, last.weight_high);
    }
}

/* ---- the end ---- */

ee_status evaluation_play_freeze_model(evaluation_play *self, size_t fold, ee_error *error)
{
    return self->models ? reward_model_freeze(self->models[fold], error) : EE_OK;
}

ee_status evaluation_play_freeze(const evaluation_play *self, evaluation_player *one, ee_error *error)
{
    ee_status status = EE_OK;
    if (!evaluation_is_playing(one)) return EE_OK;
    for (size_t i = 0; one->class->learns && i < one->count && !status; i++)
        status = one->class->freeze(one->copies[i], error);
    for (size_t i = 0; one->own_models && i < self->folds && !status; i++)
        status = reward_model_freeze(one->own_models[i], error);
    return status;
}

ee_status evaluation_play_finish(evaluation_play *self, evaluation_player *one, uint64_t number, ee_error *error)
{
    evaluation_result *result = one->result;
    ee_status status = EE_OK;
    if (one->class->finish) status = one->class->finish(one->copies[0], number, error);
    if (!status) status = tally_finish(one->sums, result, error);
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
