/* What a solved f2 sees of an arm: f1's gradient at theta_0 by the weights of its last layer, which is what the last
 * hidden layer gives there; of its first units, scaled to length 1.
 *
 * theta_0 never moves, so phi of an arm stays what it is, and what was learned of it stays true. */
#ifndef EENET_START_FEATURES_H
#define EENET_START_FEATURES_H

#include "base/memory.h"
#include "net/network.h"

typedef struct start_features {
    network network; /* f1's without its last layer, and where it can be without the units that are not seen */
    float *theta;    /* (network.parameter_count) */
    size_t count;    /* of phi */
} start_features;

/* f1 must have a layer before the last. units: at most so many are seen. */
ee_status start_features_create(start_features *self, memory *owner, const network *f1, size_t units, ee_error *error);

/* theta_0 is (f1->parameter_count). */
void start_features_set(start_features *self, const network *f1, const float *theta_0);

/* phi is (count); activations is (network.activation_count). */
void start_features_compute(const start_features *self, vector x, float *activations, float *phi);

/* The same for many dense arms, (count, f1's input), where f1 has no heads: phi and activations are as many. */
void start_features_compute_many(const start_features *self, const float *inputs, size_t count, float *activations,
                                 float *phi);

#endif
