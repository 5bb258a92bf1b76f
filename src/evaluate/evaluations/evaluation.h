/* Evaluates candidates on a log: what each would have earned, with intervals and a diagnosis.
 *
 * Events are taken in the order of the log. Events that were never shown (log_event.skipped) are counted and left out.
 * Each slot of an event counts as an event, given what the log showed in earlier slots; candidates decide all slots
 * before they learn one. Of a slate only the first slot is evaluated. */
#ifndef EENET_EVALUATION_H
#define EENET_EVALUATION_H

#include "data/logs/log.h"
#include "evaluate/candidates/reward_model.h"
#include "evaluate/checks/diagnosis.h"
#include "evaluate/intervals/interval.h"
#include "evaluate/intervals/slot_sums.h"

/* ---- what is asked ---- */

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
    double least_probability;       /* smallest propensity of the logging policy; NaN: the smallest in the log */
    const char *features; /* options of the dictionary of named features, as ee_settings.features takes them */
    uint64_t seed;        /* of the reward model and of resampling */
    size_t threads;       /* the results do not depend on it */
    const char *folder;   /* stored results are not computed again, finished ones are stored; NULL: none */
} evaluation_request;

/* Defaults for all but the log and the candidates: DR and SNIPS, progressive, f1, cs at 95%, one thread. */
evaluation_request evaluation_usual(void);

/* Replaces DR by IPS if the log has neither vectors nor named features, which a reward model needs. A log that can be
 * read only once is assumed to have them. */
ee_status evaluation_usual_estimators(evaluation_request *request, ee_error *error);

/* ---- what is given ---- */

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
    uint64_t events;      /* evaluated, each slot as one */
    uint64_t slot_rounds; /* events whose slots were evaluated; 0: they have none */
    uint64_t learned;     /* used only for learning: the first part of a split */
    uint64_t skipped;     /* see log_event */
    uint64_t passed;      /* lines that are not valid events */
    double rounds;        /* that the evaluated events represent */
    double reward;        /* their mean, and its interval of the same kind */
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
    double weights[EVALUATION_WEIGHT_BINS];  /* shares of the rounds */
    double overlap[EVALUATION_OVERLAP_BINS]; /* shares of the choices; NaN: unknown */
    double seconds;                          /* processor time of the pass, for all candidates together */
} evaluation_result;

void evaluation_release(evaluation_result *results, size_t count);

/* Progress, for evaluation_watch. Callbacks may be NULL. They run in any thread, one at a time; wanted may run in
 * several threads at once. */
typedef struct evaluation_standing {
    uint64_t events;             /* of the log that all candidates have played */
    uint64_t bytes, total_bytes; /* of the log; total 0: unknown */
    double seconds;
    uint64_t total_events; /* of the log; 0: unknown */
} evaluation_standing;

typedef struct evaluation_watch {
    bool (*wanted)(void *context);                                   /* after every event; false stops. Must be cheap */
    void (*standing)(void *context, const evaluation_standing *now); /* about ten times a second */
    void (*ended)(void *context, size_t candidate, const evaluation_result *result); /* in the candidates' order */
    void *context;
} evaluation_watch;

/* Evaluates the candidates. results is (candidate_count); release it, also after a failure. A candidate that fails
 * (results[i].failure) does not make the call fail. Stopped by the watch: EE_OK, with finished false where results are
 * missing.
 *
 * The log is read once for all candidates: see evaluation_pipeline.h. */
ee_status evaluation_run(const evaluation_request *request, const evaluation_watch *watch, evaluation_result *results,
                         ee_error *error);

/* The place of the estimator that decides for all candidates: the first of a fixed order (evaluation_headline.c) that
 * was requested. estimator_count: none, because only dm was. */
size_t evaluation_headline_estimator(const evaluation_request *request);

/* The candidate with the highest value by that estimator, among the finished and reliable ones; saved_only: only those
 * that can be trained and saved. candidate_count if there is none. */
size_t evaluation_best(const evaluation_request *request, const evaluation_result *results, bool saved_only);

/* Whether evaluation_warm could read the log again and write the file; call it before the evaluation, which may take
 * long. */
ee_status evaluation_check_warm(const evaluation_request *request, const char *path, ee_error *error);

/* Trains a candidate (a policy, or a model that keeps learning) on the whole log and saves it. *finished false: stopped
 * by the watch, nothing was saved. */
ee_status evaluation_warm(const evaluation_request *request, size_t place, const evaluation_watch *watch,
                          const char *path, bool *finished, ee_error *error);

#endif
