/* The options of a learner. */
#include <string.h>

#include "learner.h"

static const option network_rows[] = {
    OPTION_ROW_INTEGER(learner_options, network.layers, "layers", "2", 1, 16,
                       "fully connected layers, including the output layer"),
    OPTION_ROW_INTEGER(learner_options, network.width, "width", "100", 1, 65536, "units per hidden layer",
                       .needs = "layers>1"),
    OPTION_ROW_FLAG(learner_options, network.bias, "bias", "on", "biases in every layer"),
    OPTION_ROW_CHOICE(learner_options, network.init, "init", "uniform", "paper|uniform|glorot",
                      "initial weights. paper: N(0,2/m), last layer N(0,1/m); uniform: U(+-1/sqrt(fan in)); glorot: "
                      "N(0,2/(fan in + fan out))"),
    OPTION_ROW_TEXT(learner_options, network.front, "front", "none",
                    "none or conv1d:CHANNELS:KERNEL[:STRIDE], conv2d:..., pool:SIZE, relu joined by +",
                    "layers before the fully connected ones"),
    OPTION_ROW_TEXT(learner_options, network.image, "image", "none", "none or CHANNELSxHEIGHTxWIDTH",
                    "shape of the input, or of one block of it, for convolutions", .needs = "front!=none"),
    OPTION_ROW_CHOICE(learner_options, loss, "loss", "squared", "squared|half|cross_entropy",
                      "training loss. squared: (f-y)^2; half: (f-y)^2/2; cross_entropy: on the logit"),
    OPTION_ROW_CHOICE(
        learner_options, training, "training", "sgd", "gd|sgd",
        "gd: from theta_0, over all samples each time (Algorithm 1); sgd: from the current weights, over batches"),
    OPTION_ROW_CHOICE(learner_options, optimizer.kind, "optimizer", "adamw", "sgd|adam|adamw",
                      "optimizer of the gradient steps"),
    OPTION_ROW_REAL(learner_options, optimizer.rate, "rate", "0.003", 0, 1000, "learning rate"),
    OPTION_ROW_REAL(learner_options, optimizer.decay, "decay", "0", 0, 1000,
                    "weight decay. sgd, adam: added to the gradient (L2); adamw: decoupled"),
    OPTION_ROW_INTEGER(learner_options, optimizer.decay_until, "decay_until", "1000000000", 1, 1e9,
                       "steps per head after which decay falls as 1/sqrt(steps)", .needs = "decay>0"),
    OPTION_ROW_FLAG(learner_options, keep_moments, "keep_moments", "on",
                    "keep the optimizer's moments from one training to the next",
                    .needs = "training=sgd and optimizer=adam|adamw"),
    OPTION_ROW_INTEGER(learner_options, steps, "steps", "1", 1, 1e9, "steps per training, at most"),
    OPTION_ROW_INTEGER(learner_options, batch, "batch", "16", 1, 1e6, "samples per step", .needs = "training=sgd"),
    OPTION_ROW_CHOICE(learner_options, order, "order", "random", "shuffle|random",
                      "shuffle: passes over all samples in random order; random: the newest sample, then random ones",
                      .needs = "training=sgd"),
    OPTION_ROW_REAL(learner_options, recent, "recent", "0", 0, 1,
                    "share of each batch drawn from the last 1000 samples; the rest is drawn from all",
                    .needs = "training=sgd and order=random and history!=reservoir"),
    OPTION_ROW_REAL(learner_options, stop_loss, "stop_loss", "0", 0, 1e9,
                    "end a training after a pass whose mean loss is at most this", .needs = "training=sgd and steps>1"),
    OPTION_ROW_INTEGER(
        learner_options, average, "average", "0", 0, 1e9,
        "decide by a running mean of the weights with this half-life in steps; 0: by the latest weights"),
    OPTION_ROW_NUMBERED(learner_options, history, "history", "reservoir:10000", "all|ring:N|reservoir:N", 1, 1e9,
                        "samples to keep. ring: the last N; reservoir: N drawn uniformly from all"),
};
const option_table learner_option_table = OPTION_TABLE(network_rows);

static const option arm_rows[] = {
    OPTION_ROW_INTEGER(learner_options, network.heads, "heads", "1", 0, 65536,
                       "blocks of the features: all layers but the last see only the non-zero block, the last has a "
                       "row per block; 0: same as option blocks"),
    OPTION_ROW_INTEGER(learner_options, committee, "committee", "1", 1, COMMITTEE_MOST,
                       "networks in f1's committee, whose predictions are combined by weights; each has one layer more "
                       "than the one before it"),
    OPTION_ROW_INTEGER(learner_options, deep_width, "deep_width", "128", 1, 65536,
                       "units per hidden layer of all networks but the first", .needs = "committee>1"),
    OPTION_ROW_REAL(learner_options, others, "others", "0", 0, 1000,
                    "weight of the arms not chosen: if the chosen arm's reward is above the minimum, they are learned "
                    "with the minimum",
                    .needs = "exclusive=on"),
    OPTION_ROW_FLAG(learner_options, lazy, "lazy", "off",
                    "skip first-layer weights whose inputs are zero in the whole batch: much faster for sparse arms",
                    .needs = "front=none"),
};
const option_table arm_learner_option_table = OPTION_TABLE(arm_rows);

static const option member_rows[] = {
    OPTION_ROW_INTEGER(learner_options, members.count, "members", "10", 2, 1024,
                       "members of the ensemble: separate outputs on shared layers"),
    OPTION_ROW_REAL(learner_options, members.prior, "prior", "1", 0, 1e6,
                    "how much members differ before they learn, in units of the rewards' spread"),
    OPTION_ROW_REAL(learner_options, members.noise, "noise", "0.1", 0, 1e6,
                    "standard deviation of the noise added to each member's rewards, in units of the rewards' spread"),
    OPTION_ROW_REAL(learner_options, members.rate, "member_rate", "10", 0, 1e6,
                    "learning rate of each member's own weights, as a multiple of f1.rate",
                    .needs = "f1.optimizer=adam|adamw and f1.rate>0 and f1.layers>1"),
    OPTION_ROW_INTEGER(learner_options, members.prior_width, "prior_width", "64", 1, 65536,
                       "units per hidden layer of the prior networks", .needs = "prior>0 and f1.layers>1"),
};
const option_table member_option_table = OPTION_TABLE(member_rows);

learner_options learner_for_problem(const learner_options *options, int64_t blocks, bool exclusive)
{
    learner_options made = *options;
    if (!made.network.heads) made.network.heads = blocks;
    if (!exclusive || made.network.heads == 1) made.others = 0;
    return made;
}

bool learner_takes_columns(const learner_options *options)
{
    const network_options *net = &options->network;
    if (net->heads != 1 || net->layers < 2 || strcmp(net->front, "none") != 0) return false;
    /* Without decay, a row whose inputs were all zero keeps its initial weights even if training goes through all
     * rows. */
    return options->lazy || (options->optimizer.decay == 0 && options->batch > 1);
}
