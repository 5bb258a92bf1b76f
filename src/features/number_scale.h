/* The scale of a named number: what is subtracted from it, and by what it is then divided. A number x becomes
 *
 *     (x - p m) / sqrt(s² + (1 - p)² m²), limited to -5 ... 5
 *
 * m and s² are the mean and variance of the values so far, p is the share of contexts, or actions, that had the number.
 * If it is always present (p = 1), this is the usual standard score. If it is rare, it is x divided by its own size: a
 * weight in a sparse vector, where missing means 0, stays about 1, like an indicator. In between, the mean counts
 * missing values as 0, and the result has size 1 when the number is present. A number that is always present and
 * constant becomes 0: the constant feature has the same information.
 *
 * An arm counts in learning by its square: one value at the bound of 5 counts as 25 ordinary ones. One in 400
 * exponential values is beyond it, one in 3 million normal ones.
 *
 * One wrong value must not hide the right ones, and the scale must follow changes:
 *
 * Limit. A value more than 10 s from m enters the sums as m ± 10 s, and is counted. A share q of such values raises the
 * variance to s² / (1 - 100 q): one value in n by at most 100 / n, whatever its size, and values that make up 1% or
 * more by as much as it takes to admit them. Ordinary data rarely reach the limit: no normal or uniform value does, and
 * one in 60,000 exponential ones.
 *
 * Blocks. The sums are those of two blocks of values, the one being filled and the one before. Blocks hold 8, 64, 512
 * and then 4096 values. So the first eight, of which none can be called unusual yet, are gone after 72 values, and any
 * value after at most 8192. Shorter blocks would lose the scale of what changes slowly, such as the hour of the day,
 * and blocks that grow more slowly would drop more at once: a mean over n values is off by s / sqrt(n).
 *
 * Growth. A round with limited values reduces the weight of both blocks by an eighth. One does not matter; after thirty
 * little is left of the old scale.
 *
 * Shrink. After 128 values in a row below 1/16 of the usual size (root mean square), as when cents become euros, each
 * further one halves the weight of both blocks. Zeros say nothing about the scale and do not count. */
#ifndef EENET_NUMBER_SCALE_H
#define EENET_NUMBER_SCALE_H

#include "base/archive.h"

/* The sums of a block of values. */
typedef struct number_sums {
    double weight;        /* values in it, less what has faded */
    double since;         /* contexts or actions before it; adjusted as weights fade, so that shares do not change */
    double mean, squares; /* squares is the sum of squared deviations from the mean */
} number_sums;

typedef struct number_scale {
    number_sums older, newer; /* the first block has no older one: its weight is 0 */
    double mean, variance;    /* of both blocks, recomputed when read */
    uint64_t limited;         /* limited values */
    uint64_t faded_at;        /* contexts, or actions, when weights were last reduced */
    uint32_t small;           /* latest values in a row far below the usual size */
    uint32_t place;
    uint32_t of_action; /* 1: first seen in an action, so that its share is of the actions */
} number_scale;

/* Learns a value, -1e100 to 1e100. all: contexts, or actions, so far. */
void number_scale_learn(number_scale *self, double x, uint64_t all);

/* What is subtracted from a value, and what it is then divided by; 0 if all were equal. */
void number_scale_standard(const number_scale *self, uint64_t all, double *mean, double *deviation);

double number_scale_standardised(const number_scale *self, double x, uint64_t all);

/* Bytes of a scale in an archive. */
size_t number_scale_bytes(const archive *a);

/* Visits everything, including place and of_action. A scale that no values can produce fails the archive. */
void number_scale_archive(number_scale *self, uint64_t contexts, uint64_t actions, archive *a);

#endif
