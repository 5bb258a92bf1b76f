/* LinTS, Thompson sampling for linear rewards: Agrawal and Goyal, "Thompson sampling for contextual bandits with linear
 * payoffs", ICML 2013. Each round draws theta from N(theta_hat, spread^2 nu^2 A^-1) and ranks the arms by theta . x.
 * The preset lints:paper has rewards as they are: centre 0 and spread 1.
 *
 * The default of nu. The posterior of theta is N(theta_hat, s^2 A^-1) for normal noise of deviation s. That is at most
 * half a spread (linucb.c), so nu = 1/2.
 *
 * theta itself is not needed: its scores are drawn, which are jointly Gaussian with the covariance nu^2 X A^-1 X^T. For
 * n arms that share features that takes their n^2 covariances and a factorisation of n^3 / 3; where there are more arms
 * than features, theta is drawn after all, in d^3 / 3. Arms that share no block of A are drawn apart (math/ridge.h). */
#include "parts/posterior.h"

typedef struct lints_options {
    posterior_options shared;
    double nu;
} lints_options;

extern const policy_class lints_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const lints_options *options = setup->options;
    return posterior_create(&lints_class, setup, options->nu, out, error);
}

static size_t scratch_count(const policy *self, size_t arms)
{
    const posterior *own = (const posterior *)self;
    size_t dim = own->dim, doubles = ridge_draw_room(own->features, arms) + arms;
    return doubles * (sizeof(double) / sizeof(float)) + posterior_pack_count(dim, arms);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const posterior *self = (const posterior *)learned->policy;
    const double *state = posterior_state(learned);
    double *deviations = (double *)(void *)room->values, *draw_room = deviations + arms->count;
    double *rest = draw_room + ridge_draw_room(self->features, arms->count);
    ee_arms packed = posterior_pack(arms, (float *)(void *)rest);
    ridge_draw(state, self->dim, &packed, &room->random, draw_room, deviations);
    for (size_t i = 0; i < packed.count; i++) {
        double mean = posterior_mean(learned, vector_of_arm(&packed, i));
        double deviation = learned->spread * self->width * deviations[i];
        scores[i] = (ee_score){(float)mean, (float)deviation, (float)(mean + deviation)};
    }
}

static const option rows[] = {
    OPTION_ROW_REAL(lints_options, nu, "nu", "0.5", 0, 1e6,
                    "standard deviation of the reward noise, in units of the rewards' spread"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration"),
    OPTION_GROUP(lints_options, shared, posterior_options, posterior_option_table, "", "regression"),
    OPTION_GROUP(lints_options, shared.common, common_options, standardize_option_table, "", "arms"),
    COMMON_GROUPS_OF_DRAWS(lints_options, shared.common, "scale=off", .defaults = "recall=0"),
};
static const option_schema schema = OPTION_SCHEMA("lints", groups, lints_options, "nu lambda standardize scale");
static const policy_preset paper = {"lints:paper", "lints as in the paper: rewards not rescaled",
                                    "standardize=off nu=0.1"};
static const policy_presets presets = {&paper, 1};

const policy_class lints_class = {
    .summary = "linear model with Thompson sampling: one draw of theta per round",
    .paper = "Agrawal, Goyal: Thompson Sampling for Contextual Bandits with Linear Payoffs, ICML 2013",
    .schema = &schema,
    .presets = &presets,
    .earlier = {.version = 11, .options = "standardize=off"},
    .create = create,
    .scratch_count = scratch_count,
    .score = score,
    .draws = true,
    .explain = posterior_explain,
    .reserve = posterior_reserve,
    .learn = posterior_learn,
    .await = posterior_await,
    .copy = posterior_copy,
    .start_column = posterior_start_column,
    .archive_columns = posterior_archive_columns,
    .archive = posterior_archive,
};
