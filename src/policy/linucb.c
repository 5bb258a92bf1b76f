/* LinUCB: Li, Chu, Langford and Schapire, "A contextual-bandit approach to personalized news article recommendation",
 * WWW 2010, with one theta for all arms: centre + theta . x + spread alpha sqrt(x^T A^-1 x). The preset linucb:paper
 * has rewards as they are: centre 0 and spread 1.
 *
 * The default of alpha. sqrt(x^T A^-1 x) is the deviation of theta . x for rewards whose noise has the deviation 1. The
 * spread is twice the deviation of all rewards, so the deviation of their noise is at most half a spread; for rewards
 * within a range it is at most half the range (Popoviciu), and they are sub-Gaussian with just that (Hoeffding). An
 * upper confidence bound of two deviations, 97.7% for normal noise, is then alpha = 2 (1/2) = 1. */
#include <math.h>

#include "parts/posterior.h"

typedef struct linucb_options {
    posterior_options shared;
    double alpha;
} linucb_options;

extern const policy_class linucb_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const linucb_options *options = setup->options;
    return posterior_create(&linucb_class, setup, options->alpha, out, error);
}

static size_t scratch_count(const policy *self, size_t arms)
{
    return posterior_pack_count(((const posterior *)self)->dim, arms);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const posterior *self = (const posterior *)learned->policy;
    const double *state = posterior_state(learned);
    ee_arms packed = posterior_pack(arms, room->values);
    for (size_t i = 0; i < packed.count; i++) {
        vector x = vector_of_arm(&packed, i);
        double mean = posterior_mean(learned, x);
        double bonus = learned->spread * self->width * sqrt(fmax(ridge_covariance(state, self->dim, x, x), 0));
        scores[i] = (ee_score){(float)mean, (float)bonus, (float)(mean + bonus)};
    }
}

static const option rows[] = {
    OPTION_ROW_REAL(linucb_options, alpha, "alpha", "1", 0, 1e6,
                    "weight of the confidence width, in units of the rewards' spread"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration"),
    OPTION_GROUP(linucb_options, shared, posterior_options, posterior_option_table, "", "regression"),
    OPTION_GROUP(linucb_options, shared.common, common_options, standardize_option_table, "", "arms"),
    COMMON_GROUPS(linucb_options, shared.common, "scale=off", .defaults = "recall=0"),
};
static const option_schema schema = OPTION_SCHEMA("linucb", groups, linucb_options, "alpha lambda standardize scale");
static const policy_preset paper = {"linucb:paper", "linucb as in the paper: rewards not rescaled",
                                    "standardize=off alpha=0.1"};
static const policy_presets presets = {&paper, 1};

const policy_class linucb_class = {
    .summary = "linear model: estimate plus confidence width",
    .paper = "Li, Chu, Langford, Schapire: A Contextual-Bandit Approach to Personalized News Article Recommendation, "
             "WWW 2010",
    .schema = &schema,
    .presets = &presets,
    .earlier = {.version = 11, .options = "standardize=off"},
    .create = create,
    .scratch_count = scratch_count,
    .score = score,
    .explain = posterior_explain,
    .reserve = posterior_reserve,
    .learn = posterior_learn,
    .await = posterior_await,
    .copy = posterior_copy,
    .start_column = posterior_start_column,
    .archive_columns = posterior_archive_columns,
    .archive = posterior_archive,
};
