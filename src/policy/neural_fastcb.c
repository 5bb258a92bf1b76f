/* Neural FastCB: inverse-gap weighting by the losses that f1 expects. Foster and Krishnamurthy, "Efficient First-Order
 * Contextual Bandits: Prediction, Allocation, and Triangular Discrimination", NeurIPS 2021 (FastCB); Deb, Ban, Zuo, He,
 * Banerjee, "Contextual Bandits with Online Neural Regression", ICLR 2024 (NeuFastCB).
 *
 * A reward within its range, y of 0 to 1, is a loss of 1 - y. f1 learns y by cross-entropy, so the loss that it expects
 * of an arm is l = 1 - s(f1), s the logistic function. With b the arm of least loss, an arm has the probability
 *
 *     l(b) / (n l(b) + gamma_t (l - l(b))),   gamma_t = gamma t^exponent
 *
 * and b the rest: like SquareCB, but if the best arm has almost no loss, the others are hardly tried.
 *
 * The papers have losses within 0 to 1. Here the range is that of the rewards so far; with standardize=off it is 0 to
 * 1, and rewards outside are learned as the nearest end. NeuFastCB's proof perturbs the output of the network; f1 here
 * is that of all neural policies, with a higher learning rate and less decay, because logits are larger. */
#include <math.h>

#include "base/memory.h"
#include "parts/exploitation.h"

typedef struct fastcb_options {
    exploitation_options shared;
    double gamma, exponent;
} fastcb_options;

typedef struct fastcb {
    exploitation shared;
    double gamma, exponent;
} fastcb;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const fastcb_options *options = setup->options;
    fastcb *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = exploitation_create(&self->shared, setup, error);
    if (status) return status;
    self->shared.base.units.by_range = true; /* for any loss of f1: rule() needs the largest reward */
    status = exploitation_start(&self->shared, setup, 0, error);
    if (status) return status;
    self->gamma = options->gamma;
    self->exponent = options->exponent;
    *out = &self->shared.base;
    return EE_OK;
}

static propensity_rule rule(const parameters *learned)
{
    const fastcb *self = (const fastcb *)learned->policy;
    return (propensity_rule){.kind = PROPENSITY_LOSS_IGW,
                             .amount = self->gamma * pow((double)learned->round + 1, self->exponent),
                             .most = learned->centre + learned->spread};
}

static const option rows[] = {
    OPTION_ROW_REAL(fastcb_options, gamma, "gamma", "30", 0, 1e9,
                    "the larger, the less often arms below the best are chosen", .needs = "propensity=own"),
    OPTION_ROW_REAL(fastcb_options, exponent, "exponent", "0.5", 0, 2, "exponent of the round t in gamma t^exponent",
                    .needs = "propensity=own and gamma>0"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration"),
    F1_GROUPS_WITH(" loss=cross_entropy rate=0.01 decay=0.2"),
    LEARNING_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-fastcb", groups, fastcb_options, "gamma exponent " EXPLOITATION_FIRST);

const policy_class neural_fastcb_class = {
    .summary = "FastCB: inverse-gap weighting by f1's losses; explores less when the best arm's loss is small",
    .paper = "Foster, Krishnamurthy: Efficient First-Order Contextual Bandits: Prediction, Allocation, and Triangular "
             "Discrimination, NeurIPS 2021; Deb, Ban, Zuo, He, Banerjee: Contextual Bandits with Online Neural "
             "Regression, ICLR 2024",
    .schema = &schema,
    .presets = PLAIN_F1_PRESET("neural-fastcb", "\nf1.rate=0.003"),
    .create = create,
    .rule = rule,
    F1_SCORE_CLASS,
};
