/* What an evaluation gives for each candidate. */
#ifndef EENET_EVALUATION_RESULT_H
#define EENET_EVALUATION_RESULT_H

#include "data/logs/log_guard.h"
#include "evaluate/checks/diagnosis.h"
#include "evaluation_request.h"

typedef struct estimate {
    double value, low, high;          /* of the candidate */
    double gain, gain_low, gain_high; /* value minus what the logging policy earned in the same events */
    double lambda;                    /* NaN if it has none */
} estimate;

/* The sums behind IPS and SNIPS; w is the weight of a round, r its reward. */
typedef struct evaluation_sums {
    double rounds;      /* that the events stand for */
    double w, wr, wwrr; /* sums */
    double same;        /* rounds with w > 0 */
} evaluation_sums;

/* The estimates after a number of events. NaN: not computed there. */
typedef struct evaluation_mark {
    uint64_t events;
    double time;          /* of the last of them, in seconds since 1970; NaN: unknown */
    double logged;        /* the log's mean reward */
    evaluation_sums sums; /* NaN if read from a folder */
    interval intervals[EVALUATION_ESTIMATORS];
    double values[EVALUATION_ESTIMATORS];
} evaluation_mark;

enum { EVALUATION_MARKS = 200 }; /* 100 to 200 (given enough events), evenly spaced, the last at the end */

/* Weights, by powers of two: bin 0 has those that are 0, bin i those from 2^(i - 12) up to twice that; the first and
 * the last of them take what lies beyond. */
enum { EVALUATION_WEIGHT_BINS = 34, EVALUATION_WEIGHT_ONE = 12 };

/* Shares of the candidate's choices by the logging policy's probability of the same action: bin 0 for those it never
 * takes, bins 1 to 9 by their upper ends 0.0001 0.001 0.01 0.05 0.1 0.2 0.5 0.9 1. */
enum { EVALUATION_OVERLAP_BINS = 10 };
extern const double evaluation_overlap_ends[EVALUATION_OVERLAP_BINS];

/* The evaluated log. */
typedef struct evaluated_log {
    uint64_t fingerprint;
    uint64_t events;       /* evaluated, each slot as one */
    uint64_t slot_rounds;  /* events whose slots were evaluated; 0: they have none */
    uint64_t learned;      /* used only for learning: the first part of a split */
    uint64_t skipped;      /* see log_event */
    uint64_t passed;       /* lines that are not valid events */
    log_left_out left_out; /* decisions that are not randomised */
    uint64_t metrics_left; /* metrics of the log that are not estimated, because there are too many */
    double rounds;         /* that the evaluated events represent */
    double reward;         /* their mean, and its interval of the same kind */
    interval rewards;
    value_range range;              /* that bounds stand on */
    bool features;                  /* named ones, else vectors */
    double first_time, last_time;   /* NaN: unknown */
    char columns[LOG_COLUMNS_TEXT]; /* see log_columns_format */
} evaluated_log;

/* A slot of the log's events. */
typedef struct slot_result {
    char id[64];      /* "" where it has none, or several */
    uint64_t events;  /* evaluated */
    double reward;    /* mean reward of the logging policy in it */
    double effective; /* see diagnosis */
    estimate estimates[EVALUATION_ESTIMATORS];
} slot_result;

/* A metric of the log. Events without it are left out of its estimates. */
typedef struct metric_result {
    char name[LOG_METRIC_NAME + 1];
    bool smaller_better;
    uint64_t events; /* that have it */
    double logged;   /* its mean under the logging policy, and the interval */
    interval logged_interval;
    value_range range;
    estimate estimates[EVALUATION_ESTIMATORS]; /* in the order of the request */
} metric_result;

typedef struct evaluation_result {
    bool finished;    /* all below is there */
    bool read;        /* from the folder, not computed by this call */
    ee_error failure; /* why the candidate failed; EE_OK otherwise */
    char candidate[256];
    char *options; /* every option of the policy with its value; "" without any; freed by evaluation_release */
    uint64_t seed;
    evaluated_log log;
    estimate estimates[EVALUATION_ESTIMATORS]; /* in the order of the request */
    diagnosis facts;
    diagnosis_report diagnosis;
    char headline[DIAGNOSIS_TEXT]; /* see diagnosis_headline */
    size_t headline_estimator;     /* place of its estimator; the number of estimators: none */
    evaluation_mark *marks;        /* (mark_count) freed by evaluation_release */
    size_t mark_count;
    slot_result *slots; /* (slot_count) freed by evaluation_release; NULL if the log has none */
    size_t slot_count;
    metric_result *metrics; /* (metric_count) freed by evaluation_release; NULL if there are none */
    size_t metric_count;
    double weights[EVALUATION_WEIGHT_BINS];  /* shares of the rounds */
    double overlap[EVALUATION_OVERLAP_BINS]; /* shares of the choices; NaN: unknown */
    double seconds;                          /* processor time of the pass, for all candidates together */
} evaluation_result;

void evaluation_release(evaluation_result *results, size_t count);

#endif
