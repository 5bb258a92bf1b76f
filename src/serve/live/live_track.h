/* One policy evaluated on the growing log of a bandit: the online policy, the baseline, uniform choice, or a
 * challenger, which also learns. */
#ifndef EENET_LIVE_TRACK_H
#define EENET_LIVE_TRACK_H

#include "evaluate/evaluations/evaluation_play.h"
#include "serve/settings/bandit_settings.h"

typedef enum live_kind { LIVE_ONLINE, LIVE_BASELINE, LIVE_UNIFORM, LIVE_CHALLENGER } live_kind;

enum { LIVE_FIXED = 3, LIVE_TRACKS = LIVE_FIXED + MOST_CHALLENGERS, LIVE_POINTS = 200 };

/* A value with its interval. */
typedef struct live_point {
    double value, low, high;
} live_point;

typedef struct live_track {
    live_kind kind;
    challenger_settings challenger; /* only of that kind */
    uint64_t upto;                  /* number of the last decision processed; 0: none */
    uint64_t seen;                  /* decisions processed, without inactive ones */
    uint64_t judged_from;           /* decisions above this number are evaluated; earlier ones are only learned */
    double alpha;                   /* level of its test: the probability to pass without being better */
    uint64_t won;                   /* number of the decision at which it passed; 0: not yet */
    live_point points[LIVE_POINTS]; /* as in the bandit */

    /* Inputs of the evaluation. */
    text options;
    candidate_request asked;
    evaluation_request request;
    evaluation_frame frame;
    evaluation_result result;
    evaluation_play play;
} live_track;

/* Level of test `number`; the levels of all tests sum to 1 - confidence. */
double live_alpha(double confidence, uint64_t number);

/* challenger: only for that kind; NULL: the bandit's policy, which learns from the start. */
ee_status live_track_create(live_kind kind, const bandit_settings *of, const challenger_settings *challenger,
                            live_track **out, ee_error *error);
void live_track_free(live_track *self);

/* "online", "baseline", "uniform", or the challenger's name. */
const char *live_track_name(const live_track *self);

/* Restarts the evaluation after decision `from`; the challenger's number may be new. */
void live_track_judge(live_track *self, const bandit_settings *of, const challenger_settings *challenger,
                      uint64_t from);

/* Processes the next decision; one that it has processed is skipped. Rewards must be in the range. features: read, if
 * they are named. usable: it can be learned. A decision that the candidate cannot process ends it: see
 * live_track_failure. */
ee_status live_track_take(live_track *self, const log_event *event, ee_round *features, bool usable, uint64_t number,
                          ee_error *error);

/* The current estimate; NaN before the first evaluated decision. */
estimate live_track_estimate(const live_track *self);
double live_track_unsupported(const live_track *self);
/* Progress of its test; 1: passed. NaN if it is not a challenger. */
double live_track_evidence(const live_track *self);
uint64_t live_track_events(const live_track *self);
const ee_error *live_track_failure(const live_track *self); /* NULL: none */

/* Its model in the library's format; free it with ee_bytes_free. of: settings of the bandit. */
ee_status live_track_model(live_track *self, const bandit_settings *of, void **bytes, size_t *size, ee_error *error);

#endif
