/* What came of the very same arm before. Where arms come again, a user and an item, an article, its own rewards say
 * what no function of its features can. Every policy that learns can have it (option `recall`): it is no part of
 * exploration.
 *
 * How much that is worth is learned too. For an arm that came again, m is the mean of its rewards, s what was expected
 * of it without them, r what came: the weight w is the least squares of r - s over m - s and a constant, with a prior
 * of one sample that says 0, and kept within 0 to 1. It is near 1 where rewards are certain, and near 0 where they are
 * noise. A mean of many rewards is worth more than a mean of few, so there is a weight for arms that came once, one for
 * two or three times, and so on. All forget slowly, since what is true of an arm may change.
 *
 * The noise is the variance of rewards about the mean of their own arm, (r - m)^2 n / (n + 1) on average over arms that
 * came again, m of n rewards: noise / n is the variance of m. A policy may explore by it.
 *
 * An arm is known by a hash of its entries that are not zero, and of its id where it has one. One whose places are all
 * taken displaces another. What scoring reads lies in floats that are the caller's, so that it can be part of a
 * policy's parameters. */
#ifndef EENET_RECALL_H
#define EENET_RECALL_H

#include "math/slope.h"
#include "math/vector.h"

enum { RECALL_SINCE_12 = 1 }; /* floats, the first ones, that models before version 12 do not have: 0 */
enum { RECALL_CLASSES = 7 };  /* of arms, by how often they came: once, two or three times, four to seven, ... 64 */

/* Floats that recall of so many arms needs; zeros to begin with. 0 arms: none, and nothing is ever found. */
size_t recall_count(size_t arms);

/* What is remembered of an arm; zeros if it never came. */
typedef struct recalled_arm {
    float mean, weight;
    float deviation; /* of the mean: sqrt(noise / n) */
} recalled_arm;

recalled_arm recall_find(const float *memory, size_t arms, vector x, arm_id id);

/* What is expected of an arm, made better by what came of it before: between `expected` and the mean of its rewards. */
float recall_expect(const float *memory, size_t arms, vector x, arm_id id, float expected);

/* A reward of an arm, what was expected of it without its past, and how far rewards are apart. */
typedef struct recall_sample {
    vector x;
    arm_id id;
    float expected, reward;
    double spread;
} recall_sample;

/* Adds it. weights is (RECALL_CLASSES). Returns the number of the arm's place. */
size_t recall_add(float *memory, size_t arms, const recall_sample *sample, slope *weights);

/* Whether it is such as recall_add makes; for memory that was read. */
bool recall_is_sound(const float *memory, size_t arms);

/* Copy the weights; one place; or all places that are taken. Return how many floats. */
size_t recall_copy_weights(const float *memory, size_t arms, float *to);
size_t recall_copy_place(const float *memory, size_t place, float *to);
size_t recall_copy_places(const float *memory, size_t arms, float *to);

#endif
