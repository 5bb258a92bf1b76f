/* Plays an event with several slots. As on a live page, all slots are decided before one is learned: a candidate first
 * gives its probabilities slot by slot, given what the log showed in earlier slots, and then learns the rewards. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/estimators/ridge_model.h"
#include "evaluation_play.h"

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

ee_status evaluation_prepare_slots(evaluation_play *self, const candidate_round *round, event_use use,
                                   played_event *out, ee_error *error)
{
    size_t count = round->event->slot_count;
    ee_status status = note_ids(self, round->event, error);
    if (!status) status = slot_views_make(&self->views, round, self->needs_arms && !self->dim, error);
    if (!status) status = memory_grow(NULL, &self->rounds, &self->round_capacity, count, sizeof *self->rounds, error);
    if (status) return status;
    *out = (played_event){.rounds = self->rounds, .count = count, .slots = true, .use = use};
    for (size_t k = 0; k < count; k++) {
        self->rounds[k] = self->views.views[k].round;
        out->actions += self->rounds[k].event->count;
    }
    return use.score ? tally_log(self, error) : EE_OK;
}

/* ---- a candidate ---- */

static ee_status score_slots(evaluation_player *one, candidate *copy, const played_event *event, ee_error *error)
{
    double *pi = one->pi;
    ee_status status = EE_OK;
    for (size_t k = 0; k < event->count && !status; k++) {
        status = one->class->play(copy, &event->rounds[k], false, pi, error);
        pi += event->rounds[k].event->count;
    }
    return status;
}

/* Like play_copy for an event, for mrdr. */
static ee_status play_own_model(evaluation_player *one, reward_model *model, const played_event *event, copy_use use,
                                ee_error *error)
{
    const double *pi = one->pi;
    double *q = one->own_q;
    ee_status status = EE_OK;
    for (size_t k = 0; k < event->count && !status; k++) {
        const log_event *slot = event->rounds[k].event;
        double weight =
            use.learn && !slot->skipped ? ridge_model_weight(RIDGE_MRDR, pi[slot->action], slot->probability) : 0.0;
        status = reward_model_play(model, &event->rounds[k], weight, use.score ? q : NULL, error);
        pi += slot->count;
        q += slot->count;
    }
    return status;
}

static ee_status add_to_tally(evaluation_player *one, const played_event *event, ee_error *error)
{
    size_t count = event->count, at = 0;
    ee_status status = memory_grow(NULL, &one->slots, &one->slot_capacity, count, sizeof *one->slots, error);
    if (status) return status;
    for (size_t k = 0; k < count; k++) {
        const log_event *slot = event->rounds[k].event;
        one->slots[k] = (tally_slot){{slot, one->pi + at, event->q ? event->q + at : NULL,
                                      one->own_models ? one->own_q + at : NULL, one->class->logged},
                                     slot->skipped};
        at += slot->count;
    }
    return tally_add_slots(one->sums, one->slots, count, error);
}

/* again: the slots were scored before. */
static ee_status learn_slots(evaluation_player *one, candidate *copy, const played_event *event, bool again,
                             ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t k = 0; k < event->count && !status; k++) {
        candidate_round round = event->rounds[k];
        round.again = again;
        if (!round.event->skipped) status = one->class->play(copy, &round, true, NULL, error);
    }
    return status;
}

ee_status evaluation_play_slots(evaluation_player *one, size_t i, const played_event *event, ee_error *error)
{
    copy_use use = evaluation_use_of_copy(event->use, i);
    candidate *copy = one->copies[one->count == 1 ? 0 : i];
    bool scores = use.score || one->own_models;
    ee_status status = scores ? score_slots(one, copy, event, error) : EE_OK;
    if (!status && one->own_models) status = play_own_model(one, one->own_models[i], event, use, error);
    if (!status && use.score) status = add_to_tally(one, event, error);
    if (!status && use.learn && one->class->learns) status = learn_slots(one, copy, event, scores, error);
    return status;
}
