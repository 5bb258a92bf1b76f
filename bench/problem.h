/* Rounds made up for measuring: drawn once, so that drawing costs nothing while the clock runs, and dealt in turn. */
#ifndef EENET_PROBLEM_H
#define EENET_PROBLEM_H

#include "base/status.h"

typedef struct problem_shape {
    const char *name; /* as "10 dense arms of 20" */
    size_t arms;
    size_t dim;
    size_t nonzeros; /* of an arm; 0: dense */
    size_t blocks;   /* 1, or arms: all arms of a round are the same vector, each in a block of its own */
} problem_shape;

typedef struct problem problem;

/* rounds different rounds. shape is borrowed. */
ee_status problem_create(const problem_shape *shape, size_t rounds, problem **out, ee_error *error);
void problem_free(problem *self);

const problem_shape *problem_shape_of(const problem *self);

/* Round number round, counted on from the first after the last. Valid as long as the problem. */
ee_arms problem_round(const problem *self, size_t round);

/* 1 or 0, by a rule that can be learned where the arms differ. */
double problem_reward(const problem *self, size_t round, size_t arm);

#endif
