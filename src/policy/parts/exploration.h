/* f2 of EE-Net, the exploration network: it sees the gradient of f1 at an arm and predicts the potential gain r - f1,
 * how wrong f1 is there and in which direction (the paper, section 4). It is one of two things behind this face:
 *
 *   network_exploration     the paper's: a network that sees f1's gradient as it is at the decision
 *   regression_exploration  a ridge regression on f1's gradient at theta_0 by its last weights, exact after
 *                           each reward
 *
 * theta2 is the caller's, who keeps it in the policy's parameters. */
#ifndef EENET_EXPLORATION_H
#define EENET_EXPLORATION_H

#include "exploitation.h"
#include "gradient_features.h"

typedef enum exploration_kind { EXPLORATION_NETWORK, EXPLORATION_RIDGE } exploration_kind;
typedef enum label_kind { LABEL_GAIN, LABEL_ABS, LABEL_RELU } label_kind;

/* Options of a regression f2. */
typedef struct regression_options {
    double prior_gain;    /* the gain of an arm that is like none before */
    double ridge;         /* lambda */
    int64_t refresh;      /* past gains that each training computes again */
    int64_t units;        /* of f1's last hidden layer, that f2 sees */
    int64_t recent_units; /* likewise, for what f1 was wrong by lately */
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

/* What f2 learns of a gain r - f1. */
float exploration_label(option_choice label, float gain);

typedef struct exploration exploration;

typedef struct exploration_setup {
    const exploration_options *options;
    memory *memory; /* see policy_setup */
    const network *f1;
    uint64_t seed;
    size_t most_parameters; /* see policy_setup */
    size_t arms;            /* of a round that room is reserved for */
} exploration_setup;

/* A reward that is learned. */
typedef struct lesson {
    const observation *o;
    float reward;
    bool best;      /* whether the played arm may have been the best, p_t > 0 */
    uint64_t round; /* rewards before this one */
    double spread;  /* of the rewards, this one among them */
} lesson;

typedef struct exploration_class {
    ee_status (*create)(const exploration_setup *setup, exploration **out, ee_error *error);

    /* Sets theta2 to theta_0 of f2. initial is theta_0 of f1. */
    void (*start)(exploration *self, const float *initial, float *theta2);

    /* Where f1 stores columns: this one now has a place. NULL: this f2 needs all places. */
    void (*start_column)(exploration *self, size_t column, const float *initial);

    /* Floats of room that score() needs for the arms of a round. */
    size_t (*scratch_count)(const exploration *self, size_t arms);

    /* Sets the exploration of the scores of these arms, which have passed f1. scores is of the whole round. theta2 lies
     * in what was learned, behind f1's theta. */
    void (*score)(const exploration *self, const parameters *learned, const float *theta2, const passed_arms *passed,
                  float *room, ee_score *scores);

    /* What to keep of a decision until its reward comes, as policy.h has it. NULL, both: nothing. */
    size_t (*kept_count)(const exploration *self, uint64_t round, size_t arms);
    void (*keep)(const exploration *self, uint64_t round, const ee_arms *arms, size_t arm, const float *room,
                 float *kept);

    /* Makes room so that learning cannot run out of it. NULL: there always is. */
    ee_status (*reserve)(exploration *self, const observation *o, ee_error *error);

    /* Learning is in two steps, because a training may have to be taken back (net/learner.h).
     *
     * First what can be taken back: take() adds samples; prepare() trains on them, after so many rewards, and returns
     * false where that diverged; descend() instead trains from theta_0 on the samples of the first `rounds` rewards.
     * undo() takes all of it back. All four NULL: this f2 does nothing of the kind. */
    void (*take)(exploration *self, const lesson *l, const float *theta2);
    bool (*prepare)(exploration *self, uint64_t rewards, float *theta2);
    bool (*descend)(exploration *self, size_t rounds, float *theta2);
    void (*undo)(exploration *self, float *theta2);

    /* A decision is on its way to its reward, as policy.h has it. spread is that of the rewards. NULL: this f2 does not
     * care. */
    void (*await)(exploration *self, const observation *o, double spread, const float *theta1, float *theta2);

    /* Then what cannot: observe() adds the reward to what f2 knows without training; train() comes after f1's training,
     * and may look at f1's samples, theta1, and what is learned with it. */
    void (*observe)(exploration *self, const lesson *l, const float *theta1, float *theta2);
    void (*train)(exploration *self, exploitation *f1, const float *theta1, float *theta2);

    /* As policy.h has it: what the rewards from number first on have written in theta2. NULL: all is copied. */
    size_t (*copy)(const exploration *self, const float *theta2, uint64_t first, float *to);

    void (*archive)(exploration *self, archive *a);

    /* For models before version 12, whose theta2 lies otherwise: how many floats it has, given the option alpha, which
     * is gone; and after archive(), computes theta2 from what that has read. Both NULL: theta2 has not changed. */
    size_t (*earlier_theta_count)(const exploration *self, double alpha);
    void (*restore)(exploration *self, double spread, float *theta2);
} exploration_class;

/* Every f2's struct begins with this. */
struct exploration {
    const exploration_class *class;
    size_t theta_count; /* floats of theta2 */
};

extern const exploration_class network_exploration_class, regression_exploration_class;

ee_status exploration_create(const exploration_setup *setup, exploration **out, ee_error *error);

/* The doors to those functions of a class that may be NULL. */
size_t exploration_kept_count(const exploration *self, uint64_t round, size_t arms);
ee_status exploration_reserve(exploration *self, const observation *o, ee_error *error);
void exploration_take(exploration *self, const lesson *l, const float *theta2);
bool exploration_prepare(exploration *self, uint64_t rewards, float *theta2);
void exploration_undo(exploration *self, float *theta2);
void exploration_await(exploration *self, const observation *o, double spread, const float *theta1, float *theta2);
void exploration_observe(exploration *self, const lesson *l, const float *theta1, float *theta2);

#endif
