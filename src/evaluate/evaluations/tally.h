/* The sums of one candidate over the events of a log, and the resulting estimates. Constant memory, unless an estimator
 * or an interval needs the rounds themselves: then about 32 bytes per event. */
#ifndef EENET_TALLY_H
#define EENET_TALLY_H

#include "base/memory.h"
#include "evaluate/intervals/confidence_sequence.h"
#include "evaluate/intervals/gain_test.h"
#include "evaluation.h"

/* An event as a candidate and the reward models see it. */
typedef struct tally_round {
    const log_event *event;
    const double *pi;    /* (count) */
    const double *q;     /* (count) predictions of the reward model; NULL: none */
    const double *own_q; /* the same by the candidate's own model (mrdr); NULL: none */
    bool logged;         /* the candidate is the logging policy: the weight is 1 */
} tally_round;

/* The reward model of an estimator: none, the shared one, the candidate's own. */
typedef enum tally_view_kind { VIEW_PLAIN, VIEW_MODEL, VIEW_OWN, VIEWS } tally_view_kind;

typedef struct tally_view {
    bool used;
    rounds_sums sums;
    rounds_sums gains;            /* with d - r instead of d: for the difference from the logging policy */
    confidence_sequence sequence; /* by IPS if plain, otherwise by DR */
    double *direct, *predicted;   /* (events) if the rounds are kept */
    size_t direct_capacity, predicted_capacity;
} tally_view;

/* A slot of an event, which counts as a round. */
typedef struct tally_slot {
    tally_round round;
    bool skipped; /* its reward is unknown; its action still counts for later slots */
} tally_slot;

/* With slots, each slot counts as a round, with the weight of the request's weighting, and has its own tally. The slots
 * of an event depend on each other: confidence sequences treat an event as one round, and other intervals are combined
 * from the slots' intervals. */
typedef struct tally {
    memory memory; /* of everything that grows, except the slots */
    const evaluation_request *request;
    value_range range;
    tally_view views[VIEWS];
    confidence_sequence gain; /* of the difference */
    gain_test test;           /* of it, if the request has tests_gain */
    bool whole;               /* every event so far had the probabilities of all actions */

    bool factored; /* a weight contained the ratio of another slot */

    bool chance; /* the candidate has randomised a choice at least once */

    struct tally **slots; /* (slot_count) */
    double *slot_weights; /* for one event */
    size_t slot_count, slot_capacity, slot_weight_capacity;

    bool keeps;                         /* the rounds */
    double *weights, *rewards, *copies; /* (events); copies NULL while all are 1 */
    size_t weight_capacity, reward_capacity, copy_capacity;

    evaluation_mark marks[EVALUATION_MARKS];
    size_t mark_count;

    /* For the diagnosis. Sums over events, weighted by the rounds that each represents. */
    double supported;          /* share of the candidate's choices that the log can take */
    double promised, variance; /* mean and variance of the weights implied by the propensities */
    double bins[EVALUATION_WEIGHT_BINS], overlap[EVALUATION_OVERLAP_BINS];
} tally;

/* Which reward models the request needs. */
bool tally_needs_model(const evaluation_request *request);
bool tally_needs_own_model(const evaluation_request *request);

/* Release it. The request must outlive it. range.weight_high may be set later. */
void tally_start(tally *self, const evaluation_request *request, value_range range);
void tally_release(tally *self);

ee_status tally_add(tally *self, const tally_round *round, ee_error *error);

/* Adds an event with all its slots (count). */
ee_status tally_add_slots(tally *self, const tally_slot *slots, size_t count, ee_error *error);
/* Makes room for slots before loading. */
ee_status tally_reserve_slots(tally *self, size_t count, ee_error *error);

/* Sets the largest possible weight of a decision (range.weight_high), also for the slots. */
void tally_bound_weights(tally *self, double high);

/* The current estimate by estimator number index, for those that need no rounds in memory. logged: the interval of the
 * logging policy's value; gain_alpha: alpha of the gain's interval, as the request's is of the value's. */
estimate tally_estimate(const tally *self, size_t index, interval logged, double gain_alpha);

/* The share of the candidate's choices that the log can never take; NaN: unknown. */
double tally_unsupported(const tally *self);

/* Records a mark. If there is no room left, every second mark is removed. */
void tally_mark(tally *self, double time);
void tally_thin(tally *self);

/* Fills the estimates, of all estimators of the request. logged: see tally_estimate. */
ee_status tally_finish_estimates(tally *self, interval logged, estimate *out, ee_error *error);

/* Fills the estimates, marks, weights and overlap, and the candidate's part of the facts. */
ee_status tally_finish(tally *self, evaluation_result *result, ee_error *error);

#endif
