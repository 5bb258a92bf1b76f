/* The sums of the log itself, independent of the candidates. */
#ifndef EENET_LOG_TALLY_H
#define EENET_LOG_TALLY_H

#include "evaluate/checks/log_checks.h"
#include "evaluate/intervals/confidence_sequence.h"
#include "evaluation.h"

/* Rewards of events in a row. */
typedef struct reward_stretch {
    double count, sum,
        squares;          /* over the rounds that the events represent: their number, rewards and squared rewards */
    double square_copies; /* over events: an event that represents several is still one observation */
} reward_stretch;

enum { LOG_STRETCHES = 120 }; /* at most; at least 60 if there are as many events */

typedef struct log_tally {
    rounds_sums rewards; /* with weights of 1 */
    confidence_sequence sequence;
    bool whole;               /* every event so far had the probabilities of all actions */
    double least_probability; /* of those above 0 */

    /* Weights of a uniform candidate, and what the propensities imply for them. */
    double spread, spread_copies, spread_squares, spread_all, spread_promised, spread_variance;
    double worst_sum,
        sums_off; /* of an event's probabilities: largest distance from 1; rounds in which it is too large */

    reward_stretch stretches[LOG_STRETCHES]; /* (stretch_count) the last is growing */
    size_t stretch_count;
    uint64_t stretch_events, last_events; /* of a whole one, and in the last */
    double first_time, last_time;
    bool choice;              /* an event had several actions */
    bool slots;               /* events had several slots; only the first counts */
    uint64_t rounds_of_slots; /* events whose slots all count */
    log_checks *checks;       /* NULL: none. Set it after log_tally_start */
} log_tally;

void log_tally_start(log_tally *self, value_range range);
void log_tally_add(log_tally *self, const log_event *event);

/* An event with slots: shown (count) are those whose reward is known, as events. */
void log_tally_add_slots(log_tally *self, const log_event *const *shown, size_t count);

/* The mean reward with its interval, the range of weights, the times. */
void log_tally_finish(const log_tally *self, const evaluation_request *request, value_range range, evaluated_log *out);

/* Fills the log's part of the diagnosis. */
void log_tally_facts(const log_tally *self, diagnosis *facts);

#endif
