/* What LinUCB and LinTS share: rewards are linear in the features, and ridge regression gives an estimate of theta and
 * how uncertain it is. The parameters are the state of math/ridge.h, as doubles. A policy's options begin with
 * `posterior_options`.
 *
 * With standardize=on, the regression is one of r - centre: what it does not know of an arm counts as the centre, not
 * as 0. As the mean of the rewards moves, the centre follows in steps of a twentieth of the spread, and with it the y
 * of all samples (ridge_shift). Dividing by the spread would change nothing but the width, so the width is multiplied
 * by the spread instead. */
#ifndef EENET_POSTERIOR_H
#define EENET_POSTERIOR_H

#include "math/ridge.h"
#include "policy/policy.h"

typedef struct posterior_options {
    common_options common;
    double lambda;
    int64_t refresh;
} posterior_options;

extern const option_table posterior_option_table;

typedef struct posterior {
    policy base;
    ridge *ridge;
    size_t dim;      /* of the ridge: columns, or all features */
    size_t features; /* that an arm may have: for ridge_draw_room */
    double width;    /* of exploration: LinUCB's alpha, LinTS's nu */
    double *seen;    /* (dim) the sum of the samples' x whose y is r - centre; NULL with standardize=off */
} posterior;

ee_status posterior_create(const policy_class *class, const policy_setup *setup, double width, policy **out,
                           ee_error *error);

/* The expected reward of an arm. */
double posterior_mean(const parameters *learned, vector x);

const double *posterior_state(const parameters *learned);

/* The same arms without their zeros, where most of their features are; else as they are. They lie in room, which has
 * posterior_pack_count floats and is aligned as a block of memory is. */
size_t posterior_pack_count(size_t dim, size_t arms);
ee_arms posterior_pack(const ee_arms *arms, float *room);

/* The functions of a class. */
void posterior_explain(const parameters *learned, vector x, scratch *room, float *gradient);
ee_status posterior_reserve(policy *self, const observation *o, ee_error *error);
float posterior_await(policy *self, const observation *o);
bool posterior_learn(policy *self, const observation *o, float reward);
void posterior_start_column(policy *self, size_t place);
void posterior_archive_columns(policy *self, archive *a);
size_t posterior_copy(const policy *self, uint64_t first, float *to);
void posterior_archive(policy *self, archive *a);

#endif
