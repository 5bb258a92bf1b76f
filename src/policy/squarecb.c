/* SquareCB: inverse-gap weighting on f1. Foster and Rakhlin, "Beyond UCB: optimal and efficient contextual bandits with
 * regression oracles", ICML 2020. An arm whose f1 is below the best by a gap has the probability 1 / (n + gamma_t gap),
 * gamma_t = gamma t^exponent; the best one has the rest. */
#include <math.h>

#include "base/memory.h"
#include "parts/exploitation.h"

typedef struct squarecb_options {
    exploitation_options shared;
    double gamma, exponent;
} squarecb_options;

typedef struct squarecb {
    exploitation shared;
    double gamma, exponent;
} squarecb;

extern const policy_class squarecb_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const squarecb_options *options = setup->options;
    squarecb *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = exploitation_create(&self->shared, &squarecb_class, setup, error);
    if (!status) status = exploitation_start(&self->shared, setup, 0, error);
    if (status) return status;
    self->gamma = options->gamma;
    self->exponent = options->exponent;
    *out = &self->shared.base;
    return EE_OK;
}

static propensity_rule rule(const parameters *learned)
{
    const squarecb *self = (const squarecb *)learned->policy;
    return (propensity_rule){.kind = PROPENSITY_IGW,
                             .amount = self->gamma * pow((double)learned->round + 1, self->exponent)};
}

static const option rows[] = {
    OPTION_ROW_REAL(squarecb_options, gamma, "gamma", "10", 0, 1e9,
                    "the larger, the less an arm below the best is tried; per unit of the rewards' spread",
                    .needs = "propensity=own"),
    OPTION_ROW_REAL(squarecb_options, exponent, "exponent", "0.5", 0, 2, "of the round, in gamma t^exponent",
                    .needs = "propensity=own and gamma>0"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("squarecb", groups, squarecb_options, "gamma exponent " EXPLOITATION_FIRST);

static const policy_preset paper = {"squarecb:paper", "squarecb with a plain f1: 100 units, no trunk that arms share",
                                    PLAIN_F1};
static const policy_presets presets = {&paper, 1};

const policy_class squarecb_class = {
    .summary = "inverse-gap weighting on f1: the further below the best, the rarer",
    .paper = "Foster, Rakhlin: Beyond UCB: Optimal and Efficient Contextual Bandits with Regression Oracles, ICML 2020",
    .schema = &schema,
    .presets = &presets,
    .create = create,
    .scratch_count = exploitation_scratch_count,
    .score = exploitation_score,
    .alone = true,
    .explain_count = exploitation_explain_count,
    .explain = exploitation_explain,
    .rule = rule,
    .reserve = exploitation_reserve,
    .learn = exploitation_learn,
    .copy = exploitation_copy,
    .archive = exploitation_archive,
};
