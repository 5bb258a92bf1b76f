/* Looks for mistakes that make a whole log misleading: wrong propensities or actions, rewards with another unit or sign
 * in a part, copies, events in another order. One pass, constant memory, a few operations per event.
 *
 * Most checks need no assumption about the policy. If p is the probability with which the logging policy chose action
 * a, given everything before it, then for every event the expectation of f(a) / p is the sum of f over the possible
 * actions, whatever f. So these sums must balance; a mistake unbalances them. docs/misleading-logs.md lists what is
 * found, what is not, and how often a good log is reported by chance. */
#ifndef EENET_LOG_CHECKS_H
#define EENET_LOG_CHECKS_H

#include "data/logs/log.h"

/* ---- what is summed ---- */

/* The sum of differences, seen minus expected, whose expectation is 0 (or below, if some actions were impossible). */
typedef struct log_balance {
    double rounds, sum;
    double squares;  /* of the differences */
    double variance; /* that the probabilities imply; 0: unknown */
    double largest;  /* difference of one event */
} log_balance;

/* Events in a row. */
typedef struct log_stretch {
    size_t line; /* of its first event */
    double events;
    double spread_seen;              /* weights of random choices */
    log_balance spread;              /* the same minus the possible share of the actions */
    log_balance chosen;              /* see log_checks.c */
    double low_seen;                 /* rounds with a propensity of at most 0.5 */
    double reward, squares;          /* sums, over the events */
    double nonzero, signs;           /* rewards that are not 0; the sum of their signs */
    double logs, log_squares;        /* of their sizes */
    double least_size, largest_size; /* of them */
} log_stretch;

enum { LOG_CHECK_STRETCHES = 64, LOG_CHECK_ACTIONS = 64, LOG_CHECK_NAME = 40, LOG_CHECK_HISTORY = 8 };

/* An action by its number; those beyond the last share it. */
typedef struct log_checked_action {
    log_balance balance; /* its weights, or 1 for each choice if all probabilities are known */
    double possible;     /* rounds in which it was */
    double expected;     /* rounds in which it was chosen, by the probabilities; 0: unknown */
    char name[LOG_CHECK_NAME];
    bool named; /* seen; without a name if it has several */
} log_checked_action;

/* How often the action of an earlier event is chosen again: against once per event in which it is possible, and against
 * an action drawn at random. Wrong propensities unbalance the first but not the second; copies unbalance both. */
typedef struct log_repetition {
    log_balance possible, random;
} log_repetition;

/* Situations that occurred, by their hash, and the action chosen first in each. If there are more than slots, a sample
 * by the hash: a copy is in the sample if its original is. */
enum { LOG_SAMPLE_SLOTS = 1 << 13 };

typedef struct log_sample {
    uint64_t hashes[LOG_SAMPLE_SLOTS];
    uint32_t actions[LOG_SAMPLE_SLOTS];
    bool used[LOG_SAMPLE_SLOTS];
    uint64_t same;     /* events whose situation and action occurred before */
    size_t first_line; /* of them */
    log_repetition again;
} log_sample;

/* A weighted mean of rewards: sums of weights w and rewards r. */
typedef struct log_mean {
    double w, ww, wr, wwr, wwrr;
} log_mean;

/* Events without reward in a row. */
typedef struct log_run {
    size_t line;
    uint64_t before, rewarded; /* events before it, and how many of them had a reward */
    uint64_t events;
} log_run;

typedef struct log_checks {
    uint64_t events;
    double rounds;
    bool whole;                                 /* every event had the probabilities of all actions */
    log_stretch stretches[LOG_CHECK_STRETCHES]; /* (stretch_count) the last is growing */
    size_t stretch_count;
    uint64_t stretch_events, last_events; /* of a whole one, and in the last */
    size_t last_line;
    log_checked_action actions[LOG_CHECK_ACTIONS];
    bool single; /* an event had one action: the number of actions may be unknown */

    log_sample situations, histories;    /* context and time; the last events */
    uint64_t history[LOG_CHECK_HISTORY]; /* hashes of them */
    size_t previous;                     /* action */
    log_repetition again;                /* of the action of the event before */

    log_mean random, logged; /* what random choices would have earned (SNIPS), and the logging policy did */

    double first_probability;
    bool same_probability; /* all are the first */
    double certain;        /* rounds with propensity 1 and several actions */
    size_t certain_line;   /* the first */
    double least_reward, largest_reward;

    uint64_t rewarded;    /* events whose reward is not 0 */
    log_run run, longest; /* the present one, and the longest that ended */

    double latest;   /* time */
    uint64_t timed;  /* events with a time */
    uint64_t late;   /* more than a minute earlier than a line before */
    double lateness; /* the largest, in seconds */
    size_t late_line;
} log_checks;

/* Free it with memory_free. */
ee_status log_checks_create(log_checks **out, ee_error *error);
void log_checks_add(log_checks *self, const log_event *event);

/* Adds a stretch to the one before it. */
void log_stretch_join(log_stretch *into, const log_stretch *from);

/* Whether a candidate's weights fit its probabilities, for each of its actions. Those of a candidate that knows what
 * was logged do not, even if their mean is 1. */
typedef struct log_fit {
    log_balance actions[LOG_CHECK_ACTIONS];
    log_balance same;   /* how often it agrees with the log, if all probabilities are known */
    double expected;    /* how often it should */
    bool whole_unknown; /* an event had only the probability of the chosen action */
} log_fit;

/* pi (event->count): the candidate's probabilities. */
void log_fit_add(log_fit *self, const log_event *event, const double *pi);

/* The worst action by how far its sum is beyond chance: above 1 if it is. */
double log_fit_score(const log_fit *self);

/* ---- what was found ---- */

enum { LOG_FINDING_TEXT = 400, LOG_FINDINGS = 10 };

typedef struct log_finding {
    bool grave;        /* no estimate from this log is reliable */
    bool propensities; /* it is about them: it does not concern the logging policy's own value */
    char text[LOG_FINDING_TEXT];
} log_finding;

typedef struct log_findings {
    log_finding list[LOG_FINDINGS]; /* (count) */
    size_t count;
} log_findings;

void log_checks_finish(const log_checks *self, log_findings *out);

#endif
