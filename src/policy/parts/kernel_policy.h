/* What KernelUCB and KernelTS share: the options, the posterior, and the samples that it learns from.
 *
 * The first max_contexts rewards are learned. From then on the posterior is frozen: later ones are counted and change
 * nothing, as in the protocol of the comparisons with these policies. */
#ifndef EENET_KERNEL_POLICY_H
#define EENET_KERNEL_POLICY_H

#include "math/kernel_ridge.h"
#include "policy/policy.h"

typedef struct kernel_options {
    common_options common;
    option_choice kernel;
    double gamma, lambda, nu;
    int64_t max_contexts;
} kernel_options;

extern const option_table kernel_option_table;

/* The parameters are the state of the posterior, with room for max_contexts samples. */
typedef struct kernel_policy {
    policy base;
    kernel_ridge posterior;
    double width; /* nu / sqrt(lambda) */
    size_t max_contexts;
} kernel_policy;

/* The functions of a class; create takes the class besides. */
ee_status kernel_policy_create(const policy_class *class, const policy_setup *setup, policy **out, ee_error *error);
size_t kernel_policy_explain_count(const policy *self, size_t entries);
void kernel_policy_explain(const parameters *learned, vector x, scratch *room, float *gradient);
ee_status kernel_policy_reserve(policy *self, const observation *o, ee_error *error);
bool kernel_policy_learn(policy *self, const observation *o, float reward);
size_t kernel_policy_copy(const policy *self, uint64_t first, float *to);
void kernel_policy_archive(policy *self, archive *a);

/* The samples that these parameters hold, and the state of the posterior in them. */
size_t kernel_policy_count(const parameters *learned);
const double *kernel_policy_state(const parameters *learned);

#endif
