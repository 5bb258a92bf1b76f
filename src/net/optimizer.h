/* Changes theta by a gradient: SGD, Adam with L2 (added to the gradient) and AdamW (decoupled decay), with the formulas
 * of PyTorch. The moments and steps of Adam stay finite if no entry of the gradient is above 1e18. */
#ifndef EENET_OPTIMIZER_H
#define EENET_OPTIMIZER_H

#include "base/memory.h"
#include "base/options.h"
#include "network.h"

typedef enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAMW } optimizer_kind;

typedef struct optimizer_options {
    option_choice kind;
    double rate;
    double decay;        /* SGD and Adam: times theta, added to the gradient; AdamW: theta shrinks by rate times this */
    int64_t decay_until; /* steps after which decay falls as 1 / sqrt(steps), like the noise of the samples */
} optimizer_options;

typedef struct optimizer {
    optimizer_options options;
    size_t count;          /* of theta */
    float *first, *second; /* (count) moments of the scaled gradient, the first over 1 - beta1; NULL for SGD */
    uint64_t steps;
    float left; /* factor of theta by the decay of the current step */
    const kernel_table *kernels;
} optimizer;

ee_status optimizer_create(optimizer *self, memory *owner, const optimizer_options *options, size_t count,
                           ee_error *error);

/* Resets the moments. */
void optimizer_reset(optimizer *self);

/* The factor that a gradient needs before optimizer_step. */
float optimizer_scale(const optimizer *self);

/* One step against the gradient, given as the factors of all layers. */
void optimizer_step(optimizer *self, float *theta, const gradient_factor *factors, size_t count);

/* A part of theta. */
typedef struct span {
    size_t start, count;
} span;

/* The same with the whole gradient in an array like theta, part by part: optimizer_begin, then each part. Parameters in
 * no part, and their moments, do not change. */
adam_step optimizer_begin(optimizer *self);
void optimizer_step_part(const optimizer *self, const adam_step *step, float *theta, const float *gradient, span part);

#endif
