/* What context-free policies share: what came of each arm, whatever its features are. An arm is known by its id; where
 * the arms of a round have none, by its place: the block of the features that it is in, or its position in the round.
 * Ids and places are apart: an arm with an id never counts as one without. A policy's options begin with
 * `tallies_options`, its struct with `tallies`. The parameters are what came of all arms, a tally for each place, and
 * the table of id_tallies.h. */
#ifndef EENET_TALLIES_H
#define EENET_TALLIES_H

#include "id_tallies.h"
#include "policy/policy.h"

typedef struct tallies_options {
    common_options common;
    int64_t positions;
} tallies_options;

extern const option_table tallies_option_table; /* blocks, positions */

typedef struct tallies {
    policy base;
    size_t places; /* that are told apart; and so many ids */
    size_t block;  /* features of a block; 0: a place is a position */
} tallies;

/* What came of all arms. */
typedef struct tallies_total {
    tally rewards;
    double plays;     /* of all arms: rewards, and decisions that wait */
    double low, high; /* of the rewards; 0 before the first */
    double graded;    /* 1 from the first reward on that is neither 0 nor 1; else 0 */
    double used;      /* places, from the first on, of which one was ever played */
} tallies_total;

/* self is zeroed. */
ee_status tallies_create(tallies *self, const policy_setup *setup, ee_error *error);

const tallies_total *tallies_all(const parameters *learned);

/* What came of an arm of a round. */
const tally *tallies_of(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room);

/* What is expected of an arm: the mean of its rewards and of a prior that is worth so many. 0 where both are none. */
double tallies_expect(const tally *own, double prior, double worth);

/* How far rewards are apart: the greatest less the least. While all were equal it is their size, and 1 where that is 0:
 * so that widths and draws are never nothing. */
double tallies_range(const parameters *learned);

/* For a policy's await(): counts the observation as tried, with what is expected of its arm as the reward: so the prior
 * and its worth are those of the policy. */
float tallies_await(policy *self, const observation *o, double prior, double worth);

/* The functions of a class. */
size_t tallies_scratch_count(const policy *self, size_t arms);
size_t tallies_kept_count(const policy *self, uint64_t round, size_t arms);
void tallies_keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept);
bool tallies_learn(policy *self, const observation *o, float reward);
size_t tallies_copy(const policy *self, uint64_t first, float *to);
void tallies_archive(policy *self, archive *a);
#define TALLIES_CLASS                                                                                                  \
    .scratch_count = tallies_scratch_count, .kept_count = tallies_kept_count, .keep = tallies_keep,                    \
    .learn = tallies_learn, .copy = tallies_copy, .archive = tallies_archive

#endif
