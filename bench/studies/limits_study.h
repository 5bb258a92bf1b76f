/* What limits cost, on problems whose optimum is known. Visitors of a few types arrive during days; an action costs
 * something or belongs to a share. The best that is possible, given the mean rewards and the visitors of each day, is a
 * fractional knapsack: a greedy choice solves it exactly. A bandit starts without knowledge and decides within the
 * limits of src/serve/guard. */
#ifndef EENET_LIMITS_STUDY_H
#define EENET_LIMITS_STUDY_H

#include <stdbool.h>

#include "base/status.h"

enum { LIMITS_DAYS = 5 };

typedef enum limits_pace { LIMITS_FREE, LIMITS_FIRST, LIMITS_EVEN } limits_pace;

typedef struct limits_plan {
    uint64_t seed;
    size_t per_day; /* decisions */
    double scale;   /* the largest mean reward is about this */
    bool waves;     /* traffic varies by a factor of nine between day and night; false: it is constant */
    bool knows;     /* scores are the true means: shows the loss of the limits alone. false: `eenet` learns */
    double epsilon; /* of decisions that are uniformly random */

    limits_pace pace; /* of a budget for 40% of what the best actions would cost; LIMITS_FREE: no budget */
    double low;       /* the least share of the costly actions; 0: none */
    bool window;      /* it holds over a day; false: in every decision */
} limits_plan;

/* Of each day. */
typedef struct limits_day {
    double reward;  /* sum of the mean rewards of what was chosen */
    double optimum; /* the most that is possible within the limits */
    double free;    /* and without limits */
    double used;    /* spent, as part of the limit; 0 without a budget */
    double half;    /* and of that, the part in the first half of the decisions */
    double share;   /* mean probability of the costly actions */
    double least;   /* lowest share in a window of a day that ends in this day */
} limits_day;

/* days is (LIMITS_DAYS). */
ee_status limits_play(const limits_plan *plan, limits_day *days, ee_error *error);

/* Random times with bursts, restarts and decisions that could not be written, under a cap of all persons and one of
 * each: the most decisions that any span had, as part of the cap. Above 1: the cap was exceeded. */
typedef struct limits_caps {
    double all, person;
    size_t decisions, restarts;
} limits_caps;

ee_status limits_burst(uint64_t seed, size_t count, uint64_t most, limits_caps *out, ee_error *error);

#endif
