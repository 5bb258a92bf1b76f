/* Whether the numbers of an evaluation can be trusted, in words that need no statistics. */
#ifndef EENET_DIAGNOSIS_H
#define EENET_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a candidate after the log. Shares are of 1. NaN: not known. */
typedef struct diagnosis {
    uint64_t events;       /* evaluated */
    double rounds;         /* that these stand for */
    double effective;      /* as many rounds of the candidate itself would tell as much */
    double largest_weight; /* and its share of the sum of weights */
    double largest_share;
    double mean_weight;       /* 1 where the log's probabilities are right and the candidate takes nothing else */
    double mean_weight_error; /* the standard error of it */
    double unsupported;       /* share of the candidate's choices that the log never makes; NaN: the log tells the
                                 probability of the taken action alone */
    double spread_weight;     /* the mean of 1 / (actions p): at most 1 where the log's probabilities are right */
    double spread_weight_error;
    double spread_expected; /* what it should be: share of the actions that the log can take; NaN: 1 at most */
    double probability_sum; /* the largest distance of an event's sum of probabilities from 1; NaN: not known */
    double sum_off;         /* share of the events whose sum is off by more than 0.001 */
    double reward_first, reward_last; /* the log's mean reward in the first and the last third of the events */
    double reward_error;              /* the standard error of their difference */
    double direct, robust;            /* what DM and DR say; NaN where there is no reward model */
    double robust_error;              /* standard error of DR */
    bool weighs;                      /* the candidate's value depends on the log's probabilities: all but `logged` */
    bool seen_range;                  /* the range of rewards was taken from the log */
    bool slots;                       /* events have several slots, of which the first is evaluated */
    bool taken_alone; /* DR's interval was asked for, and the log has the taken action's probability alone */
} diagnosis;

enum { DIAGNOSIS_TEXT = 320, DIAGNOSIS_MOST = 12 };

typedef struct diagnosis_sentence {
    bool grave; /* the candidate's numbers cannot be trusted */
    char text[DIAGNOSIS_TEXT];
} diagnosis_sentence;

typedef struct diagnosis_report {
    diagnosis_sentence sentences[DIAGNOSIS_MOST]; /* (count) at least one: where there is nothing to say, that all is
                                                     well */
    size_t count;
    bool trusted; /* no sentence is grave */
} diagnosis_report;

diagnosis_report diagnosis_explain(const diagnosis *self);

#endif
