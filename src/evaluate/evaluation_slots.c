/* Plays an event with several slots. As on a live page, all slots are decided before one is learned: a candidate first
 * gives its probabilities slot by slot, given what the log showed in earlier slots, and then learns the rewards. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "evaluation_play.h"
#include "ridge_model.h"

/* ---- what the log has ---- */

/* "" if a slot's id differs from earlier events. */
static ee_status note_ids(evaluation_play *self, const log_event *event, ee_error *error)
{
    ee_status status =
        memory_grow(NULL, &self->slot_ids, &self->slot_id_capacity, event->slot_count, sizeof *self->slot_ids, error);
    for (size_t k = 0; k < event->slot_count && !status; k++) {
        char id[sizeof *self->slot_ids] = "";
        json_text given = event->slots[k].id;
        snprintf(id, sizeof id, "%.*s", (int)(given.length < sizeof id ? given.length : 0),
                 given.bytes ? given.bytes : "");
        if (k >= self->slot_id_count)
            memcpy(self->slot_ids[self->slot_id_count++], id, sizeof id);
        else if (strcmp(self->slot_ids[k], id) != 0)
            self->slot_ids[k][0] = '\0';
    }
    return status;
}

static ee_status tally_log(evaluation_play *self, ee_error *error)
{
    size_t shown = 0;
    ee_status status =
        memory_grow(NULL, &self->shown, &self->shown_capacity, self->views.count, sizeof *self->shown, error);
    if (status) return status;
    for (size_t k = 0; k < self->views.count; k++)
        if (!self->views.views[k].skipped) self->shown[shown++] = &self->views.views[k].event;
    log_tally_add_slots(&self->about, self->shown, shown);
    return EE_OK;
}

/* ---- candidates and models ---- */

/* Reward models take the slots in order: their prediction for a slot does not depend on the action taken there. */
static ee_status play_models(evaluation_play *self, event_use use, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; self->models && i < self->folds; i++) {
        copy_use own = evaluation_use_of_copy(use, i);
        for (size_t k = 0; k < self->views.count && (own.score || own.learn) && !status; k++) {
            slot_view *view = &self->views.views[k];
            double weight = own.learn && !view->skipped ? 1.0 : 0.0;
            status = reward_model_play(self->models[i], &view->round, weight, own.score ? view->q : NULL, error);
        }
    }
    return status;
}

static ee_status score_slots(evaluation_play *self, evaluation_player *one, candidate *copy, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t k = 0; k < self->views.count && !status; k++) {
        slot_view *view = &self->views.views[k];
        view->round.again = false;
        status = one->class->play(copy, &view->round, false, view->pi, error);
    }
    return status;
}

/* Like play_copy for an event, for mrdr. */
static ee_status play_own_model(evaluation_play *self, reward_model *model, copy_use use, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t k = 0; k < self->views.count && !status; k++) {
        slot_view *view = &self->views.views[k];
        const log_event *event = &view->event;
        double weight = use.learn && !view->skipped
                            ? ridge_model_weight(RIDGE_MRDR, view->pi[event->action], event->probability)
                            : 0.0;
        status = reward_model_play(model, &view->round, weight, use.score ? view->own_q : NULL, error);
    }
    return status;
}

static ee_status add_to_tally(evaluation_play *self, evaluation_player *one, ee_error *error)
{
    size_t count = self->views.count;
    ee_status status = memory_grow(NULL, &self->slots, &self->slot_capacity, count, sizeof *self->slots, error);
    if (status) return status;
    for (size_t k = 0; k < count; k++) {
        const slot_view *view = &self->views.views[k];
        self->slots[k] = (tally_slot){{&view->event, view->pi, self->models ? view->q : NULL,
                                       one->own_models ? view->own_q : NULL, one->class->logged},
                                      view->skipped};
    }
    return tally_add_slots(one->sums, self->slots, count, error);
}

static ee_status learn_slots(evaluation_play *self, evaluation_player *one, candidate *copy, bool again,
                             ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t k = 0; k < self->views.count && !status; k++) {
        slot_view *view = &self->views.views[k];
        view->round.again = again;
        if (!view->skipped) status = one->class->play(copy, &view->round, true, NULL, error);
    }
    return status;
}

static ee_status play_copy(evaluation_play *self, evaluation_player *one, size_t i, copy_use use, ee_error *error)
{
    candidate *copy = one->copies[one->count == 1 ? 0 : i];
    bool scores = use.score || one->own_models;
    ee_status status = scores ? score_slots(self, one, copy, error) : EE_OK;
    if (!status && one->own_models) status = play_own_model(self, one->own_models[i], use, error);
    if (!status && use.score) status = add_to_tally(self, one, error);
    if (!status && use.learn && one->class->learns) status = learn_slots(self, one, copy, scores, error);
    return status;
}

static ee_status play_player(evaluation_play *self, evaluation_player *one, event_use use, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->folds && !status; i++) {
        copy_use own = evaluation_use_of_copy(use, i);
        if (own.score || own.learn) status = play_copy(self, one, i, own, error);
    }
    return status;
}

ee_status evaluation_play_slots(evaluation_play *self, const candidate_round *round, event_use use, ee_error *error)
{
    ee_status status = note_ids(self, round->event, error);
    if (!status) status = slot_views_make(&self->views, round, self->needs_arms && !self->dim, error);
    if (!status) status = play_models(self, use, error);
    if (status) return status;
    for (size_t i = 0; i < self->player_count; i++) {
        evaluation_player *one = &self->players[i];
        ee_error own;
        if (evaluation_is_playing(one) && play_player(self, one, use, &own)) one->result->failure = own;
    }
    return use.score ? tally_log(self, error) : EE_OK;
}
