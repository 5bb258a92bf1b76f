#include "evaluation_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ridge_model.h"

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
    for (size_t i = 0; i < one->count && !status; i++) status = one->class->create(&setup, &one->copies[i], error);
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
}

void evaluation_play_close(evaluation_play *self)
{
    for (size_t i = 0; i < self->player_count; i++) close_player(&self->players[i], self->folds);
    for (size_t i = 0; self->models && i < self->folds; i++) reward_model_free(self->models[i]);
    memory_free(self->players);
    memory_free(self->models);
    memory_free(self->pi);
    memory_free(self->q);
    memory_free(self->own_q);
    slot_views_release(&self->views);
    memory_free(self->slots);
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

static ee_status reserve(evaluation_play *self, size_t count, ee_error *error)
{
    ee_status status = memory_grow(NULL, &self->pi, &self->pi_capacity, count, sizeof *self->pi, error);
    if (!status) status = memory_grow(NULL, &self->q, &self->q_capacity, count, sizeof *self->q, error);
    if (!status) status = memory_grow(NULL, &self->own_q, &self->own_capacity, count, sizeof *self->own_q, error);
    return status;
}

static ee_status play_models(evaluation_play *self, const candidate_round *round, event_use use, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; self->models && i < self->folds && !status; i++) {
        copy_use own = evaluation_use_of_copy(use, i);
        if (own.score || own.learn)
            status =
                reward_model_play(self->models[i], round, own.learn ? 1.0 : 0.0, own.score ? self->q : NULL, error);
    }
    return status;
}

/* The candidate's own model learns with weights that need its probabilities, even if the event is not scored. */
static ee_status play_copy(evaluation_play *self, evaluation_player *one, size_t i, const candidate_round *round,
                           copy_use use, ee_error *error)
{
    const log_event *event = round->event;
    candidate *copy = one->copies[one->count == 1 ? 0 : i];
    bool learns = use.learn && one->class->learns;
    double *pi = use.score || one->own_models ? self->pi : NULL;
    ee_status status = learns || pi ? one->class->play(copy, round, learns, pi, error) : EE_OK;
    if (!status && one->own_models) {
        double weight = use.learn ? ridge_model_weight(RIDGE_MRDR, self->pi[event->action], event->probability) : 0.0;
        status = reward_model_play(one->own_models[i], round, weight, use.score ? self->own_q : NULL, error);
    }
    if (status || !use.score) return status;
    if (one->fit) log_fit_add(one->fit, event, self->pi);
    tally_round scored = {event, self->pi, self->models ? self->q : NULL, one->own_models ? self->own_q : NULL,
                          one->class->logged};
    return tally_add(one->sums, &scored, error);
}

static ee_status play_player(evaluation_play *self, evaluation_player *one, const candidate_round *round, event_use use,
                             ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->folds && !status; i++) {
        copy_use own = evaluation_use_of_copy(use, i);
        if (own.score || own.learn) status = play_copy(self, one, i, round, own, error);
    }
    return status;
}

ee_status evaluation_play_event(evaluation_play *self, const candidate_round *round, event_use use, ee_error *error)
{
    if (slot_views_apply(round->event) && !self->request->first_slot)
        return evaluation_play_slots(self, round, use, error);
    ee_status status = reserve(self, round->event->count, error);
    if (!status) status = play_models(self, round, use, error);
    if (status) return status;
    for (size_t i = 0; i < self->player_count; i++) {
        evaluation_player *one = &self->players[i];
        ee_error own;
        if (evaluation_is_playing(one) && play_player(self, one, round, use, &own)) fail_player(one, &own);
    }
    if (use.score) log_tally_add(&self->about, round->event);
    return EE_OK;
}

/* ---- marks ---- */

static void mark_all(evaluation_play *self, double time)
{
    for (size_t i = 0; i < self->player_count; i++) {
        evaluation_player *one = &self->players[i];
        if (!evaluation_is_playing(one)) continue;
        tally_bound_weights(one->sums, self->range.weight_high);
        tally_mark(one->sums, time);
    }
}

static double largest_weight(const evaluation_play *self)
{
    double least = self->request->least_probability;
    return 1.0 / (isnan(least) ? self->about.least_probability : least);
}

/* At every step-th event. When there are twice as many marks as needed, half of them are removed. */
void evaluation_play_mark(evaluation_play *self, double time)
{
    uint64_t scored = self->about.rewards.events;
    if (scored % self->step != 0) return;
    self->range.weight_high = largest_weight(self);
    mark_all(self, time);
    if (scored / self->step < EVALUATION_MARKS) return;
    for (size_t i = 0; i < self->player_count; i++)
        if (evaluation_is_playing(&self->players[i])) tally_thin(self->players[i].sums);
    self->step *= 2;
}

void evaluation_play_end_marks(evaluation_play *self)
{
    uint64_t scored = self->about.rewards.events;
    self->range.weight_high = largest_weight(self);
    if (scored && scored % self->step != 0) mark_all(self, self->about.last_time);
    for (size_t i = 0; i < self->player_count; i++)
        if (evaluation_is_playing(&self->players[i]))
            tally_bound_weights(self->players[i].sums, self->range.weight_high);
}

/* ---- the end ---- */

static ee_status freeze_player(evaluation_player *one, size_t folds, ee_error *error)
{
    ee_status status = EE_OK;
    if (!evaluation_is_playing(one)) return EE_OK;
    for (size_t i = 0; one->class->learns && i < one->count && !status; i++)
        status = one->class->freeze(one->copies[i], error);
    for (size_t i = 0; one->own_models && i < folds && !status; i++)
        status = reward_model_freeze(one->own_models[i], error);
    return status;
}

ee_status evaluation_play_freeze(evaluation_play *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; self->models && i < self->folds && !status; i++)
        status = reward_model_freeze(self->models[i], error);
    for (size_t i = 0; i < self->player_count && !status; i++)
        status = freeze_player(&self->players[i], self->folds, error);
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
