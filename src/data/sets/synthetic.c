/* Generated problems whose true reward is known: h(x) with a hidden vector a and arms x, all uniform on the unit
 * sphere.
 *
 *     inner      h = x.a
 *     quadratic  h = 10 (x.a)^2
 *     cosine     h = cos(3 x.a)
 *
 * The last two are those of Zhou, Li and Gu, "Neural contextual bandits with UCB-based exploration", ICML 2020,
 * section 6. The reward is h plus normal noise. a is drawn once for each seed. With drift it then turns, a little every
 * round, in a plane that is drawn with it: cos(s) a + sin(s) b, b a unit vector at a right angle to a. The form clicks
 * is in synthetic_clicks.c. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/kind/kind.h"

typedef enum reward_form { FORM_INNER, FORM_QUADRATIC, FORM_COSINE, FORMS } reward_form;

/* The last is implemented elsewhere, but helps to guess a misspelt form. */
static const char *const form_names[FORMS + 1] = {"inner", "quadratic", "cosine", "clicks"};

typedef struct synthetic_options {
    int64_t dim;
    int64_t arms;
    double noise;
    double drift; /* radians a thousand rounds */
} synthetic_options;

typedef struct synthetic_dataset {
    dataset head;
    reward_form form;
    synthetic_options options;
} synthetic_dataset;

typedef struct synthetic_environment {
    environment head;
    const synthetic_dataset *data;
    random_stream rounds;
    uint64_t round;   /* the next one */
    double *hidden;   /* (dim) in this round */
    double *start;    /* (dim) in the first round; this and the next only with drift */
    double *aside;    /* (dim) the direction of rotation */
    double *draw;     /* (dim) an arm before it is rounded to float */
    float *features;  /* (arms, dim) */
    double *rewards;  /* (arms) */
    double *expected; /* (arms) */
} synthetic_environment;

/* 20 dimensions as in the paper cited above; ten arms as EE-Net's data sets have; noise well under the spread of h, so
 * that what a policy has learned shows within 2000 rounds. */
static const option entries[] = {
    OPTION_ROW_INTEGER(synthetic_options, dim, "dim", "20", 1, 65536, "features per arm"),
    OPTION_ROW_INTEGER(synthetic_options, arms, "arms", "10", 2, 65536, "arms per round"),
    OPTION_ROW_REAL(synthetic_options, noise, "noise", "0.1", 0, 1000, "standard deviation of the rewards' noise"),
    OPTION_ROW_REAL(synthetic_options, drift, "drift", "0", 0, 1000, "radians by which a rotates every 1000 rounds"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("synthetic", groups, synthetic_options, NULL);

/* FORMS, with an error, if place names none. */
static reward_form find_form(const char *place, ee_error *error)
{
    for (int i = 0; i < FORMS; i++)
        if (strcmp(place, form_names[i]) == 0) return (reward_form)i;
    const char *nearest = options_nearest(place, form_names, FORMS + 1);
    if (nearest)
        status_fail(error, EE_BAD_OPTION, "synthetic: unknown form '%.100s'; did you mean '%s'?", place, nearest);
    else
        status_fail(error, EE_BAD_OPTION, "synthetic: expected inner, quadratic, cosine or clicks, got '%.100s'",
                    place);
    return FORMS;
}

/* Checks of several options together. */
static ee_status check_together(const synthetic_options *options, ee_error *error)
{
    enum { MOST_FEATURES = 1 << 24 }; /* of a round: 64 MiB, for each run at a time */
    if (options->arms * options->dim > MOST_FEATURES)
        return status_fail(error, EE_BAD_OPTION, "options: synthetic.arms times dim must be at most %d, got %" PRId64,
                           MOST_FEATURES, options->arms * options->dim);
    if (options->drift > 0 && options->dim < 2)
        return status_fail(error, EE_BAD_OPTION, "options: synthetic.drift needs a dim of 2 or more");
    return EE_OK;
}

static ee_status synthetic_open(const dataset_request *request, dataset **out, ee_error *error)
{
    reward_form form = find_form(request->place, error);
    if (form == FORMS) return EE_BAD_OPTION;
    synthetic_options options;
    options_set_defaults(&schema, &options);
    ee_status status = options_parse_once(&schema, request->options, &options, error);
    if (!status) status = check_together(&options, error);
    if (status) return status;
    status = memory_create_owner(NULL, out, sizeof(synthetic_dataset), error);
    if (status) return status;
    synthetic_dataset *data = (synthetic_dataset *)*out;
    data->head.dim = (size_t)options.dim;
    data->head.arms = (size_t)options.arms;
    data->form = form;
    data->options = options;
    return EE_OK;
}

/* A point uniform on the unit sphere: normals have no preferred direction. */
static void draw_unit(random_stream *stream, double *vector, size_t dim)
{
    double squares;
    do {
        squares = 0.0;
        for (size_t i = 0; i < dim; i++) {
            vector[i] = random_normal(stream);
            squares += vector[i] * vector[i];
        }
    } while (squares == 0.0);
    double scale = 1.0 / sqrt(squares);
    for (size_t i = 0; i < dim; i++) vector[i] *= scale;
}

/* A unit vector at a right angle to the unit vector from. */
static void draw_aside(random_stream *stream, const double *from, double *vector, size_t dim)
{
    double squares = 0.0;
    while (squares < 1e-6) { /* the remainder of a nearly parallel vector is mostly rounding error */
        double inner = 0.0;
        draw_unit(stream, vector, dim);
        for (size_t i = 0; i < dim; i++) inner += from[i] * vector[i];
        squares = 0.0;
        for (size_t i = 0; i < dim; i++) {
            vector[i] -= inner * from[i];
            squares += vector[i] * vector[i];
        }
    }
    double scale = 1.0 / sqrt(squares);
    for (size_t i = 0; i < dim; i++) vector[i] *= scale;
}

static ee_status synthetic_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    const synthetic_dataset *data = (const synthetic_dataset *)base;
    size_t dim = data->head.dim, arms = (size_t)data->options.arms;
    ee_status status = memory_create_owner(NULL, out, sizeof(synthetic_environment), error);
    if (status) return status;
    synthetic_environment *world = (synthetic_environment *)*out;
    memory *owner = &world->head.owner;
    world->data = data;
    status = memory_create(owner, &world->hidden, dim, sizeof *world->hidden, error);
    if (!status) status = memory_create(owner, &world->start, dim, sizeof *world->start, error);
    if (!status) status = memory_create(owner, &world->aside, dim, sizeof *world->aside, error);
    if (!status) status = memory_create(owner, &world->draw, dim, sizeof *world->draw, error);
    if (!status) status = memory_create(owner, &world->features, arms * dim, sizeof *world->features, error);
    if (!status) status = memory_create(owner, &world->rewards, arms, sizeof *world->rewards, error);
    if (!status) status = memory_create(owner, &world->expected, arms, sizeof *world->expected, error);
    if (status) return status;
    random_stream problem = random_named(seed, "problem");
    draw_unit(&problem, world->hidden, dim);
    if (data->options.drift > 0) {
        memcpy(world->start, world->hidden, dim * sizeof *world->hidden);
        draw_aside(&problem, world->start, world->aside, dim);
    }
    world->rounds = random_named(seed, "rounds");
    return EE_OK;
}

static double true_reward(reward_form form, double inner)
{
    switch (form) {
    case FORM_QUADRATIC:
        return 10.0 * inner * inner;
    case FORM_COSINE:
        return cos(3.0 * inner);
    case FORM_INNER:
    case FORMS:
        break;
    }
    return inner;
}

static void turn(synthetic_environment *world)
{
    double angle = world->data->options.drift * (double)world->round / 1000.0;
    double along = cos(angle), across = sin(angle);
    for (size_t i = 0; i < world->data->head.dim; i++)
        world->hidden[i] = along * world->start[i] + across * world->aside[i];
}

static ee_status synthetic_next(environment *base, environment_round *round, ee_error *error)
{
    (void)error;
    synthetic_environment *world = (synthetic_environment *)base;
    const synthetic_dataset *data = world->data;
    size_t dim = data->head.dim, arms = (size_t)data->options.arms;
    if (data->options.drift > 0) turn(world);
    world->round++;
    for (size_t arm = 0; arm < arms; arm++) {
        float *x = world->features + arm * dim;
        draw_unit(&world->rounds, world->draw, dim);
        double inner = 0.0;
        for (size_t i = 0; i < dim; i++) {
            x[i] = (float)world->draw[i];
            inner += (double)x[i] * world->hidden[i]; /* of the arm as the policy sees it */
        }
        world->expected[arm] = true_reward(data->form, inner);
        world->rewards[arm] = world->expected[arm] + data->options.noise * random_normal(&world->rounds);
    }
    *round = (environment_round){ee_arms_dense(world->features, arms, dim), world->rewards, world->expected};
    return EE_OK;
}

const dataset_kind dataset_synthetic = {
    .name = "synthetic",
    .form = "synthetic:inner|quadratic|cosine[,OPTION=VALUE...]",
    .summary = "generated rounds with a known expected reward: x.a, 10(x.a)^2 or cos(3x.a)",
    .options = &schema,
    .named_by_place = true,
    .open = synthetic_open,
    .start = synthetic_start,
    .next = synthetic_next,
};
