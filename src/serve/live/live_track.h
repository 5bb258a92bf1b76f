/* One policy evaluated on the growing log of a bandit: the online policy, the baseline, uniform choice, or a
 * challenger, which also learns. */
#ifndef EENET_LIVE_TRACK_H
#define EENET_LIVE_TRACK_H

#include "evaluate/evaluations/evaluation_play.h"
#include "serve/settings/bandit_settings.h"

typedef enum live_kind { LIVE_ONLINE, LIVE_BASELINE, LIVE_UNIFORM, LIVE_CHALLENGER } live_kind;

enum { LIVE_FIXED = 3, LIVE_TRACKS = LIVE_FIXED + MOST_CHALLENGERS, LIVE_POINTS = 200 };

/* A value with its interval at some time. */
typedef struct live_point {
    double value, low, high;
} live_point;

typedef struct live_track {
    live_kind kind;
    challenger_settings challenger; /* of that kind alone */
    uint64_t upto;                  /* number of the last decision that it took; 0: none */
    uint64_t seen;                  /* decisions processed that were not left inactive */
    uint64_t judged_from;           /* decisions above this number are evaluated; earlier ones are only learned */
    double alpha;                   /* of its test: the chance that it passes without being better */
    uint64_t won;                   /* number of the decision with which it had passed; 0: not yet */
    live_point points[LIVE_POINTS]; /* as the bandit's */

    /* Inputs of the evaluation. */
    text options;
    candidate_request asked;
    evaluation_request request;
    evaluation_frame frame;
    evaluation_result result;
    evaluation_play play;
} live_track;

/* alpha of the test of this number: those of all tests together are 1 - confidence. */
double live_alpha(double confidence, uint64_t number);

/* challenger: only for that kind; NULL: the bandit's policy, which learns from the start. */
ee_status live_track_create(live_kind kind, const bandit_settings *of, const challenger_settings *challenger,
                            live_track **out, ee_error *error);
void live_track_free(live_track *self);

/* "online", "baseline", "uniform", or the challenger's. */
const char *live_track_name(const live_track *self);

/* Begins to judge from a decision on; the challenger's number may be another than before. */
void live_track_judge(live_track *self, const bandit_settings *of, const challenger_settings *challenger,
                      uint64_t from);

/* The next decision, of this number; one that it has is passed over. Rewards lie in the range. features are read, where
 * there are named ones. usable: it can be learned from. What a candidate cannot take ends it: see play's result. */
ee_status live_track_take(live_track *self, const log_event *event, ee_round *features, bool usable, uint64_t number,
                          ee_error *error);

/* The current estimate; NaN before the first evaluated decision. */
estimate live_track_estimate(const live_track *self);
double live_track_unsupported(const live_track *self);
/* How far its test is: 1, it is passed. Not a number for others than challengers. */
double live_track_evidence(const live_track *self);
uint64_t live_track_events(const live_track *self);
const ee_error *live_track_failure(const live_track *self); /* NULL: none */

/* What it has learned, as a model of the library to be freed with ee_bytes_free. of: the bandit's. */
ee_status live_track_model(live_track *self, const bandit_settings *of, void **bytes, size_t *size, ee_error *error);

#endif
