/* Compares treated people with control people while the log grows. You may look after every decision.
 *
 * The unit of randomisation is the person (key): a decision is treated with probability e, the share of keys that are
 * treated at that time. People come back, so decisions depend on each other, and e changes, so plain means of the two
 * groups would compare different times. Therefore
 *
 * - a treated decision has weight 1 - e, a control decision weight e ("overlap weights": Li, Morgan, Zaslavsky,
 *   "Balancing covariates via propensity score weighting", 2018). In expectation every time then has the same weight
 *   e (1 - e) in both groups. A share of 1% makes a weight of 0.99, while inverse propensities would make one of 100.
 *   The means are weighted means: times at which both groups were large count most;
 * - the variance is measured between buckets of people, not between decisions (cluster-robust);
 * - a group with few effective people (below) is assumed to vary at least as much, per weight, as the other. Otherwise
 *   a group without a single event would appear to be known exactly;
 * - if all values of a group are the same, in both groups, one person of each is assumed to differ;
 * - bounds hold at all times: the estimate is treated as a Brownian motion in information 1 / variance, and tested
 *   with a mixture of normal bets on effects of about 10%, 50% and 250% of the mean absolute value.
 *
 * References: Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory and asymptotic
 * confidence sequences", 2024; Johari, Koomen, Pekelis, Walsh, "Always valid inference", 2022; Howard, Ramdas,
 * McAuliffe, Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021.
 *
 * Exact: the weights balance the groups whatever the values, trends and returns of people are, if e is right and does
 * not depend on the values. Asymptotic, in the number of people: the level of intervals and tests. So nothing is said
 * before LIFT_LEAST_PEOPLE people in each group and LIFT_LEAST_EFFECTIVE effective people in one group.
 * docs/guardrail-statistics.md has the simulations behind both numbers. Assumed: a person's decisions do not change
 * the values of other people.
 *
 * Values without a range: one outlier makes the variance of its group large. It cannot cause an alarm, but hides others
 * until the rest of the log outweighs it. lift_estimate.largest shows it; a range prevents it. */
#ifndef EENET_LIFT_H
#define EENET_LIFT_H

#include "base/archive.h"
#include "interval.h"

enum { LIFT_BUCKETS = 512, LIFT_REGISTERS = 1024, LIFT_LEAST_PEOPLE = 50, LIFT_LEAST_EFFECTIVE = 30 };

typedef struct lift_group {
    uint64_t decisions;
    double weight, weight_squares, sum;               /* sums of w, w^2 and w times value */
    double weights[LIFT_BUCKETS], sums[LIFT_BUCKETS]; /* of w, and of w times value, by bucket of people */
    uint8_t registers[LIFT_REGISTERS];                /* HyperLogLog (Flajolet and others, 2007) of people */
    double filled;                                    /* sum over registers of 1 - 2^-register */
    uint64_t used;                                    /* registers that are not 0 */
} lift_group;

/* 19 KB, without pointers. {0} has seen nothing and clips nothing. */
typedef struct lift {
    double low, high; /* values beyond count as its nearest end; equal: no range */
    double absolute;  /* sum of |value| */
    lift_group treated, control;
} lift;

/* For values in low to high. */
lift lift_start(double low, double high);

/* One decision, in any order. share: the probability, 0 to 1, that its key was treated at that time. key: any hash or
 * number of the person. Ignored: a value that is not finite (missing), and shares of 0 or 1, when there was nothing to
 * compare with. */
void lift_add(lift *self, uint64_t key, bool treated, double share, double value);

/* Of one group. */
typedef struct lift_side {
    uint64_t decisions;
    double people;    /* estimated, within about 3% */
    double effective; /* people by influence: (sum of squares)^2 / sum of 4th powers over buckets, at most about 170.
                         For rare events it is about their number */
    double mean;      /* weighted; NaN before the first decision */
} lift_side;

typedef struct lift_estimate {
    lift_side treated, control;
    double lift;                /* treated mean - control mean */
    interval interval;          /* of lift; NaN: too early */
    double relative;            /* lift / |control mean| */
    interval relative_interval; /* NaN: too early, or the interval of the control mean includes 0 */
    double largest;             /* share of the variance that is due to one bucket; above 0.2: give the value a range */
} lift_estimate;

/* Intervals that cover at all times with probability 1 - alpha. */
lift_estimate lift_now(const lift *self, double alpha);

/* The log wealth of a bet, starting from 1, that wins if the treated mean exceeds the control mean by more than margin
 * times |control mean|; with below, if it falls short of it by more. If it never does, the wealth ever reaches 1 /
 * alpha with probability at most alpha, whatever the sign of the means. 0 before there are enough people. margin: at
 * least 0. Takes about a microsecond. */
double lift_log_wealth(const lift *self, double margin, bool below);

/* The same as a number from 0 (no evidence) to 1 (violated with lifetime error alpha). It may fall again; the caller
 * decides that the first 1 counts. */
double lift_violation(const lift *self, double margin, bool below, double alpha);

void lift_archive(archive *a, lift *self);

#endif
