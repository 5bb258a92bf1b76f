/* The scale of a number that has a name: what is subtracted from it and what it is then divided by.
 *
 * A number x becomes
 *
 *     (x - p m) / sqrt(s² + (1 - p)² m²),   limited to -5 ... 5
 *
 * m and s² are the mean and variance of the values that came, p is the share of the contexts, or actions, that had the
 * number. If it always comes (p = 1), this is the usual standard score. If it seldom comes, it is x divided by its own
 * size: a weight in a sparse vector, where missing means 0, stays about 1, as an indicator is. In between, the mean
 * counts missing values as 0, and the result has size 1 when the number comes. A number that always comes and is always
 * equal becomes 0: the constant says as much. An arm weighs in what is learned by its square: one value at the bound of
 * 5 counts as 25 ordinary ones, and one in 400 exponential values is beyond it, one in 3 million normal ones.
 *
 * One wrong value must not hide the right ones, and a change of scale must be followed:
 *
 *   Limit.   A value more than 10 s from m enters the sums as m ± 10 s, and is counted. A share q of such values raises
 *            the variance to s² / (1 - 100 q): one value in n by 100 / n at most, whatever its size, and values that
 *            make up 1% or more by as much as it takes to admit them. Ordinary data hardly meet the limit: no
 *            normal or uniform value does, and one in 60,000 exponential ones.
 *   Blocks.  The sums are those of two blocks of values, the one that is being filled and the one before. Blocks hold
 *            8, 64, 512 and from then on 4096 values. So the first eight, of which none can be called unusual yet, are
 *            gone after 72 values, and any value after 8192 at most. Shorter blocks would lose the scale of what
 *            changes slowly, such as the hour of the day, and blocks that grow more slowly would drop more at once: a
 *            mean over n values is off by s / sqrt(n).
 *   Growth.  A round with limited values makes both blocks lighter by an eighth. One does not matter; of the old scale
 *            little is left after thirty.
 *   Shrink.  128 values in a row below 1/16 of the usual size (root mean square), as when cents become euros: each
 *            further one halves the weight of both blocks. Zeros say nothing of a scale and do not count. */
#ifndef EENET_NUMBER_SCALE_H
#define EENET_NUMBER_SCALE_H

#include "base/archive.h"

/* Of a block of values. */
typedef struct number_sums {
    double weight;        /* values in it, each counted as far as it has not faded */
    double since;         /* contexts or actions before it; moved on as weights fade, so that shares stay */
    double mean, squares; /* the sum of squares is that around the mean */
} number_sums;

typedef struct number_scale {
    number_sums older, newer; /* the first block has no older one: its weight is 0 */
    double mean, variance;    /* of both together, made again when they are read */
    uint64_t limited;         /* values that were beyond the limit */
    uint64_t faded_at;        /* contexts, or actions, so far when weights were last made less */
    uint32_t small;           /* how many of the last ones, in a row, were far below the usual size */
    uint32_t place;
    uint32_t of_action; /* 1: first met in an action, and so its share is one of the actions */
} number_scale;

/* Learns a value, -1e100 to 1e100. all: contexts, or actions, so far. */
void number_scale_learn(number_scale *self, double x, uint64_t all);

/* What is subtracted from a value, and what it is then divided by: 0 if all were equal. */
void number_scale_standard(const number_scale *self, uint64_t all, double *mean, double *deviation);

double number_scale_standardised(const number_scale *self, double x, uint64_t all);

/* Bytes that a scale takes in an archive. */
size_t number_scale_bytes(const archive *a);

/* Everything, place and of_action included. What is read is a scale that values can make, or the archive has failed. */
void number_scale_archive(number_scale *self, uint64_t contexts, uint64_t actions, archive *a);

#endif
