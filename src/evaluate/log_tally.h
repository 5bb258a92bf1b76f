/* What is added up of a log itself, whoever is evaluated on it. */
#ifndef EENET_LOG_TALLY_H
#define EENET_LOG_TALLY_H

#include "confidence_sequence.h"
#include "evaluation.h"

/* Rewards of events in a row. */
typedef struct reward_stretch {
    double count, sum,
        squares;          /* of the rounds that the events stand for: how many, their rewards, and these squared */
    double square_copies; /* of the events: an event that stands for several tells as much as one */
} reward_stretch;

enum { LOG_STRETCHES = 120 }; /* at most; 60 or more where there are as many events */

typedef struct log_tally {
    rounds_sums rewards; /* with weights of 1 */
    confidence_sequence sequence;
    bool whole;               /* every event so far had the probabilities of all actions */
    double least_probability; /* of those above 0 */

    /* Weights of a candidate that takes any action alike, and what the log's probabilities promise of them. */
    double spread, spread_copies, spread_squares, spread_all, spread_promised, spread_variance;
    double worst_sum, sums_off; /* of an event's probabilities: distance from 1; rounds in which it is too large */

    reward_stretch stretches[LOG_STRETCHES]; /* (stretch_count) the last is growing */
    size_t stretch_count;
    uint64_t stretch_events, last_events; /* of a whole one, and in the last */
    double first_time, last_time;
    bool slots;               /* events had several, of which the first counts */
    uint64_t rounds_of_slots; /* events whose slots all count, each as an event */
} log_tally;

void log_tally_start(log_tally *self, value_range range);
void log_tally_add(log_tally *self, const log_event *event);

/* An event whose slots are judged: shown (count) are those whose reward is known, as events. */
void log_tally_add_slots(log_tally *self, const log_event *const *shown, size_t count);

/* The mean reward with its interval, the range of weights, the times. */
void log_tally_finish(const log_tally *self, const evaluation_request *request, value_range range, evaluated_log *out);

/* What the diagnosis has of the log. */
void log_tally_facts(const log_tally *self, diagnosis *facts);

#endif
