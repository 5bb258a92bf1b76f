/* What came of the very same arm before. Where arms come again, a user and an item, an article, its own rewards say
 * what no function of its features can.
 *
 * How much that is worth is learned too. For an arm that came again m is the mean of its rewards, s what was expected
 * of it without them, r what came: the weight w is the least squares of r - s over m - s, with a prior of one such
 * sample that says 0, and kept within 0 to 1. It is near 1 where rewards are certain, and near 0 where they are noise.
 * Both forget slowly, since what is true of an arm may change.
 *
 * An arm is known by a hash of its entries that are not zero. One whose places are all taken displaces another. All
 * lies in floats that are the caller's, so that it can be part of a policy's parameters. */
#ifndef EENET_RECALL_H
#define EENET_RECALL_H

#include "math/vector.h"

/* Floats that recall of so many arms needs; zeros to begin with. 0 arms: none, and nothing is ever found. */
size_t recall_count(size_t arms);

/* What is expected of an arm, made better by what came of it before: between `expected` and the mean of its rewards. */
float recall_expect(const float *memory, size_t arms, vector x, float expected);

/* Adds a reward of an arm. expected: what was expected of it without its past. Returns the number of its place. */
size_t recall_add(float *memory, size_t arms, vector x, float expected, float reward);

/* Copy the sums that all arms share; one place; or all places that are taken. Return how many floats. */
size_t recall_copy_sums(const float *memory, size_t arms, float *to);
size_t recall_copy_place(const float *memory, size_t place, float *to);
size_t recall_copy_places(const float *memory, size_t arms, float *to);

#endif
