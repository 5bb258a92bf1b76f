/* Greedy: the exploitation network f1 alone, no exploration. A control: it trains as EE-Net's f1 does. */
#include "parts/exploitation.h"

extern const policy_class greedy_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return exploitation_create_alone(&greedy_class, setup, out, error);
}

static const option_group groups[] = {
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema = OPTION_SCHEMA("greedy", groups, exploitation_options, EXPLOITATION_FIRST);

static const policy_preset paper = {"greedy:paper", "greedy with a plain f1: 100 units, no trunk that arms share",
                                    PLAIN_F1};
static const policy_presets presets = {&paper, 1};

const policy_class greedy_class = {
    .summary = "the arm with the largest f1, no exploration: a control",
    .paper = "",
    .schema = &schema,
    .presets = &presets,
    .create = create,
    .scratch_count = exploitation_scratch_count,
    .score = exploitation_score,
    .alone = true,
    .explain_count = exploitation_explain_count,
    .explain = exploitation_explain,
    .reserve = exploitation_reserve,
    .learn = exploitation_learn,
    .copy = exploitation_copy,
    .archive = exploitation_archive,
};
