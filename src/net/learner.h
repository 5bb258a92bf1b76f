/* A network that learns: the network, the history that it trains on, its optimizer, and how the three meet. f1, f2 and
 * f3 of EE-Net, and the network of every other neural policy, are learners with the same table of options.
 *
 * A learner may have several networks, a committee, that learn side by side: the first has the layers that the options
 * name, the second one layer more, and so on. They share the history, each batch that is drawn from it, and the
 * optimizer; each has its own parameters, which lie behind those of the one before, and its own errors. How their
 * outputs become one is the caller's matter.
 *
 * theta is the caller's: a policy keeps it in its parameters, where scoring reads it. With `average` it is the running
 * mean of the weights that training moves, which are the learner's own. */
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
    TRAINING_GD, /* the paper's: from theta_0, every step over all samples; the sum of the losses, the mean of the
                    cross-entropy (Algorithm 1) */
    TRAINING_SGD /* goes on from where theta is, every step over a batch; the mean of the losses */
} learner_training;

typedef enum learner_order {
    ORDER_SHUFFLE, /* pass after pass over all samples, in one random order for each training */
    ORDER_RANDOM   /* the newest sample first, then any, drawn independently */
} learner_order;

typedef struct learner_options {
    network_options network;
    option_choice loss, training, order;
    optimizer_options optimizer;
    bool keep_moments;    /* the optimizer's, from one training to the next */
    int64_t steps, batch; /* of one training, at most; of one step */
    double recent;        /* share of a batch that is drawn from the last samples */
    double stop_loss;     /* ends a training after a pass with at most this mean loss; 0: never */
    double others;        /* weight by which heads that were not played learn that they were worth the least; 0: off */
    int64_t average;      /* steps that halve a step's share in the average; 0: none is made */
    bool lazy;            /* first weights whose inputs are zero in all of a batch stand still */
    option_choice history;
    int64_t committee;      /* networks; not in every table: 0, one */
    int64_t deep_width;     /* of all networks but the first */
    bool grows;             /* no option: memory for samples follows those that come */
    member_options members; /* not in every table: 0 of them, none */
} learner_options;

/* The options of every network; those that only a network that sees arms has; and those of one that has members. */
extern const option_table learner_option_table, arm_learner_option_table, member_option_table;

/* What a target of the history is to the network: (target - centre) * scale, cut to low and high. */
typedef struct target_units {
    float centre, scale;
    float least; /* what the arms of heads that were not played are worth (others), in these units */
    float low, high;
} target_units;

enum { COMMITTEE_MOST = 4 };

typedef struct learner {
    memory *memory;
    learner_options options;
    network networks[COMMITTEE_MOST];
    size_t network_count;
    size_t starts[COMMITTEE_MOST]; /* where in theta each has its parameters, at the beginning of a line of the cache */
    size_t parameter_count;        /* of all networks, and what fills those lines */
    bool leaves_rows;              /* a step may leave rows of the first weights as they are (option lazy) */
    bool steps_by_sample;          /* learner_step can do a batch of one: one network, no members, all rows move */
    /* A training is one step of Adam. If the gradient is finite, so is what the step leaves: it is enough to check the
     * gradient before the step, and nothing has to be copied to undo the training. */
    bool is_one_step;
    size_t used; /* columns that have a place; all inputs where the networks do not store columns */
    history history;
    target_units units; /* targets as they are; whoever changes them does so before a training */
    optimizer optimizer;
    float *initial;                   /* (parameters) theta_0 */
    float *moving;                    /* (parameters) what training moves, where theta is its average; else NULL */
    uint64_t averaged;                /* steps that the average has taken in */
    float *gradient;                  /* (parameters) of a batch; zeros between batches */
    batch batches[COMMITTEE_MOST];    /* the same samples for each network */
    members *members[COMMITTEE_MOST]; /* what they learn apart from each other; NULL: there are none */
    float *activations;               /* (the first network's activations) of a step on one sample */
    float *deltas;                    /* (activations) */
    uint32_t *order;                  /* (order_capacity) a permutation of the samples; ORDER_SHUFFLE alone */
    size_t order_capacity, order_count;
    size_t next; /* the sample that training comes to next */
    random_stream init[COMMITTEE_MOST], sampling;

    /* When theta was written last, for learner_copy. */
    uint64_t time;       /* now, as the caller says; it never decreases */
    uint64_t trained;    /* any of it */
    uint64_t descended;  /* all of it, though rows may stand still */
    uint64_t *row_times; /* (rows of the first weights), where they may */

    /* To take a training back: how it was before. */
    bool prepared;
    struct {
        random_stream sampling;
        uint64_t averaged, steps;
        size_t order_count;
        float *values;   /* (copies, parameters) theta, what it is the average of, the moments; NULL with is_one_step */
        uint32_t *order; /* (order_capacity) */
        size_t order_capacity;
    } before;
} learner;

/* Fits the options to a problem. heads = 0 becomes the number of blocks. others stays only where there are several
 * heads and at most one arm of a round has a reward; else it becomes 0. */
learner_options learner_for_problem(const learner_options *options, int64_t blocks, bool exclusive);

/* name ("f1") names it in messages and, with seed, its random streams. nonzeros: see history_create. A network of more
 * than most_parameters is refused before anything is made for it. */
ee_status learner_create(learner *self, memory *owner, const char *name, const learner_options *options, size_t input,
                         size_t nonzeros, uint64_t seed, size_t most_parameters, ee_error *error);

/* Whether options.network.room may be set: whether the network can store some columns of its input, and training
 * leaves the rows that are not there as they would be. */
bool learner_takes_columns(const learner_options *options);

/* Draws theta_0 and sets theta to it. */
void learner_start(learner *self, float *theta);

/* Gives the next column to a place: its weights become those of theta_0, at this time (see learner_copy). */
void learner_start_column(learner *self, size_t place, float *theta, uint64_t time);

/* Room for more samples with an input like x: after this, learner_append of them cannot fail. */
ee_status learner_reserve(learner *self, size_t more, vector x, ee_error *error);
void learner_append(learner *self, vector x, float target);

/* Forgets all samples. */
void learner_clear(learner *self);

/* Takes back the samples that were appended since learner_reserve. */
void learner_undo(learner *self);

/* One training by the options, over what the history holds, in two steps so that it can be taken back: after
 * learner_prepare either learner_commit or learner_abort. prepare returns false where the training would leave a
 * parameter that is not a number of reasonable size; then all is as it was before it. */
bool learner_prepare(learner *self, float *theta);
void learner_commit(learner *self, float *theta);
void learner_abort(learner *self, float *theta); /* does nothing where nothing is prepared */

/* Also prepares a training: sets theta to what TRAINING_GD reaches from theta_0 over the first `samples` samples. */
bool learner_prepare_descent(learner *self, size_t samples, float *theta);

/* One step on one sample; returns the loss before it. */
double learner_step(learner *self, vector x, float target, float *theta);

/* What network number k gives for some samples of the history, at most BATCH_SAMPLES: outputs is (count). theta is that
 * of all networks. Not while a training is prepared. */
void learner_outputs(learner *self, size_t k, const float *theta, const size_t *samples, size_t count, float *outputs);

/* Copies what trainings at this time and later ones have changed in theta; since = 0: all. Returns how many floats. */
size_t learner_copy(const learner *self, const float *theta, uint64_t since, float *to);

/* A target as the networks see it. */
float learner_target(const learner *self, float target);

double learner_loss_value(learner_loss loss, float output, float target);
float learner_loss_derivative(learner_loss loss, float output, float target);

void learner_archive(learner *self, archive *a);

#endif
