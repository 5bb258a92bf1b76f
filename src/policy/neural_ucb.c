/* NeuralUCB and NeuralTS: f1 and its uncertainty about an arm, the width that parts/gradient_width.h defines. f1 trains
 * as EE-Net's does.
 *
 *   neural-ucb  ranks arms by f1 + nu width. Zhou, Li, Gu, "Neural Contextual Bandits with UCB-based Exploration", ICML
 *               2020. The paper's gamma_t is a constant, nu sqrt(lambda).
 *   neural-ts   draws a score for each arm from N(f1, nu^2 width^2), independently. Exploration is what the draw adds
 * to f1. Zhang, Zhou, Li, Gu, "Neural Thompson Sampling", ICLR 2021. */
#include "parts/gradient_width.h"

static void score_ts(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    gradient_width_score(learned, arms, room, scores);
    for (size_t i = 0; i < arms->count; i++) {
        scores[i].exploration *= (float)random_normal(&room->random);
        scores[i].score = scores[i].exploitation + scores[i].exploration;
    }
}

static const option_group ucb_groups[] = {
    OPTION_GROUP_OWN(gradient_width_option_table, "exploration, confidence width"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_group ts_groups[] = {
    OPTION_GROUP_OWN(gradient_width_option_table, "exploration, confidence width", .defaults = "nu=7"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS_OF_DRAWS(exploitation_options, common, "scale=on", .defaults = NULL),
};
#define CHANGED_FIRST "nu lambda covariance " EXPLOITATION_FIRST
static const option_schema ucb_schema = OPTION_SCHEMA("neural-ucb", ucb_groups, gradient_width_options, CHANGED_FIRST);
static const option_schema ts_schema = OPTION_SCHEMA("neural-ts", ts_groups, gradient_width_options, CHANGED_FIRST);

#define WIDTH_CLASS                                                                                                    \
    .create = gradient_width_create, .scratch_count = gradient_width_scratch_count,                                    \
    .kept_count = gradient_width_kept_count, .keep = gradient_width_keep, .learn = gradient_width_learn,               \
    .await = gradient_width_await, F1_ARCHIVE_CLASS

const policy_class neural_ucb_class = {
    .summary = "NeuralUCB: f1 plus a confidence width from its gradient",
    .paper = "Zhou, Li, Gu: Neural Contextual Bandits with UCB-based Exploration, ICML 2020",
    .schema = &ucb_schema,
    .presets = PLAIN_F1_PRESET("neural-ucb", "\nnu=0.1 lambda=0.1"),
    .score = gradient_width_score,
    WIDTH_CLASS,
};

const policy_class neural_ts_class = {
    .summary = "NeuralTS: Thompson sampling around f1, with a width from its gradient",
    .paper = "Zhang, Zhou, Li, Gu: Neural Thompson Sampling, ICLR 2021",
    .schema = &ts_schema,
    .presets = PLAIN_F1_PRESET("neural-ts", "\nnu=0.1 lambda=0.1"),
    .score = score_ts,
    .draws = true,
    WIDTH_CLASS,
};
