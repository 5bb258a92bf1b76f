/* LinUCB and LinTS: rewards are linear in the features, with one theta for all arms. Ridge regression (math/ridge.h)
 * gives theta_hat and its uncertainty A^-1.
 *
 *   linucb  ranks arms by centre + theta_hat . x + spread alpha sqrt(x^T A^-1 x). Li, Chu, Langford and Schapire, "A
 *           contextual-bandit approach to personalized news article recommendation", WWW 2010.
 *   lints   draws theta from N(theta_hat, spread^2 nu^2 A^-1) for each round and ranks arms by theta . x. Agrawal and
 *           Goyal, "Thompson sampling for contextual bandits with linear payoffs", ICML 2013.
 *
 * With standardize=on, the regression is on r - centre: the prediction for an unknown arm is the centre, not 0. The
 * centre follows the mean of the rewards in steps of a twentieth of the spread, and changes the y of all samples
 * (ridge_shift). Dividing by the spread would change only the width, so the width is multiplied by the spread
 * instead. The presets NAME:paper do not rescale rewards: centre 0 and spread 1.
 *
 * The default of nu. The posterior of theta is N(theta_hat, s^2 A^-1) for normal noise of deviation s. The spread is
 * twice the deviation of all rewards, so the deviation of their noise is at most half a spread: nu = 1/2. For rewards
 * within a range it is at most half the range (Popoviciu), and they are sub-Gaussian with just that (Hoeffding). The
 * default of alpha is an upper confidence bound of two deviations, 97.7% for normal noise: 2 (1/2) = 1.
 *
 * The parameters are the state of math/ridge.h, as doubles. */
#include <math.h>

#include "math/ridge.h"
#include "policy.h"

typedef struct linear_options {
    common_options common;
    double width; /* linucb: alpha; lints: nu */
    double lambda;
    int64_t refresh;
} linear_options;

typedef struct linear {
    policy base;
    ridge *ridge;
    size_t dim;      /* of the ridge: columns, or all features */
    size_t features; /* that an arm may have: for ridge_draw_room */
    double width;    /* alpha or nu */
    double *seen;    /* (dim) sum of x over the samples whose y is r - centre; NULL with standardize=off */
} linear;

enum { FLOATS_PER_DOUBLE = sizeof(double) / sizeof(float), FLOATS_PER_SIZE = sizeof(size_t) / sizeof(float) };

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const linear_options *options = setup->options;
    linear *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    size_t dim = setup->room ? setup->room->capacity : setup->dim;
    *self = (linear){.dim = dim, .features = dim, .width = options->width};
    status = policy_set_parameters(&self->base, setup, ridge_state_count(dim) * FLOATS_PER_DOUBLE, error);
    if (!status)
        status = ridge_create(setup->memory, dim, options->lambda, (size_t)options->refresh, &self->ridge, error);
    if (!status && setup->room) {
        self->features = dim + setup->dim;
        status = policy_store_columns(&self->base, setup, error);
        if (!status) status = ridge_store_columns(self->ridge, setup->memory, setup->dim, error);
    }
    if (!status && self->base.units.on)
        status = memory_create(setup->memory, &self->seen, dim, sizeof *self->seen, error);
    if (status) return status;
    self->base.parameters.spread = reward_units_spread(&self->base.units);
    self->base.parameters.unsaved = (ridge_state_count(dim) - ridge_saved_count(dim)) * FLOATS_PER_DOUBLE;
    self->base.parameters.doubles = ridge_saved_count(dim);
    ridge_start(self->ridge, (double *)(void *)self->base.parameters.values);
    *out = &self->base;
    return EE_OK;
}

static void start_column(policy *self, size_t place)
{
    ridge_add_column(((linear *)self)->ridge, (double *)(void *)self->parameters.values, place);
}

static void archive_columns(policy *self, archive *a)
{
    ridge_archive_columns(((linear *)self)->ridge, (double *)(void *)self->parameters.values, a);
}

static const double *state_of(const parameters *learned)
{
    return (const double *)(const void *)learned->values;
}

static double mean_of(const parameters *learned, vector x)
{
    const linear *self = (const linear *)learned->policy;
    return learned->centre + ridge_mean(state_of(learned), self->dim, x);
}

/* ---- scoring ---- */

/* Removes the zeros of dense arms if they are at least half of the features. The packed arms are in room: pack_count
 * floats, aligned like a block of memory. */
static size_t pack_count(size_t dim, size_t arms)
{
    /* At most half of the features are packed, each with its index. */
    return dim * arms + (arms + 1) * FLOATS_PER_SIZE;
}

static ee_arms pack(const ee_arms *arms, float *room)
{
    size_t total = arms->count * arms->dim, filled = 0;
    if (arms->starts) return *arms;
    for (size_t i = 0; i < total; i++) filled += arms->values[i] != 0;
    if (filled > total / 2) return *arms;
    size_t *starts = (size_t *)(void *)room, end = 0;
    float *values = room + (arms->count + 1) * FLOATS_PER_SIZE;
    uint32_t *indices = (uint32_t *)(void *)(values + filled);
    for (size_t arm = 0; arm < arms->count; arm++) {
        const float *x = arms->values + arm * arms->dim;
        starts[arm] = end;
        for (size_t i = 0; i < arms->dim; i++) {
            if (x[i] == 0) continue;
            values[end] = x[i];
            indices[end++] = (uint32_t)i;
        }
    }
    starts[arms->count] = end;
    return ee_arms_sparse(starts, indices, values, arms->count, arms->dim);
}

static size_t scratch_count_ucb(const policy *self, size_t arms)
{
    return pack_count(((const linear *)self)->dim, arms);
}

static void score_ucb(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const linear *self = (const linear *)learned->policy;
    const double *state = state_of(learned);
    ee_arms packed = pack(arms, room->values);
    for (size_t i = 0; i < packed.count; i++) {
        vector x = vector_of_arm(&packed, i);
        double mean = mean_of(learned, x);
        double bonus = learned->spread * self->width * sqrt(fmax(ridge_covariance(state, self->dim, x, x), 0));
        scores[i] = (ee_score){(float)mean, (float)bonus, (float)(mean + bonus)};
    }
}

static size_t scratch_count_ts(const policy *self, size_t arms)
{
    const linear *model = (const linear *)self;
    size_t dim = model->dim, doubles = ridge_draw_room(model->features, arms) + arms;
    return doubles * (sizeof(double) / sizeof(float)) + pack_count(dim, arms);
}

/* Draws the scores instead of theta: they are jointly Gaussian with the covariance nu^2 X A^-1 X^T. For n arms that
 * share features that takes n^2 covariances and a factorisation of n^3 / 3. If there are more arms than features, theta
 * is drawn, in d^3 / 3. Arms that share no block of A are drawn separately. */
static void score_ts(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const linear *self = (const linear *)learned->policy;
    const double *state = state_of(learned);
    double *deviations = (double *)(void *)room->values, *draw_room = deviations + arms->count;
    double *rest = draw_room + ridge_draw_room(self->features, arms->count);
    ee_arms packed = pack(arms, (float *)(void *)rest);
    ridge_draw(state, self->dim, &packed, &room->random, draw_room, deviations);
    for (size_t i = 0; i < packed.count; i++) {
        double mean = mean_of(learned, vector_of_arm(&packed, i));
        double deviation = learned->spread * self->width * deviations[i];
        scores[i] = (ee_score){(float)mean, (float)deviation, (float)(mean + deviation)};
    }
}

static void explain(const parameters *learned, vector x, scratch *room, float *gradient)
{
    (void)room;
    ridge_gradient(state_of(learned), ((const linear *)learned->policy)->dim, x, gradient);
}

/* ---- learning ---- */

static void count_as_seen(linear *self, vector x)
{
    for (size_t i = 0; self->seen && i < x.count; i++) self->seen[x.indices ? x.indices[i] : i] += (double)x.values[i];
}

/* With its prediction as the reward, the estimate stays and the uncertainty shrinks. */
static float await(policy *self, const observation *o)
{
    linear *model = (linear *)self;
    double *state = (double *)(void *)self->parameters.values, y = ridge_mean(state, model->dim, o->x);
    float expected = (float)(self->parameters.centre + y);
    if (!isfinite(expected)) expected = 0;
    y = (double)expected - self->parameters.centre;
    ridge_observe(model->ridge, state, o->x, y, self->parameters.round + 1);
    /* Before any reward there is no centre: the expected reward is the future centre, so y is 0. */
    if (self->parameters.round > 0) count_as_seen(model, o->x);
    return expected;
}

/* Updates the reward units in the parameters. */
static void set_units(linear *self, double *state)
{
    const double steps = 20; /* of the centre per spread: fewer lag behind, and each costs the square of a block */
    parameters *learned = &self->base.parameters;
    double off = reward_units_centre(&self->base.units) - learned->centre;
    learned->spread = reward_units_spread(&self->base.units);
    if (!self->seen || fabs(off) * steps <= learned->spread) return;
    ridge_shift(self->ridge, state, self->seen, -off, learned->round);
    learned->centre += off;
}

static bool learn(policy *self, const observation *o, float reward)
{
    linear *model = (linear *)self;
    double *state = (double *)(void *)self->parameters.values;
    uint64_t round = ++self->parameters.round;
    set_units(model, state);
    double y = (double)reward - self->parameters.centre;
    bool counted = o->awaited && o->awaited_at > 0;
    if (counted)
        ridge_correct(model->ridge, state, o->x, (double)reward - (double)o->expected, round);
    else if (o->awaited)
        ridge_correct(model->ridge, state, o->x, y, round);
    else
        ridge_observe(model->ridge, state, o->x, y, round);
    if (!counted) count_as_seen(model, o->x);
    return true;
}

static size_t copy(const policy *self, uint64_t first, float *to)
{
    ridge *model = ((const linear *)self)->ridge;
    return FLOATS_PER_DOUBLE * ridge_copy(model, state_of(&self->parameters), first, (double *)(void *)to);
}

static void archive_linear(policy *self, archive *a)
{
    linear *model = (linear *)self;
    parameters *learned = &self->parameters;
    size_t sums = learned->columns.table ? learned->columns.count : model->dim;
    ridge_archive(model->ridge, (double *)(void *)learned->values, a);
    reward_units_archive(&self->units, a);
    if (!model->seen) return;
    archive_bytes(a, &learned->centre, sizeof learned->centre);
    archive_bytes(a, model->seen, sums * sizeof *model->seen);
    if (!a->reading || a->status) return;
    bool sound = isfinite(learned->centre);
    for (size_t i = 0; i < sums; i++) sound &= isfinite(model->seen[i]);
    if (!sound) archive_fail(a, EE_BAD_MODEL, "model: a sum of a ridge regression is not a finite number");
    learned->spread = reward_units_spread(&self->units);
}

/* ---- the classes ---- */

static const option ucb_rows[] = {
    OPTION_ROW_REAL(linear_options, width, "alpha", "1", 0, 1e6,
                    "weight of the confidence width, in units of the rewards' spread"),
};
static const option ts_rows[] = {
    OPTION_ROW_REAL(linear_options, width, "nu", "0.5", 0, 1e6,
                    "standard deviation of the reward noise, in units of the rewards' spread"),
};
/* A factorisation costs as much as one update per feature of the block: hardly more than a thousand. */
static const option shared_rows[] = {
    OPTION_ROW_REAL(linear_options, lambda, "lambda", "1", 1e-6, 1e6, "A starts as lambda times the identity"),
    OPTION_ROW_INTEGER(linear_options, refresh, "refresh", "1000", 1, 1e9,
                       "updates of a block of features between factorisations"),
};
static const option_table ucb_table = OPTION_TABLE(ucb_rows), ts_table = OPTION_TABLE(ts_rows),
                          shared_table = OPTION_TABLE(shared_rows);
#define REGRESSION_GROUPS                                                                                              \
    OPTION_GROUP_OWN(shared_table, "regression"),                                                                      \
        OPTION_GROUP(linear_options, common, common_options, standardize_option_table, "", "arms")
static const option_group ucb_groups[] = {
    OPTION_GROUP_OWN(ucb_table, "exploration"),
    REGRESSION_GROUPS,
    COMMON_GROUPS(linear_options, common, "scale=off", .defaults = "recall=0"),
};
static const option_group ts_groups[] = {
    OPTION_GROUP_OWN(ts_table, "exploration"),
    REGRESSION_GROUPS,
    COMMON_GROUPS_OF_DRAWS(linear_options, common, "scale=off", .defaults = "recall=0"),
};
static const option_schema ucb_schema =
    OPTION_SCHEMA("linucb", ucb_groups, linear_options, "alpha lambda standardize scale");
static const option_schema ts_schema = OPTION_SCHEMA("lints", ts_groups, linear_options, "nu lambda standardize scale");
static const policy_preset papers[] = {
    {"linucb:paper", "linucb as in the paper: rewards not rescaled", "standardize=off alpha=0.1"},
    {"lints:paper", "lints as in the paper: rewards not rescaled", "standardize=off nu=0.1"},
};

#define LINEAR_CLASS                                                                                                   \
    .earlier = {.version = 11, .options = "standardize=off"}, .create = create, .explain = explain, .learn = learn,    \
    .await = await, .copy = copy, .start_column = start_column, .archive_columns = archive_columns,                    \
    .archive = archive_linear

const policy_class linucb_class = {
    .summary = "linear model: estimate plus confidence width",
    .paper = "Li, Chu, Langford, Schapire: A Contextual-Bandit Approach to Personalized News Article Recommendation, "
             "WWW 2010",
    .schema = &ucb_schema,
    .presets = {&papers[0], 1},
    .scratch_count = scratch_count_ucb,
    .score = score_ucb,
    LINEAR_CLASS,
};

const policy_class lints_class = {
    .summary = "linear model with Thompson sampling: one draw of theta per round",
    .paper = "Agrawal, Goyal: Thompson Sampling for Contextual Bandits with Linear Payoffs, ICML 2013",
    .schema = &ts_schema,
    .presets = {&papers[1], 1},
    .scratch_count = scratch_count_ts,
    .score = score_ts,
    .draws = true,
    LINEAR_CLASS,
};
