/* Arm memory: earlier rewards of the same arm. If arms recur (a user and an item, an article), their own rewards say
 * what no function of the features can. Every policy that learns can have it (option `recall`); it is not exploration.
 *
 * Its weight is learned too. For an arm that recurs, let m be the mean of its rewards, s the expected reward without
 * them, and r the reward. The weight w is the least-squares slope of r - s on m - s with a constant, with a prior of
 * one sample at 0, limited to 0 to 1. It is near 1 if rewards are certain, and near 0 if they are noise. A mean of many
 * rewards is worth more than a mean of few, so there is a weight for arms that came once, one for two or three times,
 * and so on. All forget slowly, since arms may change.
 *
 * The noise is the variance of rewards around the mean of their arm: (r - m)^2 n / (n + 1) on average over recurring
 * arms, with m of n rewards. noise / n is the variance of m. A policy may explore by it.
 *
 * An arm is identified by a hash of its non-zero entries and of its id, if it has one. If its places are all taken, it
 * replaces another arm. Scoring reads floats of the caller, so that they can be part of a policy's parameters. */
#ifndef EENET_RECALL_H
#define EENET_RECALL_H

#include "math/slope.h"
#include "math/vector.h"

enum { RECALL_SINCE_12 = 1 }; /* the first floats, which models before version 12 do not have: 0 */
enum { RECALL_CLASSES = 7 };  /* classes of arms by their number of rewards: 1, 2 to 3, 4 to 7, ... 64 */

/* Floats for this many arms; zeroed at first. 0 arms: no memory, and nothing is ever found. */
size_t recall_count(size_t arms);

/* The memory of an arm; zeros if it never came. */
typedef struct recalled_arm {
    float mean, weight;
    float deviation; /* of the mean: sqrt(noise / n) */
} recalled_arm;

recalled_arm recall_find(const float *memory, size_t arms, vector x, arm_id id);

/* The expected reward of an arm, improved by its earlier rewards: between `expected` and their mean. */
float recall_expect(const float *memory, size_t arms, vector x, arm_id id, float expected);

/* A reward of an arm, its expected reward without memory, and the spread of rewards. */
typedef struct recall_sample {
    vector x;
    arm_id id;
    float expected, reward;
    double spread;
} recall_sample;

/* Adds a sample. weights is (RECALL_CLASSES). Returns the place of the arm. */
size_t recall_add(float *memory, size_t arms, const recall_sample *sample, slope *weights);

/* Whether memory that was read is valid. */
bool recall_is_sound(const float *memory, size_t arms);

/* Copy the weights; one place; or all used places. Return the number of floats. */
size_t recall_copy_weights(const float *memory, size_t arms, float *to);
size_t recall_copy_place(const float *memory, size_t place, float *to);
size_t recall_copy_places(const float *memory, size_t arms, float *to);

#endif
