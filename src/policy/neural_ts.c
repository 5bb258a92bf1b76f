/* NeuralTS: Zhang, Zhou, Li, Gu, "Neural Thompson Sampling", ICLR 2021.
 *
 * Draws a score for each arm from N(f1, nu^2 width^2), independently, and plays the largest. gradient_width.h says what
 * the width is. f1 trains as EE-Net's does. Exploration is what the draw adds to f1. */
#include "parts/gradient_width.h"

extern const policy_class neural_ts_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return gradient_width_create(&neural_ts_class, setup, out, error);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    gradient_width_score(learned, arms, room, scores);
    for (size_t i = 0; i < arms->count; i++) {
        scores[i].exploration *= (float)random_normal(&room->random);
        scores[i].score = scores[i].exploitation + scores[i].exploration;
    }
}

static const option_group groups[] = {
    OPTION_GROUP_OWN(gradient_width_option_table, "exploration, confidence width", .defaults = "nu=7"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS_OF_DRAWS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-ts", groups, gradient_width_options, "nu lambda covariance " EXPLOITATION_FIRST);
static const policy_preset paper = {"neural-ts:paper",
                                    "neural-ts with a plain f1: 100 units, no layers shared between arms",
                                    PLAIN_F1 "\n" PAPER_WIDTH};
static const policy_presets presets = {&paper, 1};

const policy_class neural_ts_class = {
    .summary = "NeuralTS: Thompson sampling around f1, with a width from its gradient",
    .paper = "Zhang, Zhou, Li, Gu: Neural Thompson Sampling, ICLR 2021",
    .schema = &schema,
    .presets = &presets,
    .earlier = BEFORE_COMMITTEES,
    .create = create,
    .scratch_count = gradient_width_scratch_count,
    .score = score,
    .draws = true,
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
