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

static const policy_preset paper = {"neural-ucb:paper",
                                    "neural-ucb with a plain f1: 100 units, no trunk that arms share", PLAIN_F1};

const policy_class neural_ucb_class = {
    .summary = "NeuralUCB: f1 and a confidence width from its gradient",
    .paper = "Zhou, Li, Gu: Neural Contextual Bandits with UCB-based Exploration, ICML 2020",
    .schema = {"neural-ucb", gradient_width_groups, GRADIENT_WIDTH_GROUPS, sizeof(gradient_width_options)},
    .presets = &paper,
    .preset_count = 1,
    .create = create,
    .scratch_count = gradient_width_scratch_count,
    .score = gradient_width_score,
    .kept_count = gradient_width_kept_count,
    .keep = gradient_width_keep,
    .reserve = exploitation_reserve,
    .observe = gradient_width_observe,
    .train = exploitation_train,
    .copy = exploitation_copy,
    .archive = exploitation_archive,
};
