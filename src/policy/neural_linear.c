/* NeuralLinear and Neural-LinUCB: a regression on h, f1's last hidden layer. parts/last_layer.h says what A, theta and
 * h are. f1 trains as EE-Net's does; decisions use its hidden layers and not its output.
 *
 *   neural-linear   draws theta from N(theta, nu^2 A^-1) for each round and ranks arms by theta . h. Exploration is
 * what the draw adds to the mean. Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018. The paper draws
 * the noise's variance too, from an inverse gamma distribution; here it is nu^2. neural-linucb   ranks arms by theta .
 * h + alpha sqrt(h^T A^-1 h). Xu, Wen, Zhao, Gu, "Neural Contextual Bandits with Deep Representation and Shallow
 * Exploration", ICLR 2022. The paper trains the network under the regression's theta; here f1 trains under its own last
 * layer. */
#include "parts/last_layer.h"

static void score_linear(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const double *drawn = last_layer_draw(learned, room);
    passed_arms passed = {.arms = arms};
    while (last_layer_pass(learned, room, &passed, scores)) {
        for (size_t i = 0; i < passed.count; i++) {
            arm_features arm = last_layer_features(learned, &passed, i, room);
            double mean = last_layer_mean(learned, arm), sample = last_layer_drawn(learned, drawn, arm);
            scores[passed.first + i] = (ee_score){(float)mean, (float)(sample - mean), (float)sample};
        }
    }
}

static void score_linucb(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
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

static const option linear_rows[] = {
    OPTION_ROW_REAL(last_layer_options, scale, "nu", "0.1", 0, 1e6,
                    "standard deviation of the reward noise, in units of the rewards' spread"),
};
static const option linucb_rows[] = {
    OPTION_ROW_REAL(last_layer_options, scale, "alpha", "0.3", 0, 1e6,
                    "weight of the confidence width, in units of the rewards' spread"),
};
static const option_table linear_table = OPTION_TABLE(linear_rows), linucb_table = OPTION_TABLE(linucb_rows);
#define TITLE "exploration, regression on f1's last hidden layer"
static const option_group linear_groups[] = {
    OPTION_GROUP_OWN(linear_table, TITLE),
    OPTION_GROUP_OWN(last_layer_option_table, TITLE),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS_OF_DRAWS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_group linucb_groups[] = {
    OPTION_GROUP_OWN(linucb_table, TITLE),
    OPTION_GROUP_OWN(last_layer_option_table, TITLE),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema linear_schema =
    OPTION_SCHEMA("neural-linear", linear_groups, last_layer_options, "nu lambda " EXPLOITATION_FIRST);
static const option_schema linucb_schema =
    OPTION_SCHEMA("neural-linucb", linucb_groups, last_layer_options, "alpha lambda " EXPLOITATION_FIRST);

#define LAST_LAYER_CLASS                                                                                               \
    .create = last_layer_create, .scratch_count = last_layer_scratch_count, .explain = last_layer_explain,             \
    .learn = last_layer_learn, .await = last_layer_await, .archive = last_layer_archive, F1_CLASS

const policy_class neural_linear_class = {
    .summary = "NeuralLinear: Thompson sampling on f1's last hidden layer",
    .paper = "Riquelme, Tucker, Snoek: Deep Bayesian Bandits Showdown, ICLR 2018",
    .schema = &linear_schema,
    .presets = PLAIN_F1_PRESET("neural-linear", ""),
    .score = score_linear,
    .draws = true,
    LAST_LAYER_CLASS,
};

const policy_class neural_linucb_class = {
    .summary = "Neural-LinUCB: f1 plus a confidence width on its last hidden layer",
    .paper = "Xu, Wen, Zhao, Gu: Neural Contextual Bandits with Deep Representation and Shallow Exploration, ICLR 2022",
    .schema = &linucb_schema,
    .presets = PLAIN_F1_PRESET("neural-linucb", ""),
    .score = score_linucb,
    LAST_LAYER_CLASS,
};
