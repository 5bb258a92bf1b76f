/* NeuralLinear: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.
 *
 * Thompson sampling on f1's last hidden layer: one theta is drawn for a round, from N(theta, nu^2 A^-1), and the arm
 * with the largest theta . h is played; the arms' scores are drawn jointly. last_layer.h says what A, theta and h are.
 * The paper draws the noise's variance too, from an inverse gamma distribution; here it is nu^2. Exploration is what
 * the draw adds to the mean. f1 trains as EE-Net's does; decisions use its hidden layers and not its output. */
#include "parts/last_layer.h"

extern const policy_class neural_linear_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return last_layer_create(&neural_linear_class, setup, out, error);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
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

static const option rows[] = {
    OPTION_ROW_REAL(last_layer_options, scale, "nu", "0.1", 0, 1e6,
                    "standard deviation of the reward noise, in units of the rewards' spread"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration, regression on f1's last hidden layer"),
    OPTION_GROUP_OWN(last_layer_option_table, "exploration, regression on f1's last hidden layer"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS_OF_DRAWS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-linear", groups, last_layer_options, "nu lambda " EXPLOITATION_FIRST);

static const policy_preset paper = {
    "neural-linear:paper", "neural-linear with a plain f1: 100 units, no layers shared between arms", PLAIN_F1};
static const policy_presets presets = {&paper, 1};

const policy_class neural_linear_class = {
    .summary = "NeuralLinear: Thompson sampling on f1's last hidden layer",
    .paper = "Riquelme, Tucker, Snoek: Deep Bayesian Bandits Showdown, ICLR 2018",
    .schema = &schema,
    .presets = &presets,
    .earlier = BEFORE_COMMITTEES,
    .create = create,
    .scratch_count = last_layer_scratch_count,
    .score = score,
    .draws = true,
    .explain_count = last_layer_explain_count,
    .explain = last_layer_explain,
    .reserve = exploitation_reserve,
    .learn = last_layer_learn,
    .await = last_layer_await,
    .copy = exploitation_copy,
    .start_column = exploitation_start_column,
    .archive = last_layer_archive,
};
