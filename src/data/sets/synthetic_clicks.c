/* Generated clicks: rewards of 0 or 1, mostly 0, of users on items.
 *
 *     P(click) = 1 / (1 + exp(-(bias + sharpness z))),  z = u.v / sqrt(width)
 *
 * A user u is drawn for each round, all normal. The catalogue's items v are drawn once for each seed, all normal. So z
 * has mean 0 and variance 1, and the bias is such that a random user clicks on a random item of the catalogue with
 * probability `rate`. There are two forms:
 *
 *     blocks=off   an arm is u, then v, dense: some of the catalogue's items, drawn for each round
 *     blocks=on    the arms are the catalogue; arm i is the context (1, u) in block i of the features, sparse, and v is
 *                  hidden; the constant is a part of z, which makes some items more popular with everyone
 *
 * With drift the preferences v rotate, but not the features that show them: each pair of entries in its plane. That
 * keeps their lengths, and so the rate. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "data/kind/kind.h"

typedef struct clicks_options {
    double rate;
    double sharpness;
    int64_t arms;
    int64_t items;
    int64_t dim;
    double drift; /* radians a thousand rounds */
    bool blocks;
} clicks_options;

typedef struct clicks_dataset {
    dataset head;
    clicks_options options;
    size_t items;
    size_t width; /* entries of a user, of which the first is 1 with blocks, and of an item */
} clicks_dataset;

typedef struct clicks_environment {
    environment head;
    const clicks_dataset *data;
    random_stream rounds;
    uint64_t round;      /* the next one */
    double bias;         /* see above */
    double *start;       /* (items, width) the catalogue; floats all */
    double *preferences; /* (items, width) in this round */
    double *user;        /* (width) floats all */
    uint32_t *order;     /* (items) a permutation: the arms of this round come first */
    float *features;     /* (arms, dim); with blocks (arms, width), the entries that are not zero */
    size_t *starts;      /* (arms + 1), this and the next only with blocks */
    uint32_t *indices;   /* (arms, width) */
    double *rewards;     /* (arms) */
    double *expected;    /* (arms) */
} clicks_environment;

/* With this sharpness the best of 20 arms is clicked 19 times in 100 and a random one 2 times: the spread between a
 * good advertisement and a random one. */
static const option entries[] = {
    OPTION_ROW_REAL(clicks_options, rate, "rate", "0.05", 0.0001, 0.9999,
                    "probability that a random user clicks on a random item"),
    OPTION_ROW_REAL(clicks_options, sharpness, "sharpness", "2.25", 0, 20,
                    "standard deviation of a click's logit over users and items"),
    OPTION_ROW_INTEGER(clicks_options, arms, "arms", "20", 2, 65536, "arms per round"),
    OPTION_ROW_INTEGER(clicks_options, items, "items", "100", 2, 65536, "items in the catalogue",
                       .needs = "blocks=off"),
    OPTION_ROW_INTEGER(clicks_options, dim, "dim", "20", 2, 65536,
                       "features, half of the user and half of the item; with blocks, of the context"),
    OPTION_ROW_REAL(clicks_options, drift, "drift", "0", 0, 1000,
                    "radians by which the preferences rotate every 1000 rounds"),
    OPTION_ROW_FLAG(clicks_options, blocks, "blocks", "off", "every item is an arm: arm i is the context in block i"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("synthetic:clicks", groups, clicks_options, NULL);

/* Checks of several options together. */
static ee_status check_together(const clicks_options *options, ee_error *error)
{
    enum { MOST_FEATURES = 1 << 24 }; /* of a round, or of the catalogue: 64 MiB, for each run at a time */
    if (!options->blocks && options->dim % 2)
        return status_fail(error, EE_BAD_OPTION,
                           "options: synthetic:clicks.dim must be even (half user, half item), got %" PRId64,
                           options->dim);
    if (!options->blocks && options->items < options->arms)
        return status_fail(error, EE_BAD_OPTION,
                           "options: synthetic:clicks.items must be at least arms, %" PRId64 ", got %" PRId64,
                           options->arms, options->items);
    int64_t most = options->blocks ? options->arms : options->items;
    if (most * options->dim > MOST_FEATURES)
        return status_fail(error, EE_BAD_OPTION,
                           "options: synthetic:clicks.%s times dim must be at most %d, got %" PRId64,
                           options->blocks ? "arms" : "items", MOST_FEATURES, most * options->dim);
    int64_t least = options->blocks ? 3 : 4;
    if (options->drift > 0 && options->dim < least)
        return status_fail(error, EE_BAD_OPTION, "options: synthetic:clicks.drift needs a dim of %" PRId64 " or more",
                           least);
    return EE_OK;
}

static ee_status clicks_open(const dataset_request *request, dataset **out, ee_error *error)
{
    clicks_options options;
    options_set_defaults(&schema, &options);
    ee_status status = options_parse_once(&schema, request->options, &options, error);
    if (!status) status = options_settle(&schema, request->options, &options, error);
    if (!status) status = check_together(&options, error);
    if (status) return status;
    status = memory_create_owner(NULL, out, sizeof(clicks_dataset), error);
    if (status) return status;
    clicks_dataset *data = (clicks_dataset *)*out;
    size_t arms = (size_t)options.arms, dim = (size_t)options.dim;
    data->head.arms = arms;
    data->head.dim = options.blocks ? arms * dim : dim;
    data->head.blocks = options.blocks ? arms : 1;
    data->options = options;
    data->items = options.blocks ? arms : (size_t)options.items;
    data->width = options.blocks ? dim : dim / 2;
    return EE_OK;
}

/* ---- the problem ---- */

static double sigmoid(double logit)
{
    return 1.0 / (1.0 + exp(-logit));
}

/* The mean of sigmoid(x) for normal x, by the trapezoidal rule, which is almost exact for smooth functions. */
static double mean_sigmoid(double centre, double deviation)
{
    enum { STEPS = 16, REACH = 8 }; /* to a standard deviation; standard deviations */
    double sum = 0.0, weights = 0.0;
    for (int i = -REACH * STEPS; i <= REACH * STEPS; i++) {
        double at = (double)i / STEPS, weight = exp(-0.5 * at * at);
        sum += weight * sigmoid(centre + deviation * at);
        weights += weight;
    }
    return sum / weights;
}

/* The probability that a random user clicks on an item, averaged over at most this many items. Over all users, z of an
 * item is normal. */
static double mean_rate(const clicks_environment *world, double bias, size_t most)
{
    const clicks_dataset *data = world->data;
    size_t count = data->items < most ? data->items : most;
    double sum = 0.0, scale = data->options.sharpness / sqrt((double)data->width);
    for (size_t item = 0; item < count; item++) {
        const double *v = world->start + item * data->width;
        double squares = 0.0;
        for (size_t i = data->options.blocks; i < data->width; i++) squares += v[i] * v[i];
        sum += mean_sigmoid(bias + (data->options.blocks ? scale * v[0] : 0.0), scale * sqrt(squares));
    }
    return sum / (double)count;
}

/* By bisection, since the rate grows with the bias. */
static double find_bias(const clicks_environment *world)
{
    enum { HALVINGS = 45, MOST_ITEMS = 1000 }; /* enough items to estimate the rate well, and quickly */
    double low = -1000.0, high = 1000.0;       /* far beyond the range of the options */
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (mean_rate(world, middle, MOST_ITEMS) < world->data->options.rate)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Rounded to float, so that the hidden values equal what the policy sees. */
static double draw_entry(random_stream *stream)
{
    return (double)(float)random_normal(stream);
}

static void make_problem(clicks_environment *world, uint64_t seed)
{
    const clicks_dataset *data = world->data;
    random_stream problem = random_named(seed, "problem");
    for (size_t i = 0; i < data->items * data->width; i++) {
        world->start[i] = draw_entry(&problem);
        world->preferences[i] = world->start[i];
    }
    for (size_t i = 0; i < data->items; i++) world->order[i] = (uint32_t)i;
    world->bias = find_bias(world);
    if (!data->options.blocks) return;
    for (size_t arm = 0; arm < data->head.arms; arm++) world->starts[arm + 1] = (arm + 1) * data->width;
    for (size_t i = 0; i < data->head.dim; i++) world->indices[i] = (uint32_t)i; /* the blocks are side by side */
}

static ee_status clicks_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    const clicks_dataset *data = (const clicks_dataset *)base;
    size_t arms = data->head.arms, all = data->items * data->width, shown = arms * (size_t)data->options.dim;
    ee_status status = memory_create_owner(NULL, out, sizeof(clicks_environment), error);
    if (status) return status;
    clicks_environment *world = (clicks_environment *)*out;
    memory *owner = &world->head.owner;
    world->data = data;
    status = memory_create(owner, &world->start, all, sizeof *world->start, error);
    if (!status) status = memory_create(owner, &world->preferences, all, sizeof *world->preferences, error);
    if (!status) status = memory_create(owner, &world->user, data->width, sizeof *world->user, error);
    if (!status) status = memory_create(owner, &world->order, data->items, sizeof *world->order, error);
    if (!status) status = memory_create(owner, &world->features, shown, sizeof *world->features, error);
    if (!status) status = memory_create(owner, &world->starts, arms + 1, sizeof *world->starts, error);
    if (!status) status = memory_create(owner, &world->indices, shown, sizeof *world->indices, error);
    if (!status) status = memory_create(owner, &world->rewards, arms, sizeof *world->rewards, error);
    if (!status) status = memory_create(owner, &world->expected, arms, sizeof *world->expected, error);
    if (status) return status;
    make_problem(world, seed);
    world->rounds = random_named(seed, "rounds");
    return EE_OK;
}

/* ---- a round ---- */

static void turn(clicks_environment *world)
{
    const clicks_dataset *data = world->data;
    double angle = data->options.drift * (double)world->round / 1000.0;
    double along = cos(angle), across = sin(angle);
    size_t first = data->options.blocks; /* general popularity does not drift */
    for (size_t item = 0; item < data->items; item++) {
        const double *from = world->start + item * data->width;
        double *to = world->preferences + item * data->width;
        for (size_t i = first; i + 1 < data->width; i += 2) { /* an odd one out stays */
            to[i] = along * from[i] - across * from[i + 1];
            to[i + 1] = across * from[i] + along * from[i + 1];
        }
    }
}

/* Moves this many random items to the front: steps of the Fisher-Yates shuffle. */
static void draw_items(clicks_environment *world, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *next = world->order + i, *drawn = next + random_below(&world->rounds, world->data->items - i);
        uint32_t item = *drawn;
        *drawn = *next;
        *next = item;
    }
}

/* The user, then with blocks nothing and else the item, into the arm's features. */
static void show(const clicks_environment *world, size_t arm, size_t item)
{
    size_t width = world->data->width;
    bool blocks = world->data->options.blocks;
    float *x = world->features + arm * (blocks ? width : 2 * width);
    for (size_t i = 0; i < width; i++) x[i] = (float)world->user[i];
    if (blocks) return;
    for (size_t i = 0; i < width; i++) x[width + i] = (float)world->start[item * width + i];
}

static double click_probability(const clicks_environment *world, size_t item)
{
    size_t width = world->data->width;
    double inner = 0.0;
    for (size_t i = 0; i < width; i++) inner += world->user[i] * world->preferences[item * width + i];
    return sigmoid(world->bias + world->data->options.sharpness * inner / sqrt((double)width));
}

static ee_status clicks_next(environment *base, environment_round *round, ee_error *error)
{
    (void)error;
    clicks_environment *world = (clicks_environment *)base;
    const clicks_dataset *data = world->data;
    size_t arms = data->head.arms;
    bool blocks = data->options.blocks;
    if (data->options.drift > 0) turn(world);
    world->round++;
    for (size_t i = 0; i < data->width; i++) world->user[i] = blocks && i == 0 ? 1.0 : draw_entry(&world->rounds);
    if (!blocks) draw_items(world, arms);
    for (size_t arm = 0; arm < arms; arm++) {
        show(world, arm, world->order[arm]);
        world->expected[arm] = click_probability(world, world->order[arm]);
        world->rewards[arm] = random_unit(&world->rounds) < world->expected[arm] ? 1.0 : 0.0;
    }
    ee_arms shown = blocks ? ee_arms_sparse(world->starts, world->indices, world->features, arms, data->head.dim)
                           : ee_arms_dense(world->features, arms, data->head.dim);
    *round = (environment_round){shown, world->rewards, world->expected};
    return EE_OK;
}

const dataset_kind dataset_clicks = {
    .name = "synthetic:clicks",
    .form = "synthetic:clicks[,OPTION=VALUE...]",
    .summary = "generated clicks (0 or 1) of users on items; regret is measured on the click probabilities",
    .options = &schema,
    .default_place = "clicks",
    .open = clicks_open,
    .start = clicks_start,
    .next = clicks_next,
};
