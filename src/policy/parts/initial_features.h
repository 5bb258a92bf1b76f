/* The features of an arm for a regression f2: f1's gradient at theta_0 with respect to its last weights, that is the
 * output of the last hidden layer at theta_0. The first units of it are used, scaled to length 1. theta_0 never
 * changes, so phi of an arm and what was learned about it stay valid. */
#ifndef EENET_INITIAL_FEATURES_H
#define EENET_INITIAL_FEATURES_H

#include "base/memory.h"
#include "net/network.h"

typedef struct initial_features {
    network network; /* f1 without its last layer and, if possible, without unused units */
    float *theta;    /* (network.parameter_count) */
    size_t count;    /* of phi */
} initial_features;

/* f1 must have a hidden layer. At most `units` of its units are used. */
ee_status initial_features_create(initial_features *self, memory *owner, const network *f1, size_t units,
                                  ee_error *error);

/* theta_0 is (f1->parameter_count). */
void initial_features_set(initial_features *self, const network *f1, const float *theta_0);

/* If f1 stores columns: this column now has a place, and theta_0 its row. */
void initial_features_start_column(initial_features *self, const network *f1, size_t column, const float *theta_0);

/* phi is (count); activations is (network.activation_count). */
void initial_features_compute(const initial_features *self, vector x, float *activations, float *phi);

/* The same for an arm of a round whose arms are processed in order. */
void initial_features_compute_arm(const initial_features *self, const ee_arms *arms, size_t arm, float *activations,
                                  float *phi);

/* The same for many dense arms, (count, inputs of f1), if f1 has one head. phi and activations have a row for each. */
void initial_features_compute_many(const initial_features *self, const float *inputs, size_t count, float *activations,
                                   float *phi);

#endif
