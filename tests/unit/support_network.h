/* Networks in the order of the stored numbers: layer by layer, weights as (out, in) row by row, then biases. */
#ifndef EENET_TEST_SUPPORT_NETWORK_H
#define EENET_TEST_SUPPORT_NETWORK_H

#include "net/learner.h"
#include "support.h"

/* Options as the table's defaults, then `text`. */
learner_options options_from(const char *text);

/* A fully connected learner for stored `dims` ([in, hidden..., 1]); text as in options_from. */
void make_learner(learner *self, memory *owner, const json_t *dims, bool bias, const char *text);

/* A learner by its options as text, its parameters and a gradient, which are the owner's. */
typedef struct made_learner {
    memory owner;
    learner l;
    network *net; /* its first */
    float *theta, *gradient;
    size_t count; /* of parameters */
} made_learner;

void learner_make(made_learner *self, const char *text, size_t input, uint64_t seed);
void learner_release(made_learner *self);
/* Its first network's output for x; the gradient becomes the output's. */
float learner_pass(made_learner *self, vector x);
/* Reserves and appends a sample. */
void learner_give(made_learner *self, vector x, float target);

/* Prepares and commits a training. */
bool learner_train(learner *self, float *theta);

/* theta of the network from stored layers [{weight, bias?}...]; first is the number of the network's first layer. */
void theta_from_golden(const network *net, const json_t *layers, size_t first, float *theta);

/* theta, or anything laid out like it, into the stored order. out is (net->parameter_count). */
void theta_to_golden(const network *net, const float *theta, float *out);

#endif
