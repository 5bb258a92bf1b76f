/* A network that learns: the network, its training samples and its optimizer. f1, f2 and f3 of EE-Net, and the network
 * of every other neural policy, are learners with the same option table.
 *
 * A learner may have several networks (a committee) that learn side by side: the first has the layers in the options,
 * each further one has one layer more. They share the history, the batches and the optimizer. Each has its own
 * parameters, which follow those of the previous network, and its own errors. The caller combines their outputs.
 *
 * theta belongs to the caller: a policy has it in its parameters, where scoring reads it. With `average`, theta is the
 * running mean of the weights that training moves, and those belong to the learner. */
#ifndef EENET_LEARNER_H
#define EENET_LEARNER_H

#include "batch.h"
#include "history.h"
#include "members.h"
#include "network.h"
#include "optimizer.h"

typedef enum learner_loss {
    LOSS_SQUARED,      /* (f - y)^2 */
    LOSS_HALF,         /* (f - y)^2 / 2 */
    LOSS_CROSS_ENTROPY /* -y log s - (1 - y) log (1 - s), s = 1 / (1 + exp(-f)): f is the logit */
} learner_loss;

typedef enum learner_training {
    TRAINING_GD, /* from theta_0, every step over all samples; the sum of the losses, the mean of the cross-entropy
                    (Algorithm 1) */
    TRAINING_SGD /* continues from the current theta, every step over a batch; the mean of the losses */
} learner_training;

typedef enum learner_order {
    ORDER_SHUFFLE, /* pass after pass over all samples, in one random order for each training */
    ORDER_RANDOM   /* the newest sample first, then any, drawn independently */
} learner_order;

typedef struct learner_options {
    network_options network;
    option_choice loss, training, order;
    optimizer_options optimizer;
    bool keep_moments;    /* of the optimizer, from one training to the next */
    int64_t steps, batch; /* most steps of a training; samples of a step */
    double recent;        /* share of a batch that is drawn from the latest samples */
    double stop_loss;     /* ends a training after a pass with at most this mean loss; 0: never */
    double others;        /* weight with which heads that were not chosen learn the lowest reward; 0: off */
    int64_t average;      /* half-life of a step in the average; 0: no average */
    bool lazy;            /* skips first weights whose inputs are zero in the whole batch */
    option_choice history;
    int64_t committee;      /* networks; 0, if a table does not offer it: one */
    int64_t deep_width;     /* width of all networks but the first */
    bool grows;             /* not an option: named features, so memory for samples and rows grows as they arrive */
    member_options members; /* 0 members if a table does not offer them */
} learner_options;

/* The options of every network; of a network on arms; and of one with members. */
extern const option_table learner_option_table, arm_learner_option_table, member_option_table;

/* A target as the network learns it: (target - centre) * scale, limited to low and high. */
typedef struct target_units {
    float centre, scale;
    float least; /* the lowest reward, for heads that were not chosen (others), in these units */
    float low, high;
} target_units;

enum { COMMITTEE_MOST = 4 };

typedef struct learner {
    memory *memory;
    learner_options options;
    network networks[COMMITTEE_MOST];
    size_t network_count;
    size_t starts[COMMITTEE_MOST]; /* offset of each in theta, at the start of a cache line */
    size_t parameter_count;        /* of all networks, including padding to cache lines */
    bool leaves_rows;              /* a step may leave rows of the first weights as they are (option lazy) */
    /* A step takes these rows one by one. The kernel of Adam shares divisions between neighbours, so the rounding of a
     * row would otherwise depend on how many rows are stored. */
    bool steps_rows;
    bool steps_by_sample; /* learner_step can do a batch of one: one network, no members, all rows move */
    /* A training is one step of Adam. If the gradient is finite, so is what the step leaves: it is enough to check the
     * gradient before the step, and nothing has to be copied to undo the training. */
    bool is_one_step;
    size_t used; /* columns in use; all inputs if the networks do not store columns */
    history history;
    target_units units; /* identity by default; change them only between trainings */
    optimizer optimizer;
    float *initial;    /* (parameters) theta_0 */
    float *moving;     /* (parameters) the weights that training moves, if theta is their average; otherwise NULL */
    uint64_t averaged; /* steps in the average */
    float *gradient;   /* (parameters) of a batch; zeros between batches */
    batch batches[COMMITTEE_MOST];    /* the same samples for each network */
    members *members[COMMITTEE_MOST]; /* priors and noise of the members; NULL: no members */
    float *activations;               /* (activations of the first network) for a step on one sample */
    float *deltas;                    /* (activations) */
    uint32_t *order;                  /* (order_capacity) a permutation of the samples; only with ORDER_SHUFFLE */
    size_t order_capacity, order_count;
    size_t next; /* the next sample of a training */
    random_stream init[COMMITTEE_MOST], sampling;

    /* When theta was last written, for learner_copy. */
    uint64_t time;       /* now, set by the caller; never decreases */
    uint64_t trained;    /* any of it */
    uint64_t descended;  /* all of it, except rows that a step may leave */
    uint64_t *row_times; /* (rows of the first weights), if a step may leave some */

    /* To undo a training: the state before it. */
    bool prepared;
    struct {
        random_stream sampling;
        uint64_t averaged, steps;
        size_t order_count;
        float *values;   /* (copies, parameters) theta, the moving weights, the moments; NULL with is_one_step */
        uint32_t *order; /* (order_capacity) */
        size_t order_capacity;
    } before;
} learner;

/* Adapts the options to a problem. heads = 0 becomes the number of blocks. others becomes 0 unless there are several
 * heads and at most one arm of a round has a reward. */
learner_options learner_for_problem(const learner_options *options, int64_t blocks, bool exclusive);

/* name, such as "f1", is for messages and, with seed, for the random streams. nonzeros: see history_create. A network
 * of more than most_parameters is refused before anything is allocated for it. */
ee_status learner_create(learner *self, memory *owner, const char *name, const learner_options *options, size_t input,
                         size_t nonzeros, uint64_t seed, size_t most_parameters, ee_error *error);

/* Whether options.network.room may be set: the network can store some columns of its input, and training does not
 * change rows that are not stored. */
bool learner_takes_columns(const learner_options *options);

/* Draws theta_0 and sets theta to it. */
void learner_start(learner *self, float *theta);

/* Gives the next column to a place, with its weights of theta_0. time: see learner_copy. */
void learner_start_column(learner *self, size_t place, float *theta, uint64_t time);

/* Reserves memory for more samples with an input like x: learner_append of them cannot fail. */
ee_status learner_reserve(learner *self, size_t more, vector x, ee_error *error);
void learner_append(learner *self, vector x, float target);

/* Removes all samples. */
void learner_clear(learner *self);

/* Removes the samples appended since learner_reserve. */
void learner_undo(learner *self);

/* One training on the history, in two steps so that it can be undone: call learner_prepare, then learner_commit or
 * learner_abort. prepare returns false, and changes nothing, if training would leave a parameter that is not finite, or
 * huge. */
bool learner_prepare(learner *self, float *theta);
void learner_commit(learner *self, float *theta);
void learner_abort(learner *self, float *theta); /* does nothing if nothing is prepared */

/* Also prepares a training: sets theta to the result of TRAINING_GD from theta_0 on the first `samples` samples. */
bool learner_prepare_descent(learner *self, size_t samples, float *theta);

/* One step on one sample; returns the loss before it. */
double learner_step(learner *self, vector x, float target, float *theta);

/* The outputs of network number k for up to BATCH_SAMPLES samples of the history: outputs is (count). theta is that of
 * all networks. Do not call it while a training is prepared. */
void learner_outputs(learner *self, size_t k, const float *theta, const size_t *samples, size_t count, float *outputs);

/* Copies what trainings at this time and later changed in theta; since = 0: all. Returns the number of floats. */
size_t learner_copy(const learner *self, const float *theta, uint64_t since, float *to);

/* A target in target_units. */
float learner_target(const learner *self, float target);

double learner_loss_value(learner_loss loss, float output, float target);
float learner_loss_derivative(learner_loss loss, float output, float target);

void learner_archive(learner *self, archive *a);

#endif
