/* What an evaluation is asked for: a log, candidates, estimators and intervals. */
#ifndef EENET_EVALUATION_REQUEST_H
#define EENET_EVALUATION_REQUEST_H

#include "data/logs/log.h"
#include "evaluate/candidates/reward_model.h"
#include "evaluate/intervals/slot_sums.h"

/* Which events candidates and the reward model learn from. */
typedef enum evaluation_mode {
    EVALUATION_PROGRESSIVE, /* each event is scored before it is learned from */
    EVALUATION_SPLIT,       /* learn from the first part, evaluate on the rest */
    EVALUATION_CROSS        /* in folds: each is evaluated with what was learned from the others */
} evaluation_mode;

/* A candidate. */
typedef struct candidate_request {
    const char *text;    /* as candidate.h has it: "eenet", "uniform", "arm:3", "model:FILE" */
    const char *options; /* of a policy, as ee_settings takes them; NULL: none */
    uint64_t seed;       /* of a policy */
} candidate_request;

/* An estimator by its name in estimator.h; or "mrdr": DR with a ridge model per candidate, fitted to minimise the
 * variance of DR. */
typedef struct estimator_request {
    estimator_kind kind;
    bool least_variance; /* mrdr */
} estimator_request;

/* "dr" -> the estimator; false if unknown. */
bool estimator_request_parse(const char *name, estimator_request *out);
const char *estimator_request_name(estimator_request self);

enum { EVALUATION_ESTIMATORS = 16 };

/* A metric to be estimated besides the reward. */
typedef struct evaluation_metric {
    char name[LOG_METRIC_NAME + 1];
    bool smaller_better;
    double low, high; /* possible values; NaN: as for the reward */
} evaluation_metric;

enum { EVALUATION_METRICS = 8 };

/* Their names; slot_weighting_find returns false for an unknown one. */
enum { SLOT_WEIGHTINGS = 3 };
extern const char *const slot_weighting_names[SLOT_WEIGHTINGS];
bool slot_weighting_find(const char *name, slot_weighting *out);

typedef struct evaluation_request {
    const char *log; /* as log_open takes it */
    log_options reading;
    const candidate_request *candidates; /* (candidate_count) */
    size_t candidate_count;
    estimator_request estimators[EVALUATION_ESTIMATORS]; /* (estimator_count) */
    size_t estimator_count;
    estimator_tuning tuning; /* of those that have a lambda */
    interval_kind interval;
    double alpha; /* 0.05: intervals of 95% */
    evaluation_mode mode;
    double split; /* below 1: a share of the events (the log is read once more); otherwise a number of events */
    size_t folds; /* 2 or more */
    reward_model_kind model;
    slot_weighting slots;           /* of events with several */
    bool first_slot;                /* only the first slot is evaluated and learned */
    bool tests_gain;                /* candidates are tested for a gain: see gain_test.h */
    double judged_from;             /* progressive: earlier events are used only for learning; NaN: none */
    double reward_low, reward_high; /* possible rewards; NaN: 0 to 1, or the range in the log if others occur */
    evaluation_metric metrics[EVALUATION_METRICS]; /* (metric_count) */
    size_t metric_count;
    bool metrics_given;       /* false: all of the log, the first EVALUATION_METRICS if it has more */
    double least_probability; /* smallest propensity of the logging policy; NaN: the smallest in the log */
    const char *features;     /* options of the dictionary of named features, as ee_settings.features takes them */
    uint64_t seed;            /* of the reward model and of resampling */
    size_t threads;           /* the results do not depend on it */
    const char *folder;       /* stored results are not computed again, finished ones are stored; NULL: none */
} evaluation_request;

/* Defaults for all but the log and the candidates: DR and SNIPS, progressive, f1, cs at 95%, one thread. */
evaluation_request evaluation_usual(void);

/* The options of named features; "" if none were given. */
const char *evaluation_features(const evaluation_request *request);

/* Sets the metrics from "none" or "NAME,-NAME,+NAME=LOW:HIGH": a minus means that smaller values are better, the range
 * is that of the possible values. NULL: all of the log. */
ee_status evaluation_metrics_parse(const char *list, evaluation_request *request, ee_error *error);

/* Replaces DR by IPS if the log has neither vectors nor named features, which a reward model needs. A log that can be
 * read only once is assumed to have them. */
ee_status evaluation_usual_estimators(evaluation_request *request, ee_error *error);

#endif
