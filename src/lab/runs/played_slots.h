/* The slots that a round of a run fills: one arm mostly, or several, each with another one. */
#ifndef EENET_PLAYED_SLOTS_H
#define EENET_PLAYED_SLOTS_H

#include "runner.h"

typedef struct played_slots {
    size_t count;
    ee_arms seen[RUN_SLOTS]; /* (count) the arms of the round, as every slot sees them */
    ee_decision decisions[RUN_SLOTS];
    ee_score *scores; /* (count, arms) */
    double *chances;  /* (count, arms) the probabilities of the decisions, where they are written; or NULL */

    /* One event of a log. */
    size_t *actions;       /* (count, arms) */
    double *probabilities; /* the same */
} played_slots;

/* self starts as zeros, and is to be released, on failure too. */
ee_status played_slots_create(played_slots *self, const run_job *job, ee_error *error);
void played_slots_release(played_slots *self);

ee_status played_slots_decide(played_slots *self, ee_bandit *bandit, const environment_round *round, ee_error *error);

/* Of each slot (count): what the arm that is right there is expected to give, less the one that was played. The best
 * arm is right in the first slot, the next best in the second, and so on. */
void played_slots_losses(const played_slots *self, const environment_round *round, double *losses);

/* Writes the round to the job's log. The ids are "SEED-ROUND", the rounds counted from 1: they differ among the logs of
 * several seeds. */
ee_status played_slots_write(played_slots *self, const run_job *job, const environment_round *round, ee_error *error);

#endif
