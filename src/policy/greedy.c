/* Policies that score arms only by the exploitation network f1, and differ in how an arm is chosen:
 *
 *   greedy           the arm with the largest f1. A control: it trains as EE-Net's f1 does.
 *   neural-epsilon   the same, but with probability epsilon any arm. The EE-Net paper, section 5, compares with it.
 *   squarecb         inverse-gap weighting. Foster and Rakhlin, "Beyond UCB: optimal and efficient contextual bandits
 *                    with regression oracles", ICML 2020. An arm whose f1 is below the best by a gap has the
 *                    probability 1 / (n + gamma_t gap), gamma_t = gamma t^exponent; the best one has the rest.
 *   neural-fastcb    inverse-gap weighting by the losses that f1 expects. Foster and Krishnamurthy, "Efficient
 *                    First-Order Contextual Bandits: Prediction, Allocation, and Triangular Discrimination", NeurIPS
 *                    2021 (FastCB); Deb, Ban, Zuo, He, Banerjee, "Contextual Bandits with Online Neural Regression",
 *                    ICLR 2024 (NeuFastCB).
 *
 * neural-fastcb. A reward within its range, y of 0 to 1, is a loss of 1 - y. f1 learns y by cross-entropy, so the loss
 * that it expects of an arm is l = 1 - s(f1), s the logistic function. With b the arm of least loss, an arm has the
 * probability
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

/* Each policy offers its own. */
typedef struct greedy_options {
    exploitation_options shared;
    double epsilon;         /* neural-epsilon */
    double gamma, exponent; /* squarecb, neural-fastcb */
} greedy_options;

typedef struct greedy {
    exploitation shared;
    double epsilon, gamma, exponent;
} greedy;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const greedy_options *options = setup->options;
    greedy *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = exploitation_create(&self->shared, setup, error);
    if (status) return status;
    /* For any loss of f1: draw_fastcb needs the largest reward. */
    if (setup->class == &neural_fastcb_class) self->shared.base.units.by_range = true;
    status = exploitation_start(&self->shared, setup, 0, error);
    if (status) return status;
    self->epsilon = options->epsilon;
    self->gamma = options->gamma;
    self->exponent = options->exponent;
    *out = &self->shared.base;
    return EE_OK;
}

static propensity_rule draw_epsilon(const parameters *learned)
{
    return (propensity_rule){.kind = PROPENSITY_FLOOR, .amount = ((const greedy *)learned->policy)->epsilon};
}

static double gamma_of(const parameters *learned)
{
    const greedy *self = (const greedy *)learned->policy;
    return self->gamma * pow((double)learned->round + 1, self->exponent);
}

static propensity_rule draw_squarecb(const parameters *learned)
{
    return (propensity_rule){.kind = PROPENSITY_IGW, .amount = gamma_of(learned)};
}

static propensity_rule draw_fastcb(const parameters *learned)
{
    return (propensity_rule){
        .kind = PROPENSITY_LOSS_IGW, .amount = gamma_of(learned), .most = learned->centre + learned->spread};
}

/* ---- options ---- */

static const option epsilon_rows[] = {
    OPTION_ROW_REAL(greedy_options, epsilon, "epsilon", "0.1", 0, 1, "probability of choosing uniformly among all arms",
                    .needs = "propensity=own"),
};
static const option squarecb_rows[] = {
    OPTION_ROW_REAL(greedy_options, gamma, "gamma", "10", 0, 1e9,
                    "the larger, the less often arms below the best are chosen; per unit of the rewards' spread",
                    .needs = "propensity=own"),
    OPTION_ROW_REAL(greedy_options, exponent, "exponent", "0.5", 0, 2, "exponent of the round t in gamma t^exponent",
                    .needs = "propensity=own and gamma>0"),
};
static const option fastcb_rows[] = {
    OPTION_ROW_REAL(greedy_options, gamma, "gamma", "30", 0, 1e9,
                    "the larger, the less often arms below the best are chosen", .needs = "propensity=own"),
    OPTION_ROW_REAL(greedy_options, exponent, "exponent", "0.5", 0, 2, "exponent of the round t in gamma t^exponent",
                    .needs = "propensity=own and gamma>0"),
};
static const option_table epsilon_table = OPTION_TABLE(epsilon_rows), squarecb_table = OPTION_TABLE(squarecb_rows),
                          fastcb_table = OPTION_TABLE(fastcb_rows);

#define F1_AND_COMMON_GROUPS                                                                                           \
    EXPLOITATION_GROUPS, COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL)
static const option_group greedy_groups[] = {F1_AND_COMMON_GROUPS};
static const option_group epsilon_groups[] = {OPTION_GROUP_OWN(epsilon_table, "exploration"), F1_AND_COMMON_GROUPS};
static const option_group squarecb_groups[] = {OPTION_GROUP_OWN(squarecb_table, "exploration"), F1_AND_COMMON_GROUPS};
static const option_group fastcb_groups[] = {
    OPTION_GROUP_OWN(fastcb_table, "exploration"),
    F1_GROUPS_WITH(" loss=cross_entropy rate=0.01 decay=0.2"),
    LEARNING_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};

static const option_schema greedy_schema = OPTION_SCHEMA("greedy", greedy_groups, greedy_options, EXPLOITATION_FIRST);
static const option_schema epsilon_schema =
    OPTION_SCHEMA("neural-epsilon", epsilon_groups, greedy_options, "epsilon " EXPLOITATION_FIRST);
static const option_schema squarecb_schema =
    OPTION_SCHEMA("squarecb", squarecb_groups, greedy_options, "gamma exponent " EXPLOITATION_FIRST);
static const option_schema fastcb_schema =
    OPTION_SCHEMA("neural-fastcb", fastcb_groups, greedy_options, "gamma exponent " EXPLOITATION_FIRST);

/* ---- the classes ---- */

const policy_class greedy_class = {
    .summary = "the arm with the largest f1; no exploration: a baseline",
    .paper = "",
    .schema = &greedy_schema,
    .presets = PLAIN_F1_PRESET("greedy", ""),
    .create = create,
    F1_SCORE_CLASS,
};

const policy_class neural_epsilon_class = {
    .summary = "the arm with the largest f1 or, with probability epsilon, any arm",
    .paper = "Ban, Yan, Banerjee, He: EE-Net, ICLR 2022, section 5",
    .schema = &epsilon_schema,
    .presets = PLAIN_F1_PRESET("neural-epsilon", ""),
    .create = create,
    .rule = draw_epsilon,
    F1_SCORE_CLASS,
};

const policy_class squarecb_class = {
    .summary = "inverse-gap weighting on f1: the further below the best, the less often chosen",
    .paper = "Foster, Rakhlin: Beyond UCB: Optimal and Efficient Contextual Bandits with Regression Oracles, ICML 2020",
    .schema = &squarecb_schema,
    .presets = PLAIN_F1_PRESET("squarecb", ""),
    .create = create,
    .rule = draw_squarecb,
    F1_SCORE_CLASS,
};

const policy_class neural_fastcb_class = {
    .summary = "FastCB: inverse-gap weighting by f1's losses; explores less when the best arm's loss is small",
    .paper = "Foster, Krishnamurthy: Efficient First-Order Contextual Bandits: Prediction, Allocation, and Triangular "
             "Discrimination, NeurIPS 2021; Deb, Ban, Zuo, He, Banerjee: Contextual Bandits with Online Neural "
             "Regression, ICLR 2024",
    .schema = &fastcb_schema,
    .presets = PLAIN_F1_PRESET("neural-fastcb", "\nf1.rate=0.003"),
    .create = create,
    .rule = draw_fastcb,
    F1_SCORE_CLASS,
};
