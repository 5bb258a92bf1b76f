/* What f2 as a regression sees of an arm: f1's gradient at theta_0 by the weights of its last layer. That is what the
 * last hidden layer gives at theta_0; the first units of it are taken, and scaled to length 1.
 *
 * theta_0 never moves, so phi of an arm stays what it is, and what was learned of it stays true. */
#ifndef EENET_INITIAL_FEATURES_H
#define EENET_INITIAL_FEATURES_H

#include "base/memory.h"
#include "net/network.h"

typedef struct initial_features {
    network network; /* f1's without its last layer, and where it can be without the units that are not seen */
    float *theta;    /* (network.parameter_count) */
    size_t count;    /* of phi */
} initial_features;

/* f1 must have a layer before the last. units: at most so many are seen. */
ee_status initial_features_create(initial_features *self, memory *owner, const network *f1, size_t units,
                                  ee_error *error);

/* theta_0 is (f1->parameter_count). */
void initial_features_set(initial_features *self, const network *f1, const float *theta_0);

/* Where f1 stores columns: this one now has a place, and theta_0 its row. */
void initial_features_start_column(initial_features *self, const network *f1, size_t column, const float *theta_0);

/* phi is (count); activations is (network.activation_count). */
void initial_features_compute(const initial_features *self, vector x, float *activations, float *phi);

/* The same for an arm of a round whose arms come in order. */
void initial_features_compute_arm(const initial_features *self, const ee_arms *arms, size_t arm, float *activations,
                                  float *phi);

/* The same for many dense arms, (count, f1's input), where f1 has one head. phi and activations have a row for each. */
void initial_features_compute_many(const initial_features *self, const float *inputs, size_t count, float *activations,
                                   float *phi);

#endif
