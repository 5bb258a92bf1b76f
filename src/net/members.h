/* What the members of a network learn apart from each other, so that they agree where there were samples and not where
 * there were none: randomized prior functions. Osband, Aslanides, Cassirer, "Randomized Prior Functions for Deep
 * Reinforcement Learning", NeurIPS 2018.
 *
 * A member is f_k + prior p_k: f_k, an output of the network, learns; p_k, that of another network, never changes. Its
 * target is y + noise e_k, e_k of mean 0 and variance 1, and the same each time that the sample is learned again.
 *
 * Over the members of a head the p_k of an input sum to 0, and so do the e_k of a sample: the mean of the members
 * learns what a network without members would.
 *
 * The priors share the layers before the last, and the last has weights N(0, 1) for each of them: as these layers grow
 * wide they are what separate networks would be. The root mean square of p_k over k is about the length of the input.
 */
#ifndef EENET_MEMBERS_H
#define EENET_MEMBERS_H

#include "batch.h"

typedef struct member_options {
    int64_t count; /* 0: the network has no members */
    double prior, noise;
    double rate; /* of what each has to itself, times that of the network: they must follow their samples soon */
    int64_t prior_width; /* of the hidden layers that the priors share */
} member_options;

typedef struct members {
    member_options options;
    uint64_t seed;
    network network; /* the priors', with heads and members like the network that learns */
    float *theta;    /* its parameters, which the seed alone gives */
    batch batch;     /* of samples that are learned */
    uint32_t numbers[BATCH_SAMPLES];
    float *priors, *noise; /* (count) of a sample */
} members;

/* learning: the options of the network whose members they are, on inputs of so many entries. nonzeros: as
 * batch_create's entries. */
ee_status members_create(members *self, memory *owner, const member_options *options, const network_options *learning,
                         size_t input, size_t nonzeros, uint64_t seed, ee_error *error);

/* Where the network that learns stores columns, so does that of the priors: the next column is that of this place. */
void members_start_column(members *self, size_t column, size_t place);

/* priors (count) = prior p_k, from the outputs of the priors' network for a head. */
void members_priors(const members *self, const float *outputs, float *priors);

/* ---- learning ---- */

/* Takes in a sample, which must live until members_drop. number: which one it is of all that ever came. */
void members_add(members *self, vector input, uint32_t number);
void members_forward(members *self);
void members_drop(members *self);

/* After members_forward, of a sample of the batch: prior p_k of a head, (count), and noise e_k, (count). NULL where the
 * option is 0. Each is valid until the next call. */
const float *members_priors_of(members *self, size_t sample, size_t head);
const float *members_noise_of(members *self, size_t sample);

#endif
