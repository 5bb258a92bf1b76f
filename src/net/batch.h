/* Runs several samples forward and backward at once. Where the first layer is fully connected, its weights and those of
 * the hidden layers above it are read once for many samples, and the gradient of each row is summed up before it is
 * written. The last layer, small ones, and all layers above a convolution see one sample after the other. */
#ifndef EENET_BATCH_H
#define EENET_BATCH_H

#include "base/memory.h"
#include "network.h"

enum { BATCH_SAMPLES = 64 }; /* at most */

typedef struct batch {
    memory *memory;
    const network *network;
    size_t count;                 /* samples taken in */
    vector inputs[BATCH_SAMPLES]; /* as they came */
    vector seen[BATCH_SAMPLES];   /* as the first layer sees them, from batch_forward on */
    float *activations, *deltas;  /* (BATCH_SAMPLES, activation_count) */
    float *dense;                 /* (BATCH_SAMPLES, block) inputs side by side; NULL where they may be too long */
    bool uses_dense;              /* the inputs lie there; else by row, below */
    float *heads;                 /* (heads, in) the last weights with those of a head together; NULL: one head */

    /* The rows of the first weights for which some sample, since batch_clear_rows, has an input that is not zero. */
    uint32_t *rows; /* (block) */
    size_t row_count;
    uint8_t *touched; /* (block) whether a row is among them */

    /* The entry_count entries of the inputs, sorted by row in the order of `rows`: which sample, and its value. They
     * are sorted for as many samples at a time as have usual_entries together, or for one that has more. */
    size_t entry_count, usual_entries;
    uint32_t *ends; /* (block) where the entries of a row end */
    uint32_t *samples;
    float *values;
    size_t sample_capacity, value_capacity;

    /* The same for pairs of rows (0 and 1, 2 and 3, ...), for sparse inputs with many entries: a sample with an entry
     * in one row of a pair has a value for both. NULL if inputs never have enough entries. */
    uint32_t *pair_ends; /* (block / 2) */
    uint32_t *pair_samples;
    float *pair_values;
} batch;

/* net must outlive the batch. entries: how many an input usually has at most. */
ee_status batch_create(batch *self, memory *owner, const network *net, size_t entries, ee_error *error);

/* Room for a longer input. */
ee_status batch_reserve(batch *self, size_t entries, ee_error *error);

/* Takes in one more sample, whose input must live until batch_backward. */
void batch_add(batch *self, vector input);

void batch_forward(batch *self, const float *theta);

/* After that: the network's output for a sample. */
float batch_output(const batch *self, size_t sample);

/* After batch_forward: what the last layer gives for a sample, (heads); and where its deltas go. */
const float *batch_outputs(const batch *self, size_t sample);
float *batch_output_deltas(batch *self, size_t sample);

/* gradient += the sum over the samples of their output deltas times the derivatives of the outputs. Lets go of the
 * samples, but not of the rows. */
void batch_backward(batch *self, const float *theta, float *gradient);

/* Lets go of the samples and the rows, where there is nothing to learn from them. */
void batch_drop(batch *self);

/* Forgets the rows. */
void batch_clear_rows(batch *self);

#endif
