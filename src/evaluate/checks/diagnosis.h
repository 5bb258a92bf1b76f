/* Whether the numbers of an evaluation are reliable, in sentences that need no statistics. */
#ifndef EENET_DIAGNOSIS_H
#define EENET_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log_checks.h"

/* What is known of a candidate after the log. Shares are of 1. NaN: not known. */
typedef struct diagnosis {
    const char *candidate;                /* its name */
    bool from_file;                       /* it is a saved bandit, or probabilities from a file */
    double fit_score;                     /* see log_fit_score; 0: unknown */
    uint64_t learned_as_many;             /* rewards that a saved bandit had learned, if the log has as many; else 0 */
    bool weighs;                          /* its value depends on the propensities: false only for the logging policy */
    uint64_t events;                      /* evaluated */
    double rounds;                        /* that they represent */
    double effective;                     /* effective sample size */
    double largest_weight, largest_share; /* of one round; its share of the sum of weights */

    /* If the propensities are right, the mean weight is 1 minus the share that the log never takes. */
    double mean_weight, mean_weight_error; /* and its standard error */
    double slots_weight;                   /* how far earlier slots raise it above that; 0 without slots */
    double unsupported; /* share of the candidate's choices that the log never takes; NaN: the log has only the
                           probability of the logged action */
    /* The same for a uniform candidate, which tests the log independently of the candidates. */
    double spread_weight, spread_weight_error, spread_unsupported;

    double probability_sum; /* the largest distance of an event's sum of probabilities from 1; NaN: not known */
    double sum_off;         /* share of the events in which it is above 0.001 */
    bool certain;           /* every propensity is 1, though events have several actions */
    double bad_lines;       /* share of the lines that are broken or invalid, and so were skipped; 0: none */
    size_t first_bad_line;  /* the first of them, */
    const char *bad_reason; /* and what is wrong with it */
    double timeless;        /* share of the events without a readable time, if the request has limits of time; else 0 */
    uint64_t repeated;      /* lines whose id occurred before, and so were skipped */
    log_findings found;     /* mistakes that make the log misleading */
    const char *remarks[8]; /* see log_remark; NULL after the last */
    const char *assumption; /* of the candidate, see candidate_class.remark; NULL or "": none */
    double reward_first, reward_last, reward_error; /* the log's mean reward in the first and the last third of the
                                                       events, and the standard error of the difference */
    double direct, robust, robust_error;            /* estimates by DM and DR; NaN if DM was not requested */
    bool model_alone;                               /* only DM was requested */
    bool replay_uneven;                             /* replay decides, and the log's choices are not uniform, */
    bool replay_draws;                              /* or the candidate draws its actions */

    /* The estimator that decides, its value and its interval: of the value, or of the difference from the logging
     * policy. NULL: the interval includes the value. */
    const char *outside;
    double headline_error; /* standard error of that estimator; NaN: unknown */
    double outside_value, outside_low, outside_high;

    /* The two estimators that differ most, of those that estimate the same value: IPS, SNIPS, DR, SNDR, MRDR. */
    const char *pair[2]; /* names; NULL: fewer than two were requested */
    double pair_values[2];
    double
        pair_error;  /* standard error of the difference, as if they were independent: rather too large; NaN: unknown */
    bool pair_apart; /* their intervals do not overlap */

    bool seen_range; /* the range of rewards was taken from the log */
    double range_low, range_high;
    bool slots;       /* events have several slots, of which the first is evaluated */
    bool each_slot;   /* every slot is evaluated, as an event */
    bool taken_alone; /* an interval of DR was requested, but the log has only the probability of the logged action */
} diagnosis;

enum { DIAGNOSIS_TEXT = LOG_FINDING_TEXT, DIAGNOSIS_MOST = 20 };

typedef struct diagnosis_sentence {
    bool grave; /* the candidate's numbers are not reliable */
    bool log;   /* it is about the log, the same for every candidate */
    char text[DIAGNOSIS_TEXT];
} diagnosis_sentence;

typedef struct diagnosis_report {
    diagnosis_sentence sentences[DIAGNOSIS_MOST]; /* (count) at least one: "No problems found." if there is no
                                                     other */
    size_t count;
    bool trusted; /* no sentence is grave */
} diagnosis_report;

extern const char diagnosis_no_problems[];

diagnosis_report diagnosis_explain(const diagnosis *self);

/* Only what is about the log, without a candidate; count is 0 if there are no problems. */
diagnosis_report diagnosis_explain_log(const diagnosis *self);

/* The difference from the logging policy, with its interval. */
typedef struct diagnosis_gain {
    double value, low, high;
    double logged;         /* what the logging policy earned per event */
    double confidence;     /* of the interval, such as 0.95 */
    const char *estimator; /* its name, such as "dr" */
} diagnosis_gain;

/* One sentence: "eenet would have earned 12% more than the logging policy (DR, 95% interval: 8% to 16%).", that the
 * result is inconclusive, or that the log cannot show it. */
void diagnosis_headline(const diagnosis *self, bool trusted, diagnosis_gain gain, char text[DIAGNOSIS_TEXT]);

#endif
