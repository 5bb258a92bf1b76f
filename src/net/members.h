/* What distinguishes the members of an ensemble, so that they agree where there were samples and disagree elsewhere:
 * randomized prior functions. Osband, Aslanides, Cassirer, "Randomized Prior Functions for Deep Reinforcement
 * Learning", NeurIPS 2018.
 *
 * A member is f_k + prior p_k: f_k, an output of the network, learns; p_k, an output of another network, never changes.
 * Its target is y + noise e_k, with e_k of mean 0 and variance 1, the same each time the sample is learned.
 *
 * Over the members of a head the p_k of an input sum to 0, and so do the e_k of a sample: the mean of the members
 * learns what a network without members would.
 *
 * The priors share all layers but the last, which has weights N(0, 1) for each of them. As the shared layers grow wide,
 * the priors approach separate networks. The root mean square of p_k over k is about the length of the input. */
#ifndef EENET_MEMBERS_H
#define EENET_MEMBERS_H

#include "batch.h"

typedef struct member_options {
    int64_t count; /* 0: the network has no members */
    double prior, noise;
    double rate; /* learning rate of the weights that members do not share, times that of the network: they must adapt
                    quickly */
    int64_t prior_width; /* units of the hidden layers of the priors */
} member_options;

typedef struct members {
    member_options options;
    uint64_t seed;
    network network; /* of the priors, with the heads and members of the network that learns */
    float *theta;    /* its parameters, determined by the seed */
    batch batch;     /* of the samples being learned */
    uint32_t numbers[BATCH_SAMPLES];
    float *priors, *noise; /* (count) of a sample */
} members;

/* learning has the options of the network of these members, on inputs of this many entries. nonzeros: see
 * batch_create. */
ee_status members_create(members *self, memory *owner, const member_options *options, const network_options *learning,
                         size_t input, size_t nonzeros, uint64_t seed, ee_error *error);

/* If the network stores columns, so does that of the priors: gives the next column to a place. */
void members_start_column(members *self, size_t column, size_t place);

/* priors (count) = prior p_k, from the outputs of the network of the priors for a head. */
void members_priors(const members *self, const float *outputs, float *priors);

/* ---- learning ---- */

/* Adds a sample, which must live until members_drop. number is its number among all samples so far. */
void members_add(members *self, vector input, uint32_t number);
void members_forward(members *self);
void members_drop(members *self);

/* After members_forward, for a sample of the batch: prior p_k of a head, (count), and noise e_k, (count). NULL if the
 * option is 0. Valid until the next call. */
const float *members_priors_of(members *self, size_t sample, size_t head);
const float *members_noise_of(members *self, size_t sample);

#endif
