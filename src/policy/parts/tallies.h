/* What context-free policies share: the rewards of each arm, whatever its features. An arm is identified by its id.
 * Without ids it is identified by its place: its block of the features, or its position in the round. Ids and places
 * are separate: an arm with an id never counts as one without. The options of a policy are `tallies_options`,
 * its struct is `tallies`. The parameters are the tally of all arms, one for each place, and the table of
 * id_tallies.h. */
#ifndef EENET_TALLIES_H
#define EENET_TALLIES_H

#include "id_tallies.h"
#include "policy/policy.h"

typedef struct tallies_options {
    common_options common;
    int64_t positions;
    double alpha; /* only ucb1 */
} tallies_options;

extern const option_table tallies_option_table; /* blocks, positions */

typedef struct tallies {
    policy base;
    size_t places; /* most places, and most ids */
    size_t block;  /* features of a block; 0: a place is a position */
    double alpha;  /* only ucb1 */
} tallies;

/* The rewards of all arms. */
typedef struct tallies_total {
    tally rewards;
    double plays;     /* of all arms: rewards and pending decisions */
    double low, high; /* of the rewards; 0 before the first */
    double graded;    /* 1 once a reward was neither 0 nor 1; otherwise 0 */
    double used;      /* places, from the first up to the last one played */
} tallies_total;

const tallies_total *tallies_all(const parameters *learned);

/* The tally of an arm of a round. */
const tally *tallies_of(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room);

/* The expected reward of an arm: the mean of its rewards and a prior that is worth `worth` rewards; the prior if both
 * counts are 0. */
double tallies_expect(const tally *arm, double prior, double worth);

/* The range of the rewards. While all are equal it is their absolute value, or 1 if that is 0, so that widths and draws
 * are never 0. */
double tallies_range(const parameters *learned);

/* For await() of a policy: counts the observation as tried, with the expected reward of its arm under the prior of the
 * policy. */
float tallies_await(policy *self, const observation *o, double prior, double worth);

/* The functions of a class, and TALLIES_CLASS to set them. */
ee_status tallies_create(const policy_setup *setup, policy **out, ee_error *error);
size_t tallies_kept_count(const policy *self, uint64_t round, size_t arms);
void tallies_keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept);
bool tallies_learn(policy *self, const observation *o, float reward);
size_t tallies_copy(const policy *self, uint64_t first, float *to);
void tallies_archive(policy *self, archive *a);
#define TALLIES_CLASS                                                                                                  \
    .create = tallies_create, .kept_count = tallies_kept_count, .keep = tallies_keep, .learn = tallies_learn,          \
    .copy = tallies_copy, .archive = tallies_archive

#endif
