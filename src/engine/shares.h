/* Shares of groups of arms: moves probabilities as little as possible, so that the arms of each group together have a
 * probability within the bounds of the group.
 *
 * Let P be the probability of a group before. Groups are disjoint, so the nearest distribution, by Kullback-Leibler
 * divergence in either direction, scales all arms of a group by the same factor. Its KKT conditions say that the group
 * then has the probability min(max(c P, low), high), with one c for all groups. The arms outside all groups form a
 * group without bounds. */
#ifndef EENET_SHARES_H
#define EENET_SHARES_H

#include <stdbool.h>

#include "base/status.h"

/* A group of arms. */
typedef struct group_share {
    double low, high;
    double before, after; /* probability of its arms together */
    double weight;        /* what the unbounded part of `after` is proportional to */
    size_t arms;          /* 0: the group is not in the round, and is ignored */
    bool is_free;         /* its bounds have not decided its probability */
} group_share;

/* Changes probabilities (count), which sum to 1, so that they satisfy checked limits; ee_limits says what happens if
 * none can. Probabilities that do are not changed, to the bit. left is (count): the numbers of these arms in their
 * round; NULL: all of its arms. room is (limits->group_count + 1). */
void shares_project(const ee_limits *limits, const size_t *left, size_t count, group_share *room,
                    double *probabilities);

#endif
