/* Evaluates candidates event by event, for a pass over a log or for a server whose log grows. In progressive use each
 * event is scored before it is learned, so a policy is never evaluated on its training data. */
#ifndef EENET_EVALUATION_PLAY_H
#define EENET_EVALUATION_PLAY_H

#include <math.h>

#include "base/archive.h"
#include "evaluate/candidates/candidate.h"
#include "evaluate/candidates/reward_model.h"
#include "evaluate/candidates/slot_views.h"
#include "log_tally.h"
#include "tally.h"

/* What is known about the log before it is played. */
typedef struct evaluation_frame {
    const evaluation_request *request;
    log_options reading;     /* the request's, and whether features are needed */
    const char *features;    /* options of named features, with the room that this log needs */
    bool fixed_names;        /* the room was set explicitly */
    uint64_t learned_events; /* of a split: those used only for learning */
    double reward_low, reward_high;
    bool assumed_range;                            /* 0 to 1 until a reward says otherwise */
    bool seen_range;                               /* taken from the log */
    evaluation_metric metrics[EVALUATION_METRICS]; /* (metric_count) with their ranges, NaN if unknown */
    size_t metric_count, metrics_left;
    bool all_metrics; /* other metrics of the log are not to be estimated */
} evaluation_frame;

/* What is estimated is an outcome of an event: number 0 is the reward, the others are the metrics. All outcomes share
 * the candidate's probabilities; each has its own sums and its own reward models. Candidates learn from the reward
 * only.
 *
 * A candidate; with folds, one copy per fold. */
typedef struct evaluation_player {
    const candidate_request *asked;
    const candidate_class *class;
    candidate **copies;        /* (folds of the play, or 1) */
    reward_model **own_models; /* (outcomes x folds) for mrdr; NULL: none */
    size_t count;
    tally *sums;               /* (outcomes) */
    log_fit *fit;              /* of a candidate from a file; else NULL */
    evaluation_result *result; /* its failure stops only this candidate */
    double *pi, *own_q;        /* of one event: of its rounds, one after the other */
    tally_slot *slots;         /* of one event */
    size_t pi_capacity, own_capacity, slot_capacity;
} evaluation_player;

typedef struct evaluation_play {
    const evaluation_frame *frame;
    const evaluation_request *request;
    evaluation_player *players; /* (player_count) */
    size_t player_count;
    reward_model **models; /* (model_count: outcomes x folds) shared by all candidates; NULL: none */
    size_t model_count;
    size_t outcome_count;
    size_t folds; /* 1 without folds */
    size_t dim;
    bool needs_arms;         /* a candidate or estimator uses vectors or features */
    double *q;               /* of one event */
    slot_views views;        /* of one event */
    candidate_round *rounds; /* of one event */
    const log_event **shown;
    size_t q_capacity, round_capacity, shown_capacity;
    char (*slot_ids)[64]; /* (slot_id_count) of the log's slots, "" if they differ */
    size_t slot_id_count, slot_id_capacity;
    log_tally about;
    log_tally *metrics; /* (outcome_count - 1) the same for each metric */
    double *values;     /* (outcome_count - 1) the metrics of one event */
    value_range range;
    uint64_t step; /* events from one mark to the next */
} evaluation_play;

/* What an event is for. */
typedef struct event_use {
    bool score, learn;
    size_t fold;      /* whose copies score it */
    bool other_folds; /* the copies of all other folds learn from it instead of this one's */
} event_use;

/* Candidates number places[0] ... of the request (count), whose failures go to results[place]. dim: of the arms; 0:
 * named features. Close self, also after a failure. The frame and the request must outlive it. */
ee_status evaluation_play_open(evaluation_play *self, const evaluation_frame *frame, size_t dim, const size_t *places,
                               size_t count, evaluation_result *results, ee_error *error);
void evaluation_play_close(evaluation_play *self);

/* Plays a shown event. If needs_arms and dim is 0, its features must have been read (candidate_read_features). */
ee_status evaluation_play_event(evaluation_play *self, const candidate_round *round, event_use use, ee_error *error);

/* ---- the same in steps, which may run in different threads ---- */

/* An event as models and candidates play it. */
typedef struct played_event {
    const candidate_round *rounds; /* (count) the event, or one for each of its slots */
    size_t count;
    bool slots;
    size_t actions; /* of all rounds together */
    event_use use;
    double *q; /* (outcomes x actions) the reward models' predictions, round after round; NULL: no model */
    size_t outcomes;
    const double *metrics; /* (outcomes - 1) NaN: the event does not have it. NULL: it has none */
} played_event;

/* The value of an outcome; NaN: the event does not have it. */
static inline double played_outcome(const played_event *self, size_t outcome)
{
    if (!outcome) return self->rounds[0].event->reward;
    return self->metrics ? self->metrics[outcome - 1] : (double)NAN;
}

/* First: prepares the event and adds it to the sums of the log. out is valid until the next call. */
ee_status evaluation_play_prepare(evaluation_play *self, const candidate_round *round, event_use use, played_event *out,
                                  ee_error *error);

/* Second: the reward model of this number, which sets its part of event->q if it scores the event. */
ee_status evaluation_play_model(evaluation_play *self, size_t number, const played_event *event, ee_error *error);

/* Third: a candidate. Uses nothing that changes with other candidates. */
void evaluation_play_candidate(const evaluation_play *self, evaluation_player *one, const played_event *event);

/* For an event with slots; called by the functions above. */
ee_status evaluation_prepare_slots(evaluation_play *self, const candidate_round *round, event_use use,
                                   played_event *out, ee_error *error);
ee_status evaluation_play_slots(evaluation_player *one, size_t copy, const played_event *event, ee_error *error);

/* Whether a copy scores the event, and whether it learns from it. */
typedef struct copy_use {
    bool score, learn;
} copy_use;

static inline copy_use evaluation_use_of_copy(event_use use, size_t i)
{
    bool own = i == use.fold;
    return (copy_use){use.score && own, use.learn && own != use.other_folds};
}

/* Marks are recorded after some of the scored events, and at the end. */
typedef struct play_mark {
    bool due, thin; /* thin: every second mark is removed afterwards */
    double time;
    double weight_high; /* largest possible weight */
} play_mark;

/* The mark after the scored event that was prepared last. */
play_mark evaluation_play_next_mark(evaluation_play *self, double time);
void evaluation_play_mark(evaluation_player *one, const play_mark *mark);
void evaluation_play_end_marks(evaluation_play *self);

/* Freezes a model (if there are any) or a candidate: no more learning. */
ee_status evaluation_play_freeze_model(evaluation_play *self, size_t number, ee_error *error);
ee_status evaluation_play_freeze(const evaluation_play *self, evaluation_player *one, ee_error *error);

/* Fills the result of a candidate except its log, which is set already; number: shown events. */
ee_status evaluation_play_finish(evaluation_play *self, evaluation_player *one, uint64_t number, ee_error *error);

static inline bool evaluation_is_playing(const evaluation_player *one)
{
    return one->result->failure.status == EE_OK;
}

/* Restarts the evaluation; candidates keep what they have learned. */
void evaluation_play_judge_anew(evaluation_play *self, value_range range);

/* Everything except the marks. Only for a play without folds, reward models, metrics and kept rounds whose candidates
 * can be saved: loaded into a play of the same candidates, it continues as if it had never stopped. */
void evaluation_play_archive(evaluation_play *self, archive *a);

#endif
