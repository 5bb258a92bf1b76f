/* f2 of EE-Net, the exploration network: from the gradient of f1 at an arm it predicts the potential gain r - f1, the
 * size and sign of f1's error there (the paper, section 4). This interface has two implementations:
 *
 *   network_exploration     as in the paper: a network on f1's gradient at the decision
 *   regression_exploration  a ridge regression on f1's gradient at theta_0 with respect to its last weights, exact
 *                           after each reward
 *
 * theta2 belongs to the caller and is part of the policy's parameters. */
#ifndef EENET_EXPLORATION_H
#define EENET_EXPLORATION_H

#include "exploitation.h"
#include "gradient_features.h"

typedef enum exploration_kind { EXPLORATION_NETWORK, EXPLORATION_RIDGE } exploration_kind;
typedef enum label_kind { LABEL_GAIN, LABEL_ABS, LABEL_RELU } label_kind;

/* Options of a regression f2. */
typedef struct regression_options {
    double prior_gain;    /* the gain of an arm unlike any before */
    double ridge;         /* lambda */
    int64_t refresh;      /* past gains that each training recomputes */
    int64_t units;        /* units of the last hidden layer of f1 that f2 sees */
    int64_t recent_units; /* the same for the recent errors of f1 */
    double width;         /* weight of the random confidence width */
    double recall_width;  /* weight of the confidence width of a recurring arm's mean: policy.recall_width */
} regression_options;

/* Options of a network f2. */
typedef struct network_exploration_options {
    double label_offset;
    double extra_gain;
    int64_t extra_until;
    feature_options features;
    learner_options f2;
} network_exploration_options;

typedef struct exploration_options {
    option_choice kind, label;
    regression_options regression;
    network_exploration_options network;
} exploration_options;

extern const option_table exploration_option_table, regression_option_table, network_exploration_option_table;

/* The label that f2 learns for a gain r - f1. */
float exploration_label(option_choice label, float gain);

typedef struct exploration exploration;

typedef struct exploration_setup {
    const exploration_options *options;
    memory *memory; /* see policy_setup */
    const network *f1;
    uint64_t seed;
    size_t most_parameters; /* see policy_setup */
    size_t arms;            /* arms of a round to reserve memory for */
} exploration_setup;

/* A reward to learn. */
typedef struct training_sample {
    const observation *o;
    float reward;
    bool best;      /* whether the chosen arm may have been the best, p_t > 0 */
    uint64_t round; /* rewards before this one */
    double spread;  /* of the rewards, including this one */
} training_sample;

typedef struct exploration_class {
    ee_status (*create)(const exploration_setup *setup, exploration **out, ee_error *error);

    /* Sets theta2 to theta_0 of f2. initial is theta_0 of f1. */
    void (*start)(exploration *self, const float *initial, float *theta2);

    /* If f1 stores columns: this column now has a place. NULL: this f2 needs all places. */
    void (*start_column)(exploration *self, size_t column, const float *initial);

    /* Floats of room that score() needs for the arms of a round. */
    size_t (*scratch_count)(const exploration *self, size_t arms);

    /* Sets the exploration of these arms after their pass through f1. scores has the whole round. theta2 is the part of
     * learned->values after theta1. */
    void (*score)(const exploration *self, const parameters *learned, const float *theta2, const passed_arms *passed,
                  float *room, ee_score *scores);

    /* What to store with a decision until its reward arrives, see policy.h. Both NULL: nothing. */
    size_t (*kept_count)(const exploration *self, uint64_t round, size_t arms);
    void (*keep)(const exploration *self, uint64_t round, const ee_arms *arms, size_t arm, const float *room,
                 float *kept);

    /* Reserves all memory that learning needs. NULL: it needs none. */
    ee_status (*reserve)(exploration *self, const observation *o, ee_error *error);

    /* Learning has two steps, because a training may have to be undone (net/learner.h).
     *
     * First what can be undone: take() adds samples; prepare() trains on them, after this many rewards, and returns
     * false if that diverged; descend() instead trains from theta_0 on the samples of the first `rounds` rewards.
     * undo() undoes all of it. All four NULL: this f2 has no such step. */
    void (*take)(exploration *self, const training_sample *sample, const float *theta2);
    bool (*prepare)(exploration *self, uint64_t rewards, float *theta2);
    bool (*descend)(exploration *self, size_t rounds, float *theta2);
    void (*undo)(exploration *self, float *theta2);

    /* Counts a pending decision as tried, see policy.h. spread is that of the rewards. NULL: this f2 ignores pending
     * decisions. */
    void (*await)(exploration *self, const observation *o, double spread, const float *theta1, float *theta2);

    /* Then what cannot be undone: observe() adds the reward without training; train() runs after the training of f1,
     * and may read the samples of f1, theta1, and what is learned with it. */
    void (*observe)(exploration *self, const training_sample *sample, const float *theta1, float *theta2);
    void (*train)(exploration *self, exploitation *f1, const float *theta1, float *theta2);

    /* Copies what the rewards from number first on have written in theta2, see policy.h. NULL: everything is copied. */
    size_t (*copy)(const exploration *self, const float *theta2, uint64_t first, float *to);

    void (*archive)(exploration *self, archive *a);

    /* For models before version 12, whose theta2 has another layout: its number of floats, given the removed option
     * alpha; and, after archive(), recomputing theta2 from what was loaded. Both NULL: theta2 has not changed. */
    size_t (*earlier_theta_count)(const exploration *self, double alpha);
    void (*restore)(exploration *self, double spread, float *theta2);
} exploration_class;

/* The struct of every f2 begins with this. */
struct exploration {
    const exploration_class *class;
    size_t theta_count; /* floats of theta2 */
};

extern const exploration_class network_exploration_class, regression_exploration_class;

ee_status exploration_create(const exploration_setup *setup, exploration **out, ee_error *error);

/* Wrappers of the functions of a class that may be NULL. */
size_t exploration_kept_count(const exploration *self, uint64_t round, size_t arms);
ee_status exploration_reserve(exploration *self, const observation *o, ee_error *error);
void exploration_take(exploration *self, const training_sample *sample, const float *theta2);
bool exploration_prepare(exploration *self, uint64_t rewards, float *theta2);
void exploration_undo(exploration *self, float *theta2);
void exploration_await(exploration *self, const observation *o, double spread, const float *theta1, float *theta2);
void exploration_observe(exploration *self, const training_sample *sample, const float *theta1, float *theta2);

#endif
