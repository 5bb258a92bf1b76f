/* Neural-epsilon-greedy: the arm with the largest f1, but with probability epsilon any arm. The EE-Net paper, section
 * 5, compares with it. */
#include "base/memory.h"
#include "parts/exploitation.h"

typedef struct epsilon_options {
    exploitation_options shared;
    double epsilon;
} epsilon_options;

typedef struct neural_epsilon {
    exploitation shared;
    double epsilon;
} neural_epsilon;

extern const policy_class neural_epsilon_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    neural_epsilon *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = exploitation_create(&self->shared, &neural_epsilon_class, setup, error);
    if (!status) status = exploitation_start(&self->shared, setup, 0, error);
    if (status) return status;
    self->epsilon = ((const epsilon_options *)setup->options)->epsilon;
    *out = &self->shared.base;
    return EE_OK;
}

static propensity_rule rule(const parameters *learned)
{
    return (propensity_rule){.kind = PROPENSITY_FLOOR, .amount = ((const neural_epsilon *)learned->policy)->epsilon};
}

static const option rows[] = {
    OPTION_ROW_REAL(epsilon_options, epsilon, "epsilon", "0.1", 0, 1, "share of rounds with any arm",
                    .needs = "propensity=own"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-epsilon", groups, epsilon_options, "epsilon " EXPLOITATION_FIRST);

static const policy_preset paper = {"neural-epsilon:paper",
                                    "neural-epsilon with a plain f1: 100 units, no trunk that arms share", PLAIN_F1};
static const policy_presets presets = {&paper, 1};

const policy_class neural_epsilon_class = {
    .summary = "the arm with the largest f1, but with probability epsilon any arm",
    .paper = "Ban, Yan, Banerjee, He: EE-Net, ICLR 2022, section 5",
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
