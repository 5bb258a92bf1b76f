/* How often drift detectors raise a false alarm, and how many blocks they need after a change, on simulated streams.
 *
 * 2,000 people come back at random, in sessions of 1 to 5 decisions. Each person has an own reward rate, country and
 * age, so decisions of a session are alike. */
#ifndef EENET_DRIFT_STUDY_H
#define EENET_DRIFT_STUDY_H

#include "evaluate/intervals/drift.h"

typedef enum drift_kind { DRIFT_REWARD, DRIFT_DELAY, DRIFT_COUNTRIES, DRIFT_AGE, DRIFT_KINDS } drift_kind;

extern const char *const drift_names[DRIFT_KINDS];

typedef struct drift_plan {
    size_t streams, blocks, block; /* days, and decisions per day */
    size_t change;                 /* the day with which the change begins; blocks: none */
    double reward;                 /* relative change of the reward rate, which is 5% */
    double delay;                  /* relative change of delays, lognormal with deviation 1 */
    double moved;                  /* share of the decisions whose country becomes the most frequent one */
    double unseen;                 /* share of the decisions with a new country */
    double older;                  /* share of the decisions with an age out of range */
    double traffic;                /* decisions per day after the change, times those before; 0: as many */
    uint64_t seed;
} drift_plan;

/* Of one stream: the day of the first alarm, from 1; 0: none. */
typedef struct drift_result {
    size_t alarm[DRIFT_KINDS];
} drift_result;

/* Lifetime error of each detector. */
extern const double drift_alpha;

ee_status drift_run(const drift_plan *plan, size_t threads, drift_result *results, ee_error *error);

#endif
