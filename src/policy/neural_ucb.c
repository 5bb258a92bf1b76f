/* NeuralUCB: Zhou, Li, Gu, "Neural Contextual Bandits with UCB-based Exploration", ICML 2020.
 *
 * Plays the arm with the largest f1 + nu width. gradient_width.h says what the width is. f1 trains as EE-Net's does;
 * the paper's gamma_t is a constant, nu sqrt(lambda). */
#include "parts/gradient_width.h"

extern const policy_class neural_ucb_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return gradient_width_create(&neural_ucb_class, setup, out, error);
}

static const option_group groups[] = {
    OPTION_GROUP_OWN(gradient_width_option_table, "exploration, confidence width"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-ucb", groups, gradient_width_options, "nu lambda covariance " EXPLOITATION_FIRST);
static const policy_preset paper = {"neural-ucb:paper",
                                    "neural-ucb with a plain f1: 100 units, no layers shared between arms",
                                    PLAIN_F1 "\n" PAPER_WIDTH};
static const policy_presets presets = {&paper, 1};

const policy_class neural_ucb_class = {
    .summary = "NeuralUCB: f1 plus a confidence width from its gradient",
    .paper = "Zhou, Li, Gu: Neural Contextual Bandits with UCB-based Exploration, ICML 2020",
    .schema = &schema,
    .presets = &presets,
    .earlier = BEFORE_COMMITTEES,
    .create = create,
    .scratch_count = gradient_width_scratch_count,
    .score = gradient_width_score,
    .explain_count = exploitation_explain_count,
    .explain = exploitation_explain,
    .kept_count = gradient_width_kept_count,
    .keep = gradient_width_keep,
    .reserve = exploitation_reserve,
    .learn = gradient_width_learn,
    .await = gradient_width_await,
    .copy = exploitation_copy,
    .start_column = exploitation_start_column,
    .archive = exploitation_archive,
};
