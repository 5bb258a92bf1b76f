/* Made problems whose true reward is known: h(x) with a hidden vector a and arms x, all uniform on the unit sphere.
 *
 *     inner      h = x.a
 *     quadratic  h = 10 (x.a)^2
 *     cosine     h = cos(3 x.a)
 *
 * The last two are those of Zhou, Li and Gu, "Neural contextual bandits with UCB-based exploration", ICML 2020,
 * section 6. The reward is h plus normal noise. a is drawn once for each seed. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "kind.h"

typedef enum reward_form { FORM_INNER, FORM_QUADRATIC, FORM_COSINE, FORMS } reward_form;

static const char *const form_names[FORMS] = {"inner", "quadratic", "cosine"};

typedef struct synthetic_options {
    int64_t dim;
    int64_t arms;
    double noise;
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
    double *hidden;   /* (dim) */
    double *draw;     /* (dim) an arm before it is rounded to float */
    float *features;  /* (arms, dim) */
    double *rewards;  /* (arms) */
    double *expected; /* (arms) */
} synthetic_environment;

/* 20 dimensions as in the paper cited above; ten arms as EE-Net's data sets have; noise well under the spread of h, so
 * that what a policy has learned shows within 2000 rounds. */
static const option entries[] = {
    {"dim", OPTION_INTEGER, offsetof(synthetic_options, dim), "20", 1, 65536, NULL, "features of an arm"},
    {"arms", OPTION_INTEGER, offsetof(synthetic_options, arms), "10", 2, 65536, NULL, "arms of a round"},
    {"noise", OPTION_REAL, offsetof(synthetic_options, noise), "0.1", 0, 1000, NULL,
     "standard deviation of the rewards' noise"},
};

static const option_group groups[] = {{"", entries, sizeof entries / sizeof entries[0], 0, NULL}};
static const option_schema schema = {"synthetic", groups, 1, sizeof(synthetic_options)};

/* FORMS, with the error filled, where place names none. */
static reward_form find_form(const char *place, ee_error *error)
{
    char word[32] = "";
    size_t length = strcspn(place, ",");
    if (length < sizeof word) memcpy(word, place, length);
    for (int i = 0; i < FORMS; i++)
        if (strcmp(word, form_names[i]) == 0) return (reward_form)i;
    const char *nearest = options_nearest(word, form_names, FORMS);
    if (nearest)
        status_fail(error, EE_BAD_OPTION, "synthetic: no form is called '%s'; did you mean '%s'?", word, nearest);
    else
        status_fail(error, EE_BAD_OPTION, "synthetic: expected inner, quadratic or cosine, got '%.100s'", place);
    return FORMS;
}

static ee_status synthetic_open(const char *place, dataset **out, ee_error *error)
{
    reward_form form = find_form(place, error);
    if (form == FORMS) return EE_BAD_OPTION;
    synthetic_options options;
    options_set_defaults(&schema, &options);
    ee_status status = options_parse(&schema, place + strcspn(place, ","), &options, error);
    if (status) return status;
    synthetic_dataset *data;
    status = memory_create(&data, 1, sizeof *data, error);
    if (status) return status;
    data->head.dim = (size_t)options.dim;
    data->form = form;
    data->options = options;
    *out = &data->head;
    return EE_OK;
}

static void synthetic_close(dataset *data)
{
    memory_free(data);
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

static void synthetic_stop(environment *base)
{
    synthetic_environment *world = (synthetic_environment *)base;
    memory_free(world->hidden);
    memory_free(world->draw);
    memory_free(world->features);
    memory_free(world->rewards);
    memory_free(world->expected);
    memory_free(world);
}

static ee_status synthetic_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    const synthetic_dataset *data = (const synthetic_dataset *)base;
    size_t dim = data->head.dim, arms = (size_t)data->options.arms;
    synthetic_environment *world;
    ee_status status = memory_create(&world, 1, sizeof *world, error);
    if (status) return status;
    world->data = data;
    status = memory_create(&world->hidden, dim, sizeof *world->hidden, error);
    if (!status) status = memory_create(&world->draw, dim, sizeof *world->draw, error);
    if (!status) status = memory_create(&world->features, arms * dim, sizeof *world->features, error);
    if (!status) status = memory_create(&world->rewards, arms, sizeof *world->rewards, error);
    if (!status) status = memory_create(&world->expected, arms, sizeof *world->expected, error);
    if (status) {
        synthetic_stop(&world->head);
        return status;
    }
    random_stream problem = random_named(seed, "problem");
    draw_unit(&problem, world->hidden, dim);
    world->rounds = random_named(seed, "rounds");
    *out = &world->head;
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

static ee_status synthetic_next(environment *base, environment_round *round, ee_error *error)
{
    (void)error;
    synthetic_environment *world = (synthetic_environment *)base;
    const synthetic_dataset *data = world->data;
    size_t dim = data->head.dim, arms = (size_t)data->options.arms;
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
    .summary = "made rounds with a known true reward: x.a, 10(x.a)^2 or cos(3x.a)",
    .options = &schema,
    .open = synthetic_open,
    .close = synthetic_close,
    .start = synthetic_start,
    .next = synthetic_next,
    .stop = synthetic_stop,
};
