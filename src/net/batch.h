/* Runs several samples forward and backward at once. If the first layer is fully connected, its weights and those of
 * the hidden layers are read once for many samples, and the gradient of each row is summed before it is written. The
 * last layer, small ones, and all layers after a convolution process one sample at a time. */
#ifndef EENET_BATCH_H
#define EENET_BATCH_H

#include "base/memory.h"
#include "network.h"

enum { BATCH_SAMPLES = 64 }; /* at most */

typedef struct batch {
    memory *memory;
    const network *network;
    size_t count;                 /* samples added */
    vector inputs[BATCH_SAMPLES]; /* as they were added */
    vector seen[BATCH_SAMPLES];   /* as the first layer sees them, from batch_forward on */
    float *activations, *deltas;  /* (BATCH_SAMPLES, activation_count) */
    float *dense;                 /* (BATCH_SAMPLES, block) the inputs as a matrix; NULL if they may be too long */
    bool uses_dense;              /* the inputs are in `dense`; otherwise they are sorted by row, see below */
    float *heads;                 /* (heads, in) the last weights, grouped by head; NULL: one head */

    /* The rows of the first weights for which a sample since batch_clear_rows has a non-zero input. */
    uint32_t *rows; /* (block) */
    size_t row_count;
    uint8_t *touched; /* (block) whether a row is listed */

    /* The entry_count entries of the inputs, sorted by row in the order of `rows`: sample and value. They are sorted
     * for groups of samples that have up to usual_entries together, or for one sample that has more. */
    size_t entry_count, usual_entries;
    uint32_t *ends; /* (block) the end of the entries of each row */
    uint32_t *samples;
    float *values;
    size_t sample_capacity, value_capacity;

    /* The same for pairs of rows (0 and 1, 2 and 3, ...), for sparse inputs with many entries: a sample with an entry
     * in one row of a pair has a value for both. NULL if inputs never have enough entries. */
    uint32_t *pair_ends; /* (block / 2) */
    uint32_t *pair_samples;
    float *pair_values;
} batch;

/* net must outlive the batch. entries is the usual maximum of an input. */
ee_status batch_create(batch *self, memory *owner, const network *net, size_t entries, ee_error *error);

/* Reserves memory for a longer input. */
ee_status batch_reserve(batch *self, size_t entries, ee_error *error);

/* Adds a sample, whose input must live until batch_backward. */
void batch_add(batch *self, vector input);

void batch_forward(batch *self, const float *theta);

/* After batch_forward: the output of the network for a sample. */
float batch_output(const batch *self, size_t sample);

/* After batch_forward: the outputs of the last layer for a sample, (heads); and their deltas, for the caller to set. */
const float *batch_outputs(const batch *self, size_t sample);
float *batch_output_deltas(batch *self, size_t sample);

/* gradient += the sum over the samples of their output deltas times the derivatives of the outputs. Removes the
 * samples, but keeps the rows. */
void batch_backward(batch *self, const float *theta, float *gradient);

/* Removes the samples and the rows without learning. */
void batch_drop(batch *self);

/* Removes the rows. */
void batch_clear_rows(batch *self);

#endif
