/* What is added up of one candidate over the events of a log, and the estimates that come of it. Constant memory,
 * unless an estimator or an interval needs the rounds themselves: then some 32 bytes an event. */
#ifndef EENET_TALLY_H
#define EENET_TALLY_H

#include "base/memory.h"
#include "confidence_sequence.h"
#include "evaluation.h"
#include "gain_test.h"

/* An event as a candidate and the reward models see it. */
typedef struct tally_round {
    const log_event *event;
    const double *pi;    /* (count) */
    const double *q;     /* (count) what the reward model predicts; NULL: there is none */
    const double *own_q; /* the same by the candidate's own model (mrdr); NULL: there is none */
    bool logged;         /* the candidate is the log's policy: the weight is 1 */
} tally_round;

/* By which reward model an estimator sees the rounds: none, that of all candidates, the candidate's own. */
typedef enum tally_view_kind { VIEW_PLAIN, VIEW_MODEL, VIEW_OWN, VIEWS } tally_view_kind;

typedef struct tally_view {
    bool used;
    rounds_sums sums;
    rounds_sums gains;            /* with d - r in place of d: of the difference to the log's policy */
    confidence_sequence sequence; /* by IPS where it is plain, by DR else */
    double *direct, *predicted;   /* (events) where the rounds are kept */
    size_t direct_capacity, predicted_capacity;
} tally_view;

/* A slot of an event, which counts as a round. */
typedef struct tally_slot {
    tally_round round;
    bool skipped; /* its reward is not known; what took its place is, for the slots after it */
} tally_slot;

/* Where events have slots, each slot counts as a round, with the weight that the request's weighting gives it; and each
 * has a tally of its own. The slots of an event depend on each other: confidence sequences see an event as one round,
 * and other intervals come of those of the slots. */
typedef struct tally {
    memory memory; /* of all that grows, but for the slots' */
    const evaluation_request *request;
    value_range range;
    tally_view views[VIEWS];
    confidence_sequence gain; /* of the difference */
    gain_test test;           /* of it, where the request has tests_gain */
    bool whole;               /* every event so far had the probabilities of all actions */

    bool factored; /* a weight had the ratio of another slot in it */

    bool chance; /* the candidate has drawn its choice, at least once */

    struct tally **slots; /* (slot_count) */
    double *slot_weights; /* for one event */
    size_t slot_count, slot_capacity, slot_weight_capacity;

    bool keeps;                         /* the rounds */
    double *weights, *rewards, *copies; /* (events); copies NULL while all are 1 */
    size_t weight_capacity, reward_capacity, copy_capacity;

    evaluation_mark marks[EVALUATION_MARKS];
    size_t mark_count;

    /* For the diagnosis. Sums over events, each counted as often as it stands for rounds. */
    double supported;          /* of the candidate's choices, what the log can take */
    double promised, variance; /* mean and variance of weights that the log's probabilities promise */
    double bins[EVALUATION_WEIGHT_BINS], overlap[EVALUATION_OVERLAP_BINS];
} tally;

/* What of the request the rounds of a candidate must be added for. */
bool tally_needs_model(const evaluation_request *request);
bool tally_needs_own_model(const evaluation_request *request);

/* To be released. The request must outlive it. range.weight_high may come later. */
void tally_start(tally *self, const evaluation_request *request, value_range range);
void tally_release(tally *self);

ee_status tally_add(tally *self, const tally_round *round, ee_error *error);

/* An event whose slots were judged, all of them (count). */
ee_status tally_add_slots(tally *self, const tally_slot *slots, size_t count, ee_error *error);
/* Makes room for them, before: for what is loaded. */
ee_status tally_reserve_slots(tally *self, size_t count, ee_error *error);

/* The largest weight that one decision can have: sets range.weight_high, of the slots too. */
void tally_bound_weights(tally *self, double high);

/* By the estimator of this number, as things stand, without those that need the rounds. logged: what the log's policy
 * is known to earn; gain_alpha: of the gain's interval, as the request's alpha is of the value's. */
estimate tally_estimate(const tally *self, size_t index, interval logged, double gain_alpha);

/* The share of the candidate's choices that the log can never take; NaN where the log does not tell. */
double tally_unsupported(const tally *self);

/* Notes how things stand now. Every second mark goes where there is no room for one more. */
void tally_mark(tally *self, double time);
void tally_thin(tally *self);

/* The estimates, marks, weights and overlap, and what the facts have of the candidate. */
ee_status tally_finish(tally *self, evaluation_result *result, ee_error *error);

#endif
