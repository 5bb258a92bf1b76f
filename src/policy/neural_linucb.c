/* Neural-LinUCB: Xu, Wen, Zhao, Gu, "Neural Contextual Bandits with Deep Representation and Shallow Exploration",
 * ICLR 2022.
 *
 * Plays the arm with the largest theta . h + alpha sqrt(h^T A^-1 h), h from f1's last hidden layer; last_layer.h says
 * what A, theta and h are. The paper trains the network under the regression's theta; here f1 trains as EE-Net's does,
 * under its own last layer. */
#include "parts/last_layer.h"

extern const policy_class neural_linucb_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return last_layer_create(&neural_linucb_class, setup, out, error);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    passed_arms passed = {.arms = arms};
    while (last_layer_pass(learned, room, &passed, scores)) {
        for (size_t i = 0; i < passed.count; i++) {
            arm_features arm = last_layer_features(learned, &passed, i, room);
            double mean = last_layer_mean(learned, arm), gain = last_layer_width(learned, arm, room);
            scores[passed.first + i] = (ee_score){(float)mean, (float)gain, (float)(mean + gain)};
        }
    }
}

static const option rows[] = {
    OPTION_ROW_REAL(last_layer_options, scale, "alpha", "0.3", 0, 1e6,
                    "weight of the confidence width, in units of the rewards' spread"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration, regression on f1's last hidden layer"),
    OPTION_GROUP_OWN(last_layer_option_table, "exploration, regression on f1's last hidden layer"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-linucb", groups, last_layer_options, "alpha lambda " EXPLOITATION_FIRST);

static const policy_preset paper = {
    "neural-linucb:paper", "neural-linucb with a plain f1: 100 units, no layers shared between arms", PLAIN_F1};
static const policy_presets presets = {&paper, 1};

const policy_class neural_linucb_class = {
    .summary = "Neural-LinUCB: f1 plus a confidence width on its last hidden layer",
    .paper = "Xu, Wen, Zhao, Gu: Neural Contextual Bandits with Deep Representation and Shallow Exploration, ICLR 2022",
    .schema = &schema,
    .presets = &presets,
    .earlier = BEFORE_COMMITTEES,
    .create = create,
    .scratch_count = last_layer_scratch_count,
    .score = score,
    .explain_count = last_layer_explain_count,
    .explain = last_layer_explain,
    .reserve = exploitation_reserve,
    .learn = last_layer_learn,
    .await = last_layer_await,
    .copy = exploitation_copy,
    .start_column = exploitation_start_column,
    .archive = last_layer_archive,
};
